// SPDX-License-Identifier: GPL-2.0
#include "machine/nominal.h"

#include <linux/perf_event.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include "base/cleanup.h"
#include "base/text_file.h"
#include "machine/cpu_list.h"

/* Values outside of these limits are mistakes of firmware, of a hypervisor, or of a copied tree. */
#define HZ_LEAST 100e6
#define HZ_MOST  10e9

#define HYPERVISOR   (1U << 31) /* leaf 1, ECX */
#define APERF_MPERF  (1U << 0)  /* leaf 6, ECX */
#define BRAND_LENGTH 48

static double plausible(double hz)
{
	return hz >= HZ_LEAST && hz <= HZ_MOST ? nearbyint(hz / 1e6) * 1e6 : 0;
}

double nominal_of_text(const char *text, double unit)
{
	char *end;
	double value;

	if (!text || *text < '0' || *text > '9')
		return 0;
	value = strtod(text, &end);
	return *end && *end != '\n' ? 0 : plausible(value * unit);
}

/* Returns the frequency at the end of a brand string, such as "CPU @ 2.60GHz"; 0: it has none. */
static double brand_frequency(const char *brand)
{
	const char *at = strrchr(brand, '@');
	double value;
	char *end;

	if (!at)
		return 0;
	value = strtod(at + 1, &end);
	if (strncmp(end, "GHz", 3) == 0)
		return plausible(value * 1e9);
	return strncmp(end, "MHz", 3) == 0 ? plausible(value * 1e6) : 0;
}

double nominal_of_leaves(const struct nominal_leaves *leaves)
{
	char brand[BRAND_LENGTH + 1] = "";
	double hz = plausible((leaves->base.eax & 0xffff) * 1e6);

	_Static_assert(sizeof(leaves->brand) == BRAND_LENGTH,
		       "the brand string is in the order of the registers");
	if (hz > 0)
		return hz;
	memcpy(brand, leaves->brand, BRAND_LENGTH);
	return brand_frequency(brand);
}

double nominal_tsc_of_leaves(const struct nominal_leaves *leaves)
{
	const struct nominal_leaf *tsc = &leaves->tsc;
	double hz = 0;

	/* The TSC has EBX / EAX ticks for each one of the crystal, whose frequency is in ECX. */
	if (tsc->eax && tsc->ebx && tsc->ecx)
		hz = plausible((double)tsc->ecx * tsc->ebx / tsc->eax);
	if (hz <= 0 && leaves->features.ecx & HYPERVISOR)
		hz = plausible(leaves->hypervisor_timing.eax * 1e3);
	return hz;
}

/* A cycle of the TSC takes mult / 2^shift nanoseconds. */
double nominal_tsc_of_page(bool has_time, u32 mult, u32 shift)
{
	return has_time && mult && shift < 64 ? plausible(ldexp(1e9, (int)shift) / mult) : 0;
}

double nominal_tsc_of_cpuinfo(const struct nominal_leaves *leaves, const char *cpuinfo)
{
	static const char key[] = "\ncpu MHz";
	const char *at = strstr(cpuinfo, key);

	/* With APERF and MPERF, the file has the frequency of the last moments. */
	if (!at || !(leaves->features.ecx & HYPERVISOR) || leaves->power.ecx & APERF_MPERF)
		return 0;
	at += strlen(key);
	at += strspn(at, " \t:");
	return plausible(strtod(at, NULL) * 1e6);
}

#if defined(__x86_64__)
static struct nominal_leaf leaf_of(u32 leaf, u32 last)
{
	struct nominal_leaf ret = {0};

	if (leaf <= last)
		__cpuid_count(leaf, 0, ret.eax, ret.ebx, ret.ecx, ret.edx);
	return ret;
}

static u32 last_leaf(u32 leaf)
{
	return leaf_of(leaf, leaf).eax;
}

static void read_leaves(struct nominal_leaves *ret)
{
	u32 last = last_leaf(0), last_extended = last_leaf(0x80000000);

	*ret = (struct nominal_leaves){
		.features = leaf_of(1, last),
		.power = leaf_of(6, last),
		.tsc = leaf_of(0x15, last),
		.base = leaf_of(0x16, last),
	};
	/* Without a hypervisor, these leaves return the data of another leaf. */
	if (ret->features.ecx & HYPERVISOR)
		ret->hypervisor_timing = leaf_of(0x40000010, last_leaf(0x40000000));
	for (u32 i = 0; i < 3; i++)
		ret->brand[i] = leaf_of(0x80000002 + i, last_extended);
}
#else
static void read_leaves(struct nominal_leaves *ret)
{
	*ret = (struct nominal_leaves){0};
}
#endif

/* A dummy event of this process needs no counter, and hardly any permission. */
static double read_page(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_DUMMY,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};
	_cleanup_close_ int fd =
		(int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, (unsigned long)PERF_FLAG_FD_CLOEXEC);
	const size_t size = (size_t)sysconf(_SC_PAGESIZE);
	const struct perf_event_mmap_page *page;
	double hz;

	if (fd < 0)
		return 0;
	page = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);
	if (page == MAP_FAILED)
		return 0;
	hz = nominal_tsc_of_page(page->cap_user_time, page->time_mult, page->time_shift);
	(void)munmap((void *)page, size);
	return hz;
}

static double read_cpuinfo(const struct nominal_leaves *leaves)
{
	_cleanup_free_ char *text = NULL;

	return text_file_read("/proc/cpuinfo", &text) < 0 ? 0 : nominal_tsc_of_cpuinfo(leaves, text);
}

static double read_tsc(const struct nominal_leaves *leaves, bool may_open)
{
	double hz = nominal_tsc_of_leaves(leaves);

	if (hz <= 0)
		hz = read_cpuinfo(leaves);
	return hz > 0 || !may_open ? hz : read_page();
}

static double read_file(const char *sysfs_root, int cpu, const char *name, double unit)
{
	_cleanup_free_ char *path = NULL;
	_cleanup_free_ char *text = NULL;

	if (asprintf(&path, "%s/devices/system/cpu/cpu%d/%s", sysfs_root, cpu, name) < 0) {
		path = NULL;
		return 0;
	}
	return text_file_read(path, &text) < 0 ? 0 : nominal_of_text(text, unit);
}

static double read_files(const char *sysfs_root, int cpu)
{
	double hz = read_file(sysfs_root, cpu, "cpufreq/base_frequency", 1e3);

	return hz > 0 ? hz : read_file(sysfs_root, cpu, "acpi_cppc/nominal_freq", 1e6);
}

/* Returns the first CPU of the fast kind of cores, or -1 if all cores are of one kind. */
static int fast_cpu(const char *sysfs_root)
{
	_cleanup_free_ char *path = NULL;
	struct cpu_list cpus;

	if (asprintf(&path, "%s/bus/event_source/devices/cpu_core/cpus", sysfs_root) < 0) {
		path = NULL;
		return -1;
	}
	return cpu_list_read(path, &cpus) < 0 ? -1 : cpu_list_next(&cpus, -1);
}

static bool is_copy(const char *sysfs_root)
{
	return strcmp(sysfs_root, "/sys") != 0;
}

double nominal_of_machine(const char *sysfs_root, bool may_open)
{
	const int fast = fast_cpu(sysfs_root);
	double hz = read_files(sysfs_root, fast >= 0 ? fast : 0);
	struct nominal_leaves leaves;

	if (hz > 0 || is_copy(sysfs_root))
		return hz;
	read_leaves(&leaves);
	if (fast < 0)
		hz = nominal_of_leaves(&leaves);
	return hz > 0 ? hz : read_tsc(&leaves, may_open);
}

double nominal_of_cpu(const char *sysfs_root, int cpu)
{
	const double hz = read_files(sysfs_root, cpu);

	return hz > 0 || fast_cpu(sysfs_root) >= 0 ? hz : nominal_of_machine(sysfs_root, true);
}

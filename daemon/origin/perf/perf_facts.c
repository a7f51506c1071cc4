// SPDX-License-Identifier: GPL-2.0
#include "origin/perf/perf_facts.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/text_file.h"
#include "cgroup/mount.h"
#include "cgroup/walk.h"
#include "origin/perf/perf_notes.h"

bool perf_facts_capable(const struct perf_facts *facts, unsigned capability)
{
	return capability < 64 && (facts->capabilities >> capability & 1);
}

/*
 * /proc/version describes the kernel. os-release describes the root directory, often that of a container. The
 * compiler's version in /proc/version may contain "Debian" for any kernel, so look for the builder's address.
 */
bool perf_facts_debian_kernel(const char *proc_version)
{
	return strstr(proc_version, "debian-kernel@lists.debian.org") != NULL;
}

/*
 * Looks for "#163-Ubuntu SMP", the version of the kernel's build. "gcc (Ubuntu ...)" only says where the
 * kernel was built.
 */
bool perf_facts_ubuntu_kernel(const char *proc_version)
{
	const char *build = strchr(proc_version, '#');

	/* The compiler's version may contain a "#" too. The kernel's is the last one. */
	for (const char *next = build; next; next = strchr(next + 1, '#'))
		build = next;
	return build && strncmp(build + strcspn(build, "- "), "-Ubuntu", 7) == 0;
}

u32 perf_facts_microcode_wanted(unsigned family, unsigned model, unsigned stepping)
{
	static const struct {
		unsigned model, stepping;
		u32 revision;
	} rows[] = {
		{0x2a, 7, 0x28},  /* Sandy Bridge */
		{0x2d, 6, 0x618}, /* Sandy Bridge-EP */
		{0x2d, 7, 0x70c},
	};

	for (size_t i = 0; family == 6 && i < ARRAY_SIZE(rows); i++)
		if (rows[i].model == model && rows[i].stepping == stepping)
			return rows[i].revision;
	return 0;
}

bool perf_facts_initial_namespace(const char *uid_map)
{
	unsigned long inside, outside, length;

	return sscanf(uid_map, "%lu %lu %lu", &inside, &outside, &length) == 3 && inside == 0 &&
	       outside == 0 && length == 4294967295UL;
}

bool perf_facts_status(const char *status, const char *key, int base, u64 *ret)
{
	size_t length = strlen(key);

	while (status && *status) {
		size_t blanks = strncmp(status, key, length) == 0 ? strspn(status + length, "\t ") : 0;

		if (strncmp(status, key, length) == 0 && status[length + blanks] == ':') {
			const char *value = status + length + blanks + 1;
			char *end;

			errno = 0;
			*ret = strtoull(value, &end, base);
			return errno == 0 && end != value;
		}
		status = strchr(status, '\n');
		if (status)
			status++;
	}
	return false;
}

static void gather_status(struct perf_facts *facts)
{
	_cleanup_free_ char *status = NULL;
	u64 seccomp;

	if (text_file_read("/proc/self/status", &status) < 0)
		return;
	facts->capabilities_known = perf_facts_status(status, "CapEff", 16, &facts->capabilities);
	/* 2 is SECCOMP_MODE_FILTER. In mode 1 this process could not run. */
	facts->seccomp_filter = perf_facts_status(status, "Seccomp", 10, &seccomp) && seccomp == 2;
}

static void gather_microcode(struct perf_facts *facts, const char *cpuinfo)
{
	u64 family, model, stepping, revision;

	if (perf_facts_status(cpuinfo, "cpu family", 10, &family) &&
	    perf_facts_status(cpuinfo, "model", 10, &model) &&
	    perf_facts_status(cpuinfo, "stepping", 10, &stepping))
		facts->microcode_wanted =
			perf_facts_microcode_wanted((unsigned)family, (unsigned)model, (unsigned)stepping);
	if (perf_facts_status(cpuinfo, "microcode", 16, &revision))
		facts->microcode = (u32)revision;
}

/*
 * Reads only the paragraph of the first CPU. The file has one for each CPU and takes long to read on large
 * machines.
 */
static char *read_cpuinfo(void)
{
	_cleanup_fclose_ FILE *file = fopen("/proc/cpuinfo", "re");
	_cleanup_free_ char *line = NULL;
	char *text = NULL;
	size_t size = 0, bytes = 0;
	FILE *stream;

	if (!file)
		return NULL;
	stream = open_memstream(&text, &bytes);
	if (!stream)
		return NULL;
	while (getline(&line, &size, file) > 1)
		(void)fputs(line, stream);
	if (fclose(stream) == 0)
		return text;
	free(text);
	return NULL;
}

static void gather_cpu(struct perf_facts *facts)
{
	_cleanup_free_ char *cpuinfo = read_cpuinfo();
	const char *flags;

	/* A hybrid CPU has cpu_core and cpu_atom instead of cpu. */
	facts->has_core_pmu = access("/sys/bus/event_source/devices/cpu", F_OK) == 0 ||
			      access("/sys/bus/event_source/devices/cpu_core", F_OK) == 0 ||
			      access("/sys/bus/event_source/devices/cpu_atom", F_OK) == 0;
	if (!cpuinfo)
		return;
	gather_microcode(facts, cpuinfo);
	flags = strstr(cpuinfo, "\nflags");
	if (flags) {
		size_t line = strcspn(flags + 1, "\n") + 1;
		const char *word = strstr(flags, " hypervisor");

		facts->hypervisor = word && word < flags + line;
	}
}

static bool read_number(const char *path, int *ret)
{
	_cleanup_free_ char *text = NULL;
	char *end;
	long value;

	if (text_file_read(path, &text) < 0)
		return false;
	errno = 0;
	value = strtol(text, &end, 10);
	if (errno != 0 || end == text || value < -1000 || value > 1000)
		return false;
	*ret = (int)value;
	return true;
}

/* Returns the first number in a file, and the second one in `ret_second` unless it is NULL. 0: it cannot be read. */
static u64 read_count(const char *path, u64 *ret_second)
{
	_cleanup_free_ char *text = NULL;
	u64 first;
	char *end;

	if (text_file_read(path, &text) < 0)
		return 0;
	first = strtoull(text, &end, 10);
	if (ret_second)
		*ret_second = strtoull(end, NULL, 10);
	return first;
}

static void gather_descriptors(struct perf_facts *facts)
{
	DIR *directory = opendir("/proc/self/fd");
	const struct dirent *entry;
	struct rlimit limit;
	u64 free_files = 0;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0)
		facts->descriptors_max = limit.rlim_max;
	if (directory) {
		/* The count includes the descriptor of `directory` itself, which is closed afterwards. */
		while ((entry = readdir(directory)))
			facts->descriptors_used += entry->d_name[0] != '.';
		facts->descriptors_used--;
		(void)closedir(directory);
	}
	facts->files_max = read_count("/proc/sys/fs/file-max", NULL);
	facts->files_used = read_count("/proc/sys/fs/file-nr", &free_files);
	facts->files_used -= free_files;
}

static void gather_cgroups(struct perf_facts *facts)
{
	static const enum perf_cgroups by_use[] = {
		[CGROUP_USE_CGROUPS] = PERF_CGROUPS_USED,
		[CGROUP_USE_NONE_YET] = PERF_CGROUPS_NONE_YET,
		[CGROUP_USE_V1] = PERF_CGROUPS_V1_ONLY,
	};
	_cleanup_free_ char *mount = NULL;
	_cleanup_close_ int root_fd = -1;
	struct cgroup_walk_counts counts = {0};
	enum cgroup_use use;
	bool subtree;
	int r = cgroup_mount_find(&mount, &subtree);

	if (r < 0) {
		facts->cgroups = r == -ENOENT ? PERF_CGROUPS_NO_MOUNT : PERF_CGROUPS_UNKNOWN;
		return;
	}
	if (cgroup_mount_use(mount, subtree, &use) == 0)
		facts->cgroups = by_use[use];
	root_fd = open(mount, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (root_fd >= 0 && cgroup_walk(root_fd, NULL, NULL, &counts) >= 0)
		facts->cgroup_count = counts.cgroups;
}

/* Other users of the counters, CPUs that are kept free of interrupts, and limits of the kernel. */
static void gather_limits(struct perf_facts *facts)
{
	int value;

	counter_users_gather("/", (u32)getpid(), COUNTER_USERS_LOOK_PROBE, &facts->users);
	(void)cpu_list_read("/sys/devices/system/cpu/isolated", &facts->isolated);
	(void)cpu_list_read("/sys/devices/system/cpu/nohz_full", &facts->nohz_full);
	facts->max_sample_rate = perf_note_read_rate();
	if (read_number("/proc/sys/kernel/perf_cpu_time_max_percent", &value) && value >= 0) {
		facts->cpu_time_max_known = true;
		facts->cpu_time_max_percent = (u64)value;
	}
	/* These folders exist for built-in modules too, because the modules have parameters. */
	facts->kvm_host = access("/dev/kvm", F_OK) == 0 && (access("/sys/module/kvm_intel", F_OK) == 0 ||
							    access("/sys/module/kvm_amd", F_OK) == 0);
}

void perf_facts_gather(struct perf_facts *ret)
{
	_cleanup_free_ char *lockdown = NULL;
	_cleanup_free_ char *version = NULL;
	_cleanup_free_ char *uid_map = NULL;
	int max_precise;

	*ret = (struct perf_facts){0};
	gather_status(ret);
	gather_cpu(ret);
	ret->paranoid_known = read_number("/proc/sys/kernel/perf_event_paranoid", &ret->paranoid);
	perf_backend_trouble(ret->opener);
	if (read_number("/sys/bus/event_source/devices/cpu/caps/max_precise", &max_precise) &&
	    max_precise >= 0) {
		ret->max_precise_known = true;
		ret->max_precise = (unsigned)max_precise;
	}
	if (text_file_read("/sys/kernel/security/lockdown", &lockdown) >= 0)
		ret->lockdown_confidential = strstr(lockdown, "[confidentiality]") != NULL;
	ret->has_btf = access("/sys/kernel/btf/vmlinux", R_OK) == 0;
	if (text_file_read("/proc/version", &version) >= 0) {
		ret->debian_kernel = perf_facts_debian_kernel(version);
		ret->ubuntu_kernel = perf_facts_ubuntu_kernel(version);
	}
	if (text_file_read("/proc/self/uid_map", &uid_map) >= 0)
		ret->user_namespace = !perf_facts_initial_namespace(uid_map);
}

void perf_facts_gather_surroundings(struct perf_facts *facts)
{
	gather_descriptors(facts);
	gather_cgroups(facts);
	gather_limits(facts);
}

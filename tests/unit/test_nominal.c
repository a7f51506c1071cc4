// SPDX-License-Identifier: GPL-2.0
#include <criterion/criterion.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "machine/nominal.h"

static struct nominal_leaves leaves;

static void brand(const char *text)
{
	char padded[48] = "";

	memcpy(padded, text, strlen(text));
	memcpy(leaves.brand, padded, sizeof(padded));
}

static void setup(void)
{
	leaves = (struct nominal_leaves){0};
}

TestSuite(nominal, .init = setup);

/* Skylake, i7-6700K: leaf 16H has 4000 MHz base, 4200 MHz maximum and 100 MHz bus. */
Test(nominal, leaf_16h_has_the_base_frequency)
{
	leaves.base = (struct nominal_leaf){.eax = 4000, .ebx = 4200, .ecx = 100};
	brand("Intel(R) Core(TM) i7-6700K CPU @ 3.90GHz");
	cr_expect_float_eq(nominal_of_leaves(&leaves), 4e9, 0);
}

/* The upper half of EAX is reserved. */
Test(nominal, reserved_bits_of_leaf_16h_are_ignored)
{
	leaves.base.eax = 0xabcd0000 | 2600;
	cr_expect_float_eq(nominal_of_leaves(&leaves), 2.6e9, 0);
}

Test(nominal, the_brand_string_has_the_frequency_of_older_cpus)
{
	brand("Intel(R) Xeon(R) CPU E5-2670 0 @ 2.60GHz");
	cr_expect_float_eq(nominal_of_leaves(&leaves), 2.6e9, 0);
	brand("      Intel(R) Pentium(R) CPU @ 800MHz");
	cr_expect_float_eq(nominal_of_leaves(&leaves), 800e6, 0);
	brand("AMD EPYC 7763 64-Core Processor");
	cr_expect_float_eq(nominal_of_leaves(&leaves), 0, 0);
	brand("Genuine Intel(R) CPU 0000%@");
	cr_expect_float_eq(nominal_of_leaves(&leaves), 0, 0);
	brand("QEMU @ 99GHz");
	cr_expect_float_eq(nominal_of_leaves(&leaves), 0, 0);
	memset(leaves.brand, 'x', sizeof(leaves.brand));
	cr_expect_float_eq(nominal_of_leaves(&leaves), 0, 0);
}

/* Skylake server, 25 MHz crystal: 25 * 168 / 2 MHz. */
Test(nominal, leaf_15h_has_the_frequency_of_the_tsc)
{
	leaves.tsc = (struct nominal_leaf){.eax = 2, .ebx = 168, .ecx = 25000000};
	cr_expect_float_eq(nominal_tsc_of_leaves(&leaves), 2.1e9, 0);
	leaves.tsc.ecx = 0;
	cr_expect_float_eq(nominal_tsc_of_leaves(&leaves), 0, 0);
}

/* A client with a crystal of 38.4 MHz: 2,995.2 MHz. */
Test(nominal, frequencies_are_rounded_to_whole_megahertz)
{
	leaves.tsc = (struct nominal_leaf){.eax = 2, .ebx = 156, .ecx = 38400000};
	cr_expect_float_eq(nominal_tsc_of_leaves(&leaves), 2995e6, 0);
}

Test(nominal, a_hypervisor_has_the_frequency_of_the_tsc)
{
	leaves.hypervisor_timing.eax = 2596152;
	cr_expect_float_eq(nominal_tsc_of_leaves(&leaves), 0, 0, "not a virtual machine");
	leaves.features.ecx = 1U << 31;
	cr_expect_float_eq(nominal_tsc_of_leaves(&leaves), 2596e6, 0);
}

/* As Linux computes them for a TSC of 2,596,152 kHz: 2^31 * 10^9 / 2,596,152,000. */
Test(nominal, the_page_of_a_perf_event_has_the_frequency_of_the_tsc)
{
	cr_expect_float_eq(nominal_tsc_of_page(true, 827179442, 31), 2596e6, 0);
	cr_expect_float_eq(nominal_tsc_of_page(false, 827179442, 31), 0, 0);
	cr_expect_float_eq(nominal_tsc_of_page(true, 0, 0), 0, 0);
	cr_expect_float_eq(nominal_tsc_of_page(true, 1, 64), 0, 0);
}

Test(nominal, cpuinfo_of_a_guest_has_the_frequency_of_the_tsc)
{
	static const char text[] =
		"processor\t: 0\nmodel name\t: AMD EPYC\ncpu MHz\t\t: 2596.152\nflags: x\n";

	cr_expect_float_eq(nominal_tsc_of_cpuinfo(&leaves, text), 0, 0, "not a virtual machine");
	leaves.features.ecx = 1U << 31;
	cr_expect_float_eq(nominal_tsc_of_cpuinfo(&leaves, text), 2596e6, 0);
	cr_expect_float_eq(nominal_tsc_of_cpuinfo(&leaves, "processor\t: 0\n"), 0, 0);
	leaves.power.ecx = 1;
	cr_expect_float_eq(nominal_tsc_of_cpuinfo(&leaves, text), 0, 0, "the running frequency");
}

Test(nominal, files_have_whole_numbers_in_their_unit)
{
	cr_expect_float_eq(nominal_of_text("2600000", 1e3), 2.6e9, 0);
	cr_expect_float_eq(nominal_of_text("2450\n", 1e6), 2.45e9, 0);
	cr_expect_float_eq(nominal_of_text("0", 1e6), 0, 0);
	cr_expect_float_eq(nominal_of_text("-5", 1e6), 0, 0);
	cr_expect_float_eq(nominal_of_text("2600 MHz", 1e6), 0, 0);
	cr_expect_float_eq(nominal_of_text("999999", 1e6), 0, 0);
	cr_expect_float_eq(nominal_of_text("", 1e6), 0, 0);
	cr_expect_float_eq(nominal_of_text(NULL, 1e6), 0, 0);
}

static char root[] = "/tmp/nominal-XXXXXX";

static void put(const char *path, const char *text)
{
	char name[256];
	FILE *file;

	(void)snprintf(name, sizeof(name), "%s/%s", root, path);
	for (char *slash = strchr(name + strlen(root) + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		(void)mkdir(name, 0700);
		*slash = '/';
	}
	file = fopen(name, "w");
	cr_assert(file);
	(void)fputs(text, file);
	(void)fclose(file);
}

static int delete_one(const char *path, const struct stat *status, int type, struct FTW *ftw)
{
	(void)status;
	(void)type;
	(void)ftw;
	return remove(path);
}

static void make_root(void)
{
	cr_assert(mkdtemp(root));
}

static void drop_root(void)
{
	(void)nftw(root, delete_one, 8, FTW_DEPTH | FTW_PHYS);
}

TestSuite(nominal_files, .init = make_root, .fini = drop_root);

Test(nominal_files, base_frequency_precedes_nominal_freq)
{
	cr_expect_float_eq(nominal_of_machine(root, true), 0, 0, "a copy says nothing about this machine");
	put("devices/system/cpu/cpu0/acpi_cppc/nominal_freq", "2450\n");
	cr_expect_float_eq(nominal_of_machine(root, true), 2.45e9, 0);
	cr_expect_float_eq(nominal_of_cpu(root, 7), 2.45e9, 0, "all cores are alike");
	put("devices/system/cpu/cpu0/cpufreq/base_frequency", "2600000\n");
	cr_expect_float_eq(nominal_of_machine(root, true), 2.6e9, 0);
	put("devices/system/cpu/cpu7/cpufreq/base_frequency", "2100000\n");
	cr_expect_float_eq(nominal_of_cpu(root, 7), 2.1e9, 0);
}

/* Alder Lake: P cores with 3.2 GHz, E cores with 2.4 GHz. */
Test(nominal_files, each_kind_of_core_has_its_own_frequency)
{
	put("bus/event_source/devices/cpu_core/cpus", "2-15\n");
	put("devices/system/cpu/cpu0/cpufreq/base_frequency", "2400000\n");
	put("devices/system/cpu/cpu2/cpufreq/base_frequency", "3200000\n");
	cr_expect_float_eq(nominal_of_machine(root, true), 3.2e9, 0);
	cr_expect_float_eq(nominal_of_cpu(root, 0), 2.4e9, 0);
	cr_expect_float_eq(nominal_of_cpu(root, 16), 0, 0, "nothing says which kind CPU 16 is");
}

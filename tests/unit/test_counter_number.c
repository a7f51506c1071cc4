// SPDX-License-Identifier: GPL-2.0
/* The number of counters, from a PMU that schedules groups as the kernel does, and from CPUID. */
#include <errno.h>

#include <criterion/criterion.h>

#include "base/cleanup.h"
#include "origin/perf/counter_number.h"

/* A PMU with general-purpose counters and fixed ones of instructions and cycles. */
struct machine_pmu {
	unsigned general;
	bool fixed_cycles, fixed_instructions;
	int error;    /* of each call; 0: none */
	u64 extended; /* the upper half that events must have */
	unsigned used;
	unsigned open, opened;
	bool wrong; /* a member was disabled, a leader was not, or the group was another */
};

static int open_event(const struct perf_event_attr *attr, int group_fd, void *userdata)
{
	struct machine_pmu *pmu = userdata;
	const u64 event = attr->config & 0xffffffff;
	const bool fixed = (event == PERF_COUNT_HW_CPU_CYCLES && pmu->fixed_cycles) ||
			   (event == PERF_COUNT_HW_INSTRUCTIONS && pmu->fixed_instructions);

	if (pmu->error)
		return pmu->error;
	pmu->wrong |= attr->type != PERF_TYPE_HARDWARE || attr->config >> 32 != pmu->extended ||
		      (group_fd < 0) != (pmu->opened == 0) || attr->disabled != (group_fd < 0) ||
		      (group_fd >= 0 && group_fd != 100) || attr->pinned;
	if (!fixed && pmu->used == pmu->general)
		return -EINVAL;
	pmu->used += !fixed;
	pmu->open++;
	return 100 + (int)pmu->opened++;
}

static void close_event(int fd, void *userdata)
{
	struct machine_pmu *pmu = userdata;

	(void)fd;
	pmu->open--;
}

static int count(struct machine_pmu *pmu, const char *name, struct pmu_general *ret)
{
	int r = counter_number_by_group(name, 10, open_event, close_event, pmu, ret);

	cr_expect_eq(pmu->open, 0, "all are closed");
	cr_expect_not(pmu->wrong);
	return r;
}

Test(counter_number, a_group_holds_as_many_events_as_there_are_counters)
{
	struct machine_pmu haswell = {.general = 4, .fixed_cycles = true, .fixed_instructions = true};
	struct machine_pmu zen = {.general = 6};
	struct machine_pmu atom = {.general = 8, .fixed_instructions = true, .extended = 10};
	struct pmu_general found;

	cr_assert_eq(count(&haswell, "cpu", &found), 0);
	cr_expect_eq(found.counters, 4);
	cr_expect(found.fixed_cycles && found.fixed_instructions);
	cr_assert_eq(count(&zen, "cpu", &found), 0);
	cr_expect_eq(found.counters, 6);
	cr_expect(!found.fixed_cycles && !found.fixed_instructions);
	cr_assert_eq(count(&atom, "cpu_atom", &found), 0);
	cr_expect_eq(found.counters, 8);
	cr_expect(!found.fixed_cycles && found.fixed_instructions);
}

Test(counter_number, an_implausible_number_of_counters_is_unknown)
{
	struct machine_pmu refused = {.error = -EACCES}, none = {.general = 0}, endless = {.general = 1000};
	struct pmu_general found = {.counters = 3};

	cr_expect_eq(count(&refused, "cpu", &found), -EACCES);
	cr_expect_eq(found.counters, 0);
	cr_expect_eq(count(&none, "cpu", &found), -EINVAL);
	cr_expect_eq(found.counters, 0);
	cr_expect_eq(count(&endless, "cpu", &found), 0);
	cr_expect_eq(found.counters, 0);
}

/* eax of leaf 0xa: version, then the number of counters; edx: the number of fixed counters. */
Test(counter_number, cpuid_has_the_number_of_counters)
{
	static const struct {
		const char *name;
		struct counter_cpuid cpuid;
		struct pmu_general wanted;
	} cases[] = {
		{"nothing", {0}, {"", 0, false, false}},
		{"Core Duo", {.perfmon_eax = 0x07280201}, {"", 2, false, false}},
		{"Haswell with hyper-threading",
		 {.perfmon_eax = 0x07300403, .perfmon_edx = 0x603},
		 {"", 4, true, true}},
		{"Haswell without", {.perfmon_eax = 0x07300803, .perfmon_edx = 0x603}, {"", 8, true, true}},
		{"Ice Lake",
		 {.perfmon_eax = 0x08300805, .perfmon_ecx = 0xf, .perfmon_edx = 0x8604},
		 {"", 8, true, true}},
		{"a virtual machine with two counters and one fixed",
		 {.perfmon_eax = 0x07300202, .perfmon_edx = 0x601},
		 {"", 2, false, true}},
		{"family 10h", {.amd = true}, {"", 4, false, false}},
		{"Zen 2", {.amd = true, .amd_features_ecx = 1U << 23}, {"", 6, false, false}},
		{"Zen 4",
		 {.amd = true,
		  .amd_features_ecx = 1U << 23,
		  .amd_perfmon_eax = 1,
		  .amd_perfmon_ebx = 0x40106},
		 {"", 6, false, false}},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct pmu_general found = {0};

		counter_number_by_cpuid(&cases[i].cpuid, &found);
		cr_expect_eq(found.counters, cases[i].wanted.counters, "%s", cases[i].name);
		cr_expect_eq(found.fixed_cycles, cases[i].wanted.fixed_cycles, "%s", cases[i].name);
		cr_expect_eq(found.fixed_instructions, cases[i].wanted.fixed_instructions, "%s",
			     cases[i].name);
	}
}

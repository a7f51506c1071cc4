// SPDX-License-Identifier: GPL-2.0
/*
 * What it costs that the kernel refuses an event on many CPUs, as it does at each collection while another program
 * has reserved the counters. This file plays the kernel.
 */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/descriptor_limit.h"
#include "origin/perf/perf_backend.h"
#include "origin/perf/perf_internal.h"
#include "origin/perf/perf_offcore_internal.h"
#include "tree.h"

#define CPUS "0-63"

static bool refuses;
static size_t tried, counted, gathered;

int perf_backend_cpu(const struct perf_event_attr *attr, int cpu, int group_fd)
{
	(void)attr;
	(void)cpu;
	(void)group_fd;
	tried++;
	return refuses ? -EBUSY : memfd_create("event", MFD_CLOEXEC);
}

int perf_backend_cgroup(const struct perf_event_attr *attr, int cgroup_fd, int cpu, int group_fd)
{
	(void)cgroup_fd;
	return perf_backend_cpu(attr, cpu, group_fd);
}

int perf_backend_thread(const struct perf_event_attr *attr, int group_fd)
{
	return perf_backend_cpu(attr, -1, group_fd);
}

bool perf_backend_by_opener(void)
{
	return false;
}

bool perf_backend_may_mend(int error)
{
	return error == -EBUSY;
}

/* perf_facts_gather() calls this once. It reads a dozen files besides. */
void perf_backend_trouble(char ret[PERF_BACKEND_TROUBLE_MAX])
{
	gathered++;
	ret[0] = '\0';
}

/* The real one counts the open descriptors. */
int descriptor_limit_reserve(size_t more)
{
	(void)more;
	counted++;
	return 0;
}

static char *root;
static char online[64];

static void setup(void)
{
	root = tree_new();
	tree_write(root, "online", CPUS "\n");
	(void)snprintf(online, sizeof(online), "%s/online", root);
	refuses = true;
	tried = counted = gathered = 0;
}

static void teardown(void)
{
	tree_remove(root);
}

TestSuite(perf_failing_cpus, .init = setup, .fini = teardown);

Test(perf_failing_cpus, only_the_first_refusal_of_an_event_is_diagnosed)
{
	_cleanup_(perf_set_freep) struct perf_event_set *set = calloc(1, sizeof(*set));
	_cleanup_free_ char *message = NULL;

	set->online_path = strdup(online);
	set->spec.event.period = 1;
	set->program_fd = 0;
	cr_expect_eq(perf_hotplug(set, &message), -EBUSY);
	cr_expect_eq(tried, 64);
	cr_expect_eq(gathered, 1, "%zu", gathered);
	cr_expect(message && strstr(message, "CPU 0 "), "%s", message);
}

Test(perf_failing_cpus, only_the_first_refusal_of_off_core_counters_is_diagnosed)
{
	_cleanup_(offcore_freep) struct offcore_set *set = calloc(1, sizeof(*set));
	_cleanup_free_ char *message = NULL;

	set->online_path = strdup(online);
	set->n_counters = set->n_pmus = 1;
	set->pmus[0].kinds = 1U << OFFCORE_L3;
	set->kernel = (struct kernel_offcore *)&message;
	cr_expect_eq(offcore_hotplug(set, &message), -EBUSY);
	cr_expect_eq(tried, 64);
	cr_expect_eq(gathered, 1, "%zu", gathered);
	cr_expect_eq(counted, 1, "%zu", counted);
	cr_expect(message && strstr(message, "CPU 0 "), "%s", message);
}

Test(perf_failing_cpus, the_open_descriptors_are_counted_once_at_the_start)
{
	const struct pmu_counter counter = {.kind = OFFCORE_L3, .pmu = "cpu"};
	_cleanup_(offcore_freep) struct offcore_set *set = NULL;
	_cleanup_free_ char *message = NULL;

	refuses = false;
	cr_assert_eq(offcore_open(&counter, 1, online, &set, &message), 0, "%s", message);
	cr_expect_eq(tried, 64);
	cr_expect_eq(counted, 1, "%zu", counted);
}

/* A hybrid PMU lists only CPUs that are online. */
Test(perf_failing_cpus, off_core_counters_are_also_for_cpus_that_the_pmu_lists_later)
{
	_cleanup_(offcore_freep) struct offcore_set *set = calloc(1, sizeof(*set));
	_cleanup_free_ char *message = NULL;

	set->online_path = strdup(online);
	set->n_counters = set->n_pmus = 1;
	set->pmus[0].kinds = 1U << OFFCORE_L3;
	set->kernel = (struct kernel_offcore *)&message;
	set->counters[0].has_members = true;
	cpu_list_add(&set->counters[0].members, 0);
	(void)snprintf(set->counters[0].members_source.path, PMU_MEMBERS_PATH_MAX, "%s/cpus", root);
	tree_write(root, "cpus", "0-5\n");
	cr_expect_eq(offcore_hotplug(set, &message), -EBUSY);
	cr_expect_eq(tried, 6);
}

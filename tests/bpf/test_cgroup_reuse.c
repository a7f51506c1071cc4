// SPDX-License-Identifier: GPL-2.0
/*
 * Programs remember a cgroup by its address, and the kernel may give the address of a removed cgroup to a new one.
 * So the birth of a cgroup makes them look up the slot again.
 */
#include <criterion/criterion.h>

#include <linux/perf_event.h>
#include <sched.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "cgroup_fixture.h"
#include "kernel/kernel.h"
#include "software_event.h"
#include "some_stripes.h"

#define SLOTS 64
#define MAPS  32

static const unsigned pages = 20;
static struct kernel *kernel;

static void teardown(void)
{
	kernel_free(kernel);
	cgroup_fixture_teardown();
}

TestSuite(cgroup_reuse, .init = cgroup_fixture_setup, .fini = teardown);

static void open_kernel(void)
{
	const struct kernel_settings settings = {.slots = SLOTS,
						 .stripes = machine_stripes(),
						 .births = true,
						 .hardware = true,
						 .n_events = 1,
						 .events = {{.has_code_address = 1}}};
	_cleanup_free_ char *message = NULL;
	int r = kernel_open(&settings, &kernel, &message);

	cr_assert_eq(r, 0, "%s", message ? message : strerror(-r));
}

static int touch_pages_on_cpu_0(void *n)
{
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(0, &cpus);
	return sched_setaffinity(0, sizeof(cpus), &cpus) < 0 ? 1 : touch_pages(n);
}

/* Runs a child in the cgroup whose page faults are samples. */
static void sample_in(const char *name)
{
	struct cgroup_child child = cgroup_fixture_child(name, touch_pages_on_cpu_0, (void *)&pages);
	int fd = software_event_open(
		&(struct software_event){
			.config = PERF_COUNT_SW_PAGE_FAULTS, .period = 1, .pid = child.pid, .cpu = -1},
		kernel_program_fd(kernel, 0));

	software_event_enable(fd);
	cgroup_fixture_go(&child);
	(void)close(fd);
}

static u64 samples_of(u32 slot)
{
	u64 sum = 0;

	for (u32 stripe = 0; stripe < kernel_stripes(kernel); stripe++)
		sum += kernel_plain_record(kernel, 0, stripe, slot)->samples[SOURCE_UNKNOWN];
	return sum;
}

static u32 slot_of(u64 cgroup_id)
{
	for (u32 slot = 1; slot < SLOTS; slot++)
		if (kernel_owner(kernel, slot)->cgroup_id == cgroup_id)
			return slot;
	cr_assert_fail("the cgroup has no slot");
	return 0;
}

/* Removes a cgroup from the index, unlike a retirement without a word to the programs. */
static void forget(u64 cgroup_id)
{
	u32 ids[MAPS], size = sizeof(struct bpf_prog_info);
	struct bpf_prog_info program = {.nr_map_ids = MAPS, .map_ids = (u64)(uintptr_t)ids};

	cr_assert_eq(bpf_obj_get_info_by_fd(kernel_program_fd(kernel, 0), &program, &size), 0);
	for (u32 i = 0; i < program.nr_map_ids; i++) {
		_cleanup_close_ int fd = bpf_map_get_fd_by_id(ids[i]);
		struct bpf_map_info map = {0};

		size = sizeof(map);
		cr_assert_eq(bpf_obj_get_info_by_fd(fd, &map, &size), 0);
		if (strcmp(map.name, "slot_index") == 0) {
			cr_assert_eq(bpf_map_delete_elem(fd, &cgroup_id), 0);
			return;
		}
	}
	cr_assert_fail("the program has no index");
}

Test(cgroup_reuse, slot_is_looked_up_again_after_a_birth)
{
	u64 before;
	u32 slot;

	open_kernel();
	slot = slot_of(cgroup_fixture_make("old"));
	sample_in("old");
	before = samples_of(slot);
	cr_expect_geq(before, pages);

	forget(kernel_owner(kernel, slot)->cgroup_id);
	(void)cgroup_fixture_make("new");
	sample_in("old");
	cr_expect_eq(samples_of(slot), before, "counted in a slot that the program remembered");
	cr_expect_geq(samples_of(SLOT_UNATTRIBUTED), pages);
}

/* Cgroups that live one after the other, as in a build: each has its own samples. */
Test(cgroup_reuse, each_of_many_cgroups_in_turn_has_its_samples)
{
	open_kernel();
	for (unsigned i = 0; i < 30; i++) {
		u32 slot = slot_of(cgroup_fixture_make("turn"));

		sample_in("turn");
		cr_expect_geq(samples_of(slot), pages, "cgroup %u", i);
		cgroup_fixture_remove("turn");
	}
}

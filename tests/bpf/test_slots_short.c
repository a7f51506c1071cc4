// SPDX-License-Identifier: GPL-2.0
/* The kernel side reports when births leave few slots: once, until its message is taken. */
#include <criterion/criterion.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>

#include "cgroup_fixture.h"
#include "kernel/kernel.h"
#include "some_stripes.h"

#define SLOTS 64

TestSuite(slots_short, .init = cgroup_fixture_setup, .fini = cgroup_fixture_teardown);

static struct kernel *open_kernel(u32 slots, bool births)
{
	const struct kernel_settings settings = {
		.slots = slots,
		.stripes = one_stripe(),
		.births = births,
		.n_events = 1,
		.events = {{.has_source = 1}},
	};
	struct kernel *kernel;
	char *message;

	cr_assert_eq(kernel_open(&settings, &kernel, &message), 0, "%s", message);
	return kernel;
}

/* Waits for a message. It arrives a moment after the birth, from an interrupt of its own. */
static bool told(const struct kernel *kernel, int milliseconds)
{
	struct pollfd wait = {.fd = kernel_slots_short_fd(kernel), .events = POLLIN};

	return poll(&wait, 1, milliseconds) == 1;
}

/* Returns true if no message comes for a while, or one that births of other cgroups on this machine may cause. */
static bool silent(const struct kernel *kernel)
{
	u64 births = kernel_slot_counters(kernel).births;

	return !told(kernel, 50) || kernel_slot_counters(kernel).births != births;
}

static u64 make(unsigned number)
{
	char name[32];

	(void)snprintf(name, sizeof(name), "n%u", number);
	return cgroup_fixture_make(name);
}

static void remove_one(unsigned number)
{
	char name[32];

	(void)snprintf(name, sizeof(name), "n%u", number);
	cgroup_fixture_remove(name);
}

/* Frees the slot of a removed cgroup as the collector does, but without waiting. */
static void free_slot(struct kernel *kernel, u64 id)
{
	for (u32 slot = 1; slot < SLOTS; slot++) {
		const struct slot_owner *owner = kernel_owner(kernel, slot);

		if (owner->cgroup_id != id || owner->state != SLOT_DEAD)
			continue;
		cr_assert_eq(kernel_retire(kernel, slot, owner->generation), 0);
		cr_assert_eq(kernel_release(kernel, slot, owner->generation), 0);
		return;
	}
	cr_assert_fail("no slot of it is dead");
}

static u32 count_owned(const struct kernel *kernel)
{
	u32 owned = 0;

	for (u32 slot = 1; slot < SLOTS; slot++)
		owned += kernel_owner(kernel, slot)->state != SLOT_FREE;
	return owned;
}

static u32 left(const struct kernel *kernel)
{
	return SLOTS - 1 - count_owned(kernel);
}

static void one_message_in_a_full_table(void)
{
	struct kernel *kernel = open_kernel(2, true);

	for (unsigned i = 0; i < 1000; i++) {
		make(i);
		remove_one(i);
	}
	cr_expect(told(kernel, 1000));
	cr_expect_geq(kernel_slot_counters(kernel).births_without_slot, 999);
	kernel_slots_short_clear(kernel);
	cr_expect(silent(kernel));
	make(1);
	cr_expect(told(kernel, 1000));
	remove_one(1);
	kernel_free(kernel);
}

/*
 * All checks that need births are in one test, because several tests of one test program would see each other's
 * births.
 */
Test(slots_short, a_shortage_is_reported_once_until_it_is_taken)
{
	struct kernel *kernel = open_kernel(SLOTS, true);
	const u32 spare = slots_spare(SLOTS);
	unsigned n = 0;
	u64 ids[SLOTS] = {0};

	while (left(kernel) > spare) {
		cr_assert(!told(kernel, 0) || left(kernel) < spare, "with %u slots left", left(kernel));
		ids[n] = make(n);
		n++;
	}
	ids[n] = make(n);
	n++;
	cr_expect(told(kernel, 1000));
	kernel_slots_short_clear(kernel);
	cr_expect(silent(kernel), "it was taken, and nobody was born");
	ids[n] = make(n);
	n++;
	cr_expect(told(kernel, 1000), "still short, and told again");
	kernel_slots_short_clear(kernel);

	/* There is room again: births cause no message. */
	for (unsigned i = 0; i < 4; i++) {
		remove_one(i);
		free_slot(kernel, ids[i]);
	}
	ids[n] = make(n);
	n++;
	cr_expect(silent(kernel) || left(kernel) < spare);
	ids[n] = make(n);
	n++;
	ids[n] = make(n);
	n++;
	cr_expect(told(kernel, 1000), "and short once more");
	for (unsigned i = 4; i < n; i++)
		remove_one(i);
	kernel_free(kernel);
	one_message_in_a_full_table();
}

Test(slots_short, without_births_there_is_no_shortage)
{
	struct kernel *kernel = open_kernel(SLOTS, false);

	cr_expect_eq(kernel_slots_short_fd(kernel), -1);
	kernel_slots_short_clear(kernel);
	for (u64 id = 1; id < SLOTS; id++)
		cr_expect_gt(kernel_adopt(kernel, id, 0, "a"), 0);
	cr_expect_eq(kernel_adopt(kernel, SLOTS, 0, "a"), -ENOSPC);
	kernel_free(kernel);
}

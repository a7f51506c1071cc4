// SPDX-License-Identifier: GPL-2.0
/* Births, deaths, names and slots of cgroups in the running kernel. */
#include <criterion/criterion.h>

#include <linux/perf_event.h>
#include <poll.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "adopt_existing.h"
#include "cgroup_fixture.h"
#include "counting.h"
#include "kernel/kernel_internal.h"
#include "software_event.h"

#define CROWD 500

static struct counting counting;

/* `spare`: slots beyond those of the existing cgroups. */
static void open_with_room(u32 spare, u64 grace_ns)
{
	struct kernel_settings settings = counting_settings(false);
	struct adopt_counts counts;

	settings.births = settings.hardware = true;
	settings.slots = cgroup_fixture_existing() + spare;
	counting_open(&counting, &settings, grace_ns);
	cr_assert_eq(adopt_existing(counting.kernel, cgroup_fixture.mount, &counts), 0);
	cr_assert_eq(counts.without_slot, 0);
}

static void teardown(void)
{
	counting_close(&counting);
	cgroup_fixture_teardown();
}

/*
 * Waits until the collector counts `more_than_exist` more live cgroups than exist. Other tests may make and
 * remove cgroups meanwhile.
 */
static bool alive_again(s64 more_than_exist)
{
	for (unsigned i = 0; i < 600; i++) {
		if ((s64)collect_cgroups_alive(counting.collect) - (s64)cgroup_fixture_existing() ==
		    more_than_exist)
			return true;
		(void)usleep(100000);
		counting_collect(&counting);
	}
	return false;
}

TestSuite(births, .init = cgroup_fixture_setup, .fini = teardown);

static char *path_of(const char *name)
{
	char *path;

	cr_assert_geq(asprintf(&path, "%s/%s", cgroup_fixture.path, name), 0);
	return path;
}

/* Makes a cgroup that lives for one child and counts the child's page faults. Returns their number. */
static u64 short_life(const char *name, unsigned pages)
{
	struct cgroup_child child;
	_cleanup_close_ int fd = -1;

	cgroup_fixture_make(name);
	child = cgroup_fixture_child(name, touch_pages, &pages);
	fd = software_event_open(
		&(struct software_event){
			.config = PERF_COUNT_SW_PAGE_FAULTS, .period = 1, .pid = child.pid, .cpu = -1},
		kernel_program_fd(counting.kernel, 0));
	software_event_enable(fd);
	cgroup_fixture_go(&child);
	cgroup_fixture_remove(name);
	return software_event_count(fd);
}

Test(births, many_short_lived_cgroups_are_named_and_counted_separately)
{
	static u64 counts[CROWD];
	char name[32];

	/*
	 * Collect only after all of these cgroups are gone. Only their slots can then have kept their names and
	 * samples.
	 */
	open_with_room(CROWD + 16, COLLECT_GRACE_NS);
	for (unsigned i = 0; i < CROWD; i++) {
		(void)snprintf(name, sizeof(name), "crowd-%u", i);
		counts[i] = short_life(name, 10 + i % 7);
	}
	counting_collect(&counting);
	for (unsigned i = 0; i < CROWD; i++) {
		_cleanup_free_ char *path = NULL;

		(void)snprintf(name, sizeof(name), "crowd-%u", i);
		path = path_of(name);
		cr_assert_eq(counting_samples(&counting, path, 0), counts[i],
			     "%s: %llu counted, %llu happened", path,
			     (unsigned long long)counting_samples(&counting, path, 0),
			     (unsigned long long)counts[i]);
	}
	cr_expect_eq(counting_unattributed(&counting, 0), 0);
	cr_expect_eq(kernel_slot_counters(counting.kernel).births, CROWD);
	cr_expect_eq(kernel_slot_counters(counting.kernel).deaths, CROWD);
	cr_expect_eq(kernel_slot_counters(counting.kernel).births_without_slot, 0);
}

Test(births, slots_are_used_again_without_mixing)
{
	u64 total = 0;
	char name[32];
	s64 more;

	/* Fewer slots than cgroups: slots have to be used again. */
	open_with_room(32, 0);
	counting_collect(&counting);
	more = (s64)collect_cgroups_alive(counting.collect) - (s64)cgroup_fixture_existing();
	for (unsigned i = 0; i < 100; i++) {
		_cleanup_free_ char *path = NULL;
		u64 count;

		(void)snprintf(name, sizeof(name), "again-%u", i);
		path = path_of(name);
		count = short_life(name, 5 + i);
		total += count;
		counting_collect(&counting);
		cr_assert_eq(counting_samples(&counting, path, 0), count, "%s", path);
		/* The collection above retires the slot. A collection after the rest period frees it. */
		if (i % 8 == 7) {
			(void)usleep(KERNEL_REST_NS / NSEC_PER_USEC + 1000);
			counting_collect(&counting);
		}
	}
	cr_expect_eq(counting_unattributed(&counting, 0), 0);
	cr_expect_eq(kernel_slot_counters(counting.kernel).births_without_slot, 0);
	cr_expect(alive_again(more), "a slot of a removed cgroup is still taken");
	cr_expect_gt(total, 0);
}

Test(births, without_a_free_slot_samples_are_unattributed_and_counted)
{
	struct kernel_settings settings = counting_settings(false);
	u64 count;

	settings.births = settings.hardware = true;
	settings.slots = 2;
	counting_open(&counting, &settings, COLLECT_GRACE_NS);
	cgroup_fixture_make("first");
	count = short_life("second", 50);
	counting_collect(&counting);
	cr_expect_eq(counting_unattributed(&counting, 0), count);
	cr_expect_eq(kernel_slot_counters(counting.kernel).births_without_slot, 1);
	cgroup_fixture_remove("first");
}

Test(births, samples_of_a_removed_cgroup_are_its_own_during_the_grace_period)
{
	_cleanup_free_ char *path = path_of("leaving");
	const struct sample late = {.cgroup_id = 0};
	struct sample sample = late;

	open_with_room(32, COLLECT_GRACE_NS);
	sample.cgroup_id = cgroup_fixture_make("leaving");
	cgroup_fixture_remove("leaving");
	counting_collect(&counting);
	cr_assert_eq(kernel_inject(counting.kernel, &sample, 1), 0);
	counting_collect(&counting);
	cr_expect_eq(counting_samples(&counting, path, 0), 1);
	cr_expect_eq(counting_unattributed(&counting, 0), 0);
}

Test(births, names_ten_levels_of_two_hundred_bytes_deep_are_whole)
{
	char component[201];
	char *name = strdup("");
	_cleanup_free_ char *path = NULL;
	unsigned pages = 20;
	struct cgroup_child child;
	_cleanup_close_ int fd = -1;

	open_with_room(32, COLLECT_GRACE_NS);
	memset(component, 'n', sizeof(component) - 1);
	component[200] = '\0';
	for (unsigned level = 0; level < 10; level++) {
		char *deeper;

		component[0] = (char)('0' + level);
		cr_assert_geq(asprintf(&deeper, "%s%s%s", name, level ? "/" : "", component), 0);
		free(name);
		name = deeper;
		cgroup_fixture_make(name);
	}
	child = cgroup_fixture_child(name, touch_pages, &pages);
	fd = software_event_open(
		&(struct software_event){
			.config = PERF_COUNT_SW_PAGE_FAULTS, .period = 1, .pid = child.pid, .cpu = -1},
		kernel_program_fd(counting.kernel, 0));
	software_event_enable(fd);
	cgroup_fixture_go(&child);

	path = path_of(name);
	cr_assert_gt(strlen(path), 2000);
	while (*name) {
		char *slash = strrchr(name, '/');

		cgroup_fixture_remove(name);
		*(slash ? slash : name) = '\0';
	}
	free(name);
	/* All cgroups are gone before the collection, so the path comes from the recorded births. */
	counting_collect(&counting);
	cr_expect_eq(counting_samples(&counting, path, 0), software_event_count(fd));
}

/*
 * A v1 hierarchy numbers its cgroups independently, so one id can stand for a v1 cgroup and for one of
 * cgroup2. The test cannot choose the ids of the v1 hierarchy. So it adopts a made-up cgroup under the id
 * that the v1 hierarchy has just assigned, as if cgroup2 had that cgroup.
 */
Test(births, equal_ids_of_a_v1_hierarchy_are_not_confused)
{
	char directory[] = "/tmp/pebsd-v1-XXXXXX";
	_cleanup_free_ char *theirs = NULL;
	struct slot_counters before;
	struct stat st;

	open_with_room(32, COLLECT_GRACE_NS);
	if (!mkdtemp(directory))
		cr_skip_test("no temporary directory");
	if (mount("none", directory, "cgroup", 0, "none,name=pebsd-test") < 0) {
		(void)rmdir(directory);
		cr_skip_test("this kernel mounts no cgroup v1 hierarchy");
	}
	before = kernel_slot_counters(counting.kernel);
	cr_assert_geq(asprintf(&theirs, "%s/theirs", directory), 0);
	cr_assert_eq(mkdir(theirs, 0755), 0);
	cr_assert_eq(stat(theirs, &st), 0);
	cr_expect_lt(kernel_adopt(counting.kernel, st.st_ino, 1, "ours"),
		     kernel_settings(counting.kernel)->slots, "its birth there gave it no slot here");
	counting_collect(&counting);
	cr_assert_eq(rmdir(theirs), 0);
	(void)umount(directory);
	(void)rmdir(directory);

	cr_expect_eq(kernel_slot_counters(counting.kernel).births, before.births);
	cr_expect_eq(kernel_slot_counters(counting.kernel).deaths, before.deaths);
	cr_assert_eq(kernel_inject(counting.kernel, &(struct sample){.cgroup_id = st.st_ino}, 1), 0);
	counting_collect(&counting);
	cr_expect_eq(counting_samples(&counting, "/ours", 0), 1);
	cr_assert_not_null(totals_find(counting.totals, "/ours"));
	cr_expect_eq(totals_find(counting.totals, "/ours")->living, 1, "a removal there buried it here");
}

Test(births, existing_cgroups_are_adopted_once)
{
	struct adopt_counts counts;
	u64 alive;

	cgroup_fixture_make("before");
	open_with_room(32, COLLECT_GRACE_NS);
	counting_collect(&counting);
	alive = collect_cgroups_alive(counting.collect);
	cr_assert_eq(adopt_existing(counting.kernel, cgroup_fixture.mount, &counts), 0);
	cr_expect_eq(counts.adopted, alive);
	counting_collect(&counting);
	cr_expect_eq(collect_cgroups_alive(counting.collect), alive, "adopting again makes no second slot");
	cgroup_fixture_remove("before");
	counting_collect(&counting);
	cr_expect_eq(collect_cgroups_alive(counting.collect), alive - 1);
}

/*
 * A release makes its slot free before it lowers the number of taken slots. A birth in between may take this slot, and
 * then finds more slots taken than exist.
 */
Test(births, a_birth_during_a_release_reports_short_slots)
{
	struct pollfd notice;

	open_with_room(CROWD, COLLECT_GRACE_NS);
	counting.kernel->skeleton->bss->slots_taken = kernel_slots(counting.kernel) - 1;
	cgroup_fixture_make("born");
	notice = (struct pollfd){.fd = kernel_slots_short_fd(counting.kernel), .events = POLLIN};
	cr_expect_eq(poll(&notice, 1, 60000), 1);
}

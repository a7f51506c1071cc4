// SPDX-License-Identifier: GPL-2.0
/*
 * Counting at task switches, in the running kernel. Software events stand in for off-core responses: the same
 * function reads them (perf_event_read_local()), and the test knows which cgroup had how many page faults.
 */
#include <criterion/criterion.h>

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "adopt_existing.h"
#include "cgroup_fixture.h"
#include "counting.h"
#include "engine_fixture.h"
#include "kernel/kernel_internal.h"
#include "kernel/kernel_offcore.h"
#include "origin/perf/perf_offcore.h"
#include "some_stripes.h"

/*
 * Two children in two cgroups take TURNS turns each on one CPU. In each turn, one touches FEW pages, the
 * other MANY.
 */
#define TURNS 50ULL
#define FEW   3
#define MANY  11

static struct counting counting;
static struct offcore_set *set;
static char online_path[64];

static void setup(void)
{
	cgroup_fixture_setup();
	(void)snprintf(online_path, sizeof(online_path), "/tmp/pebsd-test-online-%d", getpid());
}

static void teardown(void)
{
	offcore_free(set);
	counting_close(&counting);
	(void)unlink(online_path);
	cgroup_fixture_teardown();
}

TestSuite(offcore, .init = setup, .fini = teardown);

static void write_online(const char *list)
{
	FILE *file = fopen(online_path, "we");

	cr_assert_not_null(file);
	cr_assert_gt(fprintf(file, "%s\n", list), 0);
	cr_assert_eq(fclose(file), 0);
}

static void stay_on(int cpu)
{
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET((size_t)cpu, &cpus);
	cr_assert_eq(sched_setaffinity(0, sizeof(cpus), &cpus), 0, "%s", strerror(errno));
}

static struct pmu_counter counter(enum offcore_kind kind, u64 config)
{
	struct pmu_counter ret = {
		.pmu = "software", .kind = kind, .type = PERF_TYPE_SOFTWARE, .config = config};

	return ret;
}

/* Takes all initial slots for other cgroups, then adds as many slots. */
static void add_slots(void)
{
	for (u64 id = 1ULL << 40; kernel_slots_free(counting.kernel) > 0; id++)
		cr_assert_gt(kernel_adopt(counting.kernel, id, 0, "other"), 0);
	cr_assert_gt(kernel_grow(counting.kernel, 2 * kernel_slots(counting.kernel)), 0);
}

static void open_counting_in(const struct pmu_counter *counters, size_t n, u64 grace_ns, bool added)
{
	struct kernel_settings settings = counting_settings(false);
	_cleanup_free_ char *message = NULL;
	struct adopt_counts adopted;
	int r = offcore_open(counters, n, online_path, &set, &message);

	cr_assert_eq(r, 0, "%s", message ? message : strerror(-r));
	settings.births = true;
	settings.slots = 512;
	settings.offcore_cpus = offcore_cpus(set);
	settings.memory_max = added ? 64ULL << 20 : 0;
	counting_open(&counting, &settings, grace_ns);
	if (added)
		add_slots();
	cr_assert_eq(adopt_existing(counting.kernel, cgroup_fixture.mount, &adopted), 0);
	cr_assert_eq(adopted.without_slot, 0);
	r = offcore_start(set, kernel_offcore(counting.kernel), NULL, &message);
	cr_assert_eq(r, 0, "%s", message ? message : strerror(-r));
}

static void open_counting(const struct pmu_counter *counters, size_t n, u64 grace_ns)
{
	open_counting_in(counters, n, grace_ns, false);
}

static void collect(void)
{
	offcore_collect(set);
	counting_collect(&counting);
}

static struct offcore_counted counted(const char *name, enum offcore_kind kind)
{
	_cleanup_free_ char *path = NULL;
	const struct totals_entry *entry;

	cr_assert_geq(asprintf(&path, "%s/%s", cgroup_fixture.path, name), 0);
	entry = totals_find(counting.totals, path);
	return entry && entry->offcore_total ? entry->offcore_total->of[0][kind]
					     : (struct offcore_counted){0};
}

static struct offcore_counted counted_by_all(enum offcore_kind kind)
{
	struct totals_entry *const *entries;
	struct offcore_counts sum = {0};
	size_t n;

	entries = totals_entries(counting.totals, &n);
	for (size_t i = 0; i < n; i++)
		if (entries[i]->offcore_total)
			offcore_counts_add(&sum, entries[i]->offcore_total);
	if (totals_unattributed(counting.totals)->offcore_total)
		offcore_counts_add(&sum, totals_unattributed(counting.totals)->offcore_total);
	return sum.of[0][kind];
}

/* Opens an event of this task on any CPU (`cpu` -1), or of all tasks on one CPU. */
static int task_event(u64 config, int cpu)
{
	struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE, .size = sizeof(attr), .config = config};
	int fd = (int)syscall(SYS_perf_event_open, &attr, cpu < 0 ? 0 : -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);

	cr_assert_geq(fd, 0, "%s", strerror(errno));
	return fd;
}

/* Touches `pages` fresh pages in each turn and then lets the other child run. Two pipes pass the turn on. */
struct player {
	unsigned pages;
	int wait_fd;
	int pass_fd;
	u64 *faults; /* shared memory: the child's faults, counted by the child */
};

static int play(void *userdata)
{
	const struct player *player = userdata;
	int fd = task_event(PERF_COUNT_SW_PAGE_FAULTS, -1);
	u64 count;

	for (unsigned turn = 0; turn < TURNS; turn++) {
		unsigned pages = player->pages;
		char go;

		if (read(player->wait_fd, &go, 1) != 1 || touch_pages(&pages) != 0)
			return 1;
		/* The other child may have ended. */
		if (write(player->pass_fd, "g", 1) != 1 && turn + 1 < TURNS)
			return 2;
	}
	if (fd < 0 || read(fd, &count, sizeof(count)) != (ssize_t)sizeof(count))
		return 3;
	*player->faults = count;
	return 0;
}

static void resume(struct cgroup_child *child)
{
	cr_assert_eq(write(child->start, "g", 1), 1);
}

static void await(struct cgroup_child *child)
{
	int status;

	cr_assert_eq(waitpid(child->pid, &status, 0), child->pid);
	cr_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the child ended with status %#x",
		  (unsigned)status);
	(void)close(child->start);
}

/* Lets two children in the cgroups "few" and "many" take turns. Returns their own counts of their faults. */
static void take_turns(u64 ret_faults[2])
{
	u64 *faults = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct player few = {.pages = FEW}, many = {.pages = MANY};
	struct cgroup_child children[2];
	int there[2], back[2];

	cr_assert_neq(faults, MAP_FAILED);
	cr_assert_eq(pipe(there), 0);
	cr_assert_eq(pipe(back), 0);
	few.wait_fd = back[0];
	few.pass_fd = there[1];
	few.faults = &faults[0];
	many.wait_fd = there[0];
	many.pass_fd = back[1];
	many.faults = &faults[1];
	children[0] = cgroup_fixture_child("few", play, &few);
	children[1] = cgroup_fixture_child("many", play, &many);
	resume(&children[0]);
	resume(&children[1]);
	cr_assert_eq(write(back[1], "g", 1), 1);
	await(&children[0]);
	await(&children[1]);
	for (size_t i = 0; i < 2; i++) {
		(void)close(there[i]);
		(void)close(back[i]);
		ret_faults[i] = faults[i];
	}
	(void)munmap(faults, 4096);
}

Test(offcore, each_cgroup_on_a_shared_cpu_has_its_own_counts)
{
	const struct pmu_counter counters[] = {counter(OFFCORE_L3, PERF_COUNT_SW_PAGE_FAULTS),
					       counter(OFFCORE_LOCAL_DRAM, PERF_COUNT_SW_CPU_CLOCK)};
	struct offcore_counted few, many, clock;
	u64 faults[2];

	write_online("0");
	stay_on(0);
	(void)cgroup_fixture_make("few");
	(void)cgroup_fixture_make("many");
	open_counting(counters, ARRAY_SIZE(counters), COLLECT_GRACE_NS);
	take_turns(faults);
	collect();

	few = counted("few", OFFCORE_L3);
	many = counted("many", OFFCORE_L3);
	clock = counted("many", OFFCORE_LOCAL_DRAM);
	cr_expect_geq(faults[0], TURNS * FEW);
	cr_expect_geq(faults[1], TURNS * MANY);
	/*
	 * A child's own counter starts later than the cgroup's and ends earlier. The difference is some
	 * faults at its start and end, and does not grow with the turns.
	 */
	cr_expect_geq(few.count, faults[0]);
	cr_expect_geq(many.count, faults[1]);
	cr_expect_lt(few.count, faults[0] + 100, "%llu", (unsigned long long)few.count);
	cr_expect_lt(many.count, faults[1] + 100, "%llu", (unsigned long long)many.count);
	cr_expect_eq(few.errors + many.errors + clock.errors, 0);
	cr_expect_gt(clock.count, 0, "a clock that is read is up to date");
	cr_expect_eq(few.running_ns, few.enabled_ns);
	cr_expect_gt(few.enabled_ns, 0);
}

static u64 event_count(int cpu, u64 config, int *ret_fd)
{
	u64 count = 0;

	if (*ret_fd < 0)
		*ret_fd = task_event(config, cpu);
	cr_assert_eq(read(*ret_fd, &count, sizeof(count)), (ssize_t)sizeof(count));
	return count;
}

Test(offcore, all_cgroups_together_have_what_the_event_counted)
{
	const struct pmu_counter counters[] = {counter(OFFCORE_L3, PERF_COUNT_SW_PAGE_FAULTS)};
	_cleanup_close_ int outer_fd = -1, inner_fd = -1;
	u64 faults[2], outer, inner, all;

	write_online("0");
	stay_on(0);
	(void)cgroup_fixture_make("few");
	(void)cgroup_fixture_make("many");
	/* One event is opened before pebsd's and one after: pebsd's count lies between the two. */
	outer = event_count(0, PERF_COUNT_SW_PAGE_FAULTS, &outer_fd);
	open_counting(counters, ARRAY_SIZE(counters), COLLECT_GRACE_NS);
	inner = event_count(0, PERF_COUNT_SW_PAGE_FAULTS, &inner_fd);
	take_turns(faults);
	inner = event_count(0, PERF_COUNT_SW_PAGE_FAULTS, &inner_fd) - inner;
	collect();
	outer = event_count(0, PERF_COUNT_SW_PAGE_FAULTS, &outer_fd) - outer;

	all = counted_by_all(OFFCORE_L3).count;
	cr_expect_geq(all, inner, "%llu of all, %llu between", (unsigned long long)all,
		      (unsigned long long)inner);
	cr_expect_leq(all, outer, "%llu of all, %llu around", (unsigned long long)all,
		      (unsigned long long)outer);
	cr_expect_geq(inner, TURNS * (FEW + MANY));
}

static int touch_and_stay(void *userdata)
{
	const struct player *player = userdata;
	unsigned pages = player->pages;
	char go;

	stay_on(1);
	if (touch_pages(&pages) != 0 || write(player->pass_fd, "g", 1) != 1)
		return 1;
	/*
	 * The player never leaves its CPU, so no task switch adds its counts: only a collection can see
	 * them.
	 */
	for (;;)
		if (read(player->wait_fd, &go, 1) == 1)
			return 0;
}

/* Returns the number of times that a process was switched out. */
static u64 switches_of(pid_t pid)
{
	_cleanup_fclose_ FILE *file = NULL;
	char path[64], line[256];
	u64 sum = 0;

	(void)snprintf(path, sizeof(path), "/proc/%d/status", pid);
	file = fopen(path, "re");
	cr_assert_not_null(file);
	while (fgets(line, sizeof(line), file)) {
		const char *value = strstr(line, "voluntary_ctxt_switches:");

		if (value)
			sum += strtoull(value + strlen("voluntary_ctxt_switches:"), NULL, 10);
	}
	return sum;
}

/* A collection also counts the task that runs on another CPU than the collector. */
Test(offcore, a_running_cgroup_is_counted_without_a_switch)
{
	const struct pmu_counter counters[] = {counter(OFFCORE_L3, PERF_COUNT_SW_PAGE_FAULTS)};
	struct player player = {.pages = 500};
	struct cgroup_child child;
	struct offcore_counted before = {0}, after = {0};
	int there[2], back[2];
	bool stayed = false;
	char go;

	if (sysconf(_SC_NPROCESSORS_ONLN) < 2)
		cr_skip_test("one CPU");
	write_online("0-1");
	stay_on(0);
	(void)cgroup_fixture_make("stays");
	open_counting(counters, ARRAY_SIZE(counters), COLLECT_GRACE_NS);
	cr_assert_eq(pipe2(there, O_NONBLOCK), 0);
	cr_assert_eq(pipe(back), 0);
	player.wait_fd = there[0];
	player.pass_fd = back[1];
	child = cgroup_fixture_child("stays", touch_and_stay, &player);
	resume(&child);
	cr_assert_eq(read(back[0], &go, 1), 1);
	/* On a busy machine other tasks may run on this CPU in between. Try again in that case. */
	for (int i = 0; i < 1000 && !stayed; i++) {
		u64 switches = switches_of(child.pid);

		collect();
		before = counted("stays", OFFCORE_L3);
		collect();
		after = counted("stays", OFFCORE_L3);
		stayed = switches_of(child.pid) == switches && after.enabled_ns > before.enabled_ns;
	}
	cr_assert_eq(write(there[1], "g", 1), 1);
	await(&child);
	cr_expect_geq(before.count, 500);
	cr_expect_geq(after.count, before.count);
	cr_expect(stayed, "its time goes on without a switch");
}

/*
 * A collection reads only the dirty slots, which have new counts, and clears their dirty bytes. The slot of an idle
 * cgroup is clean.
 */
static void check_dirty(bool added)
{
	const struct pmu_counter counters[] = {counter(OFFCORE_L3, PERF_COUNT_SW_PAGE_FAULTS)};
	const unsigned pages = 100;
	struct cgroup_child child;
	int worker = -1, idler = -1;
	const u8 *dirty;

	write_online("0");
	stay_on(0);
	(void)cgroup_fixture_make("works");
	(void)cgroup_fixture_make("idles");
	open_counting_in(counters, ARRAY_SIZE(counters), COLLECT_GRACE_NS, added);
	collect();
	for (u32 slot = 1; slot < kernel_slots(counting.kernel); slot++) {
		const struct slot_owner *owner = kernel_owner(counting.kernel, slot);

		if (owner->state == SLOT_ALIVE && strcmp(owner->name, "works") == 0)
			worker = (int)slot;
		if (owner->state == SLOT_ALIVE && strcmp(owner->name, "idles") == 0)
			idler = (int)slot;
	}
	cr_assert(worker > 0 && idler > 0);
	cr_assert_eq(worker >= 512, added);
	dirty = kernel_offcore_dirty(counting.kernel, 0);
	cr_expect_eq(dirty[worker], 0);
	child = cgroup_fixture_child("works", touch_pages, (void *)&pages);
	cgroup_fixture_go(&child);
	cr_expect_eq(dirty[worker], 1);
	cr_expect_eq(dirty[idler], 0);
	cr_expect_eq(counted("works", OFFCORE_L3).count, 0, "not before a collection");
	collect();
	cr_expect_geq(counted("works", OFFCORE_L3).count, 100);
	cr_expect_eq(dirty[worker], 0);
}

Test(offcore, a_dirty_byte_names_the_counted_slot)
{
	check_dirty(false);
}

Test(offcore, a_dirty_byte_names_a_counted_slot_that_was_added)
{
	check_dirty(true);
}

Test(offcore, counts_of_a_removed_cgroup_are_kept)
{
	const struct pmu_counter counters[] = {counter(OFFCORE_L3, PERF_COUNT_SW_PAGE_FAULTS)};
	unsigned pages = 300;
	struct cgroup_child child;
	u64 at_death;

	write_online("0");
	stay_on(0);
	open_counting(counters, ARRAY_SIZE(counters), 0);
	(void)cgroup_fixture_make("short");
	child = cgroup_fixture_child("short", touch_pages, &pages);
	cgroup_fixture_go(&child);
	cgroup_fixture_remove("short");
	collect();
	at_death = counted("short", OFFCORE_L3).count;
	cr_expect_geq(at_death, pages);
	/* The slot is reclaimed and goes to the next cgroup, whose counts start at 0. */
	collect();
	(void)usleep(KERNEL_REST_NS / 1000);
	collect();
	(void)cgroup_fixture_make("next");
	collect();
	cr_expect_eq(counted("short", OFFCORE_L3).count, at_death);
	cr_expect_eq(counted("next", OFFCORE_L3).count, 0);
	/* A path is not folded while deltas refer to it. */
	collect();
	cr_assert_eq(totals_fold(counting.totals, ~0ULL, 0), 0);
	cr_assert_not_null(totals_other(counting.totals)->offcore_total);
	cr_expect_geq(totals_other(counting.totals)->offcore_total->of[0][OFFCORE_L3].count, at_death,
		      "folded, not lost");
}

/* A slot that is reclaimed between two collections is read without taking dirty bytes. */
Test(offcore, counts_of_a_cgroup_removed_between_collections_are_kept)
{
	const struct pmu_counter counters[] = {counter(OFFCORE_L3, PERF_COUNT_SW_PAGE_FAULTS)};
	unsigned pages = 300;
	struct cgroup_child child;
	u64 now_ns = 1, again_ns = 0;

	write_online("0");
	stay_on(0);
	open_counting(counters, ARRAY_SIZE(counters), 0);
	(void)cgroup_fixture_make("short");
	collect();
	child = cgroup_fixture_child("short", touch_pages, &pages);
	cgroup_fixture_go(&child);
	cgroup_fixture_remove("short");
	cr_expect_eq(counted("short", OFFCORE_L3).count, 0);
	/* Noticed, retired, and left. */
	for (int step = 0; step < 3; step++) {
		now_ns = again_ns > now_ns ? again_ns : now_ns + 1;
		cr_assert_eq(collect_reclaim_now(counting.collect, now_ns, &again_ns), 0);
	}
	cr_expect_geq(counted("short", OFFCORE_L3).count, pages);
}

/* Moves this task to a cgroup of the fixture, or to the root (""). */
static void enter(const char *name)
{
	_cleanup_free_ char *path = NULL;
	_cleanup_fclose_ FILE *file = NULL;

	cr_assert_geq(asprintf(&path, "%s%s%s%s/cgroup.procs", cgroup_fixture.mount,
			       *name ? cgroup_fixture.path : "", *name ? "/" : "", name),
		      0);
	file = fopen(path, "we");
	cr_assert_not_null(file, "%s", path);
	cr_assert(fprintf(file, "%d\n", getpid()) > 0 && fflush(file) == 0, "%s: %s", path, strerror(errno));
}

/*
 * The test replaces the CPU's event with an event of this task, which cannot be read while another task runs
 * (-EINVAL).
 */
Test(offcore, a_failed_read_is_an_error_of_the_affected_cgroups)
{
	const struct pmu_counter counters[] = {counter(OFFCORE_L3, PERF_COUNT_SW_PAGE_FAULTS),
					       counter(OFFCORE_REMOTE_DRAM, PERF_COUNT_SW_CPU_CLOCK)};
	int fds[OFFCORE_COUNTERS] = {-1, -1, -1, -1, -1};
	struct offcore_counted l3, remote;
	unsigned pages = 10;
	struct cgroup_child child;
	u64 scaled;

	write_online("0");
	stay_on(0);
	(void)cgroup_fixture_make("a");
	open_counting(counters, ARRAY_SIZE(counters), COLLECT_GRACE_NS);
	fds[OFFCORE_L3] = task_event(PERF_COUNT_SW_PAGE_FAULTS, -1);
	fds[OFFCORE_REMOTE_DRAM] = task_event(PERF_COUNT_SW_CPU_CLOCK, 0);
	cr_assert_eq(kernel_offcore_place(kernel_offcore(counting.kernel), 0, 0, fds), 0);
	(void)cgroup_fixture_make("mine");
	enter("mine");
	child = cgroup_fixture_child("a", touch_pages, &pages);
	cgroup_fixture_go(&child);
	collect();
	enter("");
	/*
	 * The event can be read while this task runs. But after a failed reading, the start of the interval
	 * is not known, so this interval is an error, too.
	 */
	cr_expect_gt(counted("mine", OFFCORE_L3).errors, 0);
	cr_expect_eq(counted("mine", OFFCORE_REMOTE_DRAM).errors, 0);
	l3 = counted("a", OFFCORE_L3);
	remote = counted("a", OFFCORE_REMOTE_DRAM);
	cr_expect_gt(l3.errors, 0);
	cr_expect_not(offcore_scaled(&l3, &scaled), "no number");
	cr_expect_eq(remote.errors, 0);
	cr_expect(offcore_scaled(&remote, &scaled), "the other kind is known");
	cr_expect_gt(kernel_offcore_cpu(kernel_offcore(counting.kernel), 0)->errors[OFFCORE_L3], 0);
	cr_expect_eq(kernel_offcore_cpu(kernel_offcore(counting.kernel), 0)->errors[OFFCORE_REMOTE_DRAM], 0);
}

/* The running cgroup gets its counts without a task switch to another cgroup. */
Test(offcore, counts_before_a_replacement_belong_to_the_running_cgroup)
{
	const struct pmu_counter counters[] = {counter(OFFCORE_L3, PERF_COUNT_SW_PAGE_FAULTS)};
	int fds[OFFCORE_COUNTERS] = {-1, -1, -1, -1, -1};
	struct kernel_offcore *offcore;
	u64 counts[3];
	unsigned pages = 200;

	write_online("0");
	stay_on(0);
	open_counting(counters, ARRAY_SIZE(counters), COLLECT_GRACE_NS);
	offcore = kernel_offcore(counting.kernel);
	fds[OFFCORE_L3] = task_event(PERF_COUNT_SW_PAGE_FAULTS, 0);
	(void)cgroup_fixture_make("mine");
	enter("mine");
	cr_assert_eq(touch_pages(&pages), 0);
	cr_assert_eq(kernel_offcore_place(offcore, 0, 0, fds), 0);
	counting_collect(&counting);
	counts[0] = counted("mine", OFFCORE_L3).count;
	cr_assert_eq(touch_pages(&pages), 0);
	kernel_offcore_remove(offcore, 0);
	counting_collect(&counting);
	counts[1] = counted("mine", OFFCORE_L3).count;
	cr_assert_eq(touch_pages(&pages), 0);
	counting_collect(&counting);
	counts[2] = counted("mine", OFFCORE_L3).count;
	enter("");
	cr_expect_geq(counts[0], pages);
	cr_expect_geq(counts[1], counts[0] + pages);
	cr_expect_eq(counts[2], counts[1], "nothing is read any more");
	cr_expect_eq(counted("mine", OFFCORE_L3).errors, 0);
}

/* The list of online CPUs is a file of the test, so that a CPU goes and comes back only for these counters. */
Test(offcore, counters_of_a_cpu_restart_when_it_is_online_again)
{
	const struct pmu_counter counters[] = {counter(OFFCORE_L3, PERF_COUNT_SW_PAGE_FAULTS)};
	_cleanup_free_ char *message = NULL;
	unsigned pages = 200;
	struct cgroup_child child;
	struct offcore_counted after;

	if (sysconf(_SC_NPROCESSORS_ONLN) < 2)
		cr_skip_test("one CPU");
	write_online("0");
	stay_on(0);
	(void)cgroup_fixture_make("a");
	open_counting(counters, ARRAY_SIZE(counters), COLLECT_GRACE_NS);
	for (unsigned round = 0; round < 3; round++) {
		child = cgroup_fixture_child("a", touch_pages, &pages);
		if (round == 1) {
			write_online("1");
			cr_assert_eq(offcore_hotplug(set, &message), 2, "%s", message ? message : "");
		} else if (round == 2) {
			write_online("0");
			cr_assert_eq(offcore_hotplug(set, &message), 2, "%s", message ? message : "");
		}
		cgroup_fixture_go(&child);
		collect();
	}
	after = counted("a", OFFCORE_L3);
	cr_expect_eq(after.errors, 0);
	cr_expect_geq(after.count, 2ULL * pages);
	cr_expect_lt(after.count, 2ULL * pages + 200, "what came while it was gone is not counted: %llu",
		     (unsigned long long)after.count);
}

Test(offcore, while_paused_nothing_is_counted_and_no_reading_fails)
{
	const struct pmu_counter counters[] = {counter(OFFCORE_L3, PERF_COUNT_SW_PAGE_FAULTS)};
	struct offcore_counted before, paused, after;
	unsigned pages = 200;
	struct cgroup_child child;

	write_online("0");
	stay_on(0);
	(void)cgroup_fixture_make("a");
	open_counting(counters, ARRAY_SIZE(counters), COLLECT_GRACE_NS);
	child = cgroup_fixture_child("a", touch_pages, &pages);
	cgroup_fixture_go(&child);
	offcore_pause(set);
	collect();
	before = counted("a", OFFCORE_L3);
	child = cgroup_fixture_child("a", touch_pages, &pages);
	cgroup_fixture_go(&child);
	collect();
	paused = counted("a", OFFCORE_L3);
	offcore_resume(set);
	child = cgroup_fixture_child("a", touch_pages, &pages);
	cgroup_fixture_go(&child);
	collect();
	after = counted("a", OFFCORE_L3);
	cr_expect_geq(before.count, pages);
	cr_expect_eq(paused.count, before.count);
	cr_expect_eq(paused.enabled_ns, before.enabled_ns);
	cr_expect_geq(after.count, before.count + pages);
	cr_expect_eq(after.errors, 0);
}

static void collect_set(void *userdata)
{
	offcore_collect(userdata);
}

static u64 count_in(struct engine *engine, double window_s, const char *path)
{
	const struct maybe_double window = {.known = window_s > 0, .value = window_s};
	const struct snapshot *snapshot;

	cr_assert_eq(engine_snapshot(engine, &window, &snapshot), 0);
	cr_expect(snapshot->offcore_known);
	for (size_t i = 0; i < snapshot->n_cgroups; i++)
		if (strcmp(snapshot->cgroups[i].path, path) == 0 && snapshot->cgroups[i].offcore)
			return snapshot->cgroups[i].offcore->of[0][OFFCORE_L3].count;
	return 0;
}

Test(offcore, a_window_has_the_counts_of_its_time)
{
	const struct pmu_counter counters[] = {counter(OFFCORE_L3, PERF_COUNT_SW_PAGE_FAULTS)};
	struct engine_settings settings = engine_fixture_settings(512);
	_cleanup_(engine_freep) struct engine *engine = NULL;
	unsigned pages[] = {3000, 1000};
	_cleanup_free_ char *message = NULL;
	_cleanup_free_ char *path = NULL;
	struct adopt_counts adopted;
	u64 all;

	write_online("0");
	stay_on(0);
	(void)cgroup_fixture_make("a");
	cr_assert_geq(asprintf(&path, "%s/a", cgroup_fixture.path), 0);
	cr_assert_eq(offcore_open(counters, ARRAY_SIZE(counters), online_path, &set, &message), 0);
	settings.events[0] = (struct event){0};
	settings.stripes = one_stripe();
	settings.births = true;
	settings.offcore_collect = collect_set;
	settings.offcore_cpus = offcore_cpus(set);
	settings.count_userdata = set;
	engine = engine_fixture_open(&settings);
	cr_assert_eq(adopt_existing(engine_kernel(engine), cgroup_fixture.mount, &adopted), 0);
	cr_assert_eq(offcore_start(set, kernel_offcore(engine_kernel(engine)), NULL, &message), 0);
	for (size_t i = 0; i < ARRAY_SIZE(pages); i++) {
		struct cgroup_child child = cgroup_fixture_child("a", touch_pages, &pages[i]);

		cgroup_fixture_go(&child);
		(void)usleep(60000);
		cr_assert_eq(engine_collect(engine), 0);
	}
	all = count_in(engine, 0, path);
	cr_expect_geq(all, pages[0] + pages[1]);
	cr_expect_geq(count_in(engine, 0.05, path), pages[1]);
	cr_expect_lt(count_in(engine, 0.05, path), pages[0], "the last collection alone");
	cr_expect_eq(count_in(engine, 600, path), all);
	set = offcore_free(set);
}

Test(offcore, off_core_programs_are_not_loaded_when_disabled)
{
	struct kernel_settings settings = counting_settings(false);

	settings.births = true;
	counting_open(&counting, &settings, COLLECT_GRACE_NS);
	cr_expect_null(kernel_offcore(counting.kernel));
	cr_expect_lt(bpf_program__fd(counting.kernel->skeleton->progs.offcore_switched), 0);
	cr_expect_lt(bpf_program__fd(counting.kernel->skeleton->progs.offcore_collect), 0);
}

// SPDX-License-Identifier: GPL-2.0
/*
 * Slots are added while samples come, in the running kernel. Nothing is lost, even if a process is killed
 * while it adds slots, and the limit ends the growth. Needs root.
 */
#include <criterion/criterion.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <linux/perf_event.h>

#include "base/cleanup.h"
#include "cgroup_fixture.h"
#include "child_expect.h"
#include "collect/adopt.h"
#include "engine/engine_internal.h"
#include "engine/growth.h"
#include "engine_fixture.h"
#include "kernel/kernel.h"
#include "notify_socket.h"
#include "origin/perf/perf_cost.h"
#include "scarce_memory.h"
#include "software_event.h"
#include "some_stripes.h"

#define MIB         (1ULL << 20)
#define FIRST_SLOTS 512
#define CGROUPS     5000
#define FIRST_ID    100000

TestSuite(growth, .init = cgroup_fixture_setup, .fini = cgroup_fixture_teardown);

static struct engine_settings engine_settings(u64 memory_max)
{
	struct engine_settings settings = engine_fixture_settings(FIRST_SLOTS);

	settings.n_events = 2;
	settings.events[1] = FIXTURE_STORES;
	settings.memory_max = memory_max;
	return settings;
}

static void inject(struct engine *engine, u64 id, u16 event, u64 latency)
{
	const struct sample sample = {.cgroup_id = id,
				      .event = event,
				      .latency = latency,
				      .period = 1,
				      .fields = latency ? SAMPLE_LATENCY : 0};

	cr_assert_eq(kernel_inject(engine_kernel(engine), &sample, 1), 0);
}

static u64 samples(const struct engine *engine, const char *path, unsigned event)
{
	const struct totals_entry *entry = engine_find(engine, path);
	struct counters counters = {0};

	if (entry)
		totals_counters(entry, event, &counters);
	return counters_samples(&counters);
}

/* Each cgroup has its own sums, in old blocks and in new ones. */
Test(growth, from_512_slots_to_5000_cgroups_with_exact_sums)
{
	const struct engine_settings settings = engine_settings(512 * MIB);
	_cleanup_(engine_freep) struct engine *engine = engine_fixture_open(&settings);
	const struct snapshot *head = engine_head(engine);
	const u64 bytes = head->map_bytes;
	char path[32];

	cr_expect_eq(head->slots, FIRST_SLOTS);
	cr_expect_gt(head->slots_limit, CGROUPS);
	for (unsigned i = 0; i < CGROUPS; i++) {
		(void)snprintf(path, sizeof(path), "/c%u", i);
		cr_assert_eq(engine_adopt(engine, FIRST_ID + i, path), 0, "cgroup %u", i);
		/* Sample the newest cgroup, an older one, and the first one. */
		inject(engine, FIRST_ID + i, 0, 7);
		inject(engine, FIRST_ID + i / 2, 1, 0);
		inject(engine, FIRST_ID, 0, 7);
		if (i % 100 == 99)
			cr_assert_eq(engine_collect(engine), 0);
	}
	cr_assert_eq(engine_collect(engine), 0);
	for (unsigned i = 0; i < CGROUPS; i++) {
		(void)snprintf(path, sizeof(path), "/c%u", i);
		cr_assert_eq(samples(engine, path, 0), i ? 1 : CGROUPS + 1, "%s", path);
		cr_assert_eq(samples(engine, path, 1), i < CGROUPS / 2 ? 2 : 0, "%s", path);
	}
	cr_expect_eq(samples(engine, "unattributed", 0), 0);
	cr_expect_geq(head->slots, CGROUPS + 1);
	cr_expect_leq(head->slots, 2UL * CGROUPS);
	cr_expect_eq(head->map_bytes, kernel_map_bytes(engine_kernel(engine)));
	cr_expect_gt(head->map_bytes, bytes);
	cr_expect_leq(head->map_bytes, settings.memory_max);
}

Test(growth, the_memory_limit_stops_growth)
{
	struct engine_settings settings = engine_settings(8 * MIB);
	struct engine *engine;
	unsigned adopted = 0;
	u64 limit;

	settings.stripes = one_stripe();
	engine = engine_fixture_open(&settings);
	limit = engine_head(engine)->slots_limit;
	cr_expect_gt(limit, FIRST_SLOTS);
	cr_expect_lt(limit, 4096);
	while (adopted < 4096 && engine_adopt(engine, FIRST_ID + adopted, "/same") == 0)
		adopted++;
	cr_expect_eq(adopted, limit - 1);
	cr_assert_eq(engine_collect(engine), 0);
	cr_expect_eq(engine_head(engine)->slots, limit);
	cr_expect_leq(engine_head(engine)->map_bytes, settings.memory_max);
	cr_expect_gt(engine_head(engine)->map_bytes +
			     2ULL * SLOT_BLOCK *
				     (sizeof(struct latency_record) + sizeof(struct plain_record) +
				      sizeof(struct slot_owner) + 100),
		     settings.memory_max, "another block would have fit");
	engine_free(engine);
}

/* Fills the table with cgroups, and returns what the engine logs about it. The caller frees the text. */
static char *log_when_full(struct engine *engine, u32 slots)
{
	_cleanup_fclose_ FILE *log = tmpfile();
	int own = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
	char *text = calloc(1, 4096);
	u64 again_ns;

	cr_assert(log && own >= 0 && text);
	for (u32 i = 1; i < slots; i++)
		cr_assert_gt(kernel_adopt(engine_kernel(engine), FIRST_ID + i, 0, "/same"), 0);
	cr_expect_eq(kernel_slots_free(engine_kernel(engine)), 0);
	cr_assert_eq(dup2(fileno(log), STDERR_FILENO), STDERR_FILENO);
	cr_expect_eq(engine_reclaim(engine, &again_ns), 0);
	cr_assert_eq(dup2(own, STDERR_FILENO), STDERR_FILENO);
	(void)close(own);
	rewind(log);
	cr_assert(fread(text, 1, 4095, log) < 4095);
	return text;
}

/* One of the slots is for unattributed samples: it is not in use by a cgroup, and no cgroup can have it. */
Test(growth, the_log_counts_the_slots_that_cgroups_can_have)
{
	struct engine_settings settings = engine_settings(1); /* enough for the least number of slots */
	struct engine *engine;
	char *text;

	settings.stripes = one_stripe();
	engine = engine_fixture_open(&settings);
	cr_assert_eq(engine_head(engine)->slots, 256);
	text = log_when_full(engine, 256);
	cr_expect_not_null(
		strstr(text, "255 of 255 cgroup slots are in use, and the limit is 255 with max-memory = "),
		"%s", text);
	free(text);
	engine_free(engine);

	settings.memory_max = 64 * MIB;
	engine = engine_fixture_open(&settings);
	text = log_when_full(engine, FIRST_SLOTS);
	cr_expect_not_null(strstr(text, "added slots for cgroups: 767 in total, 256 more than before"), "%s",
			   text);
	free(text);
	engine_free(engine);
}

Test(growth, a_table_of_a_configured_size_does_not_grow)
{
	const struct engine_settings settings = engine_settings(0);
	_cleanup_(engine_freep) struct engine *engine = engine_fixture_open(&settings);

	for (unsigned i = 0; i < FIRST_SLOTS - 1; i++)
		cr_assert_eq(engine_adopt(engine, FIRST_ID + i, "/same"), 0);
	cr_expect_eq(engine_adopt(engine, 1, "/same"), -ENOSPC);
	cr_expect_eq(engine_head(engine)->slots, FIRST_SLOTS);
	cr_expect_eq(engine_head(engine)->slots_limit, FIRST_SLOTS);
}

Test(growth, the_table_uses_the_computed_memory, .init = NULL, .fini = NULL)
{
	cr_expect_eq(growth_memory(1ULL << 30, UINT64_MAX), 64 * MIB);
	cr_expect_eq(growth_memory(64ULL << 30, UINT64_MAX), 256 * MIB);
	cr_expect_eq(growth_memory(1ULL << 42, UINT64_MAX), 768 * MIB);
	cr_expect_eq(growth_memory(1ULL << 42, 4096 * MIB), 768 * MIB, "pebsd.service");
	cr_expect_eq(growth_memory(1ULL << 42, 512 * MIB), 256 * MIB, "half of the limit");
	cr_expect_eq(growth_memory(1ULL << 30, 100 * MIB), 50 * MIB, "less than the least otherwise");
	cr_expect_eq(growth_wanted(512, 128, 0), 512, "not short");
	cr_expect_eq(growth_wanted(512, 127, 0), 1 + 384 + 192);
	cr_expect_eq(growth_wanted(512, 0, 191), 1 + 702 + 351);
	cr_expect_eq(growth_wanted(512, 400, 1), 512, "there is room for it");
	cr_expect_eq(growth_wanted(512, 0, 1000000), 1 + 1023 + 511, "most of them may be gone by now");
	cr_expect_eq(growth_wanted(SLOTS_MAX, 0, 1), SLOTS_MAX);
}

static int found_without_slot(const char *path, void *userdata)
{
	return engine_found_without_slot(userdata, path);
}

/* Adds slots as serve.c does. */
struct daemon {
	struct engine *engine;
	int root;
	unsigned walks;
};

static void adopt(void *userdata)
{
	struct daemon *daemon = userdata;
	struct adopt_counts counts;

	daemon->walks++;
	engine_adopting(daemon->engine);
	cr_assert_eq(adopt_tree(engine_kernel(daemon->engine), daemon->root, found_without_slot,
				daemon->engine, &counts),
		     0);
	engine_adopted(daemon->engine, counts.without_slot);
}

static u64 now_ns(void)
{
	struct timespec now;

	cr_assert_eq(clock_gettime(CLOCK_MONOTONIC, &now), 0);
	return (u64)now.tv_sec * NSEC_PER_SEC + (u64)now.tv_nsec;
}

static void open_daemon(struct daemon *daemon, u32 slots, u64 memory_max, const struct stripes *stripes)
{
	struct engine_settings settings = engine_settings(memory_max);

	*daemon = (struct daemon){.root = open(cgroup_fixture.mount, O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
	settings.births = settings.hardware = true;
	settings.slots = slots;
	settings.stripes = stripes;
	settings.adopt = adopt;
	settings.count_userdata = daemon;
	daemon->engine = engine_fixture_open(&settings);
	adopt(daemon);
}

/* Two sockets of eight caches with eight cores of two threads each. */
static struct stripes large_machine(void)
{
	struct stripes_cpu topology[256];
	struct stripes stripes;

	for (u32 cpu = 0; cpu < 256; cpu++)
		topology[cpu] = (struct stripes_cpu){.cache = cpu % 128 / 8, .core = cpu % 128};
	cr_assert_eq(stripes_assign(topology, 256, &stripes), 0);
	cr_assert_eq(stripes.n, STRIPES_MAX);
	return stripes;
}

static void make_cgroups(unsigned from, unsigned to)
{
	char name[32];

	for (unsigned i = from; i < to; i++) {
		(void)snprintf(name, sizeof(name), "burst-%u", i);
		cgroup_fixture_make(name);
	}
}

static void remove_cgroups(unsigned n)
{
	char name[32];

	for (unsigned i = 0; i < n; i++) {
		(void)snprintf(name, sizeof(name), "burst-%u", i);
		cgroup_fixture_remove(name);
	}
}

#define POLL_MS 10

/*
 * The time of a daemon that gets a CPU whenever it wants one: the CPU time of this process, plus `waits`
 * pauses of POLL_MS. The real time would be longer, because others may take the CPUs of this machine for
 * seconds.
 */
static u64 own_time_ns(u64 waits)
{
	struct timespec used;

	cr_assert_eq(clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used), 0);
	return (u64)used.tv_sec * NSEC_PER_SEC + (u64)used.tv_nsec + waits * POLL_MS * NSEC_PER_MSEC;
}

/*
 * Does what serve.c does when slots are short, until the process that makes cgroups has ended and every
 * cgroup has a slot. Returns the longest time, in ns, in which some cgroup had no slot, by own_time_ns().
 */
static u64 keep_up(struct daemon *daemon, pid_t pid)
{
	u64 longest_ns = 0, since_ns = 0, waits = 0;
	bool ended = false;

	for (;;) {
		struct pollfd wait = {.fd = engine_slots_short_fd(daemon->engine), .events = POLLIN};
		bool short_of = poll(&wait, 1, POLL_MS) == 1, missing = engine_slots_missing(daemon->engine);
		u64 again_ns;

		waits += !short_of;
		if (missing && !since_ns)
			since_ns = own_time_ns(waits);
		if (short_of)
			cr_assert_eq(engine_reclaim(daemon->engine, &again_ns), 0);
		if (since_ns && own_time_ns(waits) - since_ns > longest_ns)
			longest_ns = own_time_ns(waits) - since_ns;
		if (!engine_slots_missing(daemon->engine))
			since_ns = 0;
		if (!ended)
			ended = waitpid(pid, NULL, WNOHANG) == pid;
		else if (!short_of && !missing)
			return longest_ns;
		cr_assert_lt(longest_ns, 10 * NSEC_PER_SEC);
	}
}

/*
 * A node with 256 CPUs gets five times as many cgroups at once. Cgroups that are born faster than slots are
 * added may lack a slot, but for less than two seconds.
 */
Test(growth, from_1000_to_5000_cgroups_on_256_cpus_none_is_without_a_slot_for_two_seconds, .timeout = 300)
{
	struct stripes stripes = large_machine();
	struct daemon daemon;
	u64 longest_ns, begun_ns;
	pid_t pid;

	make_cgroups(0, 1000);
	open_daemon(&daemon, perf_cost_slots(1000), 1024 * MIB, &stripes);
	(void)printf("1,000 cgroups: %u slots, %.1f MiB of maps\n",
		     kernel_slots(engine_kernel(daemon.engine)),
		     (double)kernel_map_bytes(engine_kernel(daemon.engine)) / (double)MIB);
	pid = fork();
	cr_assert_geq(pid, 0);
	if (pid == 0) {
		make_cgroups(1000, CGROUPS);
		_exit(0);
	}
	begun_ns = now_ns();
	longest_ns = keep_up(&daemon, pid);
	cr_expect_lt(longest_ns, 2 * NSEC_PER_SEC, "%.1f s without a slot",
		     (double)longest_ns / (double)NSEC_PER_SEC);
	(void)printf(
		"5,000 cgroups: %u slots, %.1f MiB of maps, after %.1f s; %u walks, %.3f s without a slot at most\n",
		kernel_slots(engine_kernel(daemon.engine)),
		(double)kernel_map_bytes(engine_kernel(daemon.engine)) / (double)MIB,
		(double)(now_ns() - begun_ns) / (double)NSEC_PER_SEC, daemon.walks,
		(double)longest_ns / (double)NSEC_PER_SEC);
	cr_assert_eq(engine_collect(daemon.engine), 0);
	cr_expect_geq(engine_head(daemon.engine)->cgroups_alive, CGROUPS);
	/* Check the name of every 499th cgroup. The last of these is one of the last that were born. */
	for (unsigned i = 0; i < CGROUPS; i += 499) {
		_cleanup_free_ char *path = NULL;
		_cleanup_free_ char *directory = NULL;
		struct stat st;

		cr_assert_geq(asprintf(&path, "%s/burst-%u", cgroup_fixture.path, i), 0);
		cr_assert_geq(asprintf(&directory, "%s%s", cgroup_fixture.mount, path), 0);
		cr_assert_eq(stat(directory, &st), 0);
		inject(daemon.engine, st.st_ino, 0, 7);
		cr_assert_eq(engine_collect(daemon.engine), 0);
		cr_expect_eq(samples(daemon.engine, path, 0), 1, "%s", path);
	}
	remove_cgroups(CGROUPS);
	engine_free(daemon.engine);
	(void)close(daemon.root);
	stripes_done(&stripes);
}

/* 700 cgroups are born before pebsd reacts, and some find no slot. A walk finds those. */
Test(growth, cgroups_that_found_no_slot_have_one_once_slots_are_added)
{
	struct daemon daemon;
	u64 again_ns;

	open_daemon(&daemon, FIRST_SLOTS, 64 * MIB, machine_stripes());
	make_cgroups(0, 700);
	cr_assert(engine_slots_missing(daemon.engine));
	cr_assert_eq(engine_reclaim(daemon.engine, &again_ns), 0);
	cr_expect_not(engine_slots_missing(daemon.engine));
	cr_assert_eq(engine_collect(daemon.engine), 0);
	cr_expect_eq(engine_head(daemon.engine)->without_slot, 0);
	cr_expect_geq(engine_head(daemon.engine)->births_without_slot, 100);
	cr_expect_geq(engine_head(daemon.engine)->cgroups_alive, 700);
	remove_cgroups(700);
	engine_free(daemon.engine);
	(void)close(daemon.root);
}

/* Cgroups beyond the limit are known by their paths as long as they exist. */
Test(growth, cgroups_beyond_the_limit_are_known_as_without_a_slot)
{
	_cleanup_free_ char *last = NULL;
	struct daemon daemon;
	const struct snapshot *head;

	open_daemon(&daemon, FIRST_SLOTS, 2 * MIB, one_stripe());
	head = engine_head(daemon.engine);
	cr_assert_geq(asprintf(&last, "%s/burst-799", cgroup_fixture.path), 0);
	make_cgroups(0, 800);
	/* The walk does not run at every collection, because it is expensive. */
	for (unsigned i = 0; i < 50 && !no_slot_has(head->no_slot, last); i++) {
		cr_assert_eq(engine_collect(daemon.engine), 0);
		(void)usleep(100000);
	}
	cr_expect(no_slot_has(head->no_slot, last));
	cr_expect_eq(head->without_slot, head->no_slot->n);
	cr_expect_geq(head->without_slot, 800 - head->slots_limit);
	remove_cgroups(800);
	for (unsigned i = 0; i < 80 && head->without_slot > 0; i++) {
		cr_assert_eq(engine_collect(daemon.engine), 0);
		(void)usleep(100000);
	}
	cr_expect_eq(head->without_slot, 0);
	cr_expect_not(no_slot_has(head->no_slot, last));
	engine_free(daemon.engine);
	(void)close(daemon.root);
}

/* Each path is freed once, whichever allocation fails. */
Test(growth, the_list_of_cgroups_without_a_slot_survives_any_failed_allocation)
{
	const struct engine_settings settings = engine_settings(0);
	_cleanup_(engine_freep) struct engine *engine = engine_fixture_open(&settings);
	bool failed = true;

	for (size_t after = 0; failed; after++) {
		int error = 0;

		engine_adopting(engine);
		scarce_memory_after(after);
		for (unsigned i = 0; i < 200; i++) {
			int r = engine_found_without_slot(engine, "/a");

			error = r < 0 ? r : error;
		}
		engine_adopted(engine, 200);
		failed = scarce_memory_end();
		cr_expect_eq(error, failed ? -ENOMEM : 0, "%d", error);
	}
	cr_expect_eq(engine_head(engine)->no_slot->n, 200);
}

static bool slowly(const char *path, void *userdata)
{
	(void)path;
	(void)userdata;
	(void)usleep(100000);
	return true;
}

/* Matching long paths with patterns takes longer than the walk itself. */
Test(growth, the_pause_between_walks_counts_all_that_a_walk_costs)
{
	struct engine_settings settings = engine_settings(0);
	struct engine *engine;
	u64 begun_ns;

	settings.exported = slowly;
	engine = engine_fixture_open(&settings);
	begun_ns = now_ns();
	engine_adopting(engine);
	cr_assert_eq(engine_found_without_slot(engine, "/a"), 0);
	engine_adopted(engine, 1);
	cr_expect_geq(engine->walk_again_ns, begun_ns + 9 * NSEC_PER_SEC, "%.1f s",
		      ((double)engine->walk_again_ns - (double)begun_ns) / 1e9);
	engine_free(engine);
}

/* Sampling continues while slots are added. Each sample is counted. */
Test(growth, sampling_continues_during_growth)
{
	_cleanup_free_ char *path = NULL;
	struct daemon daemon;
	struct cgroup_child child;
	unsigned pages = 200000;
	u64 id, counted, due;
	int fd;

	open_daemon(&daemon, FIRST_SLOTS, 512 * MIB, machine_stripes());
	id = cgroup_fixture_make("busy");
	cr_assert_gt(id, 0);
	cr_assert_geq(asprintf(&path, "%s/busy", cgroup_fixture.path), 0);
	child = cgroup_fixture_child("busy", touch_pages, &pages);
	fd = software_event_open(
		&(struct software_event){
			.config = PERF_COUNT_SW_PAGE_FAULTS, .period = 1, .pid = child.pid, .cpu = -1},
		kernel_program_fd(engine_kernel(daemon.engine), 1));
	software_event_enable(fd);
	cr_assert_eq(write(child.start, "", 1), 1);
	for (u32 slots = FIRST_SLOTS; slots < 6000; slots += SLOT_BLOCK)
		cr_assert_geq(kernel_grow(engine_kernel(daemon.engine), slots), 0);
	(void)close(TAKE_FD(child.start));
	cr_assert_eq(waitpid(child.pid, NULL, 0), child.pid);
	cr_assert_eq(engine_collect_last(daemon.engine), 0);
	due = software_event_count(fd);
	counted = samples(daemon.engine, path, 1);
	cr_expect_geq(due, pages);
	cr_expect_eq(counted, due, "of %llu page faults %llu were counted", (unsigned long long)due,
		     (unsigned long long)counted);
	(void)close(fd);
	cgroup_fixture_remove("busy");
	engine_free(daemon.engine);
	(void)close(daemon.root);
}

/*
 * State shared with the processes, which run one after the other as the service manager starts them. Each is
 * killed.
 */
struct life {
	enum inherited inherited;
	u32 slots, slots_max, limit;
	u64 samples; /* of all cgroups, in the records at the start of the process */
	u64 adopted; /* cgroups that have a slot at the end of the process */
	u32 births;  /* 1: births go on, 2: please stop, 3: stopped */
	int grown;
	bool whole;
};

static struct life *life;

static void setup_lives(void)
{
	notify_socket_start(&manager);
	life = mmap(NULL, sizeof(*life), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	cr_assert_neq(life, MAP_FAILED);
}

static void teardown_lives(void)
{
	notify_socket_stop(&manager);
}

static u64 all_samples(const struct kernel *kernel)
{
	u64 sum = 0;

	for (u32 stripe = 0; stripe < kernel_stripes(kernel); stripe++)
		for (u32 slot = 0; slot < kernel_slots(kernel); slot++)
			sum += kernel_plain_record(kernel, 0, stripe, slot)->samples[SOURCE_UNKNOWN];
	return sum;
}

static struct kernel *begin(u64 memory_max, bool memory_auto, struct store **ret_store)
{
	struct kernel_settings settings = {
		.slots = FIRST_SLOTS,
		.memory_max = memory_max,
		.memory_auto = memory_auto,
		.stripes = one_stripe(),
		.inherit = true,
		.measured = 1,
		.n_events = 1,
	};
	struct handover *handover;
	struct kernel *kernel;
	char *message = NULL;

	notify_socket_pass(&manager);
	EXPECT(store_open(ret_store) == 0);
	EXPECT(handover_open(*ret_store, &handover) == 0);
	settings.handover = handover;
	EXPECT(kernel_open(&settings, &kernel, &message) == 0);
	life->inherited = kernel_inherited(kernel);
	EXPECT(handover_commit(handover) == 0);
	handover_confirm(handover);
	store_drop_rest(*ret_store);
	EXPECT(store_settle(*ret_store) == 0);
	life->slots = kernel_slots(kernel);
	life->slots_max = kernel_slots_max(kernel);
	life->limit = kernel_slots_limit(kernel);
	life->samples = all_samples(kernel);
	return kernel;
}

/* Adopts cgroups up to number `adopted`, and injects one sample into each. */
static void fill(struct kernel *kernel, u64 adopted)
{
	for (; life->adopted < adopted; life->adopted++) {
		const struct sample sample = {.cgroup_id = FIRST_ID + life->adopted, .period = 1};

		EXPECT(kernel_adopt(kernel, sample.cgroup_id, 0, "a") > 0);
		EXPECT(kernel_inject(kernel, &sample, 1) == 0);
	}
}

/* Cgroups are born in a child that outlives the process. Each gets its slot as soon as one is free. */
static void be_born(struct kernel *kernel)
{
	if (fork() != 0)
		return;
	while (__atomic_load_n(&life->births, __ATOMIC_SEQ_CST) == 1) {
		const struct sample sample = {.cgroup_id = FIRST_ID + life->adopted, .period = 1};

		if (kernel_adopt(kernel, sample.cgroup_id, 0, "a") <= 0)
			continue;
		EXPECT(kernel_inject(kernel, &sample, 1) == 0);
		life->adopted++;
	}
	__atomic_store_n(&life->births, 3, __ATOMIC_SEQ_CST);
	_exit(0);
}

static void end_births(void)
{
	__atomic_store_n(&life->births, 2, __ATOMIC_SEQ_CST);
	for (unsigned i = 0; i < 60000 && __atomic_load_n(&life->births, __ATOMIC_SEQ_CST) != 3; i++)
		(void)usleep(1000);
	cr_assert_eq(life->births, 3);
}

static pid_t begin_life(u64 memory_max, bool memory_auto, u64 adopted, u32 grow)
{
	pid_t pid;

	(void)notify_socket_count(&manager, "");
	life->whole = false;
	pid = fork();
	cr_assert_geq(pid, 0);
	if (pid == 0) {
		struct store *store;
		struct kernel *kernel = begin(memory_max, memory_auto, &store);

		fill(kernel, adopted);
		if (grow) {
			life->births = 1;
			be_born(kernel);
			EXPECT(ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0);
			EXPECT(raise(SIGSTOP) == 0);
			life->grown = kernel_grow(kernel, grow);
		}
		life->whole = true;
		(void)kill(getpid(), SIGKILL);
	}
	return pid;
}

static void live(u64 memory_max, bool memory_auto, u64 adopted)
{
	pid_t pid = begin_life(memory_max, memory_auto, adopted, 0);

	cr_assert_eq(waitpid(pid, NULL, 0), pid);
	cr_assert(life->whole);
}

/*
 * Kills the process at stop number `stop`. Each start and end of a system call is a stop. Returns false if
 * the process ended before that stop.
 */
static bool grow_until(u64 memory_max, u32 slots, unsigned stop)
{
	pid_t pid = begin_life(memory_max, true, life->adopted, slots);
	int status;

	cr_assert_eq(waitpid(pid, &status, 0), pid);
	cr_assert(WIFSTOPPED(status));
	for (unsigned i = 0; i < stop; i++) {
		cr_assert_eq(ptrace(PTRACE_SYSCALL, pid, NULL, NULL), 0);
		cr_assert_eq(waitpid(pid, &status, 0), pid);
		if (!WIFSTOPPED(status)) {
			end_births();
			return false;
		}
	}
	/* A cgroup born now gets one of the last slots that this process can provide. */
	(void)usleep(2000);
	cr_assert_eq(kill(pid, SIGKILL), 0);
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	end_births();
	return true;
}

static size_t stored(const char *kind)
{
	size_t n = 0;

	(void)notify_socket_count(&manager, "");
	for (size_t i = 0; i < manager.n; i++)
		n += strncmp(manager.stored[i].name, kind, strlen(kind)) == 0;
	return n;
}

Test(growth, a_kill_at_any_step_leaves_a_usable_table, .init = setup_lives, .fini = teardown_lives,
     .timeout = 600)
{
	const u64 memory_max = 64 * MIB;
	unsigned stop = 0, kills = 0, grown = 0;
	bool more = true;

	live(memory_max, true, FIRST_SLOTS - 1);
	cr_expect_eq(life->inherited, INHERITED_NOTHING);
	while (more) {
		const u32 before = life->slots;

		/* Grow by two blocks at once, and kill at each stop once. */
		more = grow_until(memory_max, before + 2 * SLOT_BLOCK, ++stop);
		kills += more;
		live(memory_max, true, life->adopted);
		cr_assert_eq(life->inherited, INHERITED_ALL, "after stop %u", stop);
		cr_assert(life->slots == before || life->slots == before + 2 * SLOT_BLOCK,
			  "%u slots instead of %u, after stop %u", life->slots, before, stop);
		cr_assert_eq(life->samples, life->adopted, "after stop %u", stop);
		grown += life->slots != before;
		/* Cgroups can take every slot, and their samples are counted there. */
		live(memory_max, true, life->slots - 1);
		live(memory_max, true, life->adopted);
		cr_assert_eq(life->samples, life->adopted, "after stop %u", stop);
		cr_assert_eq(stored("map-1-owners_block-"), life->slots / SLOT_BLOCK, "after stop %u", stop);
		cr_assert_eq(stored("map-1-plain_block-"), life->slots / SLOT_BLOCK, "after stop %u", stop);
	}
	cr_expect_gt(kills, 10, "%u kills", kills);
	cr_expect_gt(grown, 1);
	cr_expect_lt(grown, kills, "no kill was before the growth counted");
}

Test(growth, a_restart_keeps_added_slots_under_a_changed_limit, .init = setup_lives, .fini = teardown_lives)
{
	u32 slots_max;

	live(4 * MIB, true, 100);
	slots_max = life->slots_max;
	cr_expect_eq(life->limit, slots_max);
	cr_assert_not(grow_until(4 * MIB, 2000, 100000));
	cr_assert_gt(life->grown, 0);
	live(4 * MIB, true, life->adopted);
	cr_expect_eq(life->slots, 2048);
	cr_expect_eq(life->samples, life->adopted);

	/* A limit below the present size: the table stays as it is and no longer grows. */
	live(1 * MIB, false, life->adopted);
	cr_expect_eq(life->inherited, INHERITED_ALL);
	cr_expect_eq(life->slots, 2048);
	cr_expect_eq(life->limit, 2048);
	cr_expect_eq(life->samples, life->adopted);

	/* A larger limit that nobody configured: the inherited maps keep their maximum. */
	live(8 * MIB, true, life->adopted);
	cr_expect_eq(life->inherited, INHERITED_ALL);
	cr_expect_eq(life->slots_max, slots_max);

	/* A larger limit that is configured: the maps are made again, for that size. */
	live(8 * MIB, false, 0);
	cr_expect_eq(life->inherited, INHERITED_NOTHING);
	cr_expect_gt(life->slots_max, slots_max);
	cr_expect_eq(life->samples, 0);
	cr_expect_eq(stored("map-1-owners_block-"), 2);
}

// SPDX-License-Identifier: GPL-2.0
/*
 * The state that a process leaves to the next one, in the running kernel. Children of the test open the kernel
 * side and an event and are killed. Later children continue with the descriptors that the test's own service
 * manager kept. Needs root.
 */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/filter.h>
#include <linux/perf_event.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

#include "cgroup_fixture.h"
#include "child_expect.h"
#include "collect/adopt.h"
#include "kernel/kernel_internal.h"
#include "notify_socket.h"
#include "origin/perf/perf.h"
#include "origin/perf/perf_offcore_internal.h"
#include "page_faults.h"
#include "software_event.h"
#include "some_stripes.h"
#include "tree.h"

#define FAULTS 3000UL
#define SLOTS  512

/* The differences of a process from the default. */
struct variation {
	u32 slots;        /* 0: SLOTS */
	bool other_ways;  /* reads samples as on older kernels: other settings */
	u64 period;       /* 0: 1 */
	bool stay_paused; /* the previous process's pause continues */
	bool alone;       /* takes nothing over */
	bool offcore;     /* also counts page faults at task switches */
	bool other_counters;
	bool dies_replacing; /* the process is killed just before it replaces the first counter */
	bool cannot_load;    /* the kernel refuses its programs */
	bool hot;            /* a cgroup may have hot tables */
};

/* The values that a process read, before and after it made page faults. */
struct found {
	enum inherited inherited;
	u32 epoch;
	struct perf_counts first, last;
	u64 samples_first, samples_last; /* in the records */
	u64 skipped_first, skipped_last; /* skipped() at that time */
	u64 losses;
	u64 births;
	u64 period;
	struct offcore_count counted_first, counted_last;
	u64 counting_errors;
	u64 hot_samples; /* in the hot tables, which count only samples after they were made */
	u64 hot_skipped; /* skipped() since then */
	bool told_short; /* that few slots are free */
	bool whole;      /* the process reached its end */
};

struct process {
	struct store *store;
	struct handover *handover;
	struct kernel *kernel;
	struct perf_event_set *set;
	struct perf_save *save;
	struct offcore_set *offcore;
};

/* A CPU's page faults once more, with a program that counts its runs. */
struct control {
	int event_fd;
	const u64 *runs;
};

static struct control controls[2];
#define CONTROLS_FROM 512 /* above all descriptors that a process is passed */
static char *root;
static char online[64];
static struct found *found;

static void start_controls(void)
{
	for (int cpu = 0; cpu < (int)ARRAY_SIZE(controls); cpu++) {
		int program_fd = page_faults_counting_program(&controls[cpu].runs);
		int event_fd;

		cr_assert_geq(program_fd, 0);
		event_fd = software_event_open(
			&(struct software_event){
				.config = PERF_COUNT_SW_PAGE_FAULTS, .period = 1, .pid = -1, .cpu = cpu},
			program_fd);
		/* A process puts the descriptors that it is passed at low numbers, in place of others. */
		controls[cpu].event_fd = fcntl(event_fd, F_DUPFD_CLOEXEC, CONTROLS_FROM);
		cr_assert_geq(controls[cpu].event_fd, CONTROLS_FROM);
		(void)close(event_fd);
		software_event_enable(controls[cpu].event_fd);
		/* The event keeps its program. */
		(void)close(program_fd);
	}
}

/*
 * Returns the number of page faults, since the test began, for which the kernel ran no program of an event. It
 * runs none while something else holds its guard on the CPU (bpf_prog_active; bpf_overflow_handler(),
 * kernel/events/core.c), such as a map system call that was preempted, and it counts none of these. But all
 * events of one page fault find the same guard: they follow one another without preemption (__perf_sw_event(),
 * Linux 6.1 to 6.18). So pebsd's programs were skipped exactly where the controls' were. The runs are read
 * first, so that a page fault between the two reads is not missing.
 */
static u64 skipped(void)
{
	u64 sum = 0;

	for (size_t i = 0; i < ARRAY_SIZE(controls); i++) {
		u64 runs = __atomic_load_n(controls[i].runs, __ATOMIC_ACQUIRE);

		sum += software_event_count(controls[i].event_fd) - runs;
	}
	return sum;
}

static void setup(void)
{
	cgroup_fixture_setup();
	start_controls();
	root = tree_new();
	tree_write(root, "online", "0-1\n");
	(void)snprintf(online, sizeof(online), "%s/online", root);
	notify_socket_start(&manager);
	found = mmap(NULL, sizeof(*found), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	cr_assert_neq(found, MAP_FAILED);
}

static void teardown(void)
{
	notify_socket_stop(&manager);
	if (root)
		tree_remove(root);
	cgroup_fixture_teardown();
}

TestSuite(inherited, .init = setup, .fini = teardown);

static const struct event_spec page_faults = {
	.event = {.role = EVENT_LOADS, .pmu = "software", .period = 1},
	.type = PERF_TYPE_SOFTWARE,
	.config = PERF_COUNT_SW_PAGE_FAULTS,
};

static void open_offcore(struct process *process, const struct variation *variation)
{
	const struct pmu_counter counter = {
		.pmu = "software",
		.type = PERF_TYPE_SOFTWARE,
		.config =
			variation->other_counters ? PERF_COUNT_SW_PAGE_FAULTS_MIN : PERF_COUNT_SW_PAGE_FAULTS,
	};
	char *message = NULL;

	if (variation->offcore)
		EXPECT(offcore_open(&counter, 1, online, &process->offcore, &message) == 0);
}

static void start_offcore(struct process *process, const struct variation *variation)
{
	const struct offcore_save_settings save = {.handover = process->handover,
						   .inherited = found->inherited,
						   .stay_paused = variation->stay_paused};
	char *message = NULL;

	if (variation->dies_replacing) {
		process->offcore->kernel = kernel_offcore(process->kernel);
		EXPECT(offcore_save_begin(process->offcore, &save) == 0);
		found->whole = true;
		(void)kill(getpid(), SIGKILL);
	}
	if (process->offcore)
		EXPECT(offcore_start(process->offcore, kernel_offcore(process->kernel), &save, &message) ==
		       0);
}

/* Makes bpf(BPF_PROG_LOAD) fail from now on. */
static void lose_programs(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_bpf, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, BPF_PROG_LOAD, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog program = {.len = ARRAY_SIZE(code), .filter = code};

	EXPECT(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
	EXPECT(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0);
}

/* Starts as the daemon does (sampling_perf.c). */
static void begin(struct process *process, const struct variation *variation)
{
	struct kernel_settings settings = {
		.slots = variation->slots ? variation->slots : SLOTS,
		.stripes = machine_stripes(),
		.births = true,
		.hardware = true,
		.read_by_probe = variation->other_ways,
		.measured = 1,
		.n_events = 1,
	};
	struct event_spec spec = page_faults;
	struct perf_save_settings save = {.n_sets = 1, .stay_paused = variation->stay_paused};
	char *message = NULL;
	int r;

	if (variation->hot) {
		settings.hot_max = 1;
		settings.events[0].has_code_address = 1;
	}
	if (variation->period)
		spec.event.period = variation->period;
	notify_socket_pass(&manager);
	EXPECT(store_open(&process->store) == 0);
	EXPECT(handover_open(process->store, &process->handover) == 0);
	settings.handover = process->handover;
	settings.inherit = !variation->alone && perf_save_fits(process->handover, 1);
	EXPECT(perf_open(&spec, online, &process->set, &message) == 0);
	open_offcore(process, variation);
	settings.offcore_cpus = process->offcore ? offcore_cpus(process->offcore) : 0;
	if (variation->cannot_load)
		lose_programs();
	r = kernel_open(&settings, &process->kernel, &message);
	if (variation->cannot_load) {
		EXPECT(r < 0);
		found->whole = true;
		(void)kill(getpid(), SIGKILL);
	}
	if (r < 0)
		(void)fprintf(stderr, "%s\n", message ? message : strerror(-r));
	EXPECT(r == 0);
	save.handover = process->handover;
	save.inherited = found->inherited = kernel_inherited(process->kernel);
	save.epoch = found->epoch = kernel_epoch(process->kernel);
	if (save.inherited == INHERITED_NOTHING)
		store_drop_rest(process->store);
	EXPECT(perf_save_new(&save, &process->save) == 0);
	EXPECT(perf_start_restored(process->set, kernel_program_fd(process->kernel, 0), process->save, 0,
				   &message) == 0);
	start_offcore(process, variation);
	EXPECT(handover_commit(process->handover) == 0);
	store_drop_rest(process->store);
	EXPECT(store_settle(process->store) == 0);
}

static u64 samples_of(const struct process *process, u64 *ret_losses)
{
	u64 sum = 0;

	*ret_losses = 0;
	for (u32 stripe = 0; stripe < kernel_stripes(process->kernel); stripe++) {
		struct rejected_record losses = kernel_rejected(process->kernel, 0, stripe);

		*ret_losses += losses.malformed;
		for (u32 slot = 0; slot < kernel_settings(process->kernel)->slots; slot++) {
			const struct plain_record *record =
				kernel_plain_record(process->kernel, 0, stripe, slot);

			for (unsigned source = 0; source < SOURCE_SLOTS; source++)
				sum += record->samples[source];
		}
	}
	return sum;
}

static struct offcore_count counted_of(const struct process *process)
{
	const struct kernel_offcore *offcore = kernel_offcore(process->kernel);
	struct offcore_count sum = {0};

	if (!process->offcore)
		return sum;
	offcore_collect(process->offcore);
	for (u32 cpu = 0; cpu < kernel_offcore_cpus(offcore); cpu++)
		for (u32 slot = 0; slot < kernel_settings(process->kernel)->slots; slot++) {
			const struct offcore_record *record = kernel_offcore_record(offcore, cpu, slot);

			sum.count += record->counts[0].count;
			sum.enabled_ns += record->counts[0].enabled_ns;
			found->counting_errors += record->errors[0];
		}
	return sum;
}

static void look_first(struct process *process)
{
	found->counted_first = counted_of(process);
	found->samples_first = samples_of(process, &found->losses);
	found->skipped_first = skipped();
	perf_count(process->set, &found->first);
	found->births = kernel_slot_counters(process->kernel).births;
	found->period = perf_event(process->set)->period;
}

static void look_last(struct process *process)
{
	perf_count(process->set, &found->last);
	found->skipped_last = skipped();
	found->samples_last = samples_of(process, &found->losses);
	found->counted_last = counted_of(process);
}

static struct variation current;
static void (*in_the_middle)(struct process *process);

static void run_process(void)
{
	struct process process = {0};

	begin(&process, &current);
	look_first(&process);
	page_faults_on(0, FAULTS);
	page_faults_on(1, FAULTS);
	if (in_the_middle)
		in_the_middle(&process);
	look_last(&process);
	handover_confirm(process.handover);
	found->whole = true;
	/* No destructor runs and nothing is closed in order. */
	(void)kill(getpid(), SIGKILL);
}

static struct found live(struct variation variation)
{
	pid_t child;
	int status;

	*found = (struct found){0};
	current = variation;
	/* Have the manager take everything that the previous process sent. */
	(void)notify_socket_count(&manager, "");
	child = fork();
	cr_assert_geq(child, 0);
	if (child == 0) {
		run_process();
		_exit(1);
	}
	cr_assert_eq(waitpid(child, &status, 0), child);
	cr_assert(found->whole, "the process ended with %#x", (unsigned)status);
	return *found;
}

/* Makes page faults while no process lives, or in the middle of a process's life. */
static void make_faults(void)
{
	page_faults_on(0, FAULTS);
	page_faults_on(1, FAULTS);
}

/* The records hold all samples that the event counted, except those that the kernel skipped, and at most 1 %. */
static void expect_all(const struct found *now)
{
	const u64 due = now->last.expected;

	cr_expect_leq(now->samples_last, due);
	cr_expect_geq(now->samples_last + now->skipped_last, due - due / 100,
		      "of %llu samples %llu are in the records, and %llu were skipped",
		      (unsigned long long)due, (unsigned long long)now->samples_last,
		      (unsigned long long)now->skipped_last);
}

/* Between two processes came 2 * FAULTS samples, except those that the kernel skipped, and at most 1 %. */
static void expect_more(const struct found *before, const struct found *now)
{
	cr_expect_geq(now->samples_first + now->skipped_first,
		      before->samples_last + before->skipped_last + 2 * FAULTS * 99 / 100,
		      "%llu samples before and %llu after; %llu and %llu were skipped",
		      (unsigned long long)before->samples_last, (unsigned long long)now->samples_first,
		      (unsigned long long)before->skipped_last, (unsigned long long)now->skipped_first);
}

static void end_it(struct process *process)
{
	/* Disables the events, so that their counts are final. */
	perf_pause(process->set);
}

Test(inherited, events_and_records_continue_after_a_restart)
{
	struct found before = live((struct variation){0}), now;

	cr_expect_eq(before.inherited, INHERITED_NOTHING);
	cr_expect_geq(before.last.expected, 2 * FAULTS);
	for (unsigned i = 0; i < 3; i++) {
		make_faults();
		in_the_middle = i == 2 ? end_it : NULL;
		now = live((struct variation){0});
		cr_expect_eq(now.inherited, INHERITED_ALL);
		cr_expect_eq(now.epoch, before.epoch);
		cr_expect_eq(now.first.cpus, 2);
		/* The event count and the records include the page faults that came while no process ran. */
		cr_expect_geq(now.first.expected, before.last.expected + 2 * FAULTS);
		expect_more(&before, &now);
		cr_expect_gt(now.first.enabled_ns, before.last.enabled_ns);
		before = now;
	}
	expect_all(&now);
}

static u64 hot_samples(const struct process *process)
{
	u64 sum = 0;

	for (u32 cpu = 0; cpu < kernel_hot_cpus(process->kernel); cpu++)
		for (u32 set = 0; set < HOT_SETS; set++)
			sum += kernel_hot_table(process->kernel, 0, 0, cpu)
				       ->kinds[HOT_CODE]
				       .sets[set]
				       .samples;
	return sum;
}

static void move_to_fixture(void)
{
	_cleanup_free_ char *path = NULL;
	_cleanup_close_ int fd = -1;

	EXPECT(asprintf(&path, "%s%s/cgroup.procs", cgroup_fixture.mount, cgroup_fixture.path) > 0);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	EXPECT(write(fd, "0", 1) == 1);
}

/* Chooses the process's own cgroup. Its hot tables are made now and are empty. */
static void look_closer(struct process *process)
{
	int slot = kernel_adopt(process->kernel, cgroup_fixture_id(), 0, "");

	EXPECT(slot > 0);
	move_to_fixture();
	EXPECT(kernel_hot_table(process->kernel, 0, 0, 0) == NULL);
	make_faults();
	EXPECT(kernel_hot_choose(process->kernel, (u32)slot, 0) == 0);
#ifdef __SANITIZE_ADDRESS__
	/* The sanitizer makes the process fault between the two calls. */
	EXPECT(hot_samples(process) < FAULTS / 10);
#else
	EXPECT(hot_samples(process) == 0);
#endif
	found->hot_skipped = skipped();
	make_faults();
	found->hot_samples = hot_samples(process);
	found->hot_skipped = skipped() - found->hot_skipped;
}

/*
 * The process that chose the cgroup is gone, and so are its tables. The next process makes new ones, with the
 * same programs or with others.
 */
Test(inherited, hot_tables_start_empty_after_a_restart)
{
	static const bool other_ways[] = {false, false, true, true};
	struct found before, now;

	in_the_middle = look_closer;
	before = live((struct variation){.hot = true});
	cr_expect_geq(before.hot_samples + before.hot_skipped, 2 * FAULTS * 99 / 100);
	for (size_t i = 0; i < ARRAY_SIZE(other_ways); i++) {
		make_faults();
		now = live((struct variation){.hot = true, .other_ways = other_ways[i]});
		cr_expect_eq(now.inherited, i == 2 ? INHERITED_MAPS : INHERITED_ALL);
		expect_more(&before, &now);
		cr_expect_geq(now.hot_samples + now.hot_skipped, 2 * FAULTS * 99 / 100);
		cr_expect_leq(now.hot_samples, now.samples_last - now.samples_first - 2 * FAULTS * 99 / 100);
		before = now;
	}
	in_the_middle = NULL;
}

/*
 * Returns how many stored descriptors have a name that begins with `kind`. First takes the descriptors that
 * the last process sent.
 */
static size_t stored_of(const char *kind)
{
	size_t n = 0;

	(void)notify_socket_count(&manager, "");
	for (size_t i = 0; i < manager.n; i++)
		n += strncmp(manager.stored[i].name, kind, strlen(kind)) == 0;
	return n;
}

static u64 event_id(void)
{
	u64 id = 0;

	for (size_t i = 0; i < manager.n; i++)
		if (strncmp(manager.stored[i].name, "event-", 6) == 0)
			(void)ioctl(manager.stored[i].fd, PERF_EVENT_IOC_ID, &id);
	return id;
}

Test(inherited, repeated_restarts_keep_the_events_and_leak_nothing)
{
	size_t maps, links;
	u64 id;

	(void)live((struct variation){0});
	maps = stored_of("map-");
	links = stored_of("link-");
	id = event_id();
	cr_expect_gt(maps, 5);
	cr_expect_eq(links, 2);
	for (unsigned i = 0; i < 2; i++) {
		(void)live((struct variation){0});
		cr_expect_eq(event_id(), id, "the event was opened again");
		cr_expect_eq(stored_of("map-"), maps);
		cr_expect_eq(stored_of("link-"), links);
		cr_expect_eq(stored_of("event-"), 2);
		cr_expect_eq(stored_of("handover-"), 1);
	}
}

Test(inherited, other_programs_take_over_event_by_event)
{
	struct found before = live((struct variation){0}), now;
	const u64 id = event_id();
	const size_t maps = stored_of("map-");

	make_faults();
	in_the_middle = end_it;
	now = live((struct variation){.other_ways = true});
	cr_expect_eq(now.inherited, INHERITED_MAPS);
	cr_expect_eq(now.epoch, before.epoch + 1);
	cr_expect_geq(now.first.expected, before.last.expected + 2 * FAULTS);
	/* For a moment there was no event. That time is counted as enabled but not running. */
	cr_expect_gt(now.first.enabled_ns - now.first.running_ns,
		     before.last.enabled_ns - before.last.running_ns);
	expect_more(&before, &now);
	cr_expect_geq(now.last.expected, now.first.expected + 2 * FAULTS);
	expect_all(&now);
	cr_expect_neq(event_id(), id);
	cr_expect_eq(stored_of("map-"), maps);
	cr_expect_eq(stored_of("link-"), 2);
	/* These programs continue, too, with the events that were opened for them. */
	in_the_middle = NULL;
	now = live((struct variation){.other_ways = true});
	cr_expect_eq(now.inherited, INHERITED_ALL);
	cr_expect_eq(stored_of("event-"), 2);
}

Test(inherited, another_layout_starts_empty_and_removes_the_old_maps)
{
	struct found before = live((struct variation){0}), now;
	const size_t maps = stored_of("map-");

	now = live((struct variation){.slots = 2 * SLOTS});
	cr_expect_eq(now.inherited, INHERITED_NOTHING);
	cr_expect_lt(now.first.expected, before.last.expected);
	cr_expect_lt(now.samples_first, before.samples_last);
	cr_expect_eq(stored_of("map-"), maps);
	cr_expect_eq(stored_of("link-"), 2);
	cr_expect_eq(stored_of("event-"), 2);
	cr_expect_eq(stored_of("handover-"), 1);
	now = live((struct variation){.slots = 2 * SLOTS});
	cr_expect_eq(now.inherited, INHERITED_ALL);
	now = live((struct variation){.slots = 2 * SLOTS, .alone = true});
	cr_expect_eq(now.inherited, INHERITED_NOTHING);
}

/*
 * The start that fails has the previous settings, or others that would start from zero. The process after it
 * has the previous settings again, as when somebody undoes an edit. That process must find everything.
 */
Test(inherited, a_start_that_fails_to_load_leaves_the_state_for_the_next)
{
	struct found before = live((struct variation){0}), now;
	const size_t maps = stored_of("map-");

	(void)live((struct variation){.cannot_load = true});
	cr_expect_eq(stored_of("map-"), maps);
	cr_expect_eq(stored_of("link-"), 2);
	(void)live((struct variation){.slots = 2 * SLOTS, .cannot_load = true});
	cr_expect_eq(stored_of("map-"), maps);
	cr_expect_eq(stored_of("link-"), 2);
	cr_expect_eq(stored_of("event-"), 2);
	make_faults();
	now = live((struct variation){0});
	cr_expect_eq(now.inherited, INHERITED_ALL);
	cr_expect_geq(now.first.expected, before.last.expected + 2 * FAULTS);
	expect_more(&before, &now);
}

static void set_period(struct process *process)
{
	char *message;

	EXPECT(perf_set_period(process->set, 7, &message) == 0);
}

Test(inherited, a_governed_period_is_kept_if_the_configured_one_is_unchanged)
{
	struct found before, now;

	in_the_middle = set_period;
	before = live((struct variation){0});
	in_the_middle = NULL;
	now = live((struct variation){0});
	cr_expect_eq(now.inherited, INHERITED_ALL);
	cr_expect_eq(now.period, 7);
	cr_expect_lt(now.last.expected - before.last.expected, now.last.count - before.last.count);
	now = live((struct variation){.period = 3});
	cr_expect_eq(now.inherited, INHERITED_ALL);
	cr_expect_eq(now.period, 3);
}

static void lose_cpu_0_and_set_period(struct process *process)
{
	char *message;

	tree_write(root, "online", "1\n");
	EXPECT(perf_hotplug(process->set, &message) >= 0);
	set_period(process);
}

/* The event that was closed still has the old period. */
Test(inherited, the_period_in_force_is_that_of_the_cpus_that_are_open)
{
	struct found now;

	in_the_middle = lose_cpu_0_and_set_period;
	(void)live((struct variation){0});
	in_the_middle = NULL;
	tree_write(root, "online", "0-1\n");
	now = live((struct variation){0});
	cr_expect_eq(now.inherited, INHERITED_ALL);
	cr_expect_eq(now.first.cpus, 2);
	cr_expect_eq(now.period, 7);
}

static u64 now_ns(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (u64)now.tv_sec * NSEC_PER_SEC + (u64)now.tv_nsec;
}

/*
 * An event that was paused when its process died runs again, as after a zoom, whose pause ends with the
 * process. A user's pause that is not over continues (`stay_paused`).
 */
Test(inherited, a_paused_event_runs_again_or_stays_as_it_is)
{
	const u64 begun = now_ns();
	struct found before, now;

	in_the_middle = end_it;
	before = live((struct variation){0});
	cr_expect_eq(stored_of("event-"), 0);
	in_the_middle = NULL;
	(void)usleep(100000);
	now = live((struct variation){.stay_paused = true});
	cr_expect_eq(now.last.expected, before.last.expected);
	cr_expect_eq(now.first.cpus, 0);
	cr_expect_eq(stored_of("event-"), 0);
	(void)usleep(100000);
	in_the_middle = end_it;
	now = live((struct variation){0});
	cr_expect_eq(now.first.cpus, 2);
	cr_expect_geq(now.first.paused_ns, 2 * 200ULL * NSEC_PER_MSEC);
	cr_expect_leq(now.first.paused_ns, 2 * (now_ns() - begun));
	cr_expect_geq(now.last.expected, before.last.expected + 2 * FAULTS);
	expect_all(&now);
}

static void end_it_and_configure_period(struct process *process)
{
	end_it(process);
	set_period(process);
	perf_mark_configured(process->set);
}

/* A reload of the configuration in a pause. No event is open, so only what is saved has the new period. */
Test(inherited, a_period_that_was_configured_in_a_pause_is_in_force_after_a_restart)
{
	struct found now;

	in_the_middle = end_it_and_configure_period;
	now = live((struct variation){.period = 3});
	cr_expect_eq(now.period, 3);
	in_the_middle = NULL;
	now = live((struct variation){.period = 7, .stay_paused = true});
	cr_expect_eq(now.period, 7);
	now = live((struct variation){.period = 7});
	cr_expect_eq(now.period, 7);
}

Test(inherited, a_cpu_that_went_offline_between_processes_keeps_its_counts)
{
	struct found before = live((struct variation){0}), now;

	tree_write(root, "online", "0\n");
	now = live((struct variation){0});
	cr_expect_eq(now.first.cpus, 1);
	cr_expect_geq(now.first.expected, before.last.expected);
	cr_expect_eq(stored_of("event-"), 1);
	before = now;
	tree_write(root, "online", "0-1\n");
	in_the_middle = end_it;
	now = live((struct variation){0});
	cr_expect_eq(now.first.cpus, 2);
	cr_expect_geq(now.first.expected, before.last.expected);
	cr_expect_geq(now.last.expected, before.last.expected + 2 * FAULTS);
	expect_all(&now);
}

/*
 * The kernel stops an event on a CPU that goes offline. A process that is killed while it replaces an event
 * leaves that event stopped, too.
 */
Test(inherited, a_stalled_event_is_replaced_and_its_count_continues)
{
	struct found before = live((struct variation){0}), now;
	const u64 id = event_id();

	for (size_t i = 0; i < manager.n; i++)
		if (strncmp(manager.stored[i].name, "event-", 6) == 0)
			cr_assert_eq(ioctl(manager.stored[i].fd, PERF_EVENT_IOC_DISABLE, 0), 0);
	in_the_middle = end_it;
	now = live((struct variation){0});
	cr_expect_eq(now.inherited, INHERITED_ALL);
	cr_expect_neq(event_id(), id);
	cr_expect_geq(now.first.expected, before.last.expected);
	cr_expect_geq(now.last.expected, before.last.expected + 2 * FAULTS);
	expect_all(&now);
}

#define FEW_SLOTS 8

static void wait_until_told(struct process *process)
{
	struct pollfd notice = {.fd = kernel_slots_short_fd(process->kernel), .events = POLLIN};

	found->told_short = poll(&notice, 1, 60000) == 1;
}

/* The process dies after it took the notice of short slots, and before it lets the next birth report them again. */
static void die_told(struct process *process)
{
	for (unsigned i = 0; i < FEW_SLOTS; i++) {
		char name[32];

		(void)snprintf(name, sizeof(name), "first-%u", i);
		(void)cgroup_fixture_make(name);
	}
	wait_until_told(process);
	EXPECT(ring_buffer__consume(process->kernel->short_of) > 0);
}

static void see_a_birth(struct process *process)
{
	(void)cgroup_fixture_make("second");
	wait_until_told(process);
}

Test(inherited, births_report_short_slots_to_the_next_process)
{
	struct found now;

	in_the_middle = die_told;
	now = live((struct variation){.slots = FEW_SLOTS});
	cr_expect(now.told_short);
	in_the_middle = see_a_birth;
	now = live((struct variation){.slots = FEW_SLOTS});
	cr_expect_eq(now.inherited, INHERITED_ALL);
	cr_expect(now.told_short);
}

Test(inherited, a_cgroup_created_between_processes_has_a_slot)
{
	struct found before = live((struct variation){0}), now;

	(void)cgroup_fixture_make("meanwhile");
	now = live((struct variation){0});
	cr_expect_geq(now.births, before.births + 1);
	cgroup_fixture_remove("meanwhile");
}

static struct notify_stored *stored_as(const char *prefix)
{
	for (size_t i = 0; i < manager.n; i++)
		if (strncmp(manager.stored[i].name, prefix, strlen(prefix)) == 0)
			return &manager.stored[i];
	cr_assert_fail("nothing is stored as %s", prefix);
	abort();
}

static void put_in_place(struct notify_stored *stored, int fd)
{
	(void)close(stored->fd);
	stored->fd = fd;
}

static void forget(struct notify_stored *stored)
{
	(void)close(stored->fd);
	*stored = manager.stored[--manager.n];
}

/* The next start must succeed, start from zero and store everything again. The start after it must continue. */
static void expect_anew(void)
{
	struct found now = live((struct variation){0});

	cr_expect_eq(now.inherited, INHERITED_NOTHING);
	cr_expect_geq(now.last.expected, 2 * FAULTS);
	cr_expect_eq(stored_of("handover-"), 1);
	cr_expect_eq(stored_of("event-"), 2);
	cr_expect_eq(stored_of("link-"), 2);
	now = live((struct variation){0});
	cr_expect_eq(now.inherited, INHERITED_ALL);
}

static void nothing_else(void)
{
	(void)live((struct variation){0});
}

Test(inherited, if_a_stored_map_has_another_type_counting_starts_empty)
{
	nothing_else();
	put_in_place(stored_as("map-1-slot_index"), fcntl(stored_as("map-1-dirty")->fd, F_DUPFD_CLOEXEC, 3));
	expect_anew();
}

Test(inherited, if_a_stored_map_is_not_a_map_counting_starts_empty)
{
	nothing_else();
	put_in_place(stored_as("map-1-dirty"), open("/dev/null", O_RDWR | O_CLOEXEC));
	expect_anew();
}

Test(inherited, if_maps_are_missing_counting_starts_empty)
{
	nothing_else();
	for (unsigned i = 0; i < 5; i++)
		forget(stored_as("map-"));
	expect_anew();
}

Test(inherited, if_two_maps_have_one_name_counting_starts_empty)
{
	struct notify_stored *longer;

	nothing_else();
	longer = reallocarray(manager.stored, manager.n + 1, sizeof(*longer));
	cr_assert_not_null(longer);
	manager.stored = longer;
	longer[manager.n] = *stored_as("map-1-dirty");
	longer[manager.n].fd = fcntl(longer[manager.n].fd, F_DUPFD_CLOEXEC, 3);
	manager.n++;
	expect_anew();
}

Test(inherited, if_the_handover_is_missing_counting_starts_empty)
{
	nothing_else();
	forget(stored_as("handover-"));
	expect_anew();
}

Test(inherited, if_the_handover_is_truncated_counting_starts_empty)
{
	int fd = memfd_create("cut", MFD_CLOEXEC);

	nothing_else();
	cr_assert_eq(ftruncate(fd, 100), 0);
	put_in_place(stored_as("handover-"), fd);
	expect_anew();
}

/* Returns the text that the process writes to its log. The caller frees it. */
static char *log_of(struct variation variation, struct found *ret)
{
	FILE *log = tmpfile();
	int own = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
	char *text = calloc(1, 4096);

	cr_assert(log && own >= 0 && text);
	cr_assert_eq(dup2(fileno(log), STDERR_FILENO), STDERR_FILENO);
	*ret = live(variation);
	cr_assert_eq(dup2(own, STDERR_FILENO), STDERR_FILENO);
	(void)close(own);
	rewind(log);
	cr_assert(fread(text, 1, 4095, log) < 4095);
	(void)fclose(log);
	return text;
}

/* The first page has the offset and the size of each part of the memory, after 16 bytes. */
Test(inherited, maps_of_another_version_are_replaced_and_reported)
{
	struct found now;
	char *text;
	u64 *page;

	nothing_else();
	page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, stored_as("handover-")->fd, 0);
	cr_assert_neq(page, MAP_FAILED);
	page[2 + 2 * HANDOVER_KERNEL + 1] -= sizeof(u64);
	text = log_of((struct variation){0}, &now);
	cr_expect_eq(now.inherited, INHERITED_NOTHING);
	cr_expect_not_null(
		strstr(text,
		       "cannot use the BPF maps of the previous process: they belong to another version"),
		"%s", text);
	free(text);
	text = log_of((struct variation){0}, &now);
	cr_expect_eq(now.inherited, INHERITED_ALL);
	cr_expect_null(strstr(text, "another version"), "%s", text);
	free(text);
	(void)munmap(page, 4096);
}

Test(inherited, if_counts_of_events_have_another_size_counting_starts_empty)
{
	u64 *page;

	nothing_else();
	page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, stored_as("handover-")->fd, 0);
	cr_assert_neq(page, MAP_FAILED);
	page[2 + 2 * HANDOVER_EVENTS + 1] -= sizeof(u64);
	(void)munmap(page, 4096);
	expect_anew();
}

Test(inherited, a_foreign_event_under_our_name_is_replaced)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE, .size = sizeof(attr), .config = PERF_COUNT_SW_CPU_CLOCK};
	struct found before = live((struct variation){0}), now;
	int fd = (int)syscall(SYS_perf_event_open, &attr, -1, 0, -1, PERF_FLAG_FD_CLOEXEC);

	cr_assert_geq(fd, 0);
	put_in_place(stored_as("event-1-0-0"), fd);
	in_the_middle = end_it;
	now = live((struct variation){0});
	cr_expect_eq(now.inherited, INHERITED_ALL);
	cr_expect_eq(now.first.cpus, 2);
	/* Unknown counts do not become 0: the figures are the last known ones. */
	cr_expect_geq(now.first.expected, before.last.expected);
	cr_expect_geq(now.last.expected, before.last.expected + 2 * FAULTS);
	/*
	 * The pause at the end has removed the new events. No old event is left, nor is the foreign one, which
	 * would otherwise run next to the new events.
	 */
	cr_expect_eq(stored_of("event-"), 0);
}

Test(inherited, a_missing_event_is_opened_again)
{
	struct found before = live((struct variation){0}), now;

	forget(stored_as("event-1-0-1"));
	now = live((struct variation){0});
	cr_expect_eq(now.inherited, INHERITED_ALL);
	cr_expect_eq(now.first.cpus, 2);
	cr_expect_geq(now.first.expected, before.last.expected);
	cr_expect_eq(stored_of("event-"), 2);
}

Test(inherited, a_missing_link_is_attached_again)
{
	struct found now;

	nothing_else();
	forget(stored_as("link-1-cgroup_born"));
	now = live((struct variation){0});
	cr_expect_eq(now.inherited, INHERITED_ALL);
	cr_expect_eq(stored_of("link-"), 2);
}

Test(inherited, off_core_counters_keep_counting_between_processes)
{
	struct found before = live((struct variation){.offcore = true}), now;

	cr_expect_geq(before.counted_last.count, 2 * FAULTS);
	cr_expect_eq(stored_of("counter-"), 2);
	cr_expect_eq(stored_of("link-"), 3);
	for (unsigned i = 0; i < 2; i++) {
		make_faults();
		now = live((struct variation){.offcore = true});
		cr_expect_eq(now.inherited, INHERITED_ALL);
		cr_expect_geq(now.counted_first.count, before.counted_last.count + 2 * FAULTS);
		/* Not more than the events can have counted: nothing was counted twice. */
		cr_expect_leq(now.counted_first.count, now.last.count);
		cr_expect_eq(now.counting_errors, 0);
		cr_expect_eq(stored_of("counter-"), 2);
		before = now;
	}
	/*
	 * Other programs continue to read the same counters. With other counters, the counts from before
	 * stay.
	 */
	now = live((struct variation){.offcore = true, .other_ways = true});
	cr_expect_eq(now.inherited, INHERITED_MAPS);
	cr_expect_geq(now.counted_first.count, before.counted_last.count);
	cr_expect_eq(now.counting_errors, 0);
	cr_expect_eq(stored_of("link-"), 3);
	before = now;
	now = live((struct variation){.offcore = true, .other_ways = true, .other_counters = true});
	cr_expect_eq(now.inherited, INHERITED_ALL);
	cr_expect_geq(now.counted_first.count, before.counted_last.count);
	cr_expect_geq(now.counted_last.count, now.counted_first.count + 2 * FAULTS * 9 / 10);
	cr_expect_eq(stored_of("counter-"), 2);
}

Test(inherited, off_core_counters_are_reopened_if_one_is_missing)
{
	struct found before = live((struct variation){.offcore = true}), now;

	forget(stored_as("counter-1-0-0"));
	now = live((struct variation){.offcore = true});
	cr_expect_eq(now.inherited, INHERITED_ALL);
	cr_expect_geq(now.counted_first.count, before.counted_last.count);
	cr_expect_geq(now.counted_last.count, now.counted_first.count + 2 * FAULTS);
	cr_expect_eq(stored_of("counter-"), 2);
}

Test(inherited, off_core_counts_stay_with_their_cgroup_after_a_removal)
{
	_cleanup_free_ char *before = NULL;

	(void)live((struct variation){.offcore = true});
	before = strdup(stored_as("counter-1-0-0")->name);
	cr_assert(before);
	(void)live((struct variation){.offcore = true, .other_counters = true, .dies_replacing = true});
	(void)live((struct variation){.offcore = true, .other_counters = true});
	cr_expect_str_neq(stored_as("counter-1-0-0")->name, before);
	cr_expect_eq(stored_of("counter-"), 2);
}

// SPDX-License-Identifier: GPL-2.0
/*
 * The events of a zoom in the running kernel, on software events. The tests check the cgroup and the stacks
 * of samples, how many samples the limiter lets through, that the others are counted, and the records of
 * tasks. This program is built with frame pointers.
 */
#include <criterion/criterion.h>

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cgroup_fixture.h"
#include "clock.h"
#include "pebsd/zoom.h"
#include "zoom/zoom_events.h"
#include "zoom/zoom_limit.h"
#include "zoom/zoom_source.h"

TestSuite(zoom_events, .init = cgroup_fixture_setup, .fini = cgroup_fixture_teardown);

static struct event_spec cpu_clock(u64 period_ns)
{
	return (struct event_spec){
		.event = {.role = EVENT_INSTRUCTIONS,
			  .period = period_ns,
			  .settings = {.has_code_address = 1}},
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CPU_CLOCK,
	};
}

static struct event_spec page_faults(void)
{
	return (struct event_spec){
		.event = {.role = EVENT_LOADS, .period = 1, .settings = {.has_address = 1}},
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_PAGE_FAULTS,
	};
}

static int cgroup_directory(const char *name)
{
	_cleanup_free_ char *path = NULL;
	int fd;

	cr_assert_geq(asprintf(&path, "%s%s/%s", cgroup_fixture.mount, cgroup_fixture.path, name), 0);
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	cr_assert_geq(fd, 0, "%s: %s", path, strerror(errno));
	return fd;
}

static struct zoom_about about_of(const struct zoom_source *source)
{
	struct zoom_about about = {0};

	source->methods->describe(source, &about);
	return about;
}

static struct zoom_source *zoom_on(const char *name, const struct event_spec *specs, size_t n, u32 rate)
{
	_cleanup_close_ int fd = cgroup_directory(name);
	_cleanup_free_ char *message = NULL;
	struct zoom_source *events = NULL;
	int r = zoom_events_open(
		&(struct zoom_events_settings){
			.cgroup_fd = fd,
			.specs = specs,
			.n_specs = n,
			.rate = rate,
			.lbr = true,
			.physical = true,
		},
		&events, &message);

	cr_assert_eq(r, 0, "%s: %s", strerror(-r), message ? message : "");
	return events;
}

/* Shared memory that a child fills for the test. */
struct shared {
	u64 ns; /* CPU time that it is to work */
	int cpu;
	u64 from_inner, from_middle; /* return addresses of the two functions */
	u64 memory, bytes;
};

static struct shared *share(struct shared shared)
{
	struct shared *memory =
		mmap(NULL, sizeof(*memory), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	cr_assert_neq(memory, MAP_FAILED);
	*memory = shared;
	return memory;
}

static __attribute__((noinline)) u64 inner(struct shared *shared)
{
	u64 value = 1;

	shared->from_inner = (u64)__builtin_return_address(0);
	for (unsigned i = 0; i < 2000000; i++)
		__asm__ volatile("" : "+r"(value));
	return value;
}

static __attribute__((noinline)) u64 middle(struct shared *shared)
{
	shared->from_middle = (u64)__builtin_return_address(0);
	return inner(shared) + 1;
}

static int work(void *userdata)
{
	struct shared *shared = userdata;
	u64 begin = clock_ns(CLOCK_PROCESS_CPUTIME_ID);

	while (clock_ns(CLOCK_PROCESS_CPUTIME_ID) - begin < shared->ns)
		(void)middle(shared);
	return 0;
}

static void run(const char *name, int (*what)(void *userdata), void *userdata)
{
	struct cgroup_child child = cgroup_fixture_child(name, what, userdata);

	cgroup_fixture_go(&child);
}

struct taken {
	size_t samples, kinds[ZOOM_RECORD_OTHER + 1];
	size_t of_event[ZOOM_EVENTS_MAX];
	u64 first_ns, last_ns;
	const struct shared *shared;
	size_t exact, with_address, with_build_id, executed;
	u64 cgroups[2];
	size_t in[2], elsewhere;
};

static int take(void *userdata, const struct zoom_record *record)
{
	struct taken *taken = userdata;
	const struct zoom_sample *sample = &record->sample;

	taken->kinds[record->kind]++;
	if (record->kind == ZOOM_RECORD_MAPPED)
		taken->with_build_id += record->mapped.build_id_size == 20;
	if (record->kind == ZOOM_RECORD_NAMED)
		taken->executed += record->named.executed && strcmp(record->named.name, "true") == 0;
	if (record->kind != ZOOM_RECORD_SAMPLE)
		return 0;
	taken->samples++;
	taken->of_event[sample->event]++;
	taken->in[0] += sample->of.cgroup_id == taken->cgroups[0];
	taken->in[1] += sample->of.cgroup_id == taken->cgroups[1];
	taken->elsewhere +=
		sample->of.cgroup_id != taken->cgroups[0] && sample->of.cgroup_id != taken->cgroups[1];
	if (taken->first_ns == 0 || sample->time_ns < taken->first_ns)
		taken->first_ns = sample->time_ns;
	if (sample->time_ns > taken->last_ns)
		taken->last_ns = sample->time_ns;
	if (!taken->shared)
		return 0;
	taken->exact += sample->n_user >= 2 && sample->user[0] == taken->shared->from_inner &&
			sample->user[1] == taken->shared->from_middle;
	taken->with_address += sample->of.fields & SAMPLE_ADDRESS && taken->shared->bytes > 0 &&
			       sample->of.address - taken->shared->memory < taken->shared->bytes;
	return 0;
}

/* Stops the events, takes all records, and checks that the counts agree. */
static struct zoom_counts finish(struct zoom_source *events, struct taken *taken)
{
	struct zoom_counts counts;

	events->methods->stop(events);
	cr_assert_eq(events->methods->drain(events, take, taken), 0);
	events->methods->counts(events, &counts);
	cr_expect_eq(counts.malformed, 0);
	/* Lost records may include the exits of the children. */
	cr_expect_leq(counts.seen, counts.limited + taken->samples + counts.lost,
		      "of %llu samples %llu were limited, %zu taken, %llu lost", counts.seen, counts.limited,
		      taken->samples, counts.lost);
	cr_expect_geq(counts.seen + (counts.lost > 0 ? 2 : 0), counts.limited + taken->samples + counts.lost,
		      "of %llu samples %llu were limited, %zu taken, %llu lost", counts.seen, counts.limited,
		      taken->samples, counts.lost);
	return counts;
}

Test(zoom_events, only_the_cgroup_and_its_descendants_are_sampled)
{
	const struct event_spec spec = cpu_clock(1000000);
	_cleanup_(zoom_events_freep) struct zoom_source *events = NULL;
	struct shared *shared = share((struct shared){.ns = 100 * NSEC_PER_MSEC});
	struct taken taken = {0};
	struct zoom_counts counts;

	taken.cgroups[0] = cgroup_fixture_make("a");
	taken.cgroups[1] = cgroup_fixture_make("a/below");
	(void)cgroup_fixture_make("beside");
	events = zoom_on("a", &spec, 1, 1000000);
	run("a", work, shared);
	run("beside", work, shared);
	run("a/below", work, shared);
	counts = finish(events, &taken);

	cr_expect_gt(taken.in[0], 20, "%zu samples of the cgroup", taken.in[0]);
	cr_expect_gt(taken.in[1], 20, "%zu samples below it", taken.in[1]);
	cr_expect_eq(taken.elsewhere, 0, "%zu samples of others", taken.elsewhere);
	cr_expect_eq(counts.limited, 0);
	cr_expect_eq(counts.lost, 0);
	cr_expect_gt(counts.enabled_ns, 0);
	cr_expect_eq(counts.enabled_ns, counts.running_ns);
	cr_expect_geq(counts.count, 200 * NSEC_PER_MSEC);
	cr_expect_lt(counts.count, 290 * NSEC_PER_MSEC, "what ran beside was counted too");
	/* Software events have no LBR. */
	cr_expect_not(about_of(events).lbr);
}

/* A new cgroup with the same name is not the removed one. */
Test(zoom_events, a_removed_cgroup_is_recognized)
{
	const struct event_spec spec = cpu_clock(1000000);
	_cleanup_(zoom_events_freep) struct zoom_source *events = NULL;
	u64 id = cgroup_fixture_make("a");

	events = zoom_on("a", &spec, 1, 1000);
	cr_expect_eq(about_of(events).cgroup_id, id);
	cr_expect_not(zoom_source_gone(events));
	cgroup_fixture_remove("a");
	cr_expect(zoom_source_gone(events));
	(void)cgroup_fixture_make("a");
	cr_expect(zoom_source_gone(events));
}

Test(zoom_events, stacks_are_those_of_the_calls)
{
	const struct event_spec spec = cpu_clock(1000000);
	_cleanup_(zoom_events_freep) struct zoom_source *events = NULL;
	struct shared *shared = share((struct shared){.ns = 200 * NSEC_PER_MSEC});
	struct taken taken = {.shared = shared};

	(void)cgroup_fixture_make("a");
	events = zoom_on("a", &spec, 1, 1000000);
	run("a", work, shared);
	(void)finish(events, &taken);

	cr_assert_gt(taken.samples, 40);
	/* The other samples are from the child's start and end, and from the kernel. */
	cr_expect_gt(taken.exact * 10, taken.samples * 8, "%zu of %zu stacks are right", taken.exact,
		     taken.samples);
}

Test(zoom_events, samples_stay_within_the_rate_limit)
{
	const struct event_spec spec = cpu_clock(100000);
	const u64 spacing = zoom_limit_spacing(200);
	_cleanup_(zoom_events_freep) struct zoom_source *events = NULL;
	struct shared *shared = share((struct shared){.ns = 300 * NSEC_PER_MSEC});
	struct taken taken = {0};
	struct zoom_counts counts;
	u64 most;

	(void)cgroup_fixture_make("a");
	events = zoom_on("a", &spec, 1, 200);
	run("a", work, shared);
	counts = finish(events, &taken);

	/* The time of a sample and the limiter's time differ by the time that the kernel takes in between. */
	most = (taken.last_ns - taken.first_ns + ZOOM_BURST_NS + 20 * NSEC_PER_MSEC) / spacing + 1;
	cr_expect_leq(taken.samples, most, "%zu samples in %llu ms", taken.samples,
		      (taken.last_ns - taken.first_ns) / NSEC_PER_MSEC);
	cr_expect_geq(taken.samples, 20, "%zu samples", taken.samples);
	/* If the work has to wait for a CPU, fewer samples are beyond the limit. */
	if (taken.last_ns - taken.first_ns < NSEC_PER_SEC)
		cr_expect_gt(counts.limited, 10 * taken.samples, "%llu limited", counts.limited);
	/* The samples are spread over the time and are not just the first ones. */
	cr_expect_gt(taken.last_ns - taken.first_ns, 200 * NSEC_PER_MSEC);
}

static int touch(void *userdata)
{
	struct shared *shared = userdata;
	cpu_set_t one;
	char *memory;

	CPU_ZERO(&one);
	CPU_SET((unsigned)shared->cpu, &one);
	memory = mmap(NULL, shared->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (sched_setaffinity(0, sizeof(one), &one) < 0 || memory == MAP_FAILED ||
	    madvise(memory, shared->bytes, MADV_NOHUGEPAGE) < 0)
		return 1;
	shared->memory = (u64)memory;
	for (size_t i = 0; i < shared->bytes; i += 4096)
		((volatile char *)memory)[i] = 1;
	return 0;
}

Test(zoom_events, samples_beyond_the_ring_are_counted_as_lost)
{
	const struct event_spec spec = page_faults();
	_cleanup_(zoom_events_freep) struct zoom_source *events = NULL;
	struct shared *shared = share((struct shared){.bytes = 20000UL * 4096});
	struct taken taken = {.shared = shared};
	struct zoom_counts counts;

	(void)cgroup_fixture_make("a");
	events = zoom_on("a", &spec, 1, 1000000000);
	run("a", touch, shared);
	counts = finish(events, &taken);

	cr_expect_gt(counts.lost, 1000, "%llu lost", counts.lost);
	cr_expect_gt(taken.with_address, 100);
	cr_expect_geq(counts.seen, 20000);
	cr_expect_eq(counts.count, counts.seen);
	cr_expect_gt(events->methods->bytes(events), ZOOM_RING_BYTES_MIN);
}

Test(zoom_events, two_events_share_a_ring)
{
	const struct event_spec specs[] = {cpu_clock(1000000), page_faults()};
	_cleanup_(zoom_events_freep) struct zoom_source *events = NULL;
	struct shared *shared = share((struct shared){.ns = 100 * NSEC_PER_MSEC, .bytes = 400UL * 4096});
	struct taken taken = {.shared = shared};

	(void)cgroup_fixture_make("a");
	events = zoom_on("a", specs, 2, 1000000000);
	run("a", work, shared);
	run("a", touch, shared);
	(void)finish(events, &taken);

	cr_expect_gt(taken.of_event[0], 20);
	cr_expect_geq(taken.of_event[1], 400);
	cr_expect_eq(taken.with_address, 400, "%zu faults have their address", taken.with_address);
	/*
	 * Neither child maps a file or changes its name, and each exits once. Only one of the two events
	 * reports tasks.
	 */
	cr_expect_eq(taken.kinds[ZOOM_RECORD_EXITED], 2, "%zu ends", taken.kinds[ZOOM_RECORD_EXITED]);
	cr_expect_eq(about_of(events).n_events, 2);
	cr_expect(about_of(events).attrs[1].sample_type & PERF_SAMPLE_ADDR);
	cr_expect_not(about_of(events).attrs[0].sample_type & PERF_SAMPLE_ADDR);
}

static int execute(void *userdata)
{
	pid_t pid = fork();
	int status;

	(void)userdata;
	if (pid < 0)
		return 1;
	if (pid == 0) {
		(void)execl("/bin/true", "true", (char *)NULL);
		_exit(1);
	}
	return waitpid(pid, &status, 0) != pid || status != 0;
}

Test(zoom_events, tasks_are_reported)
{
	const struct event_spec spec = cpu_clock(1000000);
	_cleanup_(zoom_events_freep) struct zoom_source *events = NULL;
	struct taken taken = {0};

	(void)cgroup_fixture_make("a");
	events = zoom_on("a", &spec, 1, 1000);
	run("a", execute, NULL);
	(void)finish(events, &taken);

	cr_expect_eq(taken.kinds[ZOOM_RECORD_FORKED], 1);
	cr_expect_eq(taken.kinds[ZOOM_RECORD_EXITED], 2);
	cr_expect_eq(taken.executed, 1);
	/* The program, its loader and the C library. */
	cr_expect_geq(taken.kinds[ZOOM_RECORD_MAPPED], 3);
	if (about_of(events).attrs[0].build_id)
		cr_expect_geq(taken.with_build_id, 3, "%zu mappings have a build id", taken.with_build_id);
}

static int stop_at_once(void *userdata, const struct zoom_record *record)
{
	(void)record;
	++*(size_t *)userdata;
	return -ECANCELED;
}

Test(zoom_events, draining_stops_when_the_callback_fails)
{
	const struct event_spec spec = page_faults();
	_cleanup_(zoom_events_freep) struct zoom_source *events = NULL;
	struct shared *shared = share((struct shared){.bytes = 100UL * 4096});
	struct taken taken = {.shared = shared};
	size_t calls = 0;

	(void)cgroup_fixture_make("a");
	events = zoom_on("a", &spec, 1, 1000000000);
	run("a", touch, shared);
	cr_expect_eq(events->methods->drain(events, stop_at_once, &calls), -ECANCELED);
	cr_expect_eq(calls, 1);
	events->methods->stop(events);
	cr_expect_eq(events->methods->drain(events, take, &taken), 0);
	cr_expect_geq(taken.samples, 99, "what was not read was kept");
	taken.samples = 0;
	cr_expect_eq(events->methods->drain(events, take, &taken), 0);
	cr_expect_eq(taken.samples, 0, "each once");
}

static int try_on(int fd, char **ret_message)
{
	const struct event_spec spec = cpu_clock(1000000);
	struct zoom_source *events = NULL;
	int r = zoom_events_open(
		&(struct zoom_events_settings){.cgroup_fd = fd, .specs = &spec, .n_specs = 1, .rate = 1000},
		&events, ret_message);

	zoom_events_free(events);
	return r;
}

Test(zoom_events, a_directory_that_is_not_a_live_cgroup_is_refused)
{
	_cleanup_close_ int other = open("/tmp", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	_cleanup_close_ int gone = -1;
	_cleanup_free_ char *message = NULL;

	cr_assert_eq(try_on(other, &message), -EBADF, "%s", message);
	cr_assert_not_null(message);
	cr_expect_not_null(strstr(message, "the cgroup's path is not a directory of a cgroup file system"),
			   "%s", message);
	free(TAKE_PTR(message));

	(void)cgroup_fixture_make("a");
	gone = cgroup_directory("a");
	cgroup_fixture_remove("a");
	cr_assert_eq(try_on(gone, &message), -ENOENT);
	cr_assert_not_null(message);
	cr_expect_not_null(strstr(message, "the cgroup is gone"), "%s", message);
}

Test(zoom_events, a_zoom_without_events_is_refused)
{
	_cleanup_free_ char *message = NULL;
	struct zoom_source *events = NULL;

	cr_expect_eq(zoom_events_open(&(struct zoom_events_settings){.cgroup_fd = -1, .rate = 1}, &events,
				      &message),
		     -EINVAL);
}

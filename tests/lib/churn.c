// SPDX-License-Identifier: GPL-2.0
#include "churn.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <systemd/sd-event.h>
#include <time.h>
#include <unistd.h>

#include "adopt_existing.h"
#include "base/cleanup.h"
#include "base/monotonic.h"
#include "base/own_memory.h"
#include "cgroup/mount.h"
#include "cgroup_turn.h"
#include "collect/packed.h"
#include "engine/engine.h"
#include "schedule/slot_reclaim.h"
#include "some_stripes.h"

#define TICK_NS (5 * NSEC_PER_MSEC)

#define LIFE_TICKS 4

/*
 * If the engine's thread lags by more than this, the churn waits for it. It is a fifth of the time for which
 * reclaimed slots rest (KERNEL_REST_NS).
 */
#define BEHIND_NS (20 * NSEC_PER_MSEC)

#define DONE_TIMEOUT_NS (20 * NSEC_PER_SEC)

struct churner {
	const struct churn_settings *settings;
	struct churn_result *result;
	struct engine *engine;
	sd_event *event;
	struct slot_reclaim reclaim;
	char *folder; /* full path of the parent of the cgroups */
	char *prefix; /* the same path below the mount, followed by "/n" */
	int folder_fd;
	u64 folder_id;
	u64 *ids;
	u32 *samples; /* found, per cgroup */
	u64 *latency;
	u64 alive_ns; /* last run of the engine's thread; atomic */
	u32 born, removed;
	int error; /* of the second thread */
	bool over; /* atomic */
	u64 over_ns;
	int memory;
};

/* The number of samples of cgroup `i` in all, and their latency. */
static u32 given(u32 i)
{
	return 2 + i % 3;
}

static u32 latency_of(u32 i)
{
	return 40 + i % 997;
}

static int hand_over(struct churner *churner, u32 i, u32 n)
{
	struct sample samples[8];

	for (u32 k = 0; k < n; k++)
		samples[k] = (struct sample){.cgroup_id = churner->ids[i],
					     .latency = latency_of(i),
					     .period = 1,
					     .fields = SAMPLE_LATENCY};
	churner->result->samples += n;
	return kernel_inject(engine_kernel(churner->engine), samples, n);
}

static int bear(struct churner *churner)
{
	struct stat st;
	char name[16];
	int r;

	(void)snprintf(name, sizeof(name), "n%u", churner->born);
	if (mkdirat(churner->folder_fd, name, 0755) < 0 || fstatat(churner->folder_fd, name, &st, 0) < 0)
		return -errno;
	churner->ids[churner->born] = st.st_ino;
	r = hand_over(churner, churner->born, given(churner->born) - 1);
	churner->born++;
	return r;
}

static int take_away(struct churner *churner)
{
	char name[16];
	int r;

	(void)snprintf(name, sizeof(name), "n%u", churner->removed);
	if (unlinkat(churner->folder_fd, name, AT_REMOVEDIR) < 0)
		return -errno;
	r = hand_over(churner, churner->removed, 1);
	churner->removed++;
	return r;
}

static void wait_for_engine(struct churner *churner, u64 *due_ns)
{
	const struct timespec moment = {.tv_nsec = 1000000};

	u64 now_ns = monotonic_ns();

	/* If this thread was held up, it does not catch up: that would exceed the rate for a while. */
	if (now_ns > *due_ns + BEHIND_NS) {
		churner->result->waits++;
		*due_ns = now_ns;
	}
	if (now_ns < __atomic_load_n(&churner->alive_ns, __ATOMIC_ACQUIRE) + BEHIND_NS)
		return;
	churner->result->waits++;
	while (monotonic_ns() >= __atomic_load_n(&churner->alive_ns, __ATOMIC_ACQUIRE) + BEHIND_NS)
		(void)nanosleep(&moment, NULL);
	*due_ns = monotonic_ns();
}

static void *churn_cgroups(void *userdata)
{
	struct churner *churner = userdata;
	const u32 n = churner->settings->cgroups;
	const u32 batch = (u32)(churner->settings->rate * TICK_NS / NSEC_PER_SEC);
	u64 start_ns = monotonic_ns(), due_ns = start_ns;
	int r = 0;

	while (r == 0 && churner->removed < n) {
		struct timespec until;

		for (u32 i = 0; r == 0 && i < batch && churner->born < n; i++)
			r = bear(churner);
		for (u32 i = 0; r == 0 && i < batch && churner->removed < churner->born; i++) {
			if (churner->born - churner->removed <= LIFE_TICKS * batch && churner->born < n)
				break;
			r = take_away(churner);
		}
		due_ns += TICK_NS;
		wait_for_engine(churner, &due_ns);
		until = (struct timespec){.tv_sec = (time_t)(due_ns / NSEC_PER_SEC),
					  .tv_nsec = (long)(due_ns % NSEC_PER_SEC)};
		(void)clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
	}
	churner->error = r;
	churner->result->seconds = (double)(monotonic_ns() - start_ns) / (double)NSEC_PER_SEC;
	__atomic_store_n(&churner->over, true, __ATOMIC_RELEASE);
	return NULL;
}

static void enter(struct churner *churner, const struct delta *delta)
{
	const char *path = delta->entry->path;
	size_t length = strlen(churner->prefix);
	struct counters counters = {0};
	unsigned long i;

	packed_add(delta->packed, delta->size, &counters);
	if (strncmp(path, churner->prefix, length) != 0) {
		churner->result->nameless += counters_samples(&counters);
		return;
	}
	i = strtoul(path + length, NULL, 10);
	if (i >= churner->settings->cgroups) {
		churner->result->nameless += counters_samples(&counters);
		return;
	}
	churner->samples[i] += (u32)counters_samples(&counters);
	churner->latency[i] += counters_latency_sum(&counters);
	churner->result->found += counters_samples(&counters);
}

static u64 anonymous(const struct churner *churner)
{
	u64 bytes = 0;

	(void)own_memory_read(churner->memory, &bytes);
	return bytes;
}

static u64 slots_taken(const struct churner *churner)
{
	const struct kernel *kernel = engine_kernel(churner->engine);
	u64 taken = 0;

	for (u32 slot = 1; slot < churner->settings->slots; slot++) {
		const struct slot_owner *owner = kernel_owner(kernel, slot);

		taken += owner->parent_id == churner->folder_id && owner->state != SLOT_FREE;
	}
	return taken;
}

static int collect(struct churner *churner)
{
	const struct delta *list;
	size_t n;
	int r = engine_collect(churner->engine);

	if (r < 0)
		return r;
	churner->result->collections++;
	list = engine_deltas(churner->engine, &n);
	for (size_t i = 0; i < n; i++)
		enter(churner, &list[i]);
	if (!churner->result->anonymous_early && churner->removed > churner->settings->cgroups / 10)
		churner->result->anonymous_early = anonymous(churner);
	if (churner->settings->progress)
		(void)fprintf(churner->settings->progress,
			      "%u born, %u removed, %llu slots taken, %llu KiB anonymous, took %.2f ms\n",
			      churner->born, churner->removed, (unsigned long long)slots_taken(churner),
			      (unsigned long long)anonymous(churner) / 1024,
			      engine_head(churner->engine)->collection_seconds * 1e3);
	return 0;
}

static int on_collection(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct churner *churner = userdata;
	int r = collect(churner);

	if (r < 0)
		return sd_event_exit(churner->event, r);
	(void)sd_event_source_set_time(source, usec + churner->settings->interval_ns / NSEC_PER_USEC);
	return sd_event_source_set_enabled(source, SD_EVENT_ON);
}

/* Ends the loop after the churn, when all slots are reclaimed or DONE_TIMEOUT_NS have passed. */
static int on_heartbeat(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct churner *churner = userdata;
	u64 now_ns = monotonic_ns();

	__atomic_store_n(&churner->alive_ns, now_ns, __ATOMIC_RELEASE);
	if (__atomic_load_n(&churner->over, __ATOMIC_ACQUIRE)) {
		if (!churner->over_ns)
			churner->over_ns = now_ns;
		if (slots_taken(churner) == 0 || now_ns > churner->over_ns + DONE_TIMEOUT_NS)
			return sd_event_exit(churner->event, 0);
	}
	(void)usec;
	(void)sd_event_source_set_time_relative(source, 2000);
	return sd_event_source_set_enabled(source, SD_EVENT_ON);
}

static bool every_path(const char *path, void *userdata)
{
	(void)path;
	(void)userdata;
	return true;
}

static int failed(int r, const char *what)
{
	(void)fprintf(stderr, "cannot %s: %s\n", what, strerror(-r));
	return r;
}

static int open_engine(struct churner *churner, const char *mount)
{
	const struct engine_settings settings = {
		.origin = "perf",
		.n_events = 1,
		.events[0] = {.role = EVENT_LOADS,
			      .pmu = "cpu",
			      .settings = {.has_latency = 1, .has_source = 1, .weight_struct = 1}},
		.slots = churner->settings->slots,
		.stripes = machine_stripes(),
		.births = true,
		.top = 50,
		.interval_ns = churner->settings->interval_ns,
		.exported = every_path,
	};
	_cleanup_free_ char *message = NULL;
	struct adopt_counts counts;
	int r = engine_open(&settings, &churner->engine, &message);

	if (r < 0) {
		(void)fprintf(stderr, "%s\n", message ? message : strerror(-r));
		return r;
	}
	r = adopt_existing(engine_kernel(churner->engine), mount, &counts);
	return r < 0 ? failed(r, "adopt the cgroups there are") : 0;
}

/* Called before the engine sees births, so that the birth of the folder itself does not count. */
static int make_folder(struct churner *churner, const char *mount)
{
	struct stat st;

	if (asprintf(&churner->folder, "%s/pebsd-churn-%d", mount, getpid()) < 0 ||
	    asprintf(&churner->prefix, "/pebsd-churn-%d/n", getpid()) < 0)
		return -ENOMEM;
	if (mkdir(churner->folder, 0755) < 0)
		return -ENOTSUP;
	churner->folder_fd = open(churner->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (churner->folder_fd < 0 || fstat(churner->folder_fd, &st) < 0)
		return -errno;
	churner->folder_id = st.st_ino;
	return 0;
}

static int run_loop(struct churner *churner)
{
	_cleanup_(sd_event_unrefp) sd_event *event = NULL;
	pthread_t thread;
	u64 now_ns;
	int r;

	if ((r = sd_event_new(&event)) < 0)
		return r;
	churner->event = event;
	now_ns = churner->alive_ns = monotonic_ns();
	if ((r = sd_event_add_time(event, NULL, CLOCK_MONOTONIC,
				   (now_ns + churner->settings->interval_ns) / NSEC_PER_USEC, 1000,
				   on_collection, churner)) < 0 ||
	    (r = sd_event_add_time(event, NULL, CLOCK_MONOTONIC, now_ns / NSEC_PER_USEC, 500, on_heartbeat,
				   churner)) < 0 ||
	    (r = slot_reclaim_open(event, churner->engine, &churner->reclaim)) < 0)
		return r;
	r = -pthread_create(&thread, NULL, churn_cgroups, churner);
	if (r == 0) {
		r = sd_event_loop(event);
		(void)pthread_join(thread, NULL);
	}
	churner->result->rooms = churner->reclaim.times;
	slot_reclaim_done(&churner->reclaim);
	return r < 0 ? r : churner->error;
}

static void judge(struct churner *churner)
{
	struct pollfd told = {.fd = engine_slots_short_fd(churner->engine), .events = POLLIN};
	const struct slot_counters counters = kernel_slot_counters(engine_kernel(churner->engine));
	struct churn_result *result = churner->result;

	for (u32 i = 0; i < churner->removed; i++) {
		result->short_of += churner->samples[i] < given(i);
		result->mixed += churner->samples[i] > given(i) ||
				 churner->latency[i] != (u64)churner->samples[i] * latency_of(i);
	}
	kernel_slots_short_clear(engine_kernel(churner->engine));
	result->told_idle = poll(&told, 1, 300) != 0;
	result->cgroups = churner->removed;
	result->slots_taken = slots_taken(churner);
	result->births_without_slot = counters.births_without_slot;
	result->others = counters.births - churner->born;
	result->anonymous_end = anonymous(churner);
}

static int run(struct churner *churner, const char *mount)
{
	int r;

	churner->ids = calloc(churner->settings->cgroups, sizeof(*churner->ids));
	churner->samples = calloc(churner->settings->cgroups, sizeof(*churner->samples));
	churner->latency = calloc(churner->settings->cgroups, sizeof(*churner->latency));
	churner->memory = own_memory_open();
	if (!churner->ids || !churner->samples || !churner->latency || churner->memory < 0)
		return -ENOMEM;
	/* Touch the test's own memory now, so that the first measurement includes it. */
	memset(churner->ids, 1, churner->settings->cgroups * sizeof(*churner->ids));
	memset(churner->samples, 0, churner->settings->cgroups * sizeof(*churner->samples));
	memset(churner->latency, 0, churner->settings->cgroups * sizeof(*churner->latency));
	r = open_engine(churner, mount);
	if (r < 0)
		return r;
	churner->result->anonymous_start = anonymous(churner);
	r = run_loop(churner);
	if (r == 0)
		r = collect(churner);
	if (r < 0)
		return failed(r, "make and remove cgroups by the thousand");
	judge(churner);
	return 0;
}

static void remove_all(struct churner *churner)
{
	char name[16];

	for (u32 i = churner->removed; i < churner->born; i++) {
		(void)snprintf(name, sizeof(name), "n%u", i);
		(void)unlinkat(churner->folder_fd, name, AT_REMOVEDIR);
	}
	if (churner->folder)
		(void)rmdir(churner->folder);
	cleanup_close(&churner->folder_fd);
}

int churn(const struct churn_settings *settings, struct churn_result *ret)
{
	struct churner churner = {.settings = settings, .result = ret, .folder_fd = -1, .memory = -1};
	_cleanup_free_ char *mount = NULL;
	bool subtree;
	int r;

	*ret = (struct churn_result){0};
	if (cgroup_mount_find(&mount, &subtree) < 0)
		return -ENOTSUP;
	r = cgroup_turn(mount);
	if (r == 0)
		r = make_folder(&churner, mount);
	if (r == 0)
		r = run(&churner, mount);
	remove_all(&churner);
	engine_free(churner.engine);
	cleanup_close(&churner.memory);
	free(churner.folder);
	free(churner.prefix);
	free(churner.ids);
	free(churner.samples);
	free(churner.latency);
	return r;
}

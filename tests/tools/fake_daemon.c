// SPDX-License-Identifier: GPL-2.0
/*
 * Serves invented data on a control socket, for looking at pebsctl's screens by hand:
 *
 *     fake_daemon SOCKET [replay|live|past|busy|many|perf|several]
 *
 * `replay`, `perf` and `several` are the example snapshots of the tests. `live` changes over time, `past` does so and
 * has a history since 2020 of the first cgroup and of one that is gone, `busy` refuses every second question about all
 * cgroups of it and all about neighbours but the first, and `many` has 10,000 cgroups. Ends with SIGTERM or SIGINT.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "collect/packed.h"
#include "example_policy.h"
#include "example_snapshot.h"
#include "export/control/control.h"
#include "history/event_json.h"
#include "window/trend.h"

#define MANY         10000
#define HISTORY_FROM 1577858400000000 /* microseconds: 2020-01-01T06:00:00Z */

#define FIRST "/system.slice/postgresql@15-main.service"

static const char *const paths[] = {
	FIRST,
	"/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod2f1c.slice/cri-containerd-77ab.scope",
	"/system.slice/nginx.service",
	"/user.slice/user-1000.slice/session-2.scope",
	"/system.slice/with space\033[31m and colour.service",
	"/system.slice/caf\xc3\xa9.service",
	/* Wide, combining, right to left. NOLINTNEXTLINE(misc-misleading-bidirectional) */
	"/system.slice/\xe6\x97\xa5\xe6\x9c\xac-e\xcc\x81-\xe2\x80\xae.service",
	"/init.scope",
	"/system.slice/systemd-journald.service",
};

struct fake {
	const char *kind;
	struct snapshot snapshot;
	struct snapshot_cgroup *cgroups;
	struct trend *trend;
	struct counters counters[ARRAY_SIZE(paths)];
	struct policy *policy;
	struct control *control;
	struct zooms *zooms; /* has no origin, so every zoom is refused */
	struct symbols *symbols;
	struct past *past; /* the last one that was asked for */
	u64 asked;         /* questions about all cgroups of the past */
	u64 began_ns;
	u64 ticks;
};

static int take_snapshot(void *userdata, const struct maybe_double *window_seconds,
			 const struct snapshot **ret)
{
	struct fake *fake = userdata;

	if (strcmp(fake->kind, "replay") == 0) {
		*ret = example_replay();
		return 0;
	}
	if (strcmp(fake->kind, "perf") == 0 || strcmp(fake->kind, "several") == 0) {
		struct snapshot *snapshot =
			strcmp(fake->kind, "perf") == 0 ? example_perf() : example_several();

		snapshot->window_seconds = *window_seconds;
		*ret = snapshot;
		return 0;
	}
	fake->snapshot.window_seconds = *window_seconds;
	*ret = &fake->snapshot;
	return 0;
}

static bool knows(void *userdata, const char *path)
{
	const struct snapshot *snapshot;

	(void)take_snapshot(userdata, &(struct maybe_double){0}, &snapshot);
	for (size_t i = 0; i < snapshot->n_cgroups; i++)
		if (strcmp(snapshot->cgroups[i].path, path) == 0)
			return true;
	return false;
}

static int choose_hot(void *userdata, const char *path, double seconds)
{
	(void)seconds;
	return knows(userdata, path) ? 0 : -ENOENT;
}

static bool hot_choice(void *userdata, const char *path, struct hot_choice *ret)
{
	const struct fake *fake = userdata;

	*ret = (struct hot_choice){.configured = true, .since_ns = fake->began_ns};
	return knows(userdata, path);
}

/* Invents a hundred addresses. Every other one is in the kernel. */
static int invent_hot(void *userdata, const char *path, unsigned event, enum hot_kind kind,
		      struct hot_places *ret)
{
	struct hot_places found = {.kind = kind, .latency = true, .cpus_known = true, .n = 100};

	(void)userdata;
	(void)path;
	(void)event;
	found.places = calloc(found.n, sizeof(*found.places));
	if (!found.places)
		return -ENOMEM;
	for (size_t i = 0; i < found.n; i++) {
		found.places[i] = (struct hot_place){
			.address = (i % 2 ? 0xffffffff81000000 : 0x55d0c0de0000) + 64 * i,
			.weight = 1000000 / (i + 1),
			.weight_error = 100 * i,
			.samples = 10000 / (i + 1),
			.samples_error = i,
			.hitm = kind == HOT_LINES ? 300 / (i + 1) : 0,
			.hitm_cpus = kind == HOT_LINES && i < 5 ? 3 : 0,
			.cpus = 4,
		};
		found.weight += 2 * found.places[i].weight;
		found.samples += 2 * found.places[i].samples;
	}
	found.absent_weight = 9000;
	found.absent_samples = 90;
	*ret = found;
	return 0;
}

static struct zooms *zooms_of(void *userdata)
{
	const struct fake *fake = userdata;

	return fake->zooms;
}

static struct symbols *symbols_of(void *userdata)
{
	const struct fake *fake = userdata;

	return fake->symbols;
}

static int reload(void *userdata, char ***ret_lines)
{
	struct fake *fake = userdata;

	control_publish(fake->control, "reload", "the configuration was read again", NULL);
	*ret_lines = calloc(2, sizeof(char *));
	if (*ret_lines)
		(*ret_lines)[0] = strdup("max: takes effect at the next start");
	return 0;
}

/* Invents the data, with the costliest cgroup first, as the contract of the snapshot requires. */
static void invent(struct fake *fake)
{
	static const struct {
		enum source source;
		u32 latency;
		u64 share;
	} kinds[] = {{SOURCE_L1, 33, 500},         {SOURCE_LFB, 60, 200},
		     {SOURCE_L2, 41, 90},          {SOURCE_L3, 110, 120},
		     {SOURCE_LOCAL_DRAM, 350, 60}, {SOURCE_REMOTE_DRAM, 700, 20},
		     {SOURCE_REMOTE_CACHE, 500, 5}};
	struct snapshot_event *event = &fake->snapshot.events[0];
	u64 random = fake->ticks * 2654435761U + 12345;

	memset(&event->total, 0, sizeof(event->total));
	memset(fake->counters, 0, sizeof(fake->counters));
	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		for (size_t j = 0; j < ARRAY_SIZE(kinds); j++) {
			for (u32 spread = 0; spread < 8; spread++) {
				random = random * 6364136223846793005ULL + 1442695040888963407ULL;
				example_add(&fake->counters[i],
					    kinds[j].share * 5 / (i + 1) / (1 + spread * spread) +
						    (random >> 60),
					    kinds[j].source,
					    kinds[j].latency * (8 + spread * ((u32)i + 2)) / 8, 10007,
					    kinds[j].source == SOURCE_REMOTE_CACHE ? SNOOP_HITM : SNOOP_NONE,
					    spread > 6 ? TLB_WALK : TLB_L1_HIT);
			}
		}
		counters_add(&event->total, &fake->counters[i]);
	}
}

/* Names the cgroups. With `many`, thousands share the same invented data. */
static bool name_cgroups(struct fake *fake)
{
	bool many = strcmp(fake->kind, "many") == 0;
	size_t n = many ? MANY : ARRAY_SIZE(paths);

	fake->cgroups = calloc(n, sizeof(*fake->cgroups));
	for (size_t i = 0; fake->cgroups && i < n; i++) {
		char *path = NULL;

		if (many && asprintf(&path, "/many.slice/many-%zu.slice/c%05zu.service", i / 100, i) < 0)
			return false;
		fake->cgroups[i] =
			(struct snapshot_cgroup){.path = path ? path : paths[i],
						 .id = 100 + i,
						 .entry = (u32)i,
						 .alive = true,
						 .counters = {&fake->counters[i * ARRAY_SIZE(paths) / n]}};
	}
	fake->snapshot.cgroups = fake->cgroups;
	fake->snapshot.n_cgroups = n;
	return fake->cgroups;
}

/* Adds the newly invented data to the trend, as if it had arrived in this second. */
static void keep_trend(struct fake *fake, u64 now_ns)
{
	u8 packed[PACKED_MAX];

	if (trend_begin(fake->trend, now_ns) < 0)
		return;
	for (size_t i = 0; i < fake->snapshot.n_cgroups; i++)
		(void)trend_put(fake->trend, (u32)i, 0, packed,
				packed_of(fake->cgroups[i].counters[0], packed));
}

static int on_second(sd_event_source *source, u64 now, void *userdata)
{
	struct fake *fake = userdata;

	fake->ticks++;
	invent(fake);
	keep_trend(fake, now * NSEC_PER_USEC);
	control_publish(fake->control, fake->ticks % 2 ? "born" : "gone", "/system.slice/run-u1.service",
			NULL);
	(void)sd_event_source_set_time_relative(source, 1000000);
	return sd_event_source_set_enabled(source, SD_EVENT_ONESHOT);
}

static const struct policy *policy_of(void *userdata)
{
	const struct fake *fake = userdata;

	return fake->policy;
}

static int invent_neighbours(void *userdata, const char *path, struct neighbours_report **ret)
{
	static bool answered;
	const struct fake *fake = userdata;

	(void)path;
	if (strcmp(fake->kind, "busy") == 0 && answered)
		return -ENODATA;
	answered = true;
	*ret = example_neighbours();
	return *ret ? 0 : -ENOMEM;
}

static void describe_history(void *userdata, struct history_state *ret)
{
	struct timespec now;

	(void)userdata;
	(void)clock_gettime(CLOCK_REALTIME, &now);
	*ret = (struct history_state){
		.on = true, .kept = {.oldest_us = HISTORY_FROM, .newest_us = (u64)now.tv_sec * 1000000}};
}

/*
 * One pane, as long as the range. The first cgroup has the samples that it has now. A cgroup that is gone now has them
 * in every second range of ten seconds.
 */
static int invent_past(void *userdata, u64 since_us, u64 until_us, u32 bins, const char *path, bool subtree,
		       const struct past **ret)
{
	static struct history_cgroup cgroups[] = {{.path = FIRST, .labels = ""},
						  {.path = "/system.slice/gone.service", .labels = ""}};
	static char settings[EVENT_JSON_MAX];
	static u8 packed[PACKED_MAX];
	static struct history_event event;
	static struct history_row rows[ARRAY_SIZE(cgroups)];
	static struct history_pane pane;
	const struct past_settings range = {.range = {since_us, until_us}};
	const size_t n = until_us / 10000000 % 2 ? 1 : 2;
	struct fake *fake = userdata;
	const u32 size = (u32)packed_of(&fake->counters[0], packed);
	int r = event_json_write(&fake->snapshot.events[0].event, "perf", settings);

	(void)bins;
	(void)subtree;
	if (r < 0)
		return r;
	if (strcmp(fake->kind, "busy") == 0 && (!path || !*path) && ++fake->asked % 2 == 0)
		return -EUSERS;
	if (until_us <= HISTORY_FROM)
		return -ENODATA;
	event = (struct history_event){.key = "loads", .settings = settings, .period = 10007};
	for (u32 i = 0; i < ARRAY_SIZE(cgroups); i++)
		rows[i] = (struct history_row){.cgroup = i, .size = size, .packed = packed};
	pane = (struct history_pane){.start_us = since_us,
				     .end_us = until_us,
				     .covered_ns = (until_us - since_us) * NSEC_PER_USEC,
				     .n_events = 1,
				     .events = &event,
				     .n_cgroups = n,
				     .cgroups = cgroups,
				     .n_rows = n,
				     .rows = rows};
	fake->past = past_free(fake->past);
	r = past_new(&range, &pane, 1, &fake->past);
	*ret = fake->past;
	return r;
}

int main(int argc, char **argv)
{
	static struct fake fake;
	struct control_backend backend = {
		.snapshot = take_snapshot,
		.hot_choose = choose_hot,
		.hot_choice = hot_choice,
		.hot_places = invent_hot,
		.zooms = zooms_of,
		.symbols = symbols_of,
		.reload = reload,
		.policy = policy_of,
		.neighbours = invent_neighbours,
		.userdata = &fake,
	};
	_cleanup_free_ char *message = NULL;
	sd_event *event = NULL;
	struct timespec began;
	sigset_t mask;

	log_open("fake_daemon");
	if (argc < 2)
		return 2;
	fake.kind = argc > 2 ? argv[2] : "live";
	if (strcmp(fake.kind, "past") == 0 || strcmp(fake.kind, "busy") == 0)
		backend.past = invent_past;
	if (backend.past)
		backend.history = describe_history;
	fake.snapshot = *example_perf();
	fake.snapshot.n_events = 1;
	(void)strcpy(fake.snapshot.events[0].key, "loads");
	(void)strcpy(fake.snapshot.events[0].event.pmu, "cpu");
	fake.snapshot.events[0].event.latency_kind = LATENCY_USE;
	fake.snapshot.events[0].event.period = 10007;
	if (!name_cgroups(&fake) || trend_new(TREND_BYTES, TREND_SPAN_NS, NSEC_PER_SEC, &fake.trend) < 0)
		return 1;
	fake.snapshot.trend = fake.trend;
	invent(&fake);
	fake.policy = example_policy();
	if (!fake.policy)
		return 1;

	(void)sigemptyset(&mask);
	(void)sigaddset(&mask, SIGTERM);
	(void)sigaddset(&mask, SIGINT);
	(void)sigprocmask(SIG_BLOCK, &mask, NULL);
	if (sd_event_default(&event) < 0 || sd_event_add_signal(event, NULL, SIGTERM, NULL, NULL) < 0 ||
	    sd_event_add_signal(event, NULL, SIGINT, NULL, NULL) < 0)
		return 1;
	/* Do not let the symbolizer be this program, which would start as another daemon. */
	if (symbols_new(&(struct symbols_settings){.event = event, .program = "/bin/false"}, &fake.symbols) <
		    0 ||
	    zooms_new(
		    &(struct zooms_settings){.event = event, .origin.name = "fake", .symbols = fake.symbols},
		    &fake.zooms) < 0)
		return 1;
	(void)clock_gettime(CLOCK_MONOTONIC, &began);
	fake.began_ns = (u64)began.tv_sec * NSEC_PER_SEC + (u64)began.tv_nsec;
	if (control_new(event, argv[1], NULL, &backend, &fake.control, &message) < 0)
		return log_error(0, "%s", message), 1;
	if (sd_event_add_time_relative(event, NULL, CLOCK_MONOTONIC, 1000000, 0, on_second, &fake) < 0)
		return 1;
	(void)sd_event_loop(event);
	control_free(fake.control);
	past_free(fake.past);
	zooms_free(fake.zooms);
	symbols_free(fake.symbols);
	policy_free(fake.policy);
	sd_event_unref(event);
	return 0;
}

// SPDX-License-Identifier: GPL-2.0
#include "detail/zooms.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/log.h"
#include "base/monotonic.h"
#include "base/number_map.h"
#include "zoom/zoom_reader.h"

/*
 * The interval at which the rings are drained. At the default rate, at most 200 samples come in this time from
 * all CPUs together. If all come from one CPU, the smallest ring (ZOOM_RING_BYTES_MIN) has 327 bytes for each of
 * them. A sample has about 384 bytes with 32 frames, and up to 776 more with the LBR, so some are then lost.
 */
#define DRAIN_EVERY_NS (200 * NSEC_PER_MSEC)

/*
 * Maximum time that one timer event spends on adding the mappings of processes. The rest is done in later
 * events.
 */
#define READ_NS (20 * NSEC_PER_MSEC)

/*
 * The time after a zoom ended in which names may arrive. Names that are still missing then are reported as
 * unknown.
 */
#define NAMING_NS (20 * NSEC_PER_SEC)

#define DRAIN_ACCURACY_USEC 10000

struct held_zoom {
	struct zoom zoom;            /* must be first: callers get a pointer to it */
	struct zoom_source *source;  /* NULL after the end */
	struct number_map processes; /* pids that were announced to the symbolizer */
	size_t n_asked, n_read;      /* processes requested from the reader, and processes returned */
	u64 until_ns; /* RUNNING: end of the zoom; NAMING: end of the wait for names; DONE: when it is dropped */
};

struct zooms {
	struct zooms_settings settings;
	sd_event_source *timer;
	struct zoom_reader *reader; /* created with the first zoom */
	u64 next_id;
	struct held_zoom *held[ZOOMS_KEPT_MAX]; /* newest first */
	size_t n;
	struct zooms_counts counts; /* sums over the zooms that were dropped */
};

static u64 realtime_ns(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_REALTIME, &now);
	return (u64)now.tv_sec * NSEC_PER_SEC + (u64)now.tv_nsec;
}

/* Returns whether the sampled processes are those of this machine. */
static bool is_of_machine(const struct zooms *zooms)
{
	return !zooms->settings.origin.name_address;
}

static struct zoom_about *about_of(const struct held_zoom *held)
{
	return zoom_recording_about(held->zoom.recording);
}

static int enter_process(void *userdata, const struct zoom_record *record)
{
	const struct zoom *zoom = userdata;
	int r = zoom_recording_add(zoom->recording, record);

	if (r < 0 || record->kind != ZOOM_RECORD_NAMED)
		return r;
	return profile_name(zoom->profile, record->pid, record->tid, record->named.name);
}

/* Called for each sample's process. A new process is announced to the symbolizer and read. */
static int meet_process(struct zooms *zooms, struct held_zoom *held, u32 pid)
{
	u64 known;
	int r;

	if (number_map_get(&held->processes, pid, &known) || held->processes.n >= SYMBOL_PROCESSES_MAX)
		return 0;
	r = number_map_set(&held->processes, pid, 1);
	if (r < 0)
		return r;
	(void)symbols_process(zooms->settings.symbols, pid);
	if (zoom_reader_ask(zooms->reader, held->zoom.id, pid) == 0)
		held->n_asked++;
	return 0;
}

static struct held_zoom *find_held(const struct zooms *zooms, u64 id)
{
	for (size_t i = 0; i < zooms->n; i++)
		if (zooms->held[i]->zoom.id == id)
			return zooms->held[i];
	return NULL;
}

/*
 * Adds the names and mappings of processes to their recordings, for perf.data. Stops after READ_NS, because a
 * cgroup may have hundreds of large processes.
 */
static void enter_processes(struct zooms *zooms)
{
	const u64 end_ns = monotonic_ns() + READ_NS;
	struct zoom_process process;
	u64 id;

	while (zooms->reader && monotonic_ns() < end_ns && zoom_reader_fetch(zooms->reader, &id, &process)) {
		struct held_zoom *held = find_held(zooms, id);

		if (held) {
			held->n_read++;
			(void)zoom_process_report(&process, enter_process, &held->zoom);
		}
		zoom_process_done(&process);
	}
}

static void pass_mapping(struct zooms *zooms, const struct zoom_record *record)
{
	struct symbol_mapping mapping = {
		.pid = record->pid,
		.start = record->mapped.start,
		.size = record->mapped.size,
		.offset = record->mapped.offset,
		.major = record->mapped.major,
		.minor = record->mapped.minor,
		.inode = record->mapped.inode,
		.protection = record->mapped.protection,
		.path = record->mapped.path,
		.build_id_size = record->mapped.build_id_size,
	};

	memcpy(mapping.build_id, record->mapped.build_id, sizeof(mapping.build_id));
	(void)symbols_mapped(zooms->settings.symbols, &mapping);
}

struct drain {
	struct zooms *zooms;
	struct held_zoom *held;
};

static int take(void *userdata, const struct zoom_record *record)
{
	const struct drain *drain = userdata;
	struct held_zoom *held = drain->held;
	struct symbols *symbols = drain->zooms->settings.symbols;
	bool of_machine = is_of_machine(drain->zooms);
	int r = 0;

	switch (record->kind) {
	case ZOOM_RECORD_SAMPLE:
		r = of_machine ? meet_process(drain->zooms, held, record->pid) : 0;
		if (r == 0)
			r = profile_add(held->zoom.profile, &record->sample);
		break;
	case ZOOM_RECORD_MAPPED:
		if (of_machine)
			pass_mapping(drain->zooms, record);
		break;
	case ZOOM_RECORD_NAMED:
		if (record->named.executed) {
			if (of_machine)
				(void)symbols_executed(symbols, record->pid);
			profile_executed(held->zoom.profile, record->pid);
		}
		r = profile_name(held->zoom.profile, record->pid, record->tid, record->named.name);
		break;
	case ZOOM_RECORD_FORKED:
		if (of_machine && record->pid != record->forked.parent_pid)
			(void)symbols_forked(symbols, record->pid, record->forked.parent_pid);
		break;
	case ZOOM_RECORD_EXITED:
		break;
	default:
		return 0;
	}
	return r < 0 ? r : zoom_recording_add(held->zoom.recording, record);
}

/* Returns the number of addresses without an answer. */
static size_t resolve(struct zooms *zooms, struct held_zoom *held)
{
	size_t unnamed = profile_resolve(held->zoom.profile, &held->zoom.names);

	if (is_of_machine(zooms))
		held->zoom.kernel_start = symbols_kernel_start(zooms->settings.symbols);
	return unnamed;
}

/* Takes new samples from the rings and resolves their names. Returns the same as resolve(). */
static size_t drain(struct zooms *zooms, struct held_zoom *held)
{
	struct drain drain = {.zooms = zooms, .held = held};
	int r = held->source->methods->drain(held->source, take, &drain);

	if (r < 0)
		(void)log_error(r, "the zoom on %s lacks some samples: pebsd could not read or store them",
				about_of(held)->cgroup);
	held->source->methods->counts(held->source, &about_of(held)->counts);
	return resolve(zooms, held);
}

static void notify(struct zooms *zooms, const struct held_zoom *held, bool over)
{
	if (zooms->settings.changed)
		zooms->settings.changed(zooms->settings.userdata, &held->zoom, over);
}

/* Stops the events, takes the last samples, and starts to wait for names. */
static void end(struct zooms *zooms, struct held_zoom *held, u64 now_ns)
{
	held->source->methods->stop(held->source);
	about_of(held)->ended_ns = monotonic_ns();
	(void)drain(zooms, held);
	zooms->settings.origin.close(zooms->settings.origin.userdata, TAKE_PTR(held->source));
	held->zoom.state = ZOOM_NAMING;
	held->until_ns = now_ns + NAMING_NS;
	notify(zooms, held, true);
}

/* Ends a zoom whose cgroup was removed. */
static void end_gone(struct zooms *zooms, struct held_zoom *held, u64 now_ns)
{
	char *note = NULL;

	if (asprintf(&note, "%s%sthe cgroup was removed, which ended the zoom",
		     held->zoom.note ? held->zoom.note : "", held->zoom.note ? "; " : "") >= 0) {
		free(held->zoom.note);
		held->zoom.note = note;
	}
	end(zooms, held, now_ns);
}

static void add_counts(struct zooms_counts *sum, const struct zoom_recording *recording)
{
	const struct zoom_about *about = zoom_recording_about_const(recording);

	sum->taken += zoom_recording_samples(recording);
	sum->limited += about->counts.limited;
	sum->lost += about->counts.lost;
	sum->dropped += about->dropped;
}

static struct held_zoom *held_free(struct zooms *zooms, struct held_zoom *held)
{
	if (!held)
		return NULL;
	if (held->source)
		zooms->settings.origin.close(zooms->settings.origin.userdata, held->source);
	if (held->zoom.recording)
		add_counts(&zooms->counts, held->zoom.recording);
	zoom_recording_free(held->zoom.recording);
	profile_free(held->zoom.profile);
	number_map_clear(&held->processes);
	free(held->zoom.reason);
	free(held->zoom.note);
	free(held);
	return NULL;
}

static void drop(struct zooms *zooms, size_t index)
{
	held_free(zooms, zooms->held[index]);
	zooms->n--;
	memmove(&zooms->held[index], &zooms->held[index + 1], (zooms->n - index) * sizeof(*zooms->held));
}

/* Does all work that is due at `now_ns`. Returns the time at which there is more to do; 0: never. */
static u64 turn(struct zooms *zooms, u64 now_ns)
{
	u64 next_ns = 0;

	enter_processes(zooms);
	for (size_t i = zooms->n; i-- > 0;) {
		struct held_zoom *held = zooms->held[i];
		u64 at_ns = now_ns + DRAIN_EVERY_NS;

		if (held->zoom.state == ZOOM_RUNNING) {
			if (now_ns >= held->until_ns)
				end(zooms, held, now_ns);
			else if (zoom_source_gone(held->source))
				end_gone(zooms, held, now_ns);
			else
				(void)drain(zooms, held);
		} else if (held->zoom.state == ZOOM_NAMING) {
			size_t unnamed = resolve(zooms, held);

			unnamed += held->n_asked - held->n_read;
			if (unnamed == 0 || now_ns >= held->until_ns) {
				held->zoom.state = ZOOM_DONE;
				held->until_ns = now_ns + ZOOM_KEPT_NS;
			}
		}
		if (held->zoom.state == ZOOM_DONE) {
			at_ns = held->until_ns;
			if (now_ns >= held->until_ns) {
				drop(zooms, i);
				continue;
			}
		}
		if (held->zoom.state == ZOOM_RUNNING && held->until_ns < at_ns)
			at_ns = held->until_ns;
		if (next_ns == 0 || at_ns < next_ns)
			next_ns = at_ns;
	}
	return next_ns;
}

static void arm(struct zooms *zooms, u64 next_ns)
{
	(void)sd_event_source_set_time(zooms->timer, next_ns / NSEC_PER_USEC);
	(void)sd_event_source_set_enabled(zooms->timer, next_ns ? SD_EVENT_ONESHOT : SD_EVENT_OFF);
}

static int on_timer(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct zooms *zooms = userdata;

	(void)source;
	(void)usec;
	arm(zooms, turn(zooms, monotonic_ns()));
	return 0;
}

int zooms_new(const struct zooms_settings *settings, struct zooms **ret)
{
	_cleanup_(zooms_freep) struct zooms *zooms = calloc(1, sizeof(*zooms));
	int r;

	if (!zooms)
		return -ENOMEM;
	zooms->settings = *settings;
	zooms->next_id = 1;
	r = sd_event_add_time(settings->event, &zooms->timer, CLOCK_MONOTONIC, 0, DRAIN_ACCURACY_USEC,
			      on_timer, zooms);
	if (r >= 0)
		r = sd_event_source_set_enabled(zooms->timer, SD_EVENT_OFF);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(zooms);
	return 0;
}

struct zooms *zooms_free(struct zooms *zooms)
{
	if (!zooms)
		return NULL;
	while (zooms->n)
		drop(zooms, zooms->n - 1);
	sd_event_source_disable_unref(zooms->timer);
	zoom_reader_free(zooms->reader);
	free(zooms);
	return NULL;
}

static size_t running(const struct zooms *zooms)
{
	size_t n = 0;

	for (size_t i = 0; i < zooms->n; i++)
		n += zooms->held[i]->zoom.state == ZOOM_RUNNING;
	return n;
}

/*
 * Drops the oldest zoom that is no longer running. There is one: ZOOMS_RUNNING_MAX is below ZOOMS_KEPT_MAX.
 */
static void make_room(struct zooms *zooms)
{
	if (zooms->n < ZOOMS_KEPT_MAX)
		return;
	for (size_t i = zooms->n; i-- > 0;) {
		if (zooms->held[i]->zoom.state == ZOOM_RUNNING)
			continue;
		drop(zooms, i);
		return;
	}
}

_Static_assert(ZOOMS_RUNNING_MAX < ZOOMS_KEPT_MAX, "one can always give way");

static const struct symbol *find_name(void *userdata, const struct symbol_query *query)
{
	static const struct symbol unknown;
	const struct zooms *zooms = userdata;
	const struct zooms_origin *origin = &zooms->settings.origin;
	const struct symbol *symbol;

	if (is_of_machine(zooms))
		return symbols_find(zooms->settings.symbols, query);
	symbol = origin->name_address(origin->userdata, query);
	return symbol ? symbol : &unknown;
}

/* Takes ownership of `source` and `note`. */
static int hold(struct zooms *zooms, const struct zoom_request *request, struct zoom_source *source,
		char *note, struct held_zoom **ret)
{
	struct held_zoom *held = calloc(1, sizeof(*held));
	struct zoom_about about = {
		.cgroup = (char *)request->path,
		.began_ns = monotonic_ns(),
		.began_real_ns = realtime_ns(),
		.rate = request->rate,
		.origin = zooms->settings.origin.name,
	};
	bool latency = false;
	int r = -ENOMEM;

	if (!held) {
		zooms->settings.origin.close(zooms->settings.origin.userdata, source);
		free(note);
		return -ENOMEM;
	}
	held->source = source;
	source->methods->describe(source, &about);
	held->zoom.note = note;
	for (size_t i = 0; i < about.n_events; i++)
		latency = latency || about.events[i].settings.has_latency;
	held->zoom.nodes = source->methods->nodes ? source->methods->nodes(source) : NULL;
	held->zoom.period = about.n_events ? about.events[0].period : 0;
	held->zoom.seconds = request->seconds;
	held->zoom.state = ZOOM_RUNNING;
	held->zoom.names = (struct profile_names){.find = find_name, .userdata = zooms};
	held->until_ns = about.began_ns + (u64)(request->seconds * (double)NSEC_PER_SEC);
	held->zoom.reason = strdup(request->reason);
	if (held->zoom.reason)
		r = zoom_recording_new(&about, ZOOM_RECORDING_BYTES, &held->zoom.recording);
	if (r == 0)
		r = profile_new(latency, &held->zoom.profile);
	if (r < 0) {
		held_free(zooms, held);
		return r;
	}
	*ret = held;
	return 0;
}

static int begin(struct zooms *zooms, const struct zoom_request *request, u64 *ret_id, char **ret_message)
{
	const struct zooms_origin *origin = &zooms->settings.origin;
	struct zoom_source *source = NULL;
	struct held_zoom *held;
	char *note = NULL;
	int r = zooms->reader || !is_of_machine(zooms)
			? 0
			: zoom_reader_new(zooms->settings.socket, &zooms->reader);

	if (r < 0)
		return r;
	r = origin->open(origin->userdata, request->path, request->rate, &source, &note, ret_message);
	if (r < 0)
		return r;
	r = hold(zooms, request, source, note, &held);
	if (r < 0)
		return r;
	make_room(zooms);
	memmove(&zooms->held[1], &zooms->held[0], zooms->n * sizeof(*zooms->held));
	zooms->held[0] = held;
	zooms->n++;
	held->zoom.id = *ret_id = zooms->next_id++;
	notify(zooms, held, false);
	return 0;
}

/* Returns `error`, and sets `ret_message`: NULL if memory is short. */
__attribute__((format(printf, 3, 4))) static int refuse(int error, char **ret_message, const char *format,
							...)
{
	va_list arguments;
	int length;

	va_start(arguments, format);
	length = vasprintf(ret_message, format, arguments);
	va_end(arguments);
	if (length < 0)
		*ret_message = NULL;
	return error;
}

int zooms_begin(struct zooms *zooms, const struct zoom_request *request, u64 *ret_id, char **ret_message)
{
	struct zoom_request complete = *request;
	u64 now_ns = monotonic_ns();
	int r;

	*ret_message = NULL;
	if (!(request->seconds > 0 && request->seconds <= ZOOM_SECONDS_MAX) || request->rate > ZOOM_RATE_MAX)
		return -EINVAL;
	if (complete.rate == 0)
		complete.rate = ZOOM_RATE_DEFAULT;
	if (!zooms->settings.origin.open)
		return refuse(
			-EOPNOTSUPP, ret_message,
			"the origin is %s, which has no running tasks; zooms need a pebsd that samples its own machine (origin perf), or the model (origin model)",
			zooms->settings.origin.name);
	for (size_t i = 0; i < zooms->n; i++) {
		struct held_zoom *held = zooms->held[i];
		u64 until_ns = now_ns + (u64)(request->seconds * (double)NSEC_PER_SEC);

		if (held->zoom.state != ZOOM_RUNNING || strcmp(about_of(held)->cgroup, request->path) != 0)
			continue;
		/* A cgroup that has this path now is a different one. */
		if (zoom_source_gone(held->source)) {
			end_gone(zooms, held, now_ns);
			continue;
		}
		if (until_ns > held->until_ns)
			held->until_ns = until_ns;
		held->zoom.seconds =
			(double)(held->until_ns - about_of(held)->began_ns) / (double)NSEC_PER_SEC;
		*ret_id = held->zoom.id;
		return 0;
	}
	if (running(zooms) >= ZOOMS_RUNNING_MAX)
		return refuse(
			-EBUSY, ret_message,
			"%d zooms are running, which is the maximum; wait until one ends, or end one with `pebsctl zoom --stop CGROUP`",
			ZOOMS_RUNNING_MAX);
	r = begin(zooms, &complete, ret_id, ret_message);
	if (r == 0)
		arm(zooms, turn(zooms, now_ns));
	return r;
}

bool zooms_end(struct zooms *zooms, u64 id)
{
	u64 now_ns = monotonic_ns();

	for (size_t i = 0; i < zooms->n; i++)
		if (zooms->held[i]->zoom.id == id && zooms->held[i]->zoom.state == ZOOM_RUNNING) {
			end(zooms, zooms->held[i], now_ns);
			arm(zooms, turn(zooms, now_ns));
			return true;
		}
	return false;
}

void zooms_end_all(struct zooms *zooms)
{
	u64 now_ns = monotonic_ns();

	for (size_t i = zooms->n; i-- > 0;)
		if (zooms->held[i]->zoom.state == ZOOM_RUNNING)
			end(zooms, zooms->held[i], now_ns);
	/* Call turn() only after the loop, because it drops expired zooms at any index. */
	arm(zooms, turn(zooms, now_ns));
}

const struct zoom *zooms_find(struct zooms *zooms, const char *path)
{
	for (size_t i = 0; i < zooms->n; i++)
		if (strcmp(about_of(zooms->held[i])->cgroup, path) == 0)
			return &zooms->held[i]->zoom;
	return NULL;
}

const struct zoom *zooms_get(struct zooms *zooms, u64 id)
{
	for (size_t i = 0; i < zooms->n; i++)
		if (zooms->held[i]->zoom.id == id)
			return &zooms->held[i]->zoom;
	return NULL;
}

const struct zoom *zooms_find_done(struct zooms *zooms, const char *path)
{
	for (size_t i = 0; i < zooms->n; i++)
		if (zooms->held[i]->zoom.state == ZOOM_DONE &&
		    strcmp(about_of(zooms->held[i])->cgroup, path) == 0)
			return &zooms->held[i]->zoom;
	return NULL;
}

const struct zoom *zooms_nth(struct zooms *zooms, size_t i)
{
	return i < zooms->n ? &zooms->held[i]->zoom : NULL;
}

void zooms_get_counts(const struct zooms *zooms, struct zooms_counts *ret)
{
	*ret = zooms->counts;
	ret->running = running(zooms);
	ret->held = zooms->n;
	for (size_t i = 0; i < zooms->n; i++) {
		const struct held_zoom *held = zooms->held[i];

		add_counts(ret, held->zoom.recording);
		ret->bytes += zoom_recording_bytes(held->zoom.recording) + profile_bytes(held->zoom.profile) +
			      (held->source ? held->source->methods->bytes(held->source) : 0);
	}
}

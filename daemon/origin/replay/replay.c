// SPDX-License-Identifier: GPL-2.0
#include "origin/replay/replay.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "origin/replay/perf_data.h"
#include "origin/replay/replay_event.h"
#include "origin/replay/replay_event_set.h"
#include "origin/replay/replay_names.h"
#include "origin/replay/replay_queue.h"

/* What a reader of the results must know, one sentence each. All zero is an empty list. */
struct notes {
	char **list; /* NULL-terminated, or NULL */
	size_t n;
};

/*
 * Adds a note. The caller first escapes unprintable characters in names from untrusted sources
 * (text_visible() in base/text.h). Returns 0 or -ENOMEM.
 */
static int __attribute__((format(printf, 2, 3))) add_note(struct notes *notes, const char *format, ...)
{
	va_list arguments;
	char **list;
	int r;

	list = reallocarray(notes->list, notes->n + 2, sizeof(*list));
	if (!list)
		return -ENOMEM;
	notes->list = list;
	va_start(arguments, format);
	r = vasprintf(&list[notes->n], format, arguments);
	va_end(arguments);
	if (r >= 0)
		notes->n++;
	list[notes->n] = NULL;
	return r < 0 ? -ENOMEM : 0;
}

/*
 * Adds a note for each count that is not 0, except for `late` and `not_mixed`, whose notes name the events.
 * Returns 0 or -ENOMEM.
 */
static int note_left_out_samples(struct notes *notes, const char *recording,
				 const struct replay_left_out *left_out)
{
	const struct {
		u64 count;
		const char *item, *reason;
	} kinds[] = {
		{left_out->other_events, "sample",
		 "left out: only events of loads, stores, cycles, instructions, stalls and misses count"},
		{left_out->unknown_event, "sample",
		 "left out: the recording does not say for every sample to which event it belongs"},
		{left_out->unreadable, "sample",
		 "left out: a field that this version of pebsd does not know can be read in two ways; replay the recording with a newer pebsd"},
		{left_out->other_operations, "sample",
		 "left out: IBS samples operations of all kinds, and only loads count"},
		{left_out->lost, "record",
		 "missing (samples or others): perf was too slow to read everything; record with a larger buffer (-m) or a longer period (-c)"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		const bool one = kinds[i].count == 1;
		char count[TEXT_NUMBER_MAX];

		if (!kinds[i].count)
			continue;
		text_count(kinds[i].count, count);
		if (add_note(notes, "%s: %s %s%s %s %s", recording, count, kinds[i].item, one ? "" : "s",
			     one ? "is" : "are", kinds[i].reason) < 0)
			return -ENOMEM;
	}
	return 0;
}

static void clear_notes(struct notes *notes)
{
	for (size_t i = 0; i < notes->n; i++)
		free(notes->list[i]);
	free(notes->list);
	*notes = (struct notes){};
}

/* One recording of a replay: the position of the reader, and the notes about the recording at its end. */

struct replay_recording {
	char *name; /* for messages */
	struct perf_data *data;
	bool has_pending; /* `pending` holds the recording's first sample, which replay_open() has read */
	struct perf_data_record pending;
	struct replay_event_map events; /* one entry for each event of `data` */
	struct replay_machine machine;
	struct replay_queue queue;
	u64 samples;          /* number of samples that are accepted or in the queue */
	bool real_time_known; /* as in struct perf_data_events */
	s64 real_time_offset;
	struct {
		u64 records; /* sum of PERF_DATA_LOST, and likewise below */
		u64 samples;
		u64 totals;
	} lost;
	struct replay_left_out left_out;
};

/* Maximum number of notes about events of one recording: a hostile one could have thousands of events. */
#define EVENT_NOTES_MAX 16

static int note_left_out_event(const struct replay_recording *recording,
			       const struct replay_event_set *events, struct notes *notes, size_t index)
{
	const struct replay_event_use *use = &recording->events.list[index];
	const struct perf_data_event *recorded = &perf_data_events(recording->data)->list[index];
	const struct event *clash = &events->list[use->clash];
	_cleanup_free_ char *name = text_visible(recorded->name ? recorded->name : "(no name)");
	const bool one = use->left_out == 1;
	const char *role;
	char ldlat[32] = "";

	if (!name)
		return -ENOMEM;
	if (use->event == REPLAY_LATE)
		return add_note(
			notes,
			"%s: %llu sample%s of its event %s %s left out: the event is announced after the recording's first sample, or the recordings have more than %d different events (replay this recording separately)",
			recording->name, (unsigned long long)use->left_out, one ? "" : "s", name,
			one ? "is" : "are", EVENTS_MAX);
	if (use->event == REPLAY_MODES)
		return add_note(
			notes,
			"%s: %llu sample%s of its event %s %s left out: it leaves out other modes (user or kernel) than the other events, and figures made of both would be wrong; record all events with the same modifiers",
			recording->name, (unsigned long long)use->left_out, one ? "" : "s", name,
			one ? "is" : "are");
	role = event_role_name(clash->role);
	if (use->event == REPLAY_TWICE)
		return add_note(
			notes,
			"%s: %llu sample%s of its event %s %s left out: another event of the recording already counts %s",
			recording->name, (unsigned long long)use->left_out, one ? "" : "s", name,
			one ? "is" : "are", role);
	if (clash->ldlat)
		(void)snprintf(ldlat, sizeof(ldlat), " (ldlat %u)", clash->ldlat);
	return add_note(
		notes,
		"%s: %llu sample%s of its event %s %s left out: this event and the event of the %s that are already counted%s differ in ldlat, PMU, kind of latency or count, or recorded fields, so their counts cannot be added; if they are of two recordings, replay each separately",
		recording->name, (unsigned long long)use->left_out, one ? "" : "s", name, one ? "is" : "are",
		role, ldlat);
}

/* Adds a note with the reason for each event that was left out, up to the limit. */
static int note_left_out_events(const struct replay_recording *recording,
				const struct replay_event_set *events, struct notes *notes)
{
	size_t noted = 0;
	u64 others = 0;

	for (size_t i = 0; i < recording->events.n; i++) {
		u64 left_out = recording->events.list[i].left_out;

		if (!left_out)
			continue;
		if (noted == EVENT_NOTES_MAX)
			others += left_out;
		else if (noted++, note_left_out_event(recording, events, notes, i) < 0)
			return -ENOMEM;
	}
	if (!others)
		return 0;
	return add_note(notes, "%s: %llu sample%s of further events %s left out for similar reasons",
			recording->name, (unsigned long long)others, others == 1 ? "" : "s",
			others == 1 ? "is" : "are");
}

static bool has_latency_of_unknown_kind(const struct replay_recording *recording,
					const struct replay_event_set *events)
{
	for (size_t i = 0; i < recording->events.n; i++) {
		int event = recording->events.list[i].event;

		if (event >= 0 && events->list[event].settings.has_latency &&
		    events->list[event].latency_kind == LATENCY_NONE)
			return true;
	}
	return false;
}

/* Returns true if the recording has several counts, from which figures are made. */
static bool needs_running_times(const struct replay_recording *recording,
				const struct replay_event_set *events)
{
	size_t n = 0;

	for (size_t i = 0; i < recording->events.n; i++) {
		int event = recording->events.list[i].event;

		n += event >= 0 && event_is_count(&events->list[event]);
	}
	return n > 1;
}

static int note_end(const struct replay_recording *recording, struct notes *notes, bool *ret_cut)
{
	u64 position;
	int r;

	*ret_cut = false;
	if (perf_data_cut(recording->data, &position)) {
		r = add_note(
			notes,
			"%s is truncated at byte %llu: only the %llu sample%s before that %s counted; copy the whole file again, or record it again",
			recording->name, (unsigned long long)position, (unsigned long long)recording->samples,
			recording->samples == 1 ? "" : "s", recording->samples == 1 ? "is" : "are");
		*ret_cut = r == 0;
		return r;
	}
	if (perf_data_unfinished(recording->data))
		return add_note(
			notes,
			"%s was not completed, probably because perf was killed: everything in it is "
			"read, but its CPU and the names of its events are missing; end perf with Ctrl-C",
			recording->name);
	if (perf_data_no_features(recording->data))
		return add_note(
			notes,
			"%s is a pipe, but was recorded to a file, which names its CPU and its events after the samples: these names are not used, and the kind of its latencies may be unknown; give --replay the file itself",
			recording->name);
	return 0;
}

/*
 * Adds the notes about a recording that is read to its end. They say that the recording is cut (first, with
 * `ret_cut` set) or was never completed, that the kind of its latencies is unknown, and which samples are not
 * in the results. `events` are those that are counted. Returns 0 or -ENOMEM.
 */
static int note_recording(const struct replay_recording *recording, const struct replay_event_set *events,
			  struct notes *notes, bool *ret_cut)
{
	int r = note_end(recording, notes, ret_cut);

	if (r == 0 && !perf_data_no_features(recording->data) &&
	    has_latency_of_unknown_kind(recording, events))
		r = add_note(
			notes,
			"%s does not name a CPU that pebsd knows: it is unknown whether its latencies are "
			"use latency or cache latency",
			recording->name);
	if (r == 0 && needs_running_times(recording, events))
		r = add_note(
			notes,
			"%s does not say for which share of the time each event had a counter, or how fast the CPUs ran: wait, cycles per instruction, misses and traffic are right if each event had a counter all the time, as with few events; cores are not known",
			recording->name);
	if (r == 0)
		r = note_left_out_events(recording, events, notes);
	if (r == 0)
		r = note_left_out_samples(notes, recording->name, &recording->left_out);
	return r;
}

struct replay {
	struct replay_recording *recordings;
	struct recording *about; /* one for each recording; owns their texts except for `file` */
	size_t n;
	size_t current;
	struct replay_event_set events;
	struct replay_names names;
	struct replay_report report;
	struct notes notes;
	size_t cut_note; /* 1 + index in `notes`; 0: no recording is cut */
	char *message;
	struct sample batch[INJECT_MAX];
	struct replay_moment moments[INJECT_MAX]; /* times of the samples in `batch` */
	size_t n_batch;
};

bool replay_synthetic_id(u64 id)
{
	return (id & REPLAY_SYNTHETIC_ID) != 0;
}

/* Stores "NAME message" as the message, unless the error is a lack of memory. Returns `error`. */
static int keep_message(struct replay *replay, const struct replay_recording *recording, int error,
			const char *message)
{
	free(replay->message);
	replay->message = NULL;
	if (error == -ENOMEM)
		return error;
	if (asprintf(&replay->message, "%s %s", recording->name, message) < 0)
		replay->message = NULL;
	return error;
}

/*
 * Returns `r`, the error of a function for names. If the recording is the cause, sets the message and returns
 * -EBADMSG.
 */
static int explain_names(struct replay *replay, const struct replay_recording *recording, int r)
{
	if (r != -E2BIG)
		return r;
	return keep_message(
		replay, recording, -EBADMSG,
		"is damaged: it has more cgroups, or more names of cgroups and tasks, than any machine; "
		"copy it again, or record it again");
}

/* Decides how to count the events that the recording announced since the last call. */
static int map_events(struct replay *replay, struct replay_recording *recording)
{
	const struct perf_data_events *events = perf_data_events(recording->data);

	recording->real_time_known = events->real_time_known;
	recording->real_time_offset = events->real_time_offset;
	return replay_event_set_map(&replay->events, &recording->events, events);
}

static int flush_batch(struct replay *replay, const struct replay_target *target)
{
	size_t n = replay->n_batch;

	replay->n_batch = 0;
	if (n && target->timed_samples)
		return target->timed_samples(target->userdata, replay->batch, replay->moments, n);
	return n ? target->samples(target->userdata, replay->batch, n) : 0;
}

static int deliver(struct replay *replay, const struct replay_recording *recording,
		   const struct replay_item *item, const struct replay_target *target)
{
	struct sample sample = item->sample;
	const struct replay_name *name;
	bool is_new;
	u32 index;
	int r;

	if (item->has_cgroup)
		r = replay_machine_cgroup(&recording->machine, &replay->names, sample.cgroup_id, &index);
	else
		r = replay_machine_comm(&recording->machine, &replay->names, item->tid, &index);
	if (r < 0)
		return explain_names(replay, recording, r);
	r = replay_names_id(&replay->names, index, item->has_cgroup ? sample.cgroup_id : 0, &is_new);
	if (r < 0)
		return r;
	name = &replay->names.list[index];
	if (is_new) {
		r = target->name(target->userdata, name->id, name->text);
		if (r < 0)
			return r;
	}
	sample.cgroup_id = name->id;
	replay->moments[replay->n_batch] = (struct replay_moment){
		.recording = (u32)(recording - replay->recordings),
		.known = item->timed,
		.time = item->time,
	};
	replay->batch[replay->n_batch++] = sample;
	replay->report.samples++;
	return replay->n_batch == INJECT_MAX ? flush_batch(replay, target) : 0;
}

/* Processes an item. All earlier items must have been processed before. */
static int apply(struct replay *replay, struct replay_recording *recording, const struct replay_item *item,
		 const struct replay_target *target)
{
	switch (item->kind) {
	case REPLAY_SAMPLE:
		return deliver(replay, recording, item, target);
	case REPLAY_COMM:
		return replay_machine_set_comm(&recording->machine, item->tid, item->name);
	case REPLAY_FORK:
		return replay_machine_fork(&recording->machine, item->tid, item->parent_tid);
	case REPLAY_CGROUP:
		return explain_names(
			replay, recording,
			replay_machine_set_path(&recording->machine, item->cgroup_id, item->path));
	}
	return 0;
}

/* Processes all items that are due, or all items if `any` is set. */
static int drain(struct replay *replay, struct replay_recording *recording,
		 const struct replay_target *target, bool any)
{
	struct replay_item item;

	while (replay_queue_take(&recording->queue, any, &item)) {
		int r = apply(replay, recording, &item, target);

		if (r < 0)
			return r;
	}
	return 0;
}

static int enter(struct replay *replay, struct replay_recording *recording,
		 const struct replay_target *target, const struct replay_item *item, bool timed)
{
	struct replay_item oldest;
	int r;

	if (!timed)
		return apply(replay, recording, item, target);
	r = replay_queue_put(&recording->queue, item);
	if (r != -ENOBUFS)
		return r;
	if (replay_queue_take(&recording->queue, true, &oldest)) {
		r = apply(replay, recording, &oldest, target);
		if (r < 0)
			return r;
	}
	return replay_queue_put(&recording->queue, item);
}

/* Returns true if the sample counts. If not, counts it as left out. */
static bool select_sample(const struct replay *replay, struct replay_recording *recording,
			  const struct perf_data_record *record, struct sample *ret)
{
	struct replay_left_out *left_out = &recording->left_out;
	struct replay_event_use *use;
	const struct event *described;

	if (record->event < 0) {
		left_out->unknown_event++;
		return false;
	}
	use = &recording->events.list[record->event];
	switch (use->event) {
	case REPLAY_OTHER_EVENT:
		left_out->other_events++;
		return false;
	case REPLAY_LATE:
		left_out->late++;
		use->left_out++;
		return false;
	case REPLAY_NOT_MIXED:
	case REPLAY_TWICE:
	case REPLAY_MODES:
		left_out->not_mixed++;
		use->left_out++;
		return false;
	default:
		break;
	}
	described = &replay->events.list[use->event];
	replay_sample(described, (u16)use->event,
		      &perf_data_events(recording->data)->list[record->event].attr, &record->sample, ret);
	if (!replay_sample_counts(described, ret)) {
		left_out->other_operations++;
		return false;
	}
	return true;
}

/*
 * perf's totals include the lost records, but a recording that was cut, or that an older perf made, has none. The
 * kernel reports lost records with the next record that finds space. So the last ones are only in the totals.
 */
static void count_lost(struct replay_recording *recording, const struct perf_data_record *record)
{
	if (record->kind == PERF_DATA_LOST)
		recording->lost.records += record->lost;
	else if (record->kind == PERF_DATA_LOST_SAMPLES)
		recording->lost.samples += record->lost;
	else
		recording->lost.totals += record->lost;
	recording->left_out.lost = recording->lost.samples + (recording->lost.totals > recording->lost.records
								      ? recording->lost.totals
								      : recording->lost.records);
}

static int take_sample(struct replay *replay, struct replay_recording *recording,
		       const struct replay_target *target, const struct perf_data_record *record, bool timed)
{
	struct replay_report *report = &replay->report;
	struct replay_item item = {.time = record->time, .kind = REPLAY_SAMPLE, .tid = record->sample.tid};
	int r;

	r = map_events(replay, recording);
	if (r < 0)
		return r;
	if (!select_sample(replay, recording, record, &item.sample))
		return 0;
	if (record->sample.sample_type & PERF_SAMPLE_CGROUP) {
		item.has_cgroup = true;
		item.sample.cgroup_id = record->sample.cgroup_id;
	}
	if (!(record->sample.sample_type & PERF_SAMPLE_TID))
		item.tid = ~0U;
	item.timed = record->timed;
	if (record->timed) {
		if (!report->time_known || record->time < report->first_time)
			report->first_time = record->time;
		if (!report->time_known || record->time > report->last_time)
			report->last_time = record->time;
		report->time_known = true;
	}
	recording->samples++;
	return enter(replay, recording, target, &item, timed);
}

/* `target` may be NULL before the first sample, because nothing is delivered until then. */
static int take_record(struct replay *replay, struct replay_recording *recording,
		       const struct replay_target *target, const struct perf_data_record *record)
{
	/* perf sorts by time only if all records have a time. */
	bool timed = record->timed && perf_data_events(recording->data)->timed;
	struct replay_item item = {.time = record->time};
	int r = 0;

	switch (record->kind) {
	case PERF_DATA_SAMPLE:
		return take_sample(replay, recording, target, record, timed);
	case PERF_DATA_UNREADABLE:
		recording->left_out.unreadable++;
		return 0;
	case PERF_DATA_ROUND:
		replay_queue_round(&recording->queue);
		return drain(replay, recording, target, false);
	case PERF_DATA_LOST:
	case PERF_DATA_LOST_SAMPLES:
	case PERF_DATA_LOST_TOTAL:
		count_lost(recording, record);
		return 0;
	case PERF_DATA_COMM:
		item.kind = REPLAY_COMM;
		item.tid = record->comm.tid;
		r = replay_names_comm(&replay->names, record->comm.name, record->comm.length, &item.name);
		break;
	case PERF_DATA_FORK:
		item.kind = REPLAY_FORK;
		item.tid = record->fork.tid;
		item.parent_tid = record->fork.parent_tid;
		break;
	case PERF_DATA_CGROUP:
		/* Ignore a name that is not a path: it could be confused with a name made by the replay. */
		if (!record->cgroup.length || record->cgroup.path[0] != '/')
			return 0;
		if (record->cgroup.length >= PATH_MAX)
			return keep_message(replay, recording, -EBADMSG,
					    "is damaged: the path of a cgroup is longer than the kernel "
					    "allows; copy it again, or record it again");
		item.kind = REPLAY_CGROUP;
		item.cgroup_id = record->cgroup.id;
		r = replay_names_index(&replay->names, "", record->cgroup.path, record->cgroup.length,
				       &item.path);
		break;
	case PERF_DATA_OTHER:
		return 0;
	}
	if (r < 0)
		return explain_names(replay, recording, r);
	return enter(replay, recording, target, &item, timed);
}

static int open_recording(struct replay *replay, struct replay_recording *recording, const char *path)
{
	_cleanup_free_ char *message = NULL;
	bool is_stdin = strcmp(path, "-") == 0;
	int fd;
	int r;

	recording->name = strdup(is_stdin ? "standard input" : path);
	if (!recording->name)
		return -ENOMEM;
	fd = is_stdin ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3) : open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0) {
		r = -errno;
		free(replay->message);
		if (asprintf(&replay->message, "cannot open %s: %s%s", recording->name, strerror(-r),
			     is_stdin ? "" : "; check its name and permissions") < 0)
			replay->message = NULL;
		return r;
	}
	r = perf_data_open(fd, &recording->data, &message);
	if (r < 0)
		return keep_message(replay, recording, r,
				    message ? message : "cannot be read: out of memory");

	while ((r = perf_data_next(recording->data, &recording->pending)) > 0) {
		recording->has_pending = recording->pending.kind == PERF_DATA_SAMPLE;
		if (recording->has_pending)
			break;
		replay->report.records++;
		r = take_record(replay, recording, NULL, &recording->pending);
		if (r < 0)
			return r;
	}
	if (r < 0)
		return keep_message(replay, recording, r, perf_data_message(recording->data));
	perf_data_no_wait(recording->data);
	return map_events(replay, recording);
}

static int copy_text(const char *text, const char **ret)
{
	if (!text || !*text)
		return 0;
	*ret = strdup(text);
	return *ret ? 0 : -ENOMEM;
}

/*
 * perf stores no date. Only a recording with a clock that perf can relate to CLOCK_REALTIME has the time of
 * its samples. Otherwise the time of the file is the best one available, although copying the file may have
 * changed it.
 */
static void note_time(const struct replay_recording *recording, struct recording *ret)
{
	const int fd = perf_data_fd(recording->data);
	struct stat st;
	u64 real;

	if (recording->real_time_known && recording->has_pending && recording->pending.timed &&
	    !__builtin_add_overflow(recording->pending.time, recording->real_time_offset, &real)) {
		ret->time = (struct timespec){.tv_sec = (time_t)(real / NSEC_PER_SEC),
					      .tv_nsec = (long)(real % NSEC_PER_SEC)};
	} else if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode)) {
		ret->time = st.st_mtim;
		ret->time_of_file = true;
	}
}

/* The recording is read up to its first sample by now, so even a pipe has delivered these facts. */
static int note_about(const struct replay_recording *recording, struct recording *ret)
{
	const struct perf_data_events *events = perf_data_events(recording->data);
	int r;

	ret->file = recording->name;
	note_time(recording, ret);
	r = copy_text(events->host, &ret->host);
	if (r == 0)
		r = copy_text(events->cpu_name ? events->cpu_name : events->cpuid, &ret->cpu);
	if (r == 0)
		r = copy_text(events->kernel, &ret->kernel);
	return r;
}

static bool records_memory_data(const struct perf_data_events *events)
{
	for (size_t i = 0; i < events->n; i++)
		if (events->list[i].attr.sample_type & (PERF_SAMPLE_WEIGHT_TYPE | PERF_SAMPLE_DATA_SRC))
			return true;
	return false;
}

/*
 * Sets the message for recordings without an event with memory data. It gives the reason for the first
 * recording.
 */
static int fail_without_events(struct replay *replay)
{
	const struct replay_recording *recording = &replay->recordings[0];
	const char *others = replay->n > 1 ? ", and the other recordings have no such event either" : "";
	const char *why =
		records_memory_data(perf_data_events(recording->data))
			? "some of its events record a data source or a weight, but pebsd does not know them as events of loads or stores"
			: "none of its events records a data source or a weight, or is known as one of cycles, instructions, stalls or misses";
	char cut[80] = "";
	u64 position;
	int r;

	if (perf_data_cut(recording->data, &position))
		(void)snprintf(cut, sizeof(cut), " (it is truncated at byte %llu)",
			       (unsigned long long)position);
	r = asprintf(&replay->message,
		     "%s has no event that pebsd counts%s: %s%s; record with perf mem record",
		     recording->name, cut, why, others);
	if (r < 0)
		replay->message = NULL;
	return -EBADMSG;
}

static int open_all(struct replay *replay, const char *const *paths, size_t n)
{
	size_t n_stdin = 0;

	for (size_t i = 0; i < n; i++)
		n_stdin += strcmp(paths[i], "-") == 0;
	if (!n || n_stdin > 1) {
		replay->message = strdup(n ? "- is given more than once; standard input can be read only once"
					   : "replay needs a recording; name at least one file");
		return -EINVAL;
	}
	replay->recordings = calloc(n, sizeof(*replay->recordings));
	replay->about = calloc(n, sizeof(*replay->about));
	if (!replay->recordings || !replay->about)
		return -ENOMEM;
	replay->n = n;
	for (size_t i = 0; i < n; i++) {
		int r = open_recording(replay, &replay->recordings[i], paths[i]);

		if (r == 0)
			r = note_about(&replay->recordings[i], &replay->about[i]);

		if (r < 0)
			return r;
	}
	replay->events.settled = true;
	return replay->events.n ? 0 : fail_without_events(replay);
}

int replay_open(const char *const *paths, size_t n, struct replay **ret, char **ret_message)
{
	struct replay *replay;
	int r;

	*ret_message = NULL;
	replay = calloc(1, sizeof(*replay));
	if (!replay)
		return -ENOMEM;
	r = open_all(replay, paths, n);
	if (r < 0) {
		*ret_message = TAKE_PTR(replay->message);
		replay_free(replay);
		return r;
	}
	*ret = replay;
	return 0;
}

static void close_recording(struct replay_recording *recording)
{
	recording->data = perf_data_free(recording->data);
	replay_machine_clear(&recording->machine);
	replay_queue_clear(&recording->queue);
	replay_event_map_clear(&recording->events);
}

static void clear_about(struct recording *about)
{
	free((char *)about->host);
	free((char *)about->cpu);
	free((char *)about->kernel);
}

struct replay *replay_free(struct replay *replay)
{
	if (!replay)
		return NULL;
	for (size_t i = 0; i < replay->n; i++) {
		close_recording(&replay->recordings[i]);
		free(replay->recordings[i].name);
	}
	for (size_t i = 0; replay->about && i < replay->n; i++)
		clear_about(&replay->about[i]);
	free(replay->about);
	free(replay->recordings);
	clear_notes(&replay->notes);
	replay_names_clear(&replay->names);
	free(replay->message);
	free(replay);
	return NULL;
}

const struct event *replay_events(const struct replay *replay, size_t *ret_n)
{
	*ret_n = replay->events.n;
	return replay->events.list;
}

/* Adds the notes about a recording that has been read to its end, and closes it. */
static int finish_recording(struct replay *replay, struct replay_recording *recording)
{
	bool cut;
	size_t first = replay->notes.n;
	int r = note_recording(recording, &replay->events, &replay->notes, &cut);

	if (cut && !replay->cut_note)
		replay->cut_note = first + 1;
	close_recording(recording);
	return r;
}

const struct recording *replay_recordings(const struct replay *replay, size_t *ret_n)
{
	*ret_n = replay->n;
	return replay->about;
}

/* Reads one more record of the recording. Returns 1, 0 at its end, or -errno. */
static int step_recording(struct replay *replay, struct replay_recording *recording,
			  const struct replay_target *target)
{
	struct perf_data_record record;
	int r = 1;

	if (recording->has_pending) {
		recording->has_pending = false;
		record = recording->pending;
	} else {
		r = perf_data_next(recording->data, &record);
	}
	if (r == -EAGAIN)
		return r;
	if (r < 0)
		return keep_message(replay, recording, r, perf_data_message(recording->data));
	if (r == 0)
		return 0;
	replay->report.records++;
	r = take_record(replay, recording, target, &record);
	return r < 0 ? r : 1;
}

int replay_step(struct replay *replay, const struct replay_target *target, size_t max_records)
{
	int r = 0;

	for (size_t n = 0; n < max_records && replay->current < replay->n; n++) {
		struct replay_recording *recording = &replay->recordings[replay->current];

		r = step_recording(replay, recording, target);
		if (r > 0)
			continue;
		/* Samples before the end, or before the damage, count. */
		if (r == 0 || r == -EBADMSG) {
			int drained = drain(replay, recording, target, true);

			r = drained < 0 ? drained : r;
		}
		if (r == 0)
			r = finish_recording(replay, recording);
		if (r < 0)
			break;
		replay->current++;
	}
	if (r >= 0 || r == -EBADMSG || r == -EAGAIN) {
		int flushed = flush_batch(replay, target);

		r = flushed < 0 ? flushed : r;
	}
	if (r < 0)
		return r;
	return replay->current < replay->n;
}

const char *replay_name(const struct replay *replay, u32 recording)
{
	return replay->recordings[recording].name;
}

bool replay_real_time(const struct replay *replay, u32 recording, s64 *ret_offset_ns)
{
	*ret_offset_ns = replay->recordings[recording].real_time_offset;
	return replay->recordings[recording].real_time_known;
}

int replay_fd(const struct replay *replay)
{
	return replay->current < replay->n ? perf_data_fd(replay->recordings[replay->current].data) : -1;
}

const char *replay_message(const struct replay *replay)
{
	return replay->message;
}

int replay_add_note(struct replay *replay, const char *note)
{
	return add_note(&replay->notes, "%s", note);
}

static void add_left_out(struct replay_left_out *sum, const struct replay_left_out *one)
{
	sum->other_events += one->other_events;
	sum->unknown_event += one->unknown_event;
	sum->late += one->late;
	sum->not_mixed += one->not_mixed;
	sum->unreadable += one->unreadable;
	sum->other_operations += one->other_operations;
	sum->lost += one->lost;
}

void replay_report(const struct replay *replay, struct replay_report *ret)
{
	static const char *const none[] = {NULL};

	*ret = replay->report;
	for (size_t i = 0; i < replay->n; i++)
		add_left_out(&ret->left_out, &replay->recordings[i].left_out);
	ret->notes = replay->notes.list ? (const char *const *)replay->notes.list : none;
	if (replay->cut_note)
		ret->cut = ret->notes[replay->cut_note - 1];
}

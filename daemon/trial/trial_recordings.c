// SPDX-License-Identifier: GPL-2.0
#include "trial/trial_recordings.h"

#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <string.h>

#include "origin/replay/replay.h"

#define RECORDS_A_STEP 20000

/* The longest time between two samples. If a clock leaps further, it is a different clock, or damaged. */
#define GAP_MAX_NS (30ULL * 86400 * NSEC_PER_SEC)

struct player {
	struct trial *trial;
	struct replay *replay;
	u64 interval_ns;
	bool begun;
	u32 recording; /* the recording of the last sample */
	u64 now_ns;    /* time of the last collection; this and the next three are on the recording's clock */
	u64 last_ns;   /* time of the latest sample */
	u64 unsampled_from_ns;
	u64 unsampled_to_ns; /* end of the time between two recordings, in which nothing was sampled */
	char *message;
};

static u64 later(u64 a, u64 b)
{
	return a > b ? a : b;
}

static int collect(struct player *player, u64 at_ns)
{
	struct sliding_time times[EVENTS_MAX] = {0};
	u64 from = later(player->now_ns, player->unsampled_from_ns);
	u64 to = at_ns < player->unsampled_to_ns ? at_ns : player->unsampled_to_ns;

	for (size_t i = 0; from < to && i < EVENTS_MAX; i++)
		times[i].unsampled_ns = to - from;
	player->now_ns = at_ns;
	return trial_collect(player->trial, at_ns, times);
}

/*
 * Makes all collections that end before `ns`. If a silence is so long that the states no longer change, the
 * rest of the silence is one collection.
 */
static int advance(struct player *player, u64 ns)
{
	const u64 interval = player->interval_ns;
	int r = 0;

	while (r == 0 && ns - player->now_ns > interval) {
		u64 at = player->now_ns + interval;

		if (at - player->last_ns > trial_memory_ns(player->trial))
			at += (ns - at - 1) / interval * interval;
		r = collect(player, at);
	}
	return r;
}

/* Makes a last collection, of the samples since the previous collection. */
static int end_stretch(struct player *player)
{
	int r;

	if (!player->begun)
		return 0;
	r = advance(player, player->last_ns);
	if (r < 0)
		return r;
	return collect(player, later(player->last_ns, player->now_ns + 1));
}

static int begin_stretch(struct player *player, const struct replay_moment *moment)
{
	struct timespec start;
	s64 offset, ns;
	bool known;

	known = replay_real_time(player->replay, moment->recording, &offset) &&
		moment->time <= (u64)INT64_MAX && !__builtin_add_overflow((s64)moment->time, offset, &ns) &&
		ns > 0;
	if (known)
		start = (struct timespec){.tv_sec = (time_t)(ns / (s64)NSEC_PER_SEC),
					  .tv_nsec = (long)(ns % (s64)NSEC_PER_SEC)};
	player->begun = true;
	player->now_ns = player->last_ns = moment->time;
	player->unsampled_from_ns = player->unsampled_to_ns = 0;
	return trial_begin(player->trial, replay_name(player->replay, moment->recording), moment->time,
			   known ? &start : NULL);
}

/*
 * Returns -ENODATA instead of -EBADMSG. After -EBADMSG replay_step() treats the recording as damaged, and
 * hands over the samples that it still holds.
 */
static int fail_without_time(struct player *player, u32 recording)
{
	if (asprintf(&player->message,
		     "cannot test rules on %s: its samples have no times, which windows and `for` need; "
		     "record with perf mem record --timestamp",
		     replay_name(player->replay, recording)) < 0)
		player->message = NULL;
	return -ENODATA;
}

/* `other`: the sample is the first one of another recording. */
static int note_new_stretch(struct player *player, const struct replay_moment *moment, bool other)
{
	const char *name = replay_name(player->replay, moment->recording);
	char *note;

	if (moment->time < player->last_ns)
		note = asprintf(&note,
				"%s begins before the end of the previous recording: it is judged by "
				"itself, starting with an empty window; name recordings of one machine in "
				"chronological order",
				name) < 0
			       ? NULL
			       : note;
	else if (other)
		note = asprintf(&note,
				"%s begins more than 30 days after the end of the previous recording: it is "
				"judged by itself, starting with an empty window",
				name) < 0
			       ? NULL
			       : note;
	else
		note = asprintf(&note,
				"the clock of %s jumps by more than 30 days: the part after the jump is "
				"judged by itself, starting with an empty window",
				name) < 0
			       ? NULL
			       : note;
	return trial_note(player->trial, note);
}

/* Begins a new stretch if the sample cannot be on the same clock, and notes the time between two recordings. */
static int follow(struct player *player, const struct replay_moment *moment)
{
	const bool other = moment->recording != player->recording;
	int r;

	player->recording = moment->recording;
	if (player->begun && moment->time < player->last_ns && !other)
		return 0; /* perf itself left this sample out of order: count it now */
	if (player->begun && moment->time >= player->last_ns &&
	    moment->time - player->last_ns <= GAP_MAX_NS) {
		if (other) {
			player->unsampled_from_ns = player->last_ns;
			player->unsampled_to_ns = moment->time;
		}
		return 0;
	}
	r = end_stretch(player);
	if (r == 0 && player->begun)
		r = note_new_stretch(player, moment, other);
	return r < 0 ? r : begin_stretch(player, moment);
}

static int take_samples(void *userdata, const struct sample *samples, const struct replay_moment *moments,
			size_t n)
{
	struct player *player = userdata;

	for (size_t i = 0; i < n;) {
		size_t end = i + 1;
		int r;

		if (!moments[i].known)
			return fail_without_time(player, moments[i].recording);
		r = follow(player, &moments[i]);
		if (r == 0)
			r = advance(player, later(moments[i].time, player->last_ns));
		if (r < 0)
			return r;
		player->last_ns = later(moments[i].time, player->last_ns);
		while (end < n && moments[end].known && moments[end].recording == player->recording &&
		       moments[end].time >= player->last_ns &&
		       moments[end].time - player->now_ns <= player->interval_ns)
			player->last_ns = moments[end++].time;
		r = trial_add(player->trial, samples + i, end - i);
		if (r < 0)
			return r;
		i = end;
	}
	return 0;
}

static int take_name(void *userdata, u64 cgroup_id, const char *name)
{
	const struct player *player = userdata;

	return trial_name(player->trial, cgroup_id, name);
}

static int play(struct player *player)
{
	const struct replay_target target = {
		.name = take_name, .timed_samples = take_samples, .userdata = player};
	int r;

	while ((r = replay_step(player->replay, &target, RECORDS_A_STEP)) > 0 || r == -EAGAIN) {
		struct pollfd input = {.fd = replay_fd(player->replay), .events = POLLIN};

		if (r == -EAGAIN)
			(void)poll(&input, 1, -1);
	}
	if (r < 0 && !player->message && replay_message(player->replay)) {
		player->message = strdup(replay_message(player->replay));
		if (!player->message)
			return -ENOMEM;
	}
	return r;
}

static int take_notes(struct player *player)
{
	struct replay_report report;
	int r = 0;

	replay_report(player->replay, &report);
	for (size_t i = 0; r == 0 && report.notes[i]; i++)
		if (report.notes[i] != report.cut)
			r = trial_note(player->trial, strdup(report.notes[i]));
	if (r == 0)
		r = trial_note_malformed(player->trial);
	if (r == 0 && report.cut) {
		player->message = strdup(report.cut);
		r = player->message ? -EBADMSG : -ENOMEM;
	}
	return r;
}

static int judge(struct player *player)
{
	int played = play(player);
	int r;

	if (played == -ENOMEM)
		return played;
	/* The samples before the damage are valid. */
	r = end_stretch(player);
	if (r == 0 && played == 0)
		r = take_notes(player);
	return r < 0 ? r : played == -ENODATA ? -EBADMSG : played;
}

int trial_recordings(const struct config *config, const char *const *paths, size_t n, struct trial **ret,
		     char **ret_message)
{
	_cleanup_(trial_freep) struct trial *trial = NULL;
	_cleanup_(replay_freep) struct replay *replay = NULL;
	struct trial_settings settings = {.config = config, .origin = "replay"};
	struct player player = {.interval_ns = config->interval_ns};
	int r;

	*ret = NULL;
	r = replay_open(paths, n, &replay, ret_message);
	if (r < 0)
		return r;
	settings.events = replay_events(replay, &settings.n_events);
	r = trial_new(&settings, &trial);
	if (r < 0)
		return r;
	player.trial = trial;
	player.replay = replay;
	r = judge(&player);
	*ret_message = player.message;
	if (r == 0 || (r != -ENOMEM && player.begun))
		*ret = TAKE_PTR(trial);
	return r;
}

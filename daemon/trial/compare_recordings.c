// SPDX-License-Identifier: GPL-2.0
#include "trial/compare_recordings.h"

#include <errno.h>
#include <locale.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_get.h"
#include "base/log.h"
#include "collect/packed.h"
#include "export/json/json_compare.h"
#include "format/format.h"
#include "format/style.h"
#include "origin/replay/replay.h"
#include "trial/account_totals.h"
#include "window/window.h"

#define RECORDS_A_STEP 20000

/* Short, because a recording may be short, too. The window merges them when memory runs short. */
#define INTERVAL_NS (10 * NSEC_PER_MSEC)

#define WINDOW_BYTES ((size_t)64 << 20)

#define CGROUPS_MAX 65536

/* Plays one recording. */
struct player {
	struct replay *replay;
	struct account_totals *account;
	struct window *window; /* NULL: no sample with a time so far */
	size_t n_events;
	struct counters sums[EVENTS_MAX]; /* of the present collection */
	struct counters totals[EVENTS_MAX];
	u64 start_ns, now_ns; /* of the first and the last collection, on the recording's clock */
	u64 last_ns;          /* time of the latest sample */
	bool timed;           /* every sample so far had a time */
};

static void player_done(struct player *player)
{
	window_free(player->window);
	account_totals_free(player->account);
	replay_free(player->replay);
}

static void add_cgroup(void *userdata, u32 entry, const char *path,
		       const struct counters *const deltas[EVENTS_MAX])
{
	struct player *player = userdata;

	(void)entry;
	(void)path;
	for (size_t i = 0; i < player->n_events; i++)
		if (deltas[i])
			counters_add(&player->sums[i], deltas[i]);
}

/* Puts the samples since the last collection into the window, all cgroups as one. */
static int collect(struct player *player, u64 at_ns)
{
	memset(player->sums, 0, sizeof(player->sums));
	account_totals_collect(player->account, add_cgroup, player);
	player->now_ns = at_ns;
	if (player->window)
		window_begin(player->window, at_ns, &(struct timespec){0});
	for (unsigned i = 0; i < player->n_events; i++) {
		u8 packed[PACKED_MAX];
		size_t size = packed_of(&player->sums[i], packed);

		counters_add(&player->totals[i], &player->sums[i]);
		if (size > 0 && player->window)
			window_put(player->window, 0, i, packed, size);
	}
	return player->window ? window_end(player->window) : 0;
}

/* Makes the collections that end before `ns`. All of a silence but its first interval is one collection. */
static int advance(struct player *player, u64 ns)
{
	u64 silent;
	int r;

	if (ns - player->now_ns <= INTERVAL_NS)
		return 0;
	r = collect(player, player->now_ns + INTERVAL_NS);
	silent = (ns - player->now_ns) / INTERVAL_NS;
	return r == 0 && silent > 0 ? collect(player, player->now_ns + silent * INTERVAL_NS) : r;
}

static int begin(struct player *player, u64 ns)
{
	/* The last collection ends after the first sample, also if a damaged file has the last possible time. */
	ns -= ns == UINT64_MAX;
	player->start_ns = player->now_ns = player->last_ns = ns;
	return window_new(WINDOW_BYTES, UINT64_MAX, ns, &(struct timespec){0}, &player->window);
}

static int take_samples(void *userdata, const struct sample *samples, const struct replay_moment *moments,
			size_t n)
{
	struct player *player = userdata;

	for (size_t i = 0; i < n; i++) {
		const struct replay_moment *moment = &moments[i];
		int r = 0;

		player->timed = player->timed && moment->known;
		if (moment->known && !player->window)
			r = begin(player, moment->time);
		/* perf could not sort a sample that is earlier than the one before: it counts now. */
		if (r == 0 && moment->known && moment->time > player->last_ns) {
			player->last_ns = moment->time;
			r = advance(player, moment->time);
		}
		if (r == 0)
			r = account_totals_add(player->account, &samples[i], 1);
		if (r < 0)
			return r;
	}
	return 0;
}

static int take_name(void *userdata, u64 cgroup_id, const char *name)
{
	const struct player *player = userdata;

	return account_totals_name(player->account, cgroup_id, name);
}

static int play(struct player *player, char **ret_message)
{
	const struct replay_target target = {
		.name = take_name, .timed_samples = take_samples, .userdata = player};
	struct replay_report report;
	int r;

	while ((r = replay_step(player->replay, &target, RECORDS_A_STEP)) > 0 || r == -EAGAIN) {
		struct pollfd input = {.fd = replay_fd(player->replay), .events = POLLIN};

		if (r == -EAGAIN)
			(void)poll(&input, 1, -1);
	}
	replay_report(player->replay, &report);
	if (r < 0 && replay_message(player->replay))
		*ret_message = strdup(replay_message(player->replay));
	else if (r == 0 && report.cut)
		*ret_message = strdup(report.cut);
	if (r == 0 && report.cut)
		r = -EBADMSG;
	for (size_t i = 0; r == 0 && report.notes[i]; i++)
		log_notice("%s", report.notes[i]);
	return r;
}

static void take_events(const struct player *player, struct compared_side *side)
{
	size_t n;
	const struct event *events = replay_events(player->replay, &n);

	side->n_events = n;
	for (size_t i = 0; i < n; i++) {
		event_key(events, n, i, side->events[i].key);
		side->events[i].event = events[i];
		side->events[i].counters = player->totals[i];
		side->events[i].sampled = counters_samples(&player->totals[i]) > 0;
	}
}

static int read_samples(const struct player *player, const char *path, struct compared_side *side)
{
	const struct account_losses losses = account_totals_losses(player->account);
	_cleanup_free_ char *note = NULL;
	u32 all = 0;
	int r;

	r = account_losses_note(&losses, &note);
	if (r < 0)
		return r;
	if (note)
		log_notice("%s: %s", path, note);
	r = -ENODATA;
	if (!player->timed)
		log_notice(
			"the samples of %s have no times, so its figures have no bounds; record with perf mem record --timestamp",
			path);
	else if (!player->window)
		log_notice("%s has no samples, so nothing can be compared with it", path);
	else
		r = window_samples_of(player->window, UINT64_MAX, &all, 1, &side->samples);
	if (r == -ENODATA)
		compared_side_take_sums(side);
	return r == -ENODATA ? 0 : r;
}

static int read_side(const char *path, struct compared_side **ret, char **ret_message)
{
	_cleanup_(compared_side_freep) struct compared_side *side = calloc(1, sizeof(*side));
	_cleanup_(player_done) struct player player = {.timed = true};
	struct event_settings settings[EVENTS_MAX];
	const struct event *events;
	int r;

	if (!side)
		return -ENOMEM;
	r = replay_open(&path, 1, &player.replay, ret_message);
	if (r < 0)
		return r;
	events = replay_events(player.replay, &player.n_events);
	for (size_t i = 0; i < player.n_events; i++)
		settings[i] = events[i].settings;
	r = account_totals_new(settings, player.n_events, CGROUPS_MAX, &player.account);
	if (r == 0)
		r = play(&player, ret_message);
	if (r == 0)
		r = collect(&player, player.last_ns > player.now_ns ? player.last_ns : player.now_ns + 1);
	if (r < 0)
		return r;
	side->origin = "replay";
	side->seconds = (struct maybe_double){.known = player.timed && player.window,
					      .value = (double)(player.now_ns - player.start_ns) /
						       (double)NSEC_PER_SEC};
	take_events(&player, side);
	r = read_samples(&player, path, side);
	if (r == 0)
		*ret = TAKE_PTR(side);
	return r;
}

static int read_recording(const char *path, struct compared_side **ret, char **ret_message)
{
	int r = read_side(path, ret, ret_message);

	if (r >= 0 || r == -ENOMEM || *ret_message)
		return r;
	if (r != -ENOSPC && asprintf(ret_message, "cannot compare %s: %s", path, strerror(-r)) < 0)
		*ret_message = NULL;
	if (r == -ENOSPC &&
	    asprintf(
		    ret_message,
		    "cannot compare %s: it has more than %d cgroups or commands; record fewer, for example with --cgroup or --pid of perf",
		    path, CGROUPS_MAX) < 0)
		*ret_message = NULL;
	return r;
}

static json_object *file_member(const char *path)
{
	struct json_writer writer = {0};
	json_object *object = json_checked(&writer, json_object_new_object());

	json_put(&writer, object, "file", json_name(path));
	return json_finish(&writer, object);
}

int compare_recordings(const char *const paths[2], json_object **ret, char **ret_message)
{
	_cleanup_(compared_side_freep) struct compared_side *a = NULL, *b = NULL;
	int r;

	*ret_message = NULL;
	r = read_recording(paths[0], &a, ret_message);
	if (r == 0)
		r = read_recording(paths[1], &b, ret_message);
	if (r < 0)
		return r;
	*ret = json_compare(a, b, file_member(paths[0]), file_member(paths[1]));
	return *ret ? 0 : -ENOMEM;
}

static int print(json_object *reply, bool json)
{
	if (json) {
		(void)puts(json_object_to_json_string_ext(reply, JSON_C_TO_STRING_PLAIN |
									 JSON_C_TO_STRING_NOSLASHESCAPE));
	} else {
		struct format_style style;

		(void)setlocale(LC_CTYPE, "");
		style = style_of_output(STYLE_COLOUR_AUTO);
		format_compare(stdout, reply, &style);
	}
	/* If an earlier write failed, its reason is lost. */
	return fflush(stdout) != 0 ? -errno : ferror(stdout) ? -EIO : 0;
}

int compare_command(const struct options *options, struct failure *ret_failure)
{
	_cleanup_json_ json_object *reply = NULL;
	int r;

	*ret_failure = (struct failure){.code = EXIT_FAILED};
	r = compare_recordings(options->recordings, &reply, &ret_failure->message);
	if (r < 0) {
		if (r != -ENOMEM)
			ret_failure->code = EXIT_INPUT;
		return r;
	}
	r = print(reply, options->json);
	return r < 0 ? r : EXIT_DONE;
}

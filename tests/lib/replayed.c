// SPDX-License-Identifier: GPL-2.0
#include "replayed.h"

#include <criterion/criterion.h>

#include <stdlib.h>
#include <string.h>

struct replayed replayed;

static int take_name(void *userdata, u64 cgroup_id, const char *name)
{
	(void)userdata;
	if (replayed.name_error)
		return replayed.name_error;
	replayed.names = reallocarray(replayed.names, replayed.n_names + 1, sizeof(*replayed.names));
	if (!replayed.names)
		abort();
	replayed.names[replayed.n_names].id = cgroup_id;
	replayed.names[replayed.n_names++].text = name;
	return 0;
}

static int take_samples(void *userdata, const struct sample *samples, size_t n)
{
	(void)userdata;
	if (!n || n > INJECT_MAX)
		abort();
	replayed.samples = reallocarray(replayed.samples, replayed.n + n, sizeof(*samples));
	if (!replayed.samples)
		abort();
	memcpy(replayed.samples + replayed.n, samples, n * sizeof(*samples));
	replayed.n += n;
	for (size_t i = 0; i < n; i++)
		if (!replayed_name(samples[i].cgroup_id))
			abort();
	return 0;
}

struct replay_target replayed_target(void)
{
	return (struct replay_target){.name = take_name, .samples = take_samples};
}

const char *replayed_name(u64 cgroup_id)
{
	for (size_t i = 0; i < replayed.n_names; i++)
		if (replayed.names[i].id == cgroup_id)
			return replayed.names[i].text;
	return NULL;
}

const char *replayed_sample_name(size_t sample)
{
	cr_assert_lt(sample, replayed.n);
	return replayed_name(replayed.samples[sample].cgroup_id);
}

int replayed_all(size_t max_records)
{
	struct replay_target target = replayed_target();
	int r;

	do
		r = replay_step(replayed.replay, &target, max_records);
	while (r > 0);
	return r;
}

void replayed_run(struct replay *replay)
{
	replayed.replay = replay;
	cr_assert_eq(replayed_all(100), 0);
	replay_report(replay, &replayed.report);
}

void replayed_expect_note(size_t note, const char *part)
{
	const char *text = replayed.report.notes[note];

	if (part)
		cr_expect(text && strstr(text, part), "'%s' is not in note %zu: %s", part, note, text);
	else
		cr_expect_null(text, "note %zu: %s", note, text);
}

void replayed_clear(void)
{
	free(replayed.samples);
	free(replayed.names);
	replay_free(replayed.replay);
	replayed = (struct replayed){};
}

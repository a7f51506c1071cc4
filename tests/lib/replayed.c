// SPDX-License-Identifier: GPL-2.0
#include "replayed.h"

#include <criterion/criterion.h>

#include <stdlib.h>
#include <string.h>

static int take_name(void *userdata, u64 cgroup_id, const char *name)
{
	struct replayed *replayed = userdata;

	if (replayed->name_error)
		return replayed->name_error;
	replayed->names = reallocarray(replayed->names, replayed->n_names + 1, sizeof(*replayed->names));
	if (!replayed->names)
		abort();
	replayed->names[replayed->n_names].id = cgroup_id;
	replayed->names[replayed->n_names++].text = name;
	return 0;
}

static int take_samples(void *userdata, const struct sample *samples, size_t n)
{
	struct replayed *replayed = userdata;

	if (!n || n > INJECT_MAX)
		abort();
	replayed->samples = reallocarray(replayed->samples, replayed->n + n, sizeof(*samples));
	if (!replayed->samples)
		abort();
	memcpy(replayed->samples + replayed->n, samples, n * sizeof(*samples));
	replayed->n += n;
	for (size_t i = 0; i < n; i++)
		if (!replayed_name(replayed, samples[i].cgroup_id))
			abort();
	return 0;
}

struct replay_target replayed_target(struct replayed *replayed)
{
	return (struct replay_target){.name = take_name, .samples = take_samples, .userdata = replayed};
}

const char *replayed_name(const struct replayed *replayed, u64 cgroup_id)
{
	for (size_t i = 0; i < replayed->n_names; i++)
		if (replayed->names[i].id == cgroup_id)
			return replayed->names[i].text;
	return NULL;
}

const char *replayed_sample_name(const struct replayed *replayed, size_t sample)
{
	cr_assert_lt(sample, replayed->n);
	return replayed_name(replayed, replayed->samples[sample].cgroup_id);
}

int replayed_all(struct replayed *replayed, struct replay *replay, size_t max_records)
{
	struct replay_target target = replayed_target(replayed);
	int r;

	do
		r = replay_step(replay, &target, max_records);
	while (r > 0);
	return r;
}

void replayed_clear(struct replayed *replayed)
{
	free(replayed->samples);
	free(replayed->names);
	*replayed = (struct replayed){};
}

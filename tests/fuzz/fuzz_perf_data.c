// SPDX-License-Identifier: GPL-2.0
/* Any bytes as a recording, through the whole replay: no crash, no leak, and no sample out of bounds. */
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "origin/replay/replay.h"

int LLVMFuzzerTestOneInput(const u8 *bytes, size_t size);

struct counts {
	size_t n_events;
	u64 samples;
};

static void require(bool condition)
{
	if (!condition)
		abort();
}

static int take_name(void *userdata, u64 cgroup_id, const char *name)
{
	(void)userdata;
	require(cgroup_id && name[0] && strlen(name) < 65536);
	return 0;
}

static int take_samples(void *userdata, const struct sample *samples, size_t n)
{
	struct counts *counts = userdata;

	require(n && n <= INJECT_MAX);
	for (size_t i = 0; i < n; i++) {
		require(samples[i].event < counts->n_events && samples[i].cgroup_id);
		require(samples[i].latency || !(samples[i].fields & SAMPLE_LATENCY));
	}
	counts->samples += n;
	return 0;
}

static void replay_all(struct replay *replay, size_t size)
{
	struct counts counts = {};
	const struct replay_target target = {.name = take_name, .samples = take_samples, .userdata = &counts};
	struct replay_report report;
	int r;

	(void)replay_events(replay, &counts.n_events);
	require(counts.n_events && counts.n_events <= EVENTS_MAX);
	do
		r = replay_step(replay, &target, 64);
	while (r > 0);
	require(r == 0 || r == -EBADMSG);
	require(r == 0 || replay_message(replay));
	replay_report(replay, &report);
	require(report.samples == counts.samples && report.samples <= report.records);
	/* An uncompressed record takes at least 8 bytes. Compression can lower this, but not without limit. */
	require(report.records <= 65536 * size);
}

int LLVMFuzzerTestOneInput(const u8 *bytes, size_t size)
{
	static int fd = -1;
	struct replay *replay = NULL;
	const char *paths[1];
	char *message = NULL;
	char path[32];
	int r;

	if (fd < 0)
		fd = memfd_create("recording", MFD_CLOEXEC);
	if (fd < 0 || ftruncate(fd, 0) < 0 || pwrite(fd, bytes, size, 0) != (ssize_t)size)
		return -1;
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	paths[0] = path;
	r = replay_open(paths, 1, &replay, &message);
	require(r == 0 || (r == -EBADMSG && message));
	if (r == 0)
		replay_all(replay, size);
	replay_free(replay);
	free(message);
	return 0;
}

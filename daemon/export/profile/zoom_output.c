// SPDX-License-Identifier: GPL-2.0
#include "export/profile/zoom_output.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "export/json/json_zoom.h"
#include "profile/hidden_names.h"
#include "profile/perf_data_host.h"
#include "profile/pprof.h"

#define PROC_ROOT  "/proc"
#define SYSFS_ROOT "/sys"
#define COMMENTS   4

static const char *const names[ZOOM_FORMATS] = {
	[ZOOM_PPROF] = "pprof",
	[ZOOM_FOLDED] = "folded",
	[ZOOM_FOLDED_LATENCY] = "folded-latency",
	[ZOOM_PERF_DATA] = "perf.data",
};

const char *zoom_format_name(enum zoom_format format)
{
	return names[format];
}

int zoom_format_parse(const char *name, enum zoom_format *ret)
{
	for (size_t i = 0; i < ZOOM_FORMATS; i++)
		if (strcmp(name, names[i]) == 0) {
			*ret = (enum zoom_format)i;
			return 0;
		}
	return -EINVAL;
}

/*
 * Makes the comments that people need if they have only the file. `texts` ends with NULL. The caller frees
 * each text, also on error.
 */
static int make_comments(const struct zoom *zoom, char *texts[static COMMENTS + 1])
{
	const struct zoom_about *about = zoom_recording_about_const(zoom->recording);
	struct profile_totals totals;
	size_t n = 0;

	profile_totals(zoom->profile, &totals);
	if (asprintf(&texts[n++], "why: %s", zoom->reason) < 0 ||
	    asprintf(
		    &texts[n++],
		    "samples: %llu taken; %llu left out by the limit of %u a second; %llu lost; %llu dropped for lack of memory",
		    (unsigned long long)totals.samples, (unsigned long long)about->counts.limited,
		    about->rate, (unsigned long long)about->counts.lost,
		    (unsigned long long)totals.dropped) < 0 ||
	    asprintf(&texts[n++], "stacks: by %s; %llu of %llu user stacks end early",
		     about->lbr ? "the LBR's call stack and frame pointers" : "frame pointers",
		     (unsigned long long)totals.early, (unsigned long long)totals.user_stacks) < 0 ||
	    (zoom->note && asprintf(&texts[n++], "note: %s", zoom->note) < 0)) {
		texts[n - 1] = NULL;
		return -ENOMEM;
	}
	return 0;
}

static int write_stacks(const struct zoom *zoom, enum zoom_format format, const struct profile_names *frames,
			const struct profile_about *of, u8 **ret, size_t *ret_size)
{
	char *text;
	int r;

	if (format == ZOOM_PPROF)
		return pprof_write(zoom->profile, frames, of, ret, ret_size);
	r = folded_write(zoom->profile, frames, of, format == ZOOM_FOLDED_LATENCY, &text, ret_size);
	if (r >= 0)
		*ret = (u8 *)text;
	return r;
}

static int write_profile(const struct zoom *zoom, enum zoom_format format, bool kernel_addresses, u8 **ret,
			 size_t *ret_size)
{
	const struct zoom_about *about = zoom_recording_about_const(zoom->recording);
	char *comments[COMMENTS + 1] = {NULL};
	const struct profile_about of = {
		.cgroup = about->cgroup,
		.origin = about->origin,
		.began_real_ns = about->began_real_ns,
		.duration_ns = about->ended_ns > about->began_ns ? about->ended_ns - about->began_ns : 0,
		.period = zoom->period,
		.event = event_role_name(about->n_events ? about->events[0].role : EVENT_LOADS),
		.comments = (const char *const *)comments,
		/* A location of pprof has an address besides its name, so it needs kernel_addresses. */
		.kernel_names = kernel_addresses || format != ZOOM_PPROF,
	};
	struct profile_names frames = zoom->names;
	struct hidden_names hidden;
	int r = make_comments(zoom, comments);

	if (!kernel_addresses)
		frames = hidden_names(&hidden, &zoom->names);
	if (r >= 0)
		r = write_stacks(zoom, format, &frames, &of, ret, ret_size);
	for (size_t i = 0; i < COMMENTS; i++)
		free(comments[i]);
	return r;
}

static int write_perf_data(const struct zoom *zoom, u8 **ret, size_t *ret_size)
{
	_cleanup_(perf_data_machine_freep) struct perf_data_machine *machine = NULL;
	int r = perf_data_machine_new(PROC_ROOT, SYSFS_ROOT, "pebsd", &machine);

	if (r < 0)
		return r;
	if (!machine->host.kernel_start)
		machine->host.kernel_start = zoom->kernel_start;
	return perf_data_write(zoom->recording, &machine->host, ret, ret_size);
}

int zoom_output(const struct zoom *zoom, enum zoom_format format, bool kernel_addresses, u8 **ret,
		size_t *ret_size)
{
	if (format == ZOOM_FOLDED_LATENCY &&
	    !json_zoom_has_latency(zoom_recording_about_const(zoom->recording)))
		return -ENODATA;
	if (format == ZOOM_PERF_DATA)
		return write_perf_data(zoom, ret, ret_size);
	return write_profile(zoom, format, kernel_addresses, ret, ret_size);
}

// SPDX-License-Identifier: GPL-2.0
/*
 * For the origin `model`: a zoom's source. It passes on the samples of one workload with the stacks of its
 * program, which exist only in the model, and limits their rate as the kernel does for a real zoom. Pure, apart
 * from the clock.
 */
#ifndef PEBSD_SAMPLING_MODEL_ZOOM_H
#define PEBSD_SAMPLING_MODEL_ZOOM_H

#include "origin/model/computer.h"
#include "zoom/zoom_source.h"

/* Maximum samples between two drains. Further ones count as lost. */
#define MODEL_ZOOM_SAMPLES 16384

/*
 * The pid of a workload is MODEL_ZOOM_PID plus 100 times its number, and each thread's tid the pid plus its number.
 * These are below the kernel's PID_MAX_LIMIT (4,194,304) and above the pids that a machine usually has.
 */
#define MODEL_ZOOM_PID 4000000U

/* The physical memory of the model's node N begins at N + 1 times this. */
#define MODEL_ZOOM_NODE_BYTES (1ULL << 40)

struct model_zoom_settings {
	enum workload_kind workload;
	u64 cgroup_id;
	u32 rate;                       /* samples a second, above 0 */
	struct event event;             /* of the loads */
	u64 config;                     /* the event as the CPU's registers select it */
	const struct zoom_nodes *nodes; /* outlive the zoom; NULL: none */
	u64 now_ns;
	/* Called when the zoom is stopped, to deliver samples that wait in buffers. May be NULL. */
	void (*flush)(void *userdata);
	void *userdata;
};

struct model_zoom;

/* Returns 0 or -ENOMEM. */
int model_zoom_new(const struct model_zoom_settings *settings, struct model_zoom **ret);
struct model_zoom *model_zoom_free(struct model_zoom *zoom);
DEFINE_CLEANUP(struct model_zoom *, model_zoom_free)

/* Returns the zoom as a source, whose drain takes the time from the clock, and the zoom of such a source. */
struct zoom_source *model_zoom_source(struct model_zoom *zoom);
struct model_zoom *model_zoom_of(struct zoom_source *source);

/* Adds a sample of loads that the thread took on the CPU. Ignores samples of other cgroups. */
void model_zoom_take(struct model_zoom *zoom, const struct sample *sample, u32 cpu,
		     const struct computer_thread *thread);

/*
 * As drain in struct zoom_source_methods. A modelled CPU delivers its samples in batches, without times. Those of
 * each CPU are therefore spread over the time since the last drain.
 */
int model_zoom_drain(struct model_zoom *zoom, u64 now_ns,
		     int (*callback)(void *userdata, const struct zoom_record *record), void *userdata);

#endif

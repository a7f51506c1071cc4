// SPDX-License-Identifier: GPL-2.0
/*
 * The zooms of a running daemon: which cgroups are sampled in detail, until when, and the results of zooms
 * that have ended. Runs in the event loop. A zoom ends by itself. Its results are kept for ZOOM_KEPT_NS, or
 * until a new zoom needs the place. Memory is bounded by ZOOMS_KEPT_MAX * (ZOOM_RECORDING_BYTES +
 * PROFILE_BYTES_MAX), besides the rings of running zooms.
 */
#ifndef PEBSD_ZOOMS_H
#define PEBSD_ZOOMS_H

#include <systemd/sd-event.h>

#include "profile/profile.h"
#include "profile/profile_report.h"
#include "symbols/symbols.h"
#include "zoom/zoom_recording.h"
#include "zoom/zoom_source.h"

#define ZOOM_SECONDS_DEFAULT 30.0
#define ZOOM_SECONDS_MAX     3600.0
#define ZOOM_RATE_DEFAULT    1000 /* samples a second */
#define ZOOM_RATE_MAX        20000
#define ZOOMS_RUNNING_MAX    4
#define ZOOMS_KEPT_MAX       8
#define ZOOM_KEPT_NS         (3600 * NSEC_PER_SEC)
#define ZOOM_RECORDING_BYTES (32U << 20)

enum zoom_state { ZOOM_RUNNING, ZOOM_NAMING, ZOOM_DONE };

/* One zoom. The zooms own it. It is valid until control returns to the event loop. */
struct zoom {
	u64 id;                /* from 1 on */
	enum zoom_state state; /* NAMING: sampling ended, names are still being resolved (some seconds) */
	double seconds;        /* from the beginning to the requested end */
	char *reason;          /* "asked for by uid 0", "rule NAME, alert 17", "asked for over HTTP" */
	/*
	 * An unusual fact about the zoom, for display: "the always-on sampling of loads on PMU cpu is paused
	 * ...", "the cgroup was removed, which ended the zoom". NULL: nothing is unusual.
	 */
	char *note;
	struct zoom_recording *recording;
	struct profile *profile;
	struct profile_names names;
	u64 period;                     /* of the first event when the zoom began; 0: not known */
	u64 kernel_start;               /* address of _text; 0: not known */
	const struct zoom_nodes *nodes; /* of the samples; NULL: those of this machine */
};

struct zooms;

/* The source of the samples. */
struct zooms_origin {
	const char *name; /* "perf": a constant */
	/*
	 * Opens the source of a zoom of the cgroup at `path`. Returns 0 and the source, which the caller
	 * owns. `ret_note` is then a note to display, or NULL, and the caller frees it. Returns -ENOENT,
	 * -EOPNOTSUPP or another -errno with `ret_message` set. If `open` and `close` are NULL, this origin
	 * has no tasks, and no zoom can begin.
	 */
	int (*open)(void *userdata, const char *path, u32 rate, struct zoom_source **ret, char **ret_note,
		    char **ret_message);
	/* Frees the source, and resumes the always-on events that were paused for it. */
	void (*close)(void *userdata, struct zoom_source *source);
	/*
	 * Names an address, or returns NULL if it has no name. Set if the sampled processes are not those of this
	 * machine: then nothing is read of them, and the symbolizer is not asked.
	 */
	const struct symbol *(*name_address)(void *userdata, const struct symbol_query *query);
	void *userdata;
};

struct zooms_settings {
	sd_event *event; /* not owned; neither are the symbols */
	struct zooms_origin origin;
	struct symbols *symbols;
	const char *socket; /* same as in symbols_settings; outlives the zooms */
	/* Called when a zoom begins, and with `over` set when it ends. May be NULL. */
	void (*changed)(void *userdata, const struct zoom *zoom, bool over);
	void *userdata;
};

int zooms_new(const struct zooms_settings *settings, struct zooms **ret);
struct zooms *zooms_free(struct zooms *zooms);
DEFINE_CLEANUP(struct zooms *, zooms_free)

struct zoom_request {
	const char *path;
	double seconds; /* above 0, at most ZOOM_SECONDS_MAX */
	u32 rate;       /* 0: ZOOM_RATE_DEFAULT */
	const char *reason;
};

/*
 * Begins a zoom. If a zoom of this cgroup is running, makes it run for at least `seconds` from now instead.
 * If the cgroup of the running zoom was removed, that zoom ends and a new one begins for the cgroup that has
 * its path now.
 *
 * Returns 0 and the zoom's id. -ENOENT: no such cgroup. -EBUSY: ZOOMS_RUNNING_MAX zooms are running.
 * -EOPNOTSUPP: this origin or kernel cannot zoom. -EINVAL: `seconds` or `rate` is out of range. Other -errno.
 * `ret_message` then says what failed and why, or is NULL. The caller frees it.
 */
int zooms_begin(struct zooms *zooms, const struct zoom_request *request, u64 *ret_id, char **ret_message);

/* Ends a running zoom now. Returns whether it was running. */
bool zooms_end(struct zooms *zooms, u64 id);

/* Finds the newest zoom of a cgroup, or a zoom by its id. Returns NULL if there is none. */
const struct zoom *zooms_find(struct zooms *zooms, const char *path);
/* Finds the newest zoom of a cgroup that is done. Returns NULL if there is none. */
const struct zoom *zooms_find_done(struct zooms *zooms, const char *path);
const struct zoom *zooms_get(struct zooms *zooms, u64 id);

/* Iterates over all zooms, newest first: `i` counts from 0. Returns NULL at the end. */
const struct zoom *zooms_nth(struct zooms *zooms, size_t i);

/* Ends all running zooms now. A pause does this, to free their counters for other tools. */
void zooms_end_all(struct zooms *zooms);

struct zooms_counts {
	size_t running, held;              /* `held` includes `running` */
	u64 bytes;                         /* recordings, profiles, rings */
	u64 taken, limited, lost, dropped; /* since the start: samples, in `lost` also other records */
};
void zooms_get_counts(const struct zooms *zooms, struct zooms_counts *ret);

#endif

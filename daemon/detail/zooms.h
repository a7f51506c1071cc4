// SPDX-License-Identifier: GPL-2.0
/*
 * The zooms of a running daemon: who is looked at closely now, until when, and what came of those that are
 * over. In the event loop. A zoom ends by itself; what it took is kept for ZOOM_KEPT_NS, or until it has to
 * make room: at most ZOOMS_KEPT_MAX times ZOOM_RECORDING_BYTES and PROFILE_BYTES_MAX of memory.
 */
#ifndef PEBSD_ZOOMS_H
#define PEBSD_ZOOMS_H

#include <systemd/sd-event.h>

#include "profile/profile.h"
#include "profile/profile_report.h"
#include "symbols/symbols.h"
#include "zoom/zoom_recording.h"

#define ZOOM_SECONDS_DEFAULT 30.0
#define ZOOM_SECONDS_MAX     3600.0
#define ZOOM_RATE_DEFAULT    1000 /* samples a second */
#define ZOOM_RATE_MAX        20000
#define ZOOMS_RUNNING_MAX    4
#define ZOOMS_KEPT_MAX       8
#define ZOOM_KEPT_NS         (3600 * NSEC_PER_SEC)
#define ZOOM_RECORDING_BYTES (32U << 20)

enum zoom_state { ZOOM_RUNNING, ZOOM_NAMING, ZOOM_DONE };

/* One zoom. The zooms', valid until control returns to the event loop. */
struct zoom {
	u64 id;                /* from 1 on */
	enum zoom_state state; /* NAMING: no more samples, and symbols are under way (some seconds at most) */
	double seconds;        /* asked for */
	char *reason;          /* "asked for by uid 0", "rule NAME, alert 17", "HTTP" */
	char *note; /* what is odd, to be shown: "the always-on event loads of cpu is paused for it", "the
		     * cgroup was removed, which ended it"; NULL */
	struct zoom_recording *recording;
	struct profile *profile;
	struct profile_names names;
	u64 period;       /* of its event, in force when it began; 0: not known */
	u64 kernel_start; /* address of _text; 0: not known */
};

struct zooms;

/* Where the samples come from. */
struct zooms_origin {
	const char *name; /* "perf": a constant */
	/*
	 * Opens the events of a zoom of the cgroup of a path. 0 with the events, the caller's, and in
	 * `ret_note` (the caller's; NULL: nothing) what is to be known of it; -ENOENT, -EOPNOTSUPP, -errno
	 * with `ret_message`. NULL in the place of the functions: this origin has no tasks to look at.
	 */
	int (*open)(void *userdata, const char *path, u32 rate, struct zoom_events **ret, char **ret_note,
		    char **ret_message);
	/* Frees them, and puts back what was paused for them. */
	void (*close)(void *userdata, struct zoom_events *events);
	void *userdata;
};

struct zooms_settings {
	sd_event *event; /* not owned, nor are the symbols */
	struct zooms_origin origin;
	struct symbols *symbols;
	const char *socket; /* as that of the symbols; outlives them all */
	/* Told when one begins or is over. May be NULL. */
	void (*changed)(void *userdata, const struct zoom *zoom, bool over);
	void *userdata;
};

int zooms_new(const struct zooms_settings *settings, struct zooms **ret);
struct zooms *zooms_free(struct zooms *zooms);
DEFINE_CLEANUP(struct zooms *, zooms_free)

struct zoom_wish {
	const char *path;
	double seconds; /* above 0, at most ZOOM_SECONDS_MAX */
	u32 rate;       /* 0: ZOOM_RATE_DEFAULT */
	const char *reason;
};

/*
 * Begins a zoom, or makes the one of this cgroup that is running go on for so long from now; one whose cgroup
 * was removed ends, and another is begun of the cgroup that has its path now. Returns 0 and
 * its id; -ENOENT: no such cgroup; -EBUSY: ZOOMS_RUNNING_MAX run; -EOPNOTSUPP: this origin (or kernel) can
 * not; -errno. `ret_message` then says what and why, the caller's.
 */
int zooms_begin(struct zooms *zooms, const struct zoom_wish *wish, u64 *ret_id, char **ret_message);

/* Ends a running one now. Whether it ran. */
bool zooms_end(struct zooms *zooms, u64 id);

/* The newest of a cgroup that holds something; NULL. By its id; NULL. */
const struct zoom *zooms_find(struct zooms *zooms, const char *path);
const struct zoom *zooms_get(struct zooms *zooms, u64 id);

/* All that are held, newest first: `i` from 0; NULL at the end. */
const struct zoom *zooms_nth(struct zooms *zooms, size_t i);

/* All that run end now: their counters are wanted for something else. */
void zooms_end_all(struct zooms *zooms);

struct zoom_figures {
	size_t running, held;              /* held: those that run among them */
	u64 bytes;                         /* recordings, profiles, rings */
	u64 taken, limited, lost, dropped; /* samples since the start */
};
void zooms_figures(const struct zooms *zooms, struct zoom_figures *ret);

#endif

// SPDX-License-Identifier: GPL-2.0
/* What pebsctl can be asked to do. */
#ifndef PEBSD_CTL_VERBS_H
#define PEBSD_CTL_VERBS_H

#include <stdbool.h>

#include "ctl/exit.h"
#include "pebsd/types.h"

#define VERB_SOCKET "/run/pebsd/control.sock"

enum window_kind {
	WINDOW_DEFAULT, /* text: 10 s, of a replay all; JSON: all */
	WINDOW_ALL,
	WINDOW_SECONDS,
};

struct options {
	const char *socket;
	const char *sort;   /* NULL: the daemon's default */
	const char *output; /* NULL: not said */
	const char *filter; /* NULL: none */
	u64 depth;
	u64 limit;
	u64 rate; /* samples a second */
	double window_seconds;
	double for_seconds;
	enum window_kind window;
	bool json;
	bool has_limit, has_rate, has_for, has_depth;
	bool no_wait, last, stop;
	bool folded, latency, perf_data;
};

/* Of sums. No path has so many names. */
#define VERB_DEPTH_MAX 99

/* The most that the daemon takes (zooms.h, snapshot_view.h). */
#define VERB_FILTER_MAX       247
#define VERB_RATE_MAX         20000
#define VERB_ZOOM_SECONDS_MAX 3600

/* Each takes its arguments, as many as it wants and NULL after them, and reports its own failures. */
typedef enum ctl_exit (*verb_function)(const struct options *options, char *const *arguments);

enum ctl_exit verb_status(const struct options *options, char *const *arguments);
enum ctl_exit verb_top(const struct options *options, char *const *arguments);
enum ctl_exit verb_show(const struct options *options, char *const *arguments);
enum ctl_exit verb_hot(const struct options *options, char *const *arguments);
enum ctl_exit verb_zoom(const struct options *options, char *const *arguments);
enum ctl_exit verb_profile(const struct options *options, char *const *arguments);
enum ctl_exit verb_rules(const struct options *options, char *const *arguments);
enum ctl_exit verb_alerts(const struct options *options, char *const *arguments);
enum ctl_exit verb_explain(const struct options *options, char *const *arguments);
enum ctl_exit verb_neighbours(const struct options *options, char *const *arguments);
enum ctl_exit verb_watch(const struct options *options, char *const *arguments);
enum ctl_exit verb_pause(const struct options *options, char *const *arguments);
enum ctl_exit verb_resume(const struct options *options, char *const *arguments);
enum ctl_exit verb_reload(const struct options *options, char *const *arguments);

#endif

// SPDX-License-Identifier: GPL-2.0
/*
 * A snapshot as JSON, for `pebsctl --json`, `pebsd --once --json` and the control socket. Pure functions.
 * Within one JSON_VERSION fields are only added. Values that were not measured are absent. The types are
 * defined in io.pebsd.varlink. Names are in their shown form (base/utf8.h). Each function that returns an
 * object returns a new one that the caller owns, or NULL if memory runs out.
 */
#ifndef PEBSD_EXPORT_JSON_H
#define PEBSD_EXPORT_JSON_H

#include <json-c/json.h>

#include "cgroup/short_names.h"
#include "export/json/json_writer.h"
#include "machine/resctrl.h"
#include "snapshot/snapshot.h"

/* The sums over all cgroups, and each cgroup. */
json_object *json_top(const struct snapshot *snapshot);

struct past;

/* Receives the text in parts, without a NUL. A result other than 0 ends the output. */
typedef int (*json_sink)(const char *text, size_t length, void *userdata);

/* The bins of a trend over the last hour or a range of the past. */
struct json_trend {
	size_t bins; /* 1 to TREND_BINS_MAX; 0: no trend */
	u64 bin_ns;
	u64 end_ns; /* see struct trend_bins */
};

/* Optional parts of a reply. */
struct json_more {
	struct json_trend trend;
	bool matching;   /* adds the number of all cgroups, even if not all are in the reply */
	bool histograms; /* each cgroup has the histograms of json_cgroup() */
	bool public; /* for everybody (json_public.h): adds times; no ids, recordings and notes, and only `labels` */
	unsigned int labels;       /* bits 1 << enum container_label: labels that are public */
	struct short_names *names; /* each cgroup has the member "name"; NULL: none has it */
	/*
	 * With `public`: the text of the cgroups may have this many bytes; 0: no limit. Cgroups beyond the limit are
	 * left out, and `unlisted` is their number plus `others`.
	 */
	size_t bytes_max;
	size_t others;          /* cgroups that are not among the arguments */
	struct json_page *page; /* the argument `cgroups` begins at its `first`; NULL: no paging */
	const struct past
		*past; /* the snapshot is of this past: adds json_put_past(); NULL: it shows the present */
	bool past_open;
};

/*
 * Writes the text of json_top() with only the `n` cgroups whose indexes are in `cgroups`, in that order (NULL: the
 * snapshot's order), as json-c writes it with `flags`, which must not add spaces. It builds one cgroup at a time, so it
 * needs memory for only one. `more` NULL: no optional part. Returns 0; the result of the sink if that is not 0; or
 * -ENOMEM. On error the text is incomplete.
 */
int json_write_top(const struct snapshot *snapshot, const size_t *cgroups, size_t n,
		   const struct json_more *more, int flags, json_sink sink, void *userdata);

/* One cgroup with its histograms, and with its trend unless `trend` is NULL. */
json_object *json_cgroup(const struct snapshot *snapshot, size_t index, const struct json_trend *trend);

/* Same as json_cgroup(), for a cgroup that has no sample in the snapshot: its `events` are empty. */
json_object *json_cgroup_without_samples(const struct snapshot *snapshot, const char *path, u64 id,
					 bool alive);

/* Same as json_cgroup_without_samples(), for the sum of a subtree. */
json_object *json_subtree_without_samples(const struct snapshot *snapshot, const char *path,
					  u64 without_slot);

/* The events and how they are sampled, the lost samples, and the state of the daemon itself. */
json_object *json_status(const struct snapshot *snapshot);

/* The same for the past: the events and how they were sampled. The daemon's own state is not stored. */
json_object *json_status_of_past(const struct past *past);

/* Adds "bandwidth" to the reply of GetStatus, which it takes and returns. NULL: no memory. */
json_object *json_add_bandwidth(json_object *status, const struct resctrl_rates *rates);

/* The part of json_status() about the configuration in force. */
json_object *json_config(const struct snapshot *snapshot);

#endif

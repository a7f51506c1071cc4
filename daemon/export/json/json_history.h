// SPDX-License-Identifier: GPL-2.0
/*
 * The history of a cgroup or of all cgroups in bins, as JSON with the conventions of json.h: the reply of GetHistory.
 * Pure.
 */
#ifndef PEBSD_EXPORT_JSON_HISTORY_H
#define PEBSD_EXPORT_JSON_HISTORY_H

#include <json-c/json.h>

#include "export/json/json_writer.h"
#include "history/past.h"

struct json_history {
	const struct past *past; /* in `bins` x `parts` panes at most */
	struct past_span range; /* which the bins divide, as it was asked for: past_range() may end earlier */
	u32 bins;
	u32 parts;         /* of a bin: from BURSTS_COLLECTIONS_MIN on the figures have bounds */
	const char *shown; /* the cgroup in its shown form; NULL: all cgroups */
	bool subtree;      /* the sum of the cgroup and everything below it */
	bool histograms;
	bool open; /* see json_put_past() */
};

/*
 * The number of parts into which each of `bins` bins of a range is divided, so that its figures have bounds; 1 if the
 * bins are too many or too short for that. `of_all`: the bins are sums of all cgroups, so a part of a long range should
 * be a long span, of which fewer are read.
 */
u32 json_history_parts(u64 range_us, u32 bins, bool of_all);

/*
 * The bins that have figures, from the page's first one on. A bin without a pane is left out. Returns a new object that
 * the caller owns, or NULL if memory runs out.
 */
json_object *json_history(const struct json_history *history, struct json_page *page);

#endif

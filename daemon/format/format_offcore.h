// SPDX-License-Identifier: GPL-2.0
/* What was counted of off-core responses: a table beside the sampled shares, and how the counting does. Pure.
 */
#ifndef PEBSD_FORMAT_OFFCORE_H
#define PEBSD_FORMAT_OFFCORE_H

#include "format/line.h"

/*
 * Of the replies of GetStatus and GetCgroup: for each PMU what was counted, and the shares of its sampled
 * loads beside it. Both shares are of what the rows have; what the PMU does not count has none.
 */
void format_offcore(FILE *out, const struct format_style *style, json_object *status, json_object *cgroup);

/* Of a reply of GetStatus: how much is read, what it costs, or why nothing is counted. */
void format_offcore_status(FILE *out, const struct format_style *style, json_object *status);

#endif

// SPDX-License-Identifier: GPL-2.0
/*
 * The counts of off-core responses: a table next to the sampled shares, and the state of the counting. Pure
 * functions.
 */
#ifndef PEBSD_FORMAT_OFFCORE_H
#define PEBSD_FORMAT_OFFCORE_H

#include "format/line.h"

/*
 * For each PMU prints the counts and their shares, and next to them the shares of its sampled loads, from the
 * replies of GetStatus and GetCgroup. Both kinds of shares relate to the rows of the table only. A source that the PMU
 * does not count has no row.
 */
void format_offcore(FILE *out, const struct format_style *style, json_object *status, json_object *cgroup);

/*
 * Prints how often counters are read and the cost of reading, or why nothing is counted, from a reply of
 * GetStatus.
 */
void format_offcore_status(FILE *out, const struct format_style *style, json_object *status);

#endif

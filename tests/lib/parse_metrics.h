// SPDX-License-Identifier: GPL-2.0
/* A strict parser of exposed metrics, for tests. It refuses errors that a lenient scraper accepts. */
#ifndef PEBSD_PARSE_METRICS_H
#define PEBSD_PARSE_METRICS_H

#include <stdbool.h>
#include <stddef.h>

struct parsed_metric {
	char *series; /* name and labels as written: up{job="x"} */
	char *value;
};

struct metrics {
	struct parsed_metric *list;
	size_t n;
};

/*
 * Parses `text` (text format 0.0.4, or OpenMetrics 1.0). Returns NULL, or writes the first mistake and its
 * line to `mistake` and returns it. Free `ret` with metrics_free() in both cases. Mistakes are:
 * - families that are not contiguous, or lack HELP or TYPE
 * - names that do not match their type
 * - bad labels, escapes or UTF-8
 * - duplicate series, and values that are not numbers
 * - histograms whose buckets decrease, or do not end in +Inf with the count
 * - a wrong end
 */
const char *metrics_parse(const char *text, bool openmetrics, struct metrics *ret, char mistake[256]);
void metrics_free(struct metrics *metrics);

/* Returns the value of a series as written, or NULL if there is none. */
const char *metrics_value(const struct metrics *metrics, const char *series);

#endif

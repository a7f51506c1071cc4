// SPDX-License-Identifier: GPL-2.0
/* A strict reader of exposed metrics, for tests: it refuses what a lenient scraper would swallow. */
#ifndef PEBSD_PARSE_METRICS_H
#define PEBSD_PARSE_METRICS_H

#include <stdbool.h>
#include <stddef.h>

struct parsed_metric {
	char *series; /* name and labels as they stand: up{job="x"} */
	char *value;
};

struct metrics {
	struct parsed_metric *list;
	size_t n;
};

/*
 * Reads `text` (text format 0.0.4, or OpenMetrics 1.0). Returns NULL, or the first mistake and its line in
 * `mistake`: families that are not in one piece or lack HELP or TYPE, names that do not go with their type,
 * bad labels, escapes or UTF-8, series that are there twice, values that are no numbers, histograms whose
 * buckets fall or do not end in +Inf and the count, an end that is none. Free with metrics_free() in both
 * cases.
 */
const char *metrics_parse(const char *text, bool openmetrics, struct metrics *ret, char mistake[256]);
void metrics_free(struct metrics *metrics);

/* The value of a series, as it stands; NULL where there is none. */
const char *metrics_value(const struct metrics *metrics, const char *series);

#endif

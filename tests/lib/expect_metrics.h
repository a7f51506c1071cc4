// SPDX-License-Identifier: GPL-2.0
/* Expectations about exposed metrics. */
#ifndef PEBSD_EXPECT_METRICS_H
#define PEBSD_EXPECT_METRICS_H

#include <stdbool.h>
#include <stddef.h>

/* Reads the text with the strict parser (parse_metrics.h), in place of the text before. A mistake fails the test. */
void metrics_read(const char *text, bool openmetrics);

/* Expects that the text read last has this series with this value. NULL: it does not have the series. */
void metrics_expect(const char *series, const char *value);

/* Returns the number of its series that begin like this. */
size_t metrics_count(const char *beginning);

/*
 * Expects that Prometheus's own tool accepts the text format. The tool reports to standard error, and fails also for
 * remarks that are not errors. Skips the test if it is not installed.
 */
void metrics_expect_accepted(const char *text);

#endif

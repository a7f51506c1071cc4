// SPDX-License-Identifier: GPL-2.0
/*
 * Latencies in nanoseconds: limits of rules that are given in them, and texts that show them beside cycles. A
 * frequency of 0 is not known. Pure.
 */
#ifndef PEBSD_NANOSECONDS_H
#define PEBSD_NANOSECONDS_H

#include "policy/alert.h"
#include "rule/quantity.h"

/* Returns whether `text` has the form of a time that a limit may have: "100ns", "1.5us". */
bool nanoseconds_is_time(const char *text);

/* Returns whether limits of the metric may be times: it is a latency, and not a ratio. */
bool nanoseconds_of_metric(const struct metric *metric);

/*
 * Same as metric_parse_threshold(), but for latencies `text` may also be a time, which is converted to cycles at
 * `hz`. `*ret_time` says whether it was one. Returns -ENODATA if it is one and the frequency is not known.
 */
int nanoseconds_parse_threshold(const struct metric *metric, const char *text, double hz, double *ret,
				bool *ret_time);

/* Writes " (351 ns)", or "" if the metric is not a latency in cycles, or the frequency is not known. */
#define NANOSECONDS_TEXT_MAX 160
void nanoseconds_beside(const struct metric *metric, double cycles, double hz,
			char ret[NANOSECONDS_TEXT_MAX]);

/* The same with the frequency: " (about 351 ns at 2.6 GHz, the nominal frequency)". */
void nanoseconds_first(const struct metric *metric, double cycles, double hz, char ret[NANOSECONDS_TEXT_MAX]);

/* The frequency for texts about an alert, in Hz: that of the event's cores, else that of the rule's limits, else 0. */
double nanoseconds_hz(const struct alert *alert);

/* Writes a limit that was given as a time: "100 ns (260 cycles at 2.6 GHz, the nominal frequency)". */
void nanoseconds_limit(double cycles, double hz, char ret[NANOSECONDS_TEXT_MAX]);

#endif

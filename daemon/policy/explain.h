// SPDX-License-Identifier: GPL-2.0
/* Explains an alert in sentences, and says what would change its verdict. Pure. */
#ifndef PEBSD_EXPLAIN_H
#define PEBSD_EXPLAIN_H

#include "policy/alert.h"

/*
 * Makes a NULL-terminated list of sentences about `alert`, for example "a breach is proven when at least 34
 * of 2,000 latencies are above 896 cycles; 21 are". Returns 0 or -ENOMEM. The caller frees the list with
 * explain_free().
 */
int explain(const struct alert *alert, char ***ret);
char **explain_free(char **sentences);

/*
 * Returns whether another cgroup may be the cause: the alert judges a latency of loads, or waiting for memory, and its
 * cgroup is still judged.
 */
bool explain_asks_neighbours(const struct alert *alert);

/* The same for a metric alone. `loads`: it is computed from loads, or implies its events (metric_events()). */
bool explain_metric_asks_neighbours(const struct metric *metric, bool loads);

#endif

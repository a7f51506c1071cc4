// SPDX-License-Identifier: GPL-2.0
/* Whose turn it is among names that come and go. Pure. */
#ifndef PEBSD_ALERTS_TURN_H
#define PEBSD_ALERTS_TURN_H

#include <stddef.h>

/*
 * Leaves the next names after `last` (NULL: none so far), at most `max` and each once, at the begin of the
 * list and returns how many. The order is that of their bytes, the first following on the last: it is the
 * same where `last` is no longer among them. The list is put in another order.
 */
size_t alerts_turn(const char **names, size_t n, const char *last, size_t max);

#endif

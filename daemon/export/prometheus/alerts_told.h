// SPDX-License-Identifier: GPL-2.0
/* Which alerts everybody is told of who can connect to HTTP: in /metrics, and on the page. Pure. */
#ifndef PEBSD_ALERTS_TOLD_H
#define PEBSD_ALERTS_TOLD_H

#include "policy/alert.h"

struct alerts_told {
	const struct alert **list; /* by rule, then by cgroup; its alerts are borrowed */
	size_t n;
	size_t unlisted; /* that are beyond the most */
};

/*
 * Those that fire or are pending, but for dry runs. Of one rule's alerts on a cgroup's several events the
 * firing one counts. Of more than `max` the firing ones go before the pending ones, and the earlier before
 * the later. 0 or -ENOMEM; in any case alerts_told_done() frees it.
 */
int alerts_told(const struct alert *alerts, size_t n, size_t max, struct alerts_told *ret);
void alerts_told_done(struct alerts_told *told);

#endif

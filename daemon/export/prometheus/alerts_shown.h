// SPDX-License-Identifier: GPL-2.0
/* Selects the alerts that /metrics and the page at / show to every HTTP client. Pure functions. */
#ifndef PEBSD_ALERTS_SHOWN_H
#define PEBSD_ALERTS_SHOWN_H

#include "policy/alert.h"

struct alerts_shown {
	const struct alert **list; /* by rule, then by cgroup; the alerts are borrowed */
	size_t n;
	size_t unlisted; /* alerts beyond `max` */
};

/*
 * Selects the firing and pending alerts, without those of dry runs. If a rule has alerts on several events of
 * one cgroup, one of them is taken, a firing one first. If there are more than `max`, firing ones are
 * preferred to pending ones, and earlier ones to later ones. Returns 0 or -ENOMEM; the caller calls
 * alerts_shown_done() in both cases.
 */
int alerts_shown(const struct alert *alerts, size_t n, size_t max, struct alerts_shown *ret);
void alerts_shown_done(struct alerts_shown *shown);

#endif

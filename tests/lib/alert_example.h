// SPDX-License-Identifier: GPL-2.0
/* An alert as it is passed to actions. */
#ifndef PEBSD_TESTS_ALERT_EXAMPLE_H
#define PEBSD_TESTS_ALERT_EXAMPLE_H

#include "policy/alert.h"

/*
 * The alert `number` fires. The rule is slow-database with the actions log and unit: p99 of loads above 900
 * cycles for a minute (896 in `limits`, the nearest bucket edge). The value is 912.5, between 900 and 1,024
 * with 95% confidence. The cgroup is /system.slice/db.service, and the time is 2026-11-21 06:01:00 UTC. The
 * caller may change the transition and its rule.
 */
struct transition alert_example_fires(u64 number, struct rule *rule);

/* The same alert resolves five minutes later: the value is 600, at most 640, and `limits.clear` is 704. */
struct transition alert_example_resolves(u64 number, struct rule *rule);

#endif

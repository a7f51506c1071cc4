// SPDX-License-Identifier: GPL-2.0
/* An alert as actions are given it. */
#ifndef PEBSD_TESTS_ALERT_EXAMPLE_H
#define PEBSD_TESTS_ALERT_EXAMPLE_H

#include "policy/alert.h"

/*
 * The alert of that number fires: the rule slow-database with log and unit, p99 of loads above 896 cycles for
 * a minute, 912.5 found, at least 900 and at most 1,024 with 95%, on /system.slice/db.service, at 2026-11-21
 * 06:01:00 UTC. The caller may change it and its rule.
 */
struct transition alert_example_fires(u64 number, struct rule *rule);

/* It resolves five minutes later: 600, at most 640, `clear` is 704. */
struct transition alert_example_resolves(u64 number, struct rule *rule);

#endif

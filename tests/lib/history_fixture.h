// SPDX-License-Identifier: GPL-2.0
/* Panes made up from a number, for tests, fuzzers and measurements of the history. */
#ifndef PEBSD_TEST_HISTORY_FIXTURE_H
#define PEBSD_TEST_HISTORY_FIXTURE_H

#include "history/shared/history_pane.h"

/* What a made-up pane contains. */
struct history_fixture {
	u64 seed;
	u64 end_us;
	unsigned seconds; /* 0: HISTORY_PANE_SECONDS */
	u64 run;
	unsigned cgroups; /* named /fixture/first, /fixture/first+1, ... */
	unsigned first;
	/* Keys are loads:0, loads:1, and then cycles:N for odd and stalls:N for even numbers. */
	unsigned loads;       /* events with `counters` nonzero counters a cgroup */
	unsigned counts;      /* events with two nonzero counters a cgroup */
	unsigned counters;    /* at most 500 */
	const char *settings; /* of each event; NULL: "{}" */
};

/* The result owns everything that it points to. Ends the program if memory is short. */
struct history_pane *history_fixture_new(const struct history_fixture *fixture);
struct history_pane *history_fixture_free(struct history_pane *pane);

/* The sum of a counter over all cgroups of an event. */
u64 history_fixture_sum(const struct history_pane *pane, u32 event, unsigned counter);

/* Sums all counters of a cgroup and event; `path` NULL: of all cgroups, `key` NULL: of all events. */
u64 history_fixture_total(const struct history_pane *pane, const char *path, const char *key);

#endif

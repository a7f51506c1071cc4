// SPDX-License-Identifier: GPL-2.0
/*
 * All kinds of saved records in one list, so that no two have the same number, and the version of their layout.
 */
#ifndef PEBSD_STATE_KINDS_H
#define PEBSD_STATE_KINDS_H

/*
 * Increment this with each change of the content of any record, or of the meaning of its numbers. New counters need no
 * increment: engine_records() includes their layout.
 */
#define STATE_RECORDS 1

/* These numbers are saved in records: add new kinds at the end. engine_restore() has the order of restoring. */
enum state_kind {
	STATE_HEAD = 1,     /* engine: hash seed, start time, number of the collection, number of events */
	STATE_EVENT,        /* engine, by event: identifies the event */
	STATE_READING,      /* engine, by event: counts and losses */
	STATE_ENTRY,        /* totals, by entry: the path */
	STATE_MERGED,       /* totals, by entry and event: the sum of former slots */
	STATE_COUNTED,      /* totals, by entry: off-core counts */
	STATE_SLOT,         /* collection, by slot: the owner */
	STATE_LAST_READING, /* collection, by slot and event: the last reading */
	STATE_COUNTED_BASE, /* collection, by slot: the last reading of off-core counts */
	STATE_STRIPES,      /* collection, by event: samples by stripe */
	STATE_EARLY,        /* collection, by number: deltas read early, not in any series yet */
	STATE_PATH,         /* series, by path: the name */
	STATE_SERIES,       /* series, by path: standing, times, cost and samples */
	STATE_COUNTERS,     /* series, by path and event: the counters */
	STATE_OFFCORE,      /* series, by path: off-core counts */
	STATE_RULES,        /* alerts: the time of the rules' state, and the next number */
	STATE_ALERT,        /* alerts, by number: pending, firing or recently resolved */
	STATE_ESTIMATES,    /* series, by path: estimates of all events */
	STATE_COLLECTED,    /* engine: time of the last collection */
	STATE_COUNTED_NEXT, /* totals, by entry: off-core counts read early, for the next collection */
	STATE_OFFCORE_PMUS, /* engine: identifies the PMUs of off-core counts, and their order */
	STATE_KINDS,
};

#endif

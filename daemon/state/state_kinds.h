// SPDX-License-Identifier: GPL-2.0
/* What kept records are of, in one list so that no two mean the same, and their layout's number. */
#ifndef PEBSD_STATE_KINDS_H
#define PEBSD_STATE_KINDS_H

/* To be raised with each change of what a record of any kind holds, or of what its numbers stand for. */
#define STATE_RECORDS 1

/* Numbers in records: kinds are added at the end. The order is that of taking them back. */
enum state_kind {
	STATE_HEAD = 1,     /* engine: since when, and which collection it was */
	STATE_EVENT,        /* engine, by event: which one it is */
	STATE_READING,      /* engine, by event: what was counted and lost of it */
	STATE_ENTRY,        /* ledger, by entry: the path */
	STATE_LEFT,         /* ledger, by entry and event: what earlier slots left */
	STATE_COUNTED,      /* ledger, by entry: what was counted of off-core responses */
	STATE_SLOT,         /* collection, by slot: whose it is */
	STATE_HELD,         /* collection, by slot and event: as last read */
	STATE_COUNTED_BASE, /* collection, by slot: likewise, of off-core responses */
	STATE_STRIPES,      /* collection, by event: samples by stripe */
	STATE_EARLY,        /* collection, by number: read since, and in no series yet */
	STATE_PATH,         /* series, by path: its name */
	STATE_SERIES,       /* series, by path: its standing */
	STATE_FIGURES,      /* series, by path and event */
	STATE_COUNTERS,     /* series, by path: off-core responses */
	STATE_RULES,        /* alerts: as of which tick, and the next number */
	STATE_ALERT,        /* alerts, by number: one that is pending, firing or resolved of late */
	STATE_KINDS,
};

#endif

// SPDX-License-Identifier: GPL-2.0
/*
 * A pane: what all cgroups gained in one span of time. Panes are what the history consists of. The daemon
 * sends the keeper one pane for every HISTORY_PANE_SECONDS, the keeper adds consecutive panes up to longer
 * ones, and answers a question with panes. As bytes, a pane is one block of memory: history_pane_write()
 * makes the block, and history_pane_read() makes a pane of it without copying texts and counters. Pure
 * functions.
 *
 * A cgroup without a sample of an event has no row for it, and a row has only the counters that moved.
 */
#ifndef PEBSD_HISTORY_PANE_H
#define PEBSD_HISTORY_PANE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/cleanup.h"
#include "origin/event_counts.h"
#include "pebsd/sample.h"

#define HISTORY_PANE_SECONDS 10
#define HISTORY_PANE_US      (HISTORY_PANE_SECONDS * 1000000ULL)

/* Limits of a block that is accepted. Longer ones are not sent: the span is a gap. */
#define HISTORY_PANE_BYTES_MAX (64UL << 20)
#define HISTORY_CGROUPS_MAX    (3 * 65536UL) /* of one pane: slots, and twice as many removed cgroups */
#define HISTORY_TEXT_MAX       8192          /* of a path, labels or settings, with the NUL */

#define HISTORY_COUNT_PLUS_(name) +1
enum { HISTORY_COUNTS_N = 0 EVENT_COUNTS_OF_READING(HISTORY_COUNT_PLUS_) };

/*
 * An event in the span. A pane has one entry for each pair of key and settings that was in force. The counts are those
 * of struct reading (window/readings.h), gained in the span.
 */
struct history_event {
	const char *key;      /* as event_key() writes it */
	const char *settings; /* event_json.h; opaque for the keeper */
	u64 period;           /* at the end of the span; 0: not known */
	u64 frequency_hz;     /* running frequency of cycles; 0: not known */
	bool counted;         /* the counts from `expected` on are known */
	bool throttle_known;  /* throttled_ns and throttles cover the whole span */
	union {
		struct {
			EVENT_COUNTS_OF_READING(EVENT_COUNT_MEMBER_)
		};
		u64 counts[HISTORY_COUNTS_N];
	};
};

/* A cgroup with a row. The path is as in struct totals_entry: "other" and "unattributed" included. */
struct history_cgroup {
	const char *path;
	const char *labels; /* a JSON object of texts; "": none known */
	u64 id;             /* kernel's number; 0: not known */
};

/* What a cgroup gained of an event: packed counters (collect/packed.h) that are sound. */
struct history_row {
	u32 cgroup; /* index */
	u32 event;  /* index */
	u32 size;   /* bytes of `packed`, above 0 */
	const u8 *packed;
};

struct history_pane {
	u64 id;         /* the keeper's number of the span; 0 in a pane that is not stored yet */
	u64 start_us;   /* CLOCK_REALTIME in microseconds; the span is (start, end] */
	u64 end_us;     /* above start_us */
	u64 covered_ns; /* CLOCK_MONOTONIC: the time that was collected; not end - start if the clock was set */
	u64 run; /* panes with the same number follow each other without a gap or a step of the clock */
	size_t n_events;
	struct history_event *events;
	size_t n_cgroups;
	struct history_cgroup *cgroups;
	size_t n_rows;
	struct history_row *rows; /* by ascending cgroup, then event */
};

/*
 * Writes the pane to a new block, which the caller frees. Returns 0; -E2BIG: it might be more than
 * HISTORY_PANE_BYTES_MAX (each number counts as VARINT_MAX bytes for this), or a text, number of cgroups or
 * events (EVENTS_MAX times 4) is above its limit; or -ENOMEM.
 */
int history_pane_write(const struct history_pane *pane, u8 **ret, size_t *ret_size);

/*
 * Reads one pane from the start of the block, which may have been written by anybody. Texts and packed counters point
 * into the block, which must outlive the pane; free the pane with history_pane_done(). `ret_used` gets the
 * bytes that were read: several panes may follow each other. Returns 0, -EBADMSG or -ENOMEM.
 */
int history_pane_read(const u8 *block, size_t size, struct history_pane *ret, size_t *ret_used);
void history_pane_done(struct history_pane *pane);

#endif

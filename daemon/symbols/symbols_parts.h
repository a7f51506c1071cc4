// SPDX-License-Identifier: GPL-2.0
/* The struct that the query functions (symbols.c) and the connection (symbols_link.c) share. */
#ifndef PEBSD_SYMBOLS_PARTS_H
#define PEBSD_SYMBOLS_PARTS_H

#include "child/child.h"
#include "symbols/symbols.h"
#include "symbols/symbols_backoff.h"
#include "symbols/symbols_cache.h"
#include "symbols/symbols_queue.h"

struct symbols {
	sd_event *event;
	char *debuginfod;
	char *program;
	char *socket;
	bool said_alone; /* logged that the unit is not available */
	u64 question_ns;
	u64 idle_ns;
	struct symbols_cache *cache;
	struct symbols_queue queue;
	struct symbols_backoff backoff;
	struct child child;     /* socket closed but pidfd open: killed, not ended yet */
	bool ready;             /* the symbolizer has sent SYMBOLS_WIRE_READY */
	bool stuck;             /* the symbolizer was killed and does not end */
	unsigned int prolonged; /* extensions of the oldest request */
	u64 cpu_ns;             /* CPU time of the symbolizer at the last extension */
	u64 since_ns;           /* start of the oldest request, of idleness, or of the kill */
	u64 said_ns;
	u64 said_late_ns;
	u64 held; /* bytes held by the symbolizer */
	u64 kernel_start;
	struct symbols_figures figures;
	sd_event_source *on_socket;
	sd_event_source *on_end;
	sd_event_source *timer;
	sd_event_source *gathering;
	sd_event_source *soon;
	u8 packet[SYMBOLS_WIRE_MAX];
};

#endif

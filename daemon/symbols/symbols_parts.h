// SPDX-License-Identifier: GPL-2.0
/* What asking (symbols.c) and the connection to the resolver (symbols_link.c) share. */
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
	bool said_alone; /* that the unit is not there */
	u64 question_ns;
	u64 idle_ns;
	struct symbols_cache *cache;
	struct symbols_queue queue;
	struct symbols_backoff backoff;
	struct child child;     /* its socket closed: it was killed, and has not ended yet */
	bool ready;             /* it has begun */
	bool stuck;             /* it was killed, and does not end */
	unsigned int prolonged; /* how often the oldest request was given its time once more */
	u64 cpu_ns;             /* that it had taken then */
	u64 since_ns;           /* the oldest request is so, or there is none, or it was killed */
	u64 said_ns;
	u64 said_late_ns;
	u64 held; /* bytes, by the symbolizer */
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

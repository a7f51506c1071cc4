// SPDX-License-Identifier: GPL-2.0
/*
 * Finds names for addresses by asking a separate process, the symbolizer (symbols_worker.h). If the unit
 * pebsd-symbols is installed, it provides the symbolizer (symbols_socket.h). Otherwise the symbolizer is a
 * child of pebsd.
 *
 * The symbolizer starts when it is first needed and ends after SYMBOLS_IDLE_S without requests. Its memory
 * and time are bounded, and a child has fewer privileges than pebsd. No function here waits: the event loop
 * stores answers in a table when they arrive. A crafted file may crash the symbolizer. The query that it
 * worked on then becomes SYMBOL_UNKNOWN, and the symbolizer is started again.
 */
#ifndef PEBSD_SYMBOLS_H
#define PEBSD_SYMBOLS_H

#include <systemd/sd-event.h>

#include "base/cleanup.h"
#include "symbols/shared/symbol.h"

#define SYMBOLS_IDLE_S 60

/*
 * Time limit of a query. If it is exceeded, the query is given up and the symbolizer is killed. The limit is
 * extended to at most seven times this while the service manager starts the unit, and while the symbolizer
 * waits for a CPU or reads the kernel's symbols. A query whose limit is extended counts as late, except
 * during the start.
 */
#define SYMBOLS_QUERY_S 10

/*
 * Maximum answers that are kept, and maximum memory for them in pebsd: answers, queries without an answer, tables, and
 * removed answers that were handed out. The least recently used are removed first. The queue of requests has its
 * own limit (symbols_queue.h).
 */
#define SYMBOLS_KEPT_MAX       131072
#define SYMBOLS_KEPT_BYTES_MAX (64ULL << 20)

struct symbols_settings {
	sd_event *event;        /* not owned */
	const char *debuginfod; /* URLs, separated by spaces; NULL or "": debuginfod is not used */
	const char *program;    /* run with --symbolizer; NULL: /proc/self/exe */
	const char *socket;     /* the unit's socket, SYMBOLS_SOCKET; NULL: always run a child */
	u64 query_ns;           /* time limit of a query, see SYMBOLS_QUERY_S; 0: that default */
	u64 idle_ns;            /* 0: SYMBOLS_IDLE_S */
};

struct symbols;

/* Starts no process yet. Returns 0 or -errno. */
int symbols_new(const struct symbols_settings *settings, struct symbols **ret);
struct symbols *symbols_free(struct symbols *symbols);
DEFINE_CLEANUP(struct symbols *, symbols_free)

/*
 * Pass an event on to the symbolizer, in order with the queries: see resolver_process(), resolver_mapped(),
 * resolver_executed() and resolver_forked(). Cached answers that the event makes invalid are dropped: those
 * of a process that executes a program or is new, and those in a mapping that was replaced. Only
 * symbols_process() starts a symbolizer that is not running, since a new symbolizer reads the current state
 * itself. Return 0, -ENOBUFS (too many requests in flight) or -ENOMEM.
 */
int symbols_process(struct symbols *symbols, u32 pid);
int symbols_mapped(struct symbols *symbols, const struct symbol_mapping *mapping);
int symbols_executed(struct symbols *symbols, u32 pid);
int symbols_forked(struct symbols *symbols, u32 pid, u32 parent);

/*
 * Returns the answer for an address, or NULL if it is not known yet. In that case the query is sent, once
 * however often it is repeated. `symbols` owns the result, which is valid until control returns to the event
 * loop. Until then, results that were removed take memory. If that leaves too little, the query is not sent, and
 * counts as lost.
 *
 * An answer that may change (symbols_cache_may_change()) is queried again on demand after a second, and then each
 * time after twice the previous delay, up to 1024 s. If the symbolizer repeatedly fails on a process, or cannot be
 * started, the result is SYMBOL_UNKNOWN at once.
 */
const struct symbol *symbols_find(struct symbols *symbols, const struct symbol_query *query);

/*
 * Returns the address of the kernel's _text, or 0 if not known. It is derived from an answer for a kernel
 * address, which contains the offset from _text. Show it only to root, like all kernel addresses.
 */
u64 symbols_kernel_start(const struct symbols *symbols);

/* Returns the number of queries in flight. */
size_t symbols_pending(const struct symbols *symbols);

struct symbols_counts {
	u64 asked, answered, unknown; /* unknown: answered without a name */
	u64 lost;        /* not answered: the symbolizer died, took too long, or could not be asked */
	u64 late;        /* queries whose time limit was extended, answered or lost */
	u64 starts;      /* of the symbolizer */
	u64 bytes;       /* memory of both sides, approximate */
	u64 own_bytes;   /* the part of `bytes` on pebsd's side */
	u64 queue_bytes; /* the part of `own_bytes` that is the queue of requests */
	bool running;
};
struct symbols_counts symbols_counts(const struct symbols *symbols);

#endif

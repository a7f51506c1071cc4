// SPDX-License-Identifier: GPL-2.0
/*
 * Names for addresses, asked of a process of its own: the symbolizer (symbols_worker.h), of the unit
 * pebsd-symbols where that is there (symbols_socket.h), else a child. It starts when it is first needed, has
 * bounded memory and time, as a child fewer rights than pebsd, and ends when it had nothing to do for
 * SYMBOLS_IDLE_S. Nothing here waits: answers come into the table as they come, by the event loop. Where
 * it dies (a file may be made to do that) what it was asked in that moment is SYMBOL_UNKNOWN, and it starts
 * anew.
 */
#ifndef PEBSD_SYMBOLS_H
#define PEBSD_SYMBOLS_H

#include <systemd/sd-event.h>

#include "base/cleanup.h"
#include "symbols/shared/symbol.h"

#define SYMBOLS_IDLE_S 60

/*
 * A question that takes longer is given up, and the symbolizer ended that it was asked of. It is given up to
 * seven times as long, and the question counts as late, while it starts as a unit, which the service manager
 * does, waits for a CPU, or reads the kernel's symbols.
 */
#define SYMBOLS_QUESTION_S 10

/* Answers that are kept; the least recently asked for go first. */
#define SYMBOLS_KEPT_MAX       131072
#define SYMBOLS_KEPT_BYTES_MAX (64ULL << 20)

struct symbols_settings {
	sd_event *event;        /* not owned */
	const char *debuginfod; /* URLs, separated by spaces; NULL or "": none is asked */
	const char *program;    /* that is run with --symbolizer; NULL: /proc/self/exe */
	const char *socket;     /* the unit's socket, SYMBOLS_SOCKET; NULL: a child is run in any case */
	u64 question_ns; /* that it may take for one, longer where it waits for a CPU; 0: SYMBOLS_QUESTION_S
			  */
	u64 idle_ns;     /* 0: SYMBOLS_IDLE_S */
};

struct symbols;

/* Starts nothing yet. 0 or -errno. */
int symbols_new(const struct symbols_settings *settings, struct symbols **ret);
struct symbols *symbols_free(struct symbols *symbols);
DEFINE_CLEANUP(struct symbols *, symbols_free)

/* As resolver_process(), resolver_mapped(), resolver_executed(), resolver_forked(): passed on in order with
 * the questions. Cached answers of a process that executes, that begins, or maps over them are forgotten. A
 * symbolizer that does not run is started by symbols_process() alone: it looks for itself. 0; -ENOBUFS where
 * too much is under way, -ENOMEM. */
int symbols_process(struct symbols *symbols, u32 pid);
int symbols_mapped(struct symbols *symbols, const struct symbol_mapping *mapping);
int symbols_executed(struct symbols *symbols, u32 pid);
int symbols_forked(struct symbols *symbols, u32 pid, u32 parent);

/*
 * What is known. NULL: not yet; the question is on its way then, once however often it is asked. The
 * symbols' own, valid until control returns to the event loop. An answer that is SYMBOL_UNKNOWN is asked for
 * again, when somebody wants it, after a second, then after twice the time before; where the symbolizer
 * fails of a process again and again, or can't be started, SYMBOL_UNKNOWN is said at once.
 */
const struct symbol *symbols_find(struct symbols *symbols, const struct symbol_query *query);

/* Address of the kernel's _text, by an address of the kernel itself that was answered with its name and its
 * place behind that; 0: not known. For root alone, as are all addresses of the kernel. */
u64 symbols_kernel_start(const struct symbols *symbols);

/* Questions that are under way. */
size_t symbols_pending(const struct symbols *symbols);

struct symbols_figures {
	u64 asked, answered, unknown; /* unknown: of those answered, with no name */
	u64 lost;                     /* not answered: the symbolizer died or took too long */
	u64 late;                     /* answered, or lost, after more than the question's time */
	u64 starts;                   /* of the symbolizer */
	u64 bytes;                    /* held on either side, about */
	u64 own_bytes;                /* of those, on this side */
	bool running;
};
struct symbols_figures symbols_figures(const struct symbols *symbols);

#endif

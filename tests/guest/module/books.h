// SPDX-License-Identifier: GPL-2.0
/*
 * What was handed to perf core: the oracle of tests. Counted in the interrupt's handler (or the drain outside
 * of it), at the same place and for the same task and cgroup as the sample itself, on each CPU for itself.
 * Counts only grow, over closing and opening of events, until they are reset.
 */
#ifndef PEBS_MACHINE_BOOKS_H
#define PEBS_MACHINE_BOOKS_H

#include <linux/perf_event.h>
#include <linux/sched.h>

#include "pebsd/data_source.h"

/* Events with different codes that are told apart on a CPU. */
#define BOOKS_EVENTS 8

/* Set in the code of an event that one cgroup's tasks have (PERF_FLAG_PID_CGROUP): a zoom's, to be told from
 * an always-on one that is the same else. The files say "cgroup:0x1cd". */
#define BOOKS_OF_CGROUP 0x10000U

struct book_key {
	u64 cgroup; /* id in the default hierarchy */
	u32 pid;    /* thread id in the initial namespace */
	u32 event;  /* books_event_code(); of IBS, enum ibs_operation */
	char comm[TASK_COMM_LEN];
};

struct book_sums {
	u64 samples;
	u64 period;
	u64 latency;      /* as handed over */
	u64 latency_true; /* as the record had it */
	u64 instruction_latency;
	u64 locked, blocked;
	u64 guarded; /* while a BPF program or map operation on this CPU kept perf event programs from running
		      */
	u64 source_samples[SOURCE_SLOTS], source_latency[SOURCE_SLOTS];
	u64 snoop[SNOOP_SLOTS], tlb[TLB_SLOTS];
};

struct book {
	bool used;
	struct book_key key;
	struct book_sums overflow;      /* to perf_event_overflow() */
	u64 ring_samples, ring_latency; /* to perf_event_output() alone */
};

struct book_event {
	bool used;
	u32 event;
	u64 overflow, ring, collisions;
	u64 cut; /* samples due, of which there was no record yet when the event was stopped */
	u64 throttles, throttled_ns;
	u64 throttle_slack_ns; /* of that, in which the kernel's records may have been made */
	u64 throttled_since;   /* 0: is not throttled */
	u64 stopped_at; /* when the core last stopped it to throttle it, as it does from Linux 6.16 on */
};

struct core_books {
	struct book *books;
	struct book_event events[BOOKS_EVENTS];
	u64 interrupts, deferred, drains;
	u64 stopped;   /* records of an event that was stopped before they were read */
	u64 early;     /* records of an event whose period was not over */
	u64 unclaimed; /* records of no enabled counter */
	u64 broken;    /* buffers that did not hold records to their end */
	u64 starved;   /* overflows that no instruction in reach completed; made good by the next one */
	u64 full;      /* samples for which the table had no room: in `events`, in no book */
	u64 events_full;
};

struct sample_figures;

/* -ENOMEM. */
int books_open(struct core_books *books);
void books_close(struct core_books *books);

/* Event select | unit mask << 8, and BOOKS_OF_CGROUP. */
u32 books_event_code(const struct perf_event *event);

/* The current task's, in the default hierarchy. */
u64 books_current_cgroup(void);

/* On the books' own CPU. A sample without `figures` is one of the interrupt itself. */
void books_sample(struct core_books *books, const struct perf_event *event, bool overflow,
		  const struct sample_figures *figures);
void books_collisions(struct core_books *books, const struct perf_event *event, u64 collisions);
/*
 * Stopped with its period over and no sample of it, which there will never be: the start that follows begins
 * a new period (x86_perf_event_set_period()). The count has it, so that a sample is due that nobody
 * delivered.
 */
void books_cut(struct core_books *books, const struct perf_event *event);
/* ns of the clock that pebsd asks for: without a stable TSC the scheduler's goes by ticks. */
u64 books_clock(void);
/*
 * A throttling lasts for the books as long as for the kernel's records of it (THROTTLE, UNTHROTTLE):
 * until 6.15 from the overflow, before its program runs, to just before the start, and from 6.16 on, where
 * the core stops and starts the event itself and logs either when it is done, from the end of that stop to
 * the end of that start.
 */
void books_throttled(struct core_books *books, const struct perf_event *event, u64 overflow_at);
void books_core_stopped(struct core_books *books, const struct perf_event *event);
/* Since when the event is throttled, which it is no more; 0: it was not. For books_throttle_over(). */
u64 books_take_throttle(struct core_books *books, const struct perf_event *event);
/* Since `from` the kernel may have logged it; that time is slack, as is the overflow's. */
void books_throttle_over(struct core_books *books, const struct perf_event *event, u64 since, u64 from);
/* The event runs again, or will never. */
void books_started(struct core_books *books, const struct perf_event *event);
void books_stopped(struct core_books *books, const struct perf_event *event);

/* Forgets all, as if just opened. On their own CPU, or while that is offline. */
void books_reset(struct core_books *books);
unsigned int books_size(void);

/* /sys/kernel/debug/pebs_machine/. */
int books_files_open(void);
void books_files_close(void);

#endif

// SPDX-License-Identifier: GPL-2.0
/* An event on one CPU: opening, starting, reading it, and changing its period. */
#ifndef PEBSD_PERF_CPU_H
#define PEBSD_PERF_CPU_H

#include "origin/cpu_counts.h"
#include "origin/perf/perf_map.h"
#include "origin/perf/perf_outage.h"
#include "origin/perf/perf_page.h"
#include "origin/perf/perf_stall.h"
#include "origin/pmu/pmu.h"

struct perf_cpu {
	int cpu;
	int leader_fd; /* -1 where there is none */
	int fd;
	/* Each its own: in a group Linux logs throttling in the event's ring, from 6.16 on in the leader's.
	 * One ring for both (PERF_EVENT_IOC_SET_OUTPUT) would have both write one header page. */
	struct perf_map map;
	struct perf_map leader_map; /* empty where there is no leader */
	u64 period;                 /* in force: events a sample */
	u64 counted_before;         /* with other periods */
	u64 due_before;             /* samples: whole periods in that */
	struct perf_reading last;   /* latest known; none of it ever decreases */
	u64 read_enabled_ns;        /* the same of the last read(2), 0 where the page has moved since */
	struct perf_outage outage;  /* pinned, and found no counter: it does not count */
	bool stalled;               /* by perf_cpu_find_stall(), until it is armed again */
	struct perf_stall stall;    /* on a counter and no longer sampled */
	bool page_moves;            /* with each sample: not of software events */
	bool stopped;               /* by perf_cpu_stop() */
	bool detached;              /* its CPU went offline: the kernel does not bring it back with the CPU */
};

/* Opens it, disabled, with the period that `opening` says, at least 1; perf_cpu_close() closes it. Returns 0,
 * or -errno of perf_event_open(2). */
int perf_cpu_open(const struct pmu_opening *opening, int cpu, struct perf_cpu *ret);
void perf_cpu_close(struct perf_cpu *event);

/*
 * The same, weakening the attributes as the kernel demands (perf_attr_relax()): what it took is then in
 * `opening`. Returns 0, or the first refusal; then `opening` is as it was.
 */
int perf_cpu_open_relaxed(struct pmu_opening *opening, int cpu, struct perf_cpu *ret);

/* Attaches the program: an event takes one for good. Returns 0 or -errno. */
int perf_cpu_attach(const struct perf_cpu *event, int program_fd);

/* Enables the event, its leader too. Returns 0 or -errno. */
int perf_cpu_enable(struct perf_cpu *event);

/* Both. */
int perf_cpu_start(struct perf_cpu *event, int program_fd);

/* Disables the event, its leader too: its count is final then. */
void perf_cpu_stop(struct perf_cpu *event);

/* Enables an event in error again. */
void perf_cpu_revive(const struct perf_cpu *event);

/*
 * Another period, from here on. The kernel begins it anew, and forgets what was counted towards the next
 * sample (__perf_event_period(), kernel/events/core.c, Linux 6.1, 6.12 and 7.3): a started event stands still
 * for the change, some tens of microseconds, so that it is known at which count that was. Returns 0, or
 * -errno and the old period stays: -EINVAL where the CPU has no such period.
 */
int perf_cpu_set_period(struct perf_cpu *event, u64 period, bool started);

/*
 * Brings `last`, `outage` and `detached` up to date; `started`: perf_cpu_start() was called. The first
 * looks at the mapped page, and calls the second only where that shows the event on no counter and has not
 * moved: it waits for a counter, is in error, or is of a PMU that keeps its page no more up to date than
 * that. (IBS has no counter numbers, and moves its page with each sample: perf_ibs_handle_irq(),
 * arch/x86/events/amd/ibs.c, Linux 6.1, 6.12 and 7.3.) The second always calls read(2), which interrupts no
 * CPU while the event waits, is stopped, or is in error: only an active one is read on its CPU
 * (perf_event_read(), kernel/events/core.c, of the same), and a group is on its counters whole or not at all.
 */
void perf_cpu_update(struct perf_cpu *event, bool started);
void perf_cpu_read(struct perf_cpu *event, bool started);

/*
 * Finds out, at `now_ns` of CLOCK_MONOTONIC, whether the kernel has left a started event counting without a
 * next sample (perf_stall.h). Calls read(2) only where the event is on a counter with a number, and when
 * perf_stall_watch() says so or this is the `last` look at it; IBS and software events are left alone.
 */
bool perf_cpu_find_stall(struct perf_cpu *event, u64 now_ns, bool last);

/* Loads its counter anew then, as perf_cpu_set_period() does: what it counted since is in `last`, and was
 * due. */
void perf_cpu_rearm(struct perf_cpu *event);

/* Brings what is known of throttling up to date, from the rings: no system call but to make one larger. */
void perf_cpu_read_throttling(struct perf_cpu *event);

/* All that the event has counted since it was opened, as of the last of these calls. */
struct cpu_counts perf_cpu_counts(const struct perf_cpu *event);

#endif

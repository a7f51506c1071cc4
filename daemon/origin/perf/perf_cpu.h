// SPDX-License-Identifier: GPL-2.0
/* One event on one CPU: opens, starts and reads it, and changes its period. */
#ifndef PEBSD_PERF_CPU_H
#define PEBSD_PERF_CPU_H

#include "origin/event_counts.h"
#include "origin/perf/perf_mmap.h"
#include "origin/perf/perf_outage.h"
#include "origin/perf/perf_page.h"
#include "origin/perf/perf_stall.h"
#include "origin/pmu/pmu.h"

struct perf_cpu {
	int cpu;
	int leader_fd; /* -1 if the event has no leader */
	int fd;
	/*
	 * The event and its leader each map a ring of their own. In a group, Linux logs throttling in the
	 * event's ring, and from 6.16 on in the leader's. If both shared one ring
	 * (PERF_EVENT_IOC_SET_OUTPUT), both would write to one header page.
	 */
	struct perf_mmap map;
	struct perf_mmap leader_map; /* empty if the event has no leader */
	u64 period;                  /* current period: events per sample */
	u64 counted_before;          /* events counted with earlier periods */
	u64 expected_before;         /* samples expected from `counted_before`: the whole periods in it */
	struct perf_reading last;    /* latest known counts and times; they never decrease */
	u64 read_enabled_ns;         /* enabled_ns of the last read(2); 0 if the page has moved since */
	struct perf_outage outage;   /* time in the error state: the event is pinned and has no counter */
	bool stalled;                /* set by perf_cpu_find_stall() until the event is rearmed */
	struct perf_stall stall;     /* detects an event that counts but no longer produces samples */
	bool page_moves;             /* the page is updated with each sample; false for software events */
	bool stopped;                /* perf_cpu_stop() was called */
	bool detached; /* the CPU went offline; when it returns, the kernel does not restore the event */
};

/*
 * Opens the event, disabled, with the period of `spec`, which must be at least 1. The caller closes it
 * with perf_cpu_close(). Returns 0, or -errno of perf_event_open(2).
 */
int perf_cpu_open(const struct event_spec *spec, int cpu, struct perf_cpu *ret);
void perf_cpu_close(struct perf_cpu *event);

/*
 * Like perf_cpu_open(), but weakens the attributes if the kernel demands it (perf_attr_relax()). On success
 * `spec` has the attributes that the kernel accepted. Otherwise returns the first error (after -ENODATA the
 * next one), and `spec` is unchanged.
 */
int perf_cpu_open_relaxed(struct event_spec *spec, int cpu, struct perf_cpu *ret);

/* Maps the pages of an event and its leader, which are open and have no mapping. */
void perf_cpu_map(const struct event_spec *spec, struct perf_cpu *event);

/* Attaches the program. An event accepts one program, which cannot be replaced. Returns 0 or -errno. */
int perf_cpu_attach(const struct perf_cpu *event, int program_fd);

/* Enables the event and its leader. Returns 0 or -errno. */
int perf_cpu_enable(struct perf_cpu *event);

/* Calls perf_cpu_attach() and then perf_cpu_enable(). */
int perf_cpu_start(struct perf_cpu *event, int program_fd);

/* Disables the event and its leader. The event's count is then final. */
void perf_cpu_stop(struct perf_cpu *event);

/* Enables an event in error again. */
void perf_cpu_revive(const struct perf_cpu *event);

/*
 * Changes the period from now on. The kernel starts the new period from zero and discards the events counted
 * towards the next sample (__perf_event_period(), kernel/events/core.c, Linux 6.1, 6.12 and 7.3). A started
 * event is therefore disabled for the change, some tens of microseconds, so that the count at the change is
 * known. Returns 0, or -errno if the old period stays. -EINVAL means that the CPU does not support the
 * period.
 */
int perf_cpu_set_period(struct perf_cpu *event, u64 period, bool started);

/*
 * Both functions bring `last`, `outage` and `detached` up to date. `started` says that perf_cpu_start() was
 * called.
 *
 * perf_cpu_update() reads the mapped page. It calls perf_cpu_read() only if the page shows the event on no
 * counter and has not moved. The event then waits for a counter, is in error, or belongs to a PMU that has
 * not updated the page since the last look. (IBS has no counter numbers, but moves its page with each sample:
 * perf_ibs_handle_irq(), arch/x86/events/amd/ibs.c, Linux 6.1, 6.12 and 7.3.)
 *
 * perf_cpu_read() always calls read(2). This interrupts no CPU while the event waits, is stopped, or is in
 * error, because the kernel reads only an active event on its CPU (perf_event_read(), kernel/events/core.c,
 * same versions). A group is either on its counters as a whole or not at all.
 */
void perf_cpu_update(struct perf_cpu *event, bool started);
void perf_cpu_read(struct perf_cpu *event, bool started);

/*
 * Finds out whether the kernel has left a started event counting without producing samples (perf_stall.h), at
 * `now_ns` of CLOCK_MONOTONIC. Calls read(2) only if the event is on a counter with a number, and only if
 * perf_stall_watch() asks for it or `last` is set, which means that no later call follows. Ignores IBS and
 * software events.
 */
bool perf_cpu_find_stall(struct perf_cpu *event, u64 now_ns, bool last);

/*
 * If the event is stalled, reloads its counter as perf_cpu_set_period() does. `last` then includes the events
 * counted in the meantime, and the samples that they stand for count as expected.
 */
void perf_cpu_rearm(struct perf_cpu *event);

/* Brings throttling up to date from the rings. Makes a system call only to enlarge a ring. */
void perf_cpu_read_throttling(struct perf_cpu *event);

/*
 * Returns the counts of the event since it was opened, as of the last perf_cpu_update(), perf_cpu_read() and
 * perf_cpu_read_throttling().
 */
struct cpu_counts perf_cpu_counts(const struct perf_cpu *event);

#endif

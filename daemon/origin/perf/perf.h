// SPDX-License-Identifier: GPL-2.0
/*
 * The origin `perf`: an event open on every online CPU of its PMU, with a BPF program that runs for each of
 * its samples. One set an event; loads and stores are never in one group (a throttled group of two PEBS
 * events crashes Linux 6.16 to 6.17, commit 7e772a93eb61).
 *
 *   perf_open() -> perf_event() says what is measured -> load the program -> perf_start() -> each interval:
 *   perf_count(), perf_hotplug(), perf_find_stalled() -> perf_stop() for the last perf_count()
 *   -> perf_set_free()
 *
 * In between perf_pause() and perf_resume(), any number of times.
 */
#ifndef PEBSD_PERF_H
#define PEBSD_PERF_H

#include "base/cleanup.h"
#include "origin/cpu_counts.h"
#include "origin/perf/perf_keep.h"
#include "origin/pmu/pmu.h"

#define PERF_ONLINE_PATH "/sys/devices/system/cpu/online"

struct perf_event_set;

/* Summed over the CPUs, those gone since included. */
struct perf_counts {
	u64 count;            /* events; while running, short of a part of a period on each CPU */
	u64 due;              /* samples: whole periods in that, on each CPU and in each opening for itself */
	u64 enabled_ns;       /* time enabled */
	u64 running_ns;       /* time on a counter; less than enabled_ns: multiplexed or in error */
	size_t cpus;          /* open now */
	size_t cpus_in_error; /* of these, not counting: another pinned event holds the counter */
	bool throttle_known;  /* on all CPUs, all the time; else what follows is of a part */
	u64 throttled_ns;     /* time in which the kernel had stopped it; while it runs on, see perf_ring.h */
	u64 throttles;        /* how often */
	u64 paused_ns;        /* time closed by perf_pause() */
	u64 rearmed;          /* times that it had been left without a next sample on a CPU */
	u64 missed;           /* samples that were due in those times; of this process alone */
};

/*
 * Opens, disabled, with the opening's period, at least 1, on the opening's CPUs that the file `online_path`
 * (PERF_ONLINE_PATH) lists. Weakens the attributes as the kernel demands (perf_attr_relax()), the same on all
 * CPUs. Raises the soft limit of file descriptors where needed. Returns 0, or -errno with `ret_message` set,
 * the caller's to free (NULL when out of memory).
 */
int perf_open(const struct pmu_opening *opening, const char *online_path, struct perf_event_set **ret,
	      char **ret_message);
struct perf_event_set *perf_set_free(struct perf_event_set *set);
DEFINE_CLEANUP(struct perf_event_set *, perf_set_free)

/*
 * Opens one event on `cpu` and closes it again: whether the kernel takes it. In `opening` stands after how.
 * Returns and sets `ret_message` as perf_open().
 */
int perf_try(struct pmu_opening *opening, int cpu, char **ret_message);

/* The event as opened: its settings tell what each sample holds, its period is the one in force. The set's.
 */
const struct event *perf_event(const struct perf_event_set *set);

/* How it was opened: the attributes weakened as the kernel demanded, the period in force. The set's. */
const struct pmu_opening *perf_opening(const struct perf_event_set *set);

/* Whether it is not pinned: the kernel has it take turns with others that need the same counter. */
bool perf_takes_turns(const struct perf_event_set *set);

/* CPUs that it is open on now. The set's, until the next perf_hotplug(). */
const struct cpu_list *perf_cpus(const struct perf_event_set *set);

/*
 * Attaches the program to each event and enables them. `program_fd` stays the caller's, and open as long as
 * the set lives. Returns 0, or -errno with `ret_message` set; the set can then only be freed.
 */
int perf_start(struct perf_event_set *set, int program_fd, char **ret_message);

/*
 * The same where events outlive the process: those that the one before left sample on, in the place of the
 * ones just opened, where the program that they run is this one's (`keep` says so); else each is replaced by
 * the one just opened, which begins when the old one has ended, and its books go on. What is open is stored,
 * now and as CPUs come. `number`: of the set, below the `n_sets` of `keep`, which outlives it. Where the
 * process before was paused the set goes on so if that is wanted, else the pause ends here. Returns as
 * perf_start().
 */
int perf_start_kept(struct perf_event_set *set, int program_fd, struct perf_keep *keep, unsigned number,
		    char **ret_message);

/* Whether it is stored, so that it goes on when this process ends. */
bool perf_is_kept(const struct perf_event_set *set);

/*
 * Another period on every CPU, at least 1, without opening anything anew: perf_cpu_set_period(). What was
 * counted before stays counted by the old one. Returns 0, or -errno with `ret_message` set; then all have the
 * old one.
 */
int perf_set_period(struct perf_event_set *set, u64 period, char **ret_message);

/* The period in force is the one that was asked for: the next process, asked for the same, goes on with what
 * is in force then, whoever changed it. */
void perf_asked_period(struct perf_event_set *set);

/* Disables each event, but for one that is kept. What perf_count() then reads is final, and every sample of
 * it was delivered. */
void perf_stop(struct perf_event_set *set);

/*
 * Sums up. On a running event this reads its mapped page, which is as of its last sample. read(2), which
 * interrupts the CPU of a running event, is called where the page shows the event on no counter and no news:
 * to tell waiting from error, for software events, for IBS on a CPU without a sample since the last call, and
 * with /sys/.../cpu/rdpmc at 0.
 * Throttling is read from the events' rings, which have room for a second of it or more.
 */
void perf_count(struct perf_event_set *set, struct perf_counts *ret);

/*
 * Finds CPUs on which the event counts and is no longer sampled, at `now_ns` of CLOCK_MONOTONIC:
 * perf_cpu_find_stall(). `last`: looks at all CPUs, as no later call will. Returns how many. The other arms
 * it again there; perf_count() tells what was due. Call it for all sets, with the same time, before any event
 * is armed: when a pinned event is enabled, the kernel loads all events of that CPU again (ctx_resched(),
 * kernel/events/core.c, Linux 6.1, 6.12 and 7.3), and nobody would learn that the others were stalled too.
 */
size_t perf_find_stalled(struct perf_event_set *set, u64 now_ns, bool last);
void perf_rearm_stalled(struct perf_event_set *set);

/* Reloads the counters of all CPUs with the period in force, so that they count again whatever state they
 * were in. Keeps what was counted, but for a part of a period. */
void perf_rearm(struct perf_event_set *set);

/*
 * The same by CPU, as of the last perf_count(): every CPU that it was ever open on, ascending; one that went
 * and came back has one entry. The set's, until the next perf_count().
 */
const struct cpu_counts *perf_count_cpus(const struct perf_event_set *set, size_t *ret_n);

/*
 * Opens the event on CPUs that came online (started, if the set is), closes it on those that went, and opens
 * anew what the kernel took off its CPU when that was away in between. Events in error are enabled again.
 * Returns how many CPUs came or went, or -errno with `ret_message` set, after doing what could be done.
 * Paused, it opens nothing, and enters the time that went by for the CPUs that would be sampled.
 */
int perf_hotplug(struct perf_event_set *set, char **ret_message);

/*
 * Closes the event on every CPU, so that others can have its counters, even pinned. What it counted stays,
 * and is final: every sample of it was delivered. perf_cpus() stays as it was. A second call does nothing.
 */
void perf_pause(struct perf_event_set *set);

/*
 * Opens and starts it again. Returns 0, or -errno with `ret_message` set: it is no longer paused then either,
 * and perf_hotplug() goes on trying what could not be opened. Nothing where it is not paused.
 */
int perf_resume(struct perf_event_set *set, char **ret_message);

#endif

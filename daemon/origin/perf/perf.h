// SPDX-License-Identifier: GPL-2.0
/*
 * The origin `perf`: opens each event on every online CPU of its PMU and runs a BPF program for each of its
 * samples. Each event has its own set. Loads and stores are never in one group, because a throttled group of
 * two PEBS events crashes Linux 6.16 to 6.17 (commit 7e772a93eb61).
 *
 * The order of calls:
 *   perf_open() -> perf_event() says what is measured -> load the program -> perf_start() -> each interval:
 *   perf_count(), perf_hotplug(), perf_find_stalled() -> perf_stop() before the last perf_count()
 *   -> perf_set_free()
 *
 * perf_pause() and perf_resume() may be called any number of times in between.
 */
#ifndef PEBSD_PERF_H
#define PEBSD_PERF_H

#include "base/cleanup.h"
#include "origin/event_counts.h"
#include "origin/perf/perf_save.h"
#include "origin/pmu/pmu.h"

#define PERF_ONLINE_PATH "/sys/devices/system/cpu/online"

struct perf_event_set;

/* Sums over all CPUs, including CPUs that have since gone offline. */
struct perf_counts {
	EVENT_COUNT_MEMBERS
	u64 count;            /* events; excludes the unfinished period of each CPU while the event runs */
	size_t cpus;          /* CPUs on which the event is open now */
	size_t cpus_in_error; /* the part of `cpus` on which another pinned event holds the counter */
};

/*
 * Opens the event, disabled, on those CPUs of the spec that the file `online_path` (PERF_ONLINE_PATH)
 * lists. The spec's period must be at least 1. Weakens the attributes if the kernel demands it
 * (perf_attr_relax()), in the same way on all CPUs. Raises the soft limit of file descriptors if needed.
 * Returns 0, or -errno with `ret_message` set. The caller frees the message, which is NULL when out of
 * memory.
 */
int perf_open(const struct event_spec *spec, const char *online_path, struct perf_event_set **ret,
	      char **ret_message);
struct perf_event_set *perf_set_free(struct perf_event_set *set);
DEFINE_CLEANUP(struct perf_event_set *, perf_set_free)

/*
 * Opens one event on `cpu` and closes it again, to find out whether the kernel accepts it. If so, `spec`
 * describes afterwards how it was opened. Returns and sets `ret_message` like perf_open().
 */
int perf_try(struct event_spec *spec, int cpu, char **ret_message);

/*
 * Returns the event as opened. Its settings say which fields each sample has, and its period is the one in
 * force. The set owns the event.
 */
const struct event *perf_event(const struct perf_event_set *set);

/*
 * Returns the spec as the kernel accepted it: with weakened attributes, if the kernel demanded that, and
 * the period in force. The set owns the spec, whose members may grow with perf_hotplug() and perf_resume().
 */
const struct event_spec *perf_spec(const struct perf_event_set *set);

/*
 * Returns true if the event is multiplexed with another one of pebsd that needs the same counter. An event that
 * only counts is not: it waits for any counter.
 */
bool perf_is_multiplexed(const struct perf_event_set *set);

/*
 * Returns the CPUs on which the event is open. The set owns the list, which is valid until the next
 * perf_hotplug().
 */
const struct cpu_list *perf_cpus(const struct perf_event_set *set);

/*
 * Attaches the program to the event on each CPU and enables the event. The caller owns `program_fd` and must
 * keep it open as long as the set lives. Returns 0, or -errno with `ret_message` set. After an error the set
 * can only be freed.
 */
int perf_start(struct perf_event_set *set, int program_fd, char **ret_message);

/*
 * Like perf_start(), but for events that outlive the process:
 * - An event of the previous process keeps sampling, in place of the one just opened, if `save` says that it
 *   runs this process's program and if it was opened in the same way.
 * - Otherwise the event just opened replaces it, starting when the old one has ended. The counts continue.
 * - Descriptors and counts of the open events are saved now and whenever a CPU comes online.
 *
 * `number` is the index of this set, below the `n_sets` of `save`. `save` must outlive the set. If the
 * settings of `save` say `stay_paused`, the set stays paused. Otherwise a pause of the previous process ends
 * here. Returns like perf_start().
 */
int perf_start_restored(struct perf_event_set *set, int program_fd, struct perf_save *save, unsigned number,
			char **ret_message);

/*
 * Changes the period on every CPU, without reopening the event: see perf_cpu_set_period(). The period must be
 * at least 1. Events counted so far stay attributed to the old period. Returns 0, or -errno with
 * `ret_message` set. After an error all CPUs have the old period.
 */
int perf_set_period(struct perf_event_set *set, u64 period, char **ret_message);

/*
 * Notes that the period in force is the one that the configuration asks for. If the next process is asked for
 * the same period, it continues with the period that is in force when it takes over, even if
 * perf_set_period() has changed that in between.
 */
void perf_mark_configured(struct perf_event_set *set);

/*
 * Disables the event on each CPU, unless it is saved for the next process. The next perf_count() then reads
 * final counts, and every sample in them was delivered.
 */
void perf_stop(struct perf_event_set *set);

/*
 * Sums up the counts. For a running event perf_count() reads the mapped page, which is up to date as of the
 * last sample. It calls read(2), which interrupts the CPU of a running event, only if the page shows the
 * event on no counter and has not changed:
 * - to distinguish an event that waits for a counter from one in error,
 * - for software events,
 * - for IBS, on a CPU without a sample since the last call,
 * - if /sys/.../cpu/rdpmc is 0.
 *
 * Throttling is read from the events' rings, which grow to hold the records of at least one second.
 */
void perf_count(struct perf_event_set *set, struct perf_counts *ret);

/*
 * perf_find_stalled() finds the CPUs on which the event counts but no longer produces samples, at `now_ns` of
 * CLOCK_MONOTONIC: see perf_cpu_find_stall(). If `last` is set, it checks all CPUs, because no later call
 * will. It returns the number of stalled CPUs. perf_rearm_stalled() rearms the event on them. perf_count()
 * then reports how many samples were missed.
 *
 * Call perf_find_stalled() for all sets, with the same time, before you rearm any event. When a pinned event
 * is enabled, the kernel reloads all events of that CPU (ctx_resched(), kernel/events/core.c, Linux 6.1, 6.12
 * and 7.3), and it could no longer be detected that the others were stalled too.
 */
size_t perf_find_stalled(struct perf_event_set *set, u64 now_ns, bool last);
void perf_rearm_stalled(struct perf_event_set *set);

/*
 * Reloads the counters of all CPUs with the period in force, so that they produce samples again in any case.
 * Keeps the counts. The next sample of each CPU comes after a whole period.
 */
void perf_rearm(struct perf_event_set *set);

/*
 * Returns the counts of each CPU, as of the last perf_count(), for every CPU on which the event was ever
 * open, in ascending order. A CPU that went offline and came back has one entry. The set owns the array,
 * which is valid until the next perf_count().
 */
const struct cpu_counts *perf_count_cpus(const struct perf_event_set *set, size_t *ret_n);

/*
 * Follows CPUs that came online or went offline:
 * - Reads the list of a hybrid PMU's CPUs again if other CPUs are online than before.
 * - Opens the event on new CPUs, and starts it if the set is started.
 * - Closes the event on CPUs that are offline.
 * - Reopens the event on CPUs that were offline for a while, because the kernel has detached it.
 * - Enables events in error again.
 *
 * Returns the number of CPUs opened and closed. On an error it does what can be done, sets `ret_message` and
 * returns -errno. While the set is paused it opens nothing, and adds the elapsed time to the pause of each
 * CPU that would be sampled.
 */
int perf_hotplug(struct perf_event_set *set, char **ret_message);

/*
 * Closes the event on every CPU, so that other users can have its counters, even for pinned events. The
 * counts stay and are final: every sample in them was delivered. perf_cpus() stays as it was. A second call
 * does nothing.
 */
void perf_pause(struct perf_event_set *set);

/*
 * Opens and starts the event again. Returns 0, or -errno with `ret_message` set. Even after an error the set
 * is no longer paused, and perf_hotplug() retries the CPUs on which the event could not be opened. Does
 * nothing if the set is not paused.
 */
int perf_resume(struct perf_event_set *set, char **ret_message);

#endif

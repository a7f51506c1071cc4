// SPDX-License-Identifier: GPL-2.0
/*
 * perf_event_open(2) for all of pebsd. Each call goes to the kernel first. If this process lacks the rights
 * (EACCES, EPERM), the call goes to pebsd-opener, if pebsd-opener is listening (origin/opener/opener_client.h).
 * All descriptors are close-on-exec.
 */
#ifndef PEBSD_PERF_BACKEND_H
#define PEBSD_PERF_BACKEND_H

#include <linux/perf_event.h>
#include <stdbool.h>

/*
 * Open an event on a CPU, on the tasks of a cgroup on a CPU, or on the calling thread. `group_fd` is the
 * group leader, or -1. They return the descriptor or -errno. If pebsd-opener was needed but did not try to
 * open the event, the result is the kernel's answer to this process, and perf_backend_trouble() says why.
 */
int perf_backend_cpu(const struct perf_event_attr *attr, int cpu, int group_fd);
int perf_backend_cgroup(const struct perf_event_attr *attr, int cgroup_fd, int cpu, int group_fd);
int perf_backend_thread(const struct perf_event_attr *attr, int group_fd);

/* Returns true if the last event of a CPU or cgroup was opened by pebsd-opener. */
bool perf_backend_by_opener(void);

/*
 * Returns true if opening may succeed later, because `error` is not a property of the machine: memory or the
 * system's descriptors were short, the counters were in use, or pebsd-opener did not answer correctly. `error`
 * must be that of the last event requested.
 */
bool perf_backend_may_mend(int error);

#define PERF_BACKEND_TROUBLE_MAX 400

/*
 * Writes why pebsd-opener did not help and what to do, for messages. Writes "" if pebsd-opener was not asked
 * or is not the cause.
 */
void perf_backend_trouble(char ret[PERF_BACKEND_TROUBLE_MAX]);

#endif

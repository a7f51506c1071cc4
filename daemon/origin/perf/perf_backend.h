// SPDX-License-Identifier: GPL-2.0
/*
 * perf_event_open(2) for all of pebsd: by itself first, and where the kernel wants rights for it that this
 * process does not have (EACCES, EPERM), by the opener, where that listens (origin/opener/opener_client.h).
 * Descriptors are close-on-exec.
 */
#ifndef PEBSD_PERF_BACKEND_H
#define PEBSD_PERF_BACKEND_H

#include <linux/perf_event.h>
#include <stdbool.h>

/*
 * Open an event on a CPU, on a cgroup's tasks there, or on the calling thread; `group_fd`: its leader, or -1.
 * Return the descriptor, or -errno: where both ways failed the kernel's own refusal, and perf_backend_trouble()
 * tells of the other.
 */
int perf_backend_cpu(const struct perf_event_attr *attr, int cpu, int group_fd);
int perf_backend_cgroup(const struct perf_event_attr *attr, int cgroup_fd, int cpu, int group_fd);
int perf_backend_thread(const struct perf_event_attr *attr, int group_fd);

/* Whether the last event that was opened came from the opener. */
bool perf_backend_by_opener(void);

/* Whether another try may open what gave this error, for it is no verdict on the machine: memory or
 * descriptors were short, or the opener was not able to answer. Of the last event that was asked for. */
bool perf_backend_may_mend(int error);

#define PERF_BACKEND_TROUBLE_MAX 400

/* Why the opener was of no help, and what to do, for messages; "": it was not asked, or is not to blame. */
void perf_backend_trouble(char ret[PERF_BACKEND_TROUBLE_MAX]);

#endif

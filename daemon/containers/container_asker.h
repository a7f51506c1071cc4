// SPDX-License-Identifier: GPL-2.0
/*
 * Sends requests to the process that reads containers' names (container_worker.h), one at a time, without waiting
 * for answers. The process is started for the first request and ended after CONTAINER_ASKER_IDLE_SECONDS
 * without one. If it does not answer within CONTAINER_ASKER_SECONDS, for instance because a file system
 * hangs, it is killed. No other process is started before it has ended.
 */
#ifndef PEBSD_CONTAINER_ASKER_H
#define PEBSD_CONTAINER_ASKER_H

#include <systemd/sd-event.h>

#include "base/cleanup.h"
#include "cgroup/container_label.h"
#include "pebsd/types.h"

#define CONTAINER_ASKER_SECONDS      10
#define CONTAINER_ASKER_IDLE_SECONDS 60

/*
 * Time before a new process is started: after the last request of a process that ended by itself, after a process
 * was killed because it did not answer, or after a failed start.
 */
#define CONTAINER_ASKER_REST_SECONDS 30

struct container_asker_settings {
	sd_event *event;
	const char *program; /* run with --container-names; NULL: this program */
	/* Called with the answer to the request, or NULL if there is none. May send the next request. */
	void (*answered)(void *userdata, const struct container_labels *answer);
	void *userdata;
};

struct container_asker;

/* Returns 0 or -ENOMEM. `program` is borrowed. */
int container_asker_new(const struct container_asker_settings *settings, struct container_asker **ret);

/* Kills the process, and waits for its end for at most a second. */
struct container_asker *container_asker_free(struct container_asker *asker);
DEFINE_CLEANUP(struct container_asker *, container_asker_free)

/*
 * Requests the names that belong to `labels`. Returns 0, and `answered` is called later. Returns -EBUSY if a
 * request is pending, if the previous process is ending, or if a process may not be started yet. Returns -errno if
 * the process cannot be started, which is logged once, or if the request cannot be sent.
 */
int container_asker_ask(struct container_asker *asker, const struct container_labels *labels, u64 now_ns);

/* Ends a process that took too long or is idle. Call this every few seconds. */
void container_asker_tick(struct container_asker *asker, u64 now_ns);

/* Returns the process's id, or -1 if none runs. */
pid_t container_asker_pid(const struct container_asker *asker);

#endif

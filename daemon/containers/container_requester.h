// SPDX-License-Identifier: GPL-2.0
/*
 * Sends requests to the process that reads containers' names (container_worker.h), one at a time, without waiting
 * for answers. The process is started for the first request and ended after CONTAINER_REQUESTER_IDLE_SECONDS
 * without one. If it does not answer within CONTAINER_REQUESTER_SECONDS, for instance because a file system
 * hangs, it is killed. No other process is started before it has ended.
 */
#ifndef PEBSD_CONTAINER_REQUESTER_H
#define PEBSD_CONTAINER_REQUESTER_H

#include <systemd/sd-event.h>

#include "base/cleanup.h"
#include "cgroup/container_label.h"
#include "pebsd/types.h"

#define CONTAINER_REQUESTER_SECONDS      10
#define CONTAINER_REQUESTER_IDLE_SECONDS 60

/*
 * Time before a new process is started: after the last request of a process that ended by itself, after a process
 * was killed because it did not answer, or after a failed start.
 */
#define CONTAINER_REQUESTER_REST_SECONDS 30

struct container_requester_settings {
	sd_event *event;
	const char *program; /* run with --container-names; NULL: this program */
	/* Called with the answer to the request, or NULL if there is none. May send the next request. */
	void (*answered)(void *userdata, const struct container_labels *answer);
	void *userdata;
};

struct container_requester;

/* Returns 0 or -ENOMEM. `program` is borrowed. */
int container_requester_new(const struct container_requester_settings *settings,
			    struct container_requester **ret);

/* Kills the process, and waits for its end for at most a second. */
struct container_requester *container_requester_free(struct container_requester *requester);
DEFINE_CLEANUP(struct container_requester *, container_requester_free)

/*
 * Requests the names that belong to `labels`. Returns 0, and `answered` is called later. Returns -EBUSY if a
 * request is pending, if the previous process is ending, or if a process may not be started yet. Returns -errno if
 * the process cannot be started, which is logged once, or if the request cannot be sent.
 */
int container_requester_ask(struct container_requester *requester, const struct container_labels *labels,
			    u64 now_ns);

/* Ends a process that took too long or is idle. Call this every few seconds. */
void container_requester_tick(struct container_requester *requester, u64 now_ns);

/* Returns the process's id, or -1 if none runs. */
pid_t container_requester_pid(const struct container_requester *requester);

#endif

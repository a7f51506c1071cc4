// SPDX-License-Identifier: GPL-2.0
/*
 * Asks the process that reads containers' names (container_worker.h), one question at a time, without ever
 * waiting for it. It is started for the first question, and ended where it has had none for
 * CONTAINER_ASKER_IDLE_SECONDS. One that does not answer within CONTAINER_ASKER_SECONDS, as on a file system
 * that hangs, is killed; as long as it has not ended no other one is started.
 */
#ifndef PEBSD_CONTAINER_ASKER_H
#define PEBSD_CONTAINER_ASKER_H

#include <systemd/sd-event.h>

#include "base/cleanup.h"
#include "cgroup/container_label.h"
#include "pebsd/types.h"

#define CONTAINER_ASKER_SECONDS      10
#define CONTAINER_ASKER_IDLE_SECONDS 60

/* After a process that ended by itself, or was killed, none is started for so long. */
#define CONTAINER_ASKER_REST_SECONDS 30

struct container_asker_settings {
	sd_event *event;
	const char *program; /* that is run with --container-names; NULL: this one */
	/* The answer to the question, or NULL: there is none. Another may be asked from here. */
	void (*answered)(void *userdata, const struct container_labels *answer);
	void *userdata;
};

struct container_asker;

/* 0 or -ENOMEM; `program` is borrowed. */
int container_asker_new(const struct container_asker_settings *settings, struct container_asker **ret);
struct container_asker *container_asker_free(struct container_asker *asker);
DEFINE_CLEANUP(struct container_asker *, container_asker_free)

/*
 * Asks what is known beside `labels`. 0: `answered` is called, later. -EBUSY: a question is under way, or the
 * process rests; -errno where it cannot be started, which is told once.
 */
int container_asker_ask(struct container_asker *asker, const struct container_labels *labels, u64 now_ns);

/* Ends what took too long, or has nothing to do. Once in some seconds. */
void container_asker_tick(struct container_asker *asker, u64 now_ns);

/* Its process; -1: none runs. */
pid_t container_asker_pid(const struct container_asker *asker);

#endif

// SPDX-License-Identifier: GPL-2.0
/*
 * Messages between pebsd and its opener, over a socket that keeps their bounds (SOCK_SEQPACKET): a request,
 * and its answer, one in a packet each. Descriptors go beside the bytes (SCM_RIGHTS): with a request the
 * leader of the event's group, then the directory of the cgroup; with an answer the event. Either side
 * refuses whatever is not exactly of this form. Pure.
 */
#ifndef PEBSD_OPENER_WIRE_H
#define PEBSD_OPENER_WIRE_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>

#include "pebsd/types.h"

/* What an event is opened on. */
enum opener_target {
	OPENER_CPU,    /* all that runs on the CPU */
	OPENER_CGROUP, /* of that, a cgroup's tasks */
	OPENER_THREAD, /* one of the asking process's own threads, on whatever CPU */
	OPENER_TARGETS
};

struct opener_request {
	enum opener_target target;
	int cpu;        /* not of OPENER_THREAD: -1 */
	int thread;     /* of OPENER_THREAD, as gettid(2) has it; else -1 */
	bool has_group; /* it comes with its leader */
	struct perf_event_attr attr;
};

/* Descriptors beside a request, at most. */
#define OPENER_FDS_MAX 2

#define OPENER_REASON_MAX 256 /* with its 0 */

/* An event comes with `error` 0 and no reason. */
struct opener_answer {
	int error;                      /* of perf_event_open(2), -errno; -EACCES with a reason: refused */
	char reason[OPENER_REASON_MAX]; /* why the opener itself refused; "": it did not */
};

#define OPENER_REQUEST_BYTES (6 * sizeof(u32) + sizeof(struct perf_event_attr))
#define OPENER_ANSWER_BYTES  (3 * sizeof(u32) + OPENER_REASON_MAX)

void opener_wire_write_request(const struct opener_request *request, u8 ret[OPENER_REQUEST_BYTES]);
void opener_wire_write_answer(const struct opener_answer *answer, u8 ret[OPENER_ANSWER_BYTES]);

/* Descriptors that come beside it. */
size_t opener_wire_request_fds(const struct opener_request *request);

/*
 * `n_fds`: descriptors that came beside the bytes. Return 0; -EPROTONOSUPPORT where the other side is of
 * another version; -EBADMSG.
 */
int opener_wire_read_request(const void *bytes, size_t size, size_t n_fds, struct opener_request *ret);
int opener_wire_read_answer(const void *bytes, size_t size, size_t n_fds, struct opener_answer *ret);

#endif

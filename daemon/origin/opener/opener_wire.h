// SPDX-License-Identifier: GPL-2.0
/*
 * The messages between pebsd and pebsd-opener, over a socket that preserves packets (SOCK_SEQPACKET). A
 * request and its answer are one packet each. Descriptors accompany the bytes (SCM_RIGHTS). A request may
 * come with two: first the leader of the event's group, then the directory of the cgroup. An answer comes
 * with the event if that was opened. Either side rejects a message that does not have exactly this form. Pure
 * functions.
 */
#ifndef PEBSD_OPENER_WIRE_H
#define PEBSD_OPENER_WIRE_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>

#include "pebsd/types.h"

/* The target that an event is opened on. */
enum opener_target {
	OPENER_CPU,    /* everything that runs on a CPU */
	OPENER_CGROUP, /* a cgroup's tasks on a CPU */
	OPENER_THREAD, /* a thread of the requesting process, on any CPU */
	OPENER_TARGETS
};

struct opener_request {
	enum opener_target target;
	int cpu;        /* -1 for OPENER_THREAD */
	int thread;     /* the number from gettid(2) for OPENER_THREAD; otherwise -1 */
	bool has_group; /* the descriptor of the group's leader accompanies the request */
	struct perf_event_attr attr;
};

/* Maximum number of descriptors that accompany a request. */
#define OPENER_FDS_MAX 2

#define OPENER_REASON_MAX 256 /* including the NUL */

/* If `error` is 0, the event accompanies the answer and `reason` is empty. */
struct opener_answer {
	int error;                      /* -errno of perf_event_open(2); -EACCES with a reason if refused */
	char reason[OPENER_REASON_MAX]; /* the reason why pebsd-opener itself refused; "": it did not */
};

#define OPENER_REQUEST_BYTES (6 * sizeof(u32) + sizeof(struct perf_event_attr))
#define OPENER_ANSWER_BYTES  (3 * sizeof(u32) + OPENER_REASON_MAX)

void opener_wire_write_request(const struct opener_request *request, u8 ret[OPENER_REQUEST_BYTES]);
void opener_wire_write_answer(const struct opener_answer *answer, u8 ret[OPENER_ANSWER_BYTES]);

/* Returns the number of descriptors that accompany a request. */
size_t opener_wire_request_fds(const struct opener_request *request);

/*
 * Parse a message that came with `n_fds` descriptors. They return 0, -EPROTONOSUPPORT if the other side has
 * another version, or -EBADMSG.
 */
int opener_wire_read_request(const void *bytes, size_t size, size_t n_fds, struct opener_request *ret);
int opener_wire_read_answer(const void *bytes, size_t size, size_t n_fds, struct opener_answer *ret);

#endif

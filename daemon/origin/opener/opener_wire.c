// SPDX-License-Identifier: GPL-2.0
#include "origin/opener/opener_wire.h"

#include <errno.h>
#include <string.h>

/* "pebo", and the version of the messages. */
#define MAGIC   0x6f626570U
#define VERSION 1U

struct head {
	u32 magic;
	u32 version;
};

struct wire_request {
	struct head head;
	u32 target;
	s32 cpu;
	s32 thread;
	u32 has_group;
	struct perf_event_attr attr;
};

struct wire_answer {
	struct head head;
	s32 error;
	char reason[OPENER_REASON_MAX];
};

_Static_assert(sizeof(struct wire_request) == OPENER_REQUEST_BYTES, "no holes");
_Static_assert(sizeof(struct wire_answer) == OPENER_ANSWER_BYTES, "no holes");

static const struct head our_head = {.magic = MAGIC, .version = VERSION};

/* Checks the version before the size, because messages of another version may have another size. */
static int check_head(const void *bytes, size_t size, size_t wanted)
{
	struct head head;

	if (size < sizeof(head))
		return -EBADMSG;
	memcpy(&head, bytes, sizeof(head));
	if (head.magic != MAGIC)
		return -EBADMSG;
	if (head.version != VERSION)
		return -EPROTONOSUPPORT;
	return size == wanted ? 0 : -EBADMSG;
}

void opener_wire_write_request(const struct opener_request *request, u8 ret[OPENER_REQUEST_BYTES])
{
	const struct wire_request wire = {
		.head = our_head,
		.target = request->target,
		.cpu = request->cpu,
		.thread = request->thread,
		.has_group = request->has_group,
		.attr = request->attr,
	};

	memcpy(ret, &wire, sizeof(wire));
}

void opener_wire_write_answer(const struct opener_answer *answer, u8 ret[OPENER_ANSWER_BYTES])
{
	struct wire_answer wire = {.head = our_head, .error = answer->error};

	memcpy(wire.reason, answer->reason, strnlen(answer->reason, sizeof(wire.reason) - 1));
	memcpy(ret, &wire, sizeof(wire));
}

size_t opener_wire_request_fds(const struct opener_request *request)
{
	return (request->has_group ? 1U : 0U) + (request->target == OPENER_CGROUP ? 1U : 0U);
}

int opener_wire_read_request(const void *bytes, size_t size, size_t n_fds, struct opener_request *ret)
{
	const int r = check_head(bytes, size, sizeof(struct wire_request));
	struct wire_request wire;

	if (r < 0)
		return r;
	memcpy(&wire, bytes, sizeof(wire));
	if (wire.target >= OPENER_TARGETS || wire.has_group > 1 || wire.attr.size != sizeof(wire.attr))
		return -EBADMSG;
	if (wire.target == OPENER_THREAD ? wire.cpu != -1 || wire.thread <= 0
					 : wire.cpu < 0 || wire.thread != -1)
		return -EBADMSG;
	*ret = (struct opener_request){
		.target = (enum opener_target)wire.target,
		.cpu = wire.cpu,
		.thread = wire.thread,
		.has_group = wire.has_group,
		.attr = wire.attr,
	};
	return opener_wire_request_fds(ret) == n_fds ? 0 : -EBADMSG;
}

int opener_wire_read_answer(const void *bytes, size_t size, size_t n_fds, struct opener_answer *ret)
{
	const int r = check_head(bytes, size, sizeof(struct wire_answer));
	struct wire_answer wire;

	if (r < 0)
		return r;
	memcpy(&wire, bytes, sizeof(wire));
	if (wire.error > 0 || wire.error < -4095 || wire.reason[OPENER_REASON_MAX - 1] != '\0' ||
	    n_fds != (wire.error == 0 ? 1U : 0U) || (wire.error == 0 && wire.reason[0] != '\0'))
		return -EBADMSG;
	for (const char *c = wire.reason; *c; c++)
		if (*c < ' ' || *c > '~')
			return -EBADMSG;
	*ret = (struct opener_answer){.error = wire.error};
	memcpy(ret->reason, wire.reason, strlen(wire.reason) + 1);
	return 0;
}

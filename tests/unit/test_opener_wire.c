// SPDX-License-Identifier: GPL-2.0
/* The messages between pebsd and its opener, and the messages that each side refuses. */
#include <criterion/criterion.h>

#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "origin/opener/opener_wire.h"

static const struct opener_request on_cpu = {
	.target = OPENER_CPU,
	.cpu = 3,
	.thread = -1,
	.has_group = true,
	.attr = {.type = 4, .size = sizeof(struct perf_event_attr), .config = 0x1cd, .sample_period = 1000},
};

static const struct opener_request on_cgroup = {
	.target = OPENER_CGROUP,
	.cpu = 0,
	.thread = -1,
	.attr = {.type = 4, .size = sizeof(struct perf_event_attr)},
};

static const struct opener_request on_thread = {
	.target = OPENER_THREAD,
	.cpu = -1,
	.thread = 4711,
	.attr = {.type = 4, .size = sizeof(struct perf_event_attr)},
};

Test(opener_wire, requests_arrive_unchanged)
{
	const struct opener_request *const all[] = {&on_cpu, &on_cgroup, &on_thread};
	const size_t n_fds[] = {1, 1, 0};

	for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
		struct opener_request read;
		u8 bytes[OPENER_REQUEST_BYTES];

		opener_wire_write_request(all[i], bytes);
		cr_expect_eq(opener_wire_request_fds(all[i]), n_fds[i]);
		cr_assert_eq(opener_wire_read_request(bytes, sizeof(bytes), n_fds[i], &read), 0, "%zu", i);
		cr_expect_eq(read.target, all[i]->target);
		cr_expect_eq(read.cpu, all[i]->cpu);
		cr_expect_eq(read.thread, all[i]->thread);
		cr_expect_eq(read.has_group, all[i]->has_group);
		cr_expect_eq(memcmp(&read.attr, &all[i]->attr, sizeof(read.attr)), 0);
		cr_expect_eq(opener_wire_read_request(bytes, sizeof(bytes), n_fds[i] + 1, &read), -EBADMSG);
		cr_expect_eq(opener_wire_read_request(bytes, sizeof(bytes) - 1, n_fds[i], &read), -EBADMSG);
	}
}

static int read_changed(const struct opener_request *request, size_t word, u32 value)
{
	u8 bytes[OPENER_REQUEST_BYTES];
	struct opener_request read;

	opener_wire_write_request(request, bytes);
	memcpy(bytes + word * sizeof(u32), &value, sizeof(value));
	return opener_wire_read_request(bytes, sizeof(bytes), opener_wire_request_fds(request), &read);
}

/* The words of a request: magic, version, target, CPU, thread, group, then the attributes: type, size. */
Test(opener_wire, invalid_requests_are_refused)
{
	cr_expect_eq(read_changed(&on_cpu, 0, 1), -EBADMSG);
	cr_expect_eq(read_changed(&on_cpu, 1, 2), -EPROTONOSUPPORT);
	cr_expect_eq(read_changed(&on_cpu, 2, OPENER_TARGETS), -EBADMSG);
	cr_expect_eq(read_changed(&on_cpu, 3, (u32)-1), -EBADMSG, "no CPU");
	cr_expect_eq(read_changed(&on_cpu, 4, 4711), -EBADMSG, "a thread on a CPU");
	cr_expect_eq(read_changed(&on_cpu, 5, 2), -EBADMSG);
	cr_expect_eq(read_changed(&on_cpu, 7, 64), -EBADMSG, "attributes of another size");
	cr_expect_eq(read_changed(&on_thread, 3, 0), -EBADMSG, "a thread on a CPU");
	cr_expect_eq(read_changed(&on_thread, 4, 0), -EBADMSG, "no thread");
}

Test(opener_wire, answers_arrive_unchanged)
{
	const struct opener_answer refused = {.error = -EACCES, .reason = "no such event"};
	u8 bytes[OPENER_ANSWER_BYTES];
	struct opener_answer read;

	opener_wire_write_answer(&refused, bytes);
	cr_assert_eq(opener_wire_read_answer(bytes, sizeof(bytes), 0, &read), 0);
	cr_expect_eq(read.error, -EACCES);
	cr_expect_str_eq(read.reason, "no such event");
	cr_expect_eq(opener_wire_read_answer(bytes, sizeof(bytes), 1, &read), -EBADMSG,
		     "an event with a refusal");
	bytes[3 * sizeof(u32)] = '\n';
	cr_expect_eq(opener_wire_read_answer(bytes, sizeof(bytes), 0, &read), -EBADMSG,
		     "a reason that is not for a log");

	opener_wire_write_answer(&(struct opener_answer){0}, bytes);
	cr_expect_eq(opener_wire_read_answer(bytes, sizeof(bytes), 1, &read), 0);
	cr_expect_eq(read.error, 0);
	cr_expect_eq(opener_wire_read_answer(bytes, sizeof(bytes), 0, &read), -EBADMSG, "no event");
}

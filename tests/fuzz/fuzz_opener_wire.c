// SPDX-License-Identifier: GPL-2.0
/*
 * Any bytes sent to pebsd-opener, and any answer from it. A message is refused, or it is read and must be the
 * same after it is written again. The first byte selects the receiver of the rest, the second how many
 * descriptors came with it. An event that the opener allows must be one of pebsd's and must not contain
 * anything that a sample must never have.
 */
#include <stdlib.h>
#include <string.h>

#include "opener/opener_allowed.h"
#include "origin/opener/opener_wire.h"

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

#define DEMAND(condition)         \
	do {                      \
		if (!(condition)) \
			abort();  \
	} while (0)

#define NEVER                                                                                       \
	(PERF_SAMPLE_REGS_USER | PERF_SAMPLE_REGS_INTR | PERF_SAMPLE_STACK_USER | PERF_SAMPLE_RAW | \
	 PERF_SAMPLE_AUX)

static const struct pmu_plan plan = {
	.n_specs = 2,
	.specs = {{.event = {.role = EVENT_LOADS,
			     .pmu = "cpu",
			     .period = 1000,
			     .ldlat = 30,
			     .settings = {.has_latency = 1,
					  .has_source = 1,
					  .has_address = 1,
					  .weight_struct = 1}},
		   .type = 4,
		   .config = 0x1cd,
		   .config1 = 30,
		   .precise_ip = 2,
		   .period_min = 1,
		   .period_step = 1,
		   .exclude_guest = true},
		  {.event = {.role = EVENT_LOADS,
			     .pmu = "ibs_op",
			     .period = 16000,
			     .ldlat = 128,
			     .latency_kind = LATENCY_DC_MISS,
			     .settings = {.has_latency = 1, .has_source = 1}},
		   .type = 11,
		   .config = 1 << 19,
		   .config1 = 128,
		   .period_min = 0x90,
		   .period_step = 16}},
	.n_counters = 1,
	.counters = {{.pmu = "cpu", .type = 4, .config = 0x1b7, .config1 = 0x10001}},
};

static void judge(const struct opener_request *request)
{
	char reason[OPENER_REASON_MAX];
	int r = opener_allowed(&plan, request, reason);

	DEMAND(memchr(reason, '\0', sizeof(reason)));
	DEMAND((r == 0) == (reason[0] == '\0'));
	for (const char *c = reason; *c; c++)
		DEMAND(*c >= ' ' && *c <= '~');
	if (r < 0)
		return;
	DEMAND(!(request->attr.sample_type & NEVER));
	DEMAND(!request->attr.inherit && !request->attr.sigtrap && !request->attr.freq &&
	       request->attr.disabled);
	DEMAND(request->attr.type == 4 || request->attr.type == 11 ||
	       (request->attr.type == PERF_TYPE_SOFTWARE && request->attr.config == PERF_COUNT_SW_DUMMY));
}

static void read_request(const unsigned char *data, size_t size, size_t n_fds)
{
	struct opener_request request, again;
	u8 bytes[OPENER_REQUEST_BYTES];

	if (opener_wire_read_request(data, size, n_fds, &request) < 0)
		return;
	opener_wire_write_request(&request, bytes);
	DEMAND(size == sizeof(bytes) && memcmp(bytes, data, size) == 0);
	DEMAND(opener_wire_read_request(bytes, sizeof(bytes), n_fds, &again) == 0);
	judge(&request);
}

static void read_answer(const unsigned char *data, size_t size, size_t n_fds)
{
	struct opener_answer answer, again;
	u8 bytes[OPENER_ANSWER_BYTES];

	if (opener_wire_read_answer(data, size, n_fds, &answer) < 0)
		return;
	opener_wire_write_answer(&answer, bytes);
	DEMAND(opener_wire_read_answer(bytes, sizeof(bytes), n_fds, &again) == 0);
	DEMAND(again.error == answer.error && strcmp(again.reason, answer.reason) == 0);
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
	if (size < 2)
		return 0;
	if (data[0] & 1)
		read_request(data + 2, size - 2, data[1]);
	else
		read_answer(data + 2, size - 2, data[1]);
	return 0;
}

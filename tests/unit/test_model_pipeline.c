// SPDX-License-Identifier: GPL-2.0
/* The time that instructions take in the model's core: loads that overlap, and cycles in which it waits for one. */
#include <criterion/criterion.h>

#include "model/pipeline.h"

/* A loop: a load of `latency` cycles and `plain` other instructions. The loads form this many chains of pointers. */
struct loop {
	u64 latency, plain;
	u32 chains; /* 0: no load needs the data of another */
};

#define CHAINS_MAX 16

struct outcome {
	u64 cycles, stalled;
};

static struct outcome run(const struct loop *loop, u32 rounds)
{
	struct pipeline pipeline;
	struct outcome outcome = {0};
	u64 data[CHAINS_MAX] = {0};

	pipeline_open(&pipeline, 1000);
	for (u32 i = 0; i < rounds; i++) {
		u64 *chain = &data[loop->chains ? i % loop->chains : 0];
		u64 started = pipeline_enter(&pipeline, loop->chains ? *chain : 0);

		*chain = started + loop->latency;
		outcome.stalled += pipeline_retire(&pipeline, *chain);
		pipeline_pass(&pipeline, loop->plain);
	}
	outcome.cycles = pipeline.retired - 1000;
	return outcome;
}

static void expect_outcome(struct loop loop, u32 rounds, u64 cycles, u64 stalled)
{
	struct outcome outcome = run(&loop, rounds);

	cr_expect_eq(outcome.cycles, cycles, "%u chains: %lu cycles", loop.chains, outcome.cycles);
	cr_expect_eq(outcome.stalled, stalled, "%u chains: %lu stalled", loop.chains, outcome.stalled);
}

Test(model_pipeline, a_register_loop_is_never_stalled)
{
	struct pipeline pipeline;

	pipeline_open(&pipeline, 1000);
	pipeline_pass(&pipeline, 1);
	pipeline_pass(&pipeline, 123456);
	cr_expect_eq(pipeline.retired, 1000 + 123457);
	/* A load of one cycle is done when it is its turn. */
	cr_expect_eq(pipeline_enter(&pipeline, 0), 1000 + 123458);
	cr_expect_eq(pipeline_retire(&pipeline, 1000 + 123458), 0);
}

/* Each load takes 300 cycles after the one before. Three cycles of each round retire an instruction. */
Test(model_pipeline, a_pointer_chase_is_stalled_nearly_all_of_the_time)
{
	expect_outcome((struct loop){.latency = 300, .plain = 2, .chains = 1}, 1000, 300003, 297003);
}

/*
 * Loads that need nothing overlap as far as the window reaches: 224 instructions are 28 rounds of 8, so 28 loads
 * take as long as one.
 */
Test(model_pipeline, a_streaming_loop_is_stalled_for_a_part_of_the_time)
{
	expect_outcome((struct loop){.latency = 300, .plain = 7, .chains = 0}, 28, 301 + 223, 300);
	expect_outcome((struct loop){.latency = 300, .plain = 7, .chains = 0}, 28000, 300224, 76224);
}

/* The same loads of the same latency: with four chains instead of one, four of them overlap. */
Test(model_pipeline, overlap_changes_stalls_at_the_same_latency)
{
	expect_outcome((struct loop){.latency = 300, .plain = 19, .chains = 1}, 4000, 1200020, 1120020);
	expect_outcome((struct loop){.latency = 300, .plain = 19, .chains = 4}, 4000, 300080, 220080);
}

/* The instruction that would be the 225th in the window enters when the first one has retired. */
Test(model_pipeline, the_window_limits_how_far_loads_run_ahead)
{
	struct pipeline pipeline;

	pipeline_open(&pipeline, 0);
	cr_expect_eq(pipeline_enter(&pipeline, 0), 1);
	cr_expect_eq(pipeline_retire(&pipeline, 1001), 1000);
	pipeline_pass(&pipeline, 222);
	cr_expect_eq(pipeline_enter(&pipeline, 0), 224);
	cr_expect_eq(pipeline_retire(&pipeline, 224 + 1000), 0);
	cr_expect_eq(pipeline_enter(&pipeline, 0), 1001);
	cr_expect_eq(pipeline_retire(&pipeline, 2001), 2001 - 1224 - 1);
}

/* Each instruction is a load that waits, which is the most that the pipeline has to remember. */
Test(model_pipeline, a_window_full_of_loads_is_remembered)
{
	struct loop loop = {.latency = 10, .plain = 0, .chains = 1};

	expect_outcome(loop, 100000, 1000001, 900001);
}

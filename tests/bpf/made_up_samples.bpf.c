// SPDX-License-Identifier: GPL-2.0
/*
 * The path of a sample with latencies and data sources on machines whose PMU gives none. The weight and data
 * source read from the kernel's perf_sample_data are replaced by a row of a table. The address that faulted
 * selects the row. For benchmarks and tests.
 */
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#include "read_sample.h"

#define MADE_UP 256

/* Each row holds the weight, then the data source. */
u64 made_up[MADE_UP][2] = {};

static __always_inline void read_made_up(struct bpf_perf_event_data *context, struct raw_sample *ret)
{
	const u64 *row;

	read_raw_sample(context, ret);
	row = made_up[read_address(context) >> 12 & (MADE_UP - 1)];
	ret->flags |= PERF_SAMPLE_WEIGHT_STRUCT | PERF_SAMPLE_DATA_SRC;
	ret->weight = row[0];
	ret->data_source = row[1];
}

#define READ_RAW_SAMPLE read_made_up
#include "sample_path.h"

char LICENSE[] SEC("license") = "GPL";

/*
 * making_up() sets `cgroup_id`, for which count_many() counts. `sum` keeps the compiler from dropping the rest of
 * making_up().
 */
struct {
	u64 cgroup_id;
	u64 sum;
	u64 reserved[6];
} __attribute__((aligned(64))) reader = {};

SEC("perf_event")
int nothing(struct bpf_perf_event_data *context)
{
	(void)context;
	return 0;
}

/*
 * Only reads and makes up a sample, to time this part of the programs below. It does not count the sample.
 */
SEC("perf_event")
int making_up(struct bpf_perf_event_data *context)
{
	struct raw_sample raw = {0};
	u64 sum;

	read_made_up(context, &raw);
	sum = raw.flags + raw.weight + raw.data_source + context->sample_period;
	reader.sum += sum;
	reader.cgroup_id = read_cgroup()->kn->id;
	return 0;
}

SEC("perf_event")
int made_up_0(struct bpf_perf_event_data *context)
{
	account_hardware(context, 0);
	return 0;
}

SEC("perf_event")
int made_up_1(struct bpf_perf_event_data *context)
{
	account_hardware(context, 1);
	return 0;
}

/* A count: it measures nothing, so nothing is made up. */
SEC("perf_event")
int count_2(struct bpf_perf_event_data *context)
{
	account_hardware(context, 2);
	return 0;
}

static __always_inline void count_row(const u64 *row, u16 number, bool atomic)
{
	const struct raw_sample raw = {.flags = PERF_SAMPLE_WEIGHT_STRUCT | PERF_SAMPLE_DATA_SRC,
				       .weight = row[0],
				       .data_source = row[1]};
	struct cpu_state *state = cpu_state_of(bpf_get_smp_processor_id());
	struct sample sample;

	if (!state)
		return;
	select_fields(&raw, &events[number], &sample);
	sample.period = 10007;
	account(&sample, number, &events[number], state, cpu_slot_of(state, reader.cgroup_id, NULL), atomic);
}

static long count_one(u32 index, void *number)
{
	const u64 *row = made_up[index & (MADE_UP - 1)];

	if (*(u32 *)number == 0) {
		if (stripes_alone)
			count_row(row, 0, false);
		else
			count_row(row, 0, true);
	} else {
		if (stripes_alone)
			count_row(row, 1, false);
		else
			count_row(row, 1, true);
	}
	return 0;
}

/*
 * Counts `count` samples as fast as possible on the current CPU. The caller sets `done` to the event's
 * number.
 */
SEC("syscall")
int count_many(struct inject_request *request)
{
	u32 number = request->done;

	request->done = (u32)bpf_loop(request->count, count_one, &number, 0);
	return 0;
}

static long pass_one(u32 index, void *sum)
{
	const u64 *row = made_up[index & (MADE_UP - 1)];

	*(volatile u64 *)sum += row[0] + row[1];
	return 0;
}

/* The same loop as in count_many() without accounting a sample. */
SEC("syscall")
int pass_many(struct inject_request *request)
{
	u64 sum = 0;

	request->done = (u32)bpf_loop(request->count, pass_one, &sum, 0);
	return 0;
}

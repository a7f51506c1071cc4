// SPDX-License-Identifier: GPL-2.0
/* A zoom of the model: the records that its source delivers, and the report of them. */
#include <criterion/criterion.h>

#include <string.h>

#include "model/scenario.h"
#include "model/workload_code.h"
#include "origin/model/model_symbol.h"
#include "profile/profile_report.h"
#include "sampling/sampling_model_zoom.h"

#define CGROUP 9
#define BEGAN  (1000 * NSEC_PER_SEC)
#define TEXT   (WORKLOAD_TEXT + WORKLOAD_SHOP * WORKLOAD_TEXT_SIZE)
#define PID    (MODEL_ZOOM_PID + 100 * WORKLOAD_SHOP)

/* A line of the shop's order_tallies, the third of its seven ranges. */
#define TALLIES \
	(WORKLOAD_DATA + WORKLOAD_SHOP * WORKLOAD_DATA_SIZE + 2 * (WORKLOAD_DATA_SIZE / 7 / 4096 * 4096))

#define KEPT 4096

static struct zoom_source *source;
static struct model_zoom *zoom;

/* The records of a drain, with their stacks. */
static struct {
	size_t n, samples;
	struct zoom_record records[KEPT];
	u64 stacks[KEPT][WORKLOAD_STACK_MAX];
	char paths[64];
} got;

static int keep(void *userdata, const struct zoom_record *record)
{
	cr_assert_eq(userdata, &got);
	cr_assert_lt(got.n, KEPT);
	got.records[got.n] = *record;
	if (record->kind == ZOOM_RECORD_SAMPLE) {
		cr_assert_leq(record->sample.n_user, WORKLOAD_STACK_MAX);
		memcpy(got.stacks[got.n], record->sample.user, record->sample.n_user * sizeof(u64));
		got.records[got.n].sample.user = got.stacks[got.n];
		got.samples++;
	}
	if (record->kind == ZOOM_RECORD_MAPPED)
		(void)snprintf(got.paths, sizeof(got.paths), "%s", record->mapped.path);
	got.n++;
	return 0;
}

static void open_zoom(u32 rate)
{
	const struct model_zoom_settings settings = {
		.workload = WORKLOAD_SHOP,
		.cgroup_id = CGROUP,
		.rate = rate,
		.event = {.role = EVENT_LOADS, .period = 10007, .ldlat = 30},
		.config = 0x1cd,
		.now_ns = BEGAN,
	};

	cr_assert_eq(model_zoom_new(&settings, &zoom), 0);
	source = model_zoom_source(zoom);
}

static void teardown(void)
{
	model_zoom_free(zoom);
}

TestSuite(sampling_model_zoom, .fini = teardown);

/* A load of count_order() that another core had modified. */
static struct sample hitm(u64 address)
{
	return (struct sample){.cgroup_id = CGROUP,
			       .latency = 100,
			       .data_source = PERF_MEM_S(OP, LOAD) | PERF_MEM_S(LVL, HIT) |
					      PERF_MEM_S(LVL, L3) | PERF_MEM_S(SNOOP, HITM),
			       .address = address,
			       .code_address = TEXT + 13ULL * 4,
			       .period = 10007,
			       .fields = SAMPLE_ADDRESS | SAMPLE_CODE_ADDRESS | SAMPLE_LATENCY |
					 SAMPLE_DATA_SOURCE};
}

static void take(u32 cpu, u64 address)
{
	const struct computer_thread thread = {WORKLOAD_SHOP, cpu - 4, 1};
	const struct sample sample = hitm(address);

	model_zoom_take(zoom, &sample, cpu, &thread);
}

static void drain(u64 now_ns)
{
	memset(&got, 0, sizeof(got));
	cr_assert_eq(model_zoom_drain(zoom, now_ns, keep, &got), 0);
}

Test(sampling_model_zoom, a_sample_has_thread_node_and_callers)
{
	const struct zoom_sample *sample;

	open_zoom(1000);
	take(5, TALLIES + 8);
	drain(BEGAN + NSEC_PER_SEC);
	cr_assert_eq(got.n, 4);
	cr_expect_eq(got.records[0].kind, ZOOM_RECORD_MAPPED);
	cr_expect_str_eq(got.paths, "[model:shop]");
	cr_expect_eq(got.records[0].mapped.start, TEXT);
	cr_expect_eq(got.records[1].kind, ZOOM_RECORD_NAMED);
	cr_expect_eq(got.records[1].tid, PID);
	cr_expect_str_eq(got.records[1].named.name, "shop");
	cr_expect_eq(got.records[2].tid, PID + 1);
	cr_assert_eq(got.records[3].kind, ZOOM_RECORD_SAMPLE);
	sample = &got.records[3].sample;
	cr_expect_eq(sample->pid, PID);
	cr_expect_eq(sample->tid, PID + 1);
	cr_expect_eq(sample->cpu, 5);
	cr_expect(sample->time_ns >= BEGAN && sample->time_ns < BEGAN + NSEC_PER_SEC);
	cr_expect_eq(sample->physical, 2 * MODEL_ZOOM_NODE_BYTES + TALLIES + 8 - WORKLOAD_DATA);
	cr_assert_eq(sample->n_user, 3);
	cr_expect_eq(sample->n_kernel, 0);
	/* The calls are in the order of the shop's table: count_order's is the fourth. */
	cr_expect_eq(sample->user[0], TEXT + WORKLOAD_CALLS + 4ULL * 8);
	cr_expect_eq(sample->user[1], TEXT + WORKLOAD_CALLS + 8);
	cr_expect_eq(sample->user[2], TEXT + WORKLOAD_CALLS + 5ULL * 8);
	take(5, TALLIES);
	drain(BEGAN + 2 * NSEC_PER_SEC);
	cr_expect_eq(got.n, 1, "the program is announced once");
}

Test(sampling_model_zoom, samples_of_other_cgroups_and_of_counts_are_left_out)
{
	const struct computer_thread thread = {WORKLOAD_CACHE, 0, 0};
	struct sample other = hitm(TALLIES), count = hitm(TALLIES);
	struct zoom_counts counts;

	open_zoom(1000);
	other.cgroup_id = CGROUP + 1;
	count.event = 1;
	model_zoom_take(zoom, &other, 0, &thread);
	model_zoom_take(zoom, &count, 0, &thread);
	drain(BEGAN + NSEC_PER_SEC);
	cr_expect_eq(got.n, 0);
	source->methods->counts(source, &counts);
	cr_expect_eq(counts.seen, 0);
}

Test(sampling_model_zoom, the_rate_is_limited_and_times_are_ascending)
{
	struct zoom_counts counts;
	size_t of_first = 0;
	u64 before_ns = 0;

	open_zoom(100);
	for (u32 i = 0; i < 2000; i++)
		take(4 + i % 2, TALLIES);
	drain(BEGAN + NSEC_PER_SEC);
	/* As zoom_limit_spacing() promises for any one second, and hardly fewer. */
	cr_expect(got.samples <= 100 && got.samples >= 95, "%zu", got.samples);
	for (size_t i = 0; i < got.n; i++) {
		if (got.records[i].kind != ZOOM_RECORD_SAMPLE)
			continue;
		cr_expect_geq(got.records[i].time_ns, before_ns);
		before_ns = got.records[i].time_ns;
		of_first += got.records[i].sample.cpu == 4;
	}
	/* The limit favours none of the CPUs: 50 of 100 with a standard deviation of 5. */
	cr_expect(of_first > 30 && of_first < 70, "%zu of %zu are of the first CPU", of_first, got.samples);
	source->methods->counts(source, &counts);
	cr_expect_eq(counts.seen, 2000);
	cr_expect_eq(counts.limited, 2000 - got.samples);
	cr_expect_eq(counts.lost, 0);
	cr_expect_eq(counts.count, 2000UL * 10007);
	cr_expect_eq(counts.enabled_ns, NSEC_PER_SEC);
	cr_expect_eq(counts.running_ns, NSEC_PER_SEC);
}

Test(sampling_model_zoom, too_many_between_two_drains_are_lost)
{
	struct zoom_counts counts;

	open_zoom(1);
	for (u32 i = 0; i < MODEL_ZOOM_SAMPLES + 3; i++)
		take(4, TALLIES);
	source->methods->counts(source, &counts);
	cr_expect_eq(counts.seen, MODEL_ZOOM_SAMPLES + 3);
	cr_expect_eq(counts.lost, 3);
}

static u32 flushed;

static void flush(void *userdata)
{
	(void)userdata;
	flushed++;
	take(4, TALLIES);
}

Test(sampling_model_zoom, a_stop_delivers_pending_samples_and_then_no_more)
{
	const struct model_zoom_settings settings = {.workload = WORKLOAD_SHOP,
						     .cgroup_id = CGROUP,
						     .rate = 1000,
						     .now_ns = BEGAN,
						     .flush = flush};

	cr_assert_eq(model_zoom_new(&settings, &zoom), 0);
	source = model_zoom_source(zoom);
	source->methods->stop(source);
	source->methods->stop(source);
	take(4, TALLIES);
	drain(BEGAN + NSEC_PER_SEC);
	cr_expect_eq(flushed, 1);
	cr_expect_eq(got.samples, 1);
}

static struct model_symbol room;

static const struct symbol *find(void *userdata, const struct symbol_query *query)
{
	(void)userdata;
	return model_symbol(query->address, &room);
}

static const struct report_access *access_at(const struct report_line *line, u32 offset)
{
	for (size_t i = 0; i < line->n_accesses; i++)
		if (line->accesses[i].offset == offset)
			return &line->accesses[i];
	return NULL;
}

Test(sampling_model_zoom, the_report_names_the_line_of_the_false_sharing_and_both_offsets)
{
	static const int nodes[] = {0, 0, 0, 0, 1, 1};
	const struct node_range ranges[] = {
		{MODEL_ZOOM_NODE_BYTES, 2 * MODEL_ZOOM_NODE_BYTES, 0},
		{2 * MODEL_ZOOM_NODE_BYTES, 3 * MODEL_ZOOM_NODE_BYTES, 1},
	};
	const struct report_settings settings = {.functions = 10,
						 .objects = 10,
						 .lines = 10,
						 .accesses = 10,
						 .ranges = ranges,
						 .n_ranges = 2,
						 .node_of_cpu = nodes,
						 .n_cpus = 6};
	const struct profile_names names = {.find = find};
	_cleanup_(profile_freep) struct profile *profile = NULL;
	struct profile_report report;

	open_zoom(20000);
	cr_assert_eq(profile_new(true, &profile), 0);
	for (u32 i = 0; i < 20; i++)
		take(4 + i % 2, TALLIES + 8ULL * (i % 2));
	drain(BEGAN + NSEC_PER_SEC);
	for (size_t i = 0; i < got.n; i++)
		if (got.records[i].kind == ZOOM_RECORD_SAMPLE)
			cr_assert_eq(profile_add(profile, &got.records[i].sample), 0);
	cr_expect_eq(profile_resolve(profile, &names), 0);
	cr_assert_eq(profile_report(profile, &names, &settings, &report), 0);

	cr_expect_eq(report.totals.early, 0, "each stack begins in main()");
	cr_assert_eq(report.n_functions, 4);
	cr_expect_str_eq(report.functions[0].name, "count_order");
	cr_expect_str_eq(report.functions[0].module, "model:shop");
	cr_expect_str_eq(report.functions[0].file, "shop.c");
	cr_expect_eq(report.functions[0].line, 42);
	cr_expect_eq(report.functions[0].samples, 20);
	for (size_t i = 1; i < 4; i++) {
		cr_expect_eq(report.functions[i].samples, 0);
		cr_expect_eq(report.functions[i].total_samples, 20);
	}

	cr_assert_eq(report.n_objects, 1);
	cr_expect_str_eq(report.objects[0].name, "order_tallies (in model:shop)");
	cr_expect_eq(report.objects[0].hitm, 20);

	cr_assert_eq(report.n_lines, 1);
	cr_expect(report.lines[0].false_sharing);
	cr_expect_eq(report.lines[0].hitm_cpus, 2);
	cr_expect_eq(report.lines[0].pid, PID);
	cr_assert_eq(report.lines[0].n_accesses, 2);
	for (u32 offset = 0; offset <= 8; offset += 8) {
		const struct report_access *access = access_at(&report.lines[0], offset);

		cr_assert_not_null(access);
		cr_expect_eq(access->cpus, 1);
		cr_expect_eq(access->hitm, 10);
		cr_expect_str_eq(access->function, "count_order");
		cr_expect_eq(access->line, 42);
	}

	cr_assert_eq(report.n_nodes, 1);
	cr_expect_eq(report.nodes[0].node, 1);
	cr_expect_eq(report.nodes[0].remote, 0);
	profile_report_done(&report);
}

Test(sampling_model_zoom, the_event_is_that_of_the_modelled_cpu)
{
	struct zoom_about about = {0};

	open_zoom(1000);
	source->methods->describe(source, &about);
	cr_expect_eq(about.cgroup_id, CGROUP);
	cr_assert_eq(about.n_events, 1);
	cr_expect_eq(about.attrs[0].config, 0x1cd);
	cr_expect_eq(about.attrs[0].config1, 30);
	cr_expect_eq(about.attrs[0].sample_period, 10007);
	cr_expect(about.physical && !about.lbr);
	cr_expect_null(source->methods->gone);
}

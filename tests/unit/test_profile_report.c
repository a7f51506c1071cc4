// SPDX-License-Identifier: GPL-2.0
#include <criterion/criterion.h>
#include <string.h>

#include "profile/hidden_names.h"
#include "profile/profile_report.h"
#include "profile_fixture.h"

static const struct report_settings everything = {
	.functions = 1000000, .objects = 1000000, .lines = 1000000, .accesses = 1000000};

struct made {
	struct profile *profile;
	struct profile_fixture_names fixture;
	struct profile_report report;
};

static struct made made;

static void begin(void)
{
	profile_fixture_names_init(&made.fixture);
	cr_assert_eq(profile_new(true, &made.profile), 0);
}

static void report(const struct report_settings *settings)
{
	cr_assert_eq(profile_report(made.profile, &made.fixture.names, settings, &made.report), 0);
}

static void end(void)
{
	profile_report_done(&made.report);
	profile_free(made.profile);
	made = (struct made){0};
}

static void add(const struct zoom_sample *sample)
{
	cr_assert_eq(profile_add(made.profile, sample), 0);
}

static const struct report_function *function(const char *name)
{
	for (size_t i = 0; i < made.report.n_functions; i++)
		if (strcmp(made.report.functions[i].name, name) == 0)
			return &made.report.functions[i];
	cr_assert_fail("no function %s", name);
	return NULL;
}

TestSuite(profile_report, .init = begin, .fini = end);

Test(profile_report, functions_have_their_own_cost_and_that_of_their_callees)
{
	const u64 recursive[] = {AT_WORK + 1, AT_WORK + 0x11, AT_MAIN + 1, AT_START + 1};
	struct zoom_sample sample = profile_fixture_sample(AT_LOAD_ROW + 0x20, AT_HEAP, 100);
	const struct report_function *of;

	sample.user = recursive;
	sample.n_user = 4;
	add(&sample);
	sample.of.code_address = AT_LOAD_ROW + 0x30;
	sample.of.latency = 300;
	sample.pid = 200; /* the same function in another process */
	add(&sample);
	sample.of.code_address = AT_INNER;
	sample.of.latency = 50;
	add(&sample);
	report(&everything);

	cr_expect_str_eq(made.report.functions[0].name, "load;row");
	of = function("load;row");
	cr_expect_str_eq(of->module, PROGRAM);
	cr_expect_str_eq(of->file, "work.c");
	cr_expect_eq(of->line, 33);
	cr_expect(of->samples == 2 && of->latency == 400 && of->total_samples == 2 &&
		  of->total_latency == 400);
	cr_expect_eq(of->sources[SOURCE_L1], 2);
	of = function("work");
	cr_expect(of->samples == 0 && of->latency == 0 && of->total_samples == 3 && of->total_latency == 450);
	of = function("inner");
	cr_expect(of->samples == 1 && of->latency == 50 && of->total_samples == 1 && of->line == 90);
	of = function("_start");
	cr_expect(of->samples == 0 && of->total_samples == 3 && !of->file);
}

Test(profile_report, code_without_a_name_has_its_place)
{
	struct zoom_sample sample = profile_fixture_sample(AT_UNNAMED, AT_HEAP, 5);

	add(&sample);
	sample.of.code_address = 0x10;
	add(&sample);
	sample.of.fields &= (u16)~SAMPLE_CODE_ADDRESS;
	add(&sample);
	report(&everything);
	cr_expect_eq(function("[unknown] " PROGRAM "+0x8000")->samples, 1);
	cr_expect_eq(function("[unknown]")->samples, 2);
}

Test(profile_report, unanswered_addresses_are_counted)
{
	struct zoom_sample sample = profile_fixture_sample(AT_WORK, AT_HEAP, 5);

	made.fixture.silent = 100;
	add(&sample);
	report(&everything);
	cr_expect_eq(made.report.unnamed, 2);
	cr_expect_str_eq(made.report.functions[0].name, "[unknown]");
	cr_expect_str_eq(made.report.objects[0].name, "[unknown]");
}

Test(profile_report, objects_are_grouped_by_the_accessed_data)
{
	static const struct {
		u64 address;
		const char *name;
		enum symbol_region region;
	} cases[] = {
		{AT_COUNTERS + 8, "counters (in " PROGRAM ")", SYMBOL_FILE},
		{AT_BSS, PROGRAM, SYMBOL_FILE},
		{AT_HEAP + 99, "[heap]", SYMBOL_HEAP},
		{AT_STACK, "[stack]", SYMBOL_STACK},
		{AT_SHARED, "/dev/shm/q", SYMBOL_SHARED},
		{0x10, "[unknown]", SYMBOL_UNKNOWN},
	};
	struct zoom_sample sample;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		sample = profile_fixture_sample(AT_WORK, cases[i].address, 1000 - 10 * i);
		add(&sample);
		sample.of.data_source = profile_fixture_hitm();
		add(&sample);
	}
	sample = profile_fixture_sample(AT_FAULT, AT_KERNEL_DATA, 1);
	add(&sample);
	sample.of.fields &= (u16)~SAMPLE_ADDRESS;
	add(&sample);
	report(&everything);
	cr_assert_eq(made.report.n_objects, ARRAY_SIZE(cases) + 1);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct report_object *object = &made.report.objects[i];

		cr_expect_str_eq(object->name, cases[i].name);
		cr_expect_eq(object->region, cases[i].region);
		cr_expect(object->samples == 2 && object->hitm == 1 && object->latency == 2000 - 20 * i);
		cr_expect(object->sources[SOURCE_L1] == 1 && object->sources[SOURCE_L3] == 1);
	}
	cr_expect_str_eq(made.report.objects[ARRAY_SIZE(cases)].name, "[kernel]");
}

static void access_line(u32 pid, u32 cpu, u64 address, u64 physical, u64 source)
{
	struct zoom_sample sample = profile_fixture_sample(AT_WORK + 0x10 * (address & 3), address, 100);

	sample.pid = pid;
	sample.cpu = cpu;
	sample.of.data_source = source;
	sample.physical = physical;
	add(&sample);
}

Test(profile_report, hitm_of_two_cpus_at_two_offsets_is_false_sharing)
{
	const struct report_line *line;

	access_line(100, 0, AT_COUNTERS + 0x40, 0, profile_fixture_hitm());
	access_line(100, 0, AT_COUNTERS + 0x40, 0, profile_fixture_store());
	access_line(100, 1, AT_COUNTERS + 0x48, 0, profile_fixture_hitm());
	access_line(100, 1, AT_COUNTERS + 0x48, 0, profile_fixture_hitm());
	access_line(100, 2, AT_COUNTERS + 0x48, 0, profile_fixture_l1());
	/* Two lines with more HITM: one with a single offset, and one with a single CPU. */
	for (u32 i = 0; i < 10; i++) {
		access_line(100, i % 2, AT_HEAP + 0x100, 0, profile_fixture_hitm());
		access_line(100, 3, AT_HEAP + 0x200 + i, 0, profile_fixture_hitm());
	}
	report(&everything);
	cr_assert_eq(made.report.n_lines, 3);
	line = &made.report.lines[0];
	cr_expect_eq(line->address, AT_COUNTERS + 0x40);
	cr_expect_eq(line->pid, 100);
	cr_expect_str_eq(line->object, "counters+0x40 (in " PROGRAM ")");
	cr_expect(line->samples == 5 && line->latency == 500 && line->hitm == 3);
	cr_expect(line->cpus == 3 && line->hitm_cpus == 2 && line->false_sharing);
	cr_assert_eq(line->n_accesses, 2);
	cr_expect(line->accesses[0].offset == 8 && line->accesses[0].samples == 3 &&
		  line->accesses[0].hitm == 2 && line->accesses[0].cpus == 2 &&
		  line->accesses[0].stores == 0);
	cr_expect(line->accesses[1].offset == 0 && line->accesses[1].samples == 2 &&
		  line->accesses[1].hitm == 1 && line->accesses[1].cpus == 1 &&
		  line->accesses[1].stores == 1);
	cr_expect_str_eq(line->accesses[0].function, "work");
	cr_expect_eq(line->accesses[0].line, 20);
	cr_expect_not(made.report.lines[1].false_sharing);
	cr_expect_not(made.report.lines[2].false_sharing);
	line = &made.report.lines[made.report.lines[1].cpus == 2 ? 1 : 2];
	cr_expect(line->address == AT_HEAP + 0x100 && line->hitm_cpus == 2 && line->n_accesses == 1);
	cr_expect_str_eq(line->object, "[heap]+0x100");
}

Test(profile_report, shared_memory_of_processes_is_one_line)
{
	access_line(100, 0, AT_SHARED + 0x80, 0x7000080, profile_fixture_hitm());
	access_line(200, 1, AT_SHARED2 + 0x88, 0x7000088, profile_fixture_hitm());
	report(&everything);
	cr_assert_eq(made.report.n_lines, 1);
	cr_expect(made.report.lines[0].pid == 0 && made.report.lines[0].false_sharing);
	cr_expect_eq(made.report.lines[0].address, AT_SHARED + 0x80);
	cr_expect_str_eq(made.report.lines[0].object, "/dev/shm/q+0x80");
	end();

	/* Without a physical address, name and offset decide. */
	begin();
	access_line(100, 0, AT_SHARED + 0x80, 0, profile_fixture_hitm());
	access_line(200, 1, AT_SHARED2 + 0x88, 0, profile_fixture_hitm());
	access_line(200, 1, AT_SHARED2 + 0x100, 0, profile_fixture_hitm());
	report(&everything);
	cr_assert_eq(made.report.n_lines, 2);
	cr_expect_eq(made.report.lines[0].samples, 2);
}

Test(profile_report, unshared_memory_is_several_lines)
{
	/*
	 * One address in two processes, one page of zeros at two addresses, and one name with different
	 * memory.
	 */
	access_line(100, 0, AT_HEAP, 0, profile_fixture_l1());
	access_line(200, 0, AT_HEAP, 0, profile_fixture_l1());
	access_line(100, 0, AT_HEAP + 0x1000, 0x9000000, profile_fixture_l1());
	access_line(200, 0, AT_HEAP + 0x2000, 0x9000000, profile_fixture_l1());
	access_line(100, 0, AT_SHARED, 0xa000000, profile_fixture_l1());
	access_line(200, 0, AT_SHARED2, 0xb000000, profile_fixture_l1());
	report(&everything);
	cr_expect_eq(made.report.n_lines, 6);
	end();

	/* After a fork, the same address and memory in two processes is one line. */
	begin();
	access_line(100, 0, AT_HEAP, 0x9000000, profile_fixture_l1());
	access_line(200, 0, AT_HEAP, 0x9000000, profile_fixture_l1());
	report(&everything);
	cr_expect_eq(made.report.n_lines, 1);
}

Test(profile_report, data_of_the_kernel_belong_to_no_process)
{
	struct zoom_sample sample = profile_fixture_sample(AT_FAULT, AT_KERNEL_DATA, 10);

	add(&sample);
	sample.pid = 200;
	add(&sample);
	report(&everything);
	cr_assert_eq(made.report.n_lines, 1);
	cr_expect_eq(made.report.lines[0].pid, 0);
	cr_expect_str_eq(made.report.lines[0].object, "[kernel]");
	end();

	/* A process may try to access them, too. */
	begin();
	sample.of.code_address = AT_WORK;
	add(&sample);
	report(&everything);
	cr_assert_eq(made.report.n_lines, 1);
	cr_expect_eq(made.report.lines[0].pid, 0);
}

/* The names may come with the report of a client that may not see addresses of the kernel. */
Test(profile_report, data_of_the_kernel_have_the_same_name_if_addresses_are_hidden)
{
	struct zoom_sample sample = profile_fixture_sample(AT_FAULT, AT_KERNEL_DATA, 10);
	struct profile_names names;
	struct hidden_names hidden;

	add(&sample);
	names = hidden_names(&hidden, &made.fixture.names);
	cr_assert_eq(profile_report(made.profile, &names, &everything, &made.report), 0);
	cr_assert_eq(made.report.n_lines, 1);
	cr_expect_str_eq(made.report.lines[0].object, "[kernel]");
	cr_assert_eq(made.report.n_objects, 1);
	cr_expect_str_eq(made.report.objects[0].name, "[kernel]");
}

Test(profile_report, nodes_of_data_and_accessing_cpus_are_listed)
{
	static const struct node_range ranges[] = {
		{0x20000000, 0x30000000, 0}, {0, 0x10000000, 0}, {0x10000000, 0x20000000, 1}};
	static const int node_of_cpu[] = {0, 1, -1};
	struct report_settings settings = everything;

	settings.ranges = ranges;
	settings.n_ranges = ARRAY_SIZE(ranges);
	settings.node_of_cpu = node_of_cpu;
	settings.n_cpus = ARRAY_SIZE(node_of_cpu);
	access_line(100, 0, AT_HEAP, 0x1000, profile_fixture_l1());
	access_line(100, 1, AT_HEAP + 8, 0x1008, profile_fixture_l1());
	access_line(100, 2, AT_HEAP + 0x1000, 0x20000000,
		    profile_fixture_l1()); /* from a CPU without a node */
	access_line(100, 0, AT_HEAP + 0x2000, 0x1fffffff, profile_fixture_l1());
	access_line(100, 9, AT_HEAP + 0x3000, 0x40000000, profile_fixture_l1());
	access_line(100, 0, AT_HEAP + 0x4000, 0, profile_fixture_l1());
	report(&settings);
	cr_assert_eq(made.report.n_nodes, 3);
	cr_expect(made.report.nodes[0].node == -1 && made.report.nodes[0].samples == 1 &&
		  made.report.nodes[0].remote == 0);
	cr_expect(made.report.nodes[1].node == 0 && made.report.nodes[1].samples == 3 &&
		  made.report.nodes[1].latency == 300 && made.report.nodes[1].remote == 1 &&
		  made.report.nodes[1].pages == 2);
	cr_expect(made.report.nodes[2].node == 1 && made.report.nodes[2].samples == 1 &&
		  made.report.nodes[2].remote == 1 && made.report.nodes[2].pages == 1);
	end();

	begin();
	access_line(100, 0, AT_HEAP, 0x1000, profile_fixture_l1());
	report(&everything);
	cr_expect_eq(made.report.n_nodes, 0);
}

Test(profile_report, the_requested_number_of_items_is_reported)
{
	struct report_settings few = {.functions = 1, .objects = 1, .lines = 1, .accesses = 1};
	u64 stack[16];

	for (u64 i = 0; i < 200; i++) {
		struct zoom_sample sample = profile_fixture_random(i, stack);

		add(&sample);
	}
	report(&few);
	cr_expect(made.report.n_functions == 1 && made.report.n_objects == 1 && made.report.n_lines == 1 &&
		  made.report.lines[0].n_accesses == 1);
}

Test(profile_report, an_empty_profile_has_an_empty_report)
{
	report(&everything);
	cr_expect(made.report.n_functions == 0 && made.report.n_objects == 0 && made.report.n_lines == 0 &&
		  made.report.n_nodes == 0 && made.report.unnamed == 0);
}

#define RANDOM_SAMPLES 3000

static void add_random(u64 seed, bool backwards)
{
	u64 stack[16];

	for (u64 i = 0; i < RANDOM_SAMPLES; i++) {
		struct zoom_sample sample = profile_fixture_random(
			seed * RANDOM_SAMPLES + (backwards ? RANDOM_SAMPLES - 1 - i : i), stack);

		add(&sample);
	}
}

/* Also compares the order of the items, which must not depend on that of the samples. */
static void expect_same(const struct profile_report *a, const struct profile_report *b)
{
	cr_assert(a->n_functions == b->n_functions && a->n_objects == b->n_objects &&
		  a->n_lines == b->n_lines);
	for (size_t i = 0; i < a->n_functions; i++) {
		const struct report_function *x = &a->functions[i], *y = &b->functions[i];

		cr_assert_str_eq(x->name, y->name);
		cr_assert(x->latency == y->latency && x->samples == y->samples &&
			  x->total_latency == y->total_latency && x->total_samples == y->total_samples &&
			  x->line == y->line);
	}
	for (size_t i = 0; i < a->n_objects; i++) {
		cr_assert_str_eq(a->objects[i].name, b->objects[i].name);
		cr_assert_eq(a->objects[i].latency, b->objects[i].latency);
	}
	for (size_t i = 0; i < a->n_lines; i++) {
		const struct report_line *x = &a->lines[i], *y = &b->lines[i];

		cr_assert_str_eq(x->object, y->object);
		cr_assert(x->address == y->address && x->pid == y->pid && x->hitm == y->hitm &&
			  x->cpus == y->cpus && x->latency == y->latency && x->n_accesses == y->n_accesses);
		for (size_t j = 0; j < x->n_accesses; j++)
			cr_assert(x->accesses[j].offset == y->accesses[j].offset &&
				  x->accesses[j].latency == y->accesses[j].latency &&
				  strcmp(x->accesses[j].function, y->accesses[j].function) == 0);
	}
}

Test(profile_report, reports_add_up_to_the_profile_in_any_order)
{
	static const struct node_range all = {0, (u64)-1, 0};
	struct report_settings settings = everything;

	settings.ranges = &all;
	settings.n_ranges = 1;
	for (u64 seed = 0; seed < 10; seed++) {
		struct made forward;
		u64 samples = 0, latency = 0, data = 0, hitm = 0, in_lines = 0, line_hitm = 0, accesses = 0;
		u64 sources = 0;

		end();
		begin();
		add_random(seed, false);
		report(&settings);
		forward = made;
		begin();
		add_random(seed, true);
		report(&settings);
		expect_same(&forward.report, &made.report);
		for (size_t i = 0; i < made.report.n_functions; i++) {
			samples += made.report.functions[i].samples;
			latency += made.report.functions[i].latency;
			for (size_t j = 0; j < SOURCE_SLOTS; j++)
				sources += made.report.functions[i].sources[j];
			cr_assert_geq(made.report.functions[i].total_samples,
				      made.report.functions[i].samples);
			cr_assert_leq(made.report.functions[i].total_samples, RANDOM_SAMPLES);
		}
		for (size_t i = 0; i < made.report.n_objects; i++) {
			data += made.report.objects[i].samples;
			hitm += made.report.objects[i].hitm;
		}
		for (size_t i = 0; i < made.report.n_lines; i++) {
			in_lines += made.report.lines[i].samples;
			line_hitm += made.report.lines[i].hitm;
			for (size_t j = 0; j < made.report.lines[i].n_accesses; j++)
				accesses += made.report.lines[i].accesses[j].samples;
		}
		cr_assert_eq(samples, RANDOM_SAMPLES);
		cr_assert_eq(sources, RANDOM_SAMPLES);
		cr_assert_eq(latency, made.report.totals.latency);
		cr_assert_eq(data, made.report.totals.with_address);
		cr_assert_eq(in_lines, made.report.totals.with_address);
		cr_assert_eq(accesses, made.report.totals.with_address);
		cr_assert_eq(hitm, line_hitm);
		cr_assert_leq(hitm, made.report.totals.hitm);
		cr_assert_gt(hitm, 0);
		cr_assert_eq(made.report.nodes[0].samples, made.report.totals.with_physical);
		end();
		made = forward;
		end();
	}
}

// SPDX-License-Identifier: GPL-2.0
/*
 * The workloads are compared with their design (daemon/model/workload_data.c). A share may deviate from the
 * range of the design by five standard deviations.
 */
#include <math.h>

#include <criterion/criterion.h>

#include "base/cleanup.h"
#include "workload_fixture.h"

#define LOADS     100000
#define THRESHOLD 30
#define SEED      20261

#define FOREACH_MACHINE(machine) \
	for (const struct machine *machine = machines; machine < machines + machines_count; machine++)

static bool has_load_latency(const struct machine *machine)
{
	return machine->mechanisms & MECHANISM_LOAD_LATENCY;
}

static void expect_share(const struct machine *machine, const char *what, u64 hits, u64 count, double least,
			 double most)
{
	double share = (double)hits / (double)count;
	double middle = (least + most) / 2;
	double slack = 5 * sqrt(middle * (1 - middle) / (double)count);

	cr_expect(count > 1000, "%s: %s: %lu loads are too few", machine->name, what, count);
	cr_expect(share >= least - slack && share <= most + slack,
		  "%s: %s: %f of %lu, not %f to %f (within %f)", machine->name, what, share, count, least,
		  most, slack);
}

Test(model_workload, each_workload_is_found_by_its_name)
{
	for (int kind = 0; kind < WORKLOAD_KINDS; kind++) {
		cr_expect_eq(workload_find(workload_names[kind]), kind);
		cr_expect_gt(strlen(workload_texts[kind]), 0);
	}
	cr_expect_eq(workload_find("stream"), -EINVAL);
	cr_expect_eq(workload_find(""), -EINVAL);
}

/* Compares each field, because padding may differ. */
static bool same(const struct retired *one, const struct retired *other)
{
	return one->ip == other->ip && one->next_ip == other->next_ip && one->address == other->address &&
	       one->tsc == other->tsc && one->latency == other->latency &&
	       one->instruction_latency == other->instruction_latency && one->operation == other->operation &&
	       one->place == other->place && one->snoop == other->snoop &&
	       one->translated == other->translated && one->locked == other->locked &&
	       one->data_blocked == other->data_blocked && one->address_blocked == other->address_blocked &&
	       one->uops == other->uops;
}

Test(model_workload, the_same_seed_gives_the_same_run_and_another_one_another)
{
	const struct machine *machine = machine_find("skylake-server");

	for (unsigned kind = 0; kind < WORKLOAD_KINDS; kind++) {
		_cleanup_(workload_fixture_close) struct workload_fixture one, again, other;
		unsigned differ = 0;

		cr_assert_eq(workload_fixture_open(machine, kind, 7, &one), 0);
		cr_assert_eq(workload_fixture_open(machine, kind, 7, &again), 0);
		cr_assert_eq(workload_fixture_open(machine, kind, 8, &other), 0);
		for (unsigned i = 0; i < 20000; i++) {
			struct retired a, b, c;

			workload_step(&one.workload, &a);
			workload_step(&again.workload, &b);
			workload_step(&other.workload, &c);
			cr_assert(same(&a, &b), "%s: instruction %u", workload_names[kind], i);
			differ += !same(&a, &c);
		}
		cr_expect_gt(differ, 1000, "%s", workload_names[kind]);
	}
}

Test(model_workload, loads_alone_equal_the_loads_of_the_full_run)
{
	const struct machine *machine = machine_find("skylake");

	for (unsigned kind = 0; kind < WORKLOAD_KINDS; kind++) {
		_cleanup_(workload_fixture_close) struct workload_fixture steps, loads;

		cr_assert_eq(workload_fixture_open(machine, kind, 7, &steps), 0);
		cr_assert_eq(workload_fixture_open(machine, kind, 7, &loads), 0);
		for (unsigned i = 0; i < 20000; i++) {
			struct retired step, load;

			workload_step(&steps.workload, &step);
			if (step.operation != OPERATION_LOAD)
				continue;
			workload_next_load(&loads.workload, &load);
			cr_assert(same(&step, &load), "%s: instruction %u", workload_names[kind], i);
		}
	}
}

/*
 * Addresses are in the ranges of the workload, each instruction follows the one before it, and time does not
 * go back.
 */
Test(model_workload, instruction_mixes_are_plausible)
{
	const struct machine *machine = machine_find("skylake");

	for (u64 kind = 0; kind < WORKLOAD_KINDS; kind++) {
		_cleanup_(workload_fixture_close) struct workload_fixture fixture;
		struct retired last = {0}, next;
		unsigned accesses = 0;
		u64 text = WORKLOAD_TEXT + kind * WORKLOAD_TEXT_SIZE;
		u64 data = WORKLOAD_DATA + kind * WORKLOAD_DATA_SIZE;

		cr_assert_eq(workload_fixture_open(machine, (enum workload_kind)kind, 7, &fixture), 0);
		for (unsigned i = 0; i < 20000; i++) {
			workload_step(&fixture.workload, &next);
			cr_assert(next.ip >= text && next.ip < text + 96, "%s: %lx", workload_names[kind],
				  next.ip);
			cr_assert(i == 0 || next.ip == last.next_ip);
			cr_assert(next.tsc >= last.tsc);
			cr_assert(next.uops > 0);
			if (next.operation == OPERATION_NONE) {
				cr_assert(next.address == 0 && next.latency == 0);
			} else {
				cr_assert(next.address >= data && next.address < data + WORKLOAD_DATA_SIZE,
					  "%s: %lx", workload_names[kind], next.address);
				cr_assert_gt(next.latency, 0);
				accesses++;
			}
			last = next;
		}
		cr_expect(accesses >= 20000 / 4 - 5 && accesses <= 20000 / 3,
			  "%s: %u of 20000 instructions access memory", workload_names[kind], accesses);
		/* At most one instruction a cycle, and at least one in a hundred cycles. */
		cr_expect(last.tsc >= 20000 && last.tsc < 2000000, "%s: %lu cycles", workload_names[kind],
			  last.tsc);
	}
}

/*
 * Each executed address is in a function of the workload, and each accessed address is in a variable of it or
 * on its stack.
 */
Test(model_workload, code_and_data_have_names)
{
	const struct machine *machine = machine_find("skylake");

	for (int kind = 0; kind < WORKLOAD_KINDS; kind++) {
		_cleanup_(workload_fixture_close) struct workload_fixture fixture;
		const char *last = NULL;

		cr_assert_eq(workload_fixture_open(machine, (enum workload_kind)kind, 7, &fixture), 0);
		for (unsigned i = 0; i < 20000; i++) {
			struct workload_name name = {0};
			struct retired next;

			workload_step(&fixture.workload, &next);
			cr_assert(workload_name_of(next.ip, &name));
			cr_assert(name.code && (int)name.kind == kind && name.name, "%s: %lx",
				  workload_names[kind], next.ip);
			/* A function is entered at its beginning. */
			cr_assert(name.name == last || name.offset == 0, "%s: %s+%lu", workload_names[kind],
				  name.name, name.offset);
			last = name.name;
			if (next.operation == OPERATION_NONE)
				continue;
			cr_assert(workload_name_of(next.address, &name), "%s: %lx", workload_names[kind],
				  next.address);
			cr_assert(!name.code && (int)name.kind == kind);
		}
	}
}

/* A few loads of the stack, which is cold at first, also wait. */
Test(model_workload, the_pointer_chase_waits_in_one_function)
{
	_cleanup_(workload_fixture_close) struct workload_fixture fixture;
	u64 slow = 0, there = 0;

	cr_assert_eq(workload_fixture_open(machine_find("skylake"), WORKLOAD_POINTER_CHASE, 7, &fixture), 0);
	for (unsigned i = 0; i < 20000; i++) {
		struct workload_name code, data;
		struct retired load;

		workload_next_load(&fixture.workload, &load);
		if (load.place != PLACE_LOCAL_DRAM)
			continue;
		cr_assert(workload_name_of(load.ip, &code) && workload_name_of(load.address, &data));
		slow++;
		there += strcmp(code.name, "next_node") == 0 && code.offset == 0 && data.name &&
			 strcmp(data.name, "nodes") == 0;
	}
	cr_expect(slow > 4000 && slow - there <= 16, "%lu of %lu", there, slow);
}

Test(model_workload, addresses_outside_of_workloads_have_no_name)
{
	static const u64 nobodys[] = {0,
				      WORKLOAD_TEXT - 1,
				      WORKLOAD_TEXT + 56, /* just past the loop of the first workload */
				      WORKLOAD_TEXT + WORKLOAD_KINDS * WORKLOAD_TEXT_SIZE,
				      WORKLOAD_DATA - 1,
				      WORKLOAD_DATA + WORKLOAD_DATA_SIZE - 1,
				      WORKLOAD_DATA + WORKLOAD_KINDS * WORKLOAD_DATA_SIZE,
				      ~0ULL};

	for (size_t i = 0; i < sizeof(nobodys) / sizeof(*nobodys); i++) {
		struct workload_name name = {.offset = 77};

		cr_expect(!workload_name_of(nobodys[i], &name), "%lx", nobodys[i]);
		cr_expect_eq(name.offset, 77);
	}
}

/* The results of the loads of one instruction in a loop. */
struct found {
	u64 loads;
	u64 places[PLACE_COUNT];
	u64 modified[PLACE_COUNT];
	u64 walks;
	u64 locked;
	u64 blocked;
};

static u64 sum(const u64 counts[PLACE_COUNT])
{
	u64 all = 0;

	for (unsigned place = 0; place < PLACE_COUNT; place++)
		all += counts[place];
	return all;
}

/*
 * Runs the workload and counts loads of the instruction at `slot`. Slot 0 is the first instruction of the
 * loop.
 */
static struct found run(const struct machine *machine, enum workload_kind kind, u64 slot)
{
	_cleanup_(workload_fixture_close) struct workload_fixture fixture;
	struct found found = {0};

	cr_assert_eq(workload_fixture_open(machine, kind, SEED, &fixture), 0);
	for (unsigned i = 0; i < LOADS; i++) {
		struct retired load;

		workload_next_load(&fixture.workload, &load);
		if (load.ip != WORKLOAD_TEXT + (u64)kind * WORKLOAD_TEXT_SIZE + 4 * slot)
			continue;
		found.loads++;
		found.places[load.place]++;
		found.modified[load.place] += load.snoop == SNOOPED_MODIFIED;
		found.walks += load.translated == TRANSLATED_WALK;
		found.locked += load.locked;
		found.blocked += load.data_blocked;
	}
	return found;
}

Test(model_workload, streaming_loads_hit_fill_buffers_and_caches)
{
	FOREACH_MACHINE(machine)
	{
		struct found found = {0};

		for (u64 slot = 0; slot < 14; slot++) {
			struct found one = run(machine, WORKLOAD_STREAMING, slot);

			for (unsigned place = 0; place < PLACE_COUNT; place++)
				found.places[place] += one.places[place];
			found.loads += one.loads;
			found.walks += one.walks;
		}
		cr_expect_eq(found.loads, LOADS);
		expect_share(machine, "L1 and fill buffers",
			     found.places[PLACE_L1] + found.places[PLACE_FILL_BUFFER], LOADS, 0.85, 0.92);
		/*
		 * L2 serves at most the first load of each line. One load in 512 begins a page, which was not
		 * prefetched.
		 */
		expect_share(machine, "L2", found.places[PLACE_L2], LOADS, 0.08, 0.125);
		expect_share(machine, "local DRAM", found.places[PLACE_LOCAL_DRAM], LOADS, 1.0 / 512, 0.01);
		expect_share(machine, "page walks", found.walks, LOADS, 1.0 / 512, 1.0 / 512);
		cr_expect_eq(found.places[PLACE_REMOTE_DRAM] + found.places[PLACE_REMOTE_CACHE], 0);
	}
}

Test(model_workload, three_of_four_pointers_lead_to_dram)
{
	FOREACH_MACHINE(machine)
	{
		struct found found = run(machine, WORKLOAD_POINTER_CHASE, 0);

		expect_share(machine, "local DRAM", found.places[PLACE_LOCAL_DRAM], found.loads, 0.74, 0.76);
		if (machine->memory.l3_bytes)
			expect_share(machine, "L3", found.places[PLACE_L3], found.loads, 0.17, 0.25);
		expect_share(machine, "page walks", found.walks, found.loads, 0, 0.01);
		cr_expect_eq(sum(found.modified), 0);
	}
}

Test(model_workload, seven_of_eight_remote_pointers_lead_to_the_other_socket)
{
	FOREACH_MACHINE(machine)
	{
		struct found found = run(machine, WORKLOAD_REMOTE_NUMA, 0);

		expect_share(machine, "remote DRAM and caches",
			     found.places[PLACE_REMOTE_DRAM] + found.places[PLACE_REMOTE_CACHE], found.loads,
			     0.86, 0.90);
		expect_share(machine, "modified in a remote cache", found.modified[PLACE_REMOTE_CACHE],
			     found.loads, 2.0 / 60, 2.0 / 60);
		/*
		 * Besides the modified lines, four of sixty lines are clean in the remote caches. Some of
		 * these four are also in this socket, or were dropped.
		 */
		expect_share(machine, "remote caches", found.places[PLACE_REMOTE_CACHE], found.loads,
			     5.0 / 60, 6.0 / 60);
	}
}

Test(model_workload, two_of_three_loads_of_a_falsely_shared_line_find_it_modified)
{
	FOREACH_MACHINE(machine)
	{
		struct found found = run(machine, WORKLOAD_FALSE_SHARING, 0);

		expect_share(machine, "modified", sum(found.modified), found.loads, 2.0 / 3, 2.0 / 3);
		expect_share(machine, "of these remote", found.modified[PLACE_REMOTE_CACHE],
			     sum(found.modified), 1.0 / 4, 1.0 / 4);
	}
}

Test(model_workload, three_of_four_pages_need_a_walk)
{
	FOREACH_MACHINE(machine)
	{
		struct found found = run(machine, WORKLOAD_TLB_THRASH, 0);

		/* The first TLB holds some pages that the second one has dropped. */
		expect_share(machine, "page walks", found.walks, found.loads, 0.72, 0.755);
		expect_share(machine, "caches",
			     found.places[PLACE_L1] + found.places[PLACE_L2] + found.places[PLACE_L3] +
				     found.places[PLACE_FILL_BUFFER],
			     found.loads, 0.99, 1);
	}
}

Test(model_workload, half_of_the_shared_counter_accesses_are_modified_elsewhere)
{
	FOREACH_MACHINE(machine)
	{
		struct found own = run(machine, WORKLOAD_LOCKED_COUNTERS, 0);
		struct found shared = run(machine, WORKLOAD_LOCKED_COUNTERS, 7);

		cr_expect_eq(own.locked, own.loads);
		cr_expect_eq(shared.locked, shared.loads);
		cr_expect_eq(sum(own.modified), 0);
		expect_share(machine, "modified", sum(shared.modified), shared.loads, 0.5, 0.5);
		expect_share(machine, "of these remote", shared.modified[PLACE_REMOTE_CACHE],
			     sum(shared.modified), 12.0 / 60, 12.0 / 60);
	}
}

Test(model_workload, the_mix_has_a_part_of_each_workload)
{
	FOREACH_MACHINE(machine)
	{
		struct found any = run(machine, WORKLOAD_MIX, 3);
		struct found hot = run(machine, WORKLOAD_MIX, 0);
		struct found reload = run(machine, WORKLOAD_MIX, 8);

		if (machine->memory.l1_bytes >= 32 << 10) /* NetBurst's L1 is too small for the hot data */
			expect_share(machine, "hot in L1", hot.places[PLACE_L1], hot.loads, 0.7, 1);
		expect_share(machine, "modified", sum(any.modified), any.loads, 1.0 / 64, 1.0 / 64);
		expect_share(machine, "remote DRAM", any.places[PLACE_REMOTE_DRAM], any.loads, 0.8 / 64,
			     1.0 / 64);
		expect_share(machine, "local DRAM", any.places[PLACE_LOCAL_DRAM], any.loads, 2.4 / 64,
			     5.0 / 64);
		expect_share(machine, "blocked by a store", reload.blocked, reload.loads, 1.0 / 64, 1.0 / 64);
		cr_expect_eq(hot.blocked + any.blocked, 0);
	}
}

static double mean(const struct truth *truth)
{
	return (double)truth->latency / (double)truth->above;
}

/* The standard error of the mean latency. */
static double standard_error(const struct truth *truth)
{
	double count = (double)truth->above;

	return sqrt(((double)truth->latency_squares / count - mean(truth) * mean(truth)) / count);
}

Test(model_workload, mean_latencies_have_the_expected_order)
{
	/* The ranks of workload.h, the slowest first. Ranks are equal if the design leaves the order open. */
	static const int ranks[WORKLOAD_COUNT] = {
		[WORKLOAD_REMOTE_NUMA] = 0,     [WORKLOAD_POINTER_CHASE] = 1, [WORKLOAD_FALSE_SHARING] = 2,
		[WORKLOAD_LOCKED_COUNTERS] = 2, [WORKLOAD_MIX] = 2,           [WORKLOAD_STREAMING] = 3,
		[WORKLOAD_TLB_THRASH] = 4,
	};

	FOREACH_MACHINE(machine)
	{
		struct truth truths[WORKLOAD_COUNT] = {0};

		if (!has_load_latency(machine))
			continue;
		for (unsigned kind = 0; kind < WORKLOAD_COUNT; kind++) {
			_cleanup_(workload_fixture_close) struct workload_fixture fixture;

			cr_assert_eq(workload_fixture_open(machine, kind, SEED, &fixture), 0);
			truth_add(&fixture, THRESHOLD, LOADS, &truths[kind]);
			cr_expect_eq(truths[kind].loads, LOADS);
		}
		for (unsigned slow = 0; slow < WORKLOAD_COUNT; slow++) {
			for (unsigned fast = 0; fast < WORKLOAD_COUNT; fast++) {
				if (ranks[slow] >= ranks[fast])
					continue;
				cr_expect_gt(mean(&truths[slow]) - 5 * standard_error(&truths[slow]),
					     mean(&truths[fast]) + 5 * standard_error(&truths[fast]),
					     "%s: %s has %f cycles, %s %f", machine->name,
					     workload_names[slow], mean(&truths[slow]), workload_names[fast],
					     mean(&truths[fast]));
			}
		}
	}
}

/* The sign of each workload's problem in a sample: the classes of loads above the threshold. */
Test(model_workload, each_workload_shows_its_problem)
{
	FOREACH_MACHINE(machine)
	{
		if (!has_load_latency(machine))
			continue;
		for (unsigned kind = 0; kind < WORKLOAD_COUNT; kind++) {
			_cleanup_(workload_fixture_close) struct workload_fixture fixture;
			struct truth truth = {0};

			cr_assert_eq(workload_fixture_open(machine, kind, SEED, &fixture), 0);
			truth_add(&fixture, THRESHOLD, LOADS, &truth);
			switch ((enum workload_kind)kind) {
			case WORKLOAD_STREAMING:
				expect_share(machine, "lfb", truth.sources[SOURCE_LFB], truth.above, 0.75,
					     0.97);
				break;
			case WORKLOAD_POINTER_CHASE:
				expect_share(machine, "local_dram", truth.sources[SOURCE_LOCAL_DRAM],
					     truth.above, 0.6, 0.85);
				break;
			case WORKLOAD_REMOTE_NUMA:
				expect_share(machine, "remote_dram", truth.sources[SOURCE_REMOTE_DRAM],
					     truth.above, 0.65, 0.85);
				break;
			case WORKLOAD_FALSE_SHARING:
				/*
				 * Nehalem has no code for a line that the other socket has modified, so fewer
				 * loads show it.
				 */
				expect_share(machine, "hitm", truth.snoops[SNOOP_HITM], truth.above,
					     machine->encoding == ENCODING_NEHALEM ? 0.6 : 0.75, 0.95);
				break;
			case WORKLOAD_TLB_THRASH:
				expect_share(machine, "walks", truth.walks, truth.above, 0.8, 0.99);
				break;
			case WORKLOAD_LOCKED_COUNTERS:
				expect_share(machine, "locked", truth.locked, truth.above, 0.8, 0.99);
				break;
			case WORKLOAD_MIX:
				expect_share(machine, "l3", truth.sources[SOURCE_L3], truth.above, 0.2, 0.75);
				expect_share(machine, "l1", truth.sources[SOURCE_L1], truth.above, 0.08, 0.6);
				break;
			default:
				break;
			}
		}
	}
}

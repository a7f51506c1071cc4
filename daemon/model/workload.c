// SPDX-License-Identifier: GPL-2.0
/*
 * A workload is a loop, whose body is in a table. workload_data.c defines the data that its instructions
 * access.
 *
 * The model's core dispatches one instruction a cycle, ahead of retirement by as much as its reorder buffer
 * holds. Loads that do not depend on each other are therefore in flight together.
 */
#include "workload.h"

#include "workload_code.h"
#include "workload_data.h"

/* Maximum cycles by which dispatch is ahead of retirement. */
#define WINDOW_CYCLES 128

/*
 * A load shortly after a store may have to wait for that store's data (Golden Cove's block bits): one of
 * BLOCKED_ONE_IN such loads waits, for BLOCKED_CYCLES.
 */
#define BLOCKED_ONE_IN 64
#define BLOCKED_CYCLES 12

#define LOCKED_UOPS 8

enum flavour {
	FLAVOUR_PLAIN,
	FLAVOUR_CHAINED,     /* later instructions depend on its data */
	FLAVOUR_LOCKED,      /* locked read-modify-write: counted as a load; chained */
	FLAVOUR_AFTER_STORE, /* a load that may be blocked by a store */
};

struct instruction {
	u8 operation; /* enum operation */
	u8 data;      /* enum data */
	u8 flavour;   /* enum flavour */
};

#define ALU                                              \
	{                                                \
		OPERATION_NONE, DATA_NONE, FLAVOUR_PLAIN \
	}
#define LOAD(data)                                         \
	{                                                  \
		OPERATION_LOAD, DATA_##data, FLAVOUR_PLAIN \
	}
#define FOLLOW(data)                                         \
	{                                                    \
		OPERATION_LOAD, DATA_##data, FLAVOUR_CHAINED \
	}
#define ADD_TO(data)                                        \
	{                                                   \
		OPERATION_LOAD, DATA_##data, FLAVOUR_LOCKED \
	}
#define RELOAD(data)                                             \
	{                                                        \
		OPERATION_LOAD, DATA_##data, FLAVOUR_AFTER_STORE \
	}
#define STORE(data)                                         \
	{                                                   \
		OPERATION_STORE, DATA_##data, FLAVOUR_PLAIN \
	}

#define INSTRUCTION_BYTES 4
#define INSTRUCTIONS_MAX  24

#define FUNCTIONS_MAX 5

/*
 * A function starts at instruction `first` of the body and ends before the next function. All functions of a body run
 * in sequence.
 */
struct function {
	const char *name;
	u32 first;
};

struct body {
	u32 count;
	struct instruction instructions[INSTRUCTIONS_MAX];
	struct function functions
		[FUNCTIONS_MAX]; /* from instruction 0 on; if there are fewer, a NULL name ends them */
};

static const struct body bodies[WORKLOAD_KINDS] = {
	[WORKLOAD_STREAMING] = {14,
				{LOAD(ARRAY), ALU, ALU, LOAD(ARRAY), ALU, ALU, ALU, LOAD(ARRAY), ALU, ALU,
				 LOAD(ARRAY), ALU, ALU, ALU},
				{{"sum_array", 0}}},
	[WORKLOAD_POINTER_CHASE] = {10,
				    {FOLLOW(NODE), ALU, ALU, LOAD(PAYLOAD), ALU, ALU, LOAD(STACK), ALU, ALU,
				     ALU},
				    {{"next_node", 0}, {"read_payload", 3}, {"main", 6}}},
	[WORKLOAD_REMOTE_NUMA] = {10,
				  {FOLLOW(REMOTE_NODE), ALU, ALU, LOAD(PAYLOAD), ALU, ALU, LOAD(STACK), ALU,
				   ALU, ALU},
				  {{"next_node", 0}, {"read_payload", 3}, {"main", 6}}},
	[WORKLOAD_FALSE_SHARING] = {10,
				    {FOLLOW(SHARED), ALU, ALU, STORE(SHARED_AGAIN), ALU, ALU, LOAD(STACK),
				     ALU, ALU, ALU},
				    {{"count_request", 0}, {"main", 6}}},
	[WORKLOAD_TLB_THRASH] = {8,
				 {LOAD(PAGE), ALU, ALU, ALU, LOAD(STACK), ALU, ALU, ALU},
				 {{"touch_page", 0}, {"main", 4}}},
	[WORKLOAD_LOCKED_COUNTERS] = {14,
				      {ADD_TO(OWN_COUNTER), ALU, ALU, LOAD(STACK), ALU, ALU, ALU,
				       ADD_TO(SHARED_COUNTER), ALU, ALU, LOAD(STACK), ALU, ALU, ALU},
				      {{"add_to_own", 0}, {"add_to_shared", 7}}},
	[WORKLOAD_MIX] = {13,
			  {LOAD(HOT), ALU, ALU, LOAD(ANY), ALU, ALU, STORE(HOT), ALU, RELOAD(HOT), ALU, ALU,
			   ALU, ALU},
			  {{"main", 0}, {"look_up", 3}, {"update", 6}}},
	[WORKLOAD_DATABASE] = {22,
			       {LOAD(STACK), ALU,       ALU,         FOLLOW(INDEX), ALU,
				ALU,         LOAD(HOT), ALU,         ALU,           FOLLOW(RECORD),
				ALU,         ALU,       LOAD(FIELD), ALU,           ALU,
				LOAD(HOT),   ALU,       ALU,         STORE(LOG),    ALU,
				ALU,         ALU},
			       {{"execute_query", 0},
				{"search_index", 3},
				{"read_page", 9},
				{"filter_row", 15},
				{"append_log", 18}}},
	[WORKLOAD_BACKUP] = {17,
			     {LOAD(FILE), ALU, ALU, LOAD(FILE), ALU, ALU, LOAD(FILE), ALU, ALU, ALU,
			      LOAD(HOT), ALU, ALU, STORE(HOT), ALU, ALU, ALU},
			     {{"read_file", 0}, {"compress", 10}}},
	[WORKLOAD_SHOP] =
		{20,
		 {LOAD(STACK), ALU, ALU, FOLLOW(SESSION), ALU, ALU, LOAD(HOT),          ALU, ALU, STORE(HOT),
		  ALU,         ALU, ALU, FOLLOW(TALLY),   ALU, ALU, STORE(TALLY_AGAIN), ALU, ALU, ALU},
		 {{"handle_request", 0}, {"find_session", 3}, {"render_page", 6}, {"count_order", 13}}},
	[WORKLOAD_BATCH] = {17,
			    {LOAD(ROWS), ALU, ALU, LOAD(ROWS), ALU, ALU, ALU, LOAD(HOT), ALU, ALU, LOAD(HOT),
			     ALU, ALU, STORE(HOT), ALU, ALU, ALU},
			    {{"read_rows", 0}, {"find_group", 7}, {"add_to_group", 13}}},
	[WORKLOAD_CACHE] = {16,
			    {LOAD(STACK), ALU, ALU, ALU, FOLLOW(PAGE), ALU, ALU, ALU, ADD_TO(OWN_COUNTER),
			     ALU, ALU, ALU, LOAD(HOT_AWAY), ALU, ALU, ALU},
			    {{"serve_key", 0}, {"look_up_key", 4}, {"lock_entry", 8}, {"copy_value", 12}}},
	[WORKLOAD_MONITOR] = {13,
			      {LOAD(STACK), ALU, ALU, LOAD(INDEX), ALU, ALU, LOAD(INDEX), ALU, ALU,
			       LOAD(STACK), ALU, ALU, ALU},
			      {{"main", 0}, {"read_counters", 3}}},
};

#define WORKLOAD_WORD_(name, word, text) word,
const char *const workload_names[WORKLOAD_KINDS] = {WORKLOADS(WORKLOAD_WORD_) PROGRAMS(WORKLOAD_WORD_)};
#undef WORKLOAD_WORD_
#define WORKLOAD_TEXT_(name, word, text) text,
const char *const workload_texts[WORKLOAD_KINDS] = {WORKLOADS(WORKLOAD_TEXT_) PROGRAMS(WORKLOAD_TEXT_)};
#undef WORKLOAD_TEXT_

int workload_find(const char *name)
{
	for (int kind = 0; kind < WORKLOAD_KINDS; kind++)
		if (same_text(workload_names[kind], name))
			return kind;
	return -EINVAL;
}

static bool name_code(u64 address, struct workload_name *ret)
{
	u64 kind = (address - WORKLOAD_TEXT) / WORKLOAD_TEXT_SIZE;
	u64 offset = (address - WORKLOAD_TEXT) % WORKLOAD_TEXT_SIZE;
	const struct body *body = &bodies[kind];
	u64 index = offset / INSTRUCTION_BYTES;
	u32 found = 0;

	if (offset >= WORKLOAD_CALLS)
		return workload_code_call((enum workload_kind)kind, offset, ret);
	if (index >= body->count)
		return false;
	while (found + 1 < FUNCTIONS_MAX && body->functions[found + 1].name &&
	       body->functions[found + 1].first <= index)
		found++;
	*ret = (struct workload_name){.kind = (enum workload_kind)kind,
				      .code = true,
				      .name = body->functions[found].name,
				      .offset =
					      offset - (u64)body->functions[found].first * INSTRUCTION_BYTES};
	workload_code_line((u32)index, ret);
	return true;
}

bool workload_name_of(u64 address, struct workload_name *ret)
{
	if (address >= WORKLOAD_TEXT && address < WORKLOAD_TEXT + WORKLOAD_KINDS * WORKLOAD_TEXT_SIZE)
		return name_code(address, ret);
	if (address >= WORKLOAD_DATA && address < WORKLOAD_DATA + WORKLOAD_KINDS * WORKLOAD_DATA_SIZE)
		return workload_data_name(address, ret);
	return false;
}

void workload_open(struct workload *workload, enum workload_kind kind, const struct memory_shape *shape,
		   struct memory *memory, u64 seed)
{
	*workload = (struct workload){.kind = kind, .shape = shape, .memory = memory};
	random_seed(&workload->random, seed, (u64)kind);
	workload_data_warm(workload);
}

/* Performs an instruction's access at the current time. Returns whether later instructions must wait for it. */
static bool access_memory(struct workload *workload, const struct instruction *instruction,
			  struct retired *ret)
{
	struct access access = {.tsc = workload->tsc};

	access.locked = instruction->flavour == FLAVOUR_LOCKED;
	access.kind = instruction->operation == OPERATION_STORE || access.locked ? ACCESS_STORE : ACCESS_LOAD;
	workload_data_locate(workload, (enum data)instruction->data, &access);
	memory_access(workload->memory, &access, ret);
	ret->operation = instruction->operation;
	if (access.locked)
		ret->uops = LOCKED_UOPS;
	if (instruction->flavour == FLAVOUR_AFTER_STORE &&
	    random_chance(&workload->random, 1, BLOCKED_ONE_IN)) {
		ret->data_blocked = true;
		ret->latency += BLOCKED_CYCLES;
		ret->instruction_latency += BLOCKED_CYCLES;
	}
	return instruction->flavour == FLAVOUR_CHAINED || instruction->flavour == FLAVOUR_LOCKED;
}

void workload_step(struct workload *workload, struct retired *ret)
{
	const struct body *body = &bodies[workload->kind];
	u64 text = WORKLOAD_TEXT + (u64)workload->kind * WORKLOAD_TEXT_SIZE;
	const struct instruction *instruction = &body->instructions[workload->phase];
	u64 dispatched = workload->tsc;
	u64 done;

	*ret = (struct retired){.ip = text + (u64)workload->phase * INSTRUCTION_BYTES, .uops = 1};
	workload->phase = workload->phase + 1 < body->count ? workload->phase + 1 : 0;
	ret->next_ip = text + (u64)workload->phase * INSTRUCTION_BYTES;

	done = workload->tsc + 1;
	if (instruction->operation != OPERATION_NONE) {
		bool chained = access_memory(workload, instruction, ret);

		/* A store retires before its access is performed, so it does not wait for the latency. */
		if (ret->operation == OPERATION_LOAD)
			done = workload->tsc + ret->instruction_latency;
		if (chained)
			workload->tsc += ret->latency;
	}
	workload->tsc++;
	if (workload->retired < done)
		workload->retired = done;
	if (workload->tsc + WINDOW_CYCLES < workload->retired)
		workload->tsc = workload->retired - WINDOW_CYCLES;
	ret->stalled = (u32)(workload->tsc - dispatched - 1);
	ret->tsc = workload->retired;
}

void workload_next_load(struct workload *workload, struct retired *ret)
{
	do
		workload_step(workload, ret);
	while (ret->operation != OPERATION_LOAD);
}

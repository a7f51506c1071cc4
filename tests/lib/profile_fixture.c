// SPDX-License-Identifier: GPL-2.0
#include "profile_fixture.h"

#include <string.h>

#include "base/cleanup.h"
#include "random_numbers.h"

struct function {
	u64 start;
	char name[12];
	u32 line;
};

/* Not const, because the texts of a symbol are not. */
static struct function functions[] = {
	{AT_START, "_start", 0},       {AT_MAIN, "main", 10},     {AT_WORK, "work", 20},
	{AT_LOAD_ROW, "load;row", 30}, {AT_FAULT, "do_fault", 0},
};

struct memory {
	u32 pid; /* 0: every process */
	u64 start, end;
	enum symbol_region region;
	char module[16]; /* "": none */
};

static struct memory memories[] = {
	{0, 0x400000, 0x502000, SYMBOL_FILE, PROGRAM},
	{0, AT_HEAP, 2UL * AT_HEAP, SYMBOL_HEAP, ""},
	{0, AT_STACK, AT_STACK + 0x100000, SYMBOL_STACK, ""},
	{100, AT_SHARED, AT_SHARED + 0x1000, SYMBOL_SHARED, "/dev/shm/q"},
	{200, AT_SHARED2, AT_SHARED2 + 0x1000, SYMBOL_SHARED, "/dev/shm/q"},
	{0, 0xffff800000000000ULL, 0xfffffffffffff000ULL, SYMBOL_KERNEL, ""},
};

static void add_frame(struct profile_fixture_names *fixture, struct symbol_frame frame)
{
	static char file[] = "work.c";

	frame.file = frame.line ? file : NULL;
	fixture->frames[fixture->symbol.n_frames++] = frame;
}

/* Each 16 bytes of code have a source line of their own. */
static void add_functions(struct profile_fixture_names *fixture, u64 address)
{
	static char inlined[] = "inner";

	for (size_t i = 0; i < ARRAY_SIZE(functions); i++) {
		u64 offset = address - functions[i].start;
		u32 line = functions[i].line ? functions[i].line + (u32)offset / 16 : 0;

		if (offset >= 0x100)
			continue;
		if (functions[i].start == AT_WORK && offset >= AT_INNER - AT_WORK)
			add_frame(fixture,
				  (struct symbol_frame){.name = inlined, .line = 90, .inlined = true});
		add_frame(fixture,
			  (struct symbol_frame){.name = functions[i].name, .line = line, .offset = offset});
	}
}

static const struct symbol *find(void *userdata, const struct symbol_query *query)
{
	static char variable[] = "counters";
	struct profile_fixture_names *fixture = userdata;

	fixture->calls++;
	fixture->pid = query->pid;
	if (fixture->silent) {
		fixture->silent--;
		return NULL;
	}
	fixture->symbol = (struct symbol){.frames = fixture->frames};
	for (size_t i = 0; i < ARRAY_SIZE(memories); i++) {
		struct memory *memory = &memories[i];

		if (query->address < memory->start || query->address >= memory->end ||
		    (memory->pid && memory->pid != query->pid))
			continue;
		fixture->symbol.region = memory->region;
		fixture->symbol.module = memory->module[0] ? memory->module : NULL;
		fixture->symbol.start = memory->start;
		fixture->symbol.end = memory->end;
		fixture->symbol.address = query->address - memory->start;
		if (memory->region == SYMBOL_FILE) {
			fixture->symbol.build_id_size = 2;
			memcpy(fixture->symbol.build_id, "\xab\x01", 2);
		}
	}
	if (query->kind == SYMBOL_CODE)
		add_functions(fixture, query->address);
	else if (query->address - AT_COUNTERS < 0x100)
		add_frame(fixture,
			  (struct symbol_frame){.name = variable, .offset = query->address - AT_COUNTERS});
	return &fixture->symbol;
}

void profile_fixture_names_init(struct profile_fixture_names *fixture)
{
	*fixture = (struct profile_fixture_names){.names = {find, fixture}};
}

u64 profile_fixture_l1(void)
{
	return OP_LOAD | (u64)(LVL_HIT | LVL_L1) << 5 | (u64)LVL_NUM_L1 << 33;
}

u64 profile_fixture_hitm(void)
{
	return OP_LOAD | (u64)(LVL_HIT | LVL_L3) << 5 | (u64)SNOOP_BIT_HITM << 19 | (u64)LVL_NUM_L3 << 33;
}

u64 profile_fixture_store(void)
{
	return OP_STORE | (u64)(LVL_HIT | LVL_L1) << 5 | (u64)LVL_NUM_L1 << 33;
}

struct zoom_sample profile_fixture_sample(u64 code, u64 address, u64 latency)
{
	return (struct zoom_sample){
		.pid = 100,
		.tid = 100,
		.of = {.latency = latency,
		       .data_source = profile_fixture_l1(),
		       .address = address,
		       .code_address = code,
		       .fields = SAMPLE_CODE_ADDRESS | SAMPLE_ADDRESS | SAMPLE_LATENCY | SAMPLE_DATA_SOURCE}};
}

static u64 draw(u64 *state, u64 n)
{
	return splitmix(state) % n;
}

struct zoom_sample profile_fixture_random(u64 i, u64 stack[16])
{
	static const u64 code[] = {AT_MAIN, AT_WORK, AT_INNER, AT_LOAD_ROW, AT_UNNAMED, AT_FAULT, 0x10};
	static const u64 data[] = {AT_COUNTERS, AT_BSS,     AT_HEAP,        AT_STACK,
				   AT_SHARED,   AT_SHARED2, AT_KERNEL_DATA, 0x20};
	u64 state = i;
	struct zoom_sample sample = profile_fixture_sample(
		code[draw(&state, ARRAY_SIZE(code))] + draw(&state, 64),
		data[draw(&state, ARRAY_SIZE(data))] + draw(&state, 256), draw(&state, 500));

	sample.pid = draw(&state, 2) ? 100 : 200;
	sample.tid = sample.pid + (u32)draw(&state, 3);
	sample.cpu = (u32)draw(&state, 8);
	sample.of.data_source = draw(&state, 3)   ? profile_fixture_l1()
				: draw(&state, 2) ? profile_fixture_hitm()
						  : profile_fixture_store();
	sample.of.fields = (u16)(sample.of.fields & ~(draw(&state, 8) ? 0 : 1U << draw(&state, 5)));
	sample.physical = draw(&state, 4) ? (sample.of.address & 0xffffff) + 0x1000000 : 0;
	sample.n_user = draw(&state, 6);
	for (size_t j = 0; j < sample.n_user; j++)
		stack[j] = code[draw(&state, ARRAY_SIZE(code))] + 1 + draw(&state, 128);
	if (sample.n_user && draw(&state, 2))
		stack[sample.n_user - 1] = AT_START + 5;
	sample.user = stack;
	if (draw(&state, 4) == 0) {
		sample.n_kernel = 1;
		stack[8] = AT_FAULT + 9;
		sample.kernel = &stack[8];
	}
	return sample;
}

// SPDX-License-Identifier: GPL-2.0
#include "workload_code.h"

#define SITES_MAX 16
#define CALLS_MAX 8

/* A call instruction, and the return address after it. */
#define CALL_BYTES 8U

/* From this instruction on, up to that of the next site, the source line is `line`. */
struct site {
	u16 index;
	u16 line; /* 0 ends the list */
};

/* `caller` calls `function` in `line`. Each function has one caller, and main() none. */
struct call {
	const char *function; /* NULL ends the list */
	const char *caller;
	u16 line;
};

/*
 * One row for each program: its file, a site for each statement, and the calls. The indexes are those of workload.c's
 * instructions.
 */
static const struct code {
	const char *file;
	struct site sites[SITES_MAX];
	struct call calls[CALLS_MAX];
} codes[WORKLOAD_KINDS] = {
	[WORKLOAD_STREAMING] = {"streaming.c",
				{{0, 14}, {3, 15}, {7, 16}, {10, 17}},
				{{"sum_array", "main", 31}}},
	[WORKLOAD_POINTER_CHASE] = {"pointer_chase.c",
				    {{0, 18}, {3, 25}, {6, 40}},
				    {{"next_node", "main", 38}, {"read_payload", "main", 39}}},
	[WORKLOAD_REMOTE_NUMA] = {"remote_numa.c",
				  {{0, 18}, {3, 25}, {6, 43}},
				  {{"next_node", "main", 41}, {"read_payload", "main", 42}}},
	[WORKLOAD_FALSE_SHARING] = {"false_sharing.c",
				    {{0, 21}, {3, 22}, {6, 47}},
				    {{"count_request", "serve_request", 34}, {"serve_request", "main", 46}}},
	[WORKLOAD_TLB_THRASH] = {"tlb_thrash.c", {{0, 16}, {4, 28}}, {{"touch_page", "main", 27}}},
	[WORKLOAD_LOCKED_COUNTERS] = {"locked_counters.c",
				      {{0, 19}, {3, 20}, {7, 26}, {10, 27}},
				      {{"add_to_own", "main", 39}, {"add_to_shared", "main", 40}}},
	[WORKLOAD_MIX] = {"mix.c",
			  {{0, 52}, {3, 24}, {6, 33}, {8, 34}},
			  {{"look_up", "main", 53}, {"update", "main", 54}}},
	[WORKLOAD_DATABASE] = {"database.c",
			       {{0, 212}, {3, 88}, {6, 89}, {9, 131}, {12, 134}, {15, 157}, {18, 176}},
			       {{"execute_query", "serve_client", 241},
				{"search_index", "execute_query", 215},
				{"read_page", "execute_query", 217},
				{"filter_row", "execute_query", 219},
				{"append_log", "execute_query", 224},
				{"serve_client", "main", 268}}},
	[WORKLOAD_BACKUP] = {"backup.c",
			     {{0, 47}, {3, 48}, {6, 49}, {10, 71}, {13, 72}},
			     {{"read_file", "back_up", 96},
			      {"compress", "back_up", 97},
			      {"back_up", "main", 118}}},
	[WORKLOAD_SHOP] = {"shop.c",
			   {{0, 142}, {3, 64}, {6, 97}, {9, 98}, {13, 42}, {16, 43}},
			   {{"handle_request", "serve_requests", 171},
			    {"find_session", "handle_request", 144},
			    {"render_page", "handle_request", 147},
			    {"count_order", "handle_request", 150},
			    {"serve_requests", "main", 193}}},
	[WORKLOAD_BATCH] = {"batch.c",
			    {{0, 38}, {3, 39}, {7, 58}, {10, 59}, {13, 66}},
			    {{"read_rows", "run_job", 83},
			     {"find_group", "run_job", 85},
			     {"add_to_group", "run_job", 86},
			     {"run_job", "main", 104}}},
	[WORKLOAD_CACHE] = {"cache.c",
			    {{0, 121}, {4, 54}, {8, 73}, {12, 90}},
			    {{"serve_key", "main", 149},
			     {"look_up_key", "serve_key", 123},
			     {"lock_entry", "serve_key", 125},
			     {"copy_value", "serve_key", 127}}},
	[WORKLOAD_MONITOR] = {"monitor.c",
			      {{0, 44}, {3, 23}, {6, 24}, {9, 25}},
			      {{"read_counters", "main", 45}}},
};

void workload_code_line(u32 index, struct workload_name *ret)
{
	const struct code *code = &codes[ret->kind];

	ret->file = code->file;
	for (u32 i = 0; i < SITES_MAX && code->sites[i].line && code->sites[i].index <= index; i++)
		ret->line = code->sites[i].line;
}

bool workload_code_call(enum workload_kind kind, u64 offset, struct workload_name *ret)
{
	const struct code *code = &codes[kind];
	u64 i = (offset - WORKLOAD_CALLS) / CALL_BYTES;

	if (offset < WORKLOAD_CALLS || i >= CALLS_MAX || !code->calls[i].function)
		return false;
	*ret = (struct workload_name){.kind = kind,
				      .code = true,
				      .name = code->calls[i].caller,
				      .offset = offset,
				      .file = code->file,
				      .line = code->calls[i].line};
	return true;
}

static const struct call *call_of(const struct code *code, const char *function)
{
	for (const struct call *call = code->calls; call < code->calls + CALLS_MAX && call->function; call++)
		if (same_text(call->function, function))
			return call;
	return NULL;
}

size_t workload_code_stack(const struct workload_name *of, u64 ret[static WORKLOAD_STACK_MAX])
{
	const u64 calls = WORKLOAD_TEXT + (u64)of->kind * WORKLOAD_TEXT_SIZE + WORKLOAD_CALLS;
	const struct code *code = &codes[of->kind];
	const struct call *call = of->code ? call_of(code, of->name) : NULL;
	size_t n = 0;

	for (; call && n < WORKLOAD_STACK_MAX; call = call_of(code, call->caller))
		ret[n++] = calls + (u64)(call - code->calls + 1) * CALL_BYTES;
	return n;
}

// SPDX-License-Identifier: GPL-2.0
/* The source lines and call stacks of the modelled programs. */
#include <criterion/criterion.h>

#include "base/cleanup.h"
#include "model/workload_code.h"
#include "profile/profile_stacks.h"

static u64 text_of(enum workload_kind kind)
{
	return WORKLOAD_TEXT + (u64)kind * WORKLOAD_TEXT_SIZE;
}

static struct workload_name name_of(u64 address)
{
	struct workload_name name = {0};

	cr_assert(workload_name_of(address, &name), "%llx", (unsigned long long)address);
	return name;
}

Test(model_workload_code, each_instruction_has_the_line_of_its_statement)
{
	static const struct {
		enum workload_kind kind;
		u32 slot;
		const char *function, *file;
		u32 line;
	} rows[] = {
		{WORKLOAD_FALSE_SHARING, 0, "count_request", "false_sharing.c", 21},
		{WORKLOAD_FALSE_SHARING, 2, "count_request", "false_sharing.c", 21},
		{WORKLOAD_FALSE_SHARING, 3, "count_request", "false_sharing.c", 22},
		{WORKLOAD_FALSE_SHARING, 9, "main", "false_sharing.c", 47},
		{WORKLOAD_SHOP, 13, "count_order", "shop.c", 42},
		{WORKLOAD_SHOP, 16, "count_order", "shop.c", 43},
		{WORKLOAD_DATABASE, 9, "read_page", "database.c", 131},
		{WORKLOAD_BACKUP, 3, "read_file", "backup.c", 48},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct workload_name name = name_of(text_of(rows[i].kind) + 4ULL * rows[i].slot);

		cr_expect_str_eq(name.name, rows[i].function);
		cr_expect_str_eq(name.file, rows[i].file);
		cr_expect_eq(name.line, rows[i].line, "row %zu: %u", i, name.line);
	}
}

Test(model_workload_code, a_stack_leads_to_main)
{
	static const struct {
		const char *function;
		u32 line;
	} callers[] = {{"handle_request", 150}, {"serve_requests", 171}, {"main", 193}};
	const struct workload_name count_order = name_of(text_of(WORKLOAD_SHOP) + 4ULL * 13);
	u64 stack[WORKLOAD_STACK_MAX];

	cr_assert_eq(workload_code_stack(&count_order, stack), 3);
	for (size_t i = 0; i < 3; i++) {
		const struct workload_name caller = name_of(stack[i] - 1);

		cr_expect_str_eq(caller.name, callers[i].function);
		cr_expect_str_eq(caller.file, "shop.c");
		cr_expect_eq(caller.line, callers[i].line);
	}
}

/* A row that a program lacks, or a call of a function that does not exist, shows here. */
Test(model_workload_code, every_instruction_of_every_program_has_a_line_and_a_stack)
{
	for (int kind = 0; kind < WORKLOAD_KINDS; kind++) {
		const u64 text = text_of((enum workload_kind)kind);
		struct workload_name name = {0};
		u32 slots = 0;

		for (; workload_name_of(text + 4ULL * slots, &name) && 4ULL * slots < WORKLOAD_CALLS;
		     slots++) {
			u64 stack[WORKLOAD_STACK_MAX];
			size_t n = workload_code_stack(&name, stack);
			const char *outermost = n ? name_of(stack[n - 1] - 1).name : name.name;

			cr_expect(name.file && name.line > 0, "%s: %s", workload_names[kind], name.name);
			cr_expect_str_eq(outermost, "main", "%s: %s", workload_names[kind], name.name);
			cr_expect(profile_is_start(outermost));
			name = (struct workload_name){0};
		}
		cr_expect_gt(slots, 4);
	}
}

Test(model_workload_code, nothing_is_between_instructions_and_calls_or_after_the_calls)
{
	struct workload_name name;

	cr_expect(!workload_name_of(text_of(WORKLOAD_SHOP) + WORKLOAD_CALLS - 4, &name));
	cr_expect(workload_name_of(text_of(WORKLOAD_SHOP) + WORKLOAD_CALLS, &name));
	cr_expect(!workload_name_of(text_of(WORKLOAD_SHOP) + WORKLOAD_CALLS + 40, &name));
	cr_expect(!workload_name_of(text_of(WORKLOAD_KINDS), &name));
}

Test(model_workload_code, data_has_no_line_and_says_which_node_has_it)
{
	const u64 range = WORKLOAD_DATA_SIZE / 7 / 4096 * 4096;
	struct workload_name name = name_of(WORKLOAD_DATA + WORKLOAD_DATABASE * WORKLOAD_DATA_SIZE);
	u64 stack[WORKLOAD_STACK_MAX];

	cr_expect_null(name.file);
	cr_expect(!name.remote);
	cr_expect_eq(workload_code_stack(&name, stack), 0);
	name = name_of(WORKLOAD_DATA + WORKLOAD_DATABASE * WORKLOAD_DATA_SIZE + 6 * range);
	cr_expect_str_eq(name.name, "buffer_pool_other_node");
	cr_expect(name.remote);
	name = name_of(WORKLOAD_DATA + WORKLOAD_REMOTE_NUMA * WORKLOAD_DATA_SIZE);
	cr_expect(name.remote);
}

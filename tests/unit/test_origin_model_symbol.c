// SPDX-License-Identifier: GPL-2.0
#include <criterion/criterion.h>

#include "base/cleanup.h"
#include "model/workload.h"
#include "origin/model/model_symbol.h"

static struct model_symbol room;

Test(model_symbol, an_address_has_the_function_of_its_workload)
{
	const u64 text = WORKLOAD_TEXT + WORKLOAD_POINTER_CHASE * WORKLOAD_TEXT_SIZE;
	const struct symbol *symbol = model_symbol(text + 16, &room);
	_cleanup_free_ char *shown = NULL;

	cr_assert_not_null(symbol);
	cr_expect_str_eq(symbol->module, "model:pointer-chase");
	cr_assert_eq(symbol->n_frames, 1);
	cr_expect_str_eq(symbol->frames[0].name, "read_payload");
	cr_expect_eq(symbol->frames[0].offset, 4);
	cr_expect_str_eq(symbol->frames[0].file, "pointer_chase.c");
	cr_expect_eq(symbol->frames[0].line, 25);
	cr_expect_eq(symbol->address, text + 16);
	cr_expect_eq(symbol->start, text);
	cr_expect_eq(symbol->end, text + WORKLOAD_TEXT_SIZE);
	shown = symbol_text(symbol);
	cr_expect_str_eq(shown, "read_payload");
}

Test(model_symbol, stacks_have_names)
{
	const u64 stack = WORKLOAD_DATA + WORKLOAD_DATA_SIZE / 7;
	const struct symbol *symbol = model_symbol(stack, &room);
	_cleanup_free_ char *shown = NULL;

	cr_assert_not_null(symbol);
	shown = symbol_text(symbol);
	cr_expect_str_eq(shown, "[stack]");
}

/* An earlier answer does not show in the next one. */
Test(model_symbol, queries_are_answered_in_order)
{
	cr_assert_not_null(model_symbol(WORKLOAD_DATA, &room));
	cr_expect_str_eq(room.symbol.frames[0].name, "array");
	cr_assert_not_null(model_symbol(WORKLOAD_TEXT, &room));
	cr_expect_str_eq(room.symbol.frames[0].name, "sum_array");
	cr_expect_str_eq(room.symbol.module, "model:streaming");
	cr_expect_eq(room.symbol.frames[0].line, 14);
	cr_assert_not_null(model_symbol(WORKLOAD_DATA, &room));
	cr_expect_null(room.symbol.frames[0].file, "data has no line");
	cr_expect_null(model_symbol(1, &room));
}

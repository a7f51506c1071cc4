// SPDX-License-Identifier: GPL-2.0
#include <string.h>

#include <criterion/criterion.h>

#include "base/cleanup.h"
#include "symbols/shared/symbol.h"

Test(symbol, symbols_have_texts)
{
	char module[] = "/lib/x.so", name[] = "function";
	struct symbol_frame frame = {.name = name};
	const struct {
		struct symbol symbol;
		const char *expected;
	} cases[] = {
		{{}, "[unknown]"},
		{{.region = SYMBOL_FILE, .module = module, .address = 0x1234}, "[unknown] /lib/x.so+0x1234"},
		{{.region = SYMBOL_FILE, .module = module, .n_frames = 1, .frames = &frame}, "function"},
		{{.region = SYMBOL_FILE}, "[unknown]"},
		{{.region = SYMBOL_HEAP, .address = 5}, "[heap]"},
		{{.region = SYMBOL_STACK}, "[stack]"},
		{{.region = SYMBOL_ANONYMOUS}, "[anon]"},
		{{.region = SYMBOL_ANONYMOUS, .module = module}, "[anon:/lib/x.so]"},
		{{.region = SYMBOL_SHARED}, "[shared]"},
		{{.region = SYMBOL_SHARED, .module = module}, "[shared] /lib/x.so"},
		{{.region = SYMBOL_VDSO, .address = 0x900}, "[vdso]"},
		{{.region = SYMBOL_KERNEL, .address = 7}, "[kernel]"},
		{{.region = SYMBOL_KERNEL, .address = 7, .module = module}, "[kernel] /lib/x.so"},
		{{.region = SYMBOL_KERNEL, .n_frames = 1, .frames = &frame}, "function"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_free_ char *text = symbol_text(&cases[i].symbol);

		cr_expect_str_eq(text, cases[i].expected, "case %zu", i);
	}
}

Test(symbol, each_region_has_its_own_name)
{
	for (unsigned int i = 0; i < SYMBOL_REGIONS; i++) {
		for (unsigned int j = 0; j < i; j++)
			cr_expect_str_neq(symbol_region_name(i), symbol_region_name(j));
	}
	cr_expect_str_eq(symbol_region_name(SYMBOL_REGIONS), "unknown");
}

Test(symbol, a_copy_is_deep)
{
	char module[] = "/lib/x.so", name[] = "function", file[] = "x.c";
	struct symbol_frame frames[] = {{.name = name, .file = file, .line = 7, .inlined = true},
					{.name = name}};
	const struct symbol symbol = {
		.region = SYMBOL_FILE,
		.deleted = true,
		.module = module,
		.address = 1,
		.start = 2,
		.end = 3,
		.build_id = {4},
		.build_id_size = 1,
		.n_frames = 2,
		.frames = frames,
	};
	struct symbol copy;

	cr_assert_eq(symbol_copy(&symbol, &copy), 0);
	cr_expect_neq(copy.module, module);
	cr_expect_neq(copy.frames[0].name, name);
	cr_expect_str_eq(copy.module, module);
	cr_expect_str_eq(copy.frames[0].name, name);
	cr_expect_str_eq(copy.frames[0].file, file);
	cr_expect_eq(copy.frames[0].line, 7);
	cr_expect(copy.frames[0].inlined);
	cr_expect_null(copy.frames[1].file);
	cr_expect_eq(copy.build_id[0], 4);
	cr_expect(copy.deleted);
	symbol_done(&copy);
	cr_expect_eq(copy.region, SYMBOL_UNKNOWN);
	cr_expect_null(copy.frames);
	symbol_done(&copy);
}

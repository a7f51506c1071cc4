// SPDX-License-Identifier: GPL-2.0

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

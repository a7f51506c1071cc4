/* SPDX-License-Identifier: GPL-2.0 */
#pragma once
/*
 * Criterion's assertions for static analysis (tests/tools/tidy.sh), which compiles nothing: an assertion that
 * fails ends the test. Criterion's own assertions have four paths each, and the test continues on two of
 * them. So after a dozen assertions the analyzer gave up before it reached the rest of the test, and it spent
 * seconds on each assertion. The conditions and the messages of the assertions are still analysed.
 */
#include <criterion/criterion.h>

#undef cr_assert_impl
#define cr_assert_impl(Fail, Condition, ...)                                                         \
	do {                                                                                         \
		if (!(Condition)) {                                                                  \
			char *cr_msg__ = NULL;                                                       \
			CR_EXPAND(cr_asprintf(&cr_msg__,                                             \
					      "x" CR_VA_TAIL(CR_VA_TAIL(CR_VA_TAIL(__VA_ARGS__))))); \
			cr_asprintf_free(cr_msg__);                                                  \
			criterion_abort_test();                                                      \
		}                                                                                    \
	} while (0)

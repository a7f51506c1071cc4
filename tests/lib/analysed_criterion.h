/* SPDX-License-Identifier: GPL-2.0 */
#pragma once
/*
 * Criterion's assertions as static analysis sees them (tests/tools/tidy.sh), which compiles nothing: one that
 * fails ends the test. Criterion's own are four ways through each assertion, two of which go on, so that
 * after a dozen of them the analyzer gave up before it reached the rest of the test; and each took it
 * seconds. What is asserted, and the text for who reads of a failure, are looked at as before.
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

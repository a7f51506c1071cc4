// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdint.h>

#include <criterion/criterion.h>

#include "base/descriptor_limit.h"

Test(descriptor_limit, the_limit_is_raised_only_if_needed_and_then_to_the_hard_limit)
{
	const struct rlimit limit = {.rlim_cur = 1024, .rlim_max = 4096};
	rlim_t soft = 0;

	cr_assert_eq(descriptor_limit_for(&limit, 10, 16, &soft), 0);
	cr_expect_eq(soft, 1024);
	cr_assert_eq(descriptor_limit_for(&limit, 10, 1024 - 10 - DESCRIPTORS_SPARE, &soft), 0);
	cr_expect_eq(soft, 1024);
	cr_assert_eq(descriptor_limit_for(&limit, 10, 1024 - 10 - DESCRIPTORS_SPARE + 1, &soft), 0);
	cr_expect_eq(soft, 4096);
	cr_expect_eq(descriptor_limit_for(&limit, 10, 4096, &soft), -EMFILE);
	cr_expect_eq(descriptor_limit_for(&limit, 10, SIZE_MAX, &soft), -EMFILE);
}

Test(descriptor_limit, the_limit_of_this_process_is_raised)
{
	struct rlimit limit;

	cr_assert_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
	cr_assert_gt(limit.rlim_max, 300);
	limit.rlim_cur = 256;
	cr_assert_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
	cr_expect_eq(descriptor_limit_reserve(1), 0);
	cr_assert_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
	cr_expect_eq(limit.rlim_cur, 256);
	cr_expect_eq(descriptor_limit_reserve(150), 0);
	cr_assert_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
	cr_expect_eq(limit.rlim_cur, limit.rlim_max);
	limit.rlim_cur = limit.rlim_max = 200;
	cr_assert_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
	cr_expect_eq(descriptor_limit_reserve(150), -EMFILE);
}

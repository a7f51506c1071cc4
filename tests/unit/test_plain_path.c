// SPDX-License-Identifier: GPL-2.0
#include <criterion/criterion.h>

#include "base/cleanup.h"
#include "cgroup/plain_path.h"

Test(plain_path, only_paths_below_the_root_are_plain)
{
	static const char *const plain[] = {"/",    "/a",     "/a/b.service", "/.a",
					    "/..a", "/a../b", "/...",         "/a b"};
	static const char *const others[] = {"",    "a",     "a/b",    "//",    "/a/",    "/a//b", "/.",
					     "/..", "/a/..", "/a/./b", "/../a", "comm:x", "../a"};

	for (size_t i = 0; i < ARRAY_SIZE(plain); i++)
		cr_expect(plain_path(plain[i]), "%s", plain[i]);
	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		cr_expect_not(plain_path(others[i]), "%s", others[i]);
}

// SPDX-License-Identifier: GPL-2.0
/* The choice of the BPF object for a kernel, by the names of its types. */
#include <criterion/criterion.h>

#include "kernel/skeleton.h"

Test(skeleton, only_whole_names_match)
{
	static const char table[] = "\0int\0bpf_cast\0bpf_cast_to_kern_ctx\0xbpf_tail";

	cr_expect(skeleton_names(table, sizeof(table), "bpf_cast_to_kern_ctx"));
	cr_expect(skeleton_names(table, sizeof(table), "bpf_cast"));
	cr_expect(skeleton_names(table, sizeof(table), "int"));
	cr_expect_not(skeleton_names(table, sizeof(table), "kern_ctx"), "the end of another");
	cr_expect_not(skeleton_names(table, sizeof(table), "bpf_ca"), "the beginning of another");
	cr_expect_not(skeleton_names(table, sizeof(table), "bpf_tail"));
	cr_expect_not(skeleton_names(table, sizeof(table) - 1, "xbpf_tail"), "cut");
	cr_expect_not(skeleton_names(table, 0, "int"));
}

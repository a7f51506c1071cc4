// SPDX-License-Identifier: GPL-2.0
#include <criterion/criterion.h>

#include "base/cleanup.h"
#include "kernel/inherited.h"

#pragma GCC diagnostic ignored "-Woverride-init" /* a case overrides members of IDENTITY */

#define IDENTITY                                                                               \
	.records = 1, .slots = 512, .stripes = 2, .cpus = 4, .n_events = 2, .with_latency = 1, \
	.measured = 5, .hot_max = 4, .hot_cpus = 4, .offcore_cpus = 4, .settings = 6, .programs = 7

Test(inherited_decide, each_difference_of_saved_state_has_its_decision)
{
	static const struct inherited_identity before = {IDENTITY};
	static const struct {
		struct inherited_identity own;
		enum inherited inherited;
		const char *difference;
	} cases[] = {
		{{IDENTITY}, INHERITED_ALL, NULL},
		{{IDENTITY, .programs = 8}, INHERITED_MAPS, "the programs"},
		{{IDENTITY, .programs = 0}, INHERITED_MAPS, "the programs"},
		{{IDENTITY, .settings = 8}, INHERITED_MAPS, "the settings of the programs"},
		{{IDENTITY, .settings = 8, .programs = 8}, INHERITED_MAPS, "the settings of the programs"},
		{{IDENTITY, .records = 2}, INHERITED_NOTHING, "the layout of the records"},
		{{IDENTITY, .records = 2, .programs = 8}, INHERITED_NOTHING, "the layout of the records"},
		{{IDENTITY, .slots = 513}, INHERITED_NOTHING, "the number of slots"},
		{{IDENTITY, .stripes = 1}, INHERITED_NOTHING, "the CPUs"},
		{{IDENTITY, .cpus = 8}, INHERITED_NOTHING, "the CPUs"},
		{{IDENTITY, .n_events = 1}, INHERITED_NOTHING, "the events"},
		{{IDENTITY, .with_latency = 2}, INHERITED_NOTHING, "the events"},
		{{IDENTITY, .measured = 6}, INHERITED_NOTHING, "the events"},
		{{IDENTITY, .hot_max = 8}, INHERITED_NOTHING, "the number of hot tables"},
		{{IDENTITY, .block_slots = 256}, INHERITED_NOTHING, "the number of slots"},
		{{IDENTITY, .hot_cpus = 1}, INHERITED_NOTHING, "the number of hot tables"},
		{{IDENTITY, .offcore_cpus = 0}, INHERITED_NOTHING, "the counting of off-core responses"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const char *difference = inherited_difference(&before, &cases[i].own);

		cr_expect_eq(inherited_decide(&before, &cases[i].own), cases[i].inherited, "case %zu", i);
		if (cases[i].difference)
			cr_expect_str_eq(difference, cases[i].difference);
		else
			cr_expect_null(difference);
	}
}

Test(inherited_decide, a_hash_depends_on_bytes_and_their_order)
{
	const u8 bytes[] = {1, 2, 3}, swapped[] = {1, 3, 2};

	cr_expect_neq(inherited_hash(INHERITED_HASH, bytes, 3), inherited_hash(INHERITED_HASH, swapped, 3));
	cr_expect_eq(inherited_hash(inherited_hash(INHERITED_HASH, bytes, 1), bytes + 1, 2),
		     inherited_hash(INHERITED_HASH, bytes, 3));
	/* The published value of this hash for "a". */
	cr_expect_eq(inherited_hash(INHERITED_HASH, "a", 1), 0xaf63dc4c8601ec8cULL);
}

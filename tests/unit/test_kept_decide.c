// SPDX-License-Identifier: GPL-2.0
#include <criterion/criterion.h>

#include "base/cleanup.h"
#include "kernel/kept.h"

#pragma GCC diagnostic ignored "-Woverride-init" /* a case overrides members of IDENTITY */

#define IDENTITY                                                                               \
	.records = 1, .slots = 512, .stripes = 2, .cpus = 4, .n_events = 2, .with_latency = 1, \
	.measured = 5, .hot_max = 4, .hot_cpus = 4, .offcore_cpus = 4, .settings = 6, .programs = 7

Test(kept_decide, each_difference_of_saved_state_has_its_decision)
{
	static const struct kept_identity before = {IDENTITY};
	static const struct {
		struct kept_identity own;
		enum kept kept;
		const char *difference;
	} cases[] = {
		{{IDENTITY}, KEPT_ALL, NULL},
		{{IDENTITY, .programs = 8}, KEPT_MAPS, "the programs"},
		{{IDENTITY, .programs = 0}, KEPT_MAPS, "the programs"},
		{{IDENTITY, .settings = 8}, KEPT_MAPS, "the settings of the programs"},
		{{IDENTITY, .settings = 8, .programs = 8}, KEPT_MAPS, "the settings of the programs"},
		{{IDENTITY, .records = 2}, KEPT_NOTHING, "the layout of the records"},
		{{IDENTITY, .records = 2, .programs = 8}, KEPT_NOTHING, "the layout of the records"},
		{{IDENTITY, .slots = 513}, KEPT_NOTHING, "the number of slots"},
		{{IDENTITY, .stripes = 1}, KEPT_NOTHING, "the CPUs"},
		{{IDENTITY, .cpus = 8}, KEPT_NOTHING, "the CPUs"},
		{{IDENTITY, .n_events = 1}, KEPT_NOTHING, "the events"},
		{{IDENTITY, .with_latency = 2}, KEPT_NOTHING, "the events"},
		{{IDENTITY, .measured = 6}, KEPT_NOTHING, "the events"},
		{{IDENTITY, .hot_max = 8}, KEPT_NOTHING, "the number of hot tables"},
		{{IDENTITY, .block_slots = 256}, KEPT_NOTHING, "the number of slots"},
		{{IDENTITY, .hot_cpus = 1}, KEPT_NOTHING, "the number of hot tables"},
		{{IDENTITY, .offcore_cpus = 0}, KEPT_NOTHING, "the counting of off-core responses"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const char *difference = kept_difference(&before, &cases[i].own);

		cr_expect_eq(kept_decide(&before, &cases[i].own), cases[i].kept, "case %zu", i);
		if (cases[i].difference)
			cr_expect_str_eq(difference, cases[i].difference);
		else
			cr_expect_null(difference);
	}
}

Test(kept_decide, a_hash_depends_on_bytes_and_their_order)
{
	const u8 bytes[] = {1, 2, 3}, swapped[] = {1, 3, 2};

	cr_expect_neq(kept_hash(KEPT_HASH, bytes, 3), kept_hash(KEPT_HASH, swapped, 3));
	cr_expect_eq(kept_hash(kept_hash(KEPT_HASH, bytes, 1), bytes + 1, 2), kept_hash(KEPT_HASH, bytes, 3));
	/* The published value of this hash for "a". */
	cr_expect_eq(kept_hash(KEPT_HASH, "a", 1), 0xaf63dc4c8601ec8cULL);
}

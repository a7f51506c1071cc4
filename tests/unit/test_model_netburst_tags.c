// SPDX-License-Identifier: GPL-2.0
/* NetBurst's at-retirement tagging: manual 18.18.7, tables. */
#include <criterion/criterion.h>

#include "model/netburst_tags.h"

/* ESCRs by the manual's numbers: event select 30:25, event mask 24:9, tag value 8:5, tag enable 4, USR 2. */
static u64 escr(u64 event, u64 mask, u64 tag_value)
{
	return event << 25 | mask << 9 | tag_value << 5 | (tag_value ? 1 << 4 : 0) | 1 << 2;
}

static struct netburst_uop uop(u8 operation, u8 place, u8 translated)
{
	return (struct netburst_uop){
		.retired = {.operation = operation, .place = place, .translated = translated}};
}

static struct netburst_tags tags_of(const struct netburst_tagging *tagging, const struct netburst_uop *uop)
{
	struct netburst_tags tags;

	netburst_tag(tagging, uop, &tags);
	return tags;
}

Test(model_netburst_tags, upstream_escrs_set_the_four_tag_bits_of_execution_events)
{
	struct netburst_uop packed = {.execution = EXECUTION_PACKED_SP};

	for (u8 value = 1; value < 16; value++) {
		struct netburst_tagging tagging = {.firm = {escr(0x08, 1 << 15, value)}};

		cr_expect_eq(tags_of(&tagging, &packed).execution, value);
	}
}

Test(model_netburst_tags, execution_tags_need_event_mask_tag_enable_and_privilege)
{
	struct netburst_uop packed = {.execution = EXECUTION_PACKED_SP};
	struct netburst_uop scalar = {.execution = EXECUTION_SCALAR_DP};
	struct netburst_uop none = {.execution = EXECUTION_NONE};
	struct netburst_tagging tagging = {.firm = {0, escr(0x08, 1 << 15, 1)}};

	cr_expect_eq(tags_of(&tagging, &packed).execution, 1);
	cr_expect_eq(tags_of(&tagging, &scalar).execution, 0);
	packed.kernel = true;
	cr_expect_eq(tags_of(&tagging, &packed).execution, 0);
	tagging.firm[1] |= 1 << 3; /* OS */
	cr_expect_eq(tags_of(&tagging, &packed).execution, 1);
	tagging.firm[1] &= ~(1ULL << 4); /* tag enable */
	cr_expect_eq(tags_of(&tagging, &packed).execution, 0);
	tagging.firm[1] = escr(0x08, 1 << 14, 1);
	packed.kernel = false;
	cr_expect_eq(tags_of(&tagging, &packed).execution, 0);
	tagging.firm[1] = escr(0, 1 << 15, 1);
	cr_expect_eq(tags_of(&tagging, &none).execution, 0);
}

Test(model_netburst_tags, two_upstream_escrs_tag_distinctly)
{
	struct netburst_tagging tagging = {.firm = {escr(0x08, 1 << 15, 0x1), escr(0x0e, 1 << 15, 0x8)}};
	struct netburst_uop packed = {.execution = EXECUTION_PACKED_SP};
	struct netburst_uop scalar = {.execution = EXECUTION_SCALAR_DP};

	cr_expect_eq(tags_of(&tagging, &packed).execution, 0x1);
	cr_expect_eq(tags_of(&tagging, &scalar).execution, 0x8);
	tagging.firm[1] = escr(0x08, 1 << 15, 0x6);
	cr_expect_eq(tags_of(&tagging, &packed).execution, 0x7);
}

Test(model_netburst_tags, execution_event_counts_nbogus0_to_3_and_bogus0_to_3)
{
	for (u32 tag = 0; tag < 4; tag++)
		for (u32 bit = 0; bit < 8; bit++) {
			struct netburst_tags tags = {.execution = (u8)(1 << tag)};
			struct netburst_uop retires = {.bogus = false};
			struct netburst_uop cancelled = {.bogus = true};
			u64 downstream = escr(0x0c, 1 << bit, 0);

			cr_expect_eq(netburst_counts(downstream, &tags, &retires), bit == tag);
			cr_expect_eq(netburst_counts(downstream, &tags, &cancelled), bit == tag + 4);
		}
}

/* The example of the manual: a tag value of 3 upstream, NBOGUS0 and NBOGUS1 downstream. */
Test(model_netburst_tags, execution_event_counts_combinations)
{
	struct netburst_tagging tagging = {.firm = {escr(0x08, 1 << 15, 0x3)}};
	struct netburst_uop packed = {.execution = EXECUTION_PACKED_SP};
	struct netburst_tags tags = tags_of(&tagging, &packed);

	cr_expect(netburst_counts(escr(0x0c, 0x3, 0), &tags, &packed));
	cr_expect(netburst_counts(escr(0x0c, 0x2, 0), &tags, &packed));
	cr_expect(!netburst_counts(escr(0x0c, 0xc, 0), &tags, &packed));
}

Test(model_netburst_tags, front_end_event_counts_tagged_loads_and_stores)
{
	struct netburst_uop load = uop(OPERATION_LOAD, PLACE_L1, TRANSLATED_L1);
	struct netburst_uop store = uop(OPERATION_STORE, PLACE_L1, TRANSLATED_L1);
	struct netburst_uop other = uop(OPERATION_NONE, PLACE_L1, TRANSLATED_L1);
	struct netburst_tagging loads = {.rat = {escr(0x02, 1 << 1, 0)}};
	struct netburst_tagging stores = {.rat = {0, escr(0x02, 1 << 2, 0)}};
	struct netburst_tagging both = {.rat = {escr(0x02, 1 << 1 | 1 << 2, 0)}};
	struct netburst_tagging wrong = {.rat = {escr(0x03, 1 << 1 | 1 << 2, 0)}};
	struct netburst_tags tagged = {.front_end = true};

	cr_expect(tags_of(&loads, &load).front_end);
	cr_expect(!tags_of(&loads, &store).front_end);
	cr_expect(tags_of(&stores, &store).front_end);
	cr_expect(!tags_of(&stores, &load).front_end);
	cr_expect(tags_of(&both, &load).front_end && tags_of(&both, &store).front_end);
	cr_expect(!tags_of(&both, &other).front_end);
	cr_expect(!tags_of(&wrong, &load).front_end);
	load.kernel = true;
	cr_expect(!tags_of(&both, &load).front_end);

	cr_expect(netburst_counts(escr(0x08, 1 << 0, 0), &tagged, &store));
	cr_expect(!netburst_counts(escr(0x08, 1 << 1, 0), &tagged, &store));
	store.bogus = true;
	cr_expect(netburst_counts(escr(0x08, 1 << 1, 0), &tagged, &store));
	cr_expect(!netburst_counts(escr(0x08, 1 << 0, 0), &tagged, &store));
	cr_expect(!netburst_counts(escr(0x09, 1 << 1, 0), &tagged, &store)); /* no replay tag */
	cr_expect(!netburst_counts(escr(0x0a, 0xffff, 0), &tagged, &store)); /* not one of these events */
	store.kernel = true;
	cr_expect(!netburst_counts(escr(0x08, 1 << 1, 0), &tagged, &store));
}

/* Table A-14: the values of IA32_PEBS_ENABLE and MSR_PEBS_MATRIX_VERT for each metric. */
Test(model_netburst_tags, replay_event_tags_by_matrix_and_metric)
{
	static const struct {
		u64 pebs_enable, matrix_vert;
		u8 operation, place, translated;
		bool tagged;
	} cases[] = {
		/* 1stL_cache_load_miss_retired */
		{0x3000001, 0x1, OPERATION_LOAD, PLACE_L1, TRANSLATED_L1, false},
		{0x3000001, 0x1, OPERATION_LOAD, PLACE_FILL_BUFFER, TRANSLATED_L1, true},
		{0x3000001, 0x1, OPERATION_LOAD, PLACE_L2, TRANSLATED_L1, true},
		{0x3000001, 0x1, OPERATION_LOAD, PLACE_LOCAL_DRAM, TRANSLATED_L1, true},
		{0x3000001, 0x1, OPERATION_LOAD, PLACE_UNCACHED, TRANSLATED_L1, false},
		{0x3000001, 0x1, OPERATION_STORE, PLACE_L2, TRANSLATED_L1, false},
		{0x3000001, 0x3, OPERATION_STORE, PLACE_L2, TRANSLATED_L1, false},
		/* 2ndL_cache_load_miss_retired */
		{0x3000002, 0x1, OPERATION_LOAD, PLACE_L2, TRANSLATED_L1, false},
		{0x3000002, 0x1, OPERATION_LOAD, PLACE_FILL_BUFFER, TRANSLATED_L1, false},
		{0x3000002, 0x1, OPERATION_LOAD, PLACE_L3, TRANSLATED_L1, true},
		{0x3000002, 0x1, OPERATION_LOAD, PLACE_REMOTE_DRAM, TRANSLATED_L1, true},
		{0x3000002, 0x1, OPERATION_LOAD, PLACE_IO, TRANSLATED_L1, false},
		/* DTLB_load_miss_retired, DTLB_store_miss_retired, DTLB_all_miss_retired */
		{0x3000004, 0x1, OPERATION_LOAD, PLACE_L1, TRANSLATED_WALK, true},
		{0x3000004, 0x1, OPERATION_LOAD, PLACE_L1, TRANSLATED_L1, false},
		{0x3000004, 0x1, OPERATION_STORE, PLACE_L1, TRANSLATED_WALK, false},
		{0x3000004, 0x2, OPERATION_STORE, PLACE_L1, TRANSLATED_WALK, true},
		{0x3000004, 0x2, OPERATION_LOAD, PLACE_L1, TRANSLATED_WALK, false},
		{0x3000004, 0x3, OPERATION_LOAD, PLACE_L1, TRANSLATED_WALK, true},
		{0x3000004, 0x3, OPERATION_STORE, PLACE_L1, TRANSLATED_WALK, true},
		{0x3000004, 0x3, OPERATION_NONE, PLACE_L1, TRANSLATED_WALK, false},
		/* a metric without a kind of micro-operation, then a kind without a metric */
		{0x3000001, 0x0, OPERATION_LOAD, PLACE_L2, TRANSLATED_L1, false},
		{0x3000000, 0x3, OPERATION_LOAD, PLACE_L2, TRANSLATED_WALK, false},
		/* Tagged_mispred_branch: not in the model */
		{0x3018000, 0x10, OPERATION_LOAD, PLACE_L2, TRANSLATED_WALK, false},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct netburst_tagging tagging = {.pebs_enable = cases[i].pebs_enable,
						   .matrix_vert = cases[i].matrix_vert};
		struct netburst_uop here = uop(cases[i].operation, cases[i].place, cases[i].translated);

		cr_expect_eq(tags_of(&tagging, &here).replay, cases[i].tagged, "%zu", i);
	}
}

Test(model_netburst_tags, replay_tagging_needs_uop_tag_bit_24)
{
	struct netburst_uop load = uop(OPERATION_LOAD, PLACE_L2, TRANSLATED_L1);
	struct netburst_tagging tagging = {.matrix_vert = 1};

	tagging.pebs_enable = 1 | 1 << 24 | 1 << 25;
	cr_expect(tags_of(&tagging, &load).replay);
	tagging.pebs_enable = 1 | 1 << 25; /* PEBS without tags */
	cr_expect(!tags_of(&tagging, &load).replay);
	tagging.pebs_enable = 1 | 1 << 24;
	cr_expect(tags_of(&tagging, &load).replay);
	tagging.pebs_enable = 1; /* normal sampling sets neither bit 24 nor bit 25 */
	cr_expect(tags_of(&tagging, &load).replay);
}

Test(model_netburst_tags, replay_event_counts_nbogus_and_bogus)
{
	struct netburst_tags tags = {.replay = true};
	struct netburst_uop load = uop(OPERATION_LOAD, PLACE_L2, TRANSLATED_L1);

	cr_expect(netburst_counts(escr(0x09, 1 << 0, 0), &tags, &load));
	cr_expect(!netburst_counts(escr(0x09, 1 << 1, 0), &tags, &load));
	load.bogus = true;
	cr_expect(netburst_counts(escr(0x09, 1 << 1, 0), &tags, &load));
	tags.replay = false;
	cr_expect(!netburst_counts(escr(0x09, 0x3, 0), &tags, &load));
}

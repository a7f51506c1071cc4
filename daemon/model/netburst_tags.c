// SPDX-License-Identifier: GPL-2.0
#include "netburst_tags.h"

static u64 escr_event(u64 escr)
{
	return escr >> 25 & 0x3f;
}

static u64 escr_mask(u64 escr)
{
	return escr >> 9 & 0xffff;
}

static u8 escr_tag_value(u64 escr)
{
	return escr >> 5 & 0xf;
}

static bool escr_sees(u64 escr, const struct netburst_uop *uop)
{
	return escr & (uop->kernel ? ESCR_T0_OS : ESCR_T0_USR);
}

/* Tags of several upstream ESCRs are combined. A tag value with several bits sets each of these tags. */
static u8 execution_tags(const struct netburst_tagging *tagging, const struct netburst_uop *uop)
{
	u8 tags = 0;

	for (u32 i = 0; i < 2; i++) {
		u64 escr = tagging->firm[i];

		if (uop->execution != EXECUTION_NONE && escr & ESCR_TAG_ENABLE &&
		    escr_event(escr) == uop->execution && escr_mask(escr) & MASK_EXECUTION_ALL &&
		    escr_sees(escr, uop))
			tags |= escr_tag_value(escr);
	}
	return tags;
}

static bool front_end_tag(const struct netburst_tagging *tagging, const struct netburst_uop *uop)
{
	u64 wanted = uop->retired.operation == OPERATION_LOAD    ? MASK_TAG_LOADS
		     : uop->retired.operation == OPERATION_STORE ? MASK_TAG_STORES
								 : 0;

	for (u32 i = 0; i < 2; i++) {
		u64 escr = tagging->rat[i];

		if (escr_event(escr) == EVENT_UOP_TYPE && escr_mask(escr) & wanted && escr_sees(escr, uop))
			return true;
	}
	return false;
}

/* Returns whether the vertical matrix selects this kind of micro-operation. */
static bool may_replay(u64 matrix_vert, const struct retired *retired)
{
	return (retired->operation == OPERATION_LOAD && matrix_vert & VERT_LOADS) ||
	       (retired->operation == OPERATION_STORE && matrix_vert & VERT_STORES);
}

/* Returns whether one of the metrics applies. The cache metrics only apply to loads. */
static bool replayed(u64 metrics, const struct retired *retired)
{
	bool load = retired->operation == OPERATION_LOAD;
	bool beyond_l2 = retired->place >= PLACE_L3 && retired->place <= PLACE_REMOTE_DRAM;
	bool beyond_l1 = beyond_l2 || retired->place == PLACE_FILL_BUFFER || retired->place == PLACE_L2;

	return (metrics & METRIC_FIRST_LEVEL_MISS && load && beyond_l1) ||
	       (metrics & METRIC_SECOND_LEVEL_MISS && load && beyond_l2) ||
	       (metrics & METRIC_DTLB_MISS && retired->translated != TRANSLATED_L1);
}

/*
 * The UOP_Tag bit enables replay tagging. Without PEBS, normal sampling may use the tags even if the bit is
 * clear (18.18.7.4). Tags are missing only if PEBS is enabled and the bit is clear.
 */
static bool replay_enabled(u64 pebs_enable)
{
	return pebs_enable & NETBURST_UOP_TAG || !(pebs_enable & NETBURST_ENABLE_PEBS);
}

void netburst_tag(const struct netburst_tagging *tagging, const struct netburst_uop *uop,
		  struct netburst_tags *ret)
{
	ret->execution = execution_tags(tagging, uop);
	ret->front_end = front_end_tag(tagging, uop);
	ret->replay = replay_enabled(tagging->pebs_enable) &&
		      may_replay(tagging->matrix_vert, &uop->retired) &&
		      replayed(tagging->pebs_enable & METRICS, &uop->retired);
}

bool netburst_counts(u64 escr, const struct netburst_tags *tags, const struct netburst_uop *uop)
{
	u64 mask = escr_mask(escr);

	if (!escr_sees(escr, uop))
		return false;
	switch (escr_event(escr)) {
	case EVENT_EXECUTION:
		return (uop->bogus ? mask >> 4 : mask) & tags->execution;
	case EVENT_FRONT_END:
		return tags->front_end && mask & (uop->bogus ? MASK_BOGUS : MASK_NBOGUS);
	case EVENT_REPLAY:
		return tags->replay && mask & (uop->bogus ? MASK_BOGUS : MASK_NBOGUS);
	default:
		return false;
	}
}

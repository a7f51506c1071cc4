// SPDX-License-Identifier: GPL-2.0
#include "offcore.h"

#define REQUESTS         0xffffULL
#define NEHALEM_REQUESTS 0xffULL

/* Table 18-26, bits 15:8. */
#define NEHALEM_UNCORE_HIT      (1ULL << 8)
#define NEHALEM_OTHER_CORE_HIT  (1ULL << 9)
#define NEHALEM_OTHER_CORE_HITM (1ULL << 10)
#define NEHALEM_REMOTE_CACHE    (1ULL << 12)
#define NEHALEM_REMOTE_DRAM     (1ULL << 13)
#define NEHALEM_LOCAL_DRAM      (1ULL << 14)
#define NEHALEM_NON_DRAM        (1ULL << 15)

static bool is_goldmont(const struct machine *machine)
{
	return machine->mechanisms & MECHANISM_OFFCORE_AVERAGE;
}

/*
 * Returns the request type of an access that leaves the core, or 0. Goldmont's L2 is outside its cores. A
 * line in flight is requested only once.
 */
static u64 request_of(const struct machine *machine, const struct retired *retired)
{
	bool store = retired->operation == OPERATION_STORE;
	bool nehalem = machine->encoding == ENCODING_NEHALEM;

	if (retired->operation == OPERATION_NONE)
		return 0;
	switch (retired->place) {
	case PLACE_L1:
	case PLACE_FILL_BUFFER:
		return 0;
	case PLACE_L2:
		if (!is_goldmont(machine))
			return 0;
		break;
	case PLACE_IO:
	case PLACE_UNCACHED:
		if (is_goldmont(machine))
			return store ? OFFCORE_PARTIAL_WRITE : OFFCORE_PARTIAL_READ;
		return nehalem ? OFFCORE_NEHALEM_OTHER : OFFCORE_OTHER;
	default:
		break;
	}
	return store ? OFFCORE_DEMAND_RFO : OFFCORE_DEMAND_DATA_READ;
}

static u64 nehalem_response(const struct retired *retired)
{
	switch (retired->place) {
	case PLACE_L3:
		if (retired->snoop == SNOOPED_MODIFIED)
			return NEHALEM_OTHER_CORE_HITM;
		return retired->snoop == SNOOPED_HIT ? NEHALEM_OTHER_CORE_HIT : NEHALEM_UNCORE_HIT;
	case PLACE_REMOTE_CACHE:
		return NEHALEM_REMOTE_CACHE;
	case PLACE_REMOTE_DRAM:
		return NEHALEM_REMOTE_DRAM;
	case PLACE_LOCAL_DRAM:
		return NEHALEM_LOCAL_DRAM;
	default:
		return NEHALEM_NON_DRAM;
	}
}

/* Returns the supplier bits of the place, any of which selects it (table 18-37). */
static u64 suppliers_of(const struct retired *retired)
{
	switch (retired->place) {
	case PLACE_L3:
		if (retired->snoop == SNOOPED_MODIFIED)
			return OFFCORE_L3_MODIFIED;
		return retired->snoop == SNOOPED_HIT ? OFFCORE_L3_SHARED : OFFCORE_L3_EXCLUSIVE;
	case PLACE_LOCAL_DRAM:
		return OFFCORE_LOCAL;
	case PLACE_REMOTE_CACHE:
	case PLACE_REMOTE_DRAM:
		return OFFCORE_REMOTE;
	default:
		return OFFCORE_NO_SUPPLIER;
	}
}

static u64 snoops_of(const struct retired *retired)
{
	if (retired->place == PLACE_IO || retired->place == PLACE_UNCACHED)
		return OFFCORE_NON_DRAM;
	switch (retired->snoop) {
	case SNOOPED_MISS:
		return OFFCORE_SNOOP_MISS;
	case SNOOPED_HIT:
		return retired->place == PLACE_REMOTE_CACHE ? OFFCORE_HIT_FORWARD : OFFCORE_HIT_NO_FORWARD;
	case SNOOPED_MODIFIED:
		return OFFCORE_HITM;
	default:
		return OFFCORE_SNOOP_NONE | OFFCORE_SNOOP_NOT_NEEDED;
	}
}

/* Returns whether `config` selects the response. */
static bool responds(const struct machine *machine, u64 config, const struct retired *retired)
{
	u64 snoops = snoops_of(retired);

	if (machine->encoding == ENCODING_NEHALEM)
		return config & nehalem_response(retired);
	if (config & OFFCORE_ANY_RESPONSE)
		return true;
	if (is_goldmont(machine)) {
		/*
		 * Tables 18-16 and 18-22: L2 is the only supplier. Beyond it, the snoop response decides. Bit
		 * 33 means "missed, or no snoop needed". Bits 31, 32 and 35 are reserved.
		 */
		if (retired->place == PLACE_L2)
			return config & OFFCORE_GOLDMONT_L2_HIT;
		if (snoops & (OFFCORE_SNOOP_NONE | OFFCORE_SNOOP_NOT_NEEDED))
			snoops = OFFCORE_SNOOP_MISS;
		if (snoops & OFFCORE_HIT_FORWARD)
			snoops = OFFCORE_HIT_NO_FORWARD;
		return config & snoops;
	}
	return config & suppliers_of(retired) && config & snoops;
}

u64 offcore_occurrences(const struct machine *machine, u32 which, u64 config, const struct retired *retired)
{
	u64 requests = machine->encoding == ENCODING_NEHALEM ? NEHALEM_REQUESTS : REQUESTS;

	config &= machine->offcore_bits[which];
	if (!(config & requests & request_of(machine, retired)))
		return 0;
	if (config & OFFCORE_OUTSTANDING)
		return retired->latency;
	return responds(machine, config, retired);
}

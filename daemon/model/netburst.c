// SPDX-License-Identifier: GPL-2.0
#include "netburst.h"

#define COUNT_MASK (MODEL_BIT(NETBURST_COUNTER_BITS) - 1)

#define ESCR_BITS 0x7fffffffULL
#define CCCR_BITS \
	(CCCR_ENABLE | CCCR_ESCR_SELECT(7) | CCCR_THREAD_ANY | CCCR_FORCE_OVF | CCCR_OVF_PMI | CCCR_OVF)
#define PEBS_BITS       (METRICS | NETBURST_UOP_TAG | NETBURST_ENABLE_PEBS)
#define VERT_BITS       (VERT_LOADS | VERT_STORES | VERT_BRANCHES)
#define ALL_BITS        (~0ULL)
#define ADDRESS_BITS_32 0xffffffffULL

/* Returns the index of the ESCR that a counter may select. */
static u32 escr_of(u32 counter)
{
	return counter == 2 || counter == 3 || counter == 5;
}

void netburst_open(struct netburst *netburst, const struct machine *machine, struct linear_memory memory)
{
	*netburst = (struct netburst){.machine = machine, .memory = memory};
}

/* Returns a register's storage and its valid bits, or NULL if there is no such register. */
static u64 *register_at(struct netburst *netburst, u32 msr, u64 *ret_bits)
{
	*ret_bits = ESCR_BITS;
	if (msr >= MSR_IQ_COUNTER0 && msr < MSR_IQ_COUNTER0 + NETBURST_COUNTERS) {
		*ret_bits = ALL_BITS;
		return &netburst->counts[msr - MSR_IQ_COUNTER0];
	}
	if (msr >= MSR_IQ_CCCR0 && msr < MSR_IQ_CCCR0 + NETBURST_COUNTERS) {
		*ret_bits = CCCR_BITS;
		return &netburst->cccrs[msr - MSR_IQ_CCCR0];
	}
	switch (msr) {
	case MSR_FIRM_ESCR0:
	case MSR_FIRM_ESCR0 + 1:
		return &netburst->tagging.firm[msr - MSR_FIRM_ESCR0];
	case MSR_RAT_ESCR0:
	case MSR_RAT_ESCR0 + 1:
		return &netburst->tagging.rat[msr - MSR_RAT_ESCR0];
	case MSR_CRU_ESCR2:
	case MSR_CRU_ESCR3:
		return &netburst->cru[msr - MSR_CRU_ESCR2];
	case MSR_NETBURST_PEBS_ENABLE:
		*ret_bits = PEBS_BITS;
		return &netburst->tagging.pebs_enable;
	case MSR_NETBURST_PEBS_MATRIX_VERT:
		*ret_bits = VERT_BITS;
		return &netburst->tagging.matrix_vert;
	case MSR_NETBURST_DS_AREA:
		*ret_bits = netburst->machine->format == RECORD_NETBURST_32 ? ADDRESS_BITS_32 : ALL_BITS;
		return &netburst->ds_area;
	default:
		return NULL;
	}
}

int netburst_write(struct netburst *netburst, u32 msr, u64 value)
{
	u64 bits;
	u64 *place = register_at(netburst, msr, &bits);

	if (!place || value & ~bits)
		return -EINVAL;
	*place = value;
	if (msr >= MSR_IQ_COUNTER0 && msr < MSR_IQ_COUNTER0 + NETBURST_COUNTERS)
		*place &= COUNT_MASK;
	return 0;
}

int netburst_read(const struct netburst *netburst, u32 msr, u64 *ret)
{
	struct netburst copy = *netburst;
	u64 bits;
	const u64 *place = register_at(&copy, msr, &bits);

	if (!place)
		return -EINVAL;
	*ret = *place;
	return 0;
}

static void fill(struct record *record, const struct netburst_uop *uop)
{
	*record = (struct record){.present = (u32)(MODEL_BIT(RECORD_R15 + 1) - 1)};
	record->values[RECORD_FLAGS] = uop->flags;
	record->values[RECORD_IP] = uop->retired.next_ip;
	for (u32 i = 0; i < RETIRED_REGISTERS; i++)
		record->values[RECORD_AX + i] = uop->registers[i];
}

_Static_assert(RECORD_R15 - RECORD_AX + 1 == RETIRED_REGISTERS, "a uop's registers are a record's");

/*
 * The PEBS counter overflowed: writes the record, then reloads the counter. Without an area, there is no
 * value to reload.
 */
static void assist(struct netburst *netburst, const struct netburst_uop *uop)
{
	const struct machine *machine = netburst->machine;
	u32 size = record_size(machine->format, 0);
	struct ds_area area;
	struct record record;
	u8 bytes[RECORD_SIZE_MAX];

	if (ds_area_read(machine, &netburst->memory, netburst->ds_area, &area) < 0) {
		netburst->not_written++;
		return;
	}
	fill(&record, uop);
	record_write(machine->format, 0, &record, bytes);
	if (!ds_area_put(&netburst->memory, &area, bytes, size) &&
	    !ds_area_set_index(machine, &netburst->memory, netburst->ds_area, area.index + size)) {
		area.index += size;
		netburst->records++;
	} else {
		netburst->not_written++;
	}
	netburst->counts[NETBURST_PEBS_COUNTER] = area.reset[0] & COUNT_MASK;
	if (area.index >= area.threshold)
		netburst->pending |= NETBURST_BUFFER;
}

static bool counting(const struct netburst *netburst, u32 counter)
{
	u64 wanted = CCCR_ENABLE | CCCR_ESCR_SELECT(NETBURST_SELECT_CRU) | CCCR_THREAD_ANY;
	u64 looked_at = CCCR_ENABLE | CCCR_ESCR_SELECT(7) | CCCR_THREAD_ANY;

	return (netburst->cccrs[counter] & looked_at) == wanted;
}

static void count(struct netburst *netburst, u32 counter, const struct netburst_uop *uop)
{
	u64 *cccr = &netburst->cccrs[counter];

	netburst->counts[counter] = (netburst->counts[counter] + 1) & COUNT_MASK;
	if (netburst->counts[counter] && !(*cccr & CCCR_FORCE_OVF))
		return;
	*cccr |= CCCR_OVF;
	/* A cancelled micro-operation has no state to record. */
	if (counter == NETBURST_PEBS_COUNTER && netburst->tagging.pebs_enable & NETBURST_ENABLE_PEBS &&
	    !uop->bogus)
		assist(netburst, uop);
	if (*cccr & CCCR_OVF_PMI)
		netburst->pending |= NETBURST_OVERFLOW;
}

bool netburst_retire(struct netburst *netburst, const struct netburst_uop *uop)
{
	struct netburst_tags tags;

	netburst_tag(&netburst->tagging, uop, &tags);
	for (u32 i = 0; i < NETBURST_COUNTERS; i++)
		if (counting(netburst, i) && netburst_counts(netburst->cru[escr_of(i)], &tags, uop))
			count(netburst, i, uop);
	return netburst->pending;
}

u8 netburst_take_interrupt(struct netburst *netburst)
{
	u8 first = netburst->pending & (u8)(~netburst->pending + 1);

	netburst->pending &= (u8)~first;
	return first;
}

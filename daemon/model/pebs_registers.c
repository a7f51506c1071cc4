// SPDX-License-Identifier: GPL-2.0
/* WRMSR and RDMSR: the registers of each machine, and their valid bits (volume 4; 18.2 to 18.9). */
#include "interrupts.h"
#include "pebs.h"
#include "program.h"
#include "skid.h"

#define EVTSEL_HLE         (3ULL << 32) /* IN_TX, IN_TXCP */
#define THRESHOLD_BITS     0xffffULL
#define DATA_CFG_BITS      0xff00000fULL
#define FIXED_CTRL_WIDTH   4
#define FIXED_CTRL_COUNTER 0xfULL
#define CTRL_METRICS       (1ULL << 48) /* IA32_PERF_GLOBAL_CTRL: Ice Lake's metrics counter */
/* Bits of later status registers: trace buffer, frozen LBRs and counters, SGX. */
#define STATUS_LATER  (1ULL << 55 | 7ULL << 58)
#define UNCORE_STATUS (0xffULL | 1ULL << 32 | UNCORE_STATUS_PMI | UNCORE_STATUS_CHANGED)

#define SIGN_32 (1ULL << 31)

/*
 * Returns whether `msr` is one of the registers from `first` on, one for each counter. Sets *ret to the
 * counter.
 */
static bool in_row(u32 msr, u32 first, u64 counters, u32 *ret)
{
	*ret = msr - first;
	return msr >= first && *ret < PEBS_GENERAL && counters >> *ret & 1;
}

/* Sandy Bridge introduced full-width writes of counters (IA32_PERF_CAPABILITIES.FW_WRITE). */
static bool has_full_width(const struct machine *machine)
{
	return machine->format >= RECORD_HASWELL || machine->encoding >= ENCODING_SANDY_BRIDGE;
}

static u64 select_bits(const struct machine *machine)
{
	u64 bits = 0xffffffffULL;

	if (machine->format < RECORD_NEHALEM)
		bits &= ~EVTSEL_ANY; /* added by architectural version 3 */
	if (machine->format >= RECORD_HASWELL && !(machine->mechanisms & MECHANISM_ADDRESS_ONLY))
		bits |= EVTSEL_HLE;
	if (machine->format == RECORD_ADAPTIVE)
		bits |= EVTSEL_ADAPTIVE;
	return bits;
}

static u64 enable_bits(const struct machine *machine)
{
	u64 bits = machine->pebs_counters;

	if (machine->mechanisms & MECHANISM_LOAD_LATENCY && machine->format != RECORD_ADAPTIVE)
		bits |= machine->pebs_counters << 32;
	if (machine->mechanisms & MECHANISM_PRECISE_STORE)
		bits |= PEBS_ENABLE_PRECISE_STORE;
	return bits;
}

static u64 fixed_bits(const struct machine *machine)
{
	u64 bits = 0;

	for (u32 i = 0; i < PEBS_FIXED && i < machine->fixed_counters; i++) {
		bits |= FIXED_CTRL_COUNTER << (FIXED_CTRL_WIDTH * i);
		if (machine->format == RECORD_ADAPTIVE)
			bits |= FIXED_CTRL_ADAPTIVE(i);
	}
	return bits;
}

/* Bits 63:47 must be equal in a 64-bit linear address. */
static bool is_canonical(u64 address)
{
	return address >> 47 == 0 || address >> 47 == 0x1ffff;
}

/*
 * Returns the storage of a register that has no side effect when written, and its valid bits. Returns NULL if
 * there is no such register.
 */
static u64 *plain_register(struct pebs_unit *unit, u32 msr, u64 *valid)
{
	const struct machine *machine = unit->machine;

	switch (msr) {
	case MSR_IA32_PERF_GLOBAL_CTRL:
		*valid = program_counters(machine) | (machine->format == RECORD_ADAPTIVE ? CTRL_METRICS : 0);
		return &unit->global_ctrl;
	case MSR_IA32_PEBS_ENABLE:
		*valid = enable_bits(machine);
		return &unit->pebs_enable;
	case MSR_PEBS_DATA_CFG:
		*valid = DATA_CFG_BITS;
		return machine->format == RECORD_ADAPTIVE ? &unit->data_cfg : NULL;
	case MSR_PEBS_LD_LAT_THRESHOLD:
		*valid = THRESHOLD_BITS;
		return machine->mechanisms & MECHANISM_LOAD_LATENCY ? &unit->threshold : NULL;
	case MSR_IA32_DS_AREA:
		*valid = ~0ULL;
		return &unit->ds_area;
	case MSR_OFFCORE_RSP_0:
	case MSR_OFFCORE_RSP_1:
		*valid = machine->offcore_bits[msr - MSR_OFFCORE_RSP_0];
		return *valid ? &unit->offcore[msr - MSR_OFFCORE_RSP_0] : NULL;
	default:
		return NULL;
	}
}

/*
 * Writing a counter discards its overflow. Switching PEBS or the counter off and on does not: Linux does that
 * without writing the counter (intel_pmu_disable_all() in core.c, 6.1).
 */
static void store_count(struct pebs_unit *unit, u32 index, u64 value)
{
	struct pebs_counter *counter = program_counter(unit, index);

	counter->count = value & counter_highest(unit->machine);
	counter->armed = false;
	skid_written(unit, index, counter);
}

static void store_select(struct pebs_unit *unit, u32 index, u64 value)
{
	struct pebs_counter *counter = program_counter(unit, index);

	if ((counter->select ^ value) & (EVTSEL_EVENT | EVTSEL_UMASK) && index < PEBS_FIXED_0)
		counter->armed = false;
	counter->select = value;
	counter->asserted = false;
	skid_written(unit, index, counter);
}

static void store_fixed_control(struct pebs_unit *unit, u64 value)
{
	for (u32 i = 0; i < PEBS_FIXED && i < unit->machine->fixed_counters; i++) {
		u64 select = value >> (FIXED_CTRL_WIDTH * i) & FIXED_CTRL_COUNTER;

		if (value & FIXED_CTRL_ADAPTIVE(i))
			select |= EVTSEL_ADAPTIVE;
		if (select != unit->fixed[i].select)
			store_select(unit, PEBS_FIXED_0 + i, select);
	}
}

static u64 read_fixed_control(const struct pebs_unit *unit)
{
	u64 value = 0;

	for (u32 i = 0; i < PEBS_FIXED; i++) {
		value |= (unit->fixed[i].select & FIXED_CTRL_COUNTER) << (FIXED_CTRL_WIDTH * i);
		if (unit->fixed[i].select & EVTSEL_ADAPTIVE)
			value |= FIXED_CTRL_ADAPTIVE(i);
	}
	return value;
}

/*
 * Writes a register of a counter. Returns -EINVAL if `msr` is not such a register, or if the value is
 * invalid.
 */
static int write_counter(struct pebs_unit *unit, u32 msr, u64 value)
{
	const struct machine *machine = unit->machine;
	u64 counters = program_counters(machine);
	u64 highest = counter_highest(machine);
	u32 i;

	if (in_row(msr, MSR_IA32_PMC0, counters, &i)) {
		value &= 0xffffffffULL;
		store_count(unit, i, value & SIGN_32 ? value | ~0xffffffffULL : value);
	} else if (in_row(msr, MSR_IA32_A_PMC0, counters, &i)) {
		if (!has_full_width(machine) || value & ~highest)
			return -EINVAL;
		store_count(unit, i, value);
	} else if (in_row(msr, MSR_IA32_FIXED_CTR0, counters >> PEBS_FIXED_0, &i)) {
		if (value & ~highest)
			return -EINVAL;
		store_count(unit, PEBS_FIXED_0 + i, value);
	} else if (in_row(msr, MSR_IA32_PERFEVTSEL0, counters, &i)) {
		if (value & ~select_bits(machine))
			return -EINVAL;
		store_select(unit, i, value);
	} else {
		return -EINVAL;
	}
	return 0;
}

/* Writes a register that has side effects. */
static int write_special(struct pebs_unit *unit, u32 msr, u64 value)
{
	const struct machine *machine = unit->machine;
	u64 status = program_counters(machine) | STATUS_UNCORE | STATUS_DS_BUFFER | STATUS_CONDITIONS |
		     STATUS_LATER;

	switch (msr) {
	case MSR_IA32_FIXED_CTR_CTRL:
		if (value & ~fixed_bits(machine))
			return -EINVAL;
		store_fixed_control(unit, value);
		return 0;
	case MSR_IA32_PERF_GLOBAL_OVF_CTRL:
		if (value & ~status)
			return -EINVAL;
		unit->global_status &= ~value;
		return 0;
	case MSR_UNCORE_PERF_GLOBAL_OVF_CTRL:
		if (!interrupt_has_uncore(machine) || value & ~UNCORE_STATUS)
			return -EINVAL;
		unit->uncore_status &= ~value;
		return 0;
	default:
		return write_counter(unit, msr, value);
	}
}

int pebs_write(struct pebs_unit *unit, u32 msr, u64 value)
{
	u64 valid = 0;
	u64 *plain;
	int r = 0;

	if (!program_counters(unit->machine))
		return -EINVAL;
	plain = plain_register(unit, msr, &valid);
	if (plain) {
		if (value & ~valid || (msr == MSR_IA32_DS_AREA && !is_canonical(value)))
			return -EINVAL;
		*plain = value;
	} else {
		r = write_special(unit, msr, value);
	}
	if (r)
		return r;
	program_unit(unit);
	return 0;
}

int pebs_read(const struct pebs_unit *unit, u32 msr, u64 *ret)
{
	const struct machine *machine = unit->machine;
	u64 counters = program_counters(machine);
	struct pebs_unit *same = (struct pebs_unit *)unit; /* safe: plain_register() changes nothing */
	u64 valid;
	const u64 *plain;
	u32 i;

	if (!counters)
		return -EINVAL;
	plain = plain_register(same, msr, &valid);
	if (plain)
		*ret = *plain;
	else if (msr == MSR_IA32_FIXED_CTR_CTRL)
		*ret = read_fixed_control(unit);
	else if (msr == MSR_IA32_PERF_GLOBAL_STATUS)
		*ret = unit->global_status;
	else if (msr == MSR_IA32_PERF_GLOBAL_OVF_CTRL)
		*ret = 0;
	else if (msr == MSR_UNCORE_PERF_GLOBAL_STATUS && interrupt_has_uncore(machine))
		*ret = unit->uncore_status;
	else if (in_row(msr, MSR_IA32_PMC0, counters, &i) ||
		 (has_full_width(machine) && in_row(msr, MSR_IA32_A_PMC0, counters, &i)))
		*ret = unit->general[i].count;
	else if (in_row(msr, MSR_IA32_PERFEVTSEL0, counters, &i))
		*ret = unit->general[i].select;
	else if (in_row(msr, MSR_IA32_FIXED_CTR0, counters >> PEBS_FIXED_0, &i))
		*ret = unit->fixed[i].count;
	else
		return -EINVAL;
	return 0;
}

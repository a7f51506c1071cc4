/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The PMU of one emulated CPU, as the guest's kernel programs it: CPUID, MSRs, RDPMC, and the counting of
 * instructions, loads and stores. daemon/model has the PEBS unit and the IBS unit. This file connects them with
 * a CPU that really runs.
 *
 * The core clock is the instructions that the CPU executed, one cycle each, and a part of what its cache
 * misses take, as misses overlap. It stands still while the CPU is halted and does not depend on the host.
 */
#ifndef PMU_CORE_H
#define PMU_CORE_H

#include "branches.h"
#include "caches.h"
#include "model/ibs.h"
#include "model/pebs.h"
#include "model/record.h"

/* The part of a miss's latency by which the core clock moves on: one in that many cycles. */
#define CORE_OVERLAP 4

/* Default of tag_interval. */
#define CORE_TAG_INTERVAL 1

#define CORE_IBS 0 /* the index of IBS, the only "counter" with records on AMD */

/* A sample as the hardware describes it. */
struct core_record {
	u64 counters;   /* that it is of, bits as in the status registers */
	bool collision; /* it names several counters, and the driver drops it (before record format 0011b) */
	bool first;     /* no other record waits: the driver has taken those before it */
	struct record record;   /* PEBS */
	u64 ibs[IBS_REGISTERS]; /* IBS: as its registers stand, from IBS_OP_CTL on */
	struct retired retired; /* the truth: the access that it is of */
};

/* Where an instruction is, and when. */
struct core_moment {
	u64 ip, next_ip;
	u64 time_stamp; /* the guest's TSC */
};

struct core_callbacks {
	void *owner;
	/* Guest memory by linear address: 0 or -errno. */
	int (*copy)(void *owner, u64 address, void *buffer, u64 size, bool write);
	/* Fills what stands in the CPU's registers. */
	void (*registers)(void *owner, struct retired_registers *ret);
	void (*recorded)(void *owner, const struct core_record *record);
	/* An off-core response counter counted; software read it. */
	void (*counted)(void *owner, unsigned int counter, u64 occurrences);
	void (*counter_read)(void *owner, unsigned int counter);
	/* A general-purpose or fixed counter overflowed; the sample may come with the next event, or never.
	 */
	void (*overflowed)(void *owner, unsigned int counter);
	/* Software writes the next period of a counter; `count`: events since it overflowed. General-purpose
	 * counters only. */
	void (*went_on)(void *owner, unsigned int counter, u64 count);
};

struct core {
	const struct machine *machine; /* NULL: AMD's */
	const struct machine *first;   /* of a hybrid part the P-core; else as `machine` */
	const struct ibs_machine *amd; /* NULL: Intel's */
	bool no_pebs;                  /* a virtual machine's PMU: architectural counters alone */
	unsigned int cpu;
	struct caches *caches;
	struct core_callbacks callbacks;
	u32 tag_interval; /* one load in tag_interval is tagged, at random */

	struct pebs_unit unit;
	struct ibs_unit ibs;
	struct branches branches;
	struct random random;
	bool paused; /* nothing counts */
	/* Sets of counters, derived from the unit's when it is programmed: what is looked up for each access. */
	u64 of_loads, of_stores, of_offcore;
	u64 cycles; /* the core clock */
	u64 instructions;
	u64 kept[16]; /* registers that only keep what is written: core.c */
	u64 amd_select[6], amd_count[6];
	u64 armed;        /* counters whose overflow was reported and has no record yet */
	u32 ibs_tag_left; /* accesses until the one that IBS tags */
	bool amd_interrupt;
	bool interrupt; /* an interrupt waits to be taken */
	bool took_line; /* from another CPU that had written it */
	struct retired_registers registers;
};

/* The machines of the model by name; "NAME-vm" is a virtual machine on it that has no PEBS. -ENOENT: no such
 * machine. Of a hybrid part CPUs with odd numbers are E-cores. */
int core_open(struct core *core, const char *name, unsigned int cpu, struct caches *caches,
	      const struct core_callbacks *callbacks);
const struct memory_shape *core_memory_shape(const struct core *core);

/* Changes what the emulator answers: eax, ebx, ecx, edx. False: nothing. */
bool core_cpuid(const struct core *core, u32 leaf, u32 subleaf, u32 registers[4]);

bool core_has_msr(const struct core *core, u32 msr);
/* -EINVAL stands for a general protection fault. Only of registers that it has. */
int core_write_msr(struct core *core, u32 msr, u64 value);
int core_read_msr(struct core *core, u32 msr, u64 *ret);
int core_read_counter(struct core *core, u32 index, u64 *ret);

/* Whether it counts loads or stores, as programmed now. While it does and a window is open (windows.h), the
 * caller passes them to core_access(), core_missed() and core_passed(). */
bool core_wants_accesses(const struct core *core);
/* Whether it wants the next access, be there a window or not. */
bool core_wants_next_access(const struct core *core);
/* The loads (stores) up to and including the next one that core_access() has to get. */
u64 core_loads_left(struct core *core);
u64 core_stores_left(struct core *core);

/* Executed since the last call: instructions, and of these loads and stores; and the CPU is at `moment`. */
void core_passed(struct core *core, const struct core_moment *moment, u64 instructions, u64 loads,
		 u64 stores);
/* Instructions until it wants core_passed(). */
u64 core_instructions_left(const struct core *core);

/* Whether a record may be made after these instructions, loads and stores and one core_access(). Only then do core_passed() and core_access() need an exact `moment`; else its address may be any
 * in the same half of the address space. */
bool core_may_record(const struct core *core, u64 instructions, u64 loads, u64 stores);

/* One load or store. Those before it went to core_passed(). */
void core_access(struct core *core, const struct core_moment *moment, const struct caches_access *access);
/* Any other one that was not among the CPU's recent lines. */
void core_missed(struct core *core, const struct caches_access *access);

/* Whether the driver has taken all records. */
bool core_is_drained(const struct core *core);

/* True: an interrupt is to be raised, once. */
bool core_take_interrupt(struct core *core);
/* Whether an interrupt that was held back still has a cause. */
bool core_interrupt_is_due(const struct core *core);

#endif

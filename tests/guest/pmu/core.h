/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The PMU of one emulated CPU, as the guest's kernel programs it: CPUID, MSRs, RDPMC, and the counting of
 * instructions, loads and stores. daemon/model contains the PEBS unit and the IBS unit. This file connects
 * them with a CPU that runs real code.
 *
 * The core clock advances by one cycle per executed instruction, and by a part of the latency of cache
 * misses, because misses overlap. It stands still while the CPU is halted, and does not depend on the host.
 *
 * If the core is exact, it sees every access, and the clock is that of the model's pipeline (daemon/model/pipeline.h):
 * loads overlap unless the address of one depends on the data of another, by way of general registers.
 */
#ifndef PMU_CORE_H
#define PMU_CORE_H

#include "branches.h"
#include "caches.h"
#include "model/ibs.h"
#include "model/pebs.h"
#include "model/pipeline.h"
#include "model/record.h"

/* The core clock advances by 1/CORE_OVERLAP of a miss's latency. */
#define CORE_OVERLAP 4

/* Default of tag_interval. */
#define CORE_TAG_INTERVAL 1

#define CORE_IBS 0 /* the index of IBS, the only "counter" with records on AMD */

/* AMD's core counters. Their index is that of the kernel. */
#define CORE_AMD_COUNTERS 6

/* A sample as the hardware describes it. */
struct core_record {
	u64 counters;   /* counters that the record belongs to, bits as in the status registers */
	bool collision; /* the record names several counters; before format 0011b, the driver drops it */
	bool first;     /* no other record waits: the driver has taken the earlier ones */
	struct record record;   /* PEBS */
	u64 ibs[IBS_REGISTERS]; /* IBS: the values of its registers, from IBS_OP_CTL on */
	struct retired retired; /* the truth: the access that the record describes */
};

/* Place and time of an instruction. */
struct core_moment {
	u64 ip, next_ip;
	u64 time_stamp; /* the guest's TSC */
};

struct core_callbacks {
	void *owner;
	/* Copies guest memory at a linear address to the buffer, or the reverse (`write`). Returns 0 or -errno. */
	int (*copy)(void *owner, u64 address, void *buffer, u64 size, bool write);
	/* Reads the CPU's registers. */
	void (*registers)(void *owner, struct retired_registers *ret);
	void (*recorded)(void *owner, const struct core_record *record);
	/* An off-core response counter counted, or software read it. */
	void (*counted)(void *owner, unsigned int counter, u64 occurrences);
	void (*counter_read)(void *owner, unsigned int counter);
	/* A counter, or IBS as CORE_IBS, overflowed. The sample may follow with the next event, or never. */
	void (*overflowed)(void *owner, unsigned int counter);
	/* A counter without PEBS, or a core counter of AMD, overflowed. Its interrupt is the sample. */
	void (*sampled)(void *owner, unsigned int counter);
	/*
	 * Software writes the next period of a counter, or disables it. `count`: events since it overflowed.
	 * General-purpose counters only.
	 */
	void (*went_on)(void *owner, unsigned int counter, u64 count);
};

/* Registers of an instruction that accesses memory. CORE_NO_REGISTER: none. */
#define CORE_REGISTERS   16
#define CORE_NO_REGISTER 31
struct core_operands {
	u8 base, index; /* of the address */
	u8 target;      /* gets the loaded data */
	bool combines;  /* the target's new value also depends on its old one */
};

/* What happened so far. Stalls and misses are those of the machine's own events (daemon/model/machine_event.h). */
struct core_occurrences {
	u64 instructions, cycles, stalls, misses;
};

struct core {
	const struct machine *machine; /* NULL: an AMD machine */
	const struct machine *first;   /* for a hybrid part, the P-core; otherwise the same as `machine` */
	const struct ibs_machine *amd; /* NULL: an Intel machine */
	bool counters_only;            /* PMU of a virtual machine, without PEBS and IBS */
	bool unknown_model;            /* a CPU model that no driver knows */
	unsigned int cpu;
	struct caches *caches;
	struct core_callbacks callbacks;
	u32 tag_interval; /* one load in tag_interval is tagged, at random */

	struct pebs_unit unit;
	struct ibs_unit ibs;
	struct branches branches;
	struct random random;
	bool paused; /* nothing is counted */
	bool exact;  /* see above */
	/*
	 * Counters that count loads, stores, off-core responses, and stalls or misses. Derived when the unit is
	 * programmed.
	 */
	u64 of_loads, of_stores, of_offcore, of_waiting;
	u64 cycles; /* the core clock */
	u64 instructions;
	u64 stalls, misses;
	struct machine_event stall_event, miss_event; /* those that `stalls` and `misses` count */
	struct pipeline pipeline;
	u64 known[CORE_REGISTERS]; /* times at which registers have their loaded data */
	u64 kept[16];              /* registers that only store the written value: core.c */
	u64 amd_select[CORE_AMD_COUNTERS], amd_count[CORE_AMD_COUNTERS];
	struct counter_program amd_program[CORE_AMD_COUNTERS];
	bool amd_asserted[CORE_AMD_COUNTERS];
	u64 amd_tsc;      /* cycles that the core counters know about */
	u64 armed;        /* counters whose overflow was reported but that have no record yet */
	u32 ibs_tag_left; /* 1: IBS tags the next access; 0: it does not wait for an access */
	bool amd_interrupt;
	bool interrupt; /* an interrupt waits to be taken */
	bool took_line; /* took a line from another CPU that had written it */
	struct retired_registers registers;
};

/*
 * `name` is a machine of the model. "NAME-vm" is a virtual machine without PEBS and IBS on such a machine, and
 * "generic-vm" one whose CPU model no driver knows. CPUs with odd numbers of a hybrid part are E-cores. Returns 0, or
 * -ENOENT if there is no such machine.
 */
int core_open(struct core *core, const char *name, unsigned int cpu, struct caches *caches,
	      const struct core_callbacks *callbacks);
const struct memory_shape *core_memory_shape(const struct core *core);

/* Changes the emulator's answer: eax, ebx, ecx, edx. Returns false if it never changes this leaf. */
bool core_cpuid(const struct core *core, u32 leaf, u32 subleaf, u32 registers[4]);

bool core_has_msr(const struct core *core, u32 msr);
/* Writes a register, which the CPU must have. -EINVAL stands for a general protection fault. */
int core_write_msr(struct core *core, u32 msr, u64 value);
int core_read_msr(struct core *core, u32 msr, u64 *ret);
int core_read_counter(struct core *core, u32 index, u64 *ret);

/*
 * Returns whether loads or stores are counted with the current settings. While they are and a window is open
 * (windows.h), the caller passes them to core_access(), core_missed() and core_passed().
 */
bool core_wants_accesses(const struct core *core);
/* Returns whether the core needs the next access even outside a window. */
bool core_wants_next_access(const struct core *core);
/* Return the number of loads (stores) up to and including the next one that must go to core_access(). */
u64 core_loads_left(struct core *core);
u64 core_stores_left(struct core *core);

/*
 * Reports what was executed since the last call: `instructions`, and `loads` and `stores` among them. The CPU
 * is now at `moment`.
 */
void core_passed(struct core *core, const struct core_moment *moment, u64 instructions, u64 loads,
		 u64 stores);
/* Returns the number of instructions until core_passed() must be called. */
u64 core_instructions_left(const struct core *core);

/*
 * Returns whether a record may be made after these instructions, loads and stores and one core_access(). Only
 * then do core_passed() and core_access() need an exact `moment`. Otherwise the address in `moment` may be
 * any address in the same half of the address space.
 */
bool core_may_record(const struct core *core, u64 instructions, u64 loads, u64 stores);

/* Handles one load or store. The caller passed all earlier ones to core_passed(). */
void core_access(struct core *core, const struct core_moment *moment, const struct caches_access *access,
		 const struct core_operands *operands);
/*
 * Handles a load or store that core_access() did not get. An exact core needs all of them, any other core only those
 * whose line is not among the CPU's recent lines. If core_wants_misses() is true, the caller passes all earlier
 * instructions to core_passed() first, and this call also counts the instruction of this access. Loads and stores
 * always go to core_passed(), too.
 */
void core_missed(struct core *core, const struct core_moment *moment, const struct caches_access *access,
		 const struct core_operands *operands);
bool core_wants_misses(const struct core *core);

/* Exact: an instruction made `targets` depend on `sources`, sets of registers (operands.h). */
void core_compute(struct core *core, u16 targets, u16 sources);

/* Begins or ends exact time. */
void core_set_exact(struct core *core, bool exact);

/* Returns whether the counters are enabled all together, as they are except while the driver handles them. */
bool core_counts(const struct core *core);

/* Returns what happened so far, if `instructions` are not yet passed to core_passed(). */
struct core_occurrences core_occurrences(const struct core *core, u64 instructions);

/* Returns whether the driver has taken all records. */
bool core_is_drained(const struct core *core);

/*
 * Returns whether a counter has overflowed, so that its next event makes a record. If counting stops now, a
 * sample is due that has no record.
 */
bool core_owes_record(const struct core *core);

/* Returns whether the driver has not yet taken the sample of a counter without PEBS that overflowed. */
bool core_sample_is_due(const struct core *core, unsigned int counter);

/* Returns true, once, if an interrupt must be raised. */
bool core_take_interrupt(struct core *core);
/* Returns whether an interrupt that was held back still has a cause. */
bool core_interrupt_is_due(const struct core *core);

#endif

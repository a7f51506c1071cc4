// SPDX-License-Identifier: GPL-2.0
/*
 * AMD's instruction based sampling of operations (IBS op), as software sees it. After every period of
 * operations (or cycles), the hardware tags one operation, follows it to its retirement, and describes it in
 * registers. Then it raises an interrupt and tags nothing until software enables it again. The hardware may
 * tag any operation, not only loads.
 *
 * Registers and fields follow AMD's processor programming reference for family 19h, as Linux has them in
 * arch/x86/include/asm/{amd-ibs,perf_event}.h (6.1, 6.12) and asm/amd/ibs.h (7.3). The release notes of Linux
 * 5.19, which added l3missonly, say that filtered samples are dropped and that the count then restarts from 1
 * to 127.
 */
#ifndef PEBSD_MODEL_IBS_H
#define PEBSD_MODEL_IBS_H

#include "machine.h"
#include "random.h"
#include "retired.h"

/* CPUID 8000001BH, EAX (IBS_CAPS_* in asm/perf_event.h). */
enum ibs_capability {
	IBS_CAPABILITY_AVAILABLE = 1 << 0,
	IBS_CAPABILITY_FETCH = 1 << 1,
	IBS_CAPABILITY_OP = 1 << 2,
	IBS_CAPABILITY_COUNT_WRITABLE = 1 << 3, /* IbsOpCurCnt can be read and written */
	IBS_CAPABILITY_OP_COUNT = 1 << 4,       /* can count operations, not only cycles */
	IBS_CAPABILITY_LONG_COUNT = 1 << 6,     /* 27 bits instead of 20 */
	IBS_CAPABILITY_ZEN4 = 1 << 11,          /* more data sources, filter for L3 misses */
	IBS_CAPABILITY_LOAD_LATENCY = 1 << 12,  /* threshold of load latency */
};

struct ibs_machine {
	const char *name;  /* "zen3" */
	const char *title; /* "Zen 3" */
	u32 capabilities;  /* enum ibs_capability; other bits have no meaning here */
	u8 family, model;  /* CPUID */
	struct memory_shape memory;
};

/* All machines, oldest first. */
extern const struct ibs_machine ibs_machines[];
extern const size_t ibs_machines_count;

/* Returns the machine with this name, or NULL. */
const struct ibs_machine *ibs_machine_find(const char *name);

/*
 * MSRs. IBS_OP_CTL controls the unit. In it, the unit changes only the count and IBS_CTL_VALID. A sample fills
 * all other registers.
 */
enum ibs_register {
	IBS_OP_CTL = 0xc0011033,
	IBS_OP_RIP,
	IBS_OP_DATA,
	IBS_OP_DATA2,
	IBS_OP_DATA3,
	IBS_DC_LINEAR_ADDRESS,
	IBS_DC_PHYSICAL_ADDRESS,
	IBS_REGISTERS_END,
};

#define IBS_REGISTERS (IBS_REGISTERS_END - IBS_OP_CTL)

/* IBS_OP_CTL. The maximum is in units of 16. Its upper seven bits are in a separate field. */
#define IBS_CTL_MAXIMUM        0xffffULL
#define IBS_CTL_L3_MISS_ONLY   MODEL_BIT(16)
#define IBS_CTL_ENABLE         MODEL_BIT(17)
#define IBS_CTL_VALID          MODEL_BIT(18)
#define IBS_CTL_COUNT_OPS      MODEL_BIT(19) /* otherwise cycles */
#define IBS_CTL_MAXIMUM_UPPER  (0x7fULL << 20)
#define IBS_CTL_COUNT_SHIFT    32
#define IBS_CTL_COUNT          (0x7ffffffULL << IBS_CTL_COUNT_SHIFT)
#define IBS_CTL_LATENCY_SHIFT  59
#define IBS_CTL_LATENCY        (0xfULL << IBS_CTL_LATENCY_SHIFT) /* threshold: 128 cycles times (value + 1) */
#define IBS_CTL_LATENCY_ENABLE MODEL_BIT(63)
#define IBS_LATENCY_STEP       128U

/* After tagging an operation, the hardware sets these bits of the count at random. */
#define IBS_COUNT_RANDOM 0x7fULL

/* IBS_OP_DATA. */
#define IBS_DATA_TAG_TO_RETIRE_SHIFT 16

/* IBS_OP_DATA2. */
#define IBS_DATA2_SOURCE       0x7ULL
#define IBS_DATA2_REMOTE       MODEL_BIT(4)
#define IBS_DATA2_OWNED        MODEL_BIT(5) /* line in state O, otherwise M; only for caches */
#define IBS_DATA2_SOURCE_UPPER (0x3ULL << 6)

/* Data sources before Zen 4, and since Zen 4. */
enum {
	IBS_SOURCE_NONE = 0,
	IBS_SOURCE_LOCAL_CACHE = 2,
	IBS_SOURCE_DRAM = 3,
	IBS_SOURCE_REMOTE_CACHE = 4,
	IBS_SOURCE_IO = 7,
	IBS_SOURCE_ZEN4_LOCAL_CACHE = 1,
	IBS_SOURCE_ZEN4_NEAR_CACHE = 2, /* another core complex of the node */
	IBS_SOURCE_ZEN4_FAR_CACHE = 5,  /* another node */
	IBS_SOURCE_ZEN4_PMEM = 6,
	IBS_SOURCE_ZEN4_EXTENSION_MEMORY = 8, /* CXL */
	IBS_SOURCE_ZEN4_PEER_MEMORY = 12,
};

/* IBS_OP_DATA3. */
#define IBS_DATA3_LOAD        MODEL_BIT(0)
#define IBS_DATA3_STORE       MODEL_BIT(1)
#define IBS_DATA3_L1_TLB_MISS MODEL_BIT(2)
#define IBS_DATA3_L2_TLB_MISS MODEL_BIT(3)
#define IBS_DATA3_MISS        MODEL_BIT(7) /* in the first-level cache */
#define IBS_DATA3_UNCACHEABLE MODEL_BIT(14)
#define IBS_DATA3_LOCKED      MODEL_BIT(15)
#define IBS_DATA3_NO_BUFFER \
	MODEL_BIT(16) /* a miss of the line was in flight: no miss address buffer of its own */
#define IBS_DATA3_LINEAR_VALID      MODEL_BIT(17)
#define IBS_DATA3_PHYSICAL_VALID    MODEL_BIT(18)
#define IBS_DATA3_L2_MISS           MODEL_BIT(20)
#define IBS_DATA3_SOFTWARE_PREFETCH MODEL_BIT(21)
#define IBS_DATA3_LATENCY_SHIFT     32 /* 16 bits, loads that missed: cycles from the miss to the data */
#define IBS_DATA3_REFILL_SHIFT      48

struct ibs_unit {
	const struct ibs_machine *machine;
	struct random random;
	u64 registers[IBS_REGISTERS]; /* from IBS_OP_CTL on */
	u64 tsc;                      /* time at which the last instruction retired; 0: none yet */
	u64 samples, filtered;        /* tagged and reported; tagged and dropped by a filter */
};

/* Initializes every field. Nothing is enabled. */
void ibs_open(struct ibs_unit *unit, const struct ibs_machine *machine, u64 seed);

/*
 * WRMSR and RDMSR. Return -EINVAL if the machine has no such register or bits. Registers that the unit writes
 * can also be written by software, and keep that value until the next sample.
 */
int ibs_write(struct ibs_unit *unit, u32 msr, u64 value);
int ibs_read(const struct ibs_unit *unit, u32 msr, u64 *ret);

/* Returns the operations (or cycles) until one is tagged, at least 1. Returns 0 if none will be tagged. */
u64 ibs_left(const struct ibs_unit *unit);

/*
 * Lets `count` operations (or cycles) pass without a description of each, but stops one before the tag.
 * Returns how many passed.
 */
u64 ibs_pass(struct ibs_unit *unit, u64 count);

/*
 * Retires an instruction with its operations. The first operation does the instruction's memory access.
 * Returns true if an operation was tagged and not filtered, so that the interrupt is raised.
 */
bool ibs_retire(struct ibs_unit *unit, const struct retired *instruction);

#endif

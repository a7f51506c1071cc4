// SPDX-License-Identifier: GPL-2.0
/*
 * Model-specific registers that the model implements, with the manual's names. Volume 4, and volume 3B
 * chapter 18.
 */
#ifndef PEBSD_MODEL_MSR_H
#define PEBSD_MODEL_MSR_H

/* The enum has no tag, because the kernel has a struct msr. */
enum {
	MSR_IA32_PMC0 = 0xc1,    /* + counter; writes are sign-extended from bit 31 */
	MSR_IA32_A_PMC0 = 0x4c1, /* + counter; full width */
	MSR_IA32_PERFEVTSEL0 = 0x186,
	MSR_OFFCORE_RSP_0 = 0x1a6,
	MSR_OFFCORE_RSP_1 = 0x1a7,
	MSR_IA32_FIXED_CTR0 = 0x309,
	MSR_IA32_FIXED_CTR_CTRL = 0x38d,
	MSR_IA32_PERF_GLOBAL_STATUS = 0x38e,
	MSR_IA32_PERF_GLOBAL_CTRL = 0x38f,
	MSR_IA32_PERF_GLOBAL_OVF_CTRL = 0x390, /* writing 1 clears */
	MSR_UNCORE_PERF_GLOBAL_STATUS = 0x392,
	MSR_UNCORE_PERF_GLOBAL_OVF_CTRL = 0x393,
	MSR_IA32_PEBS_ENABLE = 0x3f1,
	MSR_PEBS_MATRIX_VERT = 0x3f2,
	MSR_PEBS_DATA_CFG = 0x3f2, /* Ice Lake: another register with the same number */
	MSR_PEBS_LD_LAT_THRESHOLD = 0x3f6,
	MSR_IA32_DS_AREA = 0x600,
};

/* IA32_PERFEVTSELx */
#define EVTSEL_EVENT  0xffULL
#define EVTSEL_UMASK  0xff00ULL
#define EVTSEL_USR    (1ULL << 16)
#define EVTSEL_OS     (1ULL << 17)
#define EVTSEL_EDGE   (1ULL << 18)
#define EVTSEL_INT    (1ULL << 20)
#define EVTSEL_ANY    (1ULL << 21)
#define EVTSEL_ENABLE (1ULL << 22)
#define EVTSEL_INV    (1ULL << 23)
#define EVTSEL_CMASK  (0xffULL << 24)
/*
 * Adaptive PEBS. If this bit is set, the counter's records have the groups of MSR_PEBS_DATA_CFG, otherwise
 * only the basic group. For fixed counter n, this is bit 32 + 4 n of IA32_FIXED_CTR_CTRL.
 */
#define EVTSEL_ADAPTIVE        (1ULL << 34)
#define FIXED_CTRL_ADAPTIVE(n) (1ULL << (32 + 4 * (n)))

/* IA32_FIXED_CTR_CTRL: four bits for each counter. */
#define FIXED_CTRL_OS  (1ULL << 0)
#define FIXED_CTRL_USR (1ULL << 1)
#define FIXED_CTRL_ANY (1ULL << 2)
#define FIXED_CTRL_PMI (1ULL << 3)

/* IA32_PERF_GLOBAL_STATUS and _OVF_CTRL; counters in bits 7:0, fixed ones from bit 32 on. */
#define STATUS_UNCORE     (1ULL << 61)
#define STATUS_DS_BUFFER  (1ULL << 62)
#define STATUS_CONDITIONS (1ULL << 63)

/* MSR_UNCORE_PERF_GLOBAL_STATUS: uncore counters in bits 7:0, the fixed one in bit 32. */
#define UNCORE_STATUS_PMI     (1ULL << 61)
#define UNCORE_STATUS_CHANGED (1ULL << 63)

/* IA32_PEBS_ENABLE: counters in bits 7:0 (adaptive PEBS: fixed ones from bit 32 on). */
#define PEBS_ENABLE_LOAD_LATENCY(counter) (1ULL << (32 + (counter)))
#define PEBS_ENABLE_PRECISE_STORE         (1ULL << 63)

#endif

// SPDX-License-Identifier: GPL-2.0
/*
 * Off-core response (manual 18.9.5, 18.7.2, 18.6.3, 18.8.1.3). MSR_OFFCORE_RSP_x selects the requests to the
 * uncore that count, by request type (bits 15:0), supplier (30:16) and snoop response (37:31). On Nehalem,
 * the request type is in bits 7:0 and the response in bits 15:8.
 */
#ifndef PEBSD_MODEL_OFFCORE_H
#define PEBSD_MODEL_OFFCORE_H

#include "machine.h"
#include "retired.h"

#define OFFCORE_DEMAND_DATA_READ (1ULL << 0)
#define OFFCORE_DEMAND_RFO       (1ULL << 1)
#define OFFCORE_PARTIAL_READ     (1ULL << 7)  /* Goldmont: uncacheable reads */
#define OFFCORE_PARTIAL_WRITE    (1ULL << 8)  /* Goldmont */
#define OFFCORE_OTHER            (1ULL << 15) /* Sandy Bridge: any other request, including I/O */
#define OFFCORE_NEHALEM_OTHER    (1ULL << 7)

#define OFFCORE_ANY_RESPONSE    (1ULL << 16)
#define OFFCORE_NO_SUPPLIER     (1ULL << 17)
#define OFFCORE_L3_MODIFIED     (1ULL << 18) /* state of the line in L3 */
#define OFFCORE_GOLDMONT_L2_HIT (1ULL << 18)
#define OFFCORE_L3_EXCLUSIVE    (1ULL << 19)
#define OFFCORE_L3_SHARED       (1ULL << 20)
#define OFFCORE_LOCAL           (1ULL << 22)
#define OFFCORE_REMOTE          (0xffULL << 23) /* the other sockets, by hops */
#define OFFCORE_SUPPLIERS       (0x7fffULL << 16)

#define OFFCORE_SNOOP_NONE       (1ULL << 31)
#define OFFCORE_SNOOP_NOT_NEEDED (1ULL << 32)
#define OFFCORE_SNOOP_MISS       (1ULL << 33)
#define OFFCORE_HIT_NO_FORWARD   (1ULL << 34)
#define OFFCORE_HIT_FORWARD      (1ULL << 35)
#define OFFCORE_HITM             (1ULL << 36)
#define OFFCORE_NON_DRAM         (1ULL << 37)
#define OFFCORE_SNOOPS           (0x7fULL << 31)

/* Only MSR_OFFCORE_RSP_0: the counter sums the core clock cycles during which requests are outstanding. */
#define OFFCORE_OUTSTANDING (1ULL << 38)

/*
 * Returns the count of the event for the instruction, with `config` in register `which`. A request counts 1
 * if its type and its response are selected, otherwise 0. With OFFCORE_OUTSTANDING, a request of a selected
 * type counts its latency, for any response.
 */
u64 offcore_occurrences(const struct machine *machine, u32 which, u64 config, const struct retired *retired);

#endif

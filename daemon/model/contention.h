// SPDX-License-Identifier: GPL-2.0
/*
 * What the programs of the scenario cost each other: lines from the memory of a node queue at its channel, and
 * lines from the other node also at the link between the nodes. Pure.
 *
 * A queue is one of Pollaczek and Khinchine: lines arrive at random, and each takes the same time (M/D/1). The
 * mean wait is s * u / (2 * (1 - u)) for a service time s and a utilization u. It is small up to half of the
 * bandwidth, and rises steeply near all of it, as loaded latencies of real memory do.
 */
#ifndef PEBSD_MODEL_CONTENTION_H
#define PEBSD_MODEL_CONTENTION_H

#include "freestanding.h"

/*
 * Core clock cycles in which a node's memory, or the link, transfers a line of 64 bytes to the programs of the
 * scenario: at 2.6 GHz 1.7 GB/s and 2.8 GB/s. As with L3, this is the share that these few threads have for
 * themselves. The rest serves all that a host runs besides them.
 */
#define CONTENTION_CHANNEL_CYCLES 160U
#define CONTENTION_LINK_CYCLES    60U

/* Highest utilization that a wait is computed for, in thousandths. Programs that wait ask for less. */
#define CONTENTION_UTILIZATION_MAX 950U

/*
 * Returns the mean cycles that a line waits, if `lines` arrived in `cycles` and each takes `service` cycles. 0 if
 * `cycles` is 0.
 */
u32 contention_wait(u64 lines, u64 cycles, u32 service);

#endif

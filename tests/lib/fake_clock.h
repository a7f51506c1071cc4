// SPDX-License-Identifier: GPL-2.0
/*
 * Clocks that only the test moves, so that no result depends on the speed of the machine.
 *
 * tests/flags.mk lists the programs that are linked with fake_clock.c, which defines clock_gettime(2),
 * timerfd_create(2) and timerfd_settime(2). Definitions in a program precede those of the C library, also for calls
 * from libsystemd, so the timers of sd-event elapse by these clocks. Children that execute a program have real clocks.
 */
#ifndef PEBSD_TEST_FAKE_CLOCK_H
#define PEBSD_TEST_FAKE_CLOCK_H

#include "pebsd/types.h"

/*
 * Stops CLOCK_REALTIME, CLOCK_MONOTONIC and CLOCK_BOOTTIME of this process. Timers of an absolute time wait for
 * fake_clock_advance(). Others, and descriptors from 1024 on, use the real clocks.
 */
void fake_clock_stop(void);

/* From now on, each read of CLOCK_MONOTONIC moves the stopped clocks by `ns`: the work in between took that long. */
void fake_clock_tick(u64 ns);

/* Moves the stopped clocks. When it returns, the timers that are due have elapsed. */
void fake_clock_advance(u64 ns);

#endif

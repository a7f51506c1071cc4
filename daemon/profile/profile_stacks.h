// SPDX-License-Identifier: GPL-2.0
/*
 * Defines which user stacks end early. The kernel unwinds a stack by frame pointers, or the CPU records the
 * calls. If code was built without frame pointers, or the CPU's record is full, the stack ends before the
 * start of the program or thread. The outer callers of the expensive function are then unknown.
 *
 * A stack of user frames ends early if none of its functions is one in which a program or a thread starts.
 * Names decide this, see profile_is_start(). The function that calls main() in a C library often has no name.
 * A stack long enough to have been cut at the kernel's limit (PROFILE_STACK_FULL) does not count as early,
 * because that is not the program's fault. Some cases:
 * - A stack without such a name counts as early. It may be complete, but nothing shows that it is.
 * - A stack from an LBR whose 32 (or 16) entries are all in use counts as early: older calls are missing.
 * - A sample of user code with only its own address counts as early, unless it is in such a function itself.
 * - A stack of kernel frames only is not a user stack and is not counted. Examples are a kernel thread, or an
 *   interrupt whose user part was not unwound.
 *
 * Names arrive later than samples. `early` of struct profile_totals is as of the last profile_resolve(), and
 * frames that have no name yet are not a start. `user_stacks` and `early` count only samples in the tables,
 * not `dropped` ones.
 */
#ifndef PEBSD_PROFILE_STACKS_H
#define PEBSD_PROFILE_STACKS_H

#include <stdbool.h>

/*
 * From this number of frames on, the kernel may have cut the stack. Kernel frames and the sampled instruction
 * count too. It is the default of kernel.perf_event_max_stack, which limits kernel and user frames together
 * (perf_callchain_store(), kernel/events/callchain.c, include/linux/perf_event.h, Linux 6.1).
 */
#define PROFILE_STACK_FULL 127

/* Returns whether programs or threads start in a function of this name, such as _start or clone3. */
bool profile_is_start(const char *name);

#endif

// SPDX-License-Identifier: GPL-2.0
/*
 * Which user stacks end early. A stack is followed by frame pointers (or by the CPU's own record of calls):
 * where code was built without them, or the record is full, it ends before where the program or the thread
 * began, and what called the function that costs is not known from there on.
 *
 * A stack of user frames ends early where none of them is a place at which a program or a thread starts, by
 * the name of the function, see profile_is_start() (what calls main() in a C library has often no name), and
 * it is not long enough to have been cut at the kernel's limit (PROFILE_STACK_FULL), which is not the
 * program's doing. So
 *   - a stack without such a name counts as early: it may have gone on, and nothing says that it did not;
 *   - a stack by the LBR of which all 32 (or 16) entries are taken counts as early: what came before is not
 *     there;
 *   - a sample of user code with no more than its own address counts as early, unless it is in such a
 *     function itself;
 *   - a stack of the kernel alone (a kernel thread, an interrupt whose user half was not followed) is no user
 *     stack and is not counted at all.
 * Names come later than samples: struct profile_totals has `early` as of the last profile_resolve(), and of
 * frames that are not named yet as above. `user_stacks` and `early` are of the samples in the tables, those
 * that are `dropped` are in neither.
 */
#ifndef PEBSD_PROFILE_STACKS_H
#define PEBSD_PROFILE_STACKS_H

#include <stdbool.h>

/*
 * Frames of a sample, those of the kernel and the sampled instruction included, from which on it may have
 * been cut by the kernel: kernel.perf_event_max_stack as it is by default, which counts both halves together
 * (perf_callchain_store(), kernel/events/callchain.c, include/linux/perf_event.h, Linux 6.1).
 */
#define PROFILE_STACK_FULL 127

/* Whether programs or threads start in a function of this name: _start, main, clone3, runtime.goexit, ... */
bool profile_is_start(const char *name);

#endif

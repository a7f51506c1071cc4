// SPDX-License-Identifier: GPL-2.0
/* Restricts a process to a list of system calls (seccomp(2)). */
#ifndef PEBSD_SECCOMP_H
#define PEBSD_SECCOMP_H

#include <stddef.h>

#include "pebsd/types.h"

/* A condition for an argument. It checks the lower 32 bits: the calls that have conditions use no others. */
enum seccomp_condition {
	SECCOMP_NOTHING,
	SECCOMP_EQUAL,   /* argument == value */
	SECCOMP_ABOVE,   /* argument > value */
	SECCOMP_WITHOUT, /* no bit of value is set */
};

#define SECCOMP_CHECKS_MAX 2

struct seccomp_permission {
	u32 call;
	struct seccomp_check {
		u8 argument;
		u8 condition;
		u32 value;
	} checks[SECCOMP_CHECKS_MAX];
};

/* A call may have several permissions. One of them must match. */
struct seccomp_list {
	const struct seccomp_permission *permissions;
	size_t n;
};

/*
 * Restricts the calling process permanently. It needs no_new_privs. Besides the lists, it permits the calls
 * that every such process needs: reading and examining open descriptors, messages over a connected socket,
 * writing to standard error, private memory that is not executable, futexes, signals, the time, random
 * numbers, its own ids, and exiting. A build with AddressSanitizer also permits the sanitizer's calls. Any
 * other call fails with EPERM, clone3() with ENOSYS. Returns 0 or -errno. -EOPNOTSUPP: not implemented for
 * this architecture.
 */
int seccomp_allow(const struct seccomp_list *lists, size_t n);

#endif

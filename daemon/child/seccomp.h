// SPDX-License-Identifier: GPL-2.0
/* System calls that a process leaves itself (seccomp(2)). */
#ifndef PEBSD_SECCOMP_H
#define PEBSD_SECCOMP_H

#include <stddef.h>

#include "pebsd/types.h"

/* What must hold of an argument; of its lower half, as these calls take no more of it. */
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

/* Several for a call: one of them must hold. */
struct seccomp_list {
	const struct seccomp_permission *permissions;
	size_t n;
};

/*
 * Of the calling process, for good; it needs no_new_privs. Beside what the lists have it may do what any such
 * process needs: read and look at what it has open, exchange messages over a connected socket, write to
 * standard error, have memory that is neither code nor shared, wait, handle signals, tell the time and
 * itself, and end; built with AddressSanitizer also what that calls itself. Any other call fails with EPERM,
 * clone3() with ENOSYS. Returns 0 or -errno: -EOPNOTSUPP on an architecture that it does not know.
 */
int seccomp_allow(const struct seccomp_list *lists, size_t n);

#endif

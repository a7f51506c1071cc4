// SPDX-License-Identifier: GPL-2.0
/*
 * What the model may use of its surroundings: integer types, bool, error numbers. It is built into the daemon
 * and into the tests' emulator (tests/guest/pmu/), so no libc, no floating point, no allocation, no global state.
 */
#ifndef PEBSD_MODEL_FREESTANDING_H
#define PEBSD_MODEL_FREESTANDING_H

#include <linux/errno.h>

#include "pebsd/types.h"

#ifndef __KERNEL__
#include <stdbool.h>
#include <stddef.h>
#endif

#define MODEL_BIT(n) (1ULL << (n))

static inline bool same_text(const char *one, const char *other)
{
	for (; *one && *one == *other; one++, other++)
		;
	return *one == *other;
}

#endif

// SPDX-License-Identifier: GPL-2.0
/*
 * The parts of the environment that the model may use: integer types, bool, error numbers. The model is built
 * into the daemon and into the tests' emulator (tests/guest/pmu/). The model has no libc, floating point,
 * allocation or global state.
 */
#ifndef PEBSD_MODEL_FREESTANDING_H
#define PEBSD_MODEL_FREESTANDING_H

#include <linux/errno.h>
#include <stdbool.h>
#include <stddef.h>

#include "pebsd/types.h"

#define MODEL_BIT(n) (1ULL << (n))

static inline bool same_text(const char *one, const char *other)
{
	for (; *one && *one == *other; one++, other++)
		;
	return *one == *other;
}

#endif

// SPDX-License-Identifier: GPL-2.0
/*
 * Makes a chosen allocation fail, in programs that are linked with
 * --wrap=malloc,--wrap=calloc,--wrap=reallocarray,--wrap=strdup (see tests/flags.mk).
 */
#ifndef PEBSD_TEST_SCARCE_MEMORY_H
#define PEBSD_TEST_SCARCE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

/* One allocation fails after `n` more allocations. */
void scarce_memory_after(size_t n);

/* Ends the effect of scarce_memory_after(). Returns whether an allocation has failed. */
bool scarce_memory_end(void);

#endif

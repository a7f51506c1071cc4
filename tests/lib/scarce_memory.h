// SPDX-License-Identifier: GPL-2.0
/*
 * Memory that is not there: one allocation of many fails, in programs that are linked with
 * --wrap=malloc,--wrap=calloc,--wrap=reallocarray,--wrap=strdup (see the Makefile).
 */
#ifndef PEBSD_TEST_SCARCE_MEMORY_H
#define PEBSD_TEST_SCARCE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

/* After `n` more allocations one fails. */
void scarce_memory_after(size_t n);

/* Ends that. Returns whether one did fail. */
bool scarce_memory_end(void);

#endif

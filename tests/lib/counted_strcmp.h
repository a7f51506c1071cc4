// SPDX-License-Identifier: GPL-2.0
/*
 * Counts comparisons of strings, so that a test can bound the work that much input takes, on any machine.
 *
 * The Makefile lists the programs that are linked with this file. It defines strcmp(3), which precedes the C library's.
 */
#ifndef PEBSD_TEST_COUNTED_STRCMP_H
#define PEBSD_TEST_COUNTED_STRCMP_H

#include "pebsd/types.h"

/* Calls of strcmp() so far. Compilers may compare with short constants without a call. */
extern u64 counted_strcmp;

#endif

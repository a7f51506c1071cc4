// SPDX-License-Identifier: GPL-2.0
/* Stripes for tests, kept as long as the program runs. */
#ifndef PEBSD_TEST_SOME_STRIPES_H
#define PEBSD_TEST_SOME_STRIPES_H

#include "kernel/stripes.h"

/* This machine's. */
const struct stripes *machine_stripes(void);

/* One for all CPUs. */
const struct stripes *one_stripe(void);

#endif

// SPDX-License-Identifier: GPL-2.0
/* Stripes for tests. They stay valid as long as the program runs. */
#ifndef PEBSD_TEST_SOME_STRIPES_H
#define PEBSD_TEST_SOME_STRIPES_H

#include "kernel/stripes.h"

/* The stripes for this machine. */
const struct stripes *machine_stripes(void);

/* One stripe for all CPUs. */
const struct stripes *one_stripe(void);

#endif

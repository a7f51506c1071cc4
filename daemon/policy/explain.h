// SPDX-License-Identifier: GPL-2.0
/* What would change a verdict, in sentences. Pure. */
#ifndef PEBSD_EXPLAIN_H
#define PEBSD_EXPLAIN_H

#include "policy/alert.h"

/*
 * The sentences about `alert`, each malloc'ed, NULL-terminated; free with explain_free(). E.g. "fires when at
 * least 34 of 2,000 latencies are above 896 cycles; 21 are". Returns 0 or -ENOMEM.
 */
int explain(const struct alert *alert, char ***ret);
char **explain_free(char **sentences);

#endif

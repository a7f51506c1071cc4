// SPDX-License-Identifier: GPL-2.0
/* `pebsd --once`: samples for a while, or reads the recordings whole, prints the result and ends. */
#ifndef PEBSD_ONCE_H
#define PEBSD_ONCE_H

#include "base/failure.h"
#include "config/options.h"

/*
 * Prints to standard output. Returns the exit code: EXIT_INPUT where a recording was cut or damaged, after
 * its whole records are printed. Or -errno with `ret_failure` filled in, and nothing printed.
 */
int once(const struct options *options, const struct config *config, struct failure *ret_failure);

#endif

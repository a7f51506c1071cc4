// SPDX-License-Identifier: GPL-2.0
/* `pebsd --once`: samples for some time or reads whole recordings, prints the result, and ends. */
#ifndef PEBSD_ONCE_H
#define PEBSD_ONCE_H

#include "base/failure.h"
#include "config/options.h"

/*
 * Prints to standard output. Returns the exit code, which is EXIT_INPUT if a recording was cut or damaged;
 * the result of its intact records is printed before. Or returns -errno with `ret_failure` filled in. Then
 * nothing was printed, unless printing itself failed.
 */
int once(const struct options *options, const struct config *config, struct failure *ret_failure);

#endif

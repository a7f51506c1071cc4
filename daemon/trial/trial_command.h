// SPDX-License-Identifier: GPL-2.0
/* `pebsd --test-rules`: tests the configured rules on recordings or on the model, entirely in user space. */
#ifndef PEBSD_TRIAL_COMMAND_H
#define PEBSD_TRIAL_COMMAND_H

#include "base/failure.h"
#include "config/config.h"
#include "config/options.h"

/* Returns the exit code, or -errno with `ret_failure` filled in. */
int trial_command(const struct options *options, const struct config *config, struct failure *ret_failure);

#endif

// SPDX-License-Identifier: GPL-2.0
/* The model on trial: its computer runs as fast as it can be computed, and is judged in its own time. */
#ifndef PEBSD_TRIAL_MODEL_H
#define PEBSD_TRIAL_MODEL_H

#include "base/failure.h"
#include "trial/trial.h"

/* Runs the configured workloads for `ns`. 0, or -errno with `ret_failure` filled in; then `*ret` is not
 * written. */
int trial_model(const struct config *config, u64 ns, struct trial **ret, struct failure *ret_failure);

#endif

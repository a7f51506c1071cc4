// SPDX-License-Identifier: GPL-2.0
/*
 * Tests rules on the model. Its computer runs as fast as possible, and rules are judged in the model's own
 * time.
 */
#ifndef PEBSD_TRIAL_MODEL_H
#define PEBSD_TRIAL_MODEL_H

#include "base/failure.h"
#include "trial/trial.h"

/*
 * Runs the configured workloads for `ns` of the model's time. Returns 0, or -errno: then `*ret` is not
 * written. If the computer cannot be made, `ret_failure` has the reason.
 */
int trial_model(const struct config *config, u64 ns, struct trial **ret, struct failure *ret_failure);

#endif

// SPDX-License-Identifier: GPL-2.0
/*
 * Tests rules on recordings. They are read in the order given, and judged in their own time.
 *
 * A recording that begins after the end of the previous one, on the same clock, continues its stretch. The
 * time between them counts as time without sampling. A recording that begins earlier is of another boot or
 * machine, or was made at the same time. Then a new stretch begins with empty windows, baselines and states,
 * and a note says so. The same happens if a clock leaps by more than 30 days.
 */
#ifndef PEBSD_TRIAL_RECORDINGS_H
#define PEBSD_TRIAL_RECORDINGS_H

#include "trial/trial.h"

/*
 * `*ret` is the trial, which the caller owns; NULL after an error before the first sample. Returns 0, -ENOMEM, -EBADMSG
 * if a recording is damaged, truncated, or has no timestamps, or another -errno if one cannot be read. After
 * an error `*ret_message` says what is wrong and what to do; the caller frees it (NULL: no memory). The trial
 * then has everything up to the error.
 */
int trial_recordings(const struct config *config, const char *const *paths, size_t n, struct trial **ret,
		     char **ret_message);

#endif

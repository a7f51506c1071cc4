// SPDX-License-Identifier: GPL-2.0
/*
 * Recordings on trial: read in the order given, judged in their own time.
 *
 * A recording that begins after the one before it ended, on the same clock, goes on where that one was: the
 * time between is one in which nothing could come. One that begins earlier is of another boot or machine, or
 * ran beside it: there windows, baselines and states begin anew, and a note says so.
 */
#ifndef PEBSD_TRIAL_RECORDINGS_H
#define PEBSD_TRIAL_RECORDINGS_H

#include "trial/trial.h"

/*
 * `*ret`, the caller's, has what was judged; NULL where nothing could be. Returns 0; -EBADMSG where a
 * recording is damaged, cut, or does not tell the time, or -errno where one cannot be read; -ENOMEM. Then
 * `*ret_message`, the caller's (NULL where memory is short), says what is amiss and what to do: what was
 * judged before stands.
 */
int trial_recordings(const struct config *config, const char *const *paths, size_t n, struct trial **ret,
		     char **ret_message);

#endif

// SPDX-License-Identifier: GPL-2.0
/*
 * Messages about a recording, which say what is wrong with it and what to do. Each is meant to follow
 * the recording's name and a space.
 */
#ifndef PEBSD_PERF_DATA_FAIL_H
#define PEBSD_PERF_DATA_FAIL_H

#include "pebsd/types.h"

/* Sets *message to the text, or to NULL if memory is short. Frees the previous message. Returns `error`. */
int perf_data_fail(char **message, int error, const char *format, ...) __attribute__((format(printf, 3, 4)));

/*
 * Sets the message for the -errno of a system call on the recording. Returns `error`, but -EBADMSG for a
 * directory.
 */
int perf_data_fail_to_read(char **message, int error);

/* Sets the message for contents that perf never writes, at the byte `position`. Returns -EBADMSG. */
int perf_data_fail_damaged(char **message, u64 position, const char *what);

#endif

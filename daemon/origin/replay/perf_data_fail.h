// SPDX-License-Identifier: GPL-2.0
/* Messages about a recording, to be put behind its name and a space: what is wrong with it, and what to do.
 */
#ifndef PEBSD_PERF_DATA_FAIL_H
#define PEBSD_PERF_DATA_FAIL_H

#include "pebsd/types.h"

/* Puts the text in *message, whose former content is freed; NULL where memory is short. Returns `error`. */
int perf_data_fail(char **message, int error, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* For the -errno of a system call on it. Returns `error`, for a directory -EBADMSG. */
int perf_data_fail_to_read(char **message, int error);

/* For contents that no perf writes, at a place known to the byte. Returns -EBADMSG. */
int perf_data_fail_damaged(char **message, u64 position, const char *what);

#endif

// SPDX-License-Identifier: GPL-2.0
/* `pebsd --compare`: compares two recordings (estimate/compare.h), without BPF, privileges or a clock. */
#ifndef PEBSD_COMPARE_RECORDINGS_H
#define PEBSD_COMPARE_RECORDINGS_H

#include <json-c/json.h>

#include "base/failure.h"
#include "config/options.h"

/*
 * Reads both recordings to their ends, all cgroups of each together, in their own time. Returns 0 and the reply of
 * Compare (io.pebsd.varlink), which the caller puts, with "file" in each side. Returns -EBADMSG if a recording is
 * damaged or truncated, -ENOMEM, or another -errno if one cannot be read; `*ret_message` then says what is wrong and
 * what to do. The caller frees it. NULL: no memory.
 */
int compare_recordings(const char *const paths[2], json_object **ret, char **ret_message);

/* Prints the comparison of the two recordings in the options. Returns as once() does. */
int compare_command(const struct options *options, struct failure *ret_failure);

#endif

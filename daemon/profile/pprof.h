// SPDX-License-Identifier: GPL-2.0
/*
 * A profile as pprof reads it (github.com/google/pprof, proto/profile.proto): gzipped protobuf, sample types
 * samples/count and latency/cycles (the default), locations with the module's own addresses, not those of the
 * process; labels thread (name), source, and of the profile: comment with cgroup, origin, limit and losses.
 */
#ifndef PEBSD_PPROF_H
#define PEBSD_PPROF_H

#include "profile/profile.h"

struct profile_about {
	const char *cgroup;
	const char *origin;
	u64 began_real_ns, duration_ns;
	u64 period;                  /* of the event; 0: not known */
	const char *event;           /* "loads" */
	const char *const *comments; /* more lines; ends with NULL; may be NULL */
	bool kernel_names;           /* else frames of the kernel are one: [kernel] */
};

/* The caller frees `*ret`. 0 or -ENOMEM. */
int pprof_write(const struct profile *profile, const struct profile_names *names,
		const struct profile_about *about, u8 **ret, size_t *ret_size);

/* Folded stacks, outermost first: "main;work;load_row 1234" a line; `latency`: the number is cycles, else
 * samples. In folded.c. */
int folded_write(const struct profile *profile, const struct profile_names *names,
		 const struct profile_about *about, bool latency, char **ret, size_t *ret_size);

#endif

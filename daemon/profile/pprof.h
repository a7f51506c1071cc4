// SPDX-License-Identifier: GPL-2.0
/*
 * Writes a profile for pprof (github.com/google/pprof, proto/profile.proto) as gzipped protobuf. The sample
 * types are samples/count and, if the samples have a latency, latency/cycles, which is then the default.
 * Locations have addresses relative to the module, not those of the process. The labels are thread (its name)
 * and source. The comments of the profile give the cgroup, origin and event, and count the stacks that end
 * early and the samples left out.
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
	const char *const *comments; /* additional lines; terminated by NULL; may be NULL */
	bool kernel_names;           /* if false, all kernel frames become one: [kernel] */
};

/* Returns 0, -E2BIG (more than 2 GiB) or -ENOMEM. The caller frees `*ret`. */
int pprof_write(const struct profile *profile, const struct profile_names *names,
		const struct profile_about *about, u8 **ret, size_t *ret_size);

/* Maximum memory for the text, the lines and the frames of all stacks. */
#define FOLDED_BYTES_MAX (512U << 20)

/*
 * Writes folded stacks, outermost frame first, one a line: "main;work;load_row 1234". If `latency` is set,
 * the number is cycles, otherwise samples. Returns 0, -E2BIG (FOLDED_BYTES_MAX reached) or -ENOMEM. The caller frees
 * `*ret`. Implemented in folded.c.
 */
int folded_write(const struct profile *profile, const struct profile_names *names,
		 const struct profile_about *about, bool latency, char **ret, size_t *ret_size);

#endif

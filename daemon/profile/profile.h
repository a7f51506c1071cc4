// SPDX-License-Identifier: GPL-2.0
/*
 * A profile sums the samples of a zoom by stack, by function, by accessed object and by cache line. Samples
 * are added one at a time while the zoom runs, and names are added when they arrive. Pure. The caller
 * provides the function that names an address.
 */
#ifndef PEBSD_PROFILE_H
#define PEBSD_PROFILE_H

#include "base/cleanup.h"
#include "pebsd/data_source.h"
#include "symbols/shared/symbol.h"
#include "zoom/zoom_sample.h"

struct profile_names {
	/* Returns the name of an address, or NULL if it is not known (yet). Valid until the next call. */
	const struct symbol *(*find)(void *userdata, const struct symbol_query *query);
	void *userdata;
};

/*
 * Maximum bytes of a profile. Samples that would need more are counted only in the totals: in all
 * of them except `user_stacks` and `early`.
 */
#define PROFILE_BYTES_MAX (48U << 20)

struct profile;

/* Returns 0 or -ENOMEM. `latency` says whether samples have a latency. If not, all latencies count as 0. */
int profile_new(bool latency, struct profile **ret);
struct profile *profile_free(struct profile *profile);
DEFINE_CLEANUP(struct profile *, profile_free)

/* Returns 0 or -ENOMEM. */
int profile_add(struct profile *profile, const struct zoom_sample *sample);

/* Sets the name of a process or thread from now on, for labels. Returns 0 or -ENOMEM. */
int profile_name(struct profile *profile, u32 pid, u32 tid, const char *name);

/*
 * Records that a process executes another program. Addresses of the old program that have no name so far stay
 * unknown. Later addresses belong to the new program.
 */
void profile_executed(struct profile *profile, u32 pid);

/*
 * Calls `names` for every address without a name, which also requests the name. Data addresses are requested
 * in batches. Returns the number of addresses that still have no answer.
 */
size_t profile_resolve(struct profile *profile, const struct profile_names *names);

struct profile_totals {
	u64 samples, latency; /* `latency` in cycles */
	u64 dropped;          /* samples that are not in the tables, for lack of memory */
	u64 user_stacks;      /* samples with a user stack, or of user code */
	u64 early;            /* of `user_stacks`: the stack ends too early, see profile_stacks.h */
	u64 hitm;
	u64 with_address; /* with a data address: the basis of objects, lines and nodes */
	u64 with_physical;
	u64 dropped_latency; /* the part of `latency` that the dropped samples have */
};
void profile_totals(const struct profile *profile, struct profile_totals *ret);

u64 profile_bytes(const struct profile *profile);

#endif

// SPDX-License-Identifier: GPL-2.0
/*
 * What a zoom's samples come to: by stack, by function, by what they accessed, by cache line. Made while the
 * zoom goes on, a sample at a time, and named as names come. Pure over memory; what names an address is a
 * function of the caller's.
 */
#ifndef PEBSD_PROFILE_H
#define PEBSD_PROFILE_H

#include "base/cleanup.h"
#include "pebsd/data_source.h"
#include "symbols/shared/symbol.h"
#include "zoom/zoom_sample.h"

/* Names one address: NULL where it is not known (yet). What it returns is valid until it is called again. */
struct profile_names {
	const struct symbol *(*find)(void *userdata, const struct symbol_query *query);
	void *userdata;
};

/* Bytes of a profile, at most; samples that would need more are in `dropped` and the totals alone. */
#define PROFILE_BYTES_MAX (48U << 20)

struct profile;

/* 0 or -ENOMEM. `latency`: samples have one (else latency counts as absent all over). */
int profile_new(bool latency, struct profile **ret);
struct profile *profile_free(struct profile *profile);
DEFINE_CLEANUP(struct profile *, profile_free)

/* 0 or -ENOMEM. */
int profile_add(struct profile *profile, const struct zoom_sample *sample);

/* The name of a process or thread, as of now, for labels. 0 or -ENOMEM. */
int profile_name(struct profile *profile, u32 pid, u32 tid, const char *name);

/* The process executes another program: what was not named of it so far stays unknown, and its addresses from
 * now on are others. */
void profile_executed(struct profile *profile, u32 pid);

/* Calls `names` for every address that is not named yet, so that it asks for them. Returns how many are
 * still without an answer. */
size_t profile_resolve(struct profile *profile, const struct profile_names *names);

struct profile_totals {
	u64 samples, latency; /* latency: cycles */
	u64 dropped;          /* of `samples`, not in the tables: no memory */
	u64 user_stacks;      /* samples with a user stack, or of user code */
	u64 early; /* of these, stacks that end before where a thread starts: see profile_stacks.h */
	u64 hitm;
	u64 with_address; /* samples with a data address: what objects, lines and nodes are made of */
	u64 with_physical;
	u64 dropped_latency; /* of `latency`, that of the dropped ones */
};
void profile_totals(const struct profile *profile, struct profile_totals *ret);

u64 profile_bytes(const struct profile *profile);

#endif

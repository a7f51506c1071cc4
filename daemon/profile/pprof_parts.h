// SPDX-License-Identifier: GPL-2.0
/* A pprof profile in the making: its messages, as protobuf-c has them, and what finds those that are there.
 */
#ifndef PEBSD_PPROF_PARTS_H
#define PEBSD_PPROF_PARTS_H

#include "base/arena.h"
#include "pprof.pb-c.h"
#include "profile/pprof.h"
#include "profile/profile_walk.h"

/* What a location is told from others by. */
struct pprof_location {
	u32 module; /* NONE: none */
	u64 address;
	const u32 *frames;
	size_t n;
};

struct pprof {
	const struct profile *profile;
	const struct profile_about *about;
	struct arena arena;
	struct budget budget; /* none: what is made is bounded by the profile */
	struct hash_key key;
	struct growing strings;         /* char * */
	u32 *location_of_node;          /* by node: its location, 0 for none yet */
	u32 *string_of_book;            /* by string of the book: its number here, 0 for none yet */
	struct growing functions;       /* Pebsd__Pprof__Function * */
	struct growing function_frames; /* u32: a frame of each */
	struct hash_index function_index;
	struct growing locations;     /* Pebsd__Pprof__Location * */
	struct growing location_keys; /* struct pprof_location */
	struct hash_index location_index;
	struct growing mappings;             /* Pebsd__Pprof__Mapping * */
	u32 *mapping_of_module;              /* by module: its number here, from 1 on; 0: none yet */
	struct growing samples;              /* Pebsd__Pprof__Sample * */
	Pebsd__Pprof__Label **thread_labels; /* by string of the book */
	Pebsd__Pprof__Label *source_labels[SOURCE_SLOTS];
};

/* All return 0 or -ENOMEM. */
int pprof_string(struct pprof *pprof, const char *text, s64 *ret);
int pprof_book_string(struct pprof *pprof, u32 string, s64 *ret); /* NONE: "" */
int pprof_location(struct pprof *pprof, const struct node *node, const u32 *frames, size_t n, u64 *ret_id);
int pprof_append(struct pprof *pprof, struct growing *array, void *message);

#endif

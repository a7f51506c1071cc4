// SPDX-License-Identifier: GPL-2.0
/*
 * Hashes the fields of the values of a map and their offsets, from the BTF of the BPF object. So the hash
 * changes if a record gains a field or a variable moves, and nobody has to raise a version.
 */
#ifndef PEBSD_KEPT_LAYOUT_H
#define PEBSD_KEPT_LAYOUT_H

#include "pebsd/types.h"

struct bpf_map;
struct btf;

/*
 * Adds the type of a map, the sizes of its keys and values, its flags, and the fields of its values to
 * `hash`.
 */
u64 kept_layout(u64 hash, const struct btf *btf, const struct bpf_map *map);

/* Adds the fields of the struct called `name` to `hash`. */
u64 kept_layout_struct(u64 hash, const struct btf *btf, const char *name);

#endif

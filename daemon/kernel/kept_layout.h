// SPDX-License-Identifier: GPL-2.0
/*
 * Hashes the fields of the values of a map and their offsets, from the BTF of the BPF object. A record that
 * gained a field, or a variable that moved, thus gets another hash without anybody raising a version.
 */
#ifndef PEBSD_KEPT_LAYOUT_H
#define PEBSD_KEPT_LAYOUT_H

#include "pebsd/types.h"

struct bpf_map;
struct btf;

/*
 * Adds the type of a map, its sizes except for the number of entries, and the fields of its values to `hash`.
 */
u64 kept_layout(u64 hash, const struct btf *btf, const struct bpf_map *map);

/* Adds the fields of the struct called `name` to `hash`. */
u64 kept_layout_struct(u64 hash, const struct btf *btf, const char *name);

#endif

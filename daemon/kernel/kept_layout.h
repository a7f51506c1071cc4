// SPDX-License-Identifier: GPL-2.0
/*
 * Which fields a map's values have, and where, as the BPF object's own type information tells: so that a
 * record that gains a field, or a variable that moves, is told from one of before without anybody having to
 * say so.
 */
#ifndef PEBSD_KEPT_LAYOUT_H
#define PEBSD_KEPT_LAYOUT_H

#include "pebsd/types.h"

struct bpf_map;
struct btf;

/* Hashes a map's type, its sizes but for the number of entries, and the fields of its values, onto `hash`. */
u64 kept_layout(u64 hash, const struct btf *btf, const struct bpf_map *map);

/* The fields of a struct of that name, onto `hash`. */
u64 kept_layout_struct(u64 hash, const struct btf *btf, const char *name);

#endif

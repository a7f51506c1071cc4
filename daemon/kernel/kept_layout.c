// SPDX-License-Identifier: GPL-2.0
#include "kept_layout.h"

#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <string.h>

#include "kept.h"

/* Records in records in arrays: some few. Deeper there is nothing of ours. */
#define DEPTH_MAX 16

static u64 hash_number(u64 hash, u64 number)
{
	return kept_hash(hash, &number, sizeof(number));
}

static u64 hash_name(u64 hash, const struct btf *btf, u32 offset)
{
	const char *name = btf__name_by_offset(btf, offset);

	return name ? kept_hash(hash, name, strlen(name) + 1) : hash;
}

static u64 hash_type(u64 hash, const struct btf *btf, u32 id, unsigned depth);

static u64 hash_members(u64 hash, const struct btf *btf, const struct btf_type *type, unsigned depth)
{
	const struct btf_member *members = btf_members(type);

	for (u32 i = 0; i < btf_vlen(type); i++) {
		hash = hash_name(hash, btf, members[i].name_off);
		hash = hash_number(hash, members[i].offset);
		hash = hash_type(hash, btf, members[i].type, depth);
	}
	return hash;
}

static u64 hash_variables(u64 hash, const struct btf *btf, const struct btf_type *type, unsigned depth)
{
	const struct btf_var_secinfo *variables = btf_var_secinfos(type);

	for (u32 i = 0; i < btf_vlen(type); i++) {
		hash = hash_number(hash, variables[i].offset);
		hash = hash_type(hash, btf, variables[i].type, depth);
	}
	return hash;
}

static u64 hash_type(u64 hash, const struct btf *btf, u32 id, unsigned depth)
{
	const struct btf_type *type = btf__type_by_id(btf, id);

	if (!type || depth == DEPTH_MAX)
		return hash;
	hash = hash_number(hash, btf_kind(type));
	switch (btf_kind(type)) {
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
		return hash_members(hash_number(hash, type->size), btf, type, depth + 1);
	case BTF_KIND_ARRAY:
		hash = hash_number(hash, btf_array(type)->nelems);
		return hash_type(hash, btf, btf_array(type)->type, depth + 1);
	case BTF_KIND_DATASEC:
		return hash_variables(hash, btf, type, depth + 1);
	case BTF_KIND_VAR:
		return hash_type(hash_name(hash, btf, type->name_off), btf, type->type, depth + 1);
	case BTF_KIND_TYPEDEF:
	case BTF_KIND_CONST:
	case BTF_KIND_VOLATILE:
		return hash_type(hash, btf, type->type, depth + 1);
	case BTF_KIND_INT:
		return hash_number(hash, type->size);
	default:
		return hash;
	}
}

u64 kept_layout(u64 hash, const struct btf *btf, const struct bpf_map *map)
{
	hash = hash_number(hash, bpf_map__type(map));
	hash = hash_number(hash, bpf_map__key_size(map));
	hash = hash_number(hash, bpf_map__value_size(map));
	hash = hash_number(hash, bpf_map__map_flags(map));
	return hash_type(hash, btf, bpf_map__btf_value_type_id(map), 0);
}

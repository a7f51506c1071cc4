// SPDX-License-Identifier: GPL-2.0
#include "kernel/inherited.h"

#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <string.h>

static const char *unreadable(const struct inherited_identity *before, const struct inherited_identity *own)
{
	if (before->records != own->records)
		return "the layout of the records";
	if (before->slots != own->slots || before->block_slots != own->block_slots)
		return "the number of slots";
	if (before->n_events != own->n_events || before->with_latency != own->with_latency ||
	    before->measured != own->measured)
		return "the events";
	if (before->cpus != own->cpus || before->stripes != own->stripes)
		return "the CPUs";
	if (before->hot_max != own->hot_max || before->hot_cpus != own->hot_cpus)
		return "the number of hot tables";
	return before->offcore_cpus != own->offcore_cpus ? "the counting of off-core responses" : NULL;
}

enum inherited inherited_decide(const struct inherited_identity *before, const struct inherited_identity *own)
{
	if (unreadable(before, own))
		return INHERITED_NOTHING;
	return before->settings == own->settings && before->programs == own->programs ? INHERITED_ALL
										      : INHERITED_MAPS;
}

const char *inherited_difference(const struct inherited_identity *before,
				 const struct inherited_identity *own)
{
	const char *difference = unreadable(before, own);

	if (difference)
		return difference;
	if (before->settings != own->settings)
		return "the settings of the programs";
	return before->programs != own->programs ? "the programs" : NULL;
}

u64 inherited_hash(u64 hash, const void *bytes, size_t n)
{
	for (size_t i = 0; i < n; i++)
		hash = (hash ^ ((const u8 *)bytes)[i]) * 0x100000001b3ULL;
	return hash;
}

/*
 * Maximum number of types that wait to be hashed. Records nest only a few levels deep. The section of the
 * variables has the most members; the types of members beyond the limit are not hashed, only their offsets.
 */
#define TYPES_MAX 1024

struct types {
	u32 ids[TYPES_MAX];
	size_t n;
};

static u64 hash_number(u64 hash, u64 number)
{
	return inherited_hash(hash, &number, sizeof(number));
}

static u64 hash_name(u64 hash, const struct btf *btf, u32 offset)
{
	const char *name = btf__name_by_offset(btf, offset);

	return name ? inherited_hash(hash, name, strlen(name) + 1) : hash;
}

static void types_add(struct types *types, u32 id)
{
	if (types->n < TYPES_MAX)
		types->ids[types->n++] = id;
}

static u64 hash_members(u64 hash, const struct btf *btf, const struct btf_type *type, struct types *types)
{
	const struct btf_member *members = btf_members(type);

	hash = hash_number(hash, type->size);
	for (u32 i = 0; i < btf_vlen(type); i++) {
		hash = hash_name(hash, btf, members[i].name_off);
		hash = hash_number(hash, members[i].offset);
		types_add(types, members[i].type);
	}
	return hash;
}

static u64 hash_variables(u64 hash, const struct btf_type *type, struct types *types)
{
	const struct btf_var_secinfo *variables = btf_var_secinfos(type);

	for (u32 i = 0; i < btf_vlen(type); i++) {
		hash = hash_number(hash, variables[i].offset);
		types_add(types, variables[i].type);
	}
	return hash;
}

/* Hashes the type itself, without the types that it consists of, and adds those to `types`. */
static u64 hash_type(u64 hash, const struct btf *btf, const struct btf_type *type, struct types *types)
{
	hash = hash_number(hash, btf_kind(type));
	switch (btf_kind(type)) {
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
		return hash_members(hash, btf, type, types);
	case BTF_KIND_ARRAY:
		types_add(types, btf_array(type)->type);
		return hash_number(hash, btf_array(type)->nelems);
	case BTF_KIND_DATASEC:
		return hash_variables(hash, type, types);
	case BTF_KIND_VAR:
		types_add(types, type->type);
		return hash_name(hash, btf, type->name_off);
	case BTF_KIND_TYPEDEF:
	case BTF_KIND_CONST:
	case BTF_KIND_VOLATILE:
		types_add(types, type->type);
		return hash;
	case BTF_KIND_INT:
		return hash_number(hash, type->size);
	default:
		return hash;
	}
}

static u64 hash_types(u64 hash, const struct btf *btf, u32 id)
{
	struct types types = {.n = 0};

	types_add(&types, id);
	/* A type contains itself only through a pointer, and pointers are not followed, so this ends. */
	while (types.n > 0) {
		const struct btf_type *type = btf__type_by_id(btf, types.ids[--types.n]);

		if (type)
			hash = hash_type(hash, btf, type, &types);
	}
	return hash;
}

u64 inherited_layout(u64 hash, const struct btf *btf, const struct bpf_map *map)
{
	hash = hash_number(hash, bpf_map__type(map));
	hash = hash_number(hash, bpf_map__key_size(map));
	hash = hash_number(hash, bpf_map__value_size(map));
	hash = hash_number(hash, bpf_map__map_flags(map));
	return hash_types(hash, btf, bpf_map__btf_value_type_id(map));
}

u64 inherited_layout_struct(u64 hash, const struct btf *btf, const char *name)
{
	int id = btf__find_by_name_kind(btf, name, BTF_KIND_STRUCT);

	return hash_types(hash_number(hash, id < 0), btf, id < 0 ? 0 : (u32)id);
}

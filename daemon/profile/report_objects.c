// SPDX-License-Identifier: GPL-2.0
/* The objects of a report: what the data addresses belong to. */
#include <errno.h>
#include <string.h>

#include "profile/report_internal.h"

enum symbol_region object_region(const struct profile *profile, u32 place)
{
	return place == NONE ? SYMBOL_UNKNOWN : (enum symbol_region)place_of(profile->table, place)->region;
}

static const struct frame *variable_of(const struct name_table *table, const struct place *place)
{
	return place->n ? frame_of(table, ((const u32 *)table->place_frames.list)[place->first]) : NULL;
}

static const char *path_of(const struct name_table *table, const struct place *place)
{
	return place->module == NONE ? NULL : string_of(table, module_of(table, place->module)->path);
}

/* Returns the name of memory that is not a named variable. */
static const char *plain_name(enum symbol_region region, const char *path)
{
	switch (region) {
	case SYMBOL_FILE:
		return path ? path : "[file]";
	case SYMBOL_SHARED:
		return path ? path : "[shared]";
	case SYMBOL_HEAP:
		return "[heap]";
	case SYMBOL_STACK:
		return "[stack]";
	case SYMBOL_ANONYMOUS:
		return path ? path : "[anon]";
	case SYMBOL_VDSO:
		return "[vdso]";
	case SYMBOL_JIT:
		return "[jit]";
	case SYMBOL_KERNEL:
		return "[kernel]";
	case SYMBOL_UNKNOWN:
	case SYMBOL_REGIONS:
		break;
	}
	return "[unknown]";
}

char *object_name(const struct profile *profile, u32 index, const u64 *offset)
{
	const struct name_table *table = profile->table;
	const struct place *place = index == NONE ? NULL : place_of(table, index);
	const struct frame *variable = place ? variable_of(table, place) : NULL;
	const char *path = place ? path_of(table, place) : NULL;
	enum symbol_region region = object_region(profile, index);
	char shift[24] = "";
	char *text;
	int r;

	/* An offset would disclose kernel addresses. */
	if (offset && region != SYMBOL_KERNEL && region != SYMBOL_UNKNOWN)
		(void)snprintf(shift, sizeof(shift), "+0x%llx", (unsigned long long)*offset);
	if (variable && region == SYMBOL_KERNEL && (!path || strcmp(path, "[kernel]") == 0))
		r = asprintf(&text, "[kernel] %s", string_of(table, variable->name));
	else if (variable && path)
		r = asprintf(&text, "%s%s (in %s)", string_of(table, variable->name), shift, path);
	else if (variable)
		r = asprintf(&text, "%s%s", string_of(table, variable->name), shift);
	else if (region == SYMBOL_ANONYMOUS && path)
		r = asprintf(&text, "[anon:%s]%s", path, shift);
	else
		r = asprintf(&text, "%s%s", plain_name(region, path), shift);
	return r < 0 ? NULL : text;
}

/* Data with the same key is one object. */
struct key {
	u32 region, name, path;
};

struct sums {
	struct key key;
	u32 place; /* any place of the object */
	u64 samples, latency, hitm;
	u64 sources[SOURCE_SLOTS];
	char *text;
};

static struct key key_of(const struct profile *profile, u32 index)
{
	const struct name_table *table = profile->table;
	const struct place *place = index == NONE ? NULL : place_of(table, index);
	const struct frame *variable = place ? variable_of(table, place) : NULL;
	enum symbol_region region = object_region(profile, index);
	bool has_path =
		variable || region == SYMBOL_FILE || region == SYMBOL_SHARED || region == SYMBOL_ANONYMOUS;

	return (struct key){.region = region,
			    .name = variable ? variable->name : NONE,
			    .path = place && has_path && place->module != NONE
					    ? module_of(table, place->module)->path
					    : NONE};
}

struct item {
	struct key key;
	u32 access;
};

static int compare_keys(const struct key *a, const struct key *b)
{
	if (a->region != b->region)
		return compare_numbers(a->region, b->region);
	if (a->name != b->name)
		return compare_numbers(a->name, b->name);
	return compare_numbers(a->path, b->path);
}

static int by_key(const void *a, const void *b)
{
	return compare_keys(&((const struct item *)a)->key, &((const struct item *)b)->key);
}

/* Makes one sum for each key. `ret` has room for all keys. */
static size_t sum_items(const struct profile *profile, const struct item *items, size_t n, struct sums *ret)
{
	size_t n_sums = 0;

	for (size_t i = 0; i < n; i++) {
		const struct access *access = access_of(profile, items[i].access);
		struct sums *sums;

		if (i == 0 || by_key(&items[i - 1], &items[i]) != 0)
			ret[n_sums++] = (struct sums){.key = items[i].key, .place = access->data_place};
		sums = &ret[n_sums - 1];
		sums->samples += access->samples;
		sums->latency += access->latency;
		sums->hitm += access->hitm ? access->samples : 0;
		sums->sources[access->source] += access->samples;
	}
	return n_sums;
}

static int by_cost(const void *a, const void *b)
{
	const struct sums *one = a, *other = b;
	int c = compare_numbers(other->latency, one->latency);

	if (c == 0)
		c = compare_numbers(other->samples, one->samples);
	if (c == 0)
		c = compare_texts(one->text, other->text);
	return c ? c : compare_numbers(one->key.region, other->key.region);
}

static int write_objects(struct sums *sums, size_t n, struct profile_report *ret)
{
	ret->objects = calloc(n ? n : 1, sizeof(*ret->objects));
	if (!ret->objects)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		struct report_object *object = &ret->objects[ret->n_objects++];

		*object = (struct report_object){.name = TAKE_PTR(sums[i].text),
						 .region = (enum symbol_region)sums[i].key.region,
						 .samples = sums[i].samples,
						 .latency = sums[i].latency,
						 .hitm = sums[i].hitm};
		memcpy(object->sources, sums[i].sources, sizeof(object->sources));
	}
	return 0;
}

int report_objects(const struct profile *profile, size_t limit, struct profile_report *ret)
{
	size_t n = profile->accesses.n, n_items = 0, n_sums;
	_cleanup_free_ struct item *items = calloc(n ? n : 1, sizeof(*items));
	_cleanup_free_ struct sums *sums = NULL;
	size_t n_keys = 0;
	int r = 0;

	if (!items)
		return -ENOMEM;
	for (u32 i = 0; i < n; i++)
		if (access_of(profile, i)->samples)
			items[n_items++] =
				(struct item){key_of(profile, access_of(profile, i)->data_place), i};
	qsort(items, n_items, sizeof(*items), by_key);
	for (size_t i = 0; i < n_items; i++)
		n_keys += i == 0 || by_key(&items[i - 1], &items[i]) != 0;
	sums = calloc(n_keys ? n_keys : 1, sizeof(*sums));
	if (!sums)
		return -ENOMEM;
	n_sums = sum_items(profile, items, n_items, sums);
	for (size_t i = 0; i < n_sums && r == 0; i++) {
		sums[i].text = object_name(profile, sums[i].place, NULL);
		r = sums[i].text ? 0 : -ENOMEM;
	}
	if (r == 0) {
		qsort(sums, n_sums, sizeof(*sums), by_cost);
		r = write_objects(sums, n_sums < limit ? n_sums : limit, ret);
	}
	for (size_t i = 0; i < n_sums; i++)
		free(sums[i].text);
	return r;
}

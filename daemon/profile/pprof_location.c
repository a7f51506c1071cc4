// SPDX-License-Identifier: GPL-2.0
/* Where a frame is: locations, functions, mappings and strings of a pprof profile, each once. */
#include <errno.h>
#include <string.h>

#include "base/utf8.h"
#include "profile/pprof_parts.h"

#define PAGE 4096U

int pprof_append(struct pprof *pprof, struct growing *array, void *message)
{
	if (growing_reserve(array, sizeof(void *), 1, &pprof->budget) < 0)
		return -ENOMEM;
	((void **)array->list)[array->n++] = message;
	return 0;
}

/* Not looked for among those that are there. Protobuf has valid UTF-8 alone. */
int pprof_string(struct pprof *pprof, const char *text, s64 *ret)
{
	_cleanup_free_ char *shown = NULL;
	char *copy;

	if (utf8_show(text, &shown) < 0)
		return -ENOMEM;
	copy = arena_take(&pprof->arena, strlen(shown) + 1);
	if (!copy)
		return -ENOMEM;
	memcpy(copy, shown, strlen(shown) + 1);
	*ret = (s64)pprof->strings.n;
	return pprof_append(pprof, &pprof->strings, copy);
}

int pprof_book_string(struct pprof *pprof, u32 string, s64 *ret)
{
	int r;

	if (string == NONE) {
		*ret = 0;
		return 0;
	}
	*ret = pprof->string_of_book[string];
	if (*ret)
		return 0;
	r = pprof_string(pprof, string_of(pprof->profile->book, string), ret);
	pprof->string_of_book[string] = r < 0 ? 0 : (u32)*ret;
	return r;
}

struct function_wanted {
	const struct pprof *pprof;
	const struct frame *frame;
};

static bool same_function(const void *userdata, u32 i)
{
	const struct function_wanted *wanted = userdata;
	const struct frame *one =
		frame_of(wanted->pprof->profile->book, ((const u32 *)wanted->pprof->function_frames.list)[i]);

	return one->name == wanted->frame->name && one->module == wanted->frame->module &&
	       one->file == wanted->frame->file;
}

static int function_of(struct pprof *pprof, u32 i, u64 *ret_id)
{
	const struct frame *frame = frame_of(pprof->profile->book, i);
	struct function_wanted wanted = {pprof, frame};
	u64 words[2] = {frame->name | (u64)frame->module << 32, frame->file};
	u64 hash = keyed_hash_words(&pprof->key, words, ARRAY_SIZE(words));
	u32 found = hash_index_find(&pprof->function_index, hash, same_function, &wanted);
	Pebsd__Pprof__Function *function;

	if (found == NONE) {
		function = arena_take(&pprof->arena, sizeof(*function));
		if (!function ||
		    growing_reserve(&pprof->function_frames, sizeof(u32), 1, &pprof->budget) < 0 ||
		    hash_index_reserve(&pprof->function_index, &pprof->budget) < 0)
			return -ENOMEM;
		pebsd__pprof__function__init(function);
		found = (u32)pprof->functions.n;
		function->id = found + 1;
		if (pprof_book_string(pprof, frame->name, &function->name) < 0 ||
		    pprof_book_string(pprof, frame->file, &function->filename) < 0 ||
		    pprof_append(pprof, &pprof->functions, function) < 0)
			return -ENOMEM;
		function->system_name = function->name;
		((u32 *)pprof->function_frames.list)[pprof->function_frames.n++] = i;
		hash_index_add(&pprof->function_index, hash, found);
	}
	*ret_id = found + 1;
	return 0;
}

static int build_id_of(struct pprof *pprof, const struct module *module, s64 *ret)
{
	char text[2 * SYMBOL_BUILD_ID_MAX + 1] = "";

	*ret = 0;
	for (size_t i = 0; i < module->build_id_size; i++)
		(void)snprintf(text + 2 * i, 3, "%02x", module->build_id[i]);
	return *text ? pprof_string(pprof, text, ret) : 0;
}

/* Addresses are those of the module: it begins at 0. That its functions have names is said of each, so that
 * no reader looks for other ones. */
static int mapping_of(struct pprof *pprof, u32 i, u64 address, u64 *ret_id)
{
	const struct module *module = module_of(pprof->profile->book, i);
	u64 limit = (address / PAGE + 1) * PAGE;
	Pebsd__Pprof__Mapping *mapping;

	if (!pprof->mapping_of_module[i]) {
		mapping = arena_take(&pprof->arena, sizeof(*mapping));
		if (!mapping)
			return -ENOMEM;
		pebsd__pprof__mapping__init(mapping);
		mapping->id = pprof->mappings.n + 1;
		mapping->has_functions = true;
		mapping->has_filenames = true;
		mapping->has_line_numbers = true;
		mapping->has_inline_frames = true;
		if (pprof_book_string(pprof, module->path, &mapping->filename) < 0 ||
		    build_id_of(pprof, module, &mapping->build_id) < 0 ||
		    pprof_append(pprof, &pprof->mappings, mapping) < 0)
			return -ENOMEM;
		pprof->mapping_of_module[i] = (u32)mapping->id;
	}
	*ret_id = pprof->mapping_of_module[i];
	mapping = ((Pebsd__Pprof__Mapping **)pprof->mappings.list)[*ret_id - 1];
	if (limit > mapping->memory_limit)
		mapping->memory_limit = limit;
	return 0;
}

struct location_wanted {
	const struct pprof *pprof;
	struct pprof_location location;
};

static bool same_location(const void *userdata, u32 i)
{
	const struct location_wanted *wanted = userdata;
	const struct pprof_location *one =
		&((const struct pprof_location *)wanted->pprof->location_keys.list)[i];
	const struct pprof_location *other = &wanted->location;

	return one->module == other->module && one->address == other->address && one->n == other->n &&
	       memcmp(one->frames, other->frames, one->n * sizeof(*one->frames)) == 0;
}

static int add_lines(struct pprof *pprof, const u32 *frames, size_t n, Pebsd__Pprof__Location *location)
{
	Pebsd__Pprof__Line *lines = arena_take(&pprof->arena, n * sizeof(*lines));

	location->line = arena_take(&pprof->arena, n * sizeof(Pebsd__Pprof__Line *));
	if (!lines || !location->line)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		pebsd__pprof__line__init(&lines[i]);
		lines[i].line = frame_of(pprof->profile->book, frames[i])->line;
		if (function_of(pprof, frames[i], &lines[i].function_id) < 0)
			return -ENOMEM;
		location->line[location->n_line++] = &lines[i];
	}
	return 0;
}

static int add_location(struct pprof *pprof, const struct pprof_location *key, u64 hash)
{
	Pebsd__Pprof__Location *location = arena_take(&pprof->arena, sizeof(*location));

	if (!location || growing_reserve(&pprof->location_keys, sizeof(*key), 1, &pprof->budget) < 0 ||
	    hash_index_reserve(&pprof->location_index, &pprof->budget) < 0)
		return -ENOMEM;
	pebsd__pprof__location__init(location);
	location->id = pprof->locations.n + 1;
	location->address = key->address;
	if ((key->module != NONE &&
	     mapping_of(pprof, key->module, key->address, &location->mapping_id) < 0) ||
	    add_lines(pprof, key->frames, key->n, location) < 0 ||
	    pprof_append(pprof, &pprof->locations, location) < 0)
		return -ENOMEM;
	((struct pprof_location *)pprof->location_keys.list)[pprof->location_keys.n++] = *key;
	hash_index_add(&pprof->location_index, hash, (u32)location->id - 1);
	return 0;
}

/* Addresses are the module's own or none: no process' and not the kernel's. */
int pprof_location(struct pprof *pprof, const struct node *node, const u32 *frames, size_t n, u64 *ret_id)
{
	struct location_wanted wanted = {pprof, {.module = NONE, .frames = frames, .n = n}};
	bool one_of_kernel = node && node->kernel && !pprof->about->kernel_names;
	const struct place *place = node && node->place != NONE && !one_of_kernel
					    ? place_of(pprof->profile->book, node->place)
					    : NULL;
	u64 words[4];
	u64 hash;
	u32 found;

	if (place && place->n) {
		wanted.location.module = place->module;
		wanted.location.address =
			place->module == NONE || place->region == SYMBOL_KERNEL ? 0 : place->at;
	}
	words[0] = wanted.location.address;
	words[1] = wanted.location.module;
	words[2] = frames[0];
	words[3] = n;
	hash = keyed_hash_words(&pprof->key, words, ARRAY_SIZE(words));
	found = hash_index_find(&pprof->location_index, hash, same_location, &wanted);
	if (found == NONE) {
		found = (u32)pprof->locations.n;
		if (add_location(pprof, &wanted.location, hash) < 0)
			return -ENOMEM;
	}
	*ret_id = found + 1;
	return 0;
}

// SPDX-License-Identifier: GPL-2.0
#include "profile/pprof.h"

#define ZLIB_CONST /* makes next_in a pointer to const */
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <string.h>
#include <zlib.h>

#include "base/arena.h"
#include "base/utf8.h"
#include "pprof.pb-c.h"
#include "profile/profile_walk.h"
#include "profile/report_internal.h"

/* The key of a location. */
struct pprof_location {
	u32 module; /* NONE: no module */
	u64 address;
	const u32 *frames;
	size_t n;
};

struct pprof {
	const struct profile *profile;
	const struct profile_about *about;
	struct arena arena;
	struct budget budget; /* unlimited: the size of the profile bounds the allocations */
	struct siphash_key key;
	struct growing strings;   /* char * */
	u32 *location_of_node;    /* by node: its location, 0: not added yet */
	u32 *string_number;       /* by string of the table of names: its number here, 0: not added yet */
	struct growing functions; /* Pebsd__Pprof__Function * */
	struct growing function_frames; /* u32: one frame of each function */
	struct hash_index function_index;
	struct growing locations;     /* Pebsd__Pprof__Location * */
	struct growing location_keys; /* struct pprof_location */
	struct hash_index location_index;
	struct growing mappings;             /* Pebsd__Pprof__Mapping * */
	u32 *mapping_of_module;              /* by module: its number here, from 1 on; 0: not added yet */
	struct growing samples;              /* Pebsd__Pprof__Sample * */
	Pebsd__Pprof__Label **thread_labels; /* by string of the table of names */
	Pebsd__Pprof__Label *source_labels[SOURCE_SLOTS];
};

#define PAGE 4096U

static int append(struct pprof *pprof, struct growing *array, void *message)
{
	if (growing_reserve(array, sizeof(void *), 1, &pprof->budget) < 0)
		return -ENOMEM;
	((void **)array->list)[array->n++] = message;
	return 0;
}

/* Adds a string without a search for an equal one. Replaces invalid UTF-8, which protobuf does not allow. */
static int add_string(struct pprof *pprof, const char *text, s64 *ret)
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
	return append(pprof, &pprof->strings, copy);
}

static int add_table_string(struct pprof *pprof, u32 string, s64 *ret)
{
	int r;

	if (string == NONE) {
		*ret = 0;
		return 0;
	}
	*ret = pprof->string_number[string];
	if (*ret)
		return 0;
	r = add_string(pprof, string_of(pprof->profile->table, string), ret);
	pprof->string_number[string] = r < 0 ? 0 : (u32)*ret;
	return r;
}

struct function_wanted {
	const struct pprof *pprof;
	const struct frame *frame;
};

static bool same_function(const void *userdata, u32 i)
{
	const struct function_wanted *wanted = userdata;
	const struct frame *one = frame_of(wanted->pprof->profile->table,
					   ((const u32 *)wanted->pprof->function_frames.list)[i]);

	return one->name == wanted->frame->name && one->module == wanted->frame->module &&
	       one->file == wanted->frame->file;
}

static int function_of(struct pprof *pprof, u32 i, u64 *ret_id)
{
	const struct frame *frame = frame_of(pprof->profile->table, i);
	struct function_wanted wanted = {pprof, frame};
	u64 words[2] = {frame->name | (u64)frame->module << 32, frame->file};
	u64 hash = siphash_words(&pprof->key, words, ARRAY_SIZE(words));
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
		if (add_table_string(pprof, frame->name, &function->name) < 0 ||
		    add_table_string(pprof, frame->file, &function->filename) < 0 ||
		    append(pprof, &pprof->functions, function) < 0)
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
	return *text ? add_string(pprof, text, ret) : 0;
}

/*
 * Adds the module as a mapping that begins at 0, since addresses are relative to the module. Declares that
 * all names and lines are present, so that pprof does not look for symbols itself.
 */
static int mapping_of(struct pprof *pprof, u32 i, u64 address, u64 *ret_id)
{
	const struct module *module = module_of(pprof->profile->table, i);
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
		if (add_table_string(pprof, module->path, &mapping->filename) < 0 ||
		    build_id_of(pprof, module, &mapping->build_id) < 0 ||
		    append(pprof, &pprof->mappings, mapping) < 0)
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
		lines[i].line = frame_of(pprof->profile->table, frames[i])->line;
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
	    append(pprof, &pprof->locations, location) < 0)
		return -ENOMEM;
	((struct pprof_location *)pprof->location_keys.list)[pprof->location_keys.n++] = *key;
	hash_index_add(&pprof->location_index, hash, (u32)location->id - 1);
	return 0;
}

/*
 * Finds or adds the location of a node. Its address is relative to the module or 0. Addresses of processes or
 * of the kernel are not disclosed.
 */
static int find_location(struct pprof *pprof, const struct node *node, const u32 *frames, size_t n,
			 u64 *ret_id)
{
	struct location_wanted wanted = {pprof, {.module = NONE, .frames = frames, .n = n}};
	bool one_of_kernel = node && node->kernel && !pprof->about->kernel_names;
	const struct place *place = node && node->place != NONE && !one_of_kernel
					    ? place_of(pprof->profile->table, node->place)
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
	hash = siphash_words(&pprof->key, words, ARRAY_SIZE(words));
	found = hash_index_find(&pprof->location_index, hash, same_location, &wanted);
	if (found == NONE) {
		found = (u32)pprof->locations.n;
		if (add_location(pprof, &wanted.location, hash) < 0)
			return -ENOMEM;
	}
	*ret_id = found + 1;
	return 0;
}

#define DATA_SOURCE_WORD(name, word) [SOURCE_##name] = (word),
static const char *const source_words[SOURCE_SLOTS] = {SOURCES(DATA_SOURCE_WORD)};

static Pebsd__Pprof__Label *label_new(struct pprof *pprof, s64 key, s64 text)
{
	Pebsd__Pprof__Label *label = arena_take(&pprof->arena, sizeof(*label));

	if (label) {
		pebsd__pprof__label__init(label);
		label->key = key;
		label->str = text;
	}
	return label;
}

/* Numbers of the fixed strings, in the order of first_texts. */
enum { TEXT_NONE, TEXT_SAMPLES, TEXT_COUNT, TEXT_LATENCY, TEXT_CYCLES, TEXT_THREAD, TEXT_SOURCE };
static const char *const first_texts[] = {"", "samples", "count", "latency", "cycles", "thread", "source"};

static int begin(struct pprof *pprof)
{
	const struct name_table *table = pprof->profile->table;
	s64 ignored;

	pprof->budget.max = (u64)-1;
	pprof->key = siphash_key_new();
	pprof->string_number = arena_take(&pprof->arena, table->strings.n * sizeof(u32));
	pprof->location_of_node = arena_take(&pprof->arena, (pprof->profile->nodes.n + 1) * sizeof(u32));
	pprof->mapping_of_module = arena_take(&pprof->arena, (table->modules.n + 1) * sizeof(u32));
	pprof->thread_labels = arena_take(&pprof->arena, table->strings.n * sizeof(*pprof->thread_labels));
	if (!pprof->location_of_node || !pprof->string_number || !pprof->mapping_of_module ||
	    !pprof->thread_labels)
		return -ENOMEM;
	for (size_t i = 0; i < ARRAY_SIZE(first_texts); i++)
		if (add_string(pprof, first_texts[i], &ignored) < 0)
			return -ENOMEM;
	return 0;
}

static int thread_label(struct pprof *pprof, const struct cell *cell, Pebsd__Pprof__Label **ret)
{
	u32 string = cell->thread;
	s64 text;

	*ret = NULL;
	if (string == NONE)
		return 0;
	if (!pprof->thread_labels[string]) {
		if (add_table_string(pprof, string, &text) < 0)
			return -ENOMEM;
		pprof->thread_labels[string] = label_new(pprof, TEXT_THREAD, text);
	}
	*ret = pprof->thread_labels[string];
	return *ret ? 0 : -ENOMEM;
}

static int source_label(struct pprof *pprof, const struct cell *cell, Pebsd__Pprof__Label **ret)
{
	s64 text;

	if (!pprof->source_labels[cell->source]) {
		if (add_string(pprof, source_words[cell->source], &text) < 0)
			return -ENOMEM;
		pprof->source_labels[cell->source] = label_new(pprof, TEXT_SOURCE, text);
	}
	*ret = pprof->source_labels[cell->source];
	return *ret ? 0 : -ENOMEM;
}

static int add_labels(struct pprof *pprof, const struct cell *cell, Pebsd__Pprof__Sample *sample)
{
	Pebsd__Pprof__Label *label;

	sample->label = arena_take(&pprof->arena, 2 * sizeof(Pebsd__Pprof__Label *));
	if (!sample->label || thread_label(pprof, cell, &label) < 0)
		return -ENOMEM;
	if (label)
		sample->label[sample->n_label++] = label;
	if (source_label(pprof, cell, &label) < 0)
		return -ENOMEM;
	sample->label[sample->n_label++] = label;
	return 0;
}

/* Caches the location of each node, since most nodes are in many stacks. */
static int location_of(struct pprof *pprof, const struct node *node, const u32 *frames, size_t n, u64 *ret_id)
{
	u32 *known = node ? &pprof->location_of_node[node - node_of(pprof->profile, 0)] : NULL;
	int r;

	if (known && *known) {
		*ret_id = *known;
		return 0;
	}
	r = find_location(pprof, node, frames, n, ret_id);
	if (r == 0 && known)
		*known = (u32)*ret_id;
	return r;
}

static int add_locations(struct pprof *pprof, const struct cell *cell, struct growing *ids,
			 Pebsd__Pprof__Sample *sample)
{
	struct walk walk = walk_begin(pprof->profile, cell->node, pprof->about->kernel_names);
	const struct node *node;
	const u32 *frames;
	size_t n;

	ids->n = 0;
	while (walk_next(&walk, &node, &frames, &n)) {
		u64 id;

		if (location_of(pprof, node, frames, n, &id) < 0 ||
		    growing_reserve(ids, sizeof(u64), 1, &pprof->budget) < 0)
			return -ENOMEM;
		((u64 *)ids->list)[ids->n++] = id;
	}
	sample->location_id = arena_take(&pprof->arena, ids->n * sizeof(u64));
	if (!sample->location_id)
		return -ENOMEM;
	memcpy(sample->location_id, ids->list, ids->n * sizeof(u64));
	sample->n_location_id = ids->n;
	return 0;
}

static int add_sample(struct pprof *pprof, const struct cell *cell, struct growing *ids)
{
	Pebsd__Pprof__Sample *sample = arena_take(&pprof->arena, sizeof(*sample));

	if (!sample)
		return -ENOMEM;
	pebsd__pprof__sample__init(sample);
	sample->value = arena_take(&pprof->arena, 2 * sizeof(s64));
	if (!sample->value || add_locations(pprof, cell, ids, sample) < 0 ||
	    add_labels(pprof, cell, sample) < 0)
		return -ENOMEM;
	sample->value[sample->n_value++] = (s64)cell->samples;
	if (pprof->profile->has_latency)
		sample->value[sample->n_value++] = (s64)cell->latency;
	return append(pprof, &pprof->samples, sample);
}

static int add_samples(struct pprof *pprof)
{
	_cleanup_free_ struct cell *cells = NULL;
	struct growing ids = {0};
	size_t n = 0;
	int r = walk_cells(pprof->profile, &cells, &n);

	for (size_t i = 0; i < n && r == 0; i++)
		r = add_sample(pprof, &cells[i], &ids);
	free(ids.list);
	return r;
}

static __attribute__((format(printf, 3, 4))) int add_comment(struct pprof *pprof, struct growing *comments,
							     const char *format, ...)
{
	_cleanup_free_ char *text = NULL;
	va_list arguments;
	s64 number;
	int r;

	va_start(arguments, format);
	r = vasprintf(&text, format, arguments);
	va_end(arguments);
	if (r < 0) {
		text = NULL;
		return -ENOMEM;
	}
	if (add_string(pprof, text, &number) < 0 ||
	    growing_reserve(comments, sizeof(s64), 1, &pprof->budget) < 0)
		return -ENOMEM;
	((s64 *)comments->list)[comments->n++] = number;
	return 0;
}

static int add_comments(struct pprof *pprof, struct growing *comments)
{
	const struct profile_about *about = pprof->about;
	struct profile_totals totals;
	int r = 0;

	profile_totals(pprof->profile, &totals);
	if (about->cgroup)
		r = add_comment(pprof, comments, "cgroup: %s", about->cgroup);
	if (r == 0 && about->origin)
		r = add_comment(pprof, comments, "origin: %s", about->origin);
	if (r == 0 && about->event)
		r = add_comment(pprof, comments, "event: %s", about->event);
	if (r == 0 && totals.user_stacks)
		r = add_comment(pprof, comments, "user stacks that end early: %llu of %llu",
				(unsigned long long)totals.early, (unsigned long long)totals.user_stacks);
	if (r == 0 && totals.dropped)
		r = add_comment(pprof, comments,
				"samples not in the profile, for lack of memory: %llu of %llu",
				(unsigned long long)totals.dropped, (unsigned long long)totals.samples);
	for (const char *const *line = about->comments; r == 0 && line && *line; line++)
		r = add_comment(pprof, comments, "%s", *line);
	return r;
}

static int gzip(const u8 *bytes, size_t size, u8 **ret, size_t *ret_size)
{
	z_stream stream = {0};
	_cleanup_free_ u8 *packed = NULL;
	size_t room;

	/* deflate() takes and returns at most UINT_MAX bytes at once. */
	if (size > UINT_MAX / 2)
		return -E2BIG;
	/* 16 adds a gzip header and trailer. The header contains no time. */
	if (deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, MAX_WBITS + 16, MAX_MEM_LEVEL,
			 Z_DEFAULT_STRATEGY) != Z_OK)
		return -ENOMEM;
	room = deflateBound(&stream, size);
	packed = malloc(room);
	if (packed) {
		stream.next_in = bytes;
		stream.avail_in = (uInt)size;
		stream.next_out = packed;
		stream.avail_out = (uInt)room;
		if (deflate(&stream, Z_FINISH) == Z_STREAM_END) {
			*ret = TAKE_PTR(packed);
			*ret_size = stream.total_out;
			(void)deflateEnd(&stream);
			return 0;
		}
	}
	(void)deflateEnd(&stream);
	return -ENOMEM;
}

static int pack(const struct pprof *pprof, const struct growing *comments, s64 event, u8 **ret,
		size_t *ret_size)
{
	Pebsd__Pprof__ValueType samples = PEBSD__PPROF__VALUE_TYPE__INIT, latency = samples, period = samples;
	Pebsd__Pprof__ValueType *types[] = {&samples, &latency};
	Pebsd__Pprof__Profile message = PEBSD__PPROF__PROFILE__INIT;
	bool has_latency = pprof->profile->has_latency;
	_cleanup_free_ u8 *bytes = NULL;
	size_t size;

	samples.type = TEXT_SAMPLES;
	samples.unit = TEXT_COUNT;
	latency.type = TEXT_LATENCY;
	latency.unit = TEXT_CYCLES;
	period.type = event;
	period.unit = TEXT_COUNT;
	message.sample_type = types;
	message.n_sample_type = has_latency ? 2 : 1;
	message.default_sample_type = has_latency ? TEXT_LATENCY : TEXT_SAMPLES;
	message.sample = pprof->samples.list;
	message.n_sample = pprof->samples.n;
	message.mapping = pprof->mappings.list;
	message.n_mapping = pprof->mappings.n;
	message.location = pprof->locations.list;
	message.n_location = pprof->locations.n;
	message.function = pprof->functions.list;
	message.n_function = pprof->functions.n;
	message.string_table = pprof->strings.list;
	message.n_string_table = pprof->strings.n;
	message.comment = comments->list;
	message.n_comment = comments->n;
	message.time_nanos = (s64)pprof->about->began_real_ns;
	message.duration_nanos = (s64)pprof->about->duration_ns;
	if (pprof->about->period && event) {
		message.period_type = &period;
		message.period = (s64)pprof->about->period;
	}
	size = pebsd__pprof__profile__get_packed_size(&message);
	bytes = malloc(size ? size : 1);
	if (!bytes)
		return -ENOMEM;
	(void)pebsd__pprof__profile__pack(&message, bytes);
	return gzip(bytes, size, ret, ret_size);
}

int pprof_write(const struct profile *profile, const struct profile_names *names,
		const struct profile_about *about, u8 **ret, size_t *ret_size)
{
	struct pprof pprof = {.profile = profile, .about = about};
	struct growing comments = {0};
	s64 event = 0;
	int r;

	(void)profile_resolve_const(profile, names);
	r = begin(&pprof);
	if (r == 0)
		r = add_samples(&pprof);
	if (r == 0)
		r = add_comments(&pprof, &comments);
	if (r == 0 && about->event)
		r = add_string(&pprof, about->event, &event);
	if (r == 0)
		r = pack(&pprof, &comments, event, ret, ret_size);
	free(comments.list);
	free(pprof.strings.list);
	free(pprof.functions.list);
	free(pprof.function_frames.list);
	free(pprof.function_index.slots);
	free(pprof.locations.list);
	free(pprof.location_keys.list);
	free(pprof.location_index.slots);
	free(pprof.mappings.list);
	free(pprof.samples.list);
	arena_done(&pprof.arena);
	return r;
}

// SPDX-License-Identifier: GPL-2.0
/* The names of a profile's addresses. Each distinct string, module and frame is stored once. */
#include <errno.h>
#include <string.h>

#include "profile/profile_internal.h"
#include "profile/profile_stacks.h"

struct string_wanted {
	const struct name_table *table;
	const char *text;
};

static bool same_string(const void *userdata, u32 i)
{
	const struct string_wanted *wanted = userdata;

	return strcmp(string_of(wanted->table, i), wanted->text) == 0;
}

int name_table_string(struct name_table *table, const char *text, u32 *ret)
{
	struct string_wanted wanted = {table, text};
	size_t size = strlen(text) + 1;
	u64 hash = siphash_bytes(&table->key, text, size - 1);
	int r;

	*ret = hash_index_find(&table->string_index, hash, same_string, &wanted);
	if (*ret != NONE)
		return 0;
	r = growing_reserve(&table->characters, 1, size, &table->budget);
	if (r == 0)
		r = growing_reserve(&table->strings, sizeof(u32), 1, &table->budget);
	if (r == 0)
		r = hash_index_reserve(&table->string_index, &table->budget);
	if (r < 0)
		return r;
	*ret = (u32)table->strings.n++;
	((u32 *)table->strings.list)[*ret] = (u32)table->characters.n;
	memcpy((char *)table->characters.list + table->characters.n, text, size);
	table->characters.n += size;
	hash_index_add(&table->string_index, hash, *ret);
	return 0;
}

/* Accepts NULL, which becomes NONE. */
static int string_or_none(struct name_table *table, const char *text, u32 *ret)
{
	*ret = NONE;
	return text ? name_table_string(table, text, ret) : 0;
}

struct module_wanted {
	const struct name_table *table;
	struct module module;
};

static bool same_module(const void *userdata, u32 i)
{
	const struct module_wanted *wanted = userdata;
	const struct module *module = module_of(wanted->table, i);

	return module->path == wanted->module.path && module->build_id_size == wanted->module.build_id_size &&
	       memcmp(module->build_id, wanted->module.build_id, sizeof(module->build_id)) == 0;
}

static int enter_module(struct name_table *table, const struct symbol *symbol, const char *path, u32 *ret)
{
	struct module_wanted wanted = {.table = table};
	u64 hash;
	int r;

	*ret = NONE;
	if (!path)
		return 0;
	r = name_table_string(table, path, &wanted.module.path);
	if (r < 0)
		return r;
	if (symbol->build_id_size <= SYMBOL_BUILD_ID_MAX) {
		wanted.module.build_id_size = symbol->build_id_size;
		memcpy(wanted.module.build_id, symbol->build_id, symbol->build_id_size);
	}
	hash = siphash_bytes(&table->key, &wanted.module, sizeof(wanted.module));
	*ret = hash_index_find(&table->module_index, hash, same_module, &wanted);
	if (*ret != NONE)
		return 0;
	r = growing_reserve(&table->modules, sizeof(struct module), 1, &table->budget);
	if (r == 0)
		r = hash_index_reserve(&table->module_index, &table->budget);
	if (r < 0)
		return r;
	*ret = (u32)table->modules.n++;
	*module_of(table, *ret) = wanted.module;
	hash_index_add(&table->module_index, hash, *ret);
	return 0;
}

struct frame_wanted {
	const struct name_table *table;
	struct frame frame;
};

static bool same_frame(const void *userdata, u32 i)
{
	const struct frame_wanted *wanted = userdata;
	const struct frame *one = frame_of(wanted->table, i), *other = &wanted->frame;

	return one->name == other->name && one->module == other->module && one->file == other->file &&
	       one->line == other->line && one->unnamed == other->unnamed;
}

static int enter_frame(struct name_table *table, const struct frame *frame, u32 *ret)
{
	struct frame_wanted wanted = {table, *frame};
	u64 words[3] = {frame->name | (u64)frame->module << 32, frame->file | (u64)frame->line << 32,
			frame->unnamed};
	u64 hash = siphash_words(&table->key, words, ARRAY_SIZE(words));
	int r;

	*ret = hash_index_find(&table->frame_index, hash, same_frame, &wanted);
	if (*ret != NONE)
		return 0;
	r = growing_reserve(&table->frames, sizeof(struct frame), 1, &table->budget);
	if (r == 0)
		r = hash_index_reserve(&table->frame_index, &table->budget);
	if (r < 0)
		return r;
	*ret = (u32)table->frames.n++;
	*frame_of(table, *ret) = *frame;
	hash_index_add(&table->frame_index, hash, *ret);
	return 0;
}

int name_table_new(struct name_table **ret)
{
	static const char *const fixed[FRAMES_FIXED] = {
		[FRAME_UNKNOWN] = "[unknown]", [FRAME_KERNEL] = "[kernel]"};
	struct name_table *table = calloc(1, sizeof(*table));

	if (!table)
		return -ENOMEM;
	table->budget.max = PROFILE_NAMES_BYTES_MAX;
	table->key = siphash_key_new();
	for (u32 i = 0; i < FRAMES_FIXED; i++) {
		struct frame frame = {.module = NONE, .file = NONE, .unnamed = true};
		u32 entered;

		if (name_table_string(table, fixed[i], &frame.name) < 0 ||
		    enter_frame(table, &frame, &entered) < 0) {
			name_table_free(table);
			return -ENOMEM;
		}
	}
	*ret = table;
	return 0;
}

struct name_table *name_table_free(struct name_table *table)
{
	if (!table)
		return NULL;
	free(table->characters.list);
	free(table->strings.list);
	free(table->string_index.slots);
	free(table->modules.list);
	free(table->module_index.slots);
	free(table->frames.list);
	free(table->frame_index.slots);
	free(table->place_frames.list);
	free(table->places.list);
	free(table->place_index.slots);
	free(table->open.list);
	free(table->ranges.list);
	free(table);
	return NULL;
}

u64 name_table_bytes(const struct name_table *table)
{
	return sizeof(*table) + table->budget.used;
}

struct place_wanted {
	const struct name_table *table;
	u64 address;
	u32 pid;
	u8 kind;
};

static bool same_place(const void *userdata, u32 i)
{
	const struct place_wanted *wanted = userdata;
	const struct place *place = place_of(wanted->table, i);

	return place->address == wanted->address && place->pid == wanted->pid && place->kind == wanted->kind;
}

int name_table_place(struct name_table *table, u32 pid, u64 address, enum symbol_kind kind, u32 *ret)
{
	struct place_wanted wanted = {table, address, pid, (u8)kind};
	u64 words[2] = {address, pid | (u64)kind << 32};
	u64 hash = siphash_words(&table->key, words, ARRAY_SIZE(words));
	int r;

	*ret = hash_index_find(&table->place_index, hash, same_place, &wanted);
	if (*ret != NONE)
		return 0;
	r = growing_reserve(&table->places, sizeof(struct place), 1, &table->budget);
	if (r == 0)
		r = growing_reserve(&table->open, sizeof(u32), 1, &table->budget);
	if (r == 0)
		r = hash_index_reserve(&table->place_index, &table->budget);
	if (r < 0)
		return r;
	*ret = (u32)table->places.n++;
	*place_of(table, *ret) =
		(struct place){.address = address, .pid = pid, .module = NONE, .kind = (u8)kind};
	((u32 *)table->open.list)[table->open.n++] = *ret;
	hash_index_add(&table->place_index, hash, *ret);
	return 0;
}

static int add_place_frame(struct name_table *table, struct place *place, const struct frame *frame)
{
	u32 entered;
	int r = enter_frame(table, frame, &entered);

	if (r == 0)
		r = growing_reserve(&table->place_frames, sizeof(u32), 1, &table->budget);
	if (r < 0)
		return r;
	if (place->n == 0)
		place->first = (u32)table->place_frames.n;
	((u32 *)table->place_frames.list)[table->place_frames.n++] = entered;
	place->n++;
	return 0;
}

/* Code without a name gets one frame that says where the code is. */
static int add_unnamed(struct name_table *table, struct place *place, const struct symbol *symbol, u32 path)
{
	_cleanup_free_ char *text = symbol_text(symbol);
	struct frame frame = {.module = path, .file = NONE, .unnamed = true};
	int r = text ? name_table_string(table, text, &frame.name) : -ENOMEM;

	return r < 0 ? r : add_place_frame(table, place, &frame);
}

static int add_frames(struct name_table *table, struct place *place, const struct symbol *symbol)
{
	u32 path = place->module == NONE ? NONE : module_of(table, place->module)->path;
	size_t n = symbol->n_frames < SYMBOL_FRAMES_MAX ? symbol->n_frames : SYMBOL_FRAMES_MAX;
	int r = 0;

	if (n == 0)
		return place->kind == SYMBOL_CODE ? add_unnamed(table, place, symbol, path) : 0;
	/* A variable has one name, without file and line. */
	for (size_t i = 0; i < (place->kind == SYMBOL_DATA ? 1 : n) && r == 0; i++) {
		struct frame frame = {.module = path, .file = NONE};

		r = name_table_string(table, symbol->frames[i].name, &frame.name);
		if (r == 0 && place->kind == SYMBOL_CODE) {
			r = string_or_none(table, symbol->frames[i].file, &frame.file);
			frame.line = symbol->frames[i].line;
		}
		if (r == 0)
			r = add_place_frame(table, place, &frame);
	}
	place->start = place->kind == SYMBOL_CODE && profile_is_start(symbol->frames[n - 1].name);
	return r;
}

static bool same_all_over(enum symbol_region region)
{
	return region == SYMBOL_HEAP || region == SYMBOL_STACK || region == SYMBOL_ANONYMOUS ||
	       region == SYMBOL_SHARED;
}

/* Returns the number of ranges that sort before the address or begin at it (by pid, then address). */
static size_t ranges_before(const struct name_table *table, u32 pid, u64 address)
{
	const struct range *list = table->ranges.list;
	size_t low = 0, high = table->ranges.n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct range *range = &list[middle];

		if (range->pid < pid || (range->pid == pid && range->start <= address))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Stores the range of the latest answer, and removes the ranges that it overlaps, which are out of date. */
static void remember_range(struct name_table *table, const struct place *place, const struct symbol *symbol)
{
	struct range range = {.pid = place->pid,
			      .start = symbol->start,
			      .end = symbol->end,
			      .at = symbol->address - (place->address - symbol->start),
			      .region = place->region,
			      .module = place->module};
	struct range *list;
	size_t at, kept;

	if (place->address < symbol->start || place->address >= symbol->end)
		return;
	list = table->ranges.list;
	kept = 0;
	for (size_t i = 0; i < table->ranges.n; i++)
		if (list[i].pid != range.pid || list[i].end <= range.start || list[i].start >= range.end)
			list[kept++] = list[i];
	table->ranges.n = kept;
	if (table->ranges.n >= PROFILE_RANGES_MAX ||
	    growing_reserve(&table->ranges, sizeof(range), 1, &table->budget) < 0)
		return;
	list = table->ranges.list;
	at = ranges_before(table, range.pid, range.start);
	memmove(&list[at + 1], &list[at], (table->ranges.n - at) * sizeof(*list));
	list[at] = range;
	table->ranges.n++;
}

bool name_table_answer_by_range(struct name_table *table, u32 i)
{
	struct place *place = place_of(table, i);
	size_t n = ranges_before(table, place->pid, place->address);
	const struct range *range = n ? &((const struct range *)table->ranges.list)[n - 1] : NULL;

	if (!range || range->pid != place->pid || place->address >= range->end)
		return false;
	place->region = range->region;
	place->module = range->module;
	place->at = range->at + (place->address - range->start);
	return true;
}

int name_table_answer(struct name_table *table, u32 i, const struct symbol *symbol)
{
	struct place *place = place_of(table, i);
	bool of_kernel = symbol->region == SYMBOL_KERNEL;
	int r = enter_module(table, symbol, symbol->module || !of_kernel ? symbol->module : "[kernel]",
			     &place->module);

	place->region = (u8)symbol->region;
	place->at = symbol->address;
	if (r == 0)
		r = add_frames(table, place, symbol);
	if (r < 0) {
		place->n = 0;
		return r;
	}
	if (place->kind == SYMBOL_DATA && place->n)
		place->at = symbol->frames[0].offset;
	else if (place->kind == SYMBOL_DATA && same_all_over(symbol->region))
		remember_range(table, place, symbol);
	return 0;
}

void name_table_give_up(struct name_table *table, u32 pid)
{
	static const struct symbol unknown;
	u32 *open = table->open.list;
	size_t kept = 0;

	for (size_t i = 0; i < table->open.n; i++)
		if (place_of(table, open[i])->pid == pid)
			(void)name_table_answer(table, open[i], &unknown);
		else
			open[kept++] = open[i];
	table->open.n = kept;
}

size_t node_frames(const struct profile *profile, const struct node *node, const u32 **ret)
{
	static const u32 unknown = FRAME_UNKNOWN, of_kernel = FRAME_KERNEL;
	const struct name_table *table = profile->table;

	if (node->place != NONE && place_of(table, node->place)->n) {
		*ret = (const u32 *)table->place_frames.list + place_of(table, node->place)->first;
		return place_of(table, node->place)->n;
	}
	*ret = node->kernel ? &of_kernel : &unknown;
	return 1;
}

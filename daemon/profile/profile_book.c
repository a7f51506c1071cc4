// SPDX-License-Identifier: GPL-2.0
/* The names of a profile's addresses. Each distinct string, module and frame is stored once. */
#include <errno.h>
#include <string.h>

#include "profile/profile_internal.h"
#include "profile/profile_stacks.h"

struct string_wanted {
	const struct book *book;
	const char *text;
};

static bool same_string(const void *userdata, u32 i)
{
	const struct string_wanted *wanted = userdata;

	return strcmp(string_of(wanted->book, i), wanted->text) == 0;
}

int book_string(struct book *book, const char *text, u32 *ret)
{
	struct string_wanted wanted = {book, text};
	size_t size = strlen(text) + 1;
	u64 hash = siphash_bytes(&book->key, text, size - 1);
	int r;

	*ret = hash_index_find(&book->string_index, hash, same_string, &wanted);
	if (*ret != NONE)
		return 0;
	r = growing_reserve(&book->characters, 1, size, &book->budget);
	if (r == 0)
		r = growing_reserve(&book->strings, sizeof(u32), 1, &book->budget);
	if (r == 0)
		r = hash_index_reserve(&book->string_index, &book->budget);
	if (r < 0)
		return r;
	*ret = (u32)book->strings.n++;
	((u32 *)book->strings.list)[*ret] = (u32)book->characters.n;
	memcpy((char *)book->characters.list + book->characters.n, text, size);
	book->characters.n += size;
	hash_index_add(&book->string_index, hash, *ret);
	return 0;
}

/* Accepts NULL, which becomes NONE. */
static int string_or_none(struct book *book, const char *text, u32 *ret)
{
	*ret = NONE;
	return text ? book_string(book, text, ret) : 0;
}

struct module_wanted {
	const struct book *book;
	struct module module;
};

static bool same_module(const void *userdata, u32 i)
{
	const struct module_wanted *wanted = userdata;
	const struct module *module = module_of(wanted->book, i);

	return module->path == wanted->module.path && module->build_id_size == wanted->module.build_id_size &&
	       memcmp(module->build_id, wanted->module.build_id, sizeof(module->build_id)) == 0;
}

static int enter_module(struct book *book, const struct symbol *symbol, const char *path, u32 *ret)
{
	struct module_wanted wanted = {.book = book};
	u64 hash;
	int r;

	*ret = NONE;
	if (!path)
		return 0;
	r = book_string(book, path, &wanted.module.path);
	if (r < 0)
		return r;
	if (symbol->build_id_size <= SYMBOL_BUILD_ID_MAX) {
		wanted.module.build_id_size = symbol->build_id_size;
		memcpy(wanted.module.build_id, symbol->build_id, symbol->build_id_size);
	}
	hash = siphash_bytes(&book->key, &wanted.module, sizeof(wanted.module));
	*ret = hash_index_find(&book->module_index, hash, same_module, &wanted);
	if (*ret != NONE)
		return 0;
	r = growing_reserve(&book->modules, sizeof(struct module), 1, &book->budget);
	if (r == 0)
		r = hash_index_reserve(&book->module_index, &book->budget);
	if (r < 0)
		return r;
	*ret = (u32)book->modules.n++;
	*module_of(book, *ret) = wanted.module;
	hash_index_add(&book->module_index, hash, *ret);
	return 0;
}

struct frame_wanted {
	const struct book *book;
	struct frame frame;
};

static bool same_frame(const void *userdata, u32 i)
{
	const struct frame_wanted *wanted = userdata;
	const struct frame *one = frame_of(wanted->book, i), *other = &wanted->frame;

	return one->name == other->name && one->module == other->module && one->file == other->file &&
	       one->line == other->line && one->unnamed == other->unnamed;
}

static int enter_frame(struct book *book, const struct frame *frame, u32 *ret)
{
	struct frame_wanted wanted = {book, *frame};
	u64 words[3] = {frame->name | (u64)frame->module << 32, frame->file | (u64)frame->line << 32,
			frame->unnamed};
	u64 hash = siphash_words(&book->key, words, ARRAY_SIZE(words));
	int r;

	*ret = hash_index_find(&book->frame_index, hash, same_frame, &wanted);
	if (*ret != NONE)
		return 0;
	r = growing_reserve(&book->frames, sizeof(struct frame), 1, &book->budget);
	if (r == 0)
		r = hash_index_reserve(&book->frame_index, &book->budget);
	if (r < 0)
		return r;
	*ret = (u32)book->frames.n++;
	*frame_of(book, *ret) = *frame;
	hash_index_add(&book->frame_index, hash, *ret);
	return 0;
}

int book_new(struct book **ret)
{
	static const char *const fixed[FRAMES_FIXED] = {
		[FRAME_UNKNOWN] = "[unknown]", [FRAME_KERNEL] = "[kernel]"};
	struct book *book = calloc(1, sizeof(*book));

	if (!book)
		return -ENOMEM;
	book->budget.max = PROFILE_NAMES_BYTES_MAX;
	book->key = siphash_key_new();
	for (u32 i = 0; i < FRAMES_FIXED; i++) {
		struct frame frame = {.module = NONE, .file = NONE, .unnamed = true};
		u32 entered;

		if (book_string(book, fixed[i], &frame.name) < 0 || enter_frame(book, &frame, &entered) < 0) {
			book_free(book);
			return -ENOMEM;
		}
	}
	*ret = book;
	return 0;
}

struct book *book_free(struct book *book)
{
	if (!book)
		return NULL;
	free(book->characters.list);
	free(book->strings.list);
	free(book->string_index.slots);
	free(book->modules.list);
	free(book->module_index.slots);
	free(book->frames.list);
	free(book->frame_index.slots);
	free(book->place_frames.list);
	free(book->places.list);
	free(book->place_index.slots);
	free(book->open.list);
	free(book->ranges.list);
	free(book);
	return NULL;
}

u64 book_bytes(const struct book *book)
{
	return sizeof(*book) + book->budget.used;
}

struct place_wanted {
	const struct book *book;
	u64 address;
	u32 pid;
	u8 kind;
};

static bool same_place(const void *userdata, u32 i)
{
	const struct place_wanted *wanted = userdata;
	const struct place *place = place_of(wanted->book, i);

	return place->address == wanted->address && place->pid == wanted->pid && place->kind == wanted->kind;
}

int book_place(struct book *book, u32 pid, u64 address, enum symbol_kind kind, u32 *ret)
{
	struct place_wanted wanted = {book, address, pid, (u8)kind};
	u64 words[2] = {address, pid | (u64)kind << 32};
	u64 hash = siphash_words(&book->key, words, ARRAY_SIZE(words));
	int r;

	*ret = hash_index_find(&book->place_index, hash, same_place, &wanted);
	if (*ret != NONE)
		return 0;
	r = growing_reserve(&book->places, sizeof(struct place), 1, &book->budget);
	if (r == 0)
		r = growing_reserve(&book->open, sizeof(u32), 1, &book->budget);
	if (r == 0)
		r = hash_index_reserve(&book->place_index, &book->budget);
	if (r < 0)
		return r;
	*ret = (u32)book->places.n++;
	*place_of(book, *ret) =
		(struct place){.address = address, .pid = pid, .module = NONE, .kind = (u8)kind};
	((u32 *)book->open.list)[book->open.n++] = *ret;
	hash_index_add(&book->place_index, hash, *ret);
	return 0;
}

static int add_place_frame(struct book *book, struct place *place, const struct frame *frame)
{
	u32 entered;
	int r = enter_frame(book, frame, &entered);

	if (r == 0)
		r = growing_reserve(&book->place_frames, sizeof(u32), 1, &book->budget);
	if (r < 0)
		return r;
	if (place->n == 0)
		place->first = (u32)book->place_frames.n;
	((u32 *)book->place_frames.list)[book->place_frames.n++] = entered;
	place->n++;
	return 0;
}

/* Code without a name gets one frame that says where the code is. */
static int add_unnamed(struct book *book, struct place *place, const struct symbol *symbol, u32 path)
{
	_cleanup_free_ char *text = symbol_text(symbol);
	struct frame frame = {.module = path, .file = NONE, .unnamed = true};
	int r = text ? book_string(book, text, &frame.name) : -ENOMEM;

	return r < 0 ? r : add_place_frame(book, place, &frame);
}

static int add_frames(struct book *book, struct place *place, const struct symbol *symbol)
{
	u32 path = place->module == NONE ? NONE : module_of(book, place->module)->path;
	size_t n = symbol->n_frames < SYMBOL_FRAMES_MAX ? symbol->n_frames : SYMBOL_FRAMES_MAX;
	int r = 0;

	if (n == 0)
		return place->kind == SYMBOL_CODE ? add_unnamed(book, place, symbol, path) : 0;
	/* A variable has one name, without file and line. */
	for (size_t i = 0; i < (place->kind == SYMBOL_DATA ? 1 : n) && r == 0; i++) {
		struct frame frame = {.module = path, .file = NONE};

		r = book_string(book, symbol->frames[i].name, &frame.name);
		if (r == 0 && place->kind == SYMBOL_CODE) {
			r = string_or_none(book, symbol->frames[i].file, &frame.file);
			frame.line = symbol->frames[i].line;
		}
		if (r == 0)
			r = add_place_frame(book, place, &frame);
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
static size_t ranges_before(const struct book *book, u32 pid, u64 address)
{
	const struct range *list = book->ranges.list;
	size_t low = 0, high = book->ranges.n;

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
static void remember_range(struct book *book, const struct place *place, const struct symbol *symbol)
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
	if (book->ranges.n >= PROFILE_RANGES_MAX ||
	    growing_reserve(&book->ranges, sizeof(range), 1, &book->budget) < 0)
		return;
	list = book->ranges.list;
	kept = 0;
	for (size_t i = 0; i < book->ranges.n; i++)
		if (list[i].pid != range.pid || list[i].end <= range.start || list[i].start >= range.end)
			list[kept++] = list[i];
	book->ranges.n = kept;
	at = ranges_before(book, range.pid, range.start);
	memmove(&list[at + 1], &list[at], (book->ranges.n - at) * sizeof(*list));
	list[at] = range;
	book->ranges.n++;
}

bool book_answer_by_range(struct book *book, u32 i)
{
	struct place *place = place_of(book, i);
	size_t n = ranges_before(book, place->pid, place->address);
	const struct range *range = n ? &((const struct range *)book->ranges.list)[n - 1] : NULL;

	if (!range || range->pid != place->pid || place->address >= range->end)
		return false;
	place->region = range->region;
	place->module = range->module;
	place->at = range->at + (place->address - range->start);
	place->state = PLACE_ANSWERED;
	return true;
}

int book_answer(struct book *book, u32 i, const struct symbol *symbol)
{
	struct place *place = place_of(book, i);
	bool of_kernel = symbol->region == SYMBOL_KERNEL;
	int r = enter_module(book, symbol, symbol->module || !of_kernel ? symbol->module : "[kernel]",
			     &place->module);

	place->region = (u8)symbol->region;
	place->at = symbol->address;
	place->state = PLACE_ANSWERED;
	if (r == 0)
		r = add_frames(book, place, symbol);
	if (r < 0) {
		place->n = 0;
		place->state = PLACE_NO_ROOM;
		return r;
	}
	if (place->kind == SYMBOL_DATA && place->n)
		place->at = symbol->frames[0].offset;
	else if (place->kind == SYMBOL_DATA && same_all_over(symbol->region))
		remember_range(book, place, symbol);
	return 0;
}

void book_give_up(struct book *book, u32 pid)
{
	static const struct symbol unknown;
	u32 *open = book->open.list;
	size_t kept = 0;

	for (size_t i = 0; i < book->open.n; i++)
		if (place_of(book, open[i])->pid == pid)
			(void)book_answer(book, open[i], &unknown);
		else
			open[kept++] = open[i];
	book->open.n = kept;
}

size_t node_frames(const struct profile *profile, const struct node *node, const u32 **ret)
{
	static const u32 unknown = FRAME_UNKNOWN, of_kernel = FRAME_KERNEL;
	const struct book *book = profile->book;

	if (node->place != NONE && place_of(book, node->place)->n) {
		*ret = (const u32 *)book->place_frames.list + place_of(book, node->place)->first;
		return place_of(book, node->place)->n;
	}
	*ret = node->kernel ? &of_kernel : &unknown;
	return 1;
}

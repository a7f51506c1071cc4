// SPDX-License-Identifier: GPL-2.0
#include "profile/pprof.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <string.h>
#define ZLIB_CONST /* what is read is const */
#include <zlib.h>

#include "profile/pprof_parts.h"
#include "profile/report_parts.h"

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

/* Numbers of strings that are there from the beginning, in this order. */
enum { TEXT_NONE, TEXT_SAMPLES, TEXT_COUNT, TEXT_LATENCY, TEXT_CYCLES, TEXT_THREAD, TEXT_SOURCE };
static const char *const first_texts[] = {"", "samples", "count", "latency", "cycles", "thread", "source"};

static int begin(struct pprof *pprof)
{
	const struct book *book = pprof->profile->book;
	s64 ignored;

	pprof->budget.max = (u64)-1;
	pprof->key = hash_key_new();
	pprof->string_of_book = arena_take(&pprof->arena, book->strings.n * sizeof(u32));
	pprof->location_of_node = arena_take(&pprof->arena, (pprof->profile->nodes.n + 1) * sizeof(u32));
	pprof->mapping_of_module = arena_take(&pprof->arena, (book->modules.n + 1) * sizeof(u32));
	pprof->thread_labels = arena_take(&pprof->arena, book->strings.n * sizeof(*pprof->thread_labels));
	if (!pprof->location_of_node || !pprof->string_of_book || !pprof->mapping_of_module ||
	    !pprof->thread_labels)
		return -ENOMEM;
	for (size_t i = 0; i < ARRAY_SIZE(first_texts); i++)
		if (pprof_string(pprof, first_texts[i], &ignored) < 0)
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
		if (pprof_book_string(pprof, string, &text) < 0)
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
		if (pprof_string(pprof, source_words[cell->source], &text) < 0)
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

/* Most nodes are in many stacks. */
static int location_of(struct pprof *pprof, const struct node *node, const u32 *frames, size_t n, u64 *ret_id)
{
	u32 *known = node ? &pprof->location_of_node[node - node_of(pprof->profile, 0)] : NULL;
	int r;

	if (known && *known) {
		*ret_id = *known;
		return 0;
	}
	r = pprof_location(pprof, node, frames, n, ret_id);
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
	return pprof_append(pprof, &pprof->samples, sample);
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
	if (pprof_string(pprof, text, &number) < 0 ||
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
				"samples not in the profile, for want of memory: %llu of %llu",
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

	if (size > UINT_MAX / 2)
		return -ENOMEM;
	/* 16: with gzip's head and end; it has no time in it. */
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

	(void)profile_resolve_held(profile, names);
	r = begin(&pprof);
	if (r == 0)
		r = add_samples(&pprof);
	if (r == 0)
		r = add_comments(&pprof, &comments);
	if (r == 0 && about->event)
		r = pprof_string(&pprof, about->event, &event);
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

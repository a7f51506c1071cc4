// SPDX-License-Identifier: GPL-2.0
#include "symbols/resolver/resolver_maps.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/monotonic.h"

static void file_unref(struct mapped_file *file)
{
	if (!file || --file->references)
		return;
	free(file->path);
	free(file);
}

static struct mapped_file *file_ref(struct mapped_file *file)
{
	if (file)
		file->references++;
	return file;
}

int maps_new(struct maps **ret)
{
	struct maps *maps = calloc(1, sizeof(*maps));

	if (!maps)
		return -ENOMEM;
	maps->references = 1;
	*ret = maps;
	return 0;
}

struct maps *maps_ref(struct maps *maps)
{
	maps->references++;
	return maps;
}

struct maps *maps_unref(struct maps *maps)
{
	if (!maps || --maps->references)
		return NULL;
	for (size_t i = 0; i < maps->n; i++)
		file_unref(maps->mappings[i].file);
	free(maps->mappings);
	free(maps);
	return NULL;
}

static int make_room(struct maps *maps, size_t n)
{
	struct mapping *mappings;
	size_t room = maps->room ? maps->room : 32;

	while (room < n)
		room *= 2;
	if (room == maps->room)
		return 0;
	mappings = reallocarray(maps->mappings, room, sizeof(*mappings));
	if (!mappings)
		return -ENOMEM;
	maps->mappings = mappings;
	maps->room = room;
	return 0;
}

static int append(struct maps *maps, const struct mapping *mapping)
{
	int r = make_room(maps, maps->n + 1);

	if (r < 0)
		return r;
	maps->mappings[maps->n] = *mapping;
	file_ref(mapping->file);
	maps->n++;
	return 0;
}

int maps_copy(const struct maps *maps, struct maps **ret)
{
	_cleanup_(maps_unrefp) struct maps *copy = NULL;
	int r = maps_new(&copy);

	if (r < 0)
		return r;
	copy->path_bytes = maps->path_bytes;
	copy->unmapped = maps->unmapped;
	for (size_t i = 0; i < maps->n; i++) {
		r = append(copy, &maps->mappings[i]);
		if (r < 0)
			return r;
	}
	*ret = TAKE_PTR(copy);
	return 0;
}

static bool is_file_of(const struct mapped_file *file, const struct maps_line *line)
{
	return file->inode == line->inode && file->major == line->major && file->minor == line->minor &&
	       file->deleted == line->deleted && strcmp(file->path, line->path) == 0;
}

/*
 * Number of previous mappings in which the file of a line is searched: mappings of the same file are close
 * together.
 */
#define LOOK_BACK 8

static struct mapped_file *file_before(const struct maps *maps, const struct maps_line *line)
{
	for (size_t i = maps->n; i-- > 0 && maps->n - i <= LOOK_BACK;) {
		struct mapped_file *file = maps->mappings[i].file;

		if (file && is_file_of(file, line))
			return file;
	}
	return NULL;
}

/* Returns whether a mapping close before the mapping has the same file. */
static bool is_counted(const struct maps *maps, size_t i)
{
	for (size_t j = i; j-- > 0 && i - j <= LOOK_BACK;)
		if (maps->mappings[j].file == maps->mappings[i].file)
			return true;
	return false;
}

/* Counts the paths of the files that are mapped now. */
static size_t count_path_bytes(const struct maps *maps)
{
	size_t bytes = 0;

	for (size_t i = 0; i < maps->n; i++)
		if (maps->mappings[i].file && !is_counted(maps, i))
			bytes += strlen(maps->mappings[i].file->path) + 1;
	return bytes;
}

/*
 * Returns a reference to the file of the line. It is NULL if the line has no path, or if all paths together
 * would exceed MAPS_PATH_BYTES_MAX.
 */
static int file_of(struct maps *maps, const struct maps_line *line, struct mapped_file **ret)
{
	struct mapped_file *file;
	size_t size = strlen(line->path) + 1;

	*ret = NULL;
	if (!line->path[0])
		return 0;
	file = file_before(maps, line);
	if (file) {
		*ret = file_ref(file);
		return 0;
	}
	if (maps->unmapped && maps->path_bytes + size > MAPS_PATH_BYTES_MAX) {
		maps->path_bytes = count_path_bytes(maps);
		maps->unmapped = false;
	}
	if (maps->path_bytes + size > MAPS_PATH_BYTES_MAX)
		return 0;
	file = calloc(1, sizeof(*file));
	if (!file)
		return -ENOMEM;
	file->path = strdup(line->path);
	if (!file->path) {
		free(file);
		return -ENOMEM;
	}
	file->references = 1;
	file->major = line->major;
	file->minor = line->minor;
	file->inode = line->inode;
	file->deleted = line->deleted;
	maps->path_bytes += size;
	*ret = file;
	return 0;
}

static int append_line(struct maps *maps, const struct maps_line *line)
{
	struct mapping mapping = {
		.start = line->start,
		.end = line->end,
		.offset = line->offset,
		.protection = line->protection,
		.shared = line->shared,
	};
	int r = file_of(maps, line, &mapping.file);

	if (r < 0)
		return r;
	if (mapping.file && (mapping.protection & PROT_EXEC))
		mapping.file->code = true;
	r = append(maps, &mapping);
	file_unref(mapping.file);
	return r;
}

int maps_read(FILE *file, struct maps **ret)
{
	_cleanup_(maps_unrefp) struct maps *maps = NULL;
	_cleanup_free_ char *text = NULL;
	size_t room = 0;
	u64 until = monotonic_ns() + MAPS_READ_NS;
	int r = maps_new(&maps);

	if (r < 0)
		return r;
	for (size_t lines = 0; lines < RESOLVER_MAPPINGS_MAX && monotonic_ns() < until; lines++) {
		struct maps_line line;

		errno = 0;
		if (getline(&text, &room, file) < 0)
			break;
		/* The kernel lists mappings by address. Ignore lines that are out of order or overlap. */
		if (maps_parse_line(text, &line) < 0 ||
		    (maps->n && line.start < maps->mappings[maps->n - 1].end))
			continue;
		r = append_line(maps, &line);
		if (r < 0)
			return r;
	}
	if (ferror(file))
		return errno ? -errno : -EIO;
	if (!maps->n)
		return -ESRCH;
	*ret = TAKE_PTR(maps);
	return 0;
}

int maps_merge(const struct maps *newer, const struct maps *older, struct maps **ret)
{
	_cleanup_(maps_unrefp) struct maps *maps = NULL;
	size_t i = 0;
	int r;

	if (newer->n + older->n > RESOLVER_MAPPINGS_MAX ||
	    newer->path_bytes + older->path_bytes > MAPS_PATH_BYTES_MAX)
		return maps_copy(newer, ret);
	r = maps_new(&maps);
	if (r < 0)
		return r;
	for (size_t j = 0; j < older->n && r == 0; j++) {
		const struct mapping *old = &older->mappings[j];

		for (; i < newer->n && newer->mappings[i].end <= old->start && r == 0; i++)
			r = append(maps, &newer->mappings[i]);
		if (r == 0 && (i == newer->n || newer->mappings[i].start >= old->end))
			r = append(maps, old);
	}
	for (; i < newer->n && r == 0; i++)
		r = append(maps, &newer->mappings[i]);
	if (r < 0)
		return r;
	maps->path_bytes = count_path_bytes(maps);
	*ret = TAKE_PTR(maps);
	return 0;
}

/* Returns the index of the first mapping that ends after the address. */
static size_t first_after(const struct maps *maps, u64 address)
{
	size_t low = 0, high = maps->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (maps->mappings[middle].end <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

struct mapping *maps_find(const struct maps *maps, u64 address)
{
	size_t i = first_after(maps, address);

	return i < maps->n && maps->mappings[i].start <= address ? &maps->mappings[i] : NULL;
}

static void move_start(struct mapping *mapping, u64 start)
{
	mapping->offset += start - mapping->start;
	mapping->start = start;
}

/*
 * Removes [start, end) from the mappings. This may need room for one more mapping. Returns the index at which
 * a new mapping is to be inserted.
 */
static size_t clear(struct maps *maps, u64 start, u64 end)
{
	size_t first = first_after(maps, start);
	size_t last = first;

	if (first < maps->n && maps->mappings[first].start < start) {
		struct mapping *before = &maps->mappings[first];

		if (before->end > end) {
			memmove(before + 1, before, (maps->n - first) * sizeof(*before));
			maps->n++;
			file_ref(before->file);
			before->end = start;
			move_start(before + 1, end);
			return first + 1;
		}
		before->end = start;
		first++;
		last = first;
	}
	for (; last < maps->n && maps->mappings[last].end <= end; last++)
		file_unref(maps->mappings[last].file);
	maps->unmapped |= last > first;
	memmove(&maps->mappings[first], &maps->mappings[last], (maps->n - last) * sizeof(struct mapping));
	maps->n -= last - first;
	if (first < maps->n && maps->mappings[first].start < end)
		move_start(&maps->mappings[first], end);
	return first;
}

/*
 * Returns whether the path means memory without a file, as perf names it. For [heap], [stack] and others,
 * perf uses the names of /proc/PID/maps.
 */
static bool is_anonymous(const char *path)
{
	return strcmp(path, "//anon") == 0 || path[0] == 0;
}

int maps_enter(struct maps *maps, const struct symbol_mapping *mapping)
{
	_cleanup_free_ char *path = strdup(mapping->path ? mapping->path : "");
	struct mapping entered = {
		.start = mapping->start,
		.end = mapping->start + mapping->size,
		.offset = mapping->offset,
		.protection = mapping->protection,
	};
	struct maps_line line = {.major = mapping->major, .minor = mapping->minor, .inode = mapping->inode};
	size_t place;
	int r;

	if (!path)
		return -ENOMEM;
	if (!mapping->size || entered.end < entered.start)
		return -EINVAL;
	if (maps->n + 2 > RESOLVER_MAPPINGS_MAX)
		return -ENOSPC;
	r = make_room(maps, maps->n + 2);
	if (r < 0)
		return r;
	if (is_anonymous(path))
		path[0] = 0;
	line.path = path;
	line.deleted = maps_cut_deleted(path);
	r = file_of(maps, &line, &entered.file);
	if (r < 0)
		return r;
	if (entered.file) {
		entered.file->code |= (mapping->protection & PROT_EXEC) != 0;
		if (mapping->build_id_size && mapping->build_id_size <= SYMBOL_BUILD_ID_MAX) {
			memcpy(entered.file->build_id, mapping->build_id, mapping->build_id_size);
			entered.file->build_id_size = mapping->build_id_size;
		}
	}
	place = clear(maps, entered.start, entered.end);
	memmove(&maps->mappings[place + 1], &maps->mappings[place], (maps->n - place) * sizeof(entered));
	maps->mappings[place] = entered;
	maps->n++;
	return 0;
}

u64 maps_bytes(const struct maps *maps)
{
	return sizeof(*maps) + maps->room * sizeof(struct mapping) + maps->path_bytes;
}

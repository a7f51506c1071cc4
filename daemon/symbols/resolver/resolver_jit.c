// SPDX-License-Identifier: GPL-2.0
#include "symbols/resolver/resolver_jit.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/param.h>

#include "base/text_file.h"
#include "symbols/resolver/resolver_open.h"

#define PIECE_BYTES 65536
#define LOOK_BACK   64

void jit_map_done(struct jit_map *map)
{
	free(map->entries);
	free(map->names);
	memset(map, 0, sizeof(*map));
}

/* Parses a hexadecimal number and the blanks after it, and moves `*at` past them. */
static bool parse_hex(const char **at, const char *end, u64 *ret)
{
	const char *digit = *at;
	u64 value = 0;

	if (end - digit > 2 && digit[0] == '0' && (digit[1] == 'x' || digit[1] == 'X'))
		digit += 2;
	for (*at = digit; digit < end && digit - *at <= 16; digit++) {
		char c = *digit;

		if (c >= '0' && c <= '9')
			value = value << 4 | (u64)(c - '0');
		else if (c >= 'a' && c <= 'f')
			value = value << 4 | (u64)(c - 'a' + 10);
		else if (c >= 'A' && c <= 'F')
			value = value << 4 | (u64)(c - 'A' + 10);
		else
			break;
	}
	if (digit == *at || digit - *at > 16 || digit == end || *digit != ' ')
		return false;
	while (digit < end && *digit == ' ')
		digit++;
	*at = digit;
	*ret = value;
	return true;
}

static int grow(void **array, size_t *room, size_t needed, size_t size)
{
	size_t grown = *room ? *room : 64;
	void *larger;

	if (needed <= *room)
		return 0;
	while (grown < needed)
		grown *= 2;
	larger = reallocarray(*array, grown, size);
	if (!larger)
		return -ENOMEM;
	*array = larger;
	*room = grown;
	return 0;
}

static int add_line(struct jit_map *map, const char *line, const char *end)
{
	struct jit_entry *entry;
	u64 start, size;
	size_t length;

	if (end > line && end[-1] == '\r')
		end--;
	if (!parse_hex(&line, end, &start) || !parse_hex(&line, end, &size) || line == end || !size ||
	    start + size < start || memchr(line, 0, (size_t)(end - line)) || map->n >= JIT_ENTRIES_MAX)
		return 0;
	length = (size_t)(end - line);
	if (grow((void **)&map->entries, &map->room, map->n + 1, sizeof(*map->entries)) < 0 ||
	    grow((void **)&map->names, &map->names_room, map->names_size + length + 1, 1) < 0)
		return -ENOMEM;
	entry = &map->entries[map->n];
	entry->start = start;
	entry->end = start + size;
	entry->name = (u32)map->names_size;
	entry->sequence = (u32)map->n;
	map->n++;
	memcpy(map->names + map->names_size, line, length);
	map->names[map->names_size + length] = 0;
	map->names_size += length + 1;
	map->sorted = false;
	return 0;
}

int jit_map_add(struct jit_map *map, const char *text, size_t size, size_t *ret_taken)
{
	const char *at = text, *end;

	while ((end = memchr(at, '\n', size - (size_t)(at - text)))) {
		int r = add_line(map, at, end);

		if (r < 0)
			return r;
		at = end + 1;
	}
	*ret_taken = (size_t)(at - text);
	return 0;
}

static int compare(const void *a, const void *b)
{
	const struct jit_entry *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->sequence < y->sequence ? -1 : x->sequence > y->sequence;
}

const struct jit_entry *jit_map_find(struct jit_map *map, u64 address, const char **ret_name)
{
	const struct jit_entry *found = NULL;
	size_t low = 0, high = map->n;

	if (!map->sorted && map->n)
		qsort(map->entries, map->n, sizeof(*map->entries), compare);
	map->sorted = true;
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (map->entries[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	for (size_t i = low; i-- > 0 && low - i <= LOOK_BACK;) {
		const struct jit_entry *entry = &map->entries[i];

		if (address < entry->end && (!found || entry->sequence > found->sequence))
			found = entry;
	}
	if (found)
		*ret_name = map->names + found->name;
	return found;
}

u64 jit_map_bytes(const struct jit_map *map)
{
	return map->room * sizeof(*map->entries) + map->names_room;
}

/*
 * Parses the first `which` numbers after `field`, or all if there are fewer, and sets *ret to the last of
 * them. For NSpid that is the innermost pid, for Uid the effective uid. Returns false if there is none.
 */
static bool number_of(const char *status, const char *field, size_t which, u32 *ret)
{
	const char *at = strstr(status, field);
	bool found = false;

	if (!at)
		return false;
	at += strlen(field);
	for (size_t i = 0; i < which; i++) {
		unsigned long number;
		char *end;

		at += strspn(at, "\t ");
		if (*at < '0' || *at > '9')
			break;
		errno = 0;
		number = strtoul(at, &end, 10);
		if (errno || number > UINT32_MAX)
			return false;
		*ret = (u32)number;
		found = true;
		at = end;
	}
	return found;
}

int jit_parse_status(const char *status, u32 *ret_pid, u32 *ret_uid)
{
	/*
	 * Pid namespaces are at most 32 deep (kernel/pid_namespace.c). The name of the process comes first,
	 * but its newlines are escaped, so it cannot imitate a field.
	 */
	return number_of(status, "\nNSpid:", 33, ret_pid) && number_of(status, "\nUid:", 2, ret_uid)
		       ? 0
		       : -EINVAL;
}

void jit_file_open(const char *proc, u32 pid, struct jit_file *ret)
{
	_cleanup_close_ int root = -1, fd = -1;
	_cleanup_free_ char *status = NULL;
	struct stat found;
	u32 own_pid, uid;
	char place[128];

	memset(ret, 0, sizeof(*ret));
	ret->fd = -1;
	(void)snprintf(place, sizeof(place), "%s/%u/status", proc, pid);
	if (text_file_read(place, &status) < 0 || jit_parse_status(status, &own_pid, &uid) < 0)
		return;
	root = open_root(proc, pid);
	if (root < 0)
		return;
	(void)snprintf(place, sizeof(place), "/tmp/perf-%u.map", own_pid);
	fd = open_below(root, place, false, RESOLVER_JIT_FILE_MAX, &found);
	/* Everybody may write to /tmp. Ignore a file of another user, except root. */
	if (fd < 0 || (found.st_uid != uid && found.st_uid != 0))
		return;
	ret->fd = TAKE_FD(fd);
}

void jit_file_done(struct jit_file *file)
{
	jit_map_done(&file->map);
	if (file->fd >= 0)
		(void)close(file->fd);
	file->fd = -1;
	file->read = 0;
	file->n_last = 0;
}

/*
 * Returns whether the file still has the bytes that were read last. Some programs write the whole file again, and
 * it may then be as long as before, or longer.
 */
static bool is_continued(const struct jit_file *file)
{
	char now[sizeof(file->last)];

	return pread(file->fd, now, file->n_last, (off_t)(file->read - file->n_last)) ==
		       (ssize_t)file->n_last &&
	       memcmp(now, file->last, file->n_last) == 0;
}

int jit_file_read(struct jit_file *file)
{
	_cleanup_free_ char *text = NULL;
	struct stat now;

	if (file->fd < 0 || fstat(file->fd, &now) < 0)
		return -EBADF;
	if (!is_continued(file)) {
		jit_map_done(&file->map);
		file->read = 0;
		file->n_last = 0;
	}
	if ((u64)now.st_size == file->read)
		return 0;
	text = malloc(PIECE_BYTES);
	if (!text)
		return -ENOMEM;
	while (file->read < RESOLVER_JIT_FILE_MAX) {
		ssize_t size = pread(file->fd, text, PIECE_BYTES, (off_t)file->read);
		size_t taken = 0;
		int r;

		if (size < 0 && errno == EINTR)
			continue;
		if (size <= 0)
			return size < 0 ? -errno : 0;
		r = jit_map_add(&file->map, text, (size_t)size, &taken);
		if (r < 0)
			return r;
		/*
		 * A line that fills a whole piece is invalid and is skipped. An incomplete line is read again
		 * in the next call.
		 */
		if (!taken && size < PIECE_BYTES)
			return 0;
		taken = taken ? taken : (size_t)size;
		file->read += taken;
		file->n_last = MIN(taken, sizeof(file->last));
		memcpy(file->last, text + taken - file->n_last, file->n_last);
	}
	return 0;
}

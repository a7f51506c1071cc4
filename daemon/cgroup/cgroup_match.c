// SPDX-License-Identifier: GPL-2.0
#include "cgroup/cgroup_match.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/utf8.h"

static const char *const suffixes[] = {"", ".service", ".scope", ".slice"};

/* PATH_MAX: the kernel's limit of a path. */
#define NAME_MAX_BYTES 4096

/* Fewer digits may also be a name. */
#define ID_DIGITS_MIN 12

static size_t count_slashes(const char *text)
{
	size_t n = 0;

	for (; *text; text++)
		n += *text == '/';
	return n;
}

/* Returns the last `n` components of a path, without the `/` before them; NULL: it has no more than `n`. */
static const char *last_components(const char *path, size_t n)
{
	for (const char *at = path + strlen(path); at > path;)
		if (*--at == '/' && --n == 0)
			return at + 1;
	return NULL;
}

/* Compares only one end of the path with the name, however many components both have. */
static bool match_end(const char *path, const char *name)
{
	const char *end;

	if (utf8_is_shown_as(path, name))
		return true;
	if (name[0] == '/')
		return false;
	if (path[0] == '/') {
		end = last_components(path, count_slashes(name) + 1);
	} else {
		end = strchr(path, ':');
		end = end ? end + 1 : NULL;
	}
	return end && utf8_is_shown_as(end, name);
}

/* Returns true if the joined labels from `first` to `last` are shown as `name`. All of them must be known. */
static bool match_labels(const struct container *labels, const enum container_label *parts, size_t n,
			 const char *name)
{
	char joined[(size_t)3 * CONTAINER_TEXT_MAX];
	size_t length = 0;

	for (size_t i = 0; i < n; i++) {
		const char *text = labels->text[parts[i]];

		if (!text || !*text)
			return false;
		length += (size_t)snprintf(joined + length, sizeof(joined) - length, "%s%s", i ? "/" : "",
					   text);
		if (length >= sizeof(joined))
			return false;
	}
	return utf8_is_shown_as(joined, name);
}

static bool match_container(const struct container *labels, const char *name)
{
	static const enum container_label parts[] = {CONTAINER_LABEL_NAMESPACE, CONTAINER_LABEL_POD,
						     CONTAINER_LABEL_CONTAINER};

	for (size_t first = 0; first < ARRAY_SIZE(parts); first++)
		for (size_t last = first; last < ARRAY_SIZE(parts); last++)
			if (last > 0 && match_labels(labels, parts + first, last - first + 1, name))
				return true;
	return false;
}

/* Returns true if `name` is the start of the container's id, as `docker ps` shows it, or all of it. */
static bool match_id(const struct container *labels, const char *name)
{
	const char *id = labels->text[CONTAINER_LABEL_ID];
	size_t length = strlen(name);

	return id && length >= ID_DIGITS_MIN && strncmp(id, name, length) == 0;
}

bool cgroup_match(const char *path, const struct container *labels, const char *name)
{
	char longer[NAME_MAX_BYTES + sizeof(".service")];

	if (!*name || strlen(name) > NAME_MAX_BYTES)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(suffixes); i++) {
		(void)snprintf(longer, sizeof(longer), "%s%s", name, suffixes[i]);
		if (match_end(path, longer))
			return true;
	}
	return labels && (match_container(labels, name) || match_id(labels, name));
}

// SPDX-License-Identifier: GPL-2.0
#include "cgroup/short_name.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "cgroup/container_path.h"

#define ID_DIGITS  12 /* as `docker ps` shows them */
#define UID_DIGITS 8

/* Texts that are joined to the name. No name needs more: parents, user, three of a pod, id, unit, below. */
#define PARTS_MAX 16

struct part {
	const char *at;
	size_t length;
};

struct parts {
	size_t n;
	struct part list[PARTS_MAX];
};

/* The facts about one cgroup. */
struct facts {
	const char *path;
	const struct container *labels; /* known names; NULL: none */
	struct container_labels of_path;
	struct container_places places;
};

static void add(struct parts *parts, const char *at, size_t length)
{
	if (length > 0 && parts->n < PARTS_MAX)
		parts->list[parts->n++] = (struct part){at, length};
}

static void add_text(struct parts *parts, const char *text)
{
	add(parts, text, strlen(text));
}

/* Returns the label, or "" if it is not known. */
static const char *label(const struct facts *facts, enum container_label which)
{
	const char *known = facts->labels ? facts->labels->text[which] : NULL;

	return known && *known ? known : facts->of_path.text[which];
}

/* Returns the length of a component without the suffix of a unit. */
static size_t stem_length(const char *at, size_t length)
{
	static const char *const suffixes[] = {".service", ".scope", ".slice"};

	for (size_t i = 0; i < ARRAY_SIZE(suffixes); i++) {
		size_t suffix = strlen(suffixes[i]);

		if (length > suffix && memcmp(at + length - suffix, suffixes[i], suffix) == 0)
			return length - suffix;
	}
	return length;
}

/* Adds the path from `at` on, without the suffix of a unit at its end. */
static void add_below(struct parts *parts, const char *at)
{
	add(parts, at + 1, *at ? stem_length(at + 1, strlen(at + 1)) : 0);
}

/* Adds the `n` components of the path that precede the one at `at`. Returns false if the path has fewer. */
static bool add_parents(struct parts *parts, const struct facts *facts, const char *at, unsigned int n)
{
	const char *end = at;

	if (n == 0)
		return true;
	if (at == facts->path)
		return false;
	for (at--; n > 0 && at > facts->path;)
		if (*--at == '/')
			n--;
	if (n > 0)
		return false;
	add(parts, at + 1, (size_t)(end - at) - 2);
	return true;
}

/* Adds `separator` and the first `digits` of an id. join() writes no `/` around the separator. */
static void add_id(struct parts *parts, const char *separator, const char *id, size_t digits)
{
	add_text(parts, separator);
	add(parts, id, strnlen(id, digits));
}

/* The texts that join() writes without a `/` before and after them. */
static const char dash[] = "-", at_sign[] = "@";

static bool is_joint(const struct part *part)
{
	return part->at == dash || part->at == at_sign;
}

/* Adds the name of the container or pod. Returns false if the path is the only name of this detail. */
static bool add_container(struct parts *parts, const struct facts *facts, unsigned int level)
{
	const char *id = label(facts, CONTAINER_LABEL_ID), *uid = label(facts, CONTAINER_LABEL_POD_UID);
	const char *pod = label(facts, CONTAINER_LABEL_POD);
	const char *container = label(facts, CONTAINER_LABEL_CONTAINER);
	const char *runtime = label(facts, CONTAINER_LABEL_RUNTIME);

	if (level > 1 && (*id || *uid))
		return false;
	if (!*id && !*uid && !add_parents(parts, facts, facts->path + facts->places.container.at, level))
		return false;
	if (*pod) {
		add_text(parts, label(facts, CONTAINER_LABEL_NAMESPACE));
		add_text(parts, pod);
	}
	if (*container) {
		add_text(parts, container);
	} else if (*id) {
		add_text(parts, *pod || !*runtime ? "container" : runtime);
		add_id(parts, dash, id, ID_DIGITS);
		return level == 0;
	} else if (!*pod) {
		add_text(parts, "pod");
		add_id(parts, dash, uid, UID_DIGITS);
		return level == 0;
	}
	if (level > 0 && *id)
		add_id(parts, at_sign, id, ID_DIGITS);
	else if (level > 0 && *uid)
		add_id(parts, at_sign, uid, UID_DIGITS);
	return true;
}

/* Adds the unit and everything below it. */
static void add_unit(struct parts *parts, const struct facts *facts)
{
	const struct container_place *unit = &facts->places.unit;
	const char *at = facts->path + unit->at;

	add(parts, at, stem_length(at, unit->length));
	add_below(parts, at + unit->length);
}

static bool add_in_container(struct parts *parts, const struct facts *facts, unsigned int level)
{
	const struct container_place *container = &facts->places.container, *unit = &facts->places.unit;

	/* A unit before the container started it (podman run --cgroups=split). */
	if (unit->length && unit->at < container->at && !*label(facts, CONTAINER_LABEL_CONTAINER))
		add(parts, facts->path + unit->at, stem_length(facts->path + unit->at, unit->length));
	if (!add_container(parts, facts, level))
		return false;
	if (unit->at > container->at)
		add_unit(parts, facts);
	else
		add_below(parts, facts->path + container->at + container->length);
	return true;
}

/* Returns true if the unit lies in the slice of a user, and its name does not contain the user's number. */
static bool needs_user(const struct facts *facts)
{
	return *label(facts, CONTAINER_LABEL_USER) &&
	       strncmp(facts->path + facts->places.unit.at, "user@", strlen("user@")) != 0;
}

static bool add_of_unit(struct parts *parts, const struct facts *facts, unsigned int level)
{
	if (needs_user(facts)) {
		add_text(parts, "user");
		add_id(parts, dash, label(facts, CONTAINER_LABEL_USER), CONTAINER_TEXT_MAX);
	}
	if (!add_parents(parts, facts, facts->path + facts->places.unit.at, level))
		return false;
	add_unit(parts, facts);
	return true;
}

static bool add_component(struct parts *parts, const struct facts *facts, unsigned int level)
{
	const char *at = strrchr(facts->path, '/') + 1;

	if (!add_parents(parts, facts, at, level))
		return false;
	add(parts, at, stem_length(at, strlen(at)));
	return true;
}

/* Joins the parts with `/`. Returns NULL if memory runs out. */
static char *join(const struct parts *parts)
{
	size_t length = 0;
	char *name, *to;

	for (size_t i = 0; i < parts->n; i++)
		length += parts->list[i].length + 1;
	name = to = malloc(length + 1);
	if (!name)
		return NULL;
	for (size_t i = 0; i < parts->n; i++) {
		if (i > 0 && !is_joint(&parts->list[i]) && !is_joint(&parts->list[i - 1]))
			*to++ = '/';
		memcpy(to, parts->list[i].at, parts->list[i].length);
		to += parts->list[i].length;
	}
	*to = '\0';
	return name;
}

static int hex_value(char digit)
{
	if (digit >= '0' && digit <= '9')
		return digit - '0';
	return digit >= 'a' && digit <= 'f' ? digit - 'a' + 10 : -1;
}

/* Undoes the escapes of systemd (\x2d for a `-`) whose characters need no quotes in a shell, in place. */
static void unescape(char *name)
{
	char *to = name;

	for (const char *at = name; *at; at++) {
		int high = at[0] == '\\' && at[1] == 'x' ? hex_value(at[2]) : -1;
		int low = high >= 0 ? hex_value(at[3]) : -1;
		int byte = low >= 0 ? high << 4 | low : 0;

		if (byte > 0 && byte < 0x80 && (isalnum(byte) || strchr("-_.:@+", byte))) {
			*to++ = (char)byte;
			at += 3;
		} else {
			*to++ = *at;
		}
	}
	*to = '\0';
}

static const char *const kinds[] = {"model:", "comm:", "cgroup:"};

static bool has_kind(const char *text)
{
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (strncmp(text, kinds[i], strlen(kinds[i])) == 0)
			return true;
	return false;
}

/*
 * Returns NAME of "model:NAME" and "comm:NAME", or the whole text. A process may have any name: one that looks like a
 * path itself, such as "model:x", is not cut, or it would be taken for that of another cgroup.
 */
static const char *after_colon(const char *path)
{
	const char *name = strchr(path, ':');

	if (!name || !has_kind(path) || strncmp(path, "cgroup:", strlen("cgroup:")) == 0)
		return path;
	name++;
	return *name && *name != '/' && *name != '-' && !has_kind(name) ? name : path;
}

static char *make(const char *path, const struct container *labels, unsigned int level)
{
	struct facts facts = {.path = path, .labels = labels};
	struct parts parts = {0};
	char *name;
	bool made;

	if (path[0] != '/')
		return strdup(level == 0 ? after_colon(path) : path);
	(void)container_path_find(path, &facts.of_path, &facts.places);
	if (level >= SHORT_NAME_PATH)
		made = false;
	else if (facts.places.container.length)
		made = add_in_container(&parts, &facts, level);
	else if (facts.places.unit.length)
		made = add_of_unit(&parts, &facts, level);
	else
		made = add_component(&parts, &facts, level);
	name = made ? join(&parts) : strdup(path);
	if (name && made)
		unescape(name);
	if (name && made && (!*name || *name == '/' || *name == '-')) {
		free(name);
		name = strdup(path);
	}
	return name;
}

int short_name(const char *path, const struct container *labels, unsigned int level, char **ret)
{
	*ret = make(path, labels, level);
	return *ret ? 0 : -ENOMEM;
}

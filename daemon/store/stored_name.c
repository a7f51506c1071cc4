// SPDX-License-Identifier: GPL-2.0
#include "store/stored_name.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

static const char *const kinds[STORED_KINDS] = {
	[STORED_MAP] = "map",       [STORED_LINK] = "link",       [STORED_EVENT] = "event",
	[STORED_LEADER] = "leader", [STORED_COUNTER] = "counter", [STORED_HANDOVER] = "handover",
	[STORED_STATE] = "state",
};

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || c == '_' || c == '.';
}

/* Returns the length of the part of `*rest` up to the next '-' or the end, and advances `*rest` past it. */
static size_t next_part(const char **rest, const char **ret)
{
	size_t length = strcspn(*rest, "-");

	*ret = *rest;
	*rest += length;
	if (**rest == '-')
		++*rest;
	return length;
}

static bool parse_kind(const char *part, size_t length, enum stored_kind *ret)
{
	for (unsigned kind = 0; kind < STORED_KINDS; kind++)
		if (strlen(kinds[kind]) == length && memcmp(kinds[kind], part, length) == 0) {
			*ret = (enum stored_kind)kind;
			return true;
		}
	return false;
}

/* Signs and leading zeros are refused, so that each number has exactly one spelling. */
static bool parse_number(const char *part, size_t length, u32 *ret)
{
	u64 value = 0;

	if (length == 0 || length > 10 || (length > 1 && part[0] == '0'))
		return false;
	for (size_t i = 0; i < length; i++) {
		if (!is_digit(part[i]))
			return false;
		value = value * 10 + (u64)(part[i] - '0');
	}
	*ret = (u32)value;
	return value <= UINT32_MAX;
}

static bool parse_label(const char *part, size_t length, char ret[STORED_LABEL_MAX])
{
	if (length == 0 || length >= STORED_LABEL_MAX || !is_letter(part[0]))
		return false;
	for (size_t i = 1; i < length; i++)
		if (!is_letter(part[i]) && !is_digit(part[i]))
			return false;
	memcpy(ret, part, length);
	return true;
}

bool stored_name_parse(const char *text, struct stored_name *ret)
{
	struct stored_name name = {0};
	char again[STORED_NAME_MAX];
	const char *rest = text, *part;
	size_t length;

	if (strnlen(text, STORED_NAME_MAX) == STORED_NAME_MAX)
		return false;
	length = next_part(&rest, &part);
	if (!parse_kind(part, length, &name.kind))
		return false;
	length = next_part(&rest, &part);
	if (!parse_number(part, length, &name.layout))
		return false;
	while (*rest) {
		length = next_part(&rest, &part);
		if (length > 0 && is_letter(*part) && !*name.label && name.n_numbers == 0) {
			if (!parse_label(part, length, name.label))
				return false;
		} else if (name.n_numbers == STORED_NUMBERS_MAX ||
			   !parse_number(part, length, &name.numbers[name.n_numbers++])) {
			return false;
		}
	}
	/* Refuse other spellings of the same name, such as one with a '-' at the end. */
	stored_name_format(&name, again);
	if (strcmp(again, text) != 0)
		return false;
	*ret = name;
	return true;
}

void stored_name_format(const struct stored_name *name, char *ret)
{
	size_t at = (size_t)snprintf(ret, STORED_NAME_MAX, "%s-%u%s%s", kinds[name->kind], name->layout,
				     *name->label ? "-" : "", name->label);

	for (u32 i = 0; i < name->n_numbers && at < STORED_NAME_MAX; i++)
		at += (size_t)snprintf(ret + at, STORED_NAME_MAX - at, "-%u", name->numbers[i]);
}

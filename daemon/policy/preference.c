// SPDX-License-Identifier: GPL-2.0
#include "policy/preference.h"

#include <string.h>

#include "policy/nanoseconds.h"

/* setfattr and shells may leave line breaks in a value. */
#define BLANKS " \t\r\n"

/* Cuts the next word off `*rest`. Returns its length, or 0 after the last one. */
static size_t next_word(const char **rest, const char **ret)
{
	const char *word = *rest + strspn(*rest, BLANKS);
	size_t length = strcspn(word, BLANKS);

	*rest = word + length;
	*ret = word;
	return length;
}

static bool is_word(const char *word, size_t length, const char *text)
{
	return strlen(text) == length && strncmp(word, text, length) == 0;
}

static bool ignores(const char *text, const struct rule *rule)
{
	const char *word;
	size_t length;

	while ((length = next_word(&text, &word)) > 0)
		if (is_word(word, length, "*") || is_word(word, length, rule->name))
			return true;
	return false;
}

/* `value` has `length` bytes. Returns whether it is a threshold. */
static bool read_threshold(const char *value, size_t length, const struct rule *rule, double *ret)
{
	char copy[32];
	bool time;

	if (length >= sizeof(copy))
		return false;
	memcpy(copy, value, length);
	copy[length] = '\0';
	return nanoseconds_parse_threshold(&rule->metric, copy, rule->nominal_hz, ret, &time) == 0;
}

static void find_threshold(const char *text, const struct rule *rule, struct preference_effect *effect)
{
	const size_t name = strlen(rule->name);
	const char *word;
	size_t length;

	while ((length = next_word(&text, &word)) > 0) {
		/* The word is only the rule's name, for example from "RULE =VALUE". */
		if (is_word(word, length, rule->name))
			effect->malformed = true;
		if (length <= name || word[name] != '=' || strncmp(word, rule->name, name) != 0)
			continue;
		/* If two thresholds name the same rule, neither is used. */
		if (effect->has_threshold ||
		    !read_threshold(word + name + 1, length - name - 1, rule, &effect->threshold))
			effect->malformed = true;
		else
			effect->has_threshold = true;
	}
	if (effect->malformed) {
		effect->has_threshold = false;
		effect->threshold = 0;
	}
}

void preference_apply(const struct preference *preference, const struct rule *rule,
		      struct preference_effect *ret)
{
	struct preference_effect effect = {0};
	bool said;

	if (preference->ignore)
		effect.ignored = ignores(preference->ignore, rule);
	if (preference->threshold)
		find_threshold(preference->threshold, rule, &effect);
	said = effect.ignored || effect.has_threshold || effect.malformed;
	if (said && !preference->owner_is_root && !rule->trust_owner)
		effect = (struct preference_effect){.untrusted = true};
	*ret = effect;
}

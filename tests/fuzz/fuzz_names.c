// SPDX-License-Identifier: GPL-2.0
/*
 * Any bytes as the name of a cgroup, on each way out: JSON, Prometheus, a line of the log, a terminal, the
 * environment of an alert's unit. The label, the JSON and the environment are read back and must be exactly the
 * name in its printable form. The texts for the log and a terminal must have no control characters and keep to
 * their length or width. Also tries any bytes as patterns and paths, and as extended attributes of a cgroup.
 */
#include <json-c/json.h>
#include <locale.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "act/facts.h"
#include "base/cleanup.h"
#include "base/glob.h"
#include "base/json_get.h"
#include "base/text.h"
#include "base/utf8.h"
#include "cgroup/plain_path.h"
#include "export/json/json.h"
#include "export/prometheus/label.h"
#include "policy/preference.h"
#include "rule/metric.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define DEMAND(condition)         \
	do {                      \
		if (!(condition)) \
			abort();  \
	} while (0)

#define FACT "PEBSD_CGROUP"

static bool has_control(const char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text < ' ' || *text == 0x7f)
			return true;
	return false;
}

/*
 * Reads a quoted string up to the first quote without a backslash before it. A backslash stands for the
 * character after it. With `newlines`, \n stands for a newline.
 */
static char *read_quoted(const char *text, bool newlines, const char **ret_end)
{
	char *value = malloc(strlen(text) + 1), *to = value;

	DEMAND(value);
	for (; *text && *text != '"'; text++) {
		if (*text != '\\') {
			*to++ = *text;
			continue;
		}
		text++;
		DEMAND(*text);
		*to++ = (char)(newlines && *text == 'n' ? '\n' : *text);
	}
	*to = '\0';
	*ret_end = text;
	return value;
}

static void check_label(const char *name, const char *shown)
{
	_cleanup_free_ char *escaped = NULL;
	_cleanup_free_ char *read = NULL;
	const char *end;

	DEMAND(label_escape(name, &escaped) == 0);
	DEMAND(!strchr(escaped, '\n'));
	read = read_quoted(escaped, true, &end);
	DEMAND(!*end && strcmp(read, shown) == 0);
}

static void check_json(const char *name, const char *shown)
{
	_cleanup_json_ json_object *object = json_name(name);
	_cleanup_json_ json_object *again = NULL;
	const char *text = json_object_to_json_string_ext(object, JSON_C_TO_STRING_PLAIN);

	/* DEL is not a control character in JSON (RFC 8259, section 7). */
	DEMAND(text && utf8_is_valid(text));
	for (const char *at = text; *at; at++)
		DEMAND((unsigned char)*at >= ' ');
	again = json_tokener_parse(text);
	DEMAND(json_object_is_type(again, json_type_string) &&
	       strcmp(json_object_get_string(again), shown) == 0);
}

static void check_facts(const char *name, const char *shown)
{
	const struct facts facts = {.n = 1, .list = {{.name = FACT, .value = (char *)name}}};
	_cleanup_free_ char *text = NULL;
	_cleanup_free_ char *read = NULL;
	const char *end;

	DEMAND(facts_format(&facts, &text) == 0);
	DEMAND(strncmp(text, FACT "=\"", strlen(FACT "=\"")) == 0);
	read = read_quoted(text + strlen(FACT "=\""), false, &end);
	DEMAND(strcmp(end, "\"\n") == 0 && strcmp(read, shown) == 0);
}

static void check_lines(const char *name, uint8_t width)
{
	_cleanup_free_ char *plain = strdup(name);
	_cleanup_free_ char *visible = text_visible(name);
	_cleanup_free_ char *tail = NULL;

	DEMAND(plain && visible);
	utf8_make_plain(plain);
	DEMAND(strlen(plain) == strlen(name) && utf8_is_valid(plain) && !has_control(plain));
	DEMAND(!has_control(visible));
	tail = text_tail(visible, width, width & 1);
	DEMAND(tail && !has_control(tail) && text_width(tail) <= width);
}

static void check_name(const char *name, uint8_t width)
{
	_cleanup_free_ char *shown = NULL;

	DEMAND(utf8_show(name, &shown) == 0);
	DEMAND(utf8_is_valid(shown) && utf8_is_shown_as(name, shown));
	check_label(name, shown);
	check_json(name, shown);
	check_facts(name, shown);
	check_lines(name, width);
	(void)plain_path(name);
}

static void check_pattern(const char *pattern, const char *path)
{
	if (strlen(pattern) <= GLOB_PATTERN_MAX && !strpbrk(pattern, "*?"))
		DEMAND(glob_match(pattern, path) == (strcmp(pattern, path) == 0));
	(void)glob_match(pattern, path);
}

static void check_attributes(const char *ignore, const char *threshold, uint8_t how)
{
	struct rule rule = {.name = "slow-db", .threshold = 900, .clear = 700, .trust_owner = how & 1};
	const struct preference preference = {
		.owner_is_root = how & 2, .ignore = ignore, .threshold = threshold};
	struct preference_effect effect;

	DEMAND(metric_parse(how & 4 ? "share:l1" : "p99", &rule.metric) == 0);
	preference_apply(&preference, &rule, &effect);
	DEMAND(!effect.untrusted || (!effect.ignored && !effect.has_threshold));
	DEMAND(effect.has_threshold || effect.threshold == 0);
	DEMAND(!effect.has_threshold || effect.threshold == effect.threshold); /* not NAN */
}

/* The input has the number of the test, a parameter of it, and one text, or two texts with a 0 between them. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_free_ char *text = NULL;
	const char *second;

	if (size < 2 || size > 2 + 8192)
		return 0;
	DEMAND(setlocale(LC_CTYPE, "C.UTF-8"));
	text = malloc(size);
	DEMAND(text);
	memcpy(text, data + 2, size - 2);
	text[size - 2] = '\0';
	second = text + strlen(text) < text + size - 2 ? text + strlen(text) + 1 : "";
	switch (data[0] % 3) {
	case 0:
		check_name(text, data[1]);
		break;
	case 1:
		check_pattern(text, second);
		break;
	default:
		check_attributes(text, second, data[1]);
	}
	return 0;
}

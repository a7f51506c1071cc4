// SPDX-License-Identifier: GPL-2.0
/*
 * Any JSON as the answer of a daemon to pebsctl. Byte 0 selects the screen and byte 1 the terminal. A byte
 * 0xff, which JSON never contains, starts a second answer. Whatever names and texts it contains, the output
 * must be UTF-8 without control characters.
 */
#include <locale.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_get.h"
#include "base/utf8.h"
#include "format/format.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void show(FILE *out, unsigned screen, json_object *one, json_object *other,
		 const struct format_style *style)
{
	const time_t now = 1795240800;

	switch (screen % 13) {
	case 0:
		format_status(out, one, other, style);
		break;
	case 1:
		format_top(out, one, other, style);
		break;
	case 2:
		format_cgroup(out, one, other, NULL, style);
		break;
	case 3:
		format_cgroup(out, one, other, other, style);
		break;
	case 4:
		format_hot(out, one, other, style);
		break;
	case 5:
		format_zoom(out, one, now, style);
		break;
	case 6:
		format_zoomed(out, one, other, now, style);
		format_zoom_samples(out, one, style);
		break;
	case 7:
		format_rules(out, one, style);
		break;
	case 8:
		format_alerts(out, one, other, now, style);
		break;
	case 9:
		format_explain_asked(out, one, "slow", "/db", style);
		format_explain(out, one, other, other, now, style);
		break;
	case 10:
		format_neighbours(out, one, style);
		break;
	case 12:
		format_compare(out, one, style);
		break;
	default:
		format_item(out, one, &(struct format_style){0});
		break;
	}
}

static void check(const char *text)
{
	if (!utf8_is_valid(text))
		abort();
	for (; *text; text++)
		if (((unsigned char)*text < ' ' && *text != '\n') || *text == 0x7f)
			abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_json_ json_object *one = NULL, *other = NULL;
	_cleanup_free_ char *text = NULL;
	struct format_style style = {0};
	const char *answer;
	const char *end;
	size_t length;
	FILE *out;

	if (size < 3 || !setlocale(LC_CTYPE, "C.UTF-8"))
		return 0;
	style.utf8 = data[1] & 1;
	style.width = data[1] >> 1;
	answer = (const char *)data + 2;
	size -= 2;
	end = memchr(answer, 0xff, size);
	length = end ? (size_t)(end - answer) : size;
	if (json_parse(answer, length, 32, &one) < 0 || !json_object_is_type(one, json_type_object))
		return 0;
	if (end && (json_parse(end + 1, size - length - 1, 32, &other) < 0 ||
		    !json_object_is_type(other, json_type_object)))
		return 0;
	out = open_memstream(&text, &length);
	if (!out)
		return 0;
	show(out, data[0], one, other ? other : one, &style);
	if (fclose(out) == 0)
		check(text);
	return 0;
}

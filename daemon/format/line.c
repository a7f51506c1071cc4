// SPDX-License-Identifier: GPL-2.0
#include "format/line.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/json_get.h"
#include "base/moment.h"
#include "rule/quantity.h"

/* Returns the bytes of `text` that fit in `width` columns: whole words, at least one. */
static size_t words_that_fit(const char *text, size_t width)
{
	size_t fits = text_cut(text, width);

	if (!text[fits])
		return fits;
	while (fits > 0 && text[fits] != ' ')
		fits--;
	return fits > 0 ? fits : strcspn(text, " ");
}

void line_put(FILE *out, const struct format_style *style, const char *label, const char *format, ...)
{
	size_t indent = label ? LINE_LABEL + 2 : 0;
	_cleanup_free_ char *text = NULL;
	const char *rest;
	va_list arguments;

	va_start(arguments, format);
	if (vasprintf(&text, format, arguments) < 0)
		text = NULL;
	va_end(arguments);
	rest = text ? text : "?";

	if (label)
		(void)fprintf(out, "%*s%s ", LINE_LABEL, label, *label ? ":" : " ");
	for (;;) {
		size_t width = style->width > indent ? style->width - indent : 1;
		size_t length = style->width ? words_that_fit(rest, width) : strlen(rest);

		(void)fprintf(out, "%.*s\n", (int)length, rest);
		rest += length;
		rest += strspn(rest, " ");
		if (!*rest)
			return;
		(void)fprintf(out, "%*s", (int)indent, "");
	}
}

void line_head(FILE *out, const struct format_style *style, const char *text)
{
	(void)fprintf(out, style->bold ? "\033[1m%s\033[0m\n" : "%s\n", text);
}

const char *line_colour(const struct format_style *style, enum line_mood mood)
{
	static const char *const sequences[] = {[LINE_PLAIN] = "",
						[LINE_GOOD] = "\033[32m",
						[LINE_WARNING] = "\033[33m",
						[LINE_BAD] = "\033[31m"};

	return style->colour ? sequences[mood] : "";
}

const char *line_colour_end(const struct format_style *style, enum line_mood mood)
{
	return style->colour && mood != LINE_PLAIN ? "\033[0m" : "";
}

void line_percent(double part, double whole, char ret[TEXT_NUMBER_MAX])
{
	double percent = 100 * part / whole;

	if (!(whole > 0))
		(void)snprintf(ret, TEXT_NUMBER_MAX, "-");
	else if (part > 0 && percent < 0.05)
		(void)snprintf(ret, TEXT_NUMBER_MAX, "<0.1%%");
	else
		(void)snprintf(ret, TEXT_NUMBER_MAX, "%.1f%%", percent);
}

void line_rate(double rate, char ret[TEXT_NUMBER_MAX])
{
	if (!isfinite(rate))
		(void)snprintf(ret, TEXT_NUMBER_MAX, "-");
	else if (rate < 99.95 || rate >= LINE_DIGITS_END)
		(void)snprintf(ret, TEXT_NUMBER_MAX, "%.3g", rate);
	else
		text_count((u64)(rate + 0.5), ret);
}

void line_byte_rate(double rate, char ret[TEXT_NUMBER_MAX])
{
	const char *unit = quantity_byte_rate(rate, &rate);

	(void)snprintf(ret, TEXT_NUMBER_MAX, rate < 999.5 ? "%.3g %s" : "%.0f %s", rate, unit);
}

const char *line_visible(const char *text, char **ret)
{
	*ret = text_visible(text ? text : "-");
	return *ret ? *ret : "?";
}

char *line_list(json_object *list, const char *separator)
{
	size_t n = list ? json_object_array_length(list) : 0;
	_cleanup_fclose_ FILE *out = NULL;
	_cleanup_free_ char *text = NULL;
	size_t length;

	out = open_memstream(&text, &length);
	if (!out)
		return NULL;
	for (size_t i = 0; i < n; i++) {
		json_object *item = json_object_array_get_idx(list, i);
		_cleanup_free_ char *kept = NULL;

		(void)fprintf(out, "%s%s", i ? separator : "",
			      line_visible(json_object_is_type(item, json_type_string)
						   ? json_object_get_string(item)
						   : NULL,
					   &kept));
	}
	if (n == 0)
		(void)fputc('-', out);
	return fclose(TAKE_PTR(out)) == 0 ? TAKE_PTR(text) : NULL;
}

const char *line_cgroup_text(const struct format_style *style, const json_object *object)
{
	const char *name = style->full ? NULL : json_get_text(object, "name");

	return name ? name : json_get_text(object, "cgroup");
}

const char *line_cgroup(const struct format_style *style, const json_object *object, char **ret)
{
	return line_visible(line_cgroup_text(style, object), ret);
}

void line_put_cgroup(FILE *out, const struct format_style *style, const json_object *object, const char *rest)
{
	const char *name = json_get_text(object, "name"), *path = json_get_text(object, "cgroup");
	_cleanup_free_ char *shown = NULL, *whole = NULL;

	line_put(out, style, "Cgroup", "%s%s", line_visible(name ? name : path, &shown), rest);
	if (name && path && strcmp(name, path) != 0)
		line_put(out, style, "Path", "%s", line_visible(path, &whole));
}

static const char *show_time(const struct format_style *style, time_t time, char ret[LINE_TIME_MAX])
{
	char text[MOMENT_TEXT_MAX];

	moment_show(time, style->zone ? style->zone : moment_utc, text);
	(void)snprintf(ret, LINE_TIME_MAX, "%s", *text ? text : "an unknown time");
	return ret;
}

const char *line_time(const struct format_style *style, const char *time, char ret[LINE_TIME_MAX])
{
	return line_since(style, time, 0, ret);
}

const char *line_since(const struct format_style *style, const char *time, time_t now,
		       char ret[LINE_TIME_MAX])
{
	char age[TEXT_NUMBER_MAX];
	size_t length;
	time_t since;

	if (!time || text_parse_time(time, &since) < 0) {
		(void)snprintf(ret, LINE_TIME_MAX, "an unknown time");
		return ret;
	}
	(void)show_time(style, since, ret);
	length = strlen(ret);
	if (now && now >= since) {
		text_span((double)(now - since), age);
		(void)snprintf(ret + length, LINE_TIME_MAX - length, "; %s ago", age);
	}
	return ret;
}

/* Writes the time at the start of `text`, if one is there. Returns its length in `text`; 0: none is there. */
static size_t sentence_time(const struct format_style *style, const char *text, char ret[LINE_TIME_MAX])
{
	static const char form[] = "0000-00-00T00:00:00Z";
	const size_t length = sizeof(form) - 1;
	char time[sizeof(form)];
	time_t moment;

	for (size_t i = 0; i < length; i++)
		if (form[i] == '0' ? text[i] < '0' || text[i] > '9' : text[i] != form[i])
			return 0;
	(void)snprintf(time, sizeof(time), "%.*s", (int)length, text);
	if (text_parse_time(time, &moment) < 0)
		return 0;
	(void)show_time(style, moment, ret);
	return length;
}

const char *line_sentence(const struct format_style *style, const char *text, char **ret)
{
	_cleanup_free_ char *written = NULL;
	size_t bytes;
	FILE *out = open_memstream(&written, &bytes);

	for (const char *at = text ? text : ""; out && *at;) {
		char time[LINE_TIME_MAX];
		size_t length = sentence_time(style, at, time);

		if (length > 0)
			(void)fputs(time, out);
		else
			(void)fputc(*at, out);
		at += length ? length : 1;
	}
	return line_visible(out && fclose(out) == 0 && text ? written : text, ret);
}

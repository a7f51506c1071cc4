// SPDX-License-Identifier: GPL-2.0
#include "format/line.h"

#include <stdarg.h>
#include <string.h>

#include "base/cleanup.h"

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
	if (rate < 99.95)
		(void)snprintf(ret, TEXT_NUMBER_MAX, "%.3g", rate);
	else
		text_count((u64)(rate + 0.5), ret);
}

const char *line_visible(const char *text, char **ret)
{
	*ret = text_visible(text ? text : "-");
	return *ret ? *ret : "?";
}

const char *line_time(const char *time, char ret[TEXT_TIME_MAX + 8])
{
	time_t seconds;
	struct tm tm;

	if (!time || text_parse_time(time, &seconds) < 0 || !gmtime_r(&seconds, &tm) ||
	    !strftime(ret, TEXT_TIME_MAX, "%Y-%m-%d %H:%M:%S UTC", &tm))
		(void)snprintf(ret, TEXT_TIME_MAX, "an unknown time");
	return ret;
}

// SPDX-License-Identifier: GPL-2.0
#include "format/location.h"

#include <math.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/json_get.h"
#include "format/figure.h"

#define ROUNDING 1e-6 /* tolerates the binary representation of tenths of a percent */

void location_put_share(FILE *out, bool known, double part, double whole)
{
	char text[TEXT_NUMBER_MAX] = "-";

	if (known && whole > 0)
		line_percent(part, whole, text);
	(void)fprintf(out, "%6s", text);
}

void location_put_count(FILE *out, int width, const json_object *object, const char *key)
{
	char text[TEXT_NUMBER_MAX] = "-";
	u64 count;

	if (json_get_u64(object, key, &count))
		text_short_count((double)count, text);
	(void)fprintf(out, " %*s", width, text);
}

void location_share_bounds(const json_object *bounds, char ret[LOCATION_BOUNDS_MAX])
{
	double low, high;

	(void)snprintf(ret, LOCATION_BOUNDS_MAX, "-");
	if (!json_get_double(bounds, "low", &low) || !json_get_double(bounds, "high", &high) || !(low >= 0) ||
	    !(high >= low) || high > 1e6)
		return;
	/* Round outwards, so that the printed values are bounds, too. */
	low = floor(1000 * low + ROUNDING) / 10;
	high = ceil(1000 * high - ROUNDING) / 10;
	if (low >= high)
		(void)snprintf(ret, LOCATION_BOUNDS_MAX, "%.1f%%", low);
	else
		(void)snprintf(ret, LOCATION_BOUNDS_MAX, "%.1f - %.1f%%", low, high);
}

void location_count_bounds(const json_object *bounds, char ret[LOCATION_BOUNDS_MAX])
{
	char low_text[TEXT_NUMBER_MAX], high_text[TEXT_NUMBER_MAX];
	u64 low, high;

	(void)snprintf(ret, LOCATION_BOUNDS_MAX, "-");
	if (!json_get_u64(bounds, "low", &low) || !json_get_u64(bounds, "high", &high))
		return;
	text_short_count((double)low, low_text);
	text_short_count((double)high, high_text);
	if (strcmp(low_text, high_text) == 0)
		(void)snprintf(ret, LOCATION_BOUNDS_MAX, "%s", high_text);
	else
		(void)snprintf(ret, LOCATION_BOUNDS_MAX, "%s - %s", low_text, high_text);
}

void location_put_sources(FILE *out, json_object *sources)
{
	u64 groups[FIGURE_GROUPS] = {0};
	u32 cells[FIGURE_GROUPS];
	char bar[LOCATION_BAR + 1] = "-";
	size_t length = 0;

	(void)figure_count_groups(sources, groups);
	text_divide(groups, FIGURE_GROUPS, LOCATION_BAR, cells);
	for (size_t i = 0; i < FIGURE_GROUPS; i++)
		for (u32 cell = 0; cell < cells[i] && length < LOCATION_BAR; cell++)
			bar[length++] = figure_letters[i];
	(void)fprintf(out, " %-*s", LOCATION_BAR, bar);
}

static const char *last_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

/*
 * Returns the first `parts` of "rows.c:120 postgres 0x5621d09f1138". Paths are complete if the width is
 * unlimited. NULL: no memory.
 */
static char *origin_of(const json_object *function, const struct format_style *style, unsigned int parts)
{
	const char *name = json_get_text(function, "name"), *file = json_get_text(function, "file");
	const char *texts[3] = {file, json_get_text(function, "module"), json_get_text(function, "address")};
	_cleanup_fclose_ FILE *out = NULL;
	_cleanup_free_ char *text = NULL;
	bool first = true;
	size_t length;
	u64 number;

	/* A name such as "[unknown] libz.so.1+0x41f0" already contains the module. */
	if (name && *name == '[')
		texts[1] = NULL;
	out = open_memstream(&text, &length);
	if (!out)
		return NULL;
	for (size_t i = 0; i < ARRAY_SIZE(texts) && parts > 0; i++) {
		_cleanup_free_ char *kept = NULL;

		if (!texts[i])
			continue;
		(void)fprintf(out, "%s%s", first ? "" : " ",
			      line_visible(style->width ? last_name(texts[i]) : texts[i], &kept));
		if (i == 0 && json_get_u64(function, "line", &number) && number > 0)
			(void)fprintf(out, ":%llu", (unsigned long long)number);
		first = false;
		parts--;
	}
	return fclose(TAKE_PTR(out)) == 0 ? TAKE_PTR(text) : NULL;
}

void location_put_start(FILE *out, const char *text, size_t width)
{
	size_t fits =
		width && text_width(text) > width ? text_cut(text, width > 1 ? width - 1 : 1) : strlen(text);

	(void)fprintf(out, "%.*s%s", (int)fits, text, text[fits] ? ">" : "");
}

void location_put_function(FILE *out, const struct format_style *style, const json_object *function,
			   const char *name, bool place, size_t width)
{
	_cleanup_free_ char *kept = NULL, *whole = NULL;
	const char *text = line_visible(json_get_text(function, name), &kept);
	char offset[TEXT_NUMBER_MAX] = "";
	size_t columns;
	u64 number;

	/* The text for an unknown name already contains the offset. */
	if (place && json_get_u64(function, "offset", &number) && *text != '[')
		(void)snprintf(offset, sizeof(offset), "+0x%llx", (unsigned long long)number);
	if (asprintf(&whole, "%s%s", text, offset) < 0)
		whole = NULL;
	text = whole ? whole : text;
	columns = text_width(text);
	location_put_start(out, text, width);
	for (unsigned int parts = 3; parts > 0; parts--) {
		_cleanup_free_ char *origin = origin_of(function, style, parts);

		if (origin && *origin && (!width || columns + 2 + text_width(origin) <= width)) {
			(void)fprintf(out, "  %s", origin);
			break;
		}
	}
	(void)fputc('\n', out);
}

void location_put_head(FILE *out, const struct format_style *style, const char *head)
{
	(void)fputc('\n', out);
	line_head(out, style, head);
}

size_t location_rest(const struct format_style *style, size_t used, size_t least)
{
	if (!style->width)
		return 0;
	return style->width > used + least ? style->width - used : least;
}

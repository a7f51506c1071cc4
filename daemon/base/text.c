// SPDX-License-Identifier: GPL-2.0
#include "base/text.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "base/cleanup.h"

void text_time(const struct timespec *time, char ret[TEXT_TIME_MAX])
{
	struct tm tm;

	ret[0] = '\0';
	if (gmtime_r(&time->tv_sec, &tm))
		(void)strftime(ret, TEXT_TIME_MAX, "%Y-%m-%dT%H:%M:%SZ", &tm);
}

int text_parse_time(const char *text, time_t *ret)
{
	struct tm tm = {0}, day;
	const char *end = strptime(text, "%Y-%m-%dT%H:%M:%SZ", &tm);

	if (!end || *end)
		return -EINVAL;
	/* timegm() makes another day of one that does not exist. */
	day = (struct tm){.tm_year = tm.tm_year, .tm_mon = tm.tm_mon, .tm_mday = tm.tm_mday};
	(void)timegm(&day);
	if (day.tm_mday != tm.tm_mday)
		return -EINVAL;
	*ret = timegm(&tm);
	return 0;
}

void text_count(u64 count, char ret[TEXT_NUMBER_MAX])
{
	char digits[TEXT_NUMBER_MAX];
	size_t n = (size_t)snprintf(digits, sizeof(digits), "%llu", (unsigned long long)count);
	size_t at = 0;

	for (size_t i = 0; i < n; i++) {
		if (i > 0 && (n - i) % 3 == 0)
			ret[at++] = ',';
		ret[at++] = digits[i];
	}
	ret[at] = '\0';
}

void text_short_count(double count, char ret[TEXT_NUMBER_MAX])
{
	static const char units[] = "kMGTPEZY";
	size_t unit = 0;

	if (count < 99999.5) {
		(void)snprintf(ret, TEXT_NUMBER_MAX, "%.0f", count);
		return;
	}
	/* Divide by 1000 until at most three digits are left after rounding. */
	count /= 1000;
	while (count >= 999.5 && units[unit + 1]) {
		count /= 1000;
		unit++;
	}
	(void)snprintf(ret, TEXT_NUMBER_MAX, "%.*f%c",
		       count < 9.995   ? 2
		       : count < 99.95 ? 1
				       : 0,
		       count, units[unit]);
}

void text_bytes(u64 bytes, char ret[TEXT_NUMBER_MAX])
{
	static const char *const units[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
	double value = (double)bytes / 1024;
	size_t unit = 0;

	if (bytes < 1024) {
		(void)snprintf(ret, TEXT_NUMBER_MAX, "%llu B", (unsigned long long)bytes);
		return;
	}
	while (value >= 1023.95 && unit + 1 < ARRAY_SIZE(units)) {
		value /= 1024;
		unit++;
	}
	(void)snprintf(ret, TEXT_NUMBER_MAX, "%.1f %s", value, units[unit]);
}

void text_span(double seconds, char ret[TEXT_NUMBER_MAX])
{
	u64 whole;

	if (!(seconds >= 0 && seconds < 1e15)) {
		(void)snprintf(ret, TEXT_NUMBER_MAX, "-");
		return;
	}
	if (seconds == 0) {
		(void)snprintf(ret, TEXT_NUMBER_MAX, "0s");
		return;
	}
	if (seconds < 0.9995) {
		(void)snprintf(ret, TEXT_NUMBER_MAX, "%.3gms", seconds * 1000);
		return;
	}
	if (seconds < 59.95) {
		(void)snprintf(ret, TEXT_NUMBER_MAX, "%.3gs", seconds);
		return;
	}
	whole = (u64)(seconds + 0.5);
	if (whole < 3600)
		(void)snprintf(ret, TEXT_NUMBER_MAX, "%llumin %llus", (unsigned long long)whole / 60,
			       (unsigned long long)whole % 60);
	else if (whole < 86400)
		(void)snprintf(ret, TEXT_NUMBER_MAX, "%lluh %llumin", (unsigned long long)whole / 3600,
			       (unsigned long long)whole / 60 % 60);
	else
		(void)snprintf(ret, TEXT_NUMBER_MAX, "%llud %lluh", (unsigned long long)whole / 86400,
			       (unsigned long long)whole / 3600 % 24);
}

void text_nanoseconds(double seconds, char ret[TEXT_NUMBER_MAX])
{
	static const char *const units[] = {"ns", "us", "ms", "s"};
	double value = seconds * 1e9;
	size_t unit = 0;

	if (!(value >= 0 && value < 1e15)) {
		(void)snprintf(ret, TEXT_NUMBER_MAX, "-");
		return;
	}
	while (value >= 999.5 && unit + 1 < ARRAY_SIZE(units)) {
		value /= 1000;
		unit++;
	}
	(void)snprintf(ret, TEXT_NUMBER_MAX, value < 999.5 ? "%.3g %s" : "%.0f %s", value, units[unit]);
}

void text_frequency(double hz, char ret[TEXT_NUMBER_MAX])
{
	if (hz < 999.95e6)
		(void)snprintf(ret, TEXT_NUMBER_MAX, "%.4g MHz", hz / 1e6);
	else
		(void)snprintf(ret, TEXT_NUMBER_MAX, "%.4g GHz", hz / 1e9);
}

/*
 * Returns the number of bytes of the visible character at `text`, and sets `*ret_width` to its columns.
 * Returns 0 if there is none.
 */
static size_t visible_character(const char *text, size_t *ret_width)
{
	mbstate_t state = {0};
	wchar_t character;
	size_t length = mbrtowc(&character, text, strlen(text), &state);
	int width;

	if (length == 0 || length == (size_t)-1 || length == (size_t)-2)
		return 0;
	/* Width 0: combining marks, and the controls that change the direction of the text after them. */
	width = wcwidth(character);
	if (width <= 0)
		return 0;
	*ret_width = (size_t)width;
	return length;
}

char *text_visible(const char *name)
{
	char *visible = malloc(4 * strlen(name) + 1);
	size_t at = 0;

	if (!visible)
		return NULL;
	while (*name) {
		size_t width;
		size_t length = visible_character(name, &width);

		if (length == 0) {
			at += (size_t)sprintf(visible + at, "\\x%02x", (unsigned char)*name++);
			continue;
		}
		memcpy(visible + at, name, length);
		at += length;
		name += length;
	}
	visible[at] = '\0';
	return visible;
}

size_t text_width(const char *text)
{
	size_t columns = 0;

	while (*text) {
		size_t width = 1;
		size_t length = visible_character(text, &width);

		columns += width;
		text += length ? length : 1;
	}
	return columns;
}

char *text_tail(const char *text, size_t width, bool utf8)
{
	const char *ellipsis = utf8 ? "…" : "...";
	size_t ellipsis_width = utf8 ? 1 : 3;
	size_t columns = text_width(text);
	char *tail;

	if (columns <= width)
		return strdup(text);
	if (width <= ellipsis_width)
		return strndup("...", width);
	while (columns > width - ellipsis_width) {
		size_t character_width = 1;
		size_t length = visible_character(text, &character_width);

		columns -= character_width;
		text += length ? length : 1;
	}
	return asprintf(&tail, "%s%s", ellipsis, text) < 0 ? NULL : tail;
}

size_t text_cut(const char *text, size_t width)
{
	const char *at = text;
	size_t columns = 0;

	while (*at) {
		size_t character_width = 1;
		size_t length;

		if (strncmp(at, "\033[", 2) == 0 && strchr(at, 'm')) {
			at = strchr(at, 'm') + 1;
			continue;
		}
		length = visible_character(at, &character_width);
		if (columns + character_width > width)
			break;
		columns += character_width;
		at += length ? length : 1;
	}
	return (size_t)(at - text);
}

void text_bar(double share, size_t width, bool utf8, char ret[TEXT_BAR_MAX])
{
	static const char *const eighths[] = {"▏", "▎", "▍", "▌", "▋", "▊", "▉", "█"};
	unsigned int steps_a_column = utf8 ? 8 : 1;
	unsigned int steps;
	size_t at = 0;

	if (!(share > 0))
		share = 0;
	if (share > 1)
		share = 1;
	if (width > TEXT_BAR_COLUMNS)
		width = TEXT_BAR_COLUMNS;
	steps = (unsigned int)lround(share * (double)width * steps_a_column);
	if (steps == 0 && share > 0)
		steps = 1;

	ret[0] = '\0';
	while (steps > 0) {
		unsigned int step = steps < steps_a_column ? steps : steps_a_column;

		at += (size_t)snprintf(ret + at, TEXT_BAR_MAX - at, "%s", utf8 ? eighths[step - 1] : "#");
		steps -= step;
	}
}

void text_divide(const u64 *parts, size_t n, u32 cells, u32 *ret)
{
	double remainders[TEXT_PARTS_MAX];
	double sum = 0;
	u32 given = 0;

	for (size_t i = 0; i < n; i++)
		sum += (double)parts[i];
	for (size_t i = 0; i < n; i++) {
		double exact = sum > 0 ? (double)parts[i] * cells / sum : 0;

		ret[i] = (u32)exact;
		remainders[i] = exact - ret[i];
		given += ret[i];
	}
	while (sum > 0 && given < cells) {
		size_t best = 0;

		for (size_t i = 1; i < n; i++)
			if (remainders[i] > remainders[best])
				best = i;
		ret[best]++;
		remainders[best] = -1;
		given++;
	}
}

// SPDX-License-Identifier: GPL-2.0
#include <criterion/criterion.h>
#include <errno.h>
#include <locale.h>
#include <math.h>

#include "base/cleanup.h"
#include "base/text.h"

static void use_utf8(void)
{
	cr_assert_not_null(setlocale(LC_CTYPE, "C.UTF-8"));
}

Test(text, times_are_formatted)
{
	char text[TEXT_TIME_MAX];
	time_t time = 0;

	text_time(&(struct timespec){.tv_sec = 1795240800}, text);
	cr_expect_str_eq(text, "2026-11-21T06:00:00Z");
	cr_assert_eq(text_parse_time(text, &time), 0);
	cr_expect_eq(time, 1795240800);
	cr_expect_eq(text_parse_time("2026-11-21T06:00:00Zx", &time), -EINVAL);
	cr_expect_eq(text_parse_time("yesterday", &time), -EINVAL);
	cr_expect_eq(text_parse_time("2026-02-29T06:00:00Z", &time), -EINVAL,
		     "February 2026 ends on the 28th");
	cr_expect_eq(text_parse_time("2026-11-31T00:00:00Z", &time), -EINVAL);
	cr_expect_eq(time, 1795240800);
	cr_assert_eq(text_parse_time("2028-02-29T23:59:60Z", &time), 0, "a leap second");
	cr_expect_eq(time, 1835481600);
}

Test(text, numbers_are_formatted)
{
	static const struct {
		double count;
		const char *text;
	} counts[] = {{0, "0"},           {99999, "99999"},  {99999.6, "100k"}, {123456, "123k"},
		      {999499, "999k"},   {999500, "1.00M"}, {1e6, "1.00M"},    {9.994e6, "9.99M"},
		      {9.996e6, "10.0M"}, {45.6e6, "45.6M"}, {99.96e6, "100M"}, {7.89e9, "7.89G"},
		      {1.8e19, "18.0E"}};
	char text[TEXT_NUMBER_MAX];

	for (size_t i = 0; i < ARRAY_SIZE(counts); i++) {
		text_short_count(counts[i].count, text);
		cr_expect_str_eq(text, counts[i].text);
	}
	text_count(0, text);
	cr_expect_str_eq(text, "0");
	text_count(999, text);
	cr_expect_str_eq(text, "999");
	text_count(1234567, text);
	cr_expect_str_eq(text, "1,234,567");
	text_count(~0ULL, text);
	cr_expect_str_eq(text, "18,446,744,073,709,551,615");
	text_bytes(512, text);
	cr_expect_str_eq(text, "512 B");
	text_bytes(10 * 1024 * 1024 + 200000, text);
	cr_expect_str_eq(text, "10.2 MiB");
	text_bytes(1024 * 1024 - 1, text);
	cr_expect_str_eq(text, "1.0 MiB");
}

Test(text, short_times_are_formatted)
{
	static const struct {
		double seconds;
		const char *text;
	} times[] = {{0, "0 ns"},          {59e-9, "59 ns"},     {3.14159e-9, "3.14 ns"},
		     {999.4e-9, "999 ns"}, {999.6e-9, "1 us"},   {1.5e-6, "1.5 us"},
		     {403e-6, "403 us"},   {2.34e-3, "2.34 ms"}, {12, "12 s"},
		     {12345, "12345 s"},   {-1e-9, "-"},         {NAN, "-"},
		     {INFINITY, "-"}};
	char text[TEXT_NUMBER_MAX];

	for (size_t i = 0; i < ARRAY_SIZE(times); i++) {
		text_nanoseconds(times[i].seconds, text);
		cr_expect_str_eq(text, times[i].text, "%s, not %s", text, times[i].text);
	}
}

Test(text, frequencies_are_formatted)
{
	char text[TEXT_NUMBER_MAX];

	text_frequency(2.6e9, text);
	cr_expect_str_eq(text, "2.6 GHz");
	text_frequency(2596e6, text);
	cr_expect_str_eq(text, "2.596 GHz");
	text_frequency(800e6, text);
	cr_expect_str_eq(text, "800 MHz");
	text_frequency(1e9, text);
	cr_expect_str_eq(text, "1 GHz");
}

Test(text, time_spans_are_formatted)
{
	static const struct {
		double seconds;
		const char *text;
	} spans[] = {{0, "0s"},         {0.000412, "0.412ms"},
		     {0.02, "20ms"},    {10, "10s"},
		     {12.34, "12.3s"},  {60, "1min 0s"},
		     {125, "2min 5s"},  {11040, "3h 4min"},
		     {453600, "5d 6h"}, {-1, "-"},
		     {NAN, "-"}};
	char text[TEXT_NUMBER_MAX];

	for (size_t i = 0; i < ARRAY_SIZE(spans); i++) {
		text_span(spans[i].seconds, text);
		cr_expect_str_eq(text, spans[i].text);
	}
}

Test(text, names_cannot_drive_a_terminal, .init = use_utf8)
{
	static const struct {
		const char *name, *visible;
	} names[] = {{"/system.slice/a b.service", "/system.slice/a b.service"},
		     {"a\033[2Jb", "a\\x1b[2Jb"},
		     {"a\nb\tc\x7f", "a\\x0ab\\x09c\\x7f"},
		     {"caf\xc3\xa9", "caf\xc3\xa9"},
		     {"c1 \xc2\x9b", "c1 \\xc2\\x9b"}, /* CSI as a single code point */
		     {"\xe2\x80\xaexyz\xe2\x80\xac", "\\xe2\\x80\\xaexyz\\xe2\\x80\\xac"}, /* right to left */
		     {"broken \xc3(", "broken \\xc3("},
		     {"cut \xe2\x82", "cut \\xe2\\x82"}};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		_cleanup_free_ char *visible = text_visible(names[i].name);

		cr_expect_str_eq(visible, names[i].visible);
	}
}

Test(text, names_outside_a_utf8_locale_are_ascii)
{
	_cleanup_free_ char *visible = text_visible("caf\xc3\xa9");

	cr_expect_str_eq(visible, "caf\\xc3\\xa9");
}

Test(text, width_is_in_columns, .init = use_utf8)
{
	cr_expect_eq(text_width("caf\xc3\xa9"), 4);
	cr_expect_eq(text_width("\xe6\xbc\xa2"), 2, "a wide character");
	cr_expect_eq(text_width(""), 0);
}

Test(text, tail_keeps_the_end, .init = use_utf8)
{
	static const struct {
		const char *text;
		size_t width;
		bool utf8;
		const char *tail;
	} tails[] = {{"/a/b.service", 12, true, "/a/b.service"},
		     {"/a/b.service", 10, true, "…b.service"},
		     {"/a/b.service", 10, false, "...service"},
		     {"/a/b.service", 3, false, "..."},
		     {"/a/b.service", 0, true, ""},
		     {"漢漢漢", 4, true, "…漢"}};

	for (size_t i = 0; i < ARRAY_SIZE(tails); i++) {
		_cleanup_free_ char *tail = text_tail(tails[i].text, tails[i].width, tails[i].utf8);

		cr_expect_str_eq(tail, tails[i].tail);
		cr_expect_leq(text_width(tail), tails[i].width);
	}
}

Test(text, lines_are_cut_by_columns, .init = use_utf8)
{
	cr_expect_eq(text_cut("abcdef", 4), 4);
	cr_expect_eq(text_cut("abc", 4), 3);
	cr_expect_eq(text_cut("\033[1mabcdef\033[0m", 4), 8);
	cr_expect_eq(text_cut("\033[1mabcd\033[0m", 4), 12, "the end of the style is kept");
	cr_expect_eq(text_cut("漢漢", 3), 3);
	cr_expect_eq(text_cut("…ab", 2), 4);
	cr_expect_eq(text_cut("a", 0), 0);
}

Test(text, bars_are_drawn)
{
	char bar[TEXT_BAR_MAX];

	text_bar(0.5, 10, false, bar);
	cr_expect_str_eq(bar, "#####");
	text_bar(0.5, 1, true, bar);
	cr_expect_str_eq(bar, "▌");
	text_bar(0.3125, 2, true, bar);
	cr_expect_str_eq(bar, "▋");
	text_bar(1, 3, true, bar);
	cr_expect_str_eq(bar, "███");
	text_bar(0, 10, true, bar);
	cr_expect_str_eq(bar, "");
	text_bar(1e-9, 10, true, bar);
	cr_expect_str_eq(bar, "▏", "what is there shows");
	text_bar(NAN, 10, false, bar);
	cr_expect_str_eq(bar, "");
	text_bar(7, 1000, true, bar);
	cr_expect_eq(strlen(bar), 3UL * TEXT_BAR_COLUMNS);
}

Test(text, cells_are_divided_whole)
{
	static const u64 parts[] = {1, 1, 1, 0};
	static const u64 nothing[] = {0, 0};
	static const u64 huge[] = {~0ULL, ~0ULL, ~0ULL};
	u32 cells[4];

	text_divide(parts, 4, 10, cells);
	cr_expect_eq(cells[0], 4);
	cr_expect_eq(cells[1], 3);
	cr_expect_eq(cells[2], 3);
	cr_expect_eq(cells[3], 0);
	text_divide(nothing, 2, 10, cells);
	cr_expect_eq(cells[0] + cells[1], 0);
	text_divide(huge, 3, 12, cells);
	cr_expect_eq(cells[0] + cells[1] + cells[2], 12);
}

// SPDX-License-Identifier: GPL-2.0
#include <criterion/criterion.h>
#include <errno.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "base/number.h"

Test(size, sizes_are_whole_numbers_with_units_of_1024)
{
	static const struct {
		const char *text;
		u64 bytes;
	} good[] = {{"0", 0},           {"4096", 4096},    {"4K", 4096}, {"64M", 64ULL << 20},
		    {"3G", 3ULL << 30}, {"2T", 2ULL << 40}};
	static const char *const bad[] = {"",    "M",   "4k",   "4KB", "4KiB", " 4K",
					  "4K ", "-4K", "4.5M", "4 K", "0x4K"};
	char text[NUMBER_TEXT_MAX];
	u64 bytes;

	for (size_t i = 0; i < ARRAY_SIZE(good); i++) {
		cr_expect_eq(size_parse(good[i].text, 0, UINT64_MAX, &bytes), 0, "%s", good[i].text);
		cr_expect_eq(bytes, good[i].bytes, "%s", good[i].text);
	}
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		cr_expect_eq(size_parse(bad[i], 0, UINT64_MAX, &bytes), -EINVAL, "\"%s\"", bad[i]);
	cr_expect_eq(size_parse("1023K", 1 << 20, 1 << 30, &bytes), -ERANGE);
	cr_expect_eq(size_parse("1025M", 1 << 20, 1 << 30, &bytes), -ERANGE);
	cr_expect_eq(size_parse("16777216T", 0, UINT64_MAX, &bytes), -ERANGE, "more than 2^64 - 1 bytes");
	cr_expect_str_eq(size_format(0, text), "0");
	cr_expect_str_eq(size_format(64ULL << 20, text), "64M");
	cr_expect_str_eq(size_format(1536ULL << 10, text), "1536K");
	cr_expect_str_eq(size_format(1025, text), "1025");
}

Test(number, only_digits_are_a_number)
{
	u64 value = 7;

	cr_expect_eq(number_parse("0", 0, UINT64_MAX, &value), 0);
	cr_expect_eq(value, 0);
	cr_expect_eq(number_parse("18446744073709551615", 0, UINT64_MAX, &value), 0);
	cr_expect_eq(value, UINT64_MAX);
	cr_expect_eq(number_parse("010", 0, UINT64_MAX, &value), 0);
	cr_expect_eq(value, 10, "a leading 0 does not mean octal");
}

Test(number, anything_else_is_refused_and_writes_nothing)
{
	static const char *const bad[] = {"",    " 1",  "1 ", "+1",  "-1",      "0x10",
					  "1.0", "1e3", "1k", "ten", "\xd9\xa1"};

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		u64 value = 7;

		cr_expect_eq(number_parse(bad[i], 0, UINT64_MAX, &value), -EINVAL, "\"%s\"", bad[i]);
		cr_expect_eq(value, 7);
	}
}

Test(number, the_range_is_inclusive)
{
	u64 value = 7;

	cr_expect_eq(number_parse("3", 3, 65535, &value), 0);
	cr_expect_eq(number_parse("65535", 3, 65535, &value), 0);
	cr_expect_eq(number_parse("2", 3, 65535, &value), -ERANGE);
	cr_expect_eq(number_parse("65536", 3, 65535, &value), -ERANGE);
	cr_expect_eq(number_parse("18446744073709551616", 0, UINT64_MAX, &value), -ERANGE);
	cr_expect_eq(number_parse("184467440737095516160000000", 0, UINT64_MAX, &value), -ERANGE);
	cr_expect_eq(value, 65535);
}

Test(number, durations_are_read)
{
	static const struct {
		const char *text;
		u64 ns;
	} good[] = {
		{"250ms", 250 * NSEC_PER_MSEC},
		{"1s", NSEC_PER_SEC},
		{"5", 5 * NSEC_PER_SEC},
		{"10m", 600 * NSEC_PER_SEC},
		{"10min", 600 * NSEC_PER_SEC},
		{"1h", 3600 * NSEC_PER_SEC},
		{"1d", 86400 * NSEC_PER_SEC},
		{"0", 0},
		{"213503d", 213503ULL * 86400 * NSEC_PER_SEC},
	};

	for (size_t i = 0; i < ARRAY_SIZE(good); i++) {
		u64 ns = 7;

		cr_expect_eq(duration_parse(good[i].text, 0, UINT64_MAX, &ns), 0, "%s", good[i].text);
		cr_expect_eq(ns, good[i].ns, "%s", good[i].text);
	}
}

Test(number, invalid_durations_are_refused)
{
	static const char *const bad[] = {"",    "s",     "ms",  "1 s", "1S",  "1.5s",
					  "-1s", "1m30s", "1mi", "1us", "1msx"};
	u64 ns = 7;

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		cr_expect_eq(duration_parse(bad[i], 0, UINT64_MAX, &ns), -EINVAL, "\"%s\"", bad[i]);
	cr_expect_eq(duration_parse("99ms", 100 * NSEC_PER_MSEC, 60 * NSEC_PER_SEC, &ns), -ERANGE);
	cr_expect_eq(duration_parse("61", 100 * NSEC_PER_MSEC, 60 * NSEC_PER_SEC, &ns), -ERANGE);
	cr_expect_eq(duration_parse("213504d", 0, UINT64_MAX, &ns), -ERANGE, "more than 2^64 ns");
	cr_expect_eq(duration_parse("18446744073709551616ms", 0, UINT64_MAX, &ns), -ERANGE);
	cr_expect_eq(ns, 7);
}

Test(number, decimal_numbers_are_read)
{
	static const struct {
		const char *text;
		double value;
	} good[] = {
		{"0", 0},      {"900", 900},       {"0.3", 0.3},
		{"30%", 0.3},  {"12.5%", 0.125},   {"99.99%", 0.9999},
		{"007", 7},    {"0.000001", 1e-6}, {"999999999999999", 999999999999999},
		{"1.10", 1.1}, {"100%", 1},        {"0.1%", 0.001},
	};
	static const char *const bad[] = {"",    ".5",  "5.",  "-1",    "+1",   "1e3",
					  "0x1", " 1",  "1 ",  "1.2.3", "30%%", "%",
					  "1,5", "inf", "nan", "5.%",   "1 %",  "1000000000000000"};
	double value = 7;

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		cr_expect_eq(decimal_parse(bad[i], &value), -EINVAL, "\"%s\"", bad[i]);
	cr_expect_eq(value, 7);
	for (size_t i = 0; i < ARRAY_SIZE(good); i++) {
		cr_expect_eq(decimal_parse(good[i].text, &value), 0, "%s", good[i].text);
		cr_expect_eq(value, good[i].value, "%s", good[i].text);
	}
}

Test(number, rates_of_bytes_are_read)
{
	static const struct {
		const char *text;
		double value;
	} good[] = {{"5GB/s", 5e9}, {"5.2GB/s", 5.2e9}, {"500MB/s", 5e8},  {"1kB/s", 1000},
		    {"64B/s", 64},  {"1TB/s", 1e12},    {"123456", 123456}};
	static const char *const bad[] = {"",
					  "GB/s",
					  "5GB",
					  "5 GB/s",
					  "5GiB/s",
					  "5gb/s",
					  "5%",
					  "5%B/s",
					  "-5GB/s",
					  "5.GB/s",
					  "5GB/s ",
					  "1.2.3MB/s",
					  "00000000000000000000000000000000001GB/s"};
	double value = 7;

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		cr_expect_eq(byte_rate_parse(bad[i], &value), -EINVAL, "\"%s\"", bad[i]);
	cr_expect_eq(value, 7);
	for (size_t i = 0; i < ARRAY_SIZE(good); i++) {
		cr_expect_eq(byte_rate_parse(good[i].text, &value), 0, "%s", good[i].text);
		cr_expect_eq(value, good[i].value, "%s", good[i].text);
	}
}

#define expect_text(call, expected)                 \
	do {                                        \
		char _text[NUMBER_TEXT_MAX];        \
		cr_expect_str_eq((call), expected); \
	} while (0)

Test(number, durations_are_written_for_people)
{
	expect_text(duration_format(0, _text), "0s");
	expect_text(duration_format(999, _text), "999ns");
	expect_text(duration_format(1500, _text), "1.5us");
	expect_text(duration_format(250 * NSEC_PER_MSEC, _text), "250ms");
	expect_text(duration_format(NSEC_PER_SEC - 1, _text), "999ms");
	expect_text(duration_format(NSEC_PER_SEC, _text), "1s");
	expect_text(duration_format(12345 * NSEC_PER_MSEC, _text), "12.3s");
	expect_text(duration_format(60 * NSEC_PER_SEC - 1, _text), "59.9s");
	expect_text(duration_format(312 * NSEC_PER_SEC, _text), "5m 12s");
	expect_text(duration_format(600 * NSEC_PER_SEC, _text), "10m");
	expect_text(duration_format(3600 * NSEC_PER_SEC - 1, _text), "59m 59s");
	expect_text(duration_format(3900 * NSEC_PER_SEC, _text), "1h 5m");
	expect_text(duration_format(97200 * NSEC_PER_SEC, _text), "1d 3h");
	expect_text(duration_format(UINT64_MAX, _text), "213503d 23h");
}

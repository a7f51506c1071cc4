// SPDX-License-Identifier: GPL-2.0
#include "base/moment.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

/*
 * Europe/Berlin, as POSIX writes it, so that no data base of zones is needed: clocks go forward at 02:00 on the last
 * Sunday of March, and back at 03:00 on the last one of October.
 */
static struct tm *berlin(const time_t *time, struct tm *ret)
{
	if (setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3", 1) < 0)
		return NULL;
	tzset();
	return localtime_r(time, ret);
}

static struct tm *new_york(const time_t *time, struct tm *ret)
{
	if (setenv("TZ", "EST5EDT,M3.2.0,M11.1.0", 1) < 0)
		return NULL;
	tzset();
	return localtime_r(time, ret);
}

/* Half an hour, as on Lord Howe Island: the only zone whose clocks change by another time than an hour. */
static struct tm *lord_howe(const time_t *time, struct tm *ret)
{
	if (setenv("TZ", "<+1030>-10:30<+11>-11,M10.1.0,M4.1.0", 1) < 0)
		return NULL;
	tzset();
	return localtime_r(time, ret);
}

/* Seconds since 1970 of a time of 2026 in UTC. */
static time_t utc(int month, int day, int hour, int minute, int second)
{
	struct tm time = {.tm_year = 126,
			  .tm_mon = month - 1,
			  .tm_mday = day,
			  .tm_hour = hour,
			  .tm_min = minute,
			  .tm_sec = second};

	return timegm(&time);
}

struct sample {
	const char *text;
	time_t expected;
};

static void check(const struct sample *samples, size_t n, time_t now, moment_zone zone)
{
	for (size_t i = 0; i < n; i++) {
		time_t got = -1;
		int r = moment_parse(samples[i].text, now, zone, &got);

		cr_expect_eq(r, 0, "%s: %d", samples[i].text, r);
		cr_expect_eq(got, samples[i].expected, "%s: %lld instead of %lld", samples[i].text,
			     (long long)got, (long long)samples[i].expected);
	}
}

/* It is Friday, 2026-11-27, 08:15:00 in Berlin. */
Test(moment, a_time_of_day_means_its_last_occurrence)
{
	const time_t now = utc(11, 27, 7, 15, 0);
	const struct sample samples[] = {
		{"03:12", utc(11, 27, 2, 12, 0)},     {"3:12", utc(11, 27, 2, 12, 0)},
		{"03:12:30", utc(11, 27, 2, 12, 30)}, {"08:15", now},
		{"08:15:01", utc(11, 26, 7, 15, 1)},  {"22:00", utc(11, 26, 21, 0, 0)},
		{"00:00", utc(11, 26, 23, 0, 0)},     {"23:59", utc(11, 26, 22, 59, 0)},
	};

	check(samples, ARRAY_SIZE(samples), now, berlin);
}

Test(moment, a_weekday_means_its_last_occurrence)
{
	const time_t now = utc(11, 27, 7, 15, 0);
	const struct sample samples[] = {
		{"today 08:00", utc(11, 27, 7, 0, 0)},      {"today", utc(11, 26, 23, 0, 0)},
		{"yesterday 22:00", utc(11, 26, 21, 0, 0)}, {"yesterday  9:00:01", utc(11, 26, 8, 0, 1)},
		{"Yesterday", utc(11, 25, 23, 0, 0)},       {"monday 14:00", utc(11, 23, 13, 0, 0)},
		{"mon 14:00", utc(11, 23, 13, 0, 0)},       {"friday 08:00", utc(11, 27, 7, 0, 0)},
		{"friday 09:00", utc(11, 20, 8, 0, 0)},     {"saturday", utc(11, 20, 23, 0, 0)},
		{"thursday 23:30", utc(11, 26, 22, 30, 0)},
	};

	check(samples, ARRAY_SIZE(samples), now, berlin);
}

Test(moment, relative_times_are_read)
{
	const time_t now = utc(11, 27, 7, 15, 0);
	const struct sample samples[] = {
		{"now", now},
		{"-2h", now - 7200},
		{"2h ago", now - 7200},
		{"2 hours ago", now - 7200},
		{"-1h30m", now - 5400},
		{"1h 30min ago", now - 5400},
		{"-90s", now - 90},
		{"-1d", now - 86400},
		{"3 days ago", now - 3L * 86400},
		{"-1w", now - 7L * 86400},
		{"-0s", now},
		{"@1795240800", 1795240800},
		{"@0", 0},
	};

	check(samples, ARRAY_SIZE(samples), now, berlin);
}

Test(moment, dates_and_rfc_3339_times_are_read)
{
	const time_t now = utc(11, 27, 7, 15, 0);
	const struct sample samples[] = {
		{"2026-11-21", utc(11, 20, 23, 0, 0)},
		{"2026-11-21 03:12", utc(11, 21, 2, 12, 0)},
		{"2026-11-21T03:12:30", utc(11, 21, 2, 12, 30)},
		{"2026-07-01 12:00", utc(7, 1, 10, 0, 0)},
		{"2026-11-21T03:12:30Z", utc(11, 21, 3, 12, 30)},
		{"2026-11-21t03:12:30z", utc(11, 21, 3, 12, 30)},
		{"2026-11-21T03:12:30.999Z", utc(11, 21, 3, 12, 30)},
		{"2026-11-21T03:12:30+01:00", utc(11, 21, 2, 12, 30)},
		{"2026-11-21T03:12:30-05:30", utc(11, 21, 8, 42, 30)},
		{"2026-11-21T03:12:30+0100", utc(11, 21, 2, 12, 30)},
		{"2024-02-29T00:00:00Z", 1709164800},
	};

	check(samples, ARRAY_SIZE(samples), now, berlin);
}

/* Every time that is shown can be given back. */
Test(moment, the_shown_form_is_read)
{
	const time_t now = utc(11, 27, 7, 15, 0);
	const struct sample samples[] = {
		{"Sat 2026-11-21 03:12:30 CET", utc(11, 21, 2, 12, 30)},
		{"Sat 2026-11-21 03:12:30", utc(11, 21, 2, 12, 30)},
		{"2026-11-21 03:12 CET", utc(11, 21, 2, 12, 0)},
		{"Wed 2026-07-01 04:12:00 CEST", utc(7, 1, 2, 12, 0)},
		{"Sat 2026-11-21 03:12:30 UTC", utc(11, 21, 3, 12, 30)},
		/* The hour that occurred twice. */
		{"Sun 2026-10-25 02:30:00 CEST", utc(10, 25, 0, 30, 0)},
		{"Sun 2026-10-25 02:30:00 CET", utc(10, 25, 1, 30, 0)},
	};
	static const char *const wrong[] = {"Sat 2026-11-21 03:12:30 ", "Foo 2026-11-21 03:12:30",
					    "2026-11-21 03:12 1"};
	static const char *const foreign[] = {"Sat 2026-11-21 03:12:30 CEST", "Sat 2026-11-21 03:12:30 PST",
					      "2026-11-27 08:35 EST"};

	check(samples, ARRAY_SIZE(samples), now, berlin);
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		time_t got;

		cr_expect_eq(moment_parse(wrong[i], now, berlin, &got), -EINVAL, "%s", wrong[i]);
	}
	/* Also if it would be in the future here. */
	for (size_t i = 0; i < ARRAY_SIZE(foreign); i++) {
		time_t got;

		cr_expect_eq(moment_parse(foreign[i], now, berlin, &got), -ESRCH, "%s", foreign[i]);
	}
	cr_expect_not_null(strstr(moment_why(-ESRCH), "time zone"));
}

/* Clocks went back at 03:00 on 2026-10-25: 02:30 was at 00:30 and at 01:30 UTC. */
Test(moment, a_repeated_hour_means_the_later_one_in_the_past)
{
	const struct sample later[] = {{"02:30", utc(10, 25, 1, 30, 0)},
				       {"2026-10-25 02:30", utc(10, 25, 1, 30, 0)},
				       {"01:30", utc(10, 24, 23, 30, 0)},
				       {"03:00", utc(10, 25, 2, 0, 0)},
				       {"yesterday 02:30", utc(10, 24, 0, 30, 0)}};
	const struct sample between[] = {{"02:30", utc(10, 25, 0, 30, 0)},
					 {"today 02:30", utc(10, 25, 0, 30, 0)},
					 {"2026-10-25T02:30:00+02:00", utc(10, 25, 0, 30, 0)}};
	const struct sample york[] = {{"01:30", utc(11, 1, 6, 30, 0)}, {"00:30", utc(11, 1, 4, 30, 0)}};
	const struct sample howe[] = {{"01:45", utc(4, 4, 15, 15, 0)}};

	check(later, ARRAY_SIZE(later), utc(10, 25, 9, 0, 0), berlin);
	/* It is 02:45 for the first time. */
	check(between, ARRAY_SIZE(between), utc(10, 25, 0, 45, 0), berlin);
	check(york, ARRAY_SIZE(york), utc(11, 1, 12, 0, 0), new_york);
	check(howe, ARRAY_SIZE(howe), utc(4, 4, 20, 0, 0), lord_howe);
}

/* Clocks went forward at 02:00 on 2026-03-29: 02:30 did not exist. */
Test(moment, a_skipped_hour_means_the_day_before_or_is_refused)
{
	const time_t now = utc(3, 29, 9, 0, 0);
	const struct sample samples[] = {{"02:30", utc(3, 28, 1, 30, 0)},
					 {"01:59:59", utc(3, 29, 0, 59, 59)},
					 {"03:00", utc(3, 29, 1, 0, 0)},
					 {"yesterday 02:30", utc(3, 28, 1, 30, 0)}};
	time_t got;

	check(samples, ARRAY_SIZE(samples), now, berlin);
	cr_expect_eq(moment_parse("today 02:30", now, berlin, &got), -ENOENT);
	cr_expect_eq(moment_parse("2026-03-29 02:00", now, berlin, &got), -ENOENT);
	cr_expect_eq(moment_parse("sunday 02:59:59", now, berlin, &got), -ENOENT);
}

/* A day before the change has 24 hours, the day of it 23 or 25. */
Test(moment, days_have_their_own_length)
{
	const struct sample spring[] = {{"yesterday 12:00", utc(3, 28, 11, 0, 0)},
					{"-24h", utc(3, 28, 10, 0, 0)}};
	const struct sample autumn[] = {{"yesterday 00:30", utc(10, 24, 22, 30, 0)},
					{"sunday 00:30", utc(10, 24, 22, 30, 0)}};

	check(spring, ARRAY_SIZE(spring), utc(3, 29, 10, 0, 0), berlin);
	/* Monday, 00:10, after the Sunday with 25 hours. */
	check(autumn, ARRAY_SIZE(autumn), utc(10, 25, 23, 10, 0), berlin);
}

Test(moment, invalid_texts_are_refused)
{
	const time_t now = utc(11, 27, 7, 15, 0);
	static const struct {
		const char *text;
		int error;
	} refused[] = {
		{"", -EINVAL},
		{" ", -EINVAL},
		{"3", -EINVAL},
		{"03:1", -EINVAL},
		{"24:00", -EINVAL},
		{"03:60", -EINVAL},
		{"03:12:60", -EINVAL},
		{"03:12 x", -EINVAL},
		{"03:12:30:1", -EINVAL},
		{"today x", -EINVAL},
		{"tomorrow", -EINVAL},
		{"mo 14:00", -EINVAL},
		{"mondays", -EINVAL},
		{"abcdefghijklmnopqrstuvwxyz", -EINVAL},
		{"-2", -EINVAL},
		{"-h", -EINVAL},
		{"-2y", -EINVAL},
		{"2h", -EINVAL},
		{"-2h ago", -EINVAL},
		{"2h agoo", -EINVAL},
		{"--2h", -EINVAL},
		{"+2h", -EINVAL},
		{"@", -EINVAL},
		{"@-1", -EINVAL},
		{"@1x", -EINVAL},
		{"@1234567890123", -EINVAL},
		{"2026-13-01", -EINVAL},
		{"2026-02-29", -EINVAL},
		{"2026-11-31 10:00", -EINVAL},
		{"26-11-21", -EINVAL},
		{"2026-11-21T", -EINVAL},
		{"2026-11-21T03:12:30+25:00", -EINVAL},
		{"2026-11-21T03:12:30+01", -EINVAL},
		{"2026-11-21T03:12:30.Z", -EINVAL},
		{"2026-11-21T03:12:30Zx", -EINVAL},
		{"today 23:00", -ERANGE},
		{"2026-11-28", -ERANGE},
		{"2026-11-27T07:15:01Z", -ERANGE},
		{"@1895240800", -ERANGE},
		{"-999999999999w", -ERANGE},
		{"1000 weeks 3000 weeks ago", -ERANGE},
		{"1969-12-31T00:00:00Z", -ERANGE},
	};

	for (size_t i = 0; i < ARRAY_SIZE(refused); i++) {
		time_t got = 42;
		int r = moment_parse(refused[i].text, now, berlin, &got);

		cr_expect_eq(r, refused[i].error, "'%s': %d", refused[i].text, r);
		cr_expect_eq(got, 42, "'%s'", refused[i].text);
	}
	cr_expect_str_eq(moment_why(-ERANGE), "expected a time in the past");
	cr_expect_str_eq(moment_why(-EINVAL), "expected " MOMENT_FORMS);
}

Test(moment, local_time_is_shown_with_its_zone)
{
	char text[MOMENT_TEXT_MAX];

	moment_show(utc(11, 27, 2, 12, 0), berlin, text);
	cr_expect_str_eq(text, "Fri 2026-11-27 03:12:00 CET");
	moment_show(utc(7, 1, 2, 12, 0), berlin, text);
	cr_expect_str_eq(text, "Wed 2026-07-01 04:12:00 CEST");
	moment_show(utc(7, 1, 2, 12, 0), moment_utc, text);
	cr_expect_str_eq(text, "Wed 2026-07-01 02:12:00 UTC");
	moment_show_clock(utc(7, 1, 2, 12, 0), berlin, text);
	cr_expect_str_eq(text, "04:12:00 CEST");
}

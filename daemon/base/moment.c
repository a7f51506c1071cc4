// SPDX-License-Identifier: GPL-2.0
#include "base/moment.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <strings.h>

#include "base/cleanup.h"

#define DAY_SECONDS 86400
/* At most this many digits fit in a time of the years that have four digits. */
#define DIGITS_MAX 12
/* A local time of day exists on the day before, or the one before that, on which clocks go forward. */
#define DAYS_BACK 2

static const struct {
	const char *name;
	long seconds;
} units[] = {
	{"s", 1},
	{"sec", 1},
	{"second", 1},
	{"seconds", 1},
	{"m", 60},
	{"min", 60},
	{"minute", 60},
	{"minutes", 60},
	{"h", 3600},
	{"hour", 3600},
	{"hours", 3600},
	{"d", DAY_SECONDS},
	{"day", DAY_SECONDS},
	{"days", DAY_SECONDS},
	{"w", 7L * DAY_SECONDS},
	{"week", 7L * DAY_SECONDS},
	{"weeks", 7L * DAY_SECONDS},
};

static const char *const weekdays[] = {"sunday",   "monday", "tuesday", "wednesday",
				       "thursday", "friday", "saturday"};

/* What is left to read. */
struct reader {
	const char *at;
};

static void skip_blanks(struct reader *reader)
{
	while (*reader->at == ' ')
		reader->at++;
}

static bool is_end(const struct reader *reader)
{
	return *reader->at == '\0';
}

static bool skip(struct reader *reader, char character)
{
	if (*reader->at != character)
		return false;
	reader->at++;
	return true;
}

/* Reads a number of `least` to `most` digits. */
static bool read_number(struct reader *reader, int least, int most, long long *ret)
{
	long long number = 0;
	int n = 0;

	for (; n < most && isdigit((unsigned char)*reader->at); n++)
		number = number * 10 + (*reader->at++ - '0');
	*ret = number;
	return n >= least && !isdigit((unsigned char)*reader->at);
}

/* Reads letters, as long as the longest word that is known. */
static size_t read_word(struct reader *reader, char *ret, size_t size)
{
	size_t n = 0;

	while (isalpha((unsigned char)reader->at[n]) && n + 1 < size)
		n++;
	memcpy(ret, reader->at, n);
	ret[n] = '\0';
	reader->at += n;
	return n;
}

struct day_time {
	int hour, minute, second;
};

/* Reads "3:12" or "03:12:30". */
static bool read_day_time(struct reader *reader, struct day_time *ret)
{
	long long hour, minute, second = 0;

	if (!read_number(reader, 1, 2, &hour) || !skip(reader, ':') || !read_number(reader, 2, 2, &minute) ||
	    (skip(reader, ':') && !read_number(reader, 2, 2, &second)))
		return false;
	*ret = (struct day_time){(int)hour, (int)minute, (int)second};
	return hour < 24 && minute < 60 && second < 60;
}

/* Reads "2026-11-21". */
static bool read_date(struct reader *reader, struct tm *ret)
{
	long long year, month, day;
	struct tm date, same;

	if (!read_number(reader, 4, 4, &year) || !skip(reader, '-') || !read_number(reader, 2, 2, &month) ||
	    !skip(reader, '-') || !read_number(reader, 2, 2, &day))
		return false;
	date = (struct tm){.tm_year = (int)year - 1900, .tm_mon = (int)month - 1, .tm_mday = (int)day};
	same = date;
	/* timegm() makes another date of one that does not exist. */
	(void)timegm(&same);
	*ret = date;
	return same.tm_year == date.tm_year && same.tm_mon == date.tm_mon && same.tm_mday == date.tm_mday;
}

static bool is_same(const struct tm *one, const struct tm *other)
{
	return one->tm_year == other->tm_year && one->tm_mon == other->tm_mon &&
	       one->tm_mday == other->tm_mday && one->tm_hour == other->tm_hour &&
	       one->tm_min == other->tm_min && one->tm_sec == other->tm_sec;
}

/*
 * Finds the last moment at or before `now` that has this local time. The offset from UTC at this
 * moment is the offset of the day before or of the day after, unless two changes are less than two days apart.
 */
static int find_local(const struct tm *date, struct day_time day_time, time_t now, moment_zone zone,
		      time_t *ret)
{
	static const int around[] = {-DAY_SECONDS, DAY_SECONDS};
	struct tm local = {.tm_year = date->tm_year,
			   .tm_mon = date->tm_mon,
			   .tm_mday = date->tm_mday,
			   .tm_hour = day_time.hour,
			   .tm_min = day_time.minute,
			   .tm_sec = day_time.second};
	time_t as_utc = timegm(&local);
	bool exists = false, found = false;

	for (size_t i = 0; i < ARRAY_SIZE(around); i++) {
		time_t near = as_utc + around[i], moment;
		struct tm there;

		if (!zone(&near, &there))
			continue;
		moment = as_utc - there.tm_gmtoff;
		if (!zone(&moment, &there) || !is_same(&there, &local))
			continue;
		exists = true;
		if (moment > now || (found && moment <= *ret))
			continue;
		*ret = moment;
		found = true;
	}
	return found ? 0 : exists ? -ERANGE : -ENOENT;
}

/* The local date that is `days` before that of `now`. */
static int date_before(time_t now, moment_zone zone, int days, struct tm *ret)
{
	struct tm date;
	time_t noon;

	if (!zone(&now, &date))
		return -ERANGE;
	date.tm_hour = 12;
	noon = timegm(&date) - (time_t)days * DAY_SECONDS;
	return gmtime_r(&noon, ret) ? 0 : -ERANGE;
}

static int find_days_before(time_t now, moment_zone zone, int days, struct day_time day_time, time_t *ret)
{
	struct tm date;
	int r = date_before(now, zone, days, &date);

	return r < 0 ? r : find_local(&date, day_time, now, zone, ret);
}

static int find_last(time_t now, moment_zone zone, struct day_time day_time, time_t *ret)
{
	int r = -ENOENT;

	for (int days = 0; days <= DAYS_BACK && r < 0; days++)
		r = find_days_before(now, zone, days, day_time, ret);
	return r;
}

static int find_weekday(time_t now, moment_zone zone, int weekday, struct day_time day_time, time_t *ret)
{
	struct tm today;
	int r = date_before(now, zone, 0, &today), days;

	if (r < 0)
		return r;
	days = (today.tm_wday - weekday + 7) % 7;
	r = find_days_before(now, zone, days, day_time, ret);
	return r == -ERANGE && days == 0 ? find_days_before(now, zone, 7, day_time, ret) : r;
}

/* Reads the time of day after a day, if there is one. */
static bool read_rest(struct reader *reader, struct day_time *ret)
{
	*ret = (struct day_time){0};
	skip_blanks(reader);
	return is_end(reader) || (read_day_time(reader, ret) && is_end(reader));
}

/* "today", "yesterday", a weekday or its first three letters. */
static int parse_day(const char *text, time_t now, moment_zone zone, time_t *ret)
{
	struct reader reader = {text};
	struct day_time day_time;
	char word[16];
	size_t length = read_word(&reader, word, sizeof(word));

	if (!read_rest(&reader, &day_time))
		return -EINVAL;
	if (strcasecmp(word, "today") == 0)
		return find_days_before(now, zone, 0, day_time, ret);
	if (strcasecmp(word, "yesterday") == 0)
		return find_days_before(now, zone, 1, day_time, ret);
	for (size_t i = 0; i < ARRAY_SIZE(weekdays); i++)
		if (strcasecmp(word, weekdays[i]) == 0 ||
		    (length == 3 && strncasecmp(word, weekdays[i], length) == 0))
			return find_weekday(now, zone, (int)i, day_time, ret);
	return -EINVAL;
}

/* Reads "Z", "+01:00" or "-0530". */
static bool read_offset(struct reader *reader, long *ret)
{
	bool west = *reader->at == '-';
	long long hours, minutes;
	struct reader digits;

	*ret = 0;
	if (skip(reader, 'Z') || skip(reader, 'z'))
		return true;
	if (!skip(reader, '-') && !skip(reader, '+'))
		return false;
	digits = *reader;
	if (!read_number(reader, 2, 2, &hours)) {
		*reader = digits;
		if (!read_number(reader, 4, 4, &hours))
			return false;
		minutes = hours % 100;
		hours /= 100;
	} else if (!skip(reader, ':') || !read_number(reader, 2, 2, &minutes)) {
		return false;
	}
	*ret = (long)(hours * 3600 + minutes * 60) * (west ? -1 : 1);
	return hours < 24 && minutes < 60;
}

/* Whether the zone has this name on the day of the date: clocks may change on that day. */
static bool is_zone_near(moment_zone zone, const struct tm *date, const char *name)
{
	struct tm day = *date, there;
	const time_t begin = timegm(&day);

	for (int days = -1; days <= 1; days++) {
		const time_t moment = begin + (time_t)days * DAY_SECONDS;

		if (zone(&moment, &there) && there.tm_zone && strcmp(there.tm_zone, name) == 0)
			return true;
	}
	return false;
}

/*
 * Reads the name of the zone after a local time, as moment_show() writes it, and finds the moment: UTC, or the zone of
 * the caller. A local time that occurred twice has both of the zone's names.
 */
static int find_in_zone(struct reader *reader, const struct tm *date, struct day_time day_time, time_t now,
			moment_zone zone, time_t *ret)
{
	const bool utc = strcasecmp(reader->at, "UTC") == 0;
	struct tm there;
	int r;

	if (!utc && isalpha((unsigned char)*reader->at) && !is_zone_near(zone, date, reader->at))
		return -ESRCH;
	r = find_local(date, day_time, now, utc ? gmtime_r : zone, ret);
	for (int hours = 0; r == 0 && !utc && hours <= 1; hours++) {
		const time_t moment = *ret - hours * 3600L;

		if (zone(&moment, &there) && there.tm_hour == day_time.hour && there.tm_zone &&
		    strcmp(there.tm_zone, reader->at) == 0) {
			*ret = moment;
			return 0;
		}
	}
	return r < 0 || utc ? r : -EINVAL;
}

static int parse_date(const char *text, time_t now, moment_zone zone, time_t *ret)
{
	struct reader reader = {text};
	struct day_time day_time = {0};
	long long fraction;
	struct tm date;
	long offset;

	if (!read_date(&reader, &date))
		return -EINVAL;
	if (is_end(&reader))
		return find_local(&date, day_time, now, zone, ret);
	if (!skip(&reader, 'T') && !skip(&reader, 't') && !skip(&reader, ' '))
		return -EINVAL;
	skip_blanks(&reader);
	if (!read_day_time(&reader, &day_time))
		return -EINVAL;
	if (skip(&reader, '.') && !read_number(&reader, 1, 9, &fraction))
		return -EINVAL;
	if (is_end(&reader))
		return find_local(&date, day_time, now, zone, ret);
	if (skip(&reader, ' '))
		return find_in_zone(&reader, &date, day_time, now, zone, ret);
	if (!read_offset(&reader, &offset) || !is_end(&reader))
		return -EINVAL;
	date.tm_hour = day_time.hour;
	date.tm_min = day_time.minute;
	date.tm_sec = day_time.second;
	*ret = timegm(&date) - offset;
	return 0;
}

static long seconds_of_unit(const char *word)
{
	for (size_t i = 0; i < ARRAY_SIZE(units); i++)
		if (strcasecmp(word, units[i].name) == 0)
			return units[i].seconds;
	return 0;
}

/* "-2h", "2h ago", "1h 30min ago". */
static int parse_before(const char *text, time_t now, time_t *ret)
{
	struct reader reader = {text};
	bool minus = skip(&reader, '-'), ago = false;
	time_t sum = 0;

	do {
		long long number;
		char word[16];
		long unit;

		skip_blanks(&reader);
		if (!read_number(&reader, 1, DIGITS_MAX, &number))
			return -EINVAL;
		skip_blanks(&reader);
		(void)read_word(&reader, word, sizeof(word));
		unit = seconds_of_unit(word);
		if (unit == 0)
			return -EINVAL;
		if (number > now / unit)
			return -ERANGE;
		sum += (time_t)number * unit;
		skip_blanks(&reader);
		ago = !minus && strcasecmp(reader.at, "ago") == 0;
	} while (!ago && !is_end(&reader));
	if (minus == ago)
		return -EINVAL;
	*ret = now - sum;
	return 0;
}

static bool is_weekday_of_date(const char *text)
{
	for (size_t i = 0; i < ARRAY_SIZE(weekdays); i++)
		if (strncasecmp(text, weekdays[i], 3) == 0 && text[3] == ' ')
			return strchr(text, '-') != NULL;
	return false;
}

static int parse_any(const char *text, time_t now, moment_zone zone, time_t *ret)
{
	struct reader reader = {text};
	struct day_time day_time;
	long long number;

	if (strcasecmp(text, "now") == 0) {
		*ret = now;
		return 0;
	}
	if (skip(&reader, '@')) {
		if (!read_number(&reader, 1, DIGITS_MAX, &number) || !is_end(&reader))
			return -EINVAL;
		*ret = (time_t)number;
		return 0;
	}
	if (read_day_time(&reader, &day_time) && is_end(&reader))
		return find_last(now, zone, day_time, ret);
	/* "Fri 2026-11-27": the date says enough. */
	if (is_weekday_of_date(text))
		return parse_date(text + 4, now, zone, ret);
	if (isalpha((unsigned char)*text))
		return parse_day(text, now, zone, ret);
	return strchr(text, '-') && *text != '-' ? parse_date(text, now, zone, ret)
						 : parse_before(text, now, ret);
}

int moment_parse(const char *text, time_t now, moment_zone zone, time_t *ret)
{
	time_t moment;
	int r = parse_any(text, now, zone, &moment);

	if (r < 0)
		return r;
	if (moment > now || moment < 0)
		return -ERANGE;
	*ret = moment;
	return 0;
}

const char *moment_why(int error)
{
	if (error == -ERANGE)
		return "expected a time in the past";
	if (error == -ENOENT)
		return "clocks went forward, so this local time did not exist; give another time, or one with an offset from UTC";
	if (error == -ESRCH)
		return "this time zone is not the local one of that day, nor UTC; give an offset from UTC, such as 2026-11-21T03:12+01:00";
	return "expected " MOMENT_FORMS;
}

struct tm *moment_utc(const time_t *time, struct tm *ret)
{
	if (!gmtime_r(time, ret))
		return NULL;
	ret->tm_zone = "UTC";
	return ret;
}

static void show(time_t time, moment_zone zone, const char *format, char ret[static MOMENT_TEXT_MAX])
{
	struct tm local;

	if (!zone(&time, &local) || strftime(ret, MOMENT_TEXT_MAX, format, &local) == 0)
		ret[0] = '\0';
}

void moment_show(time_t time, moment_zone zone, char ret[static MOMENT_TEXT_MAX])
{
	show(time, zone, "%a %Y-%m-%d %H:%M:%S %Z", ret);
}

void moment_show_clock(time_t time, moment_zone zone, char ret[static MOMENT_TEXT_MAX])
{
	show(time, zone, "%H:%M:%S %Z", ret);
}

// SPDX-License-Identifier: GPL-2.0
/*
 * Moments of the past that people write, and the local time that is shown to them. Pure functions: `now` and the
 * time zone come from the caller.
 */
#ifndef PEBSD_MOMENT_H
#define PEBSD_MOMENT_H

#include <time.h>

/*
 * The time zone: writes the local time of a moment, with `tm_gmtoff` and `tm_zone`, as localtime_r(3) does. Returns
 * NULL if it has none.
 */
typedef struct tm *(*moment_zone)(const time_t *time, struct tm *ret);

/* UTC as a zone, which is named "UTC". gmtime_r(3) names it GMT. */
struct tm *moment_utc(const time_t *time, struct tm *ret);

/* The forms that moment_parse() reads, for messages. */
#define MOMENT_FORMS \
	"a time such as 03:12, yesterday 22:00, monday 14:00, -2h, 2026-11-21 03:12, an RFC 3339 time or now"

/*
 * Reads a moment, which is at most `now`:
 *   "03:12", "03:12:30"            the last such moment
 *   "today 9:00", "yesterday 22:00", "monday 14:00"
 *                                  on the last such day; with a weekday, the last such moment. Without a time
 *                                  of day: 00:00
 *   "2026-11-21", "2026-11-21 03:12", "2026-11-21T03:12:30"
 *                                  in local time
 *   "Sat 2026-11-21 03:12:30 CET"  as moment_show() writes it, in local time or in UTC
 *   "2026-11-21T03:12:30Z", "2026-11-21T03:12:30.5+01:00"
 *                                  RFC 3339; a fraction of a second is dropped
 *   "-2h", "2h ago", "1h30m ago"   before `now`; the units are s, min, h, d and w, or their names
 *   "now", "@1795240800"           seconds since 1970, UTC
 * A local time that occurred twice, when clocks went back, is the later moment of the past.
 *
 * Returns 0; -EINVAL: the text has none of these forms; -ESRCH: it has the name of a zone that is neither UTC nor the
 * caller's; -ERANGE: the moment is later than `now` or before 1970; or -ENOENT: clocks went forward, so this local time
 * did not exist. moment_why() says that for messages.
 */
int moment_parse(const char *text, time_t now, moment_zone zone, time_t *ret);
const char *moment_why(int error);

/*
 * Writes "Sat 2026-11-21 03:12:30 CET", as systemctl(1) and journalctl(1) do: the local time with its zone. Every time
 * for people is written by this function. Writes "" if the zone has no such time.
 */
#define MOMENT_TEXT_MAX 64
void moment_show(time_t time, moment_zone zone, char ret[static MOMENT_TEXT_MAX]);

/* As moment_show(), without the day: "03:12:30 CET". */
void moment_show_clock(time_t time, moment_zone zone, char ret[static MOMENT_TEXT_MAX]);

#endif

// SPDX-License-Identifier: GPL-2.0
/*
 * Messages: to the journal with their fields when standard error leads there, else as lines on standard
 * error. A message says what failed, on what, why, and what to do. Nobody is waited for who does not read
 * them: those that are missing are told of by their number when they are read again.
 */
#ifndef PEBSD_LOG_H
#define PEBSD_LOG_H

#include <stdarg.h>
#include <syslog.h>

/* One journal field, e.g. {"PEBSD_CGROUP", "/system.slice"}; a list of them ends with {NULL, NULL}. */
struct log_field {
	const char *name;
	const char *value;
};

/* Finds out where standard error leads ($JOURNAL_STREAM, sd_journal_stream_fd(3)). Call once, first. */
void log_open(const char *program);

/* Messages above this priority are dropped; default LOG_INFO. */
void log_set_level(int priority);

/* Tells of messages that were left out as the same again (base/log_repeat.h), once a minute each. Call now
 * and then. */
void log_tell_left_out(void);

/* Tells of all that were left out. Call once, last. */
void log_close(void);

/*
 * Writes one message. A message without `fields` that comes again and again is written a few times a minute and
 * counted after that. Messages of one `kind` count as the same; without a kind (NULL), messages with the same
 * text do. `error` is 0 or -errno; where it is not 0, ": " and its text are appended and the field ERRNO is set.
 * Names of others may be in it: what could end the line or has no place in one is '?' (utf8_make_plain()); the
 * fields' values stand as they are. `fields` may be NULL. Returns `error`, so that `return log_error(r, ...)`
 * reads well.
 */
int log_write(int priority, int error, const struct log_field *fields, const char *kind, const char *file,
	      int line, const char *function, const char *format, ...) __attribute__((format(printf, 8, 9)));

#define log_full(priority, error, fields, ...) \
	log_write(priority, error, fields, NULL, __FILE__, __LINE__, __func__, __VA_ARGS__)

/* For a message that a client can cause again and again, with another time or number in its text each time. */
#define log_kind(priority, kind, ...) \
	((void)log_write(priority, 0, NULL, kind, __FILE__, __LINE__, __func__, __VA_ARGS__))
#define log_error(error, ...)   log_full(LOG_ERR, error, NULL, __VA_ARGS__)
#define log_warning(error, ...) log_full(LOG_WARNING, error, NULL, __VA_ARGS__)
#define log_notice(...)         ((void)log_full(LOG_NOTICE, 0, NULL, __VA_ARGS__))
#define log_info(...)           ((void)log_full(LOG_INFO, 0, NULL, __VA_ARGS__))
#define log_debug(...)          ((void)log_full(LOG_DEBUG, 0, NULL, __VA_ARGS__))

#endif

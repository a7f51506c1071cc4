// SPDX-License-Identifier: GPL-2.0
/*
 * Writes journal entries in the native protocol (https://systemd.io/JOURNAL_NATIVE_PROTOCOL).
 * sd_journal_sendv(3) is not used because it blocks for as long as a stopped journal does not read.
 */
#ifndef PEBSD_LOG_JOURNAL_H
#define PEBSD_LOG_JOURNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/uio.h>

#include "pebsd/types.h"

struct log_field;

/* Maximum number of fields in an entry, and of pieces in a field. */
#define LOG_JOURNAL_FIELDS 48
#define LOG_JOURNAL_PIECES 5

/* Longest wait for the journal, if the caller waits at all. */
#define LOG_JOURNAL_WAIT_MS 100

/*
 * Splits the entry into pieces, which point into the fields and into `lengths`. Returns the number of pieces.
 * A value of more than one line is preceded by its length.
 */
size_t log_journal_pieces(const struct log_field *fields, size_t n, u64 lengths[static LOG_JOURNAL_FIELDS],
			  struct iovec ret[static LOG_JOURNAL_FIELDS * LOG_JOURNAL_PIECES]);

/*
 * Sends the first `n` fields. It allocates nothing, and waits for at most LOG_JOURNAL_WAIT_MS, or not at all
 * without `wait`. Returns 0, -EAGAIN if there is a journal that accepts nothing now, or -errno if the journal
 * cannot be reached.
 */
int log_journal_send(const struct log_field *fields, size_t n, bool wait);

#endif

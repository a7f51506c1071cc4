// SPDX-License-Identifier: GPL-2.0
/*
 * Entries of the journal, in its native protocol (https://systemd.io/JOURNAL_NATIVE_PROTOCOL):
 * sd_journal_sendv(3) waits for as long as a journal that is stopped does not read.
 */
#ifndef PEBSD_LOG_JOURNAL_H
#define PEBSD_LOG_JOURNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/uio.h>

#include "pebsd/types.h"

struct log_field;

/* An entry has at most so many fields, each of at most so many pieces. */
#define LOG_JOURNAL_FIELDS 48
#define LOG_JOURNAL_PIECES 5

/* Waited for the journal at most, where it is waited for. */
#define LOG_JOURNAL_WAIT_MS 100

/*
 * The entry's bytes as pieces, which are the fields' own and those of `lengths`; returns how many. A value of
 * more than a line has its length before it.
 */
size_t log_journal_pieces(const struct log_field *fields, size_t n, u64 lengths[static LOG_JOURNAL_FIELDS],
			  struct iovec ret[static LOG_JOURNAL_FIELDS * LOG_JOURNAL_PIECES]);

/*
 * Sends the first `n` of the fields, allocates nothing, and waits for a moment or not at all. 0; -EAGAIN:
 * there is a journal, and it takes no more now; -errno: it can't be reached.
 */
int log_journal_send(const struct log_field *fields, size_t n, bool wait);

#endif

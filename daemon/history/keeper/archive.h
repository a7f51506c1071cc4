// SPDX-License-Identifier: GPL-2.0
/*
 * The history on disk: an SQLite database in one directory. pebsd-history(7) describes its tables, which are
 * an interface for other programs. spans.h plans what is stored. Use an archive from one thread only.
 *
 * The database has a write-ahead log and waits for the disk at the end of each transaction
 * (synchronous=FULL): a pane or alert that was stored survives a crash of the process and of the machine.
 *
 * A file that is damaged, or that has an older version or other counters, is renamed, and a new one begins. A file that
 * another program or a newer pebsd wrote is left alone: then nothing is stored.
 */
#ifndef PEBSD_HISTORY_ARCHIVE_H
#define PEBSD_HISTORY_ARCHIVE_H

#include "history/shared/history_wire.h"

#define ARCHIVE_FILE          "history.sqlite"
#define ARCHIVE_APPLICATION   0x70656273 /* "pebs" */
#define ARCHIVE_VERSION       1          /* of the tables */
#define ARCHIVE_BYTES_DEFAULT (256ULL << 20)
#define ARCHIVE_AGE_DEFAULT   (14 * 86400ULL)

/* The smallest limit that is in force. A smaller one would not hold one pane of a large host. */
#define ARCHIVE_BYTES_MIN (8ULL << 20)

/*
 * Nothing is stored while the write-ahead log is above this size. The log grows while another program reads
 * the database, because SQLite cannot start the log from its beginning then.
 */
#define ARCHIVE_LOG_MAX (16ULL << 20)

struct archive_settings {
	const char *directory; /* must exist */
	const char *vfs;       /* of SQLite; NULL: the default one */
};

struct archive;

/* The file is opened, or created, at its first use. Returns 0 or -ENOMEM. */
int archive_new(const struct archive_settings *settings, struct archive **ret);

/* Writes the log into the database. */
struct archive *archive_free(struct archive *archive);

/* Opens the file now, so that archive_status() knows what it has. Returns 0 or -errno. */
int archive_begin(struct archive *archive);

/* Bytes of all files, and the age in seconds after which spans and alerts are dropped. */
void archive_limit(struct archive *archive, u64 bytes_max, u64 age_max_s);

/*
 * Stores a pane, adds up spans that are due, and drops those that are beyond the limits, in one transaction.
 * A pane whose run and end are stored already is not stored again. Returns 0, or -errno, then nothing
 * has changed, and archive_status() says why.
 */
int archive_pane(struct archive *archive, const struct history_pane *pane);
int archive_alert(struct archive *archive, const struct history_alert *alert);

/* Ends all alerts without an end, at the end of the last pane. Returns 0 or -errno, as above. */
int archive_end_alerts(struct archive *archive);

/*
 * Answers a question with a block, which the caller frees. Returns 0; -E2BIG: the answer has more than
 * HISTORY_ANSWER_BYTES_MAX, or HISTORY_ALERTS_BYTES_MAX; -ETIME: it takes longer than 5 seconds; or another -errno.
 */
int archive_ask(struct archive *archive, const struct history_query *query, u8 **ret, size_t *ret_size);

void archive_status(struct archive *archive, struct history_status *ret);

#endif

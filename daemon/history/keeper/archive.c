// SPDX-License-Identifier: GPL-2.0
#include "history/keeper/archive.h"

#include <dirent.h>
#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <time.h>

#include "base/log.h"
#include "base/monotonic.h"
#include "collect/counters.h"
#include "history/keeper/archive_internal.h"

#define BUSY_MS       1000
#define PROGRESS_STEP 10000 /* instructions of SQLite between two looks at the clock */

/*
 * The log is written into the database after this many pages of 4 KiB. A smaller number means more waiting
 * for the disk, a larger one a larger file.
 */
#define LOG_PAGES 512

static const char *const texts[] = {
#define TEXT_(name, text) [ARCHIVE_##name] = (text),
	ARCHIVE_STATEMENTS(TEXT_)
#undef TEXT_
};

#define DECLARATION_(name) ", " #name " INTEGER NOT NULL"

/* clang-format off */
static const char schema[] =
	"PRAGMA auto_vacuum = INCREMENTAL;"
	"BEGIN IMMEDIATE;"
	"CREATE TABLE event(id INTEGER PRIMARY KEY, key TEXT NOT NULL, settings TEXT NOT NULL, UNIQUE(key, settings));"
	"CREATE TABLE cgroup(id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE, kernel_id INTEGER NOT NULL, labels TEXT NOT NULL, last_span INTEGER NOT NULL);"
	"CREATE TABLE span(id INTEGER PRIMARY KEY, seconds INTEGER NOT NULL, start_us INTEGER NOT NULL, end_us INTEGER NOT NULL, covered_ns INTEGER NOT NULL, run INTEGER NOT NULL, bytes INTEGER NOT NULL, parent INTEGER);"
	"CREATE TABLE event_total(span INTEGER NOT NULL, event INTEGER NOT NULL, place INTEGER NOT NULL, period INTEGER NOT NULL, frequency_hz INTEGER NOT NULL, counted INTEGER NOT NULL, throttle_known INTEGER NOT NULL" EVENT_COUNTS_OF_READING(DECLARATION_) ", pairs BLOB, PRIMARY KEY(span, event)) WITHOUT ROWID;"
	"CREATE TABLE figures(span INTEGER NOT NULL, cgroup INTEGER NOT NULL, loads INTEGER NOT NULL, latency INTEGER NOT NULL, cycles INTEGER NOT NULL, stalls INTEGER NOT NULL, misses INTEGER NOT NULL, data BLOB NOT NULL, PRIMARY KEY(span, cgroup)) WITHOUT ROWID;"
	"CREATE TABLE alert(key TEXT PRIMARY KEY, from_us INTEGER NOT NULL, to_us INTEGER, json TEXT NOT NULL) WITHOUT ROWID;"
	"CREATE VIEW rates AS SELECT span.id AS span, span.seconds AS seconds, datetime(span.start_us / 1000000, 'unixepoch') AS since, datetime(span.end_us / 1000000, 'unixepoch') AS until, cgroup.path AS path, loads * 1e9 / covered_ns AS loads_per_s, latency * 1.0 / nullif(loads, 0) AS mean_latency_cycles, cycles * 1e9 / covered_ns AS cycles_per_s, stalls * 1.0 / nullif(cycles, 0) AS stalled_share, misses * 1e9 / covered_ns AS misses_per_s FROM figures JOIN span ON span.id = figures.span JOIN cgroup ON cgroup.id = figures.cgroup;";
/* clang-format on */

int archive_number(struct archive *archive, const char *text, s64 *ret)
{
	sqlite3_stmt *statement = NULL;
	int r = sqlite3_prepare_v2(archive->db, text, -1, &statement, NULL);

	if (r == SQLITE_OK && (r = sqlite3_step(statement)) == SQLITE_ROW) {
		*ret = sqlite3_column_int64(statement, 0);
		r = SQLITE_OK;
	}
	(void)sqlite3_finalize(statement);
	return r == SQLITE_OK ? 0 : -EIO;
}

static const char *cure_of(int error)
{
	switch (error) {
	case ENOSPC:
	case EDQUOT:
		return "free space on its file system, or make the history smaller";
	case EROFS:
	case EACCES:
	case EPERM:
		return "make the directory and the file writable for the user that pebsd runs as";
	case ENOENT:
	case ENOTDIR:
		return "create the directory";
	case EBUSY:
		return "end the program that has locked the file";
	case EUCLEAN:
		return "the file is kept under another name, and a new history begins";
	default:
		return "see the kernel's messages about the disk";
	}
}

static int error_of(struct archive *archive)
{
	int code = archive->db ? sqlite3_errcode(archive->db) : SQLITE_NOMEM;
	int of_system = archive->db ? sqlite3_system_errno(archive->db) : 0;

	switch (code & 0xff) {
	case SQLITE_FULL:
		return ENOSPC;
	case SQLITE_CORRUPT:
	case SQLITE_NOTADB:
		return EUCLEAN;
	case SQLITE_NOMEM:
		return ENOMEM;
	case SQLITE_INTERRUPT:
		return ETIME;
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
		return EBUSY;
	case SQLITE_PERM:
	case SQLITE_AUTH:
		return EACCES;
	case SQLITE_READONLY:
	case SQLITE_CANTOPEN:
		/* SQLite tries several things. The error of the last one may not be the reason. */
		if (access(archive->directory, W_OK) < 0)
			return errno;
		return of_system ? of_system : EROFS;
	case SQLITE_IOERR:
		return of_system ? of_system : EIO;
	default:
		return EIO;
	}
}

int archive_refused(struct archive *archive, int error, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	(void)vsnprintf(archive->status.what, sizeof(archive->status.what), format, arguments);
	va_end(arguments);
	archive->status.error = -error;
	return error;
}

int archive_failed(struct archive *archive, const char *what)
{
	int error = error_of(archive);

	if (error == EUCLEAN)
		archive->damaged = true;
	return archive_refused(archive, -error, "cannot %s %s: %s; %s", what, archive->path, strerror(error),
			       cure_of(error));
}

sqlite3_stmt *archive_statement(struct archive *archive, enum archive_statement name)
{
	sqlite3_stmt **statement = &archive->statements[name];

	if (!*statement && sqlite3_prepare_v3(archive->db, texts[name], -1, SQLITE_PREPARE_PERSISTENT,
					      statement, NULL) != SQLITE_OK)
		return NULL;
	return *statement;
}

sqlite3_stmt *archive_cursor(struct archive *archive, bool one_cgroup, size_t place)
{
	const char *text = texts[one_cgroup ? ARCHIVE_FIGURES_ONE : ARCHIVE_FIGURES_GET];
	sqlite3_stmt **statement = &archive->cursors[one_cgroup][place];

	if (!*statement && sqlite3_prepare_v3(archive->db, text, -1, SQLITE_PREPARE_PERSISTENT, statement,
					      NULL) != SQLITE_OK)
		return NULL;
	return *statement;
}

int archive_step(sqlite3_stmt *statement)
{
	int r = sqlite3_step(statement);

	return r == SQLITE_ROW ? 1 : r == SQLITE_DONE ? 0 : -EIO;
}

int archive_run(struct archive *archive, enum archive_statement name)
{
	sqlite3_stmt *statement = archive_statement(archive, name);
	int r = statement ? archive_step(statement) : -EIO;

	if (statement)
		(void)sqlite3_reset(statement);
	return r < 0 ? r : 0;
}

static int run_text(struct archive *archive, const char *text)
{
	return sqlite3_exec(archive->db, text, NULL, NULL, NULL) == SQLITE_OK ? 0 : -EIO;
}

static int on_progress(void *userdata)
{
	const struct archive *archive = userdata;

	return archive->deadline_ns && monotonic_ns() > archive->deadline_ns;
}

static int on_log(void *userdata, sqlite3 *db, const char *name, int pages)
{
	struct archive *archive = userdata;

	archive->log_bytes = (u64)pages * ARCHIVE_PAGE_BYTES;
	/* Replaces what SQLite does at each commit by default. */
	if (pages >= LOG_PAGES)
		(void)sqlite3_wal_checkpoint_v2(db, name, SQLITE_CHECKPOINT_PASSIVE, NULL, NULL);
	return SQLITE_OK;
}

/* A missing tier, or a parent that is older than its child, was not written by pebsd. */
static bool get_span(sqlite3_stmt *statement, struct span *ret)
{
	s64 seconds = sqlite3_column_int64(statement, 1);

	*ret = (struct span){
		.id = (u64)sqlite3_column_int64(statement, 0),
		.start_us = (u64)sqlite3_column_int64(statement, 2),
		.end_us = (u64)sqlite3_column_int64(statement, 3),
		.covered_ns = (u64)sqlite3_column_int64(statement, 4),
		.run = (u64)sqlite3_column_int64(statement, 5),
		.bytes = (u64)sqlite3_column_int64(statement, 6),
		.parent = (u64)sqlite3_column_int64(statement, 7),
	};
	while (ret->tier < SPAN_TIERS && span_tiers[ret->tier].seconds != seconds)
		ret->tier++;
	return ret->tier < SPAN_TIERS && ret->start_us < ret->end_us && ret->id > 0 &&
	       (ret->parent == 0 || ret->parent > ret->id);
}

static int load_spans(struct archive *archive)
{
	sqlite3_stmt *statement = archive_statement(archive, ARCHIVE_SPAN_LIST);
	struct span span;
	int r;

	archive->spans.n = 0;
	archive->next_id = 1;
	if (!statement)
		return archive_failed(archive, "read");
	while ((r = archive_step(statement)) == 1) {
		/* An id is used only once: the next one is above all. */
		archive->next_id = (u64)sqlite3_column_int64(statement, 0) + 1;
		if (get_span(statement, &span) && spans_add(&archive->spans, &span) < 0) {
			(void)sqlite3_reset(statement);
			return archive_refused(archive, -ENOMEM, "cannot read %s: no memory", archive->path);
		}
	}
	if (r < 0)
		r = archive_failed(archive, "read");
	(void)sqlite3_reset(statement);
	archive->spans_stale = r < 0;
	return r;
}

int archive_refresh(struct archive *archive)
{
	s64 version = 0;
	int r = 0;

	if (archive_number(archive, "PRAGMA data_version", &version) < 0)
		return archive_failed(archive, "read");
	if (archive->spans_stale || version != archive->data_version)
		r = load_spans(archive);
	archive->data_version = version;
	return r;
}

/* Adds the counts that an older pebsd did not know. It counted none of them. */
static int add_new_counts(struct archive *archive)
{
	static const char *const counts[] = {
#define NAME_(name) #name,
		EVENT_COUNTS_OF_READING(NAME_)
#undef NAME_
	};

	for (size_t i = 0; i < ARRAY_SIZE(counts); i++) {
		char text[128];
		s64 columns = 0;

		(void)snprintf(text, sizeof(text),
			       "SELECT count(*) FROM pragma_table_info('event_total') WHERE name = '%s'",
			       counts[i]);
		if (archive_number(archive, text, &columns) < 0)
			return archive_failed(archive, "open");
		if (columns > 0)
			continue;
		(void)snprintf(text, sizeof(text),
			       "ALTER TABLE event_total ADD COLUMN %s INTEGER NOT NULL DEFAULT 0", counts[i]);
		if (run_text(archive, text) < 0)
			return archive_failed(archive, "update");
	}
	return 0;
}

/*
 * Compares the layout of the counters in `figures.data` and `event_total.packed` with that of this pebsd. Files of the
 * first pebsd do not state it: they have the layout that was in force when the table was added.
 */
static int check_layout(struct archive *archive)
{
	char text[128];
	s64 layout = 0;

	if (run_text(archive, "CREATE TABLE IF NOT EXISTS layout(counters INTEGER NOT NULL)") < 0 ||
	    archive_number(archive, "SELECT max(counters) FROM layout", &layout) < 0)
		return archive_failed(archive, "open");
	if (layout == counters_layout())
		return 0;
	if (layout) {
		archive->outdated = true;
		return -EUCLEAN;
	}
	(void)snprintf(text, sizeof(text), "INSERT INTO layout VALUES(%u)", counters_layout());
	return run_text(archive, text) < 0 ? archive_failed(archive, "update") : 0;
}

static int check_or_create(struct archive *archive)
{
	s64 application = 0, version = 0, tables = 0;
	int r;

	if (archive_number(archive, "PRAGMA application_id", &application) < 0 ||
	    archive_number(archive, "PRAGMA user_version", &version) < 0 ||
	    archive_number(archive, "SELECT count(*) FROM sqlite_schema", &tables) < 0)
		return archive_failed(archive, "open");
	if (application == 0 && version == 0 && tables == 0) {
		char text[128];

		(void)snprintf(text, sizeof(text),
			       "PRAGMA application_id = %d; PRAGMA user_version = %d; COMMIT",
			       ARCHIVE_APPLICATION, ARCHIVE_VERSION);
		return run_text(archive, schema) < 0 || run_text(archive, text) < 0
			       ? archive_failed(archive, "create")
			       : check_layout(archive);
	}
	if (application != ARCHIVE_APPLICATION)
		return archive_refused(
			archive, -EMEDIUMTYPE,
			"cannot use %s: it is a database of another program; move it away, or choose another directory",
			archive->path);
	if (version > ARCHIVE_VERSION)
		return archive_refused(
			archive, -EPROTONOSUPPORT,
			"cannot use %s: a newer pebsd wrote it (version %lld, this pebsd has %d); install that pebsd again, or move the file away",
			archive->path, (long long)version, ARCHIVE_VERSION);
	if (version < ARCHIVE_VERSION) {
		archive->outdated = true;
		return -EUCLEAN;
	}
	r = check_layout(archive);
	return r < 0 ? r : add_new_counts(archive);
}

/*
 * FULL: waits for the disk at each commit. The cache is the largest part of the memory that the keeper needs.
 * Triggers and views of the file cannot have side effects.
 */
static int configure(struct archive *archive)
{
	static const char text[] =
		"PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;"
		"PRAGMA cache_size = -512; PRAGMA mmap_size = 0; PRAGMA temp_store = MEMORY;"
		"PRAGMA journal_size_limit = 4194304; PRAGMA trusted_schema = OFF";

	(void)sqlite3_db_config(archive->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	if (run_text(archive, text) < 0)
		return archive_failed(archive, "open");
	(void)sqlite3_wal_hook(archive->db, on_log, archive);
	sqlite3_progress_handler(archive->db, PROGRESS_STEP, on_progress, archive);
	return 0;
}

/* At most one file that was moved away for a reason is kept: the last one. */
static void drop_copies(const char *directory, const char *reason)
{
	_cleanup_free_ char *prefix = NULL;
	DIR *dir = opendir(directory);
	const struct dirent *entry;

	if (asprintf(&prefix, ARCHIVE_FILE ".%s-", reason) < 0)
		prefix = NULL;
	while (dir && prefix && (entry = readdir(dir)))
		if (strncmp(entry->d_name, prefix, strlen(prefix)) == 0)
			(void)unlinkat(dirfd(dir), entry->d_name, 0);
	if (dir)
		(void)closedir(dir);
}

/*
 * Moves a damaged file, or one of another version, away. SQLite removes a log that stays beside a new, empty file, so
 * that a crash between these steps is harmless.
 */
static int move_away(struct archive *archive)
{
	const char *reason = archive->damaged ? "damaged" : "older";
	_cleanup_free_ char *from = NULL;
	_cleanup_free_ char *to = NULL;
	_cleanup_free_ char *log = NULL;
	_cleanup_free_ char *shared = NULL;

	if (asprintf(&to, "%s.%s-%lld", archive->path, reason, (long long)time(NULL)) < 0 ||
	    asprintf(&from, "%s-wal", archive->path) < 0 || asprintf(&log, "%s-wal", to) < 0 ||
	    asprintf(&shared, "%s-shm", archive->path) < 0)
		return archive_refused(archive, -ENOMEM, "cannot rename %s: no memory", archive->path);
	drop_copies(archive->directory, reason);
	if (rename(archive->path, to) < 0 && errno != ENOENT)
		return archive_refused(archive, -errno, "cannot rename %s, which is %s: %s; %s",
				       archive->path, archive->damaged ? "damaged" : "of another pebsd",
				       strerror(errno), cure_of(errno));
	(void)rename(from, log);
	(void)unlink(shared);
	(void)log_warning(0, "%s %s: it is kept as %s, and a new history begins", archive->path,
			  archive->damaged ? "was damaged"
					   : "was written by another version of pebsd, with other counters",
			  to);
	archive->damaged = archive->outdated = false;
	return 0;
}

static void close_file(struct archive *archive)
{
	for (unsigned i = 0; i < ARCHIVE_STATEMENTS_N; i++) {
		(void)sqlite3_finalize(archive->statements[i]);
		archive->statements[i] = NULL;
	}
	for (size_t i = 0; i < ARCHIVE_SPANS_AT_ONCE; i++)
		for (size_t one = 0; one < 2; one++) {
			(void)sqlite3_finalize(archive->cursors[one][i]);
			archive->cursors[one][i] = NULL;
		}
	(void)sqlite3_close(archive->db);
	archive->db = NULL;
}

static int open_once(struct archive *archive)
{
	const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
	int r = 0;

	if (sqlite3_open_v2(archive->path, &archive->db, flags, archive->vfs) != SQLITE_OK)
		r = archive_failed(archive, "open");
	if (r == 0) {
		(void)sqlite3_extended_result_codes(archive->db, 1);
		(void)sqlite3_busy_timeout(archive->db, BUSY_MS);
		r = check_or_create(archive);
	}
	if (r == 0)
		r = configure(archive);
	archive->spans_stale = true;
	archive->has_pairs = false;
	/* The file may be a new one, with smaller numbers. */
	archive->tidied_id = archive->alerts = 0;
	if (r == 0)
		r = archive_refresh(archive);
	if (r < 0)
		close_file(archive);
	return r;
}

int archive_open(struct archive *archive)
{
	int r = 0;

	if (archive->damaged)
		close_file(archive);
	if (archive->db)
		return 0;
	for (unsigned i = 0; i < 2; i++) {
		if (archive->damaged || archive->outdated)
			r = move_away(archive);
		if (r == 0)
			r = open_once(archive);
		if (r != -EUCLEAN)
			break;
		r = 0;
	}
	return archive->damaged ? -EUCLEAN : r;
}

int archive_begin(struct archive *archive)
{
	int r = archive_open(archive);
	s64 pages = 0;

	if (r == 0 && archive_number(archive, "PRAGMA page_count", &pages) < 0)
		r = archive_failed(archive, "read");
	if (r == 0) {
		archive->status.bytes = (u64)pages * ARCHIVE_PAGE_BYTES;
		archive->status.error = 0;
		archive->status.what[0] = '\0';
	}
	return r;
}

int archive_new(const struct archive_settings *settings, struct archive **ret)
{
	struct archive *archive = calloc(1, sizeof(*archive));

	if (!archive)
		return -ENOMEM;
	archive->vfs = settings->vfs;
	archive->bytes_max = ARCHIVE_BYTES_DEFAULT;
	archive->age_max_s = ARCHIVE_AGE_DEFAULT;
	archive->directory = strdup(settings->directory);
	if (!archive->directory || asprintf(&archive->path, "%s/" ARCHIVE_FILE, settings->directory) < 0) {
		free(archive->directory);
		free(archive);
		return -ENOMEM;
	}
	*ret = archive;
	return 0;
}

struct archive *archive_free(struct archive *archive)
{
	if (!archive)
		return NULL;
	close_file(archive);
	spans_done(&archive->spans);
	free(archive->directory);
	free(archive->path);
	free(archive);
	return NULL;
}

void archive_limit(struct archive *archive, u64 bytes_max, u64 age_max_s)
{
	archive->bytes_max = bytes_max > ARCHIVE_BYTES_MIN ? bytes_max : ARCHIVE_BYTES_MIN;
	archive->age_max_s = age_max_s;
}

void archive_status(struct archive *archive, struct history_status *ret)
{
	*ret = archive->status;
	ret->oldest_us = 0;
	ret->newest_us = 0;
	for (size_t i = 0; i < archive->spans.n; i++) {
		const struct span *span = &archive->spans.list[i];

		if (ret->oldest_us == 0 || span->start_us < ret->oldest_us)
			ret->oldest_us = span->start_us;
		if (span->end_us > ret->newest_us)
			ret->newest_us = span->end_us;
	}
}

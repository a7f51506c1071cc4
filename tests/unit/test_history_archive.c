// SPDX-License-Identifier: GPL-2.0
/*
 * The history on disk: what was stored is answered, within its limits, whatever happens to the file and the
 * disk.
 */
#include <criterion/criterion.h>

#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include "collect/counters.h"
#include "history/keeper/archive_internal.h"
#include "history_disk.h"
#include "history_folder.h"
#include "own_mounts.h"
#include "scarce_memory.h"

static char *folder;
static struct archive *archive;

static void begin_with(const char *vfs)
{
	folder = history_folder_new();
	cr_assert_eq(archive_new(&(struct archive_settings){.directory = folder, .vfs = vfs}, &archive), 0);
}

static void begin(void)
{
	begin_with(NULL);
}

static void again(void)
{
	archive_free(archive);
	cr_assert_eq(archive_new(&(struct archive_settings){.directory = folder}, &archive), 0);
}

static void end(void)
{
	archive = archive_free(archive);
	history_folder_free(folder);
}

TestSuite(history_archive, .timeout = 300, .init = begin, .fini = end);

static const struct history_fixture small = {
	.run = 1, .cgroups = 3, .loads = 1, .counts = 1, .counters = 20, .seed = 1};

/* Stores a pane that ends this many seconds after FULL_US. Returns the result. */
static int store_at(const struct history_fixture *fixture, u64 seconds)
{
	struct history_fixture this = *fixture;
	struct history_pane *pane;
	int r;

	this.end_us = FULL_US + seconds * SECOND_US;
	pane = history_fixture_new(&this);
	r = archive_pane(archive, pane);
	history_fixture_free(pane);
	return r;
}

static u64 total_of(const struct history_fixture *fixture)
{
	struct history_fixture this = *fixture;
	struct history_pane *pane;
	u64 total;

	this.end_us = FULL_US;
	pane = history_fixture_new(&this);
	total = history_fixture_total(pane, NULL, NULL);
	history_fixture_free(pane);
	return total;
}

/* Runs SQL in the file, as other programs do. */
static s64 query(const char *text)
{
	sqlite3_stmt *statement = NULL;
	sqlite3 *db;
	char path[512];
	s64 value = -1;
	int r;

	(void)snprintf(path, sizeof(path), "%s/" ARCHIVE_FILE, folder);
	cr_assert_eq(sqlite3_open(path, &db), SQLITE_OK);
	cr_assert_eq(sqlite3_prepare_v2(db, text, -1, &statement, NULL), SQLITE_OK, "%s: %s", text,
		     sqlite3_errmsg(db));
	r = sqlite3_step(statement);
	cr_assert(r == SQLITE_ROW || r == SQLITE_DONE, "%s: %s", text, sqlite3_errmsg(db));
	if (r == SQLITE_ROW)
		value = sqlite3_column_int64(statement, 0);
	(void)sqlite3_finalize(statement);
	(void)sqlite3_close(db);
	return value;
}

/* Runs SQL while the history is closed. */
static void change_file(const char *text)
{
	archive = archive_free(archive);
	(void)query(text);
	again();
}

static struct history_status status_of(void)
{
	struct history_status status;

	archive_status(archive, &status);
	return status;
}

static void expect_what(const char *part)
{
	const struct history_status status = status_of();

	cr_expect(strstr(status.what, part), "\"%s\" does not contain \"%s\"", status.what, part);
}

Test(history_archive, a_pane_is_read_as_it_was_stored)
{
	struct history_fixture fixture = small;
	struct history_pane *pane, *read;
	struct history_panes *panes;

	fixture.end_us = FULL_US + 10 * SECOND_US;
	fixture.settings = "{\"ldlat\":3}";
	pane = history_fixture_new(&fixture);
	pane->events[0].frequency_hz = 2500000000;
	pane->events[1].counted = false;
	cr_assert_eq(archive_pane(archive, pane), 0);
	again();
	panes = history_ask_panes(archive, FULL_US, FULL_US + 10 * SECOND_US, 1, "", false);
	cr_assert_eq(panes->n, 1);
	read = &panes->list[0];
	cr_expect(read->id > 0 && read->start_us == pane->start_us && read->end_us == pane->end_us);
	cr_expect(read->covered_ns == pane->covered_ns && read->run == 1);
	cr_assert(read->n_events == 2 && read->n_cgroups == 3 && read->n_rows == 6);
	for (size_t i = 0; i < 2; i++) {
		cr_expect_str_eq(read->events[i].key, pane->events[i].key);
		cr_expect_str_eq(read->events[i].settings, "{\"ldlat\":3}");
		cr_expect_eq(read->events[i].period, pane->events[i].period);
		cr_expect_eq(read->events[i].frequency_hz, pane->events[i].frequency_hz);
		cr_expect_eq(read->events[i].counted, pane->events[i].counted);
		cr_expect(read->events[i].throttle_known);
		cr_expect_arr_eq(read->events[i].counts, pane->events[i].counts,
				 sizeof(pane->events[i].counts));
	}
	for (size_t i = 0; i < 3; i++) {
		cr_expect_str_eq(read->cgroups[i].path, pane->cgroups[i].path);
		cr_expect_str_eq(read->cgroups[i].labels, pane->cgroups[i].labels);
		cr_expect_eq(read->cgroups[i].id, pane->cgroups[i].id);
	}
	for (size_t i = 0; i < 6; i++) {
		cr_assert_eq(read->rows[i].size, pane->rows[i].size);
		cr_expect_arr_eq(read->rows[i].packed, pane->rows[i].packed, pane->rows[i].size);
	}
	history_fixture_free(pane);
}

Test(history_archive, a_day_is_stored_in_tiers_without_loss)
{
	const unsigned n = 26 * 360;
	struct history_panes *panes;

	for (unsigned i = 1; i <= n; i++)
		cr_assert_eq(store_at(&small, i * 10UL), 0);
	/* The pane that makes one too many is dropped with the next pane. */
	cr_expect_leq(query("SELECT count(*) FROM span WHERE seconds = 10"), 361);
	cr_expect_geq(query("SELECT count(*) FROM span WHERE seconds = 10"), 360);
	cr_expect_leq(query("SELECT count(*) FROM span WHERE seconds = 60"), 1441);
	cr_expect_geq(query("SELECT count(*) FROM span WHERE seconds = 60"), 1440);
	cr_expect_eq(query("SELECT count(*) FROM span WHERE seconds = 600"), 26 * 6L);
	cr_expect_eq(query("SELECT count(*) FROM span WHERE seconds = 7200"), 13);
	cr_expect_eq(query("SELECT count(DISTINCT span) FROM figures"), query("SELECT count(*) FROM span"));
	cr_expect_eq(query("SELECT count(DISTINCT span) FROM event_total"),
		     query("SELECT count(*) FROM span"));
	panes = history_ask_panes(archive, FULL_US, FULL_US + n * (10 * SECOND_US), 1, "", false);
	cr_assert_eq(panes->n, 1);
	cr_expect_eq(history_fixture_total(&panes->list[0], NULL, NULL), n * total_of(&small));
	cr_expect_eq(panes->list[0].covered_ns, n * (10 * NSEC_PER_SEC));
	cr_expect_eq(panes->list[0].events[0].counts[0] % n, 0);
	panes = history_ask_panes(archive, FULL_US, FULL_US + n * (10 * SECOND_US), 26, "/fixture/1", false);
	cr_assert_eq(panes->n, 26);
	for (size_t i = 0; i < 26; i++) {
		cr_expect_eq(panes->list[i].covered_ns, 3600 * NSEC_PER_SEC);
		cr_assert_eq(panes->list[i].n_cgroups, 1);
		cr_expect_str_eq(panes->list[i].cgroups[0].path, "/fixture/1");
	}
}

Test(history_archive, spans_that_are_too_large_together_are_split)
{
	struct history_fixture large = {.run = 1, .cgroups = 14000, .loads = 2, .counters = 400};

	archive_limit(archive, 1ULL << 30, ARCHIVE_AGE_DEFAULT);
	/* Each pane has other cgroups. */
	for (unsigned i = 1; i <= 7; i++) {
		large.seed = i;
		large.first += large.cgroups;
		cr_assert_eq(store_at(&large, 10ULL * i), 0, "%s", status_of().what);
	}
	cr_expect_gt(
		query("SELECT sum(length(data)) FROM figures JOIN span ON span.id = span WHERE seconds = 10"),
		HISTORY_PANE_BYTES_MAX);
	cr_expect_geq(query("SELECT count(*) FROM span WHERE seconds = 60"), 2);
	cr_expect_eq(query("SELECT count(*) FROM span WHERE seconds = 10 AND parent IS NULL"), 1);
	cr_expect_eq(
		query("SELECT sum(loads) FROM figures JOIN span ON span.id = span WHERE seconds = 60"),
		query("SELECT sum(loads) FROM figures JOIN span ON span.id = span WHERE seconds = 10 AND parent IS NOT NULL"));
}

Test(history_archive, gaps_are_preserved)
{
	struct history_fixture later = small;
	struct history_panes *panes;

	later.run = 2;
	cr_assert_eq(store_at(&small, 10), 0);
	cr_assert_eq(store_at(&later, 40), 0);
	panes = history_ask_panes(archive, FULL_US, FULL_US + 40 * SECOND_US, 4, "", false);
	cr_assert_eq(panes->n, 2);
	cr_expect_eq(panes->list[0].end_us, FULL_US + 10 * SECOND_US);
	cr_expect_eq(panes->list[1].start_us, FULL_US + 30 * SECOND_US);
	cr_expect(panes->list[0].run == 1 && panes->list[1].run == 2);
}

Test(history_archive, one_cgroup_or_all_below_it_can_be_asked_for)
{
	static const struct {
		const char *path;
		bool subtree;
		size_t n;
	} cases[] = {
		{"", false, 4},        {"/fixture/1", false, 1}, {"/fixture/1", true, 2},
		{"/fixture", true, 4}, {"/fixture", false, 0},   {"/", true, 4},
		{"/fix", true, 0},     {"/absent", false, 0},
	};
	struct history_fixture fixture = small;
	struct history_pane *pane;

	fixture.cgroups = 4;
	fixture.end_us = FULL_US + 10 * SECOND_US;
	pane = history_fixture_new(&fixture);
	pane->cgroups[0].path = "/fixture/1";
	pane->cgroups[1].path = "/fixture/1/a";
	pane->cgroups[2].path = "/fixture/10";
	pane->cgroups[3].path = "/fixture/1-b";
	cr_assert_eq(archive_pane(archive, pane), 0);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct history_panes *panes = history_ask_panes(archive, FULL_US, FULL_US + 10 * SECOND_US, 1,
								cases[i].path, cases[i].subtree);

		/* The time was recorded, also for a cgroup that had nothing. */
		cr_assert_eq(panes->n, 1);
		cr_expect_eq(panes->list[0].n_cgroups, cases[i].n, "case %zu", i);
		cr_expect_eq(panes->list[0].n_events, 2);
	}
	history_fixture_free(pane);
}

Test(history_archive, cgroups_with_one_path_are_added_up)
{
	struct history_fixture fixture = small;
	struct history_panes *panes;
	struct history_pane *pane;

	fixture.end_us = FULL_US + 10 * SECOND_US;
	pane = history_fixture_new(&fixture);
	pane->cgroups[2].path = pane->cgroups[0].path;
	cr_assert_eq(archive_pane(archive, pane), 0);
	panes = history_ask_panes(archive, FULL_US, FULL_US + 10 * SECOND_US, 1, "", false);
	cr_assert_eq(panes->n, 1);
	cr_expect_eq(panes->list[0].n_cgroups, 2);
	cr_expect_eq(history_fixture_total(&panes->list[0], "/fixture/0", NULL),
		     history_fixture_total(pane, "/fixture/0", NULL));
	history_fixture_free(pane);
}

Test(history_archive, the_newest_known_labels_and_id_are_answered)
{
	struct history_fixture fixture = small;
	struct history_panes *panes;
	struct history_pane *pane;

	for (unsigned i = 0; i < 3; i++) {
		fixture.end_us = FULL_US + (i + 1) * (10 * SECOND_US);
		pane = history_fixture_new(&fixture);
		pane->cgroups[0].labels = i == 1 ? "{\"pod\":\"new\"}" : i == 2 ? "" : "{}";
		pane->cgroups[0].id = i == 2 ? 0 : 7 + i;
		cr_assert_eq(archive_pane(archive, pane), 0);
		history_fixture_free(pane);
	}
	panes = history_ask_panes(archive, FULL_US, FULL_US + 10 * SECOND_US, 1, "/fixture/0", false);
	cr_expect_str_eq(panes->list[0].cgroups[0].labels, "{\"pod\":\"new\"}");
	cr_expect_eq(panes->list[0].cgroups[0].id, 8);
}

Test(history_archive, known_labels_survive_any_failed_allocation)
{
	struct history_fixture fixture = small;
	struct history_panes *panes;
	bool failed = true;

	for (unsigned i = 0; failed; i++) {
		struct history_pane *pane;
		int r;

		fixture.end_us = FULL_US + (i + 1) * (10 * SECOND_US);
		pane = history_fixture_new(&fixture);
		pane->cgroups[0].labels = i == 0 ? "{\"pod\":\"shop\"}" : "";
		pane->cgroups[0].id = 7 + i;
		if (i > 0)
			scarce_memory_after(i - 1);
		r = archive_pane(archive, pane);
		failed = i == 0 || scarce_memory_end();
		cr_expect(r == 0 || (failed && r == -ENOMEM), "%s", strerror(-r));
		history_fixture_free(pane);
		panes = history_ask_panes(archive, FULL_US, fixture.end_us, 1, "/fixture/0", false);
		cr_expect_str_eq(panes->list[0].cgroups[0].labels, "{\"pod\":\"shop\"}", "allocation %u", i);
	}
}

Test(history_archive, a_pane_that_is_sent_again_is_stored_once)
{
	struct history_fixture other = small;
	struct history_panes *panes;

	for (unsigned i = 1; i <= 7; i++)
		cr_assert_eq(store_at(&small, i * 10UL), 0);
	again();
	cr_expect_eq(store_at(&small, 70), 0);
	cr_expect_eq(store_at(&small, 10), 0);
	panes = history_ask_panes(archive, FULL_US, FULL_US + 70 * SECOND_US, 1, "", false);
	cr_expect_eq(history_fixture_total(&panes->list[0], NULL, NULL), 7 * total_of(&small));
	/* Another run is not the same pane. */
	other.run = 2;
	cr_expect_eq(store_at(&other, 70), 0);
	cr_expect_eq(query("SELECT count(*) FROM span WHERE seconds = 10"), 8);
}

Test(history_archive, changes_of_another_keeper_are_noticed)
{
	struct history_fixture other = small;
	struct history_pane *pane;
	struct archive *second;
	struct history_panes *panes;

	cr_assert_eq(store_at(&small, 10), 0);
	cr_assert_eq(archive_new(&(struct archive_settings){.directory = folder}, &second), 0);
	other.end_us = FULL_US + 20 * SECOND_US;
	pane = history_fixture_new(&other);
	cr_expect_eq(archive_pane(second, pane), 0);
	cr_expect_eq(store_at(&small, 30), 0);
	pane->start_us += 20 * SECOND_US;
	pane->end_us += 20 * SECOND_US;
	cr_expect_eq(archive_pane(second, pane), 0);
	panes = history_ask_panes(archive, FULL_US, FULL_US + 40 * SECOND_US, 4, "", false);
	cr_expect_eq(panes->n, 4);
	archive_free(second);
	history_fixture_free(pane);
}

Test(history_archive, the_newest_settings_of_an_event_are_used)
{
	static const char *const order[] = {"a", "b", "a", "c", "b", "a"};
	struct history_panes *panes;

	for (unsigned i = 0; i < ARRAY_SIZE(order); i++) {
		struct history_fixture fixture = small;

		fixture.counts = 0;
		fixture.settings = order[i];
		cr_assert_eq(store_at(&fixture, i * 10UL + 10), 0);
	}
	/* Also read from the span of a minute into which these panes are added up. */
	for (unsigned seconds = 0; seconds <= 60; seconds += 60) {
		static struct history_query asked;
		static struct history_panes read;
		size_t size;

		asked = (struct history_query){.since_us = FULL_US,
					       .until_us = FULL_US + 60 * SECOND_US,
					       .bins = 1,
					       .least_seconds = seconds};
		cr_assert_eq(archive_ask(archive, &asked, &read.block, &size), 0);
		history_panes_read(&read, size);
		cr_assert_eq(read.n, 1);
		cr_assert_eq(read.list[0].n_events, 3);
		cr_expect_str_eq(read.list[0].events[0].settings, "c");
		cr_expect_str_eq(read.list[0].events[1].settings, "b");
		cr_expect_str_eq(read.list[0].events[2].settings, "a");
		history_panes_done(&read);
	}
	panes = history_ask_panes(archive, FULL_US, FULL_US + 20 * SECOND_US, 1, "", false);
	cr_expect_str_eq(panes->list[0].events[1].settings, "b");
}

/* The host's timeline needs no cgroups, which may be thousands in each pane. */
Test(history_archive, totals_have_all_samples_in_one_cgroup)
{
	static struct history_query asked = {.question = HISTORY_ASK_TOTALS,
					     .since_us = FULL_US,
					     .until_us = FULL_US + 20 * SECOND_US,
					     .bins = 2};
	static struct history_panes read;
	struct history_panes *panes;
	size_t size;

	cr_assert_eq(store_at(&small, 10), 0);
	cr_assert_eq(store_at(&small, 20), 0);
	panes = history_ask_panes(archive, FULL_US, FULL_US + 20 * SECOND_US, 2, "", false);
	cr_assert_eq(archive_ask(archive, &asked, &read.block, &size), 0);
	history_panes_read(&read, size);
	cr_assert_eq(read.n, 2);
	for (size_t i = 0; i < 2; i++) {
		const struct history_pane *pane = &read.list[i];

		cr_assert_eq(pane->n_cgroups, 1);
		cr_expect_str_eq(pane->cgroups[0].path, HISTORY_TOTAL);
		cr_expect_eq(pane->n_events, panes->list[i].n_events);
		cr_expect_leq(pane->n_rows, pane->n_events);
		cr_expect_eq(history_fixture_total(pane, NULL, NULL),
			     history_fixture_total(&panes->list[i], NULL, NULL));
		cr_expect_eq(pane->covered_ns, panes->list[i].covered_ns);
	}
	history_panes_done(&read);
}

/* Asks for the sum of all cgroups. `ret_rows` gets the number of rows that were read for it. */
static u64 sum_of_all(u64 since_us, u64 until_us, u32 bins, u64 *ret_rows)
{
	static struct history_query asked;
	static struct history_panes read;
	const u64 before = archive->rows_read;
	u64 sum = 0;
	size_t size;

	asked = (struct history_query){
		.question = HISTORY_ASK_TOTALS, .since_us = since_us, .until_us = until_us, .bins = bins};
	cr_assert_eq(archive_ask(archive, &asked, &read.block, &size), 0);
	*ret_rows = archive->rows_read - before;
	history_panes_read(&read, size);
	for (size_t i = 0; i < read.n; i++)
		sum += history_fixture_total(&read.list[i], NULL, NULL);
	history_panes_done(&read);
	return sum;
}

/* An hour in parts of ten minutes is read from spans of ten minutes, or from those of a minute. */
Test(history_archive, the_sum_of_all_is_read_from_one_row_of_a_span_and_event)
{
	struct history_fixture many = small;
	u64 aligned, shifted;

	many.cgroups = 50;
	for (u64 at = 10; at <= 4200; at += 10)
		cr_assert_eq(store_at(&many, at), 0);
	cr_expect_eq(sum_of_all(FULL_US, FULL_US + 3600 * SECOND_US, 6, &aligned), 360 * total_of(&many));
	cr_expect_eq(aligned, 12, "6 spans, 2 events");
	cr_expect_eq(sum_of_all(FULL_US + 300 * SECOND_US, FULL_US + 3900 * SECOND_US, 6, &shifted),
		     360 * total_of(&many));
	cr_expect_eq(shifted, 120, "60 spans, 2 events");
}

/* Stores a minute, which becomes a span of 60 s, and part of another. */
static void store_a_minute(const struct history_fixture *fixture)
{
	for (u64 at = 10; at <= 90; at += 10)
		cr_assert_eq(store_at(fixture, at), 0);
}

Test(history_archive_opened_later, spans_of_an_older_version_are_read_by_cgroup)
{
	static const char *const older[] = {
		"ALTER TABLE event_total DROP COLUMN pairs",
		"UPDATE event_total SET pairs = NULL",
		"UPDATE event_total SET pairs = NULL WHERE event = 2",
		"UPDATE event_total SET pairs = x'ff' WHERE span = 2",
	};

	for (size_t i = 0; i < ARRAY_SIZE(older); i++) {
		u64 rows;

		begin();
		store_a_minute(&small);
		(void)query(older[i]);
		again();
		cr_expect_eq(sum_of_all(FULL_US, FULL_US + 90 * SECOND_US, 9, &rows), 9 * total_of(&small),
			     "%s", older[i]);
		/* Spans are stored with their sum from now on, also one of a minute that has older panes. */
		for (u64 at = 100; at <= 120; at += 10)
			cr_assert_eq(store_at(&small, at), 0);
		cr_expect_eq(sum_of_all(FULL_US, FULL_US + 120 * SECOND_US, 12, &rows), 12 * total_of(&small),
			     "%s", older[i]);
		cr_expect_eq(sum_of_all(FULL_US + 90 * SECOND_US, FULL_US + 120 * SECOND_US, 3, &rows),
			     3 * total_of(&small), "%s", older[i]);
		cr_expect_eq(rows, 6, "%s", older[i]);
		cr_expect_eq(
			query("SELECT count(*) FROM event_total WHERE pairs IS NULL AND span = (SELECT max(id) FROM span WHERE seconds = 60)"),
			0);
		end();
	}
}

Test(history_archive, a_question_whose_answer_is_too_large_is_not_read_to_its_end)
{
	static struct history_query asked = {
		.since_us = FULL_US, .until_us = FULL_US + 400 * SECOND_US, .bins = 40};
	struct history_fixture many = small;
	size_t size;
	u8 *answer;

	many.cgroups = 3000;
	many.counters = 500;
	for (u64 at = 10; at <= 400; at += 10)
		cr_assert_eq(store_at(&many, at), 0);
	archive->rows_read = 0;
	cr_expect_eq(archive_ask(archive, &asked, &answer, &size), -E2BIG);
	cr_expect_leq(archive->rows_read, 10UL * many.cgroups);
}

Test(history_archive, events_with_other_settings_are_apart)
{
	struct history_fixture other = small;
	struct history_panes *panes;

	other.settings = "{\"ldlat\":100}";
	cr_assert_eq(store_at(&small, 10), 0);
	cr_assert_eq(store_at(&other, 20), 0);
	panes = history_ask_panes(archive, FULL_US, FULL_US + 20 * SECOND_US, 1, "", false);
	cr_assert_eq(panes->n, 1);
	cr_expect_eq(panes->list[0].n_events, 4);
	cr_expect_eq(panes->list[0].n_rows, 12);
	cr_expect_eq(history_fixture_total(&panes->list[0], NULL, NULL), 2 * total_of(&small));
}

static u64 bytes_on_disk(void)
{
	static const char *const names[] = {ARCHIVE_FILE, ARCHIVE_FILE "-wal"};
	u64 bytes = 0;

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		struct stat file;
		char path[512];

		(void)snprintf(path, sizeof(path), "%s/%s", folder, names[i]);
		if (stat(path, &file) == 0)
			bytes += (u64)file.st_size;
	}
	return bytes;
}

static const struct history_fixture large = {
	.run = 1, .cgroups = 100, .loads = 1, .counts = 4, .counters = 40, .seed = 1};

Test(history_archive, the_files_stay_below_the_limit_and_the_newest_panes_stay)
{
	const u64 limit = 12 << 20;
	struct history_panes *panes;

	archive_limit(archive, limit, 14UL * 86400);
	for (unsigned i = 1; i <= 1500; i++) {
		cr_assert_eq(store_at(&large, i * 10UL), 0);
		cr_assert_leq(bytes_on_disk(), limit, "%llu bytes after pane %u", bytes_on_disk(), i);
	}
	cr_expect(status_of().limited);
	cr_expect_gt(status_of().bytes, limit / 2);
	cr_expect_leq(status_of().bytes, limit);
	panes = history_ask_panes(archive, FULL_US + 14900 * SECOND_US, FULL_US + 15000 * SECOND_US, 10, "",
				  false);
	cr_expect_eq(panes->n, 10);
	/* A smaller limit is in force after a while. */
	archive_limit(archive, ARCHIVE_BYTES_MIN, 14UL * 86400);
	for (unsigned i = 1501; i <= 1540; i++)
		cr_assert_eq(store_at(&large, i * 10UL), 0);
	again();
	cr_assert_eq(archive_begin(archive), 0);
	cr_expect_leq(bytes_on_disk(), ARCHIVE_BYTES_MIN);
}

Test(history_archive, spans_and_alerts_above_the_age_are_dropped)
{
	struct history_alert alert = {"old", "{}", FULL_US, FULL_US + 60 * SECOND_US};

	archive_limit(archive, 64 << 20, 3600);
	cr_assert_eq(archive_alert(archive, &alert), 0);
	for (unsigned i = 1; i <= 3 * 360; i++)
		cr_assert_eq(store_at(&small, i * 10UL), 0);
	/* A span is dropped as a whole. */
	cr_expect_geq(status_of().oldest_us, FULL_US + (2 * 3600 - 7200) * SECOND_US);
	cr_expect_eq(
		query("SELECT count(*) FROM span WHERE end_us < 1000000 * (SELECT max(end_us) / 1000000 - 3620 FROM span)"),
		0);
	cr_expect_eq(query("SELECT count(*) FROM alert"), 0);
	cr_expect_not(status_of().limited);
}

Test(history_archive, a_clock_set_forward_and_back_erases_nothing)
{
	const u64 year = 365UL * 86400;
	struct history_fixture wrong = small, right = small;
	struct history_panes *panes;

	wrong.run = 2;
	right.run = 3;
	for (unsigned i = 1; i <= 100; i++)
		cr_assert_eq(store_at(&small, i * 10UL), 0);
	for (unsigned i = 1; i <= 60; i++)
		cr_assert_eq(store_at(&wrong, year + i * 10UL), 0);
	for (unsigned i = 111; i <= 150; i++)
		cr_assert_eq(store_at(&right, i * 10UL), 0);
	panes = history_ask_panes(archive, FULL_US, FULL_US + 1500 * SECOND_US, 150, "", false);
	cr_expect_eq(panes->n, 140);
	panes = history_ask_panes(archive, FULL_US, FULL_US + (year + 3600) * SECOND_US, 1, "", false);
	cr_expect_eq(history_fixture_total(&panes->list[0], NULL, NULL), 200 * total_of(&small));
}

Test(history_archive, a_time_that_the_clock_had_twice_counts_twice)
{
	struct history_fixture second = small;
	struct history_panes *panes;

	second.run = 2;
	for (unsigned i = 1; i <= 12; i++)
		cr_assert_eq(store_at(&small, i * 10UL), 0);
	for (unsigned i = 1; i <= 12; i++)
		cr_assert_eq(store_at(&second, i * 10UL), 0);
	panes = history_ask_panes(archive, FULL_US, FULL_US + 120 * SECOND_US, 12, "", false);
	cr_expect_eq(panes->n, 12);
	for (size_t i = 0; i < panes->n; i++)
		cr_expect_eq(panes->list[i].covered_ns, 20 * NSEC_PER_SEC);
}

static void expect_alerts_of(const char *cgroup, u64 since, u64 until, const char *expected)
{
	static struct history_query asked;
	_cleanup_free_ char *text = NULL;
	u8 *answer;
	size_t size;

	asked = (struct history_query){
		.question = HISTORY_ASK_ALERTS, .since_us = since, .until_us = until, .bins = 1};
	(void)stpcpy(asked.path, cgroup);
	(void)stpcpy(asked.rule, cgroup[0] ? "slow" : "");
	cr_assert_eq(archive_ask(archive, &asked, &answer, &size), 0);
	text = strndup((const char *)answer, size);
	free(answer);
	cr_expect_str_eq(text, expected);
}

static void expect_alerts(u64 since, u64 until, const char *expected)
{
	expect_alerts_of("", since, until, expected);
}

Test(history_archive, alerts_are_answered_if_they_overlap_the_range)
{
	cr_assert_eq(archive_alert(archive, &(struct history_alert){"a", "{\"a\":1}", 100, 0}), 0);
	cr_assert_eq(archive_alert(archive, &(struct history_alert){"b", "{\"b\":1}", 150, 160}), 0);
	expect_alerts(1, 99, "[]");
	expect_alerts(1, 100, "[{\"a\":1}]");
	expect_alerts(140, 155, "[{\"a\":1},{\"b\":1,\"to_us\":160}]");
	expect_alerts(160, 170, "[{\"a\":1}]");
	/* The record with the end of the alert replaces the earlier record. */
	cr_assert_eq(archive_alert(archive, &(struct history_alert){"a", "{\"a\":2}", 100, 155}), 0);
	expect_alerts(140, 150, "[{\"a\":2,\"to_us\":155},{\"b\":1,\"to_us\":160}]");
	expect_alerts(160, 170, "[]");
}

/* Why an alert fired is asked for after it has resolved. */
Test(history_archive, the_explanation_at_the_time_of_firing_is_kept)
{
	static const char firing[] =
		"{\"rule\":\"slow\",\"cgroup\":\"/a\",\"fired\":\"2026\",\"sentences\":[\"50%\"],\"value\":0.50}";

	cr_assert_eq(
		archive_alert(archive, &(struct history_alert){"a", "{\"cgroup\":\"/a\",\"v\":1}", 100, 0}),
		0);
	cr_assert_eq(archive_alert(archive, &(struct history_alert){"a", firing, 100, 0}), 0);
	cr_assert_eq(archive_alert(archive, &(struct history_alert){"b", "not JSON", 100, 0}), 0);
	cr_assert_eq(archive_alert(archive, &(struct history_alert){"b", "{\"cgroup\":\"/b\"}", 100, 0}), 0);
	/* The daemon was restarted, then the alert resolved. */
	for (int i = 0; i < 2; i++)
		cr_assert_eq(
			archive_alert(
				archive,
				&(struct history_alert){
					"a",
					"{\"rule\":\"slow\",\"cgroup\":\"/a\",\"fired\":\"2026\",\"resolved\":\"2027\",\"sentences\":[]}",
					100, 150}),
			0);
	expect_alerts(
		1, 200,
		"[{\"rule\":\"slow\",\"cgroup\":\"/a\",\"fired\":\"2026\",\"resolved\":\"2027\",\"firing\":{\"rule\":\"slow\",\"cgroup\":\"/a\",\"fired\":\"2026\",\"value\":0.50},\"to_us\":150},{\"cgroup\":\"/b\"}]");
	expect_alerts_of(
		"/a", 1, 200,
		"[{\"rule\":\"slow\",\"cgroup\":\"/a\",\"fired\":\"2026\",\"resolved\":\"2027\",\"sentences\":[],\"firing\":{\"rule\":\"slow\",\"cgroup\":\"/a\",\"fired\":\"2026\",\"sentences\":[\"50%\"],\"value\":0.50},\"to_us\":150}]");
	expect_alerts_of("/c", 1, 200, "[]");
}

/* A cgroup may have hundreds of alerts of several KB. */
Test(history_archive, the_newest_alerts_of_the_rule_are_explained_and_older_ones_only_counted)
{
	char key[32], json[128], expected[8192] = "[";
	const unsigned n = 40;

	for (unsigned i = 0; i < n; i++) {
		(void)snprintf(json, sizeof(json), "{\"rule\":\"slow\",\"cgroup\":\"/a\",\"n\":%u}", i);
		(void)snprintf(key, sizeof(key), "%u", i);
		cr_assert_eq(archive_alert(archive, &(struct history_alert){key, json, 100 + i, 0}), 0);
		(void)strcat(strcat(expected, i ? "," : ""), i + HISTORY_EXPLAINED_MAX < n ? "null" : json);
		(void)snprintf(json, sizeof(json), "{\"rule\":\"other\",\"cgroup\":\"/a\"}");
		(void)snprintf(key, sizeof(key), "other %u", i);
		cr_assert_eq(archive_alert(archive, &(struct history_alert){key, json, 100 + i, 0}), 0);
	}
	(void)strcat(expected, "]");
	expect_alerts_of("/a", 1, 200, expected);
}

Test(history_archive, alerts_that_are_not_continued_end_with_the_last_pane)
{
	cr_assert_eq(archive_alert(archive, &(struct history_alert){"a", "{\"a\":1}", FULL_US, 0}), 0);
	cr_assert_eq(archive_alert(archive, &(struct history_alert){"b", "{\"b\":1}", 150, 160}), 0);
	cr_assert_eq(store_at(&small, 10), 0);
	cr_assert_eq(store_at(&small, 20), 0);
	cr_assert_eq(archive_alert(archive,
				   &(struct history_alert){"c", "{\"c\":1}", FULL_US + 25 * SECOND_US, 0}),
		     0);
	again();
	cr_assert_eq(archive_end_alerts(archive), 0);
	cr_expect_eq(query("SELECT to_us FROM alert WHERE key = 'a'"), FULL_US + 20 * SECOND_US);
	cr_expect_eq(query("SELECT to_us FROM alert WHERE key = 'b'"), 160);
	cr_expect_eq(query("SELECT to_us - from_us FROM alert WHERE key = 'c'"), 1);
	expect_alerts(FULL_US + 30 * SECOND_US, FULL_US + 40 * SECOND_US, "[]");
	/* An alert that still fires is stored again, and has no end. */
	cr_assert_eq(archive_alert(archive, &(struct history_alert){"a", "{\"a\":2}", FULL_US, 0}), 0);
	expect_alerts(FULL_US + 30 * SECOND_US, FULL_US + 40 * SECOND_US, "[{\"a\":2}]");
}

/* Users choose the names of cgroups, which are in the key and in the text. A character takes up to four bytes. */
Test(history_archive, the_part_of_the_space_that_alerts_take_is_counted_in_bytes)
{
	_cleanup_free_ char *name = calloc(4000, 1), *key = NULL, *json = NULL;

	cr_assert_not_null(name);
	for (unsigned i = 0; i < 900; i++)
		memcpy(name + (size_t)4 * i, "\xf0\x9f\x90\x8c", 4);
	archive_limit(archive, ARCHIVE_BYTES_MIN, 14UL * 86400);
	for (unsigned i = 0; i < 320; i++) {
		cr_assert_gt(asprintf(&key, "%s%u", name, i), 0);
		cr_assert_gt(asprintf(&json, "{\"cgroup\":\"%s\"}", name), 0);
		cr_assert_eq(archive_alert(archive, &(struct history_alert){key, json, 1000 + i, 0}), 0);
		free(TAKE_PTR(key));
		free(TAKE_PTR(json));
	}
	/* The limit is enforced after every 64 alerts. */
	cr_expect_leq(query("SELECT sum(length(CAST(key AS BLOB)) + length(CAST(json AS BLOB))) FROM alert"),
		      (s64)(ARCHIVE_BYTES_MIN / 8 + 64UL * 7300));
	cr_expect_geq(query("SELECT count(*) FROM alert"), 64);
}

Test(history_archive, alerts_take_a_bounded_part_of_the_space)
{
	static char json[60000];
	char key[32];

	archive_limit(archive, ARCHIVE_BYTES_MIN, 14UL * 86400);
	memset(json, ' ', sizeof(json) - 1);
	for (unsigned i = 0; i < 300; i++) {
		(void)snprintf(key, sizeof(key), "alert %u", i);
		cr_assert_eq(archive_alert(archive, &(struct history_alert){key, json, 1000 + i, 0}), 0);
	}
	/* The limit is enforced after every 64 alerts. */
	cr_expect_leq(query("SELECT sum(length(json)) FROM alert"),
		      (s64)(ARCHIVE_BYTES_MIN / 8 + 64UL * 60000));
	cr_expect_eq(query("SELECT count(*) FROM alert WHERE key = 'alert 299'"), 1);
}

static void write_file(const char *name, const void *bytes, size_t size)
{
	char path[512];
	int fd;

	(void)snprintf(path, sizeof(path), "%s/%s", folder, name);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	cr_assert_geq(fd, 0);
	cr_assert_eq(write(fd, bytes, size), (ssize_t)size);
	(void)close(fd);
}

Test(history_archive, a_file_of_a_newer_version_is_left_alone)
{
	cr_assert_eq(store_at(&small, 10), 0);
	change_file("PRAGMA user_version = 2");
	cr_expect_eq(store_at(&small, 20), -EPROTONOSUPPORT);
	expect_what(
		"a newer pebsd wrote it (version 2, this pebsd has 1); install that pebsd again, or move the file away");
	cr_expect_eq(status_of().error, EPROTONOSUPPORT);
	cr_expect_eq(status_of().lost, 1);
	cr_expect_eq(query("SELECT count(*) FROM span"), 1);
	/* After the file was moved away, without a restart. */
	cr_expect_eq(query("PRAGMA user_version = 1"), -1);
	cr_expect_eq(store_at(&small, 20), 0);
	cr_expect_eq(status_of().error, 0);
	cr_expect_str_eq(status_of().what, "");
}

Test(history_archive, a_file_of_a_version_with_fewer_counts_gets_the_new_ones)
{
	cr_assert_eq(store_at(&small, 10), 0);
	change_file("ALTER TABLE event_total DROP COLUMN rearmed");
	change_file("ALTER TABLE event_total DROP COLUMN waiting_ns");
	cr_expect_eq(store_at(&small, 20), 0);
	cr_expect_eq(status_of().error, 0);
	cr_expect_eq(query("SELECT count(*) FROM event_total"), 2 * query("SELECT count(*) FROM event"));
	cr_expect_eq(query("SELECT sum(rearmed) FROM event_total WHERE span = 1"), 0);
	cr_expect_eq(query("SELECT min(rearmed) > 0 FROM event_total WHERE span = 2"), 1);
	cr_expect_eq(query("SELECT min(waiting_ns) > 0 FROM event_total WHERE span = 2"), 1);
}

Test(history_archive, a_file_of_an_older_version_is_kept_and_a_new_history_begins)
{
	cr_assert_eq(store_at(&small, 10), 0);
	change_file("PRAGMA user_version = 0");
	cr_expect_eq(store_at(&small, 20), 0);
	cr_expect_eq(status_of().error, 0);
	cr_expect_eq(query("SELECT count(*) FROM span"), 1);
	cr_expect_eq(query("SELECT user_version FROM pragma_user_version"), ARCHIVE_VERSION);
	cr_expect_eq(history_folder_count(folder, ARCHIVE_FILE ".older-"), 1);
}

Test(history_archive, a_file_with_other_counters_is_kept_and_a_new_history_begins)
{
	cr_assert_eq(store_at(&small, 10), 0);
	change_file("UPDATE layout SET counters = counters + 1");
	cr_expect_eq(store_at(&small, 20), 0);
	cr_expect_eq(status_of().error, 0);
	cr_expect_eq(query("SELECT count(*) FROM span"), 1);
	cr_expect_eq(query("SELECT counters FROM layout"), counters_layout());
	cr_expect_eq(history_folder_count(folder, ARCHIVE_FILE ".older-"), 1);
}

/* The first version did not state it. */
Test(history_archive, a_file_without_a_layout_gets_the_present_one)
{
	cr_assert_eq(store_at(&small, 10), 0);
	change_file("DROP TABLE layout");
	cr_expect_eq(store_at(&small, 20), 0);
	cr_expect_eq(query("SELECT count(*) FROM span"), 2);
	cr_expect_eq(query("SELECT counters FROM layout"), counters_layout());
}

Test(history_archive, a_database_of_another_program_is_left_alone)
{
	(void)query("CREATE TABLE mine(x)");
	cr_expect_eq(store_at(&small, 10), -EMEDIUMTYPE);
	expect_what("it is a database of another program; move it away, or choose another directory");
	cr_expect_eq(query("SELECT count(*) FROM sqlite_schema"), 1);
}

Test(history_archive, a_file_that_is_not_a_database_is_renamed)
{
	static const char text[8192] = "This is not a database, but it is long enough to be one.";

	write_file(ARCHIVE_FILE, text, sizeof(text));
	/* An older one, which goes. */
	write_file(ARCHIVE_FILE ".damaged-1", "x", 1);
	cr_expect_eq(store_at(&small, 10), 0);
	cr_expect_eq(history_folder_count(folder, ARCHIVE_FILE ".damaged-"), 1);
	cr_expect_eq(query("SELECT count(*) FROM span"), 1);
}

/* Overwrites pages of the file, from the second on, while nobody has it open. */
static void damage(void)
{
	static u8 noise[4096];
	char path[512];
	struct stat file;
	int fd;

	memset(noise, 0xa5, sizeof(noise));
	(void)snprintf(path, sizeof(path), "%s/" ARCHIVE_FILE, folder);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	cr_assert(fd >= 0 && fstat(fd, &file) == 0);
	for (off_t at = 4096; at < file.st_size; at += 4096)
		cr_assert_eq(pwrite(fd, noise, sizeof(noise), at), sizeof(noise));
	(void)close(fd);
}

Test(history_archive, a_damaged_file_is_replaced_and_no_pane_is_lost)
{
	struct history_panes *panes;

	for (unsigned i = 1; i <= 20; i++)
		cr_assert_eq(store_at(&small, i * 10UL), 0);
	archive = archive_free(archive);
	damage();
	cr_assert_eq(archive_new(&(struct archive_settings){.directory = folder}, &archive), 0);
	cr_expect_eq(store_at(&small, 210), 0);
	cr_expect_eq(history_folder_count(folder, ARCHIVE_FILE ".damaged-"), 1);
	panes = history_ask_panes(archive, FULL_US, FULL_US + 210 * SECOND_US, 21, "", false);
	cr_expect_eq(panes->n, 1);
}

Test(history_archive, damage_found_by_a_request_is_an_error_then_the_file_is_replaced)
{
	static struct history_query asked;
	u8 *answer;
	size_t size;

	for (unsigned i = 1; i <= 20; i++)
		cr_assert_eq(store_at(&small, i * 10UL), 0);
	again();
	cr_assert_eq(archive_begin(archive), 0);
	(void)query("PRAGMA wal_checkpoint(TRUNCATE)");
	damage();
	asked = (struct history_query){
		.since_us = FULL_US, .until_us = FULL_US + 210 * SECOND_US, .bins = 1, .path = "/fixture/1"};
	cr_expect_eq(archive_ask(archive, &asked, &answer, &size), -EUCLEAN);
	cr_expect_eq(store_at(&small, 210), 0);
	cr_expect_eq(query("SELECT count(*) FROM span"), 1);
}

Test(history_archive, rows_that_cannot_be_read_are_left_out)
{
	struct history_panes *panes;

	cr_assert_eq(store_at(&small, 10), 0);
	(void)query("UPDATE figures SET data = x'ffff' WHERE cgroup = 1");
	(void)query("DELETE FROM cgroup WHERE id = 2");
	panes = history_ask_panes(archive, FULL_US, FULL_US + 10 * SECOND_US, 1, "", false);
	cr_assert_eq(panes->n, 1);
	cr_expect_eq(panes->list[0].n_cgroups, 1);
	cr_expect_str_eq(panes->list[0].cgroups[0].path, "/fixture/2");
	(void)query("DELETE FROM event");
	panes = history_ask_panes(archive, FULL_US, FULL_US + 10 * SECOND_US, 1, "", false);
	cr_assert_eq(panes->n, 1);
	cr_expect_eq(panes->list[0].n_events, 2);
}

Test(history_archive_opened_later, a_full_disk_loses_only_panes)
{
	struct history_panes *panes;

	history_disk_begin();
	begin_with(HISTORY_DISK);
	cr_assert_eq(store_at(&small, 10), 0);
	history_disk_fail(SQLITE_FULL, 0);
	cr_expect_eq(store_at(&small, 20), -ENOSPC);
	expect_what("No space left on device; free space on its file system, or make the history smaller");
	cr_expect(status_of().error == ENOSPC && status_of().lost == 1 && status_of().panes == 1);
	panes = history_ask_panes(archive, FULL_US, FULL_US + 30 * SECOND_US, 3, "", false);
	cr_expect_eq(panes->n, 1);
	/* The answer has not changed what is said about the disk. */
	cr_expect_eq(status_of().error, ENOSPC);
	history_disk_fail(0, 0);
	cr_expect_eq(store_at(&small, 30), 0);
	cr_expect_eq(status_of().error, 0);
	panes = history_ask_panes(archive, FULL_US, FULL_US + 30 * SECOND_US, 3, "", false);
	cr_expect_eq(panes->n, 2);
	end();
	history_disk_end();
}

Test(history_archive_opened_later, a_disk_that_fails_is_named_and_tried_again)
{
	static const struct {
		int writes, syncs, error;
		const char *what;
	} cases[] = {
		{SQLITE_IOERR_WRITE, 0, -EIO, "see the kernel's messages about the disk"},
		{0, SQLITE_IOERR_FSYNC, -EIO, "see the kernel's messages about the disk"},
		{SQLITE_READONLY, 0, -EROFS,
		 "make the directory and the file writable for the user that pebsd runs as"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		history_disk_begin();
		begin_with(HISTORY_DISK);
		cr_assert_eq(store_at(&small, 10), 0);
		history_disk_fail(cases[i].writes, cases[i].syncs);
		cr_expect_eq(store_at(&small, 20), cases[i].error, "case %zu", i);
		expect_what(cases[i].what);
		history_disk_fail(0, 0);
		cr_expect_eq(store_at(&small, 30), 0, "case %zu", i);
		end();
		history_disk_end();
	}
}

/* A real file system of 1 MiB that is full, and one that is mounted read-only. */
Test(history_archive, file_systems_that_are_full_or_read_only_are_named)
{
	unsigned stored = 0;
	int r = 0;

	if (own_mounts() < 0)
		cr_skip_test("needs CAP_SYS_ADMIN");
	cr_assert_eq(mount("tmpfs", folder, "tmpfs", 0, "size=1m"), 0);
	while (r == 0 && stored < 1000) {
		r = store_at(&large, (stored + 1) * 10UL);
		stored += r == 0;
	}
	cr_expect(r == -ENOSPC && stored > 5, "%d after %u panes", r, stored);
	expect_what("No space left on device");
	cr_assert_eq(mount(NULL, folder, NULL, MS_REMOUNT, "size=16m"), 0);
	cr_expect_eq(store_at(&large, 20000), 0);
	cr_expect_eq(query("SELECT count(*) FROM span WHERE seconds = 10"), stored + 1);
	archive = archive_free(archive);
	cr_assert_eq(mount(NULL, folder, NULL, MS_REMOUNT | MS_RDONLY, NULL), 0);
	cr_assert_eq(archive_new(&(struct archive_settings){.directory = folder}, &archive), 0);
	r = store_at(&large, 20010);
	cr_expect_eq(r, -EROFS, "%d", r);
	expect_what("make the directory and the file writable");
	cr_assert_eq(mount(NULL, folder, NULL, MS_REMOUNT, NULL), 0);
	cr_expect_eq(store_at(&large, 20020), 0);
	archive = archive_free(archive);
	cr_assert_eq(umount(folder), 0);
}

Test(history_archive, a_missing_directory_is_used_once_it_exists)
{
	cr_assert_eq(rmdir(folder), 0);
	cr_expect_eq(archive_begin(archive), -ENOENT);
	cr_expect_eq(store_at(&small, 10), -ENOENT);
	expect_what("No such file or directory; create the directory");
	cr_assert_eq(mkdir(folder, 0700), 0);
	cr_expect_eq(store_at(&small, 20), 0);
}

Test(history_archive, a_reader_of_the_file_cannot_make_its_log_grow_without_end)
{
	sqlite3 *db;
	char path[512];
	u64 most = 0;
	int r = 0;

	cr_assert_eq(store_at(&large, 10), 0);
	(void)snprintf(path, sizeof(path), "%s/" ARCHIVE_FILE, folder);
	cr_assert_eq(sqlite3_open(path, &db), SQLITE_OK);
	cr_assert_eq(sqlite3_exec(db, "BEGIN; SELECT count(*) FROM span", NULL, NULL, NULL), SQLITE_OK);
	for (unsigned i = 2; i <= 1500 && r == 0; i++) {
		r = store_at(&large, i * 10UL);
		most = bytes_on_disk() > most ? bytes_on_disk() : most;
	}
	cr_expect_eq(r, -EBUSY);
	expect_what("another program has been reading it, so its log has 16 MiB; end that program");
	cr_expect_lt(most, 2 * ARCHIVE_LOG_MAX);
	(void)sqlite3_close(db);
	cr_expect_eq(store_at(&large, 15010), 0);
	cr_expect_lt(bytes_on_disk(), ARCHIVE_LOG_MAX + (4 << 20));
}

Test(history_archive, other_programs_can_read_rates_with_sql)
{
	const size_t latency = offsetof(struct counters, latency) / sizeof(u64);
	struct history_fixture fixture = small;
	struct history_pane *pane;
	u64 loads = 0;

	fixture.end_us = FULL_US + 10 * SECOND_US;
	pane = history_fixture_new(&fixture);
	cr_assert_eq(archive_pane(archive, pane), 0);
	for (unsigned i = 0; i < FINE_BUCKETS; i++)
		loads += history_fixture_sum(pane, 0, (unsigned)latency + i);
	cr_assert_gt(loads, 0);
	cr_expect_eq(query("SELECT sum(loads) FROM figures"), (s64)loads);
	cr_expect_eq(query("SELECT round(10 * sum(loads_per_s)) FROM rates WHERE seconds = 10"), (s64)loads);
	cr_expect_eq(
		query("SELECT count(*) FROM rates WHERE path = '/fixture/1' AND until = datetime((SELECT max(end_us) / 1000000 FROM span), 'unixepoch')"),
		1);
	cr_expect_eq(query("SELECT count(*) FROM figures WHERE cycles > 0"), 3);
	history_fixture_free(pane);
}

Test(history_archive, the_manual_has_every_table_and_column)
{
	static const char text[] =
		"SELECT name, name FROM sqlite_schema WHERE type IN ('table', 'view') UNION ALL SELECT made.name, info.name FROM sqlite_schema AS made, pragma_table_info(made.name) AS info WHERE made.type IN ('table', 'view')";
	FILE *file = fopen("daemon/man/pebsd-history.7", "re");
	char *manual = calloc(1, 1 << 20), *tables, path[512];
	sqlite3_stmt *statement;
	unsigned n = 0;
	sqlite3 *db;

	if (!file)
		cr_skip_test("run it where the source is");
	(void)!fread(manual, 1, (1 << 20) - 1, file);
	(void)fclose(file);
	tables = strstr(manual, "\n.SH TABLES\n");
	cr_assert(tables);
	cr_assert_eq(store_at(&small, 10), 0);
	(void)snprintf(path, sizeof(path), "%s/" ARCHIVE_FILE, folder);
	cr_assert_eq(sqlite3_open(path, &db), SQLITE_OK);
	cr_assert_eq(sqlite3_prepare_v2(db, text, -1, &statement, NULL), SQLITE_OK, "%s", sqlite3_errmsg(db));
	for (; sqlite3_step(statement) == SQLITE_ROW; n++) {
		const char *table = (const char *)sqlite3_column_text(statement, 0);
		const char *column = (const char *)sqlite3_column_text(statement, 1);
		char entry[64], *from, *to, *found;

		(void)snprintf(entry, sizeof(entry), "\n.TP\n.B %s\n", table);
		from = strstr(tables, entry);
		cr_assert(from, "no table %s", table);
		to = strstr(from + strlen(entry), "\n.TP\n");
		found = strstr(from, column);
		cr_expect(found && (!to || found < to), "table %s has no column %s", table, column);
	}
	cr_expect_gt(n, 50);
	(void)sqlite3_finalize(statement);
	(void)sqlite3_close(db);
	free(manual);
}

Test(history_archive, cgroups_without_a_span_are_removed)
{
	struct history_fixture other = small;

	cr_assert_eq(store_at(&small, 10), 0);
	other.first = 2;
	/* As if many spans had been stored and dropped since then. */
	(void)query("UPDATE span SET id = 30000");
	(void)query("UPDATE figures SET span = 30000 WHERE cgroup = 3");
	(void)query("DELETE FROM figures WHERE span = 1");
	(void)query("UPDATE cgroup SET last_span = 30000 WHERE id = 3");
	again();
	cr_assert_eq(store_at(&other, 20), 0);
	cr_expect_eq(query("SELECT count(*) FROM cgroup WHERE path IN ('/fixture/0', '/fixture/1')"), 0);
	cr_expect_eq(query("SELECT count(*) FROM cgroup"), 3);
}

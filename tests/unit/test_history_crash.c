// SPDX-License-Identifier: GPL-2.0
/*
 * The history on disk after the process was killed, or the power failed, at every write: every pane and every change of
 * an alert that was acknowledged is there, and no figure counts twice.
 */
#include <criterion/criterion.h>

#include <sqlite3.h>
#include <time.h>

#include "history_disk.h"
#include "history_folder.h"

/* Enough for two spans of a minute, a log that begins again, and a file that is closed and opened. */
#define PANES 15

TestSuite(history_crash, .timeout = 300);

static struct history_pane *pane_of(unsigned i)
{
	return history_fixture_new(&(struct history_fixture){.seed = i,
							     .end_us = FULL_US + (i + 1) * (10 * SECOND_US),
							     .run = 1,
							     .cgroups = 12,
							     .first = i,
							     .loads = 1,
							     .counts = 1,
							     .counters = 20});
}

static struct archive *open_archive(const char *directory, const char *vfs)
{
	struct archive *archive;

	cr_assert_eq(archive_new(&(struct archive_settings){.directory = directory, .vfs = vfs}, &archive),
		     0);
	return archive;
}

/* Stores all panes, and a change of an alert after each. Puts a mark into the record when each is acknowledged. */
static void record(const char *directory)
{
	struct archive *archive = open_archive(directory, HISTORY_DISK);
	struct history_change change;

	for (unsigned i = 0; i < PANES; i++) {
		struct history_pane *pane = pane_of(i);

		cr_assert_eq(archive_pane(archive, pane), 0);
		history_disk_mark();
		history_fixture_free(pane);
		history_change_make(i, &change);
		cr_assert_eq(archive_alert(archive, &change.alert), 0);
		history_disk_mark();
		if (i == PANES / 2) {
			archive_free(archive);
			archive = open_archive(directory, HISTORY_DISK);
		}
	}
	archive_free(archive);
}

static int on_row(void *userdata, int n, char **values, char **names)
{
	(void)n;
	(void)names;
	*(bool *)userdata = strcmp(values[0], "ok") == 0;
	return 0;
}

static void expect_sound(const char *directory, size_t step)
{
	char path[512];
	bool sound = false;
	sqlite3 *db;

	(void)snprintf(path, sizeof(path), "%s/" ARCHIVE_FILE, directory);
	cr_assert_eq(sqlite3_open(path, &db), SQLITE_OK);
	cr_expect_eq(sqlite3_exec(db, "PRAGMA integrity_check", on_row, &sound, NULL), SQLITE_OK);
	cr_expect(sound, "after step %zu", step);
	(void)sqlite3_close(db);
}

static bool has_changes(const u8 *answer, size_t size, size_t n)
{
	char *text = history_changes_text((unsigned)n);
	bool same = strlen(text) == size && memcmp(text, answer, size) == 0;

	free(text);
	return same;
}

/*
 * Panes and changes of alerts alternate. The next change may be there, too, if it was its turn: it was stored, and only
 * its acknowledgement is missing.
 */
static void expect_alerts(struct archive *archive, size_t acknowledged, size_t step)
{
	const struct history_query query = {
		.question = HISTORY_ASK_ALERTS, .since_us = 1, .until_us = FULL_US + SECOND_US, .bins = 1};
	u8 *answer;
	size_t size;

	cr_assert_eq(archive_ask(archive, &query, &answer, &size), 0);
	cr_expect(has_changes(answer, size, acknowledged / 2) ||
			  has_changes(answer, size, (acknowledged + 1) / 2),
		  "%zu changes, but: %.*s after step %zu", acknowledged / 2, (int)size, (const char *)answer,
		  step);
	free(answer);
}

/* The next pane may be there, too, if it was its turn. */
static void expect_panes(struct archive *archive, size_t acknowledged, size_t step)
{
	struct history_panes *panes =
		history_ask_panes(archive, FULL_US, FULL_US + PANES * (10 * SECOND_US), PANES, "", false);
	u64 total = 0, sum;
	size_t n = panes->n;

	cr_expect(n == (acknowledged + 1) / 2 || n == (acknowledged + 2) / 2,
		  "%zu panes after step %zu with %zu marks", n, step, acknowledged);
	for (size_t i = 0; i < n; i++) {
		struct history_pane *pane = pane_of((unsigned)i);

		sum = history_fixture_total(pane, NULL, NULL);
		total += sum;
		cr_expect_eq(panes->list[i].end_us, pane->end_us);
		cr_expect_eq(history_fixture_total(&panes->list[i], NULL, NULL), sum,
			     "pane %zu after step %zu", i, step);
		history_fixture_free(pane);
	}
	/* The same range, but from minutes where they are complete. */
	panes = history_ask_panes(archive, FULL_US, FULL_US + PANES * (10 * SECOND_US), 1, "", false);
	cr_expect_eq(panes->n, n > 0);
	if (panes->n > 0)
		cr_expect_eq(history_fixture_total(&panes->list[0], NULL, NULL), total, "after step %zu",
			     step);
}

static void expect_after(const char *directory, size_t step, bool power, u64 random)
{
	struct history_pane *pane = pane_of(PANES + 1);
	struct history_status status;
	struct archive *archive;

	history_disk_restore(directory, step, power, random);
	archive = open_archive(directory, NULL);
	expect_panes(archive, history_disk_marks(step), step);
	expect_alerts(archive, history_disk_marks(step), step);
	cr_expect_eq(archive_pane(archive, pane), 0);
	archive_status(archive, &status);
	cr_expect_eq(status.error, 0);
	archive_free(archive);
	expect_sound(directory, step);
	cr_expect_eq(history_folder_count(directory, ARCHIVE_FILE ".damaged"), 0, "after step %zu", step);
	history_fixture_free(pane);
}

Test(history_crash, acknowledged_panes_and_alerts_survive_a_kill_at_every_write)
{
	char *recorded = history_folder_new(), *restored = history_folder_new();

	history_disk_begin();
	record(recorded);
	cr_assert_eq(history_disk_marks(history_disk_steps()), 2UL * PANES);
	cr_assert_gt(history_disk_steps(), 10UL * PANES);
	for (size_t step = 0; step <= history_disk_steps(); step++)
		expect_after(restored, step, false, 0);
	history_disk_end();
	history_folder_free(recorded);
	history_folder_free(restored);
}

Test(history_crash, acknowledged_panes_and_alerts_survive_a_power_cut_at_every_write)
{
	char *recorded = history_folder_new(), *restored = history_folder_new();

	history_disk_begin();
	record(recorded);
	for (size_t step = 0; step <= history_disk_steps(); step++)
		for (u64 random = 1; random <= 3; random++)
			expect_after(restored, step, true, step * 3 + random);
	history_disk_end();
	history_folder_free(recorded);
	history_folder_free(restored);
}

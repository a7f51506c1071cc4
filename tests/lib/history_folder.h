// SPDX-License-Identifier: GPL-2.0
/* A new directory for a history, and questions about it, for tests. */
#ifndef PEBSD_TEST_HISTORY_FOLDER_H
#define PEBSD_TEST_HISTORY_FOLDER_H

#include <criterion/criterion.h>

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "history/keeper/archive.h"
#include "history_fixture.h"

#define SECOND_US 1000000ULL

/* A full minute, ten minutes, and two hours of the clock. */
#define FULL_US (7200ULL * 247920 * SECOND_US)

static inline char *history_folder_new(void)
{
	const char *temporary = getenv("TMPDIR");
	char *path;

	cr_assert_gt(asprintf(&path, "%s/history.XXXXXX", temporary ? temporary : "/tmp"), 0);
	cr_assert(mkdtemp(path));
	return path;
}

/* Removes the files in it, too. */
static inline void history_folder_free(char *path)
{
	DIR *dir = opendir(path);
	const struct dirent *entry;

	cr_assert(dir);
	while ((entry = readdir(dir)))
		(void)unlinkat(dirfd(dir), entry->d_name, 0);
	(void)closedir(dir);
	cr_expect_eq(rmdir(path), 0);
	free(path);
}

/* The number of files whose name begins so. */
static inline unsigned history_folder_count(const char *path, const char *prefix)
{
	DIR *dir = opendir(path);
	const struct dirent *entry;
	unsigned n = 0;

	cr_assert(dir);
	while ((entry = readdir(dir)))
		n += strncmp(entry->d_name, prefix, strlen(prefix)) == 0;
	(void)closedir(dir);
	return n;
}

/* Alerts that change between panes: every alert has two changes, it fires and it ends. */
struct history_change {
	char key[16];
	char json[32];
	struct history_alert alert;
};

static inline void history_change_make(unsigned i, struct history_change *ret)
{
	(void)snprintf(ret->key, sizeof(ret->key), "alert %03u", i / 2);
	(void)snprintf(ret->json, sizeof(ret->json), "{\"change\":%u}", i);
	ret->alert = (struct history_alert){.key = ret->key,
					    .json = ret->json,
					    .from_us = FULL_US + i / 2,
					    .to_us = i % 2 ? FULL_US + SECOND_US + i : 0};
}

/* The answer to a question about all alerts after the first `n` changes, which the caller frees. */
static inline char *history_changes_text(unsigned n)
{
	char *text;
	size_t length;
	FILE *stream = open_memstream(&text, &length);

	cr_assert(stream);
	(void)fputc('[', stream);
	for (unsigned i = 0; i < n; i += 2) {
		(void)fprintf(stream, "%s{\"change\":%u", i ? "," : "", i + 1 < n ? i + 1 : i);
		if (i + 1 < n)
			(void)fprintf(stream, ",\"to_us\":%llu",
				      (unsigned long long)(FULL_US + SECOND_US + i + 1));
		(void)fputc('}', stream);
	}
	(void)fputc(']', stream);
	cr_assert_eq(fclose(stream), 0);
	return text;
}

/* The panes of an answer. */
struct history_panes {
	u8 *block;
	size_t n;
	struct history_pane list[HISTORY_PANES_MAX];
};

static inline void history_panes_read(struct history_panes *panes, size_t size)
{
	size_t used;

	panes->n = 0;
	for (size_t at = 0; at < size; at += used) {
		cr_assert_lt(panes->n, HISTORY_PANES_MAX);
		cr_assert_eq(history_pane_read(panes->block + at, size - at, &panes->list[panes->n++], &used),
			     0);
	}
}

static inline void history_panes_done(struct history_panes *panes)
{
	while (panes->n > 0)
		history_pane_done(&panes->list[--panes->n]);
	free(panes->block);
	panes->block = NULL;
}

/* Asks for the panes in (since, until]. The result is static, and valid until the next question. */
static inline struct history_panes *history_ask_panes(struct archive *archive, u64 since_us, u64 until_us,
						      u32 bins, const char *path, bool subtree)
{
	static struct history_panes panes;
	static struct history_query query;
	size_t size;

	history_panes_done(&panes);
	query = (struct history_query){
		.since_us = since_us, .until_us = until_us, .bins = bins, .subtree = subtree};
	(void)snprintf(query.path, sizeof(query.path), "%s", path);
	cr_assert_eq(archive_ask(archive, &query, &panes.block, &size), 0);
	history_panes_read(&panes, size);
	return &panes;
}

#endif

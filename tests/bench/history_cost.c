// SPDX-License-Identifier: GPL-2.0
/*
 * history_cost [CGROUPS [HOURS [MIB [DIRECTORY]]]]: stores panes of 10 seconds as the keeper of the history does, in a
 * new directory below TMPDIR, or in DIRECTORY, where they stay, as fast as possible. Each cgroup has an event of loads
 * with 30 counters and four events with two counters. Prints, as JSON, the processor time of a pane with all that
 * follows from it, the memory, how far the history reaches, and the time of questions about its last day. Fails if a
 * claim of pebsd-history(7) does not hold.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/param.h>
#include <time.h>

#include "base/number.h"
#include "base/own_memory.h"
#include "bench_line.h"
#include "clock.h"
#include "history/keeper/archive.h"
#include "history_fixture.h"

#define USEC_PER_SEC 1000000ULL
#define BEGIN_US     (1785024000 * USEC_PER_SEC)

/*
 * What pebsd-history(7) claims for 1,000 cgroups; history_panes.c has the other claims of that page. The limits grow in
 * proportion to the number of cgroups.
 */
#define CLAIM_CPU_PERCENT 0.06
#define CLAIM_MEMORY_KIB  2048
#define CLAIM_ANSWER_MS   100

/* As GetHistory asks for 24 bins: each has six parts, from which its bounds are computed (json_history_parts()). */
#define HOURLY_BINS (24 * 6)

static const char group[] = "history";

/* As the daemon writes them, so that it can read what is stored here. */
static const char settings[] =
	"{\"role\":\"loads\",\"origin\":\"model\",\"ldlat\":30,\"latency\":true,\"source\":true}";

static void demand(bool condition, const char *what)
{
	if (condition)
		return;
	(void)fprintf(stderr, "history_cost: %s\n", what);
	exit(EXIT_FAILURE);
}

static void remove_directory(const char *path)
{
	DIR *dir = opendir(path);
	const struct dirent *entry;

	while (dir && (entry = readdir(dir)))
		(void)unlinkat(dirfd(dir), entry->d_name, 0);
	if (dir)
		(void)closedir(dir);
	(void)rmdir(path);
}

/* Panes are made before they are measured. Later ones repeat them with other times. */
#define PANES 32

struct made {
	struct history_pane *panes[PANES];
};

static u64 store(struct archive *archive, struct history_pane *pane, u64 end_us)
{
	u64 before;
	int r;

	pane->start_us = end_us - HISTORY_PANE_SECONDS * USEC_PER_SEC;
	pane->end_us = end_us;
	before = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	r = archive_pane(archive, pane);
	demand(r == 0, "cannot store");
	return clock_ns(CLOCK_PROCESS_CPUTIME_ID) - before;
}

/* A day. The last one consists of whole long spans. */
static double ask_ms(struct archive *archive, enum history_question question, u64 end_us, const char *path,
		     u32 bins, size_t *ret_size)
{
	struct history_query query = {.question = question,
				      .since_us = end_us - 86400 * USEC_PER_SEC,
				      .until_us = end_us,
				      .bins = bins};
	u64 before = clock_ns(CLOCK_MONOTONIC);
	u8 *answer;

	(void)snprintf(query.path, sizeof(query.path), "%s", path);
	demand(archive_ask(archive, &query, &answer, ret_size) == 0, "no answer");
	free(answer);
	return (double)(clock_ns(CLOCK_MONOTONIC) - before) / 1e6;
}

static unsigned argument(int argc, char **argv, int i, unsigned by_default)
{
	return argc > i ? (unsigned)atoi(argv[i]) : by_default;
}

int main(int argc, char **argv)
{
	unsigned cgroups = argument(argc, argv, 1, 1000), hours = argument(argc, argv, 2, 30);
	u64 mib = argument(argc, argv, 3, 256), peak = 0, before = 0, cpu_ns = 0, end_us = BEGIN_US;
	const char *temporary = getenv("TMPDIR"), *kept = argc > 4 ? argv[4] : NULL;
	struct history_status status;
	struct archive *archive;
	char directory[256];
	struct made made;
	double percent, whole, single, hourly;
	int fd = own_memory_open();
	size_t size;
	u64 n = 0;

	(void)snprintf(directory, sizeof(directory), "%s/pebsd-history.XXXXXX",
		       temporary ? temporary : "/tmp");
	demand(fd >= 0 && (kept || mkdtemp(directory)), "cannot make a directory");
	for (unsigned i = 0; i < PANES; i++)
		made.panes[i] = history_fixture_new(&(struct history_fixture){.seed = i,
									      .end_us = BEGIN_US,
									      .run = 1,
									      .cgroups = cgroups,
									      .loads = 1,
									      .counts = 4,
									      .settings = settings,
									      .counters = 30});
	demand(own_memory_read(fd, &before) == 0, "cannot read the memory");
	demand(archive_new(&(struct archive_settings){.directory = kept ? kept : directory}, &archive) == 0,
	       "no memory");
	archive_limit(archive, mib << 20, 14UL * 86400);
	for (; n < (u64)hours * 360; n++) {
		end_us += HISTORY_PANE_SECONDS * USEC_PER_SEC;
		cpu_ns += store(archive, made.panes[n % PANES], end_us);
	}
	demand(own_memory_peak(&peak) == 0, "cannot read the memory");
	archive_status(archive, &status);
	bench_line(group, "cgroups", "", cgroups);
	percent = (double)cpu_ns / (double)n / (HISTORY_PANE_SECONDS * 1e9) * 100;
	bench_line(group, "cpu", "percent", percent);
	bench_line(group, "memory", "KiB", (double)(peak - before) / 1024);
	bench_line(group, "size", "MiB", (double)status.bytes / (1 << 20));
	bench_line(group, "reach", "hours", (double)(status.newest_us - status.oldest_us) / 3600e6);
	whole = ask_ms(archive, HISTORY_ASK_PANES, end_us, "", 1, &size);
	bench_line(group, "day", "ms", whole);
	bench_line(group, "day size", "KiB", (double)size / 1024);
	single = ask_ms(archive, HISTORY_ASK_PANES, end_us, "/fixture/7", 1440, &size);
	bench_line(group, "day of one cgroup, 1440 bins", "ms", single);
	/* These hours do not begin at multiples of ten minutes. */
	hourly = ask_ms(archive, HISTORY_ASK_TOTALS, end_us - 310 * USEC_PER_SEC, "", HOURLY_BINS, &size);
	bench_line(group, "sum of all in hours of a day", "ms", hourly);
	archive_free(archive);
	if (!kept)
		remove_directory(directory);
	for (unsigned i = 0; i < PANES; i++)
		history_fixture_free(made.panes[i]);
	demand(percent <= CLAIM_CPU_PERCENT * cgroups / 1000,
	       "a pane takes more processor time than claimed");
	demand((double)(peak - before) / 1024 <= CLAIM_MEMORY_KIB * (cgroups > 1000 ? cgroups / 1000.0 : 1),
	       "it needs more memory than claimed");
	demand(MAX(MAX(whole, single), hourly) <= CLAIM_ANSWER_MS * (cgroups > 1000 ? cgroups / 1000.0 : 1),
	       "a question about a day takes longer than claimed");
	return 0;
}

// SPDX-License-Identifier: GPL-2.0
/*
 * Measures the cost of names: requests per second through the whole path with the real symbolizer, CPU time of
 * pebsd and of the symbolizer per request, the cost of a cached answer, and memory. Addresses are in the code
 * of the C library, in a process that this program starts. This is not a test: it prints results and checks
 * nothing.
 */
#include <link.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

#include "base/text.h"
#include "symbols/resolver/symbols_worker.h"
#include "symbols/symbols.h"

#define QUESTIONS 50000

struct range {
	u64 start, size;
};

static int find_library(struct dl_phdr_info *info, size_t size, void *userdata)
{
	struct range *range = userdata;

	(void)size;
	if (!strstr(info->dlpi_name, "libc.so"))
		return 0;
	for (int i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_LOAD && (info->dlpi_phdr[i].p_flags & PF_X))
			*range = (struct range){info->dlpi_addr + info->dlpi_phdr[i].p_vaddr,
						info->dlpi_phdr[i].p_memsz};
	return 1;
}

static double seconds(clockid_t clock)
{
	struct timespec now;

	(void)clock_gettime(clock, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static struct symbol_query question(const struct range *range, pid_t pid, u64 i)
{
	return (struct symbol_query){.address = range->start + i * (range->size / QUESTIONS),
				     .pid = (u32)pid,
				     .kind = SYMBOL_CODE};
}

static u64 ask_all(struct symbols *symbols, const struct range *range, pid_t pid)
{
	u64 known = 0;

	for (u64 i = 0; i < QUESTIONS; i++) {
		struct symbol_query query = question(range, pid, i);

		known += symbols_find(symbols, &query) != NULL;
	}
	return known;
}

static int answer_all(sd_event *event, struct symbols *symbols)
{
	int r = 0;

	while (r >= 0 && symbols_pending(symbols))
		r = sd_event_run(event, 20 * 1000000ULL);
	return r < 0 ? r : 0;
}

/* Measures the first request alone, for which the symbolizer has to start and to read the files. */
static int begin(sd_event *event, struct symbols *symbols, const struct range *range, pid_t pid)
{
	double wall = seconds(CLOCK_MONOTONIC);
	struct symbol_query query = question(range, pid, QUESTIONS);
	int r;

	(void)symbols_find(symbols, &query);
	r = answer_all(event, symbols);
	(void)printf("first answer        %8.1f ms from nothing\n", (seconds(CLOCK_MONOTONIC) - wall) * 1e3);
	return r;
}

static int measure(sd_event *event, struct symbols *symbols, const struct range *range, pid_t pid)
{
	double wall, cpu, known;
	struct symbols_counts counts;
	char bytes[TEXT_NUMBER_MAX];
	u64 n;
	int r = begin(event, symbols, range, pid);

	if (r < 0)
		return r;
	wall = seconds(CLOCK_MONOTONIC);
	cpu = seconds(CLOCK_PROCESS_CPUTIME_ID);
	(void)ask_all(symbols, range, pid);
	r = answer_all(event, symbols);
	if (r < 0)
		return r;
	wall = seconds(CLOCK_MONOTONIC) - wall;
	cpu = seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu;
	known = seconds(CLOCK_PROCESS_CPUTIME_ID);
	n = ask_all(symbols, range, pid);
	known = seconds(CLOCK_PROCESS_CPUTIME_ID) - known;
	counts = symbols_counts(symbols);
	text_bytes(counts.bytes, bytes);
	(void)printf("questions           %8.0f a second\n", QUESTIONS / wall);
	(void)printf("in pebsd            %8.2f us of CPU time for one\n", cpu / QUESTIONS * 1e6);
	(void)printf("a known answer      %8.3f us\n", known / QUESTIONS * 1e6);
	(void)printf("held                %s on both sides, for %llu answers (%llu with no name)\n", bytes,
		     (unsigned long long)n, (unsigned long long)counts.unknown);
	return 0;
}

static int run(const struct range *range, pid_t pid)
{
	struct symbols_settings settings = {.program = "/proc/self/exe"};
	_cleanup_(symbols_freep) struct symbols *symbols = NULL;
	_cleanup_(sd_event_unrefp) sd_event *event = NULL;
	int r = sd_event_new(&event);

	settings.event = event;
	if (r >= 0)
		r = symbols_new(&settings, &symbols);
	return r < 0 ? r : measure(event, symbols, range, pid);
}

int main(int argc, char *argv[])
{
	struct range range = {0};
	struct rusage usage;
	pid_t pid;
	int r;

	if (argc == 2 && strcmp(argv[1], "--symbolizer") == 0)
		return symbols_worker(STDIN_FILENO, false);
	(void)dl_iterate_phdr(find_library, &range);
	pid = fork();
	if (pid < 0)
		return 1;
	if (pid == 0)
		for (;;)
			(void)pause();
	r = run(&range, pid);
	(void)kill(pid, SIGKILL);
	(void)waitpid(pid, NULL, 0);
	if (r < 0)
		(void)fprintf(stderr, "%s\n", strerror(-r));
	else if (getrusage(RUSAGE_CHILDREN, &usage) == 0)
		(void)printf("in the symbolizer   %8.2f us of CPU time for one, %ld KiB of memory at most\n",
			     ((double)usage.ru_utime.tv_sec + (double)usage.ru_stime.tv_sec +
			      (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6) /
				     QUESTIONS * 1e6,
			     usage.ru_maxrss);
	return r < 0;
}

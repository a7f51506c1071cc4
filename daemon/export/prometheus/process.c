// SPDX-License-Identifier: GPL-2.0
#include "export/prometheus/process.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/directory.h"

#define STAT_START_FIELD 22 /* proc(5); the command name is field 2 */

int process_start_ticks(const char *stat, u64 *ret)
{
	const char *at = strrchr(stat, ')');
	char *end;

	for (int field = 2; at && field < STAT_START_FIELD; field++) {
		at = strchr(at, ' ');
		if (at)
			at++;
	}
	if (!at || *at < '0' || *at > '9')
		return -EBADMSG;
	errno = 0;
	*ret = strtoull(at, &end, 10);
	return errno || (*end && *end != ' ') ? -EBADMSG : 0;
}

static struct maybe_double read_start(void)
{
	static const char key[] = "btime "; /* boot time in seconds since the epoch */
	_cleanup_fclose_ FILE *self = fopen("/proc/self/stat", "re");
	_cleanup_fclose_ FILE *system = fopen("/proc/stat", "re");
	_cleanup_free_ char *line = NULL;
	char text[1024];
	size_t size = 0;
	u64 ticks;

	if (!self || !system || !fgets(text, sizeof(text), self) || process_start_ticks(text, &ticks) < 0)
		return (struct maybe_double){0};
	while (getline(&line, &size, system) > 0)
		if (strncmp(line, key, strlen(key)) == 0) {
			double booted = strtod(line + strlen(key), NULL);

			return (struct maybe_double){true,
						     booted + (double)ticks / (double)sysconf(_SC_CLK_TCK)};
		}
	return (struct maybe_double){0};
}

static struct maybe_double read_cpu(void)
{
	struct timespec used;

	if (clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used) < 0)
		return (struct maybe_double){0};
	return (struct maybe_double){true, (double)used.tv_sec + (double)used.tv_nsec / (double)NSEC_PER_SEC};
}

static struct maybe_u64 read_resident(void)
{
	_cleanup_fclose_ FILE *file = fopen("/proc/self/statm", "re");
	const char *pages;
	char text[128];

	if (!file || !fgets(text, sizeof(text), file))
		return (struct maybe_u64){0};
	pages = strchr(text, ' '); /* the second number is the resident size in pages (proc(5)) */
	if (!pages)
		return (struct maybe_u64){0};
	return (struct maybe_u64){true, strtoull(pages, NULL, 10) * (u64)sysconf(_SC_PAGESIZE)};
}

static struct maybe_u64 count_fds(void)
{
	_cleanup_closedir_ DIR *directory = opendir("/proc/self/fd");
	const struct dirent *entry;
	u64 n = 0;

	if (!directory)
		return (struct maybe_u64){0};
	while ((entry = readdir(directory)))
		if (entry->d_name[0] != '.')
			n++;
	/* Do not count the descriptor of /proc/self/fd itself. */
	return (struct maybe_u64){n > 0, n - 1};
}

void process_read(struct process_usage *usage)
{
	usage->cpu_seconds = read_cpu();
	usage->resident_bytes = read_resident();
	usage->open_fds = count_fds();
	if (!usage->start_seconds.known)
		usage->start_seconds = read_start();
}

// SPDX-License-Identifier: GPL-2.0
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "export/prometheus/process.h"

Test(process, the_start_time_is_found_after_any_name)
{
	u64 ticks = 0;

	cr_expect_eq(process_start_ticks(
			     "77 (pebsd) S 1 77 77 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 4711 99 1", &ticks),
		     0);
	cr_expect_eq(ticks, 4711);
	cr_expect_eq(process_start_ticks(
			     "77 (a) R 1 (b) S 1 77 77 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 12 9", &ticks),
		     0);
	cr_expect_eq(ticks, 12);
	cr_expect_eq(process_start_ticks("", &ticks), -EBADMSG);
	cr_expect_eq(process_start_ticks("77 (pebsd", &ticks), -EBADMSG);
	cr_expect_eq(process_start_ticks("77 (pebsd) S 1 2 3", &ticks), -EBADMSG);
	cr_expect_eq(process_start_ticks("1 (p) S 1 77 77 0 -1 4 1 2 3 4 5 6 7 8 20 0 1 0 x 9", &ticks),
		     -EBADMSG);
}

Test(process, the_figures_of_this_process_are_read)
{
	const size_t size = 64 << 20;
	struct process_usage usage = {0};
	struct process_usage before;
	struct timespec now;
	char *memory;
	int fd;

	process_read(&usage);
	cr_assert(usage.cpu_seconds.known && usage.resident_bytes.known && usage.start_seconds.known &&
		  usage.open_fds.known);
	(void)clock_gettime(CLOCK_REALTIME, &now);
	cr_expect_leq(usage.start_seconds.value, (double)now.tv_sec + 2);
	cr_expect_geq(usage.start_seconds.value, (double)now.tv_sec - 600);

	before = usage;
	fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	memory = malloc(size);
	cr_assert_not_null(memory);
	memset(memory, 1, size);
	while (clock() < CLOCKS_PER_SEC / 20)
		;
	process_read(&usage);
	cr_expect_eq(usage.open_fds.value, before.open_fds.value + 1);
	cr_expect_geq(usage.resident_bytes.value, before.resident_bytes.value + size / 2);
	cr_expect_gt(usage.cpu_seconds.value, before.cpu_seconds.value);
	cr_expect_eq(usage.start_seconds.value, before.start_seconds.value);
	(void)close(fd);
	free(memory);
}

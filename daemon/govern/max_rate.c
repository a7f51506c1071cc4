// SPDX-License-Identifier: GPL-2.0
#include "govern/max_rate.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#define PATH "/proc/sys/kernel/perf_event_max_sample_rate"

int max_rate_open(void)
{
	return open(PATH, O_RDONLY | O_CLOEXEC);
}

u64 max_rate_read(int fd)
{
	char text[32];
	char *end;
	ssize_t n = fd < 0 ? -1 : pread(fd, text, sizeof(text) - 1, 0);
	long long rate;

	if (n <= 0)
		return 0;
	text[n] = '\0';
	rate = strtoll(text, &end, 10);
	return end != text && rate > 0 ? (u64)rate : 0;
}

// SPDX-License-Identifier: GPL-2.0
/*
 * Loaded into a program before the C library (LD_PRELOAD). Shifts CLOCK_REALTIME forward or back by the number
 * of seconds that the file $STEP_CLOCK currently contains, and CLOCK_BOOTTIME by the number in $STEP_BOOTTIME,
 * as a suspend does. The other clocks are unchanged.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static time_t step(const char *variable)
{
	const char *path = getenv(variable);
	char text[32];
	ssize_t length;
	int fd;

	fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	if (fd < 0)
		return 0;
	length = read(fd, text, sizeof(text) - 1);
	(void)close(fd);
	text[length > 0 ? length : 0] = '\0';
	return (time_t)atoll(text);
}

__attribute__((visibility("default"))) int clock_gettime(clockid_t clock, struct timespec *ret)
{
	int r = (int)syscall(SYS_clock_gettime, clock, ret);

	if (r == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE))
		ret->tv_sec += step("STEP_CLOCK");
	else if (r == 0 && clock == CLOCK_BOOTTIME)
		ret->tv_sec += step("STEP_BOOTTIME");
	return r;
}

__attribute__((visibility("default"))) time_t time(time_t *ret)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_REALTIME, &now);
	if (ret)
		*ret = now.tv_sec;
	return now.tv_sec;
}

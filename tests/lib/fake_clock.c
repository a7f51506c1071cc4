// SPDX-License-Identifier: GPL-2.0
#include "fake_clock.h"

#include <poll.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"

/* Timers whose descriptors are larger are real ones. */
#define TIMERS_MAX 1024

struct timer {
	clockid_t clock;
	u64 due_ns; /* 0: it is not set, or has elapsed */
};

static bool stopped;
static u64 tick_ns;
static u64 clocks_ns[CLOCK_BOOTTIME + 1];
static struct timer timers[TIMERS_MAX];

static bool can_stop(clockid_t clock)
{
	return clock == CLOCK_REALTIME || clock == CLOCK_MONOTONIC || clock == CLOCK_BOOTTIME;
}

static u64 nanoseconds(const struct timespec *time)
{
	return (u64)time->tv_sec * NSEC_PER_SEC + (u64)time->tv_nsec;
}

/* NOLINTNEXTLINE(readability-inconsistent-declaration-parameter-name): the C library's names are reserved */
int clock_gettime(clockid_t clock, struct timespec *ret)
{
	if (!stopped || !can_stop(clock))
		return (int)syscall(SYS_clock_gettime, clock, ret);
	if (tick_ns && clock == CLOCK_MONOTONIC)
		fake_clock_advance(tick_ns);
	*ret = (struct timespec){.tv_sec = (time_t)(clocks_ns[clock] / NSEC_PER_SEC),
				 .tv_nsec = (long)(clocks_ns[clock] % NSEC_PER_SEC)};
	return 0;
}

static int set(int fd, int flags, const struct itimerspec *value, struct itimerspec *ret_old)
{
	return (int)syscall(SYS_timerfd_settime, fd, flags, value, ret_old);
}

/* Returns when the descriptor is readable: the kernel needs a moment even for a time in the past. */
static int elapse(int fd)
{
	const struct itimerspec past = {.it_value = {.tv_nsec = 1}};
	struct pollfd polled = {.fd = fd, .events = POLLIN};
	int r = set(fd, TFD_TIMER_ABSTIME, &past, NULL);

	timers[fd].due_ns = 0;
	if (r == 0)
		(void)poll(&polled, 1, -1);
	return r;
}

/* NOLINTNEXTLINE(readability-inconsistent-declaration-parameter-name): the C library's names are reserved */
int timerfd_create(clockid_t clock, int flags)
{
	int fd = (int)syscall(SYS_timerfd_create, clock, flags);

	if (fd >= 0 && fd < TIMERS_MAX)
		timers[fd] = (struct timer){.clock = clock};
	return fd;
}

/* NOLINTNEXTLINE(readability-inconsistent-declaration-parameter-name): the C library's names are reserved */
int timerfd_settime(int fd, int flags, const struct itimerspec *value, struct itimerspec *ret_old)
{
	const struct itimerspec never = {0};

	if (fd < 0 || fd >= TIMERS_MAX || !can_stop(timers[fd].clock))
		return set(fd, flags, value, ret_old);
	timers[fd].due_ns = flags & TFD_TIMER_ABSTIME ? nanoseconds(&value->it_value) : 0;
	if (!stopped || timers[fd].due_ns == 0)
		return set(fd, flags, value, ret_old);
	if (timers[fd].due_ns <= clocks_ns[timers[fd].clock])
		return elapse(fd);
	return set(fd, flags, &never, ret_old);
}

void fake_clock_stop(void)
{
	const struct itimerspec never = {0};

	for (clockid_t clock = 0; clock <= CLOCK_BOOTTIME; clock++) {
		struct timespec now;

		if (!can_stop(clock))
			continue;
		(void)clock_gettime(clock, &now);
		clocks_ns[clock] = nanoseconds(&now);
	}
	stopped = true;
	for (int fd = 0; fd < TIMERS_MAX; fd++)
		if (timers[fd].due_ns > clocks_ns[timers[fd].clock])
			(void)set(fd, 0, &never, NULL);
}

void fake_clock_tick(u64 ns)
{
	tick_ns = ns;
}

void fake_clock_advance(u64 ns)
{
	for (clockid_t clock = 0; clock <= CLOCK_BOOTTIME; clock++)
		clocks_ns[clock] += ns;
	for (int fd = 0; fd < TIMERS_MAX; fd++)
		if (timers[fd].due_ns && timers[fd].due_ns <= clocks_ns[timers[fd].clock])
			(void)elapse(fd);
}

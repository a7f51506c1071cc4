// SPDX-License-Identifier: GPL-2.0
#include "software_event.h"

#include <criterion/criterion.h>

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

int software_event_open(const struct software_event *event, int program_fd)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_SOFTWARE,
		.config = event->config,
		.sample_period = event->period,
		.sample_type = event->sample_type,
		.disabled = 1,
		.wakeup_events = 1,
	};
	int fd = (int)syscall(SYS_perf_event_open, &attr, event->pid, event->cpu, -1, PERF_FLAG_FD_CLOEXEC);

	cr_assert_geq(fd, 0, "perf_event_open: %s", strerror(errno));
	cr_assert_eq(ioctl(fd, PERF_EVENT_IOC_SET_BPF, program_fd), 0, "attach: %s", strerror(errno));
	return fd;
}

void software_event_enable(int fd)
{
	cr_assert_eq(ioctl(fd, PERF_EVENT_IOC_ENABLE, 0), 0, "%s", strerror(errno));
}

void software_event_disable(int fd)
{
	cr_assert_eq(ioctl(fd, PERF_EVENT_IOC_DISABLE, 0), 0, "%s", strerror(errno));
}

u64 software_event_count(int fd)
{
	u64 count;

	cr_assert_eq(read(fd, &count, sizeof(count)), (ssize_t)sizeof(count));
	return count;
}

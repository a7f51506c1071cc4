// SPDX-License-Identifier: GPL-2.0
/*
 * Software events with pebsd's perf_event program attached. They run the same program as PEBS events, but
 * need no PMU.
 */
#ifndef PEBSD_TEST_SOFTWARE_EVENT_H
#define PEBSD_TEST_SOFTWARE_EVENT_H

#include <sys/types.h>

#include "pebsd/types.h"

struct software_event {
	u64 config; /* PERF_COUNT_SW_... */
	u64 period;
	u64 sample_type; /* PERF_SAMPLE_... */
	pid_t pid;       /* -1: every task */
	int cpu;         /* -1: every CPU (of one task) */
};

/* Opens the event, disabled, with the program attached. The caller closes it. Fails the test on error. */
int software_event_open(const struct software_event *event, int program_fd);
void software_event_enable(int fd);
void software_event_disable(int fd);
u64 software_event_count(int fd);

#endif

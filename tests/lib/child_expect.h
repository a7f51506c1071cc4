// SPDX-License-Identifier: GPL-2.0
/*
 * An assertion for a child process of a test, in which Criterion's assertions do not work. It prints the
 * condition that failed, and exits.
 */
#ifndef PEBSD_CHILD_EXPECT_H
#define PEBSD_CHILD_EXPECT_H

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define EXPECT(condition)                                                                         \
	do {                                                                                      \
		if (!(condition)) {                                                               \
			(void)fprintf(stderr, "line %d: not so: %s (%s)\n", __LINE__, #condition, \
				      strerror(errno));                                           \
			_exit(1);                                                                 \
		}                                                                                 \
	} while (0)

#endif

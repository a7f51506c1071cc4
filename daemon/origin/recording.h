// SPDX-License-Identifier: GPL-2.0
/* The metadata of a recording: the place and time at which it was made. */
#ifndef PEBSD_RECORDING_H
#define PEBSD_RECORDING_H

#include <stdbool.h>
#include <time.h>

/* A text is NULL, and `time` is 0, if the recording does not contain it. The replay owns the texts. */
struct recording {
	const char *file; /* name as given by the user, or "standard input" */
	const char *host;
	const char *cpu;      /* name of the CPU model, or else perf's CPU id, "GenuineIntel,6,85,4" */
	const char *kernel;   /* release */
	struct timespec time; /* CLOCK_REALTIME of the first sample, or else of the last change of the file */
	bool time_of_file;    /* `time` is that of the file */
};

#endif

// SPDX-License-Identifier: GPL-2.0
/* A process that was there before its zoom: its name and what it executes from, as the records that the
 * kernel would have written. */
#ifndef PEBSD_ZOOM_PROCESS_H
#define PEBSD_ZOOM_PROCESS_H

#include "zoom/zoom_sample.h"

/* Executable file mappings that are taken over, at most, and bytes of /proc/PID/maps that are looked at. */
#define ZOOM_PROCESS_MAPPINGS_MAX 512
#define ZOOM_PROCESS_BYTES_MAX    (512U << 10)

#define ZOOM_PROCESS_NAME_MAX 64

struct zoom_process {
	u32 pid;
	char name[ZOOM_PROCESS_NAME_MAX]; /* ""; not known */
	char *maps; /* text of /proc/PID/maps, or its beginning; NULL: not known, or no memory */
};

/* Reads it; waits where the process makes it wait. What can't be read is not known. */
void zoom_process_read(u32 pid, struct zoom_process *ret);
void zoom_process_done(struct zoom_process *process);

/*
 * Calls back with a ZOOM_RECORD_NAMED and one ZOOM_RECORD_MAPPED for each mapping; stops where `callback`
 * does not return 0, and returns that; 0. Pure, but that it cuts the text of the maps in lines.
 */
int zoom_process_tell(struct zoom_process *process,
		      int (*callback)(void *userdata, const struct zoom_record *record), void *userdata);

#endif

// SPDX-License-Identifier: GPL-2.0
/* A process that was there before its zoom: its name and what it executes from, as the records that the
 * kernel would have written. */
#ifndef PEBSD_ZOOM_PROCESS_H
#define PEBSD_ZOOM_PROCESS_H

#include "child/child.h"
#include "zoom/zoom_sample.h"

/* Executable mappings that are taken over, at most. */
#define ZOOM_PROCESS_MAPPINGS_MAX 512

struct zoom_process {
	u32 pid;
	char *text; /* of process_code.h; NULL: not known, or no memory */
};

/* Who is asked of a process that pebsd itself may not look into. */
struct zoom_process_socket {
	const char *path;        /* SYMBOLS_SOCKET; NULL: nobody */
	struct child connection; /* closed at first, and at last */
	bool failed;             /* it is not asked again, until that is taken back */
};

/* Reads it; waits where the process makes it wait. What can't be read is not known. */
void zoom_process_read(u32 pid, struct zoom_process_socket *socket, struct zoom_process *ret);
void zoom_process_done(struct zoom_process *process);

/*
 * Calls back with a ZOOM_RECORD_NAMED and one ZOOM_RECORD_MAPPED for each mapping; stops where `callback`
 * does not return 0, and returns that; 0. Pure, but that it cuts the text of the maps in lines.
 */
int zoom_process_tell(struct zoom_process *process,
		      int (*callback)(void *userdata, const struct zoom_record *record), void *userdata);

#endif

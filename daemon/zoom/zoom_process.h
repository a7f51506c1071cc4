// SPDX-License-Identifier: GPL-2.0
/*
 * Describes a process that was already running when its zoom began. Its name and executable mappings are
 * returned as the records that the kernel would have written.
 */
#ifndef PEBSD_ZOOM_PROCESS_H
#define PEBSD_ZOOM_PROCESS_H

#include "child/child.h"
#include "zoom/zoom_sample.h"

/* Maximum number of executable mappings that are returned for one process. */
#define ZOOM_PROCESS_MAPPINGS_MAX 512

struct zoom_process {
	u32 pid;
	char *text; /* format of process_code.h; NULL: no memory */
};

/* The symbolizer, which reads processes that pebsd itself may not look into. */
struct zoom_process_socket {
	const char *path;        /* SYMBOLS_SOCKET; NULL: no symbolizer */
	struct child connection; /* opened on demand; closed initially and at the end */
	bool failed;             /* not asked again until the owner resets this */
};

/*
 * Reads name and mappings of the process. May block for as long as the process makes it wait (zoom_reader.h).
 * If the mappings cannot be read, `text` has only the name, which may be empty.
 */
void zoom_process_read(u32 pid, struct zoom_process_socket *socket, struct zoom_process *ret);
void zoom_process_done(struct zoom_process *process);

/*
 * Calls `callback` with one ZOOM_RECORD_NAMED, if the process has a name, and one ZOOM_RECORD_MAPPED for each
 * executable mapping that has a path. Stops when `callback` returns a value other than 0, and returns that
 * value. Returns 0 otherwise. Makes no system call, but cuts the process' text into lines in place.
 */
int zoom_process_report(struct zoom_process *process,
			int (*callback)(void *userdata, const struct zoom_record *record), void *userdata);

#endif

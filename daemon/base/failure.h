// SPDX-License-Identifier: GPL-2.0
/* The reason why pebsd exits: an exit code, and the complete message for the person who started it. */
#ifndef PEBSD_FAILURE_H
#define PEBSD_FAILURE_H

/* Exit codes. RestartPreventExitStatus= of the unit depends on them. */
enum exit_code {
	EXIT_DONE = 0,
	EXIT_FAILED = 1, /* at run time */
	EXIT_INPUT = 2,  /* usage, configuration or recording */
	EXIT_CANNOT = 3, /* this machine or these privileges do not allow it */
};

struct failure {
	enum exit_code code;
	char *message; /* the owner of the struct frees it; NULL if there was no memory */
};

#endif

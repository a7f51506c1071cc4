// SPDX-License-Identifier: GPL-2.0
/* Why pebsd ends: an exit code and the whole message for the person who started it. */
#ifndef PEBSD_FAILURE_H
#define PEBSD_FAILURE_H

/* Exit codes; the unit's RestartPreventExitStatus= goes by them. */
enum exit_code {
	EXIT_DONE = 0,
	EXIT_FAILED = 1, /* at run time */
	EXIT_INPUT = 2,  /* usage, configuration or recording */
	EXIT_CANNOT = 3, /* this machine or these privileges can't do it */
};

struct failure {
	enum exit_code code;
	char *message; /* the holder frees it; NULL where memory is short */
};

#endif

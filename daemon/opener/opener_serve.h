// SPDX-License-Identifier: GPL-2.0
/* The service: answers pebsd's requests on the socket from the service manager, and ends when it is idle. */
#ifndef PEBSD_OPENER_SERVE_H
#define PEBSD_OPENER_SERVE_H

#include "pebsd/types.h"

struct opener_serve_settings {
	const char *sysfs_root; /* "/sys", where the PMUs are read */
	int listening;          /* listening socket; owned by the caller */
	int idle_ms;            /* the opener ends after this time without a request */
};

/*
 * Serves root and the owner of the socket's file, as set by the socket unit. Closes connections of other
 * users. Returns 0 after the idle time, or -errno, which has been logged.
 */
int opener_serve(const struct opener_serve_settings *settings);

#endif

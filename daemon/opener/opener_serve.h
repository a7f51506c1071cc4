// SPDX-License-Identifier: GPL-2.0
/* The opener's work: answers pebsd's requests on the socket that the service manager listens on, then ends.
 */
#ifndef PEBSD_OPENER_SERVE_H
#define PEBSD_OPENER_SERVE_H

#include "pebsd/types.h"

struct opener_serve_settings {
	const char *sysfs_root; /* where the PMUs are read: "/sys" */
	int listening;          /* socket; the caller's */
	int idle_ms;            /* without a request for so long, it ends */
};

/*
 * Serves root and the owner of the socket's file, which is whom the socket unit gives it to, and hangs up on
 * everybody else. Returns 0 when it had nothing to do for long, or -errno, which is logged.
 */
int opener_serve(const struct opener_serve_settings *settings);

#endif

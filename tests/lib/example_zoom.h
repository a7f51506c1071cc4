// SPDX-License-Identifier: GPL-2.0
/* Replies about details, as the daemon sends them, for tests of how pebsctl shows them. */
#ifndef PEBSD_TESTS_EXAMPLE_ZOOM_H
#define PEBSD_TESTS_EXAMPLE_ZOOM_H

#define EXAMPLE_ZOOM_CGROUP "/system.slice/postgresql@15-main.service"

/* The "zoom" object of a finished zoom; "functions" and the rest of the reply to GetZoom; the reply to GetHot. */
extern const char example_zoom_state[];
extern const char example_zoom_report[];
extern const char example_hot[];

#endif

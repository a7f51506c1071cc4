// SPDX-License-Identifier: GPL-2.0
/* Replies on detail, as a daemon sends them: to test, and to look at, how pebsctl shows them. */
#ifndef PEBSD_TESTS_EXAMPLE_ZOOM_H
#define PEBSD_TESTS_EXAMPLE_ZOOM_H

#define EXAMPLE_ZOOM_CGROUP "/system.slice/postgresql@15-main.service"

/* The "zoom" object of a zoom that is over; "functions" and the rest of GetZoom; the reply of GetHot. */
extern const char example_zoom_state[];
extern const char example_zoom_report[];
extern const char example_hot[];

#endif

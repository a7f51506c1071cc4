// SPDX-License-Identifier: GPL-2.0
/*
 * Zooms, profiles and names of the test's choice in the place of those of a running daemon: a program that
 * uses anything here has these functions of zooms.h, profile/ and symbols.h, and not the real ones.
 */
#ifndef PEBSD_FAKE_ZOOMS_H
#define PEBSD_FAKE_ZOOMS_H

#include "detail/zooms.h"

#define FAKE_ZOOMS_MAX 3

struct fake_zooms {
	/* Of the next zooms_begin(): an error, and its message, or NULL. */
	int begin_error;
	const char *begin_message;
	struct zoom_wish wish; /* the last; `path` is copied below, `reason` is not kept */
	char path[256];
	unsigned int begun, ended;

	/* Held: newest first. */
	struct zoom zooms[FAKE_ZOOMS_MAX];
	size_t n;

	/* What every profile comes to. */
	struct profile_totals totals;
	struct profile_report report;    /* its arrays are the test's */
	struct report_settings settings; /* of the last report */
	const char *kernel_name;         /* what the last report's names called the kernel's address */
	bool kernel_names;               /* of the last pprof */
	size_t output_size;              /* of pprof and folded: bytes 0, 1, 2, ... */
	unsigned int outputs;            /* made so far */
	int output_error;
	const struct symbol *(*symbol)(const struct symbol_query *query); /* NULL: none is known */
};
extern struct fake_zooms fake_zooms;

/* Holds one more, the newest, of the cgroup: it began at 2026-11-21T06:00:00Z, for 30 s. Fails the test
 * where memory is short. */
struct zoom *fake_zooms_hold(const char *path, enum zoom_state state);

/* Frees all, and is as in the beginning. */
void fake_zooms_reset(void);

#endif

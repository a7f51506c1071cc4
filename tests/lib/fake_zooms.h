// SPDX-License-Identifier: GPL-2.0
/*
 * Zooms, profiles and names that the test chooses, instead of those of a running daemon. A program that uses
 * anything here gets the functions in fake_zooms.c instead of the real ones of zooms.h, profile/, symbols.h
 * and memory_nodes.h.
 */
#ifndef PEBSD_FAKE_ZOOMS_H
#define PEBSD_FAKE_ZOOMS_H

#include "detail/zooms.h"

#define FAKE_ZOOMS_MAX 3

struct fake_zooms {
	/* Result of all later calls of zooms_begin(): an error, and its message or NULL. */
	int begin_error;
	const char *begin_message;
	struct zoom_request request; /* the last request; `path` is copied below, `reason` is not kept */
	char path[256];
	unsigned int begun, ended;

	/* Existing zooms, the newest first. */
	struct zoom zooms[FAKE_ZOOMS_MAX];
	size_t n;

	/* The result of every profile. */
	struct profile_totals totals;
	struct profile_report report;    /* the test owns its arrays */
	struct report_settings settings; /* of the last report */
	const char *kernel_name;         /* name of the kernel's address in the last report */
	bool kernel_names;       /* whether the last call of pprof or folded was to name kernel functions */
	size_t output_size;      /* of pprof and folded: bytes 0, 1, 2, ... */
	bool addresses;          /* of the last flame */
	unsigned int outputs;    /* number of outputs so far */
	void (*on_output)(void); /* called when an output is made; NULL: nothing */
	int output_error;
	const struct symbol *(*symbol)(const struct symbol_query *query); /* NULL: no address has a name */
};
extern struct fake_zooms fake_zooms;

/*
 * Adds a zoom of the cgroup as the newest. It began at 2026-11-21T06:00:00Z, for 30 s. Fails the test if
 * memory runs out, or if there are FAKE_ZOOMS_MAX zooms already.
 */
struct zoom *fake_zooms_hold(const char *path, enum zoom_state state);

/* Frees all zooms, and restores the initial state. */
void fake_zooms_reset(void);

#endif

// SPDX-License-Identifier: GPL-2.0
/*
 * Detail on demand in a running daemon. Owns the zooms and the connection to the symbolizer, and enables the
 * engine's hot tables, for clients and for rules that fire.
 */
#ifndef PEBSD_DETAIL_H
#define PEBSD_DETAIL_H

#include <systemd/sd-event.h>

#include "config/config.h"
#include "detail/zooms.h"
#include "policy/alert.h"
#include "sampling/sampling.h"
#include "snapshot/snapshot.h"
#include "symbols/symbols.h"

struct detail_settings {
	sd_event *event; /* not owned, like the next two; all outlive the detail */
	struct sampling *sampling;
	const struct config *config;
	/* Same as in zooms_settings. */
	void (*changed)(void *userdata, const struct zoom *zoom, bool over);
	void *userdata;
};

struct detail;

/* Returns 0 or -errno. */
int detail_new(const struct detail_settings *settings, struct detail **ret);
struct detail *detail_free(struct detail *detail);
DEFINE_CLEANUP(struct detail *, detail_free)

/* The detail owns the results. */
struct zooms *detail_zooms(struct detail *detail);
struct symbols *detail_symbols(struct detail *detail);

/* Same as engine_hot_choose(), but for the next `seconds` seconds. */
int detail_choose_hot(struct detail *detail, const char *path, double seconds);

/* Begins a zoom or hot tables, the action of a rule that fires. See `start_detail` in act_settings. */
int detail_start(struct detail *detail, const struct transition *transition, enum rule_action action,
		 char **ret_message);

/* Updates and returns the counters that a snapshot includes. The detail owns them. */
const struct detail_counts *detail_counts(struct detail *detail);

#endif

// SPDX-License-Identifier: GPL-2.0
/*
 * Detail on demand in a running daemon: who may be looked at closely, and the parts that do it: zooms, the
 * symbolizer, the engine's hot tables.
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
	sd_event *event; /* none of these is owned; they outlive the detail */
	struct sampling *sampling;
	const struct config *config;
	/* As in zooms_settings. */
	void (*changed)(void *userdata, const struct zoom *zoom, bool over);
	void *userdata;
};

struct detail;

/* 0 or -errno. */
int detail_new(const struct detail_settings *settings, struct detail **ret);
struct detail *detail_free(struct detail *detail);
DEFINE_CLEANUP(struct detail *, detail_free)

/* The detail's. */
struct zooms *detail_zooms(struct detail *detail);
struct symbols *detail_symbols(struct detail *detail);

/* As engine_hot_choose(), for so many seconds from now. */
int detail_choose_hot(struct detail *detail, const char *path, double seconds);

/* What a rule wants when it fires: see act_settings. */
int detail_look(struct detail *detail, const struct transition *transition, enum rule_action action,
		char **ret_message);

/* Brings up to date what a snapshot says of it, and returns it: the detail's. */
const struct detail_figures *detail_figures(struct detail *detail);

#endif

// SPDX-License-Identifier: GPL-2.0
/* The interface between sampling.c and an origin: a table of functions. */
#ifndef PEBSD_SAMPLING_ORIGIN_H
#define PEBSD_SAMPLING_ORIGIN_H

#include "sampling/sampling.h"

struct origin_state; /* private to the origin */

struct origin {
	const char *name;
	bool saved;   /* the next process continues sampling and counting */
	bool on_cpus; /* samples come on the CPUs that took them; else a single writer delivers them */

	/*
	 * Finds the events that can be sampled, opens the engine, and starts. `engine_settings` already
	 * contains the settings that are the same for every origin. On failure the function frees everything
	 * that it made, except for the engine.
	 */
	int (*open)(const struct sampling_settings *settings, struct engine_settings *engine_settings,
		    struct engine **ret_engine, struct origin_state **ret, struct failure *ret_failure);
	void (*free)(struct origin_state *state);

	/* As in sampling.h. NULL: there is nothing to do and no error. */
	int (*step)(struct origin_state *state);
	int (*input)(const struct origin_state *state);
	int (*tick)(struct origin_state *state); /* before the collection; returns 0 or -errno */
	void (*stop)(struct origin_state *state);
	bool (*complete)(const struct origin_state *state, const char **ret_message);
	int (*health)(const struct origin_state *state, const char **ret_reason);

	/* Like sampling_set_periods(). NULL: the origin has no periods. */
	int (*set_periods)(struct origin_state *state, const struct event_periods *periods,
			   char **ret_message);

	/* Like sampling_set_budget(). NULL: the origin has no budget. */
	void (*set_budget)(struct origin_state *state, double budget);

	/* Like sampling_pause() and sampling_resume(). Both NULL: the origin holds no counters. */
	int (*pause)(struct origin_state *state);
	int (*resume)(struct origin_state *state);

	/* Like sampling_zoom_open() and sampling_zoom_close(). Both NULL: the origin cannot zoom. */
	int (*zoom_open)(struct origin_state *state, const char *path, u32 rate, struct zoom_source **ret,
			 char **ret_note, char **ret_message);
	void (*zoom_close)(struct origin_state *state, struct zoom_source *source);

	/*
	 * Like sampling_name(). NULL: the sampled addresses belong to processes of this machine or have no
	 * names.
	 */
	const struct symbol *(*name_of)(struct origin_state *state, const struct symbol_query *query);
};

extern const struct origin origin_perf;
extern const struct origin origin_replay;
extern const struct origin origin_model;

#endif

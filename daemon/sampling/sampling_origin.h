// SPDX-License-Identifier: GPL-2.0
/* What sampling.c needs of an origin: one table of functions each. */
#ifndef PEBSD_SAMPLING_ORIGIN_H
#define PEBSD_SAMPLING_ORIGIN_H

#include "sampling/sampling.h"

struct origin_state; /* the origin's own */

struct origin {
	const char *name;
	bool kept;    /* what is sampled and counted goes on in the next process */
	bool on_cpus; /* samples come on the CPUs that took them; else one writer hands them over */

	/* Finds out what can be sampled, opens the engine (of which `settings` holds what is the same for
	 * every origin), and starts. On failure frees what it made but for the engine. */
	int (*open)(const struct sampling_settings *settings, struct engine_settings *engine_settings,
		    struct engine **ret_engine, struct origin_state **ret, struct failure *ret_failure);
	void (*free)(struct origin_state *state);

	/* As in sampling.h; NULL: nothing to do, and all is well. */
	int (*step)(struct origin_state *state);
	int (*input)(const struct origin_state *state);
	int (*tick)(struct origin_state *state); /* before the collection; 0 or -errno */
	void (*stop)(struct origin_state *state);
	bool (*complete)(const struct origin_state *state, const char **ret_message);
	int (*health)(const struct origin_state *state, const char **ret_reason);

	/* As sampling_set_periods(); NULL: the origin has none. */
	int (*set_periods)(struct origin_state *state, u64 period, u64 instructions_period,
			   char **ret_message);

	/* As sampling_set_budget(); NULL: the origin has none. */
	void (*set_budget)(struct origin_state *state, double budget);

	/* As sampling_pause() and sampling_resume(); both NULL: the origin holds no counter. */
	int (*pause)(struct origin_state *state);
	int (*resume)(struct origin_state *state);

	/* As sampling_zoom_open() and sampling_zoom_close(); both NULL: the origin has no tasks to look at.
	 */
	int (*zoom_open)(struct origin_state *state, const char *path, u32 rate, struct zoom_events **ret,
			 char **ret_note, char **ret_message);
	void (*zoom_close)(struct origin_state *state, struct zoom_events *events);

	/* As sampling_name(); NULL: its addresses are of this machine's processes, or have no names. */
	const struct symbol *(*name_of)(struct origin_state *state, const struct symbol_query *query);
};

extern const struct origin origin_perf;
extern const struct origin origin_replay;
extern const struct origin origin_model;

#endif

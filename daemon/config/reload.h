// SPDX-License-Identifier: GPL-2.0
/* Reads the configuration again while pebsd is running. */
#ifndef PEBSD_RELOAD_H
#define PEBSD_RELOAD_H

#include "config/config.h"
#include "config/options.h"

/* Applies changes of the configuration that need more than a new value. */
struct reload_applier {
	/*
	 * Applies the changes. If a change cannot be applied, sets the value in `loaded` back to that of
	 * `running` and returns the reason as one line, which the caller frees. Returns NULL if all changes
	 * were applied.
	 */
	char *(*apply)(void *userdata, const struct config *running, struct config *loaded);
	void *userdata;
};

/*
 * Reads the files again, applies the command line on top, and copies values that need no restart to
 * `running`. Returns 0, and `*ret_lines` lists the values that were applied, the values that need a restart,
 * and warnings. Returns -EINVAL, and `*ret_lines` lists the mistakes, or another -errno. After an error
 * `running` is unchanged. The lines are also logged. The caller frees `*ret_lines`, which may be NULL, with
 * reload_free_lines().
 */
int reload_config(const struct options *options, const struct reload_applier *applier, struct config *running,
		  char ***ret_lines);
void reload_free_lines(char **lines);

#endif

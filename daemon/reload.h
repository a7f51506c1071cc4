// SPDX-License-Identifier: GPL-2.0
/* Reading the configuration again while running. */
#ifndef PEBSD_RELOAD_H
#define PEBSD_RELOAD_H

#include "config/config.h"
#include "config/options.h"

/* Who has to do something for a value to be in force. */
struct reload_applier {
	/*
	 * Does so. What cannot be done it puts back to `running`'s value in `loaded`, and returns why: a
	 * line, which the caller frees. NULL: all is done.
	 */
	char *(*apply)(void *userdata, const struct config *running, struct config *loaded);
	void *userdata;
};

/*
 * Reads the files again, puts the command line over them, and takes what applies without a restart into
 * `running`. Returns 0, `*ret_lines` saying what was taken over and what waits for a restart; -EINVAL,
 * `*ret_lines` being the mistakes, and another -errno: `running` is as before. Lines are logged, too.
 * `*ret_lines` may be NULL; the caller frees it with reload_free_lines().
 */
int reload_config(const struct options *options, const struct reload_applier *applier, struct config *running,
		  char ***ret_lines);
void reload_free_lines(char **lines);

#endif

// SPDX-License-Identifier: GPL-2.0
/*
 * pebsd --check-config: checks a configuration against this machine, and reports the result. Uses only the
 * configuration and this machine's users, groups and CPUs; it starts nothing.
 */
#ifndef PEBSD_CONFIG_CHECK_H
#define PEBSD_CONFIG_CHECK_H

#include <stdio.h>

#include "config/config.h"

/*
 * Loads the configuration as config_load() does with `file`, and makes the checks that depend on this
 * machine.
 *
 * Returns 0 if pebsd can start with the configuration, which is then in `*ret`. It has a warning for each
 * user or group that a file sets but that does not exist. Returns -EINVAL with every mistake in
 * `*ret_mistakes`, or -ENOMEM. The caller clears `*ret_mistakes` and frees `*ret` with config_free(), also
 * after an error.
 */
int config_check(const char *file, struct config **ret, struct config_mistakes *ret_mistakes);

/*
 * Prints the result of config_check(): for people, or as one JSON object {ok, files, rules, mistakes,
 * warnings}. `config` is NULL if there are mistakes. Returns 0 or -ENOMEM.
 */
int config_check_print(const struct config *config, const struct config_mistakes *mistakes, bool json,
		       FILE *out);

#endif

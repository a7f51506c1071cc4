// SPDX-License-Identifier: GPL-2.0
/* The text of one configuration file, through inih. Pure. */
#ifndef PEBSD_CONFIG_FILE_H
#define PEBSD_CONFIG_FILE_H

#include <stddef.h>

#include "config/config.h"

/*
 * Sets what `text` says in `config`, and adds every mistake in it to `mistakes` under the name `file`. What
 * is wrong is left out, what is right is set; rules are, with config_rules_finish() after the last file.
 * Returns 0, with or without mistakes, or -ENOMEM.
 */
int config_file_parse(const char *file, const char *text, size_t length, struct config *config,
		      struct config_mistakes *mistakes);

#endif

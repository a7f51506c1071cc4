// SPDX-License-Identifier: GPL-2.0
/* Parses the text of one configuration file with inih. Pure function. */
#ifndef PEBSD_CONFIG_FILE_H
#define PEBSD_CONFIG_FILE_H

#include <stddef.h>

#include "config/config.h"

/*
 * Sets the values of `text` in `config`, and adds each mistake to `mistakes` under the name `file`. Wrong
 * values are skipped and right ones are set. Rules are set by config_rules_finish(), after the last file.
 * Returns 0, with or without mistakes, or -ENOMEM.
 */
int config_file_parse(const char *file, const char *text, size_t length, struct config *config,
		      struct config_mistakes *mistakes);

#endif

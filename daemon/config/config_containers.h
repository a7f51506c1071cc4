// SPDX-License-Identifier: GPL-2.0
/* The values of [containers] that are more than a word. */
#ifndef PEBSD_CONFIG_CONTAINERS_H
#define PEBSD_CONFIG_CONTAINERS_H

#include "config/config_keys.h"

/*
 * Labels (cgroup/container_label.h) with blanks between them, in any order: bits 1 << enum container_label;
 * none where it is empty. As config_key_set(): a mistake changes nothing.
 */
int config_container_labels(const struct config_key *key, const char *text, unsigned int *ret,
			    char **ret_problem);

#endif

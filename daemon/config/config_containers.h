// SPDX-License-Identifier: GPL-2.0
/* The values of [containers] that are more than one word. */
#ifndef PEBSD_CONFIG_CONTAINERS_H
#define PEBSD_CONFIG_CONTAINERS_H

#include "config/config_keys.h"

/*
 * Parses labels (cgroup/container_label.h), separated by blanks, in any order. Sets `*ret` to the bits 1 <<
 * enum container_label; an empty text gives 0. Returns as config_key_set(): a mistake changes nothing.
 */
int config_container_labels(const struct config_key *key, const char *text, unsigned int *ret,
			    char **ret_problem);

#endif

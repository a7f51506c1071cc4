// SPDX-License-Identifier: GPL-2.0
/* The values of [sampling] that are more than a number or a word. */
#ifndef PEBSD_CONFIG_SAMPLING_H
#define PEBSD_CONFIG_SAMPLING_H

#include "config/config_keys.h"

/*
 * Parses events, separated by blanks, each at most once. Sets `*ret` to the bits 1 << enum event_role.
 * Returns as config_key_set(): a mistake changes nothing.
 */
int config_sampling_events(const struct config_key *key, const char *text, unsigned int *ret,
			   char **ret_problem);

/* Parses `all`, which is the empty list, or CPUs in the kernel's format: 0-3,8. */
int config_sampling_cpus(const struct config_key *key, const char *text, struct cpu_list *ret,
			 char **ret_problem);

/* Parses `off`, which is 0, or a percentage of CPU time, such as 0.5%. A number without % is refused. */
int config_sampling_budget(const struct config_key *key, const char *text, double *ret, char **ret_problem);

#endif

// SPDX-License-Identifier: GPL-2.0
/* The values of [sampling] that are more than a number or a word. */
#ifndef PEBSD_CONFIG_SAMPLING_H
#define PEBSD_CONFIG_SAMPLING_H

#include "config/config_keys.h"

/*
 * Events with blanks between them, each once: bits 1 << enum event_role. As config_key_set(): a mistake
 * changes nothing.
 */
int config_sampling_events(const struct config_key *key, const char *text, unsigned int *ret,
			   char **ret_problem);

/* `all`, which is the empty list, or CPUs as the kernel writes them: 0-3,8. */
int config_sampling_cpus(const struct config_key *key, const char *text, struct cpu_list *ret,
			 char **ret_problem);

/* `off`, which is 0, or a share of CPU time: 0.5% or 0.005. */
int config_sampling_budget(const struct config_key *key, const char *text, double *ret, char **ret_problem);

#endif

// SPDX-License-Identifier: GPL-2.0
/* The values of [model] that name parts of the model: its CPUs and its workloads. Pure functions. */
#ifndef PEBSD_CONFIG_MODEL_H
#define PEBSD_CONFIG_MODEL_H

#include "config/config_keys.h"

/*
 * Finds a CPU of the model by its name. Returns 0 or -ENOMEM, or -EINVAL with `*ret_problem`, which the
 * caller frees. An unknown CPU is refused with a list of the known ones, and a CPU that machine_refusal()
 * refuses with its reason. `*ret` is written on success only.
 */
int config_model_cpu(const struct config_key *key, const char *text, const struct machine **ret,
		     char **ret_problem);

/*
 * Parses names of workloads, separated by blanks, or "all". Sets `*ret` to the bits 1 << enum workload_kind.
 * Returns as config_model_cpu().
 */
int config_model_workloads(const struct config_key *key, const char *text, unsigned int *ret,
			   char **ret_problem);

#endif

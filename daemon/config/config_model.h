// SPDX-License-Identifier: GPL-2.0
/* The values of [model] that name something of the model: its CPUs and its workloads. Pure. */
#ifndef PEBSD_CONFIG_MODEL_H
#define PEBSD_CONFIG_MODEL_H

#include "config/config_keys.h"

/*
 * One of the CPUs that can be sampled. Returns 0; -EINVAL with `*ret_problem`, the caller's, for a CPU that
 * is not known (with those that are) or that machine_refusal() has something against (with what); -ENOMEM.
 * `*ret` is written with 0 only.
 */
int config_model_cpu(const struct config_key *key, const char *text, const struct machine **ret,
		     char **ret_problem);

/* Names of workloads with blanks between them, or "all": bit 1 << enum workload_kind each. Returns as
 * config_model_cpu(). */
int config_model_workloads(const struct config_key *key, const char *text, unsigned int *ret,
			   char **ret_problem);

#endif

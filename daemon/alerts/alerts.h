// SPDX-License-Identifier: GPL-2.0
/*
 * Runs the policy: feeds it each collection of the engine and the preferences on cgroup directories, and
 * passes its transitions to actions and watchers.
 */
#ifndef PEBSD_ALERTS_H
#define PEBSD_ALERTS_H

#include "act/act.h"
#include "config/config.h"
#include "engine/engine.h"
#include "policy/policy.h"

struct alerts;

struct alerts_settings {
	sd_event *event;
	struct engine *engine;       /* not owned, must outlive the alerts */
	const struct config *config; /* not owned, outlives the alerts; alerts_reload() reads it, too */
	const char *directory;       /* see act_settings */
	bool live_cgroups;           /* paths are of this kernel's cgroup tree: read their directories */
	/* See act_settings. May be NULL. */
	int (*start_detail)(void *userdata, const struct transition *transition, enum rule_action action,
			    char **ret_message);
	void (*changed)(void *userdata, const struct transition *transition); /* called after the actions */
	void *userdata;
};

/* Returns 0 or -errno. */
int alerts_new(const struct alerts_settings *settings, struct alerts **ret);
struct alerts *alerts_free(struct alerts *alerts);
DEFINE_CLEANUP(struct alerts *, alerts_free)

/* Call it after each collection of the engine. */
void alerts_collected(struct alerts *alerts);

/* Takes over the rules of a reloaded configuration. Returns 0, or -ENOMEM: then the old rules may remain. */
int alerts_reload(struct alerts *alerts);

/* Call it when a cgroup of the engine was removed (struct collect_listener). */
void alerts_gone(struct alerts *alerts, const char *path);

const struct policy *alerts_policy(const struct alerts *alerts);
const struct act *alerts_act(const struct alerts *alerts);

/* The descriptor of the cgroup2 mount, owned by the alerts; -1: paths are not of this kernel's cgroup tree. */
int alerts_cgroup_root(const struct alerts *alerts);

#endif

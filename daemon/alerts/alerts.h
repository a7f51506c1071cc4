// SPDX-License-Identifier: GPL-2.0
/*
 * Policy at work: feeds it each collection of the engine and what cgroups' directories say, and hands its
 * transitions to actions and watchers.
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
	struct engine *engine;       /* not owned, nor is the next; both outlive the alerts */
	const struct config *config; /* its rules are read here and at alerts_reload() */
	const char *directory;       /* see act_settings */
	bool live_cgroups;           /* paths are of the running kernel's tree: their directories are read */
	/* As in act_settings; `userdata` as of `changed`. May be NULL. */
	int (*look)(void *userdata, const struct transition *transition, enum rule_action action,
		    char **ret_message);
	void (*changed)(void *userdata, const struct transition *transition); /* after its actions */
	void *userdata;
};

/* 0 or -errno with a message that the caller frees. */
int alerts_new(const struct alerts_settings *settings, struct alerts **ret, char **ret_message);
struct alerts *alerts_free(struct alerts *alerts);
DEFINE_CLEANUP(struct alerts *, alerts_free)

/* After each collection of the engine. */
void alerts_collected(struct alerts *alerts);

/* The configuration has other rules now. 0 or -ENOMEM, and then the old ones stay. */
int alerts_reload(struct alerts *alerts);

/* A cgroup of the engine is gone (struct collect_listener). */
void alerts_gone(struct alerts *alerts, const char *path);

const struct policy *alerts_policy(const struct alerts *alerts);
const struct act *alerts_act(const struct alerts *alerts);

/* The cgroup2 mount, the alerts'; -1: paths are of no living tree. */
int alerts_cgroup_root(const struct alerts *alerts);

#endif

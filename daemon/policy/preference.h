// SPDX-License-Identifier: GPL-2.0
/*
 * Preferences: extended attributes of a cgroup's directory that change how rules treat the cgroup.
 *   user.pebsd.ignore     "*", or names of rules separated by blanks
 *   user.pebsd.threshold  RULE=VALUE, separated by blanks; VALUE as in the rule's `above` or `below`
 * Pure: cgroup/xattr.h reads the attributes.
 */
#ifndef PEBSD_PREFERENCE_H
#define PEBSD_PREFERENCE_H

#include "rule/rule.h"

#define PREFERENCE_IGNORE    "user.pebsd.ignore"
#define PREFERENCE_THRESHOLD "user.pebsd.threshold"
#define PREFERENCE_TEXT_MAX  4096 /* longest value, bytes; a longer one is refused */

/* The attributes as they were read. NULL: not set. */
struct preference {
	bool owner_is_root;
	const char *ignore;
	const char *threshold;
};

/* The effect of a preference on one rule. */
struct preference_effect {
	bool ignored;
	bool has_threshold;
	double threshold;
	bool untrusted; /* a preference concerns this rule, but has no effect: root does not own the directory */
	bool malformed; /* the threshold for this rule is invalid or set twice: it has no effect */
};

void preference_apply(const struct preference *preference, const struct rule *rule,
		      struct preference_effect *ret);

#endif

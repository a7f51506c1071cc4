// SPDX-License-Identifier: GPL-2.0
/*
 * What a cgroup's directory says about rules, in extended attributes:
 *   user.pebsd.ignore     "*", or names of rules separated by blanks
 *   user.pebsd.threshold  RULE=VALUE, separated by blanks; VALUE as in the rule's `above` or `below`
 * Pure: cgroup/attributes.h reads them.
 */
#ifndef PEBSD_PREFERENCE_H
#define PEBSD_PREFERENCE_H

#include "policy/rule.h"

#define PREFERENCE_IGNORE    "user.pebsd.ignore"
#define PREFERENCE_THRESHOLD "user.pebsd.threshold"
#define PREFERENCE_TEXT_MAX  4096 /* bytes of a value that are read; longer is refused */

/* As found; NULL: not set. */
struct preference {
	bool owner_is_root;
	const char *ignore;
	const char *threshold;
};

/* What one rule takes of it. */
struct preference_effect {
	bool ignored;
	bool has_threshold;
	double threshold;
	bool untrusted; /* something is said, and not heeded: the directory is not root's */
	bool malformed; /* something is said about this rule that can't be read: it is not heeded */
};

void preference_apply(const struct preference *preference, const struct rule *rule,
		      struct preference_effect *ret);

#endif

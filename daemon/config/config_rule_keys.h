// SPDX-License-Identifier: GPL-2.0
/* The table of a rule's keys: names, ranges, defaults, words, and how each is read by itself. Pure. */
#ifndef PEBSD_CONFIG_RULE_KEYS_H
#define PEBSD_CONFIG_RULE_KEYS_H

#include "config/config_keys.h"

/* In the order of the table. */
enum config_rule_key {
	RULE_KEY_CGROUP,
	RULE_KEY_EVENT,
	RULE_KEY_METRIC,
	RULE_KEY_ABOVE,
	RULE_KEY_BELOW,
	RULE_KEY_CLEAR,
	RULE_KEY_WINDOW,
	RULE_KEY_FOR,
	RULE_KEY_BASELINE,
	RULE_KEY_MIN_SAMPLES,
	RULE_KEY_CONFIDENCE,
	RULE_KEY_SEVERITY,
	RULE_KEY_SUBTREE,
	RULE_KEY_DRY_RUN,
	RULE_KEY_TRUST_OWNER,
	RULE_KEY_ACTION,
	RULE_KEYS,
};

/* All RULE_KEYS of them; `section` is "rule". Those without a default have an empty `default_text`. */
extern const struct config_key config_rule_keys[];

/*
 * Sets the key in the rule from the text of its value, empty for its default. Of above, below and clear,
 * which mean something with the metric alone, it says only whether they are numbers. Returns 0; -EINVAL with
 * `*ret_problem`, the caller's, the rule then unchanged; -ENOMEM.
 */
int config_rule_key_set(enum config_rule_key key, struct rule *rule, const char *text, char **ret_problem);

/* What is wrong with a rule's name, a constant; NULL: nothing. */
const char *config_rule_name_problem(const char *name);

#endif

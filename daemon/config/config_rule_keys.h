// SPDX-License-Identifier: GPL-2.0
/*
 * The table of a rule's keys: names, ranges, defaults and descriptions. Also parses the value of each key,
 * without regard to other keys. Pure functions.
 */
#ifndef PEBSD_CONFIG_RULE_KEYS_H
#define PEBSD_CONFIG_RULE_KEYS_H

#include "config/config_keys.h"

/* The keys of a rule, in the order of `config_rule_keys`. */
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

/* Has RULE_KEYS entries, all with the section "rule". Keys without a default have an empty `default_text`. */
extern const struct config_key config_rule_keys[];

/*
 * Sets the key of the rule from the text of its value. An empty text sets the default. Values of above, below
 * and clear depend on the metric, so only their syntax is checked here. Returns 0 or -ENOMEM, or -EINVAL with
 * `*ret_problem`, which the caller frees. After a mistake, the rule is unchanged.
 */
int config_rule_key_set(enum config_rule_key key, struct rule *rule, const char *text, char **ret_problem);

/* Returns a constant text that says what is wrong with a rule's name, or NULL if it is valid. */
const char *config_rule_name_problem(const char *name);

#endif

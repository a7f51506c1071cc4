// SPDX-License-Identifier: GPL-2.0
/*
 * The table of the keys: names, ranges, defaults, descriptions. All messages about a key are made from this
 * table.
 */
#ifndef PEBSD_CONFIG_KEYS_H
#define PEBSD_CONFIG_KEYS_H

#include "config/config.h"

enum config_key_type {
	CONFIG_KEY_ORIGIN,    /* enum config_origin */
	CONFIG_KEY_EVENTS,    /* unsigned int, bits */
	CONFIG_KEY_NUMBER,    /* u64 */
	CONFIG_KEY_DURATION,  /* u64, nanoseconds */
	CONFIG_KEY_SIZE,      /* u64, bytes */
	CONFIG_KEY_YES_NO,    /* bool */
	CONFIG_KEY_HISTORY,   /* enum config_history */
	CONFIG_KEY_PATTERNS,  /* struct config_patterns */
	CONFIG_KEY_LISTEN,    /* struct listen_address */
	CONFIG_KEY_GROUP,     /* char[CONFIG_GROUP_MAX] */
	CONFIG_KEY_ACCOUNT,   /* char[CONFIG_GROUP_MAX], a user or a group */
	CONFIG_KEY_MACHINE,   /* const struct machine * */
	CONFIG_KEY_WORKLOADS, /* unsigned int, bits */
	CONFIG_KEY_CPUS,      /* struct cpu_list */
	CONFIG_KEY_BUDGET,    /* double, a share; 0: off */
	CONFIG_KEY_URLS,      /* char[CONFIG_LINE_MAX] */
	CONFIG_KEY_HOSTS,     /* char[CONFIG_LINE_MAX] */
	CONFIG_KEY_LABELS,    /* unsigned int, bits */
	CONFIG_KEY_RULE,      /* key of a rule: config_rule_key_set() */
};

struct config_key {
	const char *section;
	const char *name; /* unique among all sections */
	enum config_key_type type;
	bool needs_restart;
	bool has_auto;            /* a number or size that may also be `auto`, stored as `auto_value` */
	size_t offset;            /* in struct config */
	const char *default_text; /* the default, as it would be written in a file */
	u64 min;                  /* for a number, a duration or a size */
	u64 max;
	u64 auto_value;
	const char *meaning; /* describes the value, with its unit; messages append it in parentheses */
};

/* Returns all keys. The keys of a section are adjacent. */
const struct config_key *config_keys(size_t *ret_n);

/* Lists each section once, in the order of the table. Returns their number. */
size_t config_sections(const char *ret[static CONFIG_KEYS_MAX]);

/* Lists the names of the keys of `section`, or of all sections if it is NULL. Returns their number. */
size_t config_key_names(const char *section, const char *ret[static CONFIG_KEYS_MAX]);

/* Finds a key by its section and name. Returns NULL if there is no such key. */
const struct config_key *config_key_find(const char *section, const char *name);

/*
 * Sets the key from the text of its value. An empty text empties the group, or a list of patterns, URLs,
 * hosts or labels, and resets any other key to its default. Returns 0 or -ENOMEM, or -EINVAL with
 * `*ret_problem`, which says what is wrong and what to do. The caller frees `*ret_problem`. On an error,
 * `config` is unchanged.
 */
int config_key_set(const struct config_key *key, struct config *config, const char *text, char **ret_problem);

/*
 * Same as config_key_set(), but writes the value to `field`. Its C type is the one that enum config_key_type
 * names for the key.
 */
int config_key_set_field(const struct config_key *key, void *field, const char *text, char **ret_problem);

bool config_key_equal(const struct config_key *key, const struct config *a, const struct config *b);

/* Swaps the key's value between two configurations. */
void config_key_swap(const struct config_key *key, struct config *a, struct config *b);

void config_patterns_clear(struct config_patterns *patterns);

#endif

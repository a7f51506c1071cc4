// SPDX-License-Identifier: GPL-2.0
/*
 * Collects the sections [rule NAME] of all files: the last value of each key, and its place. A file may
 * contain a rule once, and later files replace single keys of the rule. After the last file, the drafts
 * become the rules of the configuration. Contradictions between keys are reported then. Pure functions.
 */
#ifndef PEBSD_CONFIG_RULES_H
#define PEBSD_CONFIG_RULES_H

#include "config/config.h"
#include "config/config_rule_keys.h"

#define CONFIG_RULES_MAX 1000

struct config_place {
	const char *file;
	unsigned int line;
};

enum config_given {
	CONFIG_GIVEN_NOT,     /* no file sets the key: the default */
	CONFIG_GIVEN_DEFAULT, /* `key =` without a value resets the key to the default; `place` is that line */
	CONFIG_GIVEN_VALUE,
	CONFIG_GIVEN_MISTAKE, /* the value is invalid; the mistake was already reported */
};

struct config_rule_draft {
	struct rule rule;
	struct config_place header; /* place of the draft's last header */
	unsigned int file_number;   /* number of the file with that header */
	struct {
		enum config_given given;
		struct config_place place;
		unsigned int file_number; /* number of the last file that set the key */
		char *text;
	} keys[RULE_KEYS];
};

struct config_rules; /* the drafts of one configuration, while its files are read */

struct config_rules *config_rules_free(struct config_rules *rules);

/* Starts a file. Call it before the headers of that file. Returns 0 or -ENOMEM. */
int config_rules_file(struct config *config, const char *file);

/*
 * Handles a header [rule NAME], where `name` is the text after "rule". Sets `*ret` to the draft that the
 * following keys belong to, valid until the next header. The keys below a wrong header are checked, but do
 * not become a rule. Returns 0, with or without mistakes, or -ENOMEM.
 */
int config_rules_header(struct config *config, const char *name, unsigned int line,
			struct config_mistakes *mistakes, struct config_rule_draft **ret);

/* Handles a key below the header. Returns as config_rules_header(). */
int config_rules_key(struct config *config, struct config_rule_draft *draft, enum config_rule_key key,
		     const char *text, unsigned int line, struct config_mistakes *mistakes);

/* Returns whether a rule that was read so far has a limit in nanoseconds. */
bool config_rules_have_times(const struct config *config);

/*
 * Call this after the last file: the valid drafts become `config->rules`. Returns as config_rules_header().
 */
int config_rules_finish(struct config *config, struct config_mistakes *mistakes);

/*
 * Checks the rule as a whole. Adds each mistake at the place of its key, or of the header, and sets the
 * values that follow from several keys together. Returns 1 if the rule is valid, 0 if not, or -ENOMEM.
 */
int config_rule_check(struct config_rule_draft *draft, const struct config *config,
		      struct config_mistakes *mistakes);

#endif

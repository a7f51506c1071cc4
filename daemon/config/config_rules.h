// SPDX-License-Identifier: GPL-2.0
/*
 * The sections [rule NAME] of all files: what each key was given last, and where. A rule stands once in a
 * file; later files replace single keys of it. When all are read they become the rules of the configuration,
 * and what makes no sense together is told then. Pure.
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
	CONFIG_GIVEN_NOT,     /* the default */
	CONFIG_GIVEN_DEFAULT, /* the same, by `key =`, which has a place */
	CONFIG_GIVEN_VALUE,
	CONFIG_GIVEN_MISTAKE, /* was told */
};

struct config_rule_draft {
	struct rule rule;
	struct config_place header; /* where it stands last */
	unsigned int file_number;   /* in which it stands last */
	struct {
		enum config_given given;
		struct config_place place;
		unsigned int file_number; /* in which it was given last */
		char *text;
	} keys[RULE_KEYS];
};

struct config_rules; /* of one config, while its files are read */

struct config_rules *config_rules_free(struct config_rules *rules);

/* A file begins; before its headers. 0 or -ENOMEM. */
int config_rules_file(struct config *config, const char *file);

/*
 * A header [rule NAME]; `name`: what follows "rule". `*ret` is what its keys are for, valid until the next
 * header; of a header with a mistake nothing becomes but that they are looked at. Returns 0, with or without
 * mistakes, or -ENOMEM.
 */
int config_rules_header(struct config *config, const char *name, unsigned int line,
			struct config_mistakes *mistakes, struct config_rule_draft **ret);

/* A key that stands below the header. Returns as above. */
int config_rules_key(struct config *config, struct config_rule_draft *draft, enum config_rule_key key,
		     const char *text, unsigned int line, struct config_mistakes *mistakes);

/* All files are read: `config->rules` becomes what is right of them. Returns as above. */
int config_rules_finish(struct config *config, struct config_mistakes *mistakes);

/*
 * What is wrong with the rule as a whole is added, each at the key's place, or the header's; what follows
 * from the keys together is set in it. Returns 1: nothing is wrong; 0; -ENOMEM.
 */
int config_rule_check(struct config_rule_draft *draft, const struct config *config,
		      struct config_mistakes *mistakes);

#endif

// SPDX-License-Identifier: GPL-2.0
/* A rule of a reply (type R of the interface) in words. Pure functions. */
#ifndef PEBSD_FORMAT_RULE_TEXT_H
#define PEBSD_FORMAT_RULE_TEXT_H

#include "format/line.h"

/*
 * Prints the lines of a rule: when it fires and clears, on which cgroups, how many samples it needs, and its
 * actions.
 */
void rule_text_put(FILE *out, const struct format_style *style, json_object *rule);

/* Prints only the lines that the sentences of an explanation do not cover. */
void rule_text_put_rest(FILE *out, const struct format_style *style, json_object *rule);

/* Returns the rule's patterns, separated by blanks; the caller frees it. NULL: no memory. */
char *rule_text_cgroups(const json_object *rule);

/* Returns the rule of this name in a reply of GetRules, borrowed; NULL: none. */
json_object *rule_text_find(json_object *rules, const char *name);

/*
 * Returns on how many cgroups the rule is unknown, for any reason. `cgroups` is the rule's member of that
 * name and may be NULL.
 */
u64 rule_text_unknown(json_object *cgroups);

#endif

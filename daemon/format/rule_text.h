// SPDX-License-Identifier: GPL-2.0
/* A rule of a reply (R of the interface) in words. Pure. */
#ifndef PEBSD_FORMAT_RULE_TEXT_H
#define PEBSD_FORMAT_RULE_TEXT_H

#include "format/line.h"

/* The lines of a rule: when it fires and clears, on which cgroups, what it takes to decide, what it does. */
void rule_text_put(FILE *out, const struct format_style *style, json_object *rule);

/* What the sentences of an explanation do not say of it. */
void rule_text_put_rest(FILE *out, const struct format_style *style, json_object *rule);

/* "p99 of loads"; the caller frees, NULL: no memory. */
char *rule_text_metric(const json_object *rule);

/* Its patterns with blanks between them; the same. */
char *rule_text_cgroups(const json_object *rule);

/* The rule of a name in a reply of GetRules; NULL: none. Borrowed. */
json_object *rule_text_find(json_object *rules, const char *name);

/* On how many cgroups it is unknown, for whatever reason: of a rule's member `cgroups`, which may be NULL. */
u64 rule_text_unknown(json_object *cgroups);

#endif

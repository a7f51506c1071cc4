// SPDX-License-Identifier: GPL-2.0
/* The journal entry of an alert that fires or resolves. Pure, except for journal_write(). */
#ifndef PEBSD_ACT_JOURNAL_H
#define PEBSD_ACT_JOURNAL_H

#include "act/facts.h"
#include "base/log.h"

/* The message IDs; units/pebsd.catalog explains them. */
#define JOURNAL_FIRING_ID   "fa280d441bfb4f5dbbb500d24d095930"
#define JOURNAL_RESOLVED_ID "043cae9cb35a4dcc81df73c2d4f615a9"

/*
 * The syslog priority of a severity: emergency, alert, critical, error, warning, notice, info, and the usual
 * short forms. Any other word is a warning.
 */
int journal_priority(const char *severity);

/*
 * Makes the line for people, without control characters, for a transition to firing or resolved. Returns 0 or
 * -ENOMEM; the caller frees `*ret`.
 */
int journal_message(const struct transition *transition, char **ret);

/*
 * Makes one field for each fact, and MESSAGE_ID unless it is a dry run. The list ends with {NULL, NULL}. The
 * values are owned by `facts`.
 */
void journal_fields(const struct transition *transition, const struct facts *facts,
		    struct log_field ret[FACTS_MAX + 2]);

/* Writes the entry to the log. 0 or -ENOMEM. */
int journal_write(const struct transition *transition, const struct facts *facts);

#endif

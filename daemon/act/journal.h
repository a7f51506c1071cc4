// SPDX-License-Identifier: GPL-2.0
/* What the journal is told of an alert that fires or resolves. Pure but for journal_write(). */
#ifndef PEBSD_ACT_JOURNAL_H
#define PEBSD_ACT_JOURNAL_H

#include "act/facts.h"
#include "base/log.h"

/* Explained in units/pebsd.catalog. */
#define JOURNAL_FIRING_ID   "fa280d441bfb4f5dbbb500d24d095930"
#define JOURNAL_RESOLVED_ID "043cae9cb35a4dcc81df73c2d4f615a9"

/* What `severity` stands for, as syslog has it: emergency, alert, critical, error, warning, notice, info, and
 * their short forms; any other word is a warning. */
int journal_priority(const char *severity);

/* The line for people, without control characters. A transition to firing or resolved. 0 or -ENOMEM; the
 * caller frees. */
int journal_message(const struct transition *transition, char **ret);

/* One field for each fact and MESSAGE_ID, none of a dry run; ends with {NULL, NULL}. The values are `facts`'.
 */
void journal_fields(const struct transition *transition, const struct facts *facts,
		    struct log_field ret[FACTS_MAX + 2]);

/* All of it to the log. 0 or -ENOMEM. */
int journal_write(const struct transition *transition, const struct facts *facts);

#endif

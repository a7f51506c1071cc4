// SPDX-License-Identifier: GPL-2.0
/*
 * An alert as names and values, for the journal's fields and for the file that pebsd-alert@ID.service has as
 * its environment. Pure.
 */
#ifndef PEBSD_ACT_FACTS_H
#define PEBSD_ACT_FACTS_H

#include "base/cleanup.h"
#include "policy/alert.h"

#define FACTS_MAX 32

struct fact {
	const char *name; /* PEBSD_..., a constant */
	char *value;      /* any bytes: of a cgroup its very name */
};

struct facts {
	size_t n;
	struct fact list[FACTS_MAX];
};

/*
 * PEBSD_ALERT, _RULE, _CGROUP, _EVENT, _SEVERITY, _STATE, _METRIC, _UNIT, _VALUE, _LOW, _HIGH, _SIDE ("above"
 * or "below"), _THRESHOLD, _CLEAR, _CONFIDENCE, _SAMPLES, _BASE_SAMPLES (of a ratio), _WINDOW and _FOR
 * (seconds), _SINCE (when the breach was first proven), _FIRED, _RESOLVED, _END, _DRY_RUN ("1"). Numbers are
 * decimal, times as text_time() has them; what is not known is not there. 0 or -ENOMEM; free with
 * facts_clear().
 */
int facts_make(const struct transition *transition, struct facts *ret);
void facts_clear(struct facts *facts);

/* NULL: not there. */
const char *facts_get(const struct facts *facts, const char *name);

/*
 * As systemd.exec(5) reads an EnvironmentFile=, each value in double quotes. It takes UTF-8 alone: what is
 * none stands there in its shown form (base/utf8.h), as in JSON. 0 or -ENOMEM; the caller frees.
 */
int facts_format(const struct facts *facts, char **ret);

/* At most six decimals and no zeros at their end, never an exponent; for a finite number. */
#define FACTS_NUMBER_MAX 330
void facts_number(double value, char ret[FACTS_NUMBER_MAX]);

#endif

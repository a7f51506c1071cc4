// SPDX-License-Identifier: GPL-2.0
/*
 * The facts of an alert as names and values. They become the fields of its journal entry, and the environment
 * file of pebsd-alert@ID.service. Pure.
 */
#ifndef PEBSD_ACT_FACTS_H
#define PEBSD_ACT_FACTS_H

#include "base/cleanup.h"
#include "policy/alert.h"

#define FACTS_MAX 32

struct fact {
	const char *name; /* PEBSD_..., a constant */
	char *value;      /* may hold any byte, as names of cgroups do */
};

struct facts {
	size_t n;
	struct fact list[FACTS_MAX];
};

/*
 * Makes the facts PEBSD_ALERT, _RULE, _CGROUP, _EVENT, _SEVERITY, _STATE, _METRIC, _UNIT, _VALUE, _LOW,
 * _HIGH, _SIDE ("above" or "below"), _THRESHOLD, _CLEAR, _CONFIDENCE, _SAMPLES, _WORTH (in independent
 * samples), _BASE_SAMPLES (of a ratio), _WINDOW and _FOR (seconds), _SINCE (when the breach was first
 * proven), _FIRED, _RESOLVED, _END, and _DRY_RUN ("1"). Numbers are decimal, and times are as text_time()
 * writes them. Facts that are not known are left out. Returns 0 or -ENOMEM. The caller frees them with
 * facts_clear().
 */
int facts_make(const struct transition *transition, struct facts *ret);
void facts_clear(struct facts *facts);

/* The value of a fact; NULL: there is none. */
const char *facts_get(const struct facts *facts, const char *name);

/*
 * Formats the facts as an EnvironmentFile= of systemd.exec(5), each value in double quotes. systemd accepts
 * only UTF-8, so other bytes are written in their shown form (base/utf8.h), as in JSON. Returns 0 or -ENOMEM;
 * the caller frees.
 */
int facts_format(const struct facts *facts, char **ret);

/* Writes a finite number with at most six decimals, without zeros at the end and without an exponent. */
#define FACTS_NUMBER_MAX 330
void facts_number(double value, char ret[FACTS_NUMBER_MAX]);

#endif

// SPDX-License-Identifier: GPL-2.0
/* Builds the list of sentences that explain() returns (policy/explain.h). */
#ifndef PEBSD_EXPLANATION_H
#define PEBSD_EXPLANATION_H

#include "policy/alert.h"

#define EXPLANATION_SENTENCES_MAX 20

struct explanation {
	const struct alert *alert;
	const struct rule *rule;
	char metric[METRIC_TEXT_MAX];
	char **list; /* ends with NULL */
	size_t n;
	int error; /* 0 or -ENOMEM; after an error no sentence is added */
};

void __attribute__((format(printf, 2, 3))) say(struct explanation *explanation, const char *format, ...);

/* Adds sentences about the counts or bounds that would change the verdict. */
void say_change(struct explanation *explanation);

/* "latencies" or "samples": the values that the metric is computed from. */
const char *explanation_samples(const struct metric *metric);

/*
 * Returns whether the verdict means "proven to be above its limit": the threshold if `breach`, else `clear`.
 */
bool explanation_proven_above(const struct rule *rule, bool breach);

/*
 * Return whether there is a lower or an upper bound worth showing. A lower bound of 0 is not, because no
 * value is less. Nor is an upper bound that is the end of the overflow bucket.
 */
bool explanation_has_low(const struct alert *alert);
bool explanation_has_high(const struct alert *alert);

#endif

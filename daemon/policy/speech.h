// SPDX-License-Identifier: GPL-2.0
/* Sentences about an alert, as they are put together (policy/explain.h). */
#ifndef PEBSD_SPEECH_H
#define PEBSD_SPEECH_H

#include "policy/alert.h"

#define SPEECH_SENTENCES_MAX 16

struct speech {
	const struct alert *alert;
	const struct rule *rule;
	char metric[METRIC_TEXT_MAX];
	char **list; /* ends with NULL */
	size_t n;
	int error; /* 0 or -ENOMEM: from then on nothing is said */
};

void __attribute__((format(printf, 2, 3))) say(struct speech *speech, const char *format, ...);

/* What the next collection would have to bring for another verdict. */
void say_change(struct speech *speech);

/* "latencies", "samples": what the metric is taken from. */
const char *speech_samples(const struct metric *metric);

/* Whether the rule proves its threshold (`breach`), or `clear`, passed from above. */
bool speech_proven_above(const struct rule *rule, bool breach);

/* Whether there is such a bound. One that is 0 where nothing can be less is none, nor is the end of the
 * overflow bucket. */
bool speech_has_low(const struct alert *alert);
bool speech_has_high(const struct alert *alert);

#endif

// SPDX-License-Identifier: GPL-2.0
#include "rule/metric.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/number.h"
#include "pebsd/histogram.h"

#define RATIO "ratio:"

static const struct {
	const char *word;
	struct metric metric;
} plain[] = {
	{"p50", {.kind = METRIC_QUANTILE, .quantile = 0.5}},
	{"p90", {.kind = METRIC_QUANTILE, .quantile = 0.9}},
	{"p95", {.kind = METRIC_QUANTILE, .quantile = 0.95}},
	{"p99", {.kind = METRIC_QUANTILE, .quantile = 0.99}},
	{"p999", {.kind = METRIC_QUANTILE, .quantile = 0.999}},
	{"mean", {.kind = METRIC_MEAN}},
	{"rate", {.kind = METRIC_RATE}},
	{"share:hitm", {.kind = METRIC_SHARE, .share = METRIC_SHARE_HITM}},
	{"share:tlb_walk", {.kind = METRIC_SHARE, .share = METRIC_SHARE_TLB_WALK}},
	{"share:locked", {.kind = METRIC_SHARE, .share = METRIC_SHARE_LOCKED}},
	{"wait", {.kind = METRIC_WAIT}},
	{"cores-lost", {.kind = METRIC_CORES_LOST}},
	{"cpi", {.kind = METRIC_CPI}},
	{"traffic", {.kind = METRIC_TRAFFIC}},
};

#define WORD_(name, word) "share:" word,

static const char *const source_words[] = {SOURCES(WORD_)};

const char *const metric_words[] = {
	"p50",
	"p90",
	"p95",
	"p99",
	"p999",
	"mean",
	"rate",
	"wait",
	"cores-lost",
	"cpi",
	"traffic",
	"share:hitm",
	"share:tlb_walk",
	"share:locked",
	SOURCES(WORD_) NULL,
};

#undef WORD_

int metric_parse(const char *text, struct metric *ret)
{
	const bool ratio = strncmp(text, RATIO, strlen(RATIO)) == 0;
	const char *word = ratio ? text + strlen(RATIO) : text;

	for (size_t i = 0; i < ARRAY_SIZE(plain); i++)
		if (strcmp(word, plain[i].word) == 0) {
			*ret = plain[i].metric;
			ret->ratio = ratio;
			return 0;
		}
	for (u32 i = 0; i < ARRAY_SIZE(source_words); i++)
		if (strcmp(word, source_words[i]) == 0) {
			*ret = (struct metric){.kind = METRIC_SHARE, .ratio = ratio, .source = i};
			return 0;
		}
	return -EINVAL;
}

static bool same_but_ratio(const struct metric *a, const struct metric *b)
{
	if (a->kind != b->kind)
		return false;
	if (a->kind == METRIC_QUANTILE)
		return a->quantile == b->quantile;
	return a->kind != METRIC_SHARE || a->share == b->share;
}

void metric_format(const struct metric *metric, char ret[METRIC_TEXT_MAX])
{
	const char *word = "";

	if (metric->kind == METRIC_SHARE && metric->share == METRIC_SHARE_SOURCE)
		word = source_words[metric->source];
	else
		for (size_t i = 0; i < ARRAY_SIZE(plain); i++)
			if (same_but_ratio(metric, &plain[i].metric))
				word = plain[i].word;
	(void)snprintf(ret, METRIC_TEXT_MAX, "%s%s", metric->ratio ? RATIO : "", word);
}

size_t metric_events(const struct metric *metric, enum event_role ret[METRIC_EVENTS_MAX])
{
	switch (metric->kind) {
	case METRIC_WAIT:
	case METRIC_CORES_LOST:
		ret[0] = EVENT_STALLS;
		ret[1] = EVENT_CYCLES;
		return 2;
	case METRIC_CPI:
		ret[0] = EVENT_CYCLES;
		ret[1] = EVENT_INSTRUCTIONS;
		return 2;
	case METRIC_TRAFFIC:
		ret[0] = EVENT_MISSES;
		return 1;
	case METRIC_QUANTILE:
	case METRIC_MEAN:
	case METRIC_RATE:
	case METRIC_SHARE:
		break;
	}
	return 0;
}

bool metric_has_second(const struct metric *metric)
{
	enum event_role roles[METRIC_EVENTS_MAX];

	return metric_events(metric, roles) > 1;
}

enum event_role metric_second_role(enum event_role first)
{
	for (enum metric_kind kind = 0; kind <= METRIC_TRAFFIC; kind++) {
		enum event_role roles[METRIC_EVENTS_MAX];

		if (metric_events(&(struct metric){.kind = kind}, roles) > 1 && roles[0] == first)
			return roles[1];
	}
	return EVENT_ROLES;
}

bool metric_is_quotient(const struct metric *metric)
{
	return metric->kind == METRIC_WAIT || metric->kind == METRIC_CPI;
}

bool metric_is_rate(const struct metric *metric)
{
	return metric->kind == METRIC_RATE || metric->kind == METRIC_CORES_LOST ||
	       metric->kind == METRIC_TRAFFIC;
}

bool metric_uses_weights(const struct metric *metric)
{
	return metric_is_rate(metric) || metric_is_quotient(metric);
}

bool metric_is_part(const struct metric *metric)
{
	return !metric->ratio && (metric->kind == METRIC_SHARE || metric->kind == METRIC_WAIT);
}

bool metric_needs_frequency(const struct metric *metric)
{
	return metric->kind == METRIC_CORES_LOST && !metric->ratio;
}

/* The range of a threshold. `min` and `max` are part of it if `inclusive`. */
struct range {
	double min;
	double max;
	bool inclusive;
	const char *form;
};

static struct range range_of(const struct metric *metric)
{
	if (metric->ratio)
		return (struct range){0.01, 100, true, "a multiple of the baseline from 0.01 to 100"};
	switch (metric->kind) {
	case METRIC_QUANTILE:
		break;
	case METRIC_MEAN:
		/* rule_mean_cap() is 8 times the threshold, and the histogram ends at 8 times 131072. */
		return (struct range){2, 131072, true, "2 to 131072 cycles"};
	case METRIC_RATE:
		return (struct range){0, 1e15, false, "more than 0 weighted samples a second"};
	case METRIC_SHARE:
	case METRIC_WAIT:
		return (struct range){0, 1, false, "a share between 0 and 1, such as 0.3 or 30%"};
	case METRIC_CORES_LOST:
		return (struct range){0, 1e6, false, "a number of cores above 0, such as 3.2"};
	case METRIC_CPI:
		return (struct range){0, 1e6, false, "cycles per instruction above 0, such as 2.5"};
	case METRIC_TRAFFIC:
		return (struct range){0, 1e15, false,
				      "bytes a second above 0, such as 500MB/s, 5GB/s or 5000000000"};
	}
	return (struct range){1, 1 << HISTOGRAM_MAX_LOG2, true, "1 to 1048576 cycles"};
}

int metric_parse_threshold(const struct metric *metric, const char *text, double *ret)
{
	const struct range range = range_of(metric);
	const bool has_unit = metric->kind == METRIC_TRAFFIC && !metric->ratio;
	double value = 0;

	if ((has_unit ? byte_rate_parse : decimal_parse)(text, &value) < 0 ||
	    (strchr(text, '%') && !metric_is_part(metric)))
		return -EINVAL;
	if (range.inclusive ? value < range.min || value > range.max
			    : value <= range.min || value >= range.max)
		return -EINVAL;
	*ret = value;
	return 0;
}

const char *metric_threshold_form(const struct metric *metric)
{
	return range_of(metric).form;
}

const char *metric_unit(const struct metric *metric)
{
	if (metric->ratio)
		return "times its baseline";
	switch (metric->kind) {
	case METRIC_QUANTILE:
	case METRIC_MEAN:
		break;
	case METRIC_RATE:
		return "weighted samples a second";
	case METRIC_SHARE:
		return "of the samples";
	case METRIC_WAIT:
		return "of its cycles";
	case METRIC_CORES_LOST:
		return "cores";
	case METRIC_CPI:
		return "cycles per instruction";
	case METRIC_TRAFFIC:
		return "bytes a second";
	}
	return "cycles";
}

const char *metric_unit_word(const struct metric *metric)
{
	if (metric->ratio)
		return "ratio";
	switch (metric->kind) {
	case METRIC_QUANTILE:
	case METRIC_MEAN:
		break;
	case METRIC_RATE:
		return "per_second";
	case METRIC_SHARE:
	case METRIC_WAIT:
		return "share";
	case METRIC_CORES_LOST:
		return "cores";
	case METRIC_CPI:
		return "cycles_per_instruction";
	case METRIC_TRAFFIC:
		return "bytes_per_second";
	}
	return "cycles";
}

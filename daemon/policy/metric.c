// SPDX-License-Identifier: GPL-2.0
#include "policy/metric.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"

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
		return "share";
	}
	return "cycles";
}

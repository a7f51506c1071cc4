// SPDX-License-Identifier: GPL-2.0
#include "rule/rule.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "cgroup/pattern.h"
#include "pebsd/histogram.h"
#include "window/bounds.h"

/*
 * The limits of a ratio are not in cycles, so its cap is a constant. It is above the latency that any single
 * access to memory, however remote, is expected to have.
 */
#define RATIO_MEAN_CAP 2048

/*
 * Returns the bucket whose upper edge is nearest to `cycles`; if two are equally near, the lower one. It is
 * never the overflow bucket, at whose edge nothing can be decided.
 */
static u32 nearest_edge(double cycles)
{
	u32 bucket;

	if (!(cycles > 1))
		return 0;
	if (cycles >= histogram_fine_upper(FINE_OVERFLOW - 1))
		return FINE_OVERFLOW - 1;
	bucket = histogram_fine_index((u32)ceil(cycles));
	if (bucket > 0 && cycles - histogram_fine_lower(bucket) <= histogram_fine_upper(bucket) - cycles)
		bucket--;
	return bucket;
}

/*
 * Moves `clear` by the same factor as the threshold. For a part of a whole with `below` it moves 1 - `clear` in
 * proportion to 1 - threshold instead, so that `clear` stays below 1.
 */
static double clear_limit(const struct rule *rule, double threshold)
{
	if (threshold == rule->threshold)
		return rule->clear;
	if (metric_is_part(&rule->metric) && rule->below)
		return 1 - (1 - rule->clear) * ((1 - threshold) / (1 - rule->threshold));
	return rule->clear * (threshold / rule->threshold);
}

struct limits rule_limits(const struct rule *rule, double threshold)
{
	struct limits limits = {.threshold = threshold, .clear = clear_limit(rule, threshold)};

	if (rule->metric.kind != METRIC_QUANTILE || rule->metric.ratio)
		return limits;
	limits.threshold_bucket = nearest_edge(limits.threshold);
	limits.clear_bucket = nearest_edge(limits.clear);
	limits.threshold = histogram_fine_upper(limits.threshold_bucket);
	limits.clear = histogram_fine_upper(limits.clear_bucket);
	return limits;
}

bool rule_matches(const struct rule *rule, const char *path)
{
	return cgroup_patterns_match(rule->patterns, rule->n_patterns, path);
}

u32 rule_mean_cap(const struct rule *rule, const struct limits *limits)
{
	if (rule->metric.ratio)
		return RATIO_MEAN_CAP;
	return histogram_fine_upper(nearest_edge(8 * fmax(limits->threshold, limits->clear)));
}

/* Rounds up to a number of samples, at least 1. UINT64_MAX: not finite, or more than can ever come. */
static u64 whole(double samples)
{
	/* Rounding errors in the last digits must not add a sample. */
	samples = ceil(samples - 1e-9 * samples);
	if (!(samples < 0x1p53))
		return UINT64_MAX;
	return samples > 1 ? (u64)samples : 1;
}

/*
 * The number of samples that prove a share of at least `share` if all of them are counted. If none of them is
 * counted, they prove a share of at most 1 - `share`.
 */
static double all_prove(double share, double confidence)
{
	if (share >= 1)
		return INFINITY;
	return share > 0 ? log1p(-confidence) / log(share) : 1;
}

static u64 share_needs(bool below, const struct limits *limits, double confidence)
{
	const double upper = below ? limits->clear : limits->threshold;
	const double lower = below ? limits->threshold : limits->clear;

	return whole(fmax(all_prove(upper, confidence), all_prove(1 - lower, confidence)));
}

/* The number of samples with which the band around the distribution is as narrow as `epsilon` on each side. */
static u64 band_needs(double epsilon, double confidence)
{
	return epsilon > 0 ? whole(-log1p(-confidence) / (2 * epsilon * epsilon)) : UINT64_MAX;
}

/*
 * The number of samples with which the upper bound of a mean can be as low as the rule's limit. The bound is
 * lowest if all latencies are one cycle. Even then, a share of the samples counts as `cap` cycles. This share is
 * the `epsilon` of band_needs().
 */
static u64 mean_needs(const struct limits *limits, bool below, u32 cap, double confidence)
{
	const double good = below ? limits->threshold : limits->clear;

	return band_needs((good - 1) / (cap - 1.0), confidence);
}

/*
 * The number of samples with which the quotient of two windows can pass both limits. The windows differ most
 * if all samples of one are counted, and none of the other. The quotient of shares is then a / (1 - a), where
 * `a` is the share that all_prove() is about. For means within the cap it is (1 - epsilon) / epsilon. In the
 * other direction it is the inverse.
 */
static u64 ratio_needs(const struct rule *rule, const struct limits *limits, double confidence)
{
	const double upper = rule->below ? limits->clear : limits->threshold;
	const double lower = rule->below ? limits->threshold : limits->clear;
	const double apart = fmax(upper, 1 / lower);

	if (rule->metric.kind == METRIC_SHARE)
		return whole(all_prove(apart / (1 + apart), confidence));
	return band_needs(1 / (1 + apart), confidence);
}

u64 rule_needs_samples(const struct rule *rule)
{
	const struct limits limits = rule_limits(rule, rule->threshold);
	const double confidence = rule->metric.ratio ? (1 + rule->confidence) / 2 : rule->confidence;

	switch (rule->metric.kind) {
	case METRIC_QUANTILE:
		return bounds_quantile_needs(rule->metric.quantile, confidence);
	case METRIC_MEAN:
		return rule->metric.ratio
			       ? ratio_needs(rule, &limits, confidence)
			       : mean_needs(&limits, rule->below, rule_mean_cap(rule, &limits), confidence);
	case METRIC_SHARE:
		return rule->metric.ratio ? ratio_needs(rule, &limits, confidence)
					  : share_needs(rule->below, &limits, confidence);
	case METRIC_WAIT:
	case METRIC_CPI:
		/* The quotient needs a sample of the second event. One may be enough: periods differ. */
		return 1;
	case METRIC_RATE:
	case METRIC_CORES_LOST:
	case METRIC_TRAFFIC:
		break;
	}
	return 0;
}

static bool same_metric(const struct metric *a, const struct metric *b)
{
	if (a->kind != b->kind || a->ratio != b->ratio)
		return false;
	if (a->kind == METRIC_QUANTILE)
		return a->quantile == b->quantile;
	if (a->kind != METRIC_SHARE)
		return true;
	return a->share == b->share && (a->share != METRIC_SHARE_SOURCE || a->source == b->source);
}

bool rule_same_patterns(const struct rule *a, const struct rule *b)
{
	if (a->n_patterns != b->n_patterns)
		return false;
	for (size_t i = 0; i < a->n_patterns; i++)
		if (strcmp(a->patterns[i], b->patterns[i]) != 0)
			return false;
	return true;
}

bool rule_same_decision(const struct rule *a, const struct rule *b)
{
	return rule_same_patterns(a, b) && a->event == b->event && same_metric(&a->metric, &b->metric) &&
	       a->below == b->below && a->threshold == b->threshold && a->clear == b->clear &&
	       a->window_ns == b->window_ns && a->for_ns == b->for_ns &&
	       (!a->metric.ratio || a->baseline_ns == b->baseline_ns) && a->min_samples == b->min_samples &&
	       a->confidence == b->confidence && a->subtree == b->subtree && a->trust_owner == b->trust_owner;
}

/* The 64-bit FNV-1a hash. */
static void hash_bytes(u64 *hash, const void *bytes, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		*hash ^= ((const unsigned char *)bytes)[i];
		*hash *= 0x100000001b3ULL;
	}
}

/* Hashes the lowest byte first, so that the hash is the same on any machine. */
static void hash_number(u64 *hash, u64 number)
{
	unsigned char bytes[sizeof(number)];

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (unsigned char)(number >> 8 * i);
	hash_bytes(hash, bytes, sizeof(bytes));
}

static void hash_real(u64 *hash, double real)
{
	u64 bits;

	memcpy(&bits, &real, sizeof(bits));
	hash_number(hash, bits);
}

u64 rule_fingerprint(const struct rule *rule)
{
	char metric[METRIC_TEXT_MAX];
	u64 hash = 0xcbf29ce484222325ULL;

	hash_number(&hash, rule->n_patterns);
	for (size_t i = 0; i < rule->n_patterns; i++)
		hash_bytes(&hash, rule->patterns[i], strlen(rule->patterns[i]) + 1);
	hash_bytes(&hash, event_role_name(rule->event), strlen(event_role_name(rule->event)) + 1);
	metric_format(&rule->metric, metric);
	hash_bytes(&hash, metric, strlen(metric) + 1);
	hash_number(&hash, rule->below);
	hash_real(&hash, rule->threshold);
	hash_real(&hash, rule->clear);
	hash_number(&hash, rule->window_ns);
	hash_number(&hash, rule->for_ns);
	hash_number(&hash, rule->metric.ratio ? rule->baseline_ns : 0);
	hash_number(&hash, rule->min_samples);
	hash_real(&hash, rule->confidence);
	hash_number(&hash, rule->subtree);
	hash_number(&hash, rule->trust_owner);
	return hash;
}

static int copy_patterns(const struct rule *rule, struct rule *copy)
{
	copy->patterns = calloc(rule->n_patterns + 1, sizeof(*copy->patterns));
	if (!copy->patterns)
		return -ENOMEM;
	for (copy->n_patterns = 0; copy->n_patterns < rule->n_patterns; copy->n_patterns++) {
		copy->patterns[copy->n_patterns] = strdup(rule->patterns[copy->n_patterns]);
		if (!copy->patterns[copy->n_patterns])
			return -ENOMEM;
	}
	return 0;
}

int rules_copy(const struct rule *rules, size_t n, struct rule **ret)
{
	struct rule *copies = calloc(n + 1, sizeof(*copies));

	if (!copies)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		copies[i] = rules[i];
		copies[i].patterns = NULL;
		copies[i].n_patterns = 0;
		if (copy_patterns(&rules[i], &copies[i]) < 0) {
			(void)rules_free(copies, i + 1);
			return -ENOMEM;
		}
	}
	*ret = copies;
	return 0;
}

struct rule *rules_free(struct rule *rules, size_t n)
{
	for (size_t i = 0; rules && i < n; i++) {
		for (size_t j = 0; j < rules[i].n_patterns; j++)
			free(rules[i].patterns[j]);
		free(rules[i].patterns);
	}
	free(rules);
	return NULL;
}

// SPDX-License-Identifier: GPL-2.0
#include "export/control/order.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "export/json/data_source_names.h"
#include "snapshot/snapshot_counters.h"
#include "snapshot/snapshot_rank.h"
#include "snapshot/snapshot_waits.h"
#include "window/quantile.h"

int order_parse(const char *text, struct order *ret)
{
	static const struct {
		const char *word;
		struct order order;
	} words[] = {{"latency", {.by = ORDER_LATENCY}},
		     {"samples", {.by = ORDER_SAMPLES}},
		     {"mean", {.by = ORDER_MEAN}},
		     {"p99", {.by = ORDER_P99}},
		     {"share:hitm", {.by = ORDER_SHARE_HITM}},
		     {"wait", {.by = ORDER_WAIT, .figure = WAIT_SHARE}},
		     {"cores-lost", {.by = ORDER_WAIT, .figure = WAIT_CORES_LOST}},
		     {"cpi", {.by = ORDER_WAIT, .figure = WAIT_CPI}},
		     {"misses", {.by = ORDER_WAIT, .figure = WAIT_MISSES}},
		     {"traffic", {.by = ORDER_WAIT, .figure = WAIT_TRAFFIC}}};
	static const char share[] = "share:";

	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		if (strcmp(text, words[i].word) == 0) {
			*ret = words[i].order;
			return 0;
		}
	}
	if (strncmp(text, share, strlen(share)) != 0)
		return -EINVAL;
	for (size_t i = 0; i < SOURCE_COUNT; i++) {
		if (strcmp(text + strlen(share), source_names[i]) == 0) {
			*ret = (struct order){.by = ORDER_SHARE_SOURCE, .source = (enum source)i};
			return 0;
		}
	}
	return -EINVAL;
}

/* Gets the value of one event by which cgroups are ordered. Returns false if the event has none. */
static bool figure_of(const struct counters *counters, bool has_source, const struct order *order,
		      double *ret)
{
	u64 samples = counters_samples(counters);
	u64 latencies = counters_latency_samples(counters);
	struct quantile quantile;

	switch (order->by) {
	case ORDER_MEAN:
		if (!latencies)
			return false;
		*ret = (double)counters_latency_sum(counters) / (double)latencies;
		return true;
	case ORDER_P99:
		if (quantile_of(counters->latency, 0.99, &quantile) < 0)
			return false;
		*ret = quantile.value;
		return true;
	case ORDER_SHARE_SOURCE:
		if (!samples || !has_source)
			return false;
		*ret = (double)counters->samples[order->source] / (double)samples;
		return true;
	case ORDER_SHARE_HITM:
		if (samples <= counters->snoop[SNOOP_NA])
			return false;
		*ret = (double)counters->snoop[SNOOP_HITM] / (double)samples;
		return true;
	case ORDER_LATENCY:
	case ORDER_SAMPLES:
	case ORDER_WAIT:
		break;
	}
	return false;
}

struct ranked {
	double value; /* -1: none; real values are never negative */
	size_t index;
};

/* Returns the kind of samples that are compared, as samples of instructions and of loads cannot be added. */
static enum snapshot_samples first_kind(const struct snapshot *snapshot)
{
	enum snapshot_samples first = SAMPLES_KINDS;

	for (size_t i = 0; i < snapshot->n_events; i++) {
		enum snapshot_samples kind = snapshot_samples_of(&snapshot->events[i].event);

		first = kind < first ? kind : first;
	}
	return first;
}

double order_value(const struct snapshot *snapshot, const struct snapshot_counters *read, const void *order)
{
	const struct order *by = order;
	enum snapshot_samples kind;
	double value = 0;

	if (by->by == ORDER_WAIT)
		return snapshot_wait(snapshot, read->of, by->figure, &value) ? value : -1;
	kind = first_kind(snapshot);
	for (size_t i = 0; i < snapshot->n_events; i++) {
		const struct event *event = &snapshot->events[i].event;

		if (!read->of[i] || (by->one_event && i != by->event))
			continue;
		if (by->by == ORDER_SAMPLES && (by->one_event || snapshot_samples_of(event) == kind))
			value += (double)counters_samples(read->of[i]);
		else if (figure_of(read->of[i], event->settings.has_source, by, &value))
			return value;
	}
	return by->by == ORDER_SAMPLES ? value : -1;
}

static int compare(const void *a, const void *b)
{
	const struct ranked *left = a, *right = b;

	if (left->value != right->value)
		return left->value > right->value ? -1 : 1;
	return left->index < right->index ? -1 : left->index > right->index;
}

int order_values(const double *values, size_t n, size_t **ret)
{
	_cleanup_free_ size_t *indexes = calloc(n ? n : 1, sizeof(*indexes));
	_cleanup_free_ struct ranked *ranked = calloc(n ? n : 1, sizeof(*ranked));

	if (!indexes || !ranked)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		ranked[i] = (struct ranked){.value = values ? values[i] : 0, .index = i};
	qsort(ranked, n, sizeof(*ranked), compare);
	for (size_t i = 0; i < n; i++)
		indexes[i] = ranked[i].index;
	*ret = TAKE_PTR(indexes);
	return 0;
}

int order_cgroups(const struct snapshot *snapshot, const struct order *order, size_t **ret)
{
	size_t n = snapshot->n_cgroups;
	_cleanup_free_ double *values = calloc(n ? n : 1, sizeof(*values));
	_cleanup_free_ struct snapshot_counters *counters = malloc(sizeof(*counters));

	if (!values || !counters)
		return -ENOMEM;
	/* The snapshot already has the order by latency. Equal values keep this order. */
	for (size_t i = 0; i < n && order->by != ORDER_LATENCY; i++) {
		snapshot_counters_of(snapshot, &snapshot->cgroups[i], counters);
		values[i] = order_value(snapshot, counters, order);
	}
	return order_values(values, n, ret);
}

// SPDX-License-Identifier: GPL-2.0
#include "export/prometheus/alerts_shown.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bool fires(const struct alert *alert)
{
	return alert->decision.state == ALERT_FIRING;
}

static bool is_shown(const struct alert *alert)
{
	return !alert->rule->dry_run && (fires(alert) || alert->decision.state == ALERT_PENDING);
}

static int compare_series(const struct alert *a, const struct alert *b)
{
	int order = strcmp(a->rule->name, b->rule->name);

	return order ? order : strcmp(a->cgroup, b->cgroup);
}

/* Sorts by series, and within one series the firing alert first. */
static int by_series(const void *first, const void *second)
{
	const struct alert *a = *(const struct alert *const *)first;
	const struct alert *b = *(const struct alert *const *)second;
	int order = compare_series(a, b);

	return order ? order : (int)fires(b) - (int)fires(a);
}

/* The order of preference if there are too many alerts: firing before pending, then the oldest. */
static int by_urgency(const void *first, const void *second)
{
	const struct alert *a = *(const struct alert *const *)first;
	const struct alert *b = *(const struct alert *const *)second;

	if (fires(a) != fires(b))
		return fires(a) ? -1 : 1;
	if (a->since.tv_sec != b->since.tv_sec)
		return a->since.tv_sec < b->since.tv_sec ? -1 : 1;
	if (a->since.tv_nsec != b->since.tv_nsec)
		return a->since.tv_nsec < b->since.tv_nsec ? -1 : 1;
	return compare_series(a, b);
}

/* Keeps the first alert of each series. Returns the number kept. */
static size_t merge(const struct alert **sorted, size_t n)
{
	size_t kept = 0;

	for (size_t i = 0; i < n; i++)
		if (!kept || compare_series(sorted[kept - 1], sorted[i]) != 0)
			sorted[kept++] = sorted[i];
	return kept;
}

int alerts_shown(const struct alert *alerts, size_t n, size_t max, struct alerts_shown *ret)
{
	const struct alert **shown = calloc(n + 1, sizeof(*shown));

	*ret = (struct alerts_shown){.list = shown};
	if (!shown)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		if (is_shown(&alerts[i]))
			shown[ret->n++] = &alerts[i];
	qsort(shown, ret->n, sizeof(*shown), by_series);
	ret->n = merge(shown, ret->n);
	if (ret->n > max) {
		ret->unlisted = ret->n - max;
		qsort(shown, ret->n, sizeof(*shown), by_urgency);
		qsort(shown, max, sizeof(*shown), by_series);
		ret->n = max;
	}
	return 0;
}

void alerts_shown_done(struct alerts_shown *shown)
{
	free(shown->list);
	*shown = (struct alerts_shown){0};
}

// SPDX-License-Identifier: GPL-2.0
/* The memory nodes of a report. */
#include <errno.h>
#include <string.h>

#include "profile/report_internal.h"

#define PAGE 4096U

struct item {
	int node;
	u64 page;
	u32 access;
};

static int by_node_and_page(const void *a, const void *b)
{
	const struct item *one = a, *other = b;

	if (one->node != other->node)
		return (one->node > other->node) - (one->node < other->node);
	return compare_numbers(one->page, other->page);
}

static int by_start(const void *a, const void *b)
{
	return compare_numbers(((const struct node_range *)a)->start, ((const struct node_range *)b)->start);
}

static int node_of_memory(const struct node_range *ranges, size_t n, u64 physical)
{
	size_t low = 0, high = n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (ranges[middle].start <= physical)
			low = middle + 1;
		else
			high = middle;
	}
	return low && physical < ranges[low - 1].end ? ranges[low - 1].node : -1;
}

static size_t write_nodes(const struct profile *profile, const struct report_settings *settings,
			  const struct item *items, size_t n, struct report_node *ret)
{
	size_t n_nodes = 0;

	for (size_t i = 0; i < n; i++) {
		const struct access *access = access_of(profile, items[i].access);
		int of_cpu = access->cpu < settings->n_cpus ? settings->node_of_cpu[access->cpu] : -1;
		struct report_node *node;

		if (i == 0 || items[i].node != items[i - 1].node)
			ret[n_nodes++] = (struct report_node){.node = items[i].node};
		node = &ret[n_nodes - 1];
		node->samples += access->samples;
		node->latency += access->latency;
		node->remote += of_cpu >= 0 && node->node >= 0 && of_cpu != node->node ? access->samples : 0;
		node->pages += i == 0 || by_node_and_page(&items[i - 1], &items[i]) != 0;
	}
	return n_nodes;
}

int report_nodes(const struct profile *profile, const struct report_settings *settings,
		 struct profile_report *ret)
{
	size_t n = profile->accesses.n, n_items = 0, n_nodes = 0;
	_cleanup_free_ struct item *items = NULL;
	_cleanup_free_ struct node_range *ranges = NULL;

	if (settings->n_ranges == 0 || n == 0)
		return 0;
	items = calloc(n, sizeof(*items));
	ranges = calloc(settings->n_ranges, sizeof(*ranges));
	if (!items || !ranges)
		return -ENOMEM;
	memcpy(ranges, settings->ranges, settings->n_ranges * sizeof(*ranges));
	qsort(ranges, settings->n_ranges, sizeof(*ranges), by_start);
	for (u32 i = 0; i < n; i++) {
		u64 physical = access_of(profile, i)->physical;

		if (physical && access_of(profile, i)->samples)
			items[n_items++] = (struct item){node_of_memory(ranges, settings->n_ranges, physical),
							 physical / PAGE, i};
	}
	qsort(items, n_items, sizeof(*items), by_node_and_page);
	for (size_t i = 0; i < n_items; i++)
		n_nodes += i == 0 || items[i].node != items[i - 1].node;
	ret->nodes = calloc(n_nodes ? n_nodes : 1, sizeof(*ret->nodes));
	if (!ret->nodes)
		return -ENOMEM;
	ret->n_nodes = write_nodes(profile, settings, items, n_items, ret->nodes);
	return 0;
}

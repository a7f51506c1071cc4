// SPDX-License-Identifier: GPL-2.0
#include "machine/memory_nodes.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/directory.h"
#include "base/number.h"
#include "base/text_file.h"
#include "machine/cpu_list.h"

#define NODES_MAX 1024 /* CONFIG_NODES_SHIFT is at most 10 */

struct ranges {
	struct node_range *list;
	size_t n, room;
};

/* Parses names such as "node12", which is 12 for the prefix "node". */
static bool numbered(const char *name, const char *prefix, u64 max, u64 *ret)
{
	size_t length = strlen(prefix);

	return strncmp(name, prefix, length) == 0 && number_parse(name + length, 0, max, ret) == 0;
}

static int block_size(const char *sysfs_root, u64 *ret)
{
	_cleanup_free_ char *path = NULL;
	_cleanup_free_ char *text = NULL;
	char *end;
	int r;

	if (asprintf(&path, "%s/devices/system/memory/block_size_bytes", sysfs_root) < 0)
		return -ENOMEM;
	r = text_file_read(path, &text);
	if (r < 0)
		return r;
	errno = 0;
	*ret = strtoull(text, &end, 16);
	return errno || end == text || *end || *ret == 0 ? -EINVAL : 0;
}

static int add(struct ranges *ranges, const struct node_range *range)
{
	if (ranges->n == ranges->room) {
		size_t room = ranges->room ? 2 * ranges->room : 64;
		struct node_range *list = reallocarray(ranges->list, room, sizeof(*list));

		if (!list)
			return -ENOMEM;
		ranges->list = list;
		ranges->room = room;
	}
	ranges->list[ranges->n++] = *range;
	return 0;
}

static int add_blocks(const char *folder, int node, u64 size, struct ranges *ranges)
{
	_cleanup_closedir_ DIR *directory = opendir(folder);
	const struct dirent *entry;

	if (!directory)
		return errno == ENOENT ? 0 : -errno;
	while ((entry = readdir(directory))) {
		u64 block;
		int r;

		if (!numbered(entry->d_name, "memory", (u64)-1 / size - 1, &block))
			continue;
		r = add(ranges, &(struct node_range){block * size, (block + 1) * size, node});
		if (r < 0)
			return r;
	}
	return 0;
}

static int by_address(const void *a, const void *b)
{
	const struct node_range *one = a, *other = b;

	if (one->start != other->start)
		return one->start < other->start ? -1 : 1;
	return (one->node > other->node) - (one->node < other->node);
}

/* All blocks have the same size, so ranges with the same start are the same block. */
static void join(struct ranges *ranges)
{
	size_t kept = 0;

	for (size_t i = 0, next; i < ranges->n; i = next) {
		struct node_range *range = &ranges->list[i];

		for (next = i + 1; next < ranges->n && ranges->list[next].start == range->start;)
			next++;
		if (next > i + 1)
			continue;
		if (kept && ranges->list[kept - 1].end == range->start &&
		    ranges->list[kept - 1].node == range->node)
			ranges->list[kept - 1].end = range->end;
		else
			ranges->list[kept++] = *range;
	}
	ranges->n = kept;
}

/* Calls `callback` for each node's folder. Without a folder of nodes, it does nothing and returns 0. */
static int each_node(const char *sysfs_root, int (*callback)(void *userdata, const char *folder, int node),
		     void *userdata)
{
	_cleanup_free_ char *folder = NULL;
	_cleanup_closedir_ DIR *directory = NULL;
	const struct dirent *entry;

	if (asprintf(&folder, "%s/devices/system/node", sysfs_root) < 0)
		return -ENOMEM;
	directory = opendir(folder);
	if (!directory)
		return errno == ENOENT ? 0 : -errno;
	while ((entry = readdir(directory))) {
		_cleanup_free_ char *path = NULL;
		u64 node;
		int r;

		if (!numbered(entry->d_name, "node", NODES_MAX - 1, &node))
			continue;
		if (asprintf(&path, "%s/%s", folder, entry->d_name) < 0)
			return -ENOMEM;
		r = callback(userdata, path, (int)node);
		if (r < 0)
			return r;
	}
	return 0;
}

struct blocks {
	u64 size;
	struct ranges ranges;
};

static int blocks_of(void *userdata, const char *folder, int node)
{
	struct blocks *blocks = userdata;

	return add_blocks(folder, node, blocks->size, &blocks->ranges);
}

int memory_nodes(const char *sysfs_root, struct node_range **ret, size_t *ret_n)
{
	struct blocks blocks = {0};
	int r = block_size(sysfs_root, &blocks.size);

	*ret = NULL;
	*ret_n = 0;
	if (r < 0)
		return r == -ENOENT ? 0 : r;
	r = each_node(sysfs_root, blocks_of, &blocks);
	if (r < 0 || blocks.ranges.n == 0) {
		free(blocks.ranges.list);
		return r;
	}
	qsort(blocks.ranges.list, blocks.ranges.n, sizeof(*blocks.ranges.list), by_address);
	join(&blocks.ranges);
	*ret = blocks.ranges.list;
	*ret_n = blocks.ranges.n;
	return 0;
}

struct cpus {
	int *nodes;
	size_t n;
};

static int cpus_of(void *userdata, const char *folder, int node)
{
	struct cpus *cpus = userdata;
	_cleanup_free_ char *path = NULL;
	struct cpu_list list;
	int r;

	if (asprintf(&path, "%s/cpulist", folder) < 0)
		return -ENOMEM;
	r = cpu_list_read(path, &list);
	if (r < 0)
		return r == -ENOENT ? 0 : r;
	for (int cpu = cpu_list_next(&list, -1); cpu >= 0; cpu = cpu_list_next(&list, cpu)) {
		if ((size_t)cpu >= cpus->n) {
			int *nodes = reallocarray(cpus->nodes, (size_t)cpu + 1, sizeof(*nodes));

			if (!nodes)
				return -ENOMEM;
			cpus->nodes = nodes;
			for (; cpus->n <= (size_t)cpu; cpus->n++)
				nodes[cpus->n] = -1;
		}
		cpus->nodes[cpu] = node;
	}
	return 0;
}

int memory_nodes_of_cpus(const char *sysfs_root, int **ret, size_t *ret_n)
{
	struct cpus cpus = {0};
	int r = each_node(sysfs_root, cpus_of, &cpus);

	if (r < 0) {
		free(cpus.nodes);
		cpus = (struct cpus){0};
	}
	*ret = cpus.nodes;
	*ret_n = cpus.n;
	return r;
}

// SPDX-License-Identifier: GPL-2.0
#include "slot_blocks.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/bpf.h>

static void end(const char *outer)
{
	(void)fprintf(stderr, "cannot make or enter a block of %s: %s\n", outer, strerror(errno));
	exit(EXIT_FAILURE);
}

int slot_block_prepare(struct bpf_object *object, const char *outer, u32 value_bytes, u32 entries)
{
	LIBBPF_OPTS(bpf_map_create_opts, options, .map_flags = BPF_F_MMAPABLE);
	struct bpf_map *map = bpf_object__find_map_by_name(object, outer);
	int fd;

	if (!map)
		return -1;
	fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "block", sizeof(u32), value_bytes, entries, &options);
	if (fd < 0 || bpf_map__set_inner_map_fd(map, fd) < 0)
		end(outer);
	return fd;
}

void slot_block_enter(struct bpf_object *object, const char *outer, int fd)
{
	struct bpf_map *map = bpf_object__find_map_by_name(object, outer);
	const u32 first = 0;

	if (map && fd >= 0 && bpf_map_update_elem(bpf_map__fd(map), &first, &fd, BPF_ANY) < 0)
		end(outer);
}

// SPDX-License-Identifier: GPL-2.0
/*
 * Any text as /proc/PID/maps, and another mapping entered over it. Mappings must be in order and must not
 * overlap.
 */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "symbols/resolver/resolver_maps.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct maps *maps)
{
	for (size_t i = 0; i < maps->n; i++) {
		const struct mapping *mapping = &maps->mappings[i];

		if (mapping->start >= mapping->end || (i && mapping->start < maps->mappings[i - 1].end) ||
		    maps_find(maps, mapping->start) != mapping ||
		    maps_find(maps, mapping->end - 1) != mapping ||
		    (mapping->file && !mapping->file->path[0]))
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_(maps_unrefp) struct maps *maps = NULL, *copy = NULL, *merged = NULL;
	struct symbol_mapping mapping = {.path = "/over"};
	_cleanup_fclose_ FILE *file = NULL;
	int r;

	if (size < 3)
		return 0;
	/* Addresses in a fuzzer's text are usually small. */
	mapping.start = data[0];
	mapping.size = data[1];
	file = fmemopen((void *)(data + 2), size - 2, "r");
	if (!file)
		return 0;
	r = maps_read(file, &maps);
	if (r < 0) {
		if (r != -ESRCH)
			abort();
		return 0;
	}
	check(maps);
	if (maps_copy(maps, &copy) < 0)
		abort();
	r = maps_enter(copy, &mapping);
	if (r < 0 && (r != -EINVAL || mapping.size))
		abort();
	check(copy);
	if (mapping.size && (!maps_find(copy, mapping.start) || !maps_find(copy, mapping.start)->file ||
			     strcmp(maps_find(copy, mapping.start)->file->path, "/over") != 0))
		abort();
	if (maps_merge(copy, maps, &merged) < 0)
		abort();
	check(merged);
	return 0;
}

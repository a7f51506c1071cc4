// SPDX-License-Identifier: GPL-2.0
/*
 * Any text as a JIT's map, added in two pieces. An entry that is found must cover the address, and its name
 * must be printable.
 */
#include <stdint.h>
#include <stdlib.h>

#include "base/utf8.h"
#include "symbols/resolver/resolver_jit.h"
#include "symbols/resolver/resolver_name.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(struct jit_map *map, u64 address)
{
	_cleanup_free_ char *shown = NULL;
	const char *name;
	const struct jit_entry *entry = jit_map_find(map, address, &name);

	if (!entry)
		return;
	if (address < entry->start || address >= entry->end || resolver_name(name, &shown) < 0 ||
	    !utf8_is_valid(shown))
		abort();
	for (const char *byte = shown; *byte; byte++) {
		if ((unsigned char)*byte < 0x20 || *byte == 0x7f)
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data;
	struct jit_map map = {};
	size_t half = size / 2;
	size_t taken, rest;

	if (jit_map_add(&map, text, half, &taken) < 0 || taken > half)
		abort();
	if (jit_map_add(&map, text + taken, size - taken, &rest) < 0 || taken + rest > size)
		abort();
	for (size_t i = 0; i < map.n && i < 64; i++) {
		u64 start = map.entries[i].start, end = map.entries[i].end;

		check(&map, start);
		check(&map, end - 1);
		check(&map, end);
	}
	jit_map_done(&map);
	return 0;
}

// SPDX-License-Identifier: GPL-2.0
#include "collect/held_state.h"

#include <errno.h>
#include <string.h>

#include "collect/held_parts.h"
#include "pebsd/records.h"

/* Words of the longest record: none has come round twice in two places. */
#define WRAPS_MAX (CELLS_MAX * LANES)

_Static_assert(sizeof(struct held) + CELLS_MAX * sizeof(words) + WRAPS_MAX * sizeof(struct wrap) <=
		       HELD_STATE_MAX,
	       "it fits whatever is held");

size_t held_save(const struct held *held, u8 *to)
{
	size_t cells = held_bytes_for(held_count(held->present)), wraps = held->n_wraps * sizeof(struct wrap);

	/* As it lies in memory: it is written for each busy cgroup at each collection. */
	memcpy(to, held, cells);
	memset(to + offsetof(struct held, wraps), 0, sizeof(held->wraps));
	if (wraps > 0)
		memcpy(to + cells, held->wraps, wraps);
	return cells + wraps;
}

static bool present_within(const struct held *held, size_t n_cells)
{
	for (size_t i = 0; i < PRESENT_WORDS; i++) {
		size_t first = 64 * i;
		u64 within = n_cells >= first + 64 ? ~0ULL
			     : n_cells > first     ? (1ULL << (n_cells - first)) - 1
						   : 0;

		if (held->present[i] & ~within)
			return false;
	}
	return true;
}

/* Of what is as long as it says. */
static bool is_sound(const struct held *held, const struct wrap *wraps, bool has_latency, u32 n_stripes)
{
	size_t n_cells = has_latency ? CELLS(struct latency_record) : CELLS(struct plain_record);

	if (held->has_latency != has_latency || held->stripes == 0 || held->stripes >> (n_stripes - 1) > 1 ||
	    !present_within(held, n_cells))
		return false;
	for (u32 i = 0; i < held->n_wraps; i++)
		if (wraps[i].word >= n_cells * LANES)
			return false;
	return true;
}

int held_restore(const u8 *bytes, size_t size, bool has_latency, u32 n_stripes, struct held **ret)
{
	_cleanup_free_ struct held *held = NULL;
	_cleanup_free_ struct wrap *wraps = NULL;
	size_t cells, n_wraps;
	u8 latency;

	/* No bool before it is known to be one. */
	if (size < sizeof(*held))
		return -EBADMSG;
	memcpy(&latency, bytes + offsetof(struct held, has_latency), sizeof(latency));
	if (latency > 1)
		return -EBADMSG;
	held = malloc(size);
	if (!held)
		return -ENOMEM;
	memcpy(held, bytes, size);
	held->wraps = NULL;
	cells = held_bytes_for(held_count(held->present));
	n_wraps = held->n_wraps;
	if (n_wraps > WRAPS_MAX || size != cells + n_wraps * sizeof(*wraps))
		return -EBADMSG;
	if (n_wraps > 0) {
		wraps = malloc(n_wraps * sizeof(*wraps));
		if (!wraps)
			return -ENOMEM;
		memcpy(wraps, bytes + cells, n_wraps * sizeof(*wraps));
	}
	if (!is_sound(held, wraps, has_latency, n_stripes))
		return -EBADMSG;
	held->wraps = TAKE_PTR(wraps);
	*ret = TAKE_PTR(held);
	return 0;
}

// SPDX-License-Identifier: GPL-2.0
#include "history/panes_sum.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "history/shared/history_pane.h"

#define ROOM_MIN 4096

/* In front of the packed counters of each delta. */
struct link {
	panes_chain before;
	u32 size;
};

static int make_room(struct panes_sum *sum, size_t more)
{
	size_t room = sum->room + sum->room / 2;
	u8 *grown;

	if (sum->room - sum->used >= more)
		return 0;
	if (sum->used + more > PANES_SUM_BYTES_MAX)
		return -E2BIG;
	room = room < sum->used + more ? sum->used + more : room;
	room = room < ROOM_MIN ? ROOM_MIN : room;
	grown = realloc(sum->bytes, room);
	if (!grown)
		return -ENOMEM;
	sum->bytes = grown;
	sum->room = room;
	return 0;
}

int panes_sum_add(struct panes_sum *sum, panes_chain *chain, const u8 *packed, u32 size)
{
	const struct link link = {.before = *chain, .size = size};
	int r = make_room(sum, sizeof(link) + size);

	if (r < 0)
		return r;
	memcpy(sum->bytes + sum->used, &link, sizeof(link));
	memcpy(sum->bytes + sum->used + sizeof(link), packed, size);
	*chain = (panes_chain)sum->used + 1;
	sum->used += sizeof(link) + size;
	return 0;
}

static struct link link_of(const struct panes_sum *sum, panes_chain chain)
{
	struct link link;

	memcpy(&link, sum->bytes + chain - 1, sizeof(link));
	return link;
}

const u8 *panes_sum_packed(const struct panes_sum *sum, panes_chain chain, u32 *ret_size)
{
	*ret_size = link_of(sum, chain).size;
	return sum->bytes + chain - 1 + sizeof(struct link);
}

int panes_sum_move(struct panes_sum *from, panes_chain *chain, struct panes_sum *to)
{
	u8 room[PACKED_MAX];
	panes_chain moved = 0;
	const u8 *packed;
	u32 size;
	int r;

	packed = panes_sum_packed(from, *chain, &size);
	if (link_of(from, *chain).before) {
		for (panes_chain at = *chain; at; at = link_of(from, at).before) {
			packed = panes_sum_packed(from, at, &size);
			packed_sum_add(&from->counters, packed, size);
		}
		size = (u32)packed_sum_take(&from->counters, room);
		packed = room;
	}
	r = panes_sum_add(to, &moved, packed, size);
	if (r == 0)
		*chain = moved;
	return r;
}

void panes_sum_done(struct panes_sum *sum)
{
	free(sum->bytes);
	sum->bytes = NULL;
	sum->used = sum->room = 0;
}

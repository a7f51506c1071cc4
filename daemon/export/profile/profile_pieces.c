// SPDX-License-Identifier: GPL-2.0
#include "export/profile/profile_pieces.h"

#include <errno.h>

#define TIMER_ACCURACY_US 1000000

static void forget(struct profile_pieces_file *file)
{
	free(file->data);
	*file = (struct profile_pieces_file){0};
}

void profile_pieces_clear(struct profile_pieces *pieces)
{
	for (size_t i = 0; i < PROFILE_PIECES_KEPT; i++)
		forget(&pieces->files[i]);
	pieces->timer = sd_event_source_disable_unref(pieces->timer);
}

static int on_timer(sd_event_source *source, uint64_t usec, void *userdata)
{
	(void)source;
	(void)usec;
	profile_pieces_clear(userdata);
	return 0;
}

static int restart_timer(struct profile_pieces *pieces, sd_event *event)
{
	if (!event)
		return 0;
	if (!pieces->timer)
		return sd_event_add_time_relative(event, &pieces->timer, CLOCK_MONOTONIC,
						  PROFILE_PIECES_KEPT_S * 1000000ULL, TIMER_ACCURACY_US,
						  on_timer, pieces);
	return sd_event_source_set_time_relative(pieces->timer, PROFILE_PIECES_KEPT_S * 1000000ULL);
}

/* Returns a free entry or the least recently used one. */
static struct profile_pieces_file *oldest(struct profile_pieces *pieces)
{
	struct profile_pieces_file *found = NULL;

	for (size_t i = 0; i < PROFILE_PIECES_KEPT; i++) {
		struct profile_pieces_file *file = &pieces->files[i];

		if (!found || file->turn < found->turn)
			found = file;
	}
	return found;
}

/*
 * Frees an entry for a new file, and drops the least recently used files until the rest has at most
 * PROFILE_PIECES_BYTES. Call this before the new file is made: the new file does not count until the next call.
 */
static struct profile_pieces_file *make_room(struct profile_pieces *pieces)
{
	struct profile_pieces_file *unused = oldest(pieces);

	forget(unused);
	for (size_t i = 0; i < PROFILE_PIECES_KEPT; i++) {
		size_t bytes = 0;
		struct profile_pieces_file *first = NULL;

		for (size_t j = 0; j < PROFILE_PIECES_KEPT; j++) {
			struct profile_pieces_file *file = &pieces->files[j];

			if (!file->zoom)
				continue;
			bytes += file->size;
			if (!first || file->turn < first->turn)
				first = file;
		}
		if (bytes <= PROFILE_PIECES_BYTES)
			break;
		forget(first);
	}
	return unused;
}

static struct profile_pieces_file *find(struct profile_pieces *pieces, u64 zoom, enum zoom_format format,
					bool kernel_addresses)
{
	for (size_t i = 0; i < PROFILE_PIECES_KEPT; i++) {
		struct profile_pieces_file *file = &pieces->files[i];

		if (file->zoom == zoom && file->format == format &&
		    file->kernel_addresses == kernel_addresses)
			return file;
	}
	return NULL;
}

int profile_pieces_get(struct profile_pieces *pieces, sd_event *event, const struct zoom *zoom,
		       enum zoom_format format, bool kernel_addresses, u64 from,
		       const struct profile_pieces_file **ret)
{
	struct profile_pieces_file *file = find(pieces, zoom->id, format, kernel_addresses);
	int r;

	if (!file) {
		struct profile_pieces_file made = {
			.zoom = zoom->id, .format = format, .kernel_addresses = kernel_addresses};

		if (from > 0)
			return -ESTALE;
		file = make_room(pieces);
		r = zoom_output(zoom, format, kernel_addresses, &made.data, &made.size);
		if (r < 0)
			return r;
		*file = made;
	}
	file->turn = ++pieces->turn;
	r = restart_timer(pieces, event);
	if (r < 0) {
		/* Without the timer, nothing would free the file. */
		forget(file);
		return r;
	}
	*ret = file;
	return 0;
}

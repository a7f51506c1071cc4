// SPDX-License-Identifier: GPL-2.0
/*
 * Profile files of finished zooms, cached while clients fetch them in pieces. A finished zoom does not
 * change, so the same request always gets the same bytes. At most PROFILE_PIECES_KEPT files are cached, until
 * PROFILE_PIECES_KEPT_S seconds after a piece was last fetched.
 */
#ifndef PEBSD_PROFILE_PIECES_H
#define PEBSD_PROFILE_PIECES_H

#include <systemd/sd-event.h>

#include "export/profile/zoom_output.h"

#define PROFILE_PIECES_KEPT   4
#define PROFILE_PIECES_KEPT_S 60

/* Limit of cached bytes, not counting the file that was made last. */
#define PROFILE_PIECES_BYTES (64U << 20)

#define PROFILE_PIECE_BYTES (512U << 10)

struct profile_pieces_file {
	u64 zoom; /* 0: unused entry */
	enum zoom_format format;
	bool kernel_addresses;
	u8 *data;
	size_t size;
	u64 turn; /* turn of the last use */
};

/* All zero: empty. */
struct profile_pieces {
	struct profile_pieces_file files[PROFILE_PIECES_KEPT];
	sd_event_source *timer; /* runs while there are files */
	u64 turn;
};

/*
 * Returns the file, and makes it if it is not cached and `from`, the offset of the piece that the client
 * fetches, is 0. If `event` is NULL, the file is kept until another one replaces it. The cache owns `ret`,
 * which is valid until control returns to the event loop. Returns 0; -ESTALE if the file is no longer cached
 * and has to be fetched again from its beginning; or an error of zoom_output() or of the timer.
 */
int profile_pieces_get(struct profile_pieces *pieces, sd_event *event, const struct zoom *zoom,
		       enum zoom_format format, bool kernel_addresses, u64 from,
		       const struct profile_pieces_file **ret);

void profile_pieces_clear(struct profile_pieces *pieces);

#endif

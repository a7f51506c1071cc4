// SPDX-License-Identifier: GPL-2.0
/*
 * Files made of zooms, kept while they are fetched in pieces: a zoom that is over does not change, so whoever
 * asks for the same gets the same bytes. Few, and only for a minute after the last piece was fetched.
 */
#ifndef PEBSD_PROFILE_PIECES_H
#define PEBSD_PROFILE_PIECES_H

#include <systemd/sd-event.h>

#include "export/profile/zoom_output.h"

#define PROFILE_PIECES_KEPT   4
#define PROFILE_PIECES_KEPT_S 60

/* Bytes that are kept, beside the file that was made last. */
#define PROFILE_PIECES_BYTES (64U << 20)

/* Of one piece. */
#define PROFILE_PIECE_BYTES (512U << 10)

struct profile_pieces_file {
	u64 zoom; /* 0: none */
	enum zoom_format format;
	bool kernel_addresses;
	u8 *data;
	size_t size;
	u64 turn; /* of its last use */
};

/* All zero: none. */
struct profile_pieces {
	struct profile_pieces_file files[PROFILE_PIECES_KEPT];
	sd_event_source *timer; /* while there are files */
	u64 turn;
};

/*
 * The file, made where it is not kept and `from` is 0. `event` NULL: it is kept until another takes its
 * place. `ret` is the pieces', until control returns to the event loop. 0; -ESTALE: it is kept no more, and
 * has to be fetched anew from its beginning; as zoom_output().
 */
int profile_pieces_get(struct profile_pieces *pieces, sd_event *event, const struct zoom *zoom,
		       enum zoom_format format, bool kernel_addresses, u64 from,
		       const struct profile_pieces_file **ret);

void profile_pieces_clear(struct profile_pieces *pieces);

#endif

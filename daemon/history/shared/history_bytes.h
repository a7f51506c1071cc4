// SPDX-License-Identifier: GPL-2.0
/* Texts in the blocks of this folder: the length with the NUL, and as many bytes. */
#ifndef PEBSD_HISTORY_BYTES_H
#define PEBSD_HISTORY_BYTES_H

#include "state/state_bytes.h"

static inline void history_put_text(struct state_writer *writer, const char *text)
{
	size_t size = strlen(text) + 1;

	state_put_number(writer, size);
	state_put_bytes(writer, text, size);
}

/*
 * Returns a text of at most `most` bytes, with the NUL, that points into the block. On an error, "" and
 * `bad`.
 */
static inline const char *history_get_text(struct state_reader *reader, u64 most)
{
	u64 size = state_get_number(reader);
	const u8 *text = reader->from;

	if (reader->bad || size == 0 || size > most || size > (size_t)(reader->end - reader->from) ||
	    memchr(text, '\0', size) != text + size - 1) {
		reader->bad = true;
		return "";
	}
	reader->from += size;
	return (const char *)text;
}

#endif

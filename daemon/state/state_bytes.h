// SPDX-License-Identifier: GPL-2.0
/* The bytes of a record. The writer trusts its caller to provide enough space; the reader checks everything. */
#ifndef PEBSD_STATE_BYTES_H
#define PEBSD_STATE_BYTES_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "base/varint.h"

struct state_writer {
	u8 *to;
};

static inline void state_put_number(struct state_writer *writer, u64 value)
{
	writer->to = put_varint(writer->to, value);
}

static inline void state_put_bytes(struct state_writer *writer, const void *bytes, size_t n)
{
	if (n > 0)
		memcpy(writer->to, bytes, n);
	writer->to += n;
}

/*
 * `bad` is set when a read goes past the end or finds an invalid number. From then on every read returns zero.
 */
struct state_reader {
	const u8 *from;
	const u8 *end;
	bool bad;
};

static inline u64 state_get_number(struct state_reader *reader)
{
	u64 value = 0;

	for (unsigned shift = 0; !reader->bad; shift += 7) {
		u8 byte;

		/* Nine bytes hold 63 bits; the tenth holds the last one. */
		if (reader->from == reader->end || shift > 63 || (shift == 63 && *reader->from > 1))
			break;
		byte = *reader->from++;
		value |= (u64)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return value;
	}
	reader->bad = true;
	return 0;
}

static inline void state_get_bytes(struct state_reader *reader, void *ret, size_t n)
{
	if (reader->bad || (size_t)(reader->end - reader->from) < n) {
		reader->bad = true;
		memset(ret, 0, n);
		return;
	}
	if (n > 0)
		memcpy(ret, reader->from, n);
	reader->from += n;
}

/* Returns all remaining bytes. */
static inline const u8 *state_get_rest(struct state_reader *reader, size_t *ret_n)
{
	const u8 *from = reader->from;

	*ret_n = reader->bad ? 0 : (size_t)(reader->end - from);
	reader->from = reader->end;
	return from;
}

/*
 * Copies all remaining bytes as a string, which the caller frees. Returns 0 or -ENOMEM; -EBADMSG: there are none, or
 * more than `max`, or they contain a NUL.
 */
static inline int state_get_string(struct state_reader *reader, size_t max, char **ret)
{
	size_t length;
	const u8 *bytes = state_get_rest(reader, &length);

	if (length == 0 || length > max || memchr(bytes, '\0', length))
		return -EBADMSG;
	*ret = strndup((const char *)bytes, length);
	return *ret ? 0 : -ENOMEM;
}

/* Returns true if the record was read exactly to its end. */
static inline bool state_read_whole(const struct state_reader *reader)
{
	return !reader->bad && reader->from == reader->end;
}

#endif

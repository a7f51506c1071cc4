// SPDX-License-Identifier: GPL-2.0
/*
 * Messages between pebsd and the symbolizer, over a SOCK_SEQPACKET socket. A packet has one or more requests.
 * Each request gets one answer, in order, in a packet of its own. Both sides reject any message that is not
 * exactly in this format, because the symbolizer reads files of others and may be compromised. Pure.
 */
#ifndef PEBSD_SYMBOLS_WIRE_H
#define PEBSD_SYMBOLS_WIRE_H

#include <sys/types.h>

#include "symbols/shared/process_code.h"
#include "symbols/shared/symbol.h"

/*
 * Maximum bytes including the terminating 0. A longer name is cut. A longer path of a source file is left
 * out.
 */
#define SYMBOLS_WIRE_NAME_MAX 1024
#define SYMBOLS_WIRE_PATH_MAX 4096

/* Maximum bytes of a message. */
#define SYMBOLS_WIRE_MAX 98304

/* Maximum bytes of the requests in one packet. A single request is smaller. */
#define SYMBOLS_WIRE_PACKET 16384

/* The number of the first answer, which has no request: the symbolizer is ready. */
#define SYMBOLS_WIRE_READY 0

enum symbols_wire_type {
	SYMBOLS_WIRE_FIND,
	SYMBOLS_WIRE_PROCESS,
	SYMBOLS_WIRE_MAPPED,
	SYMBOLS_WIRE_EXECUTED,
	SYMBOLS_WIRE_FORKED,
	SYMBOLS_WIRE_CODE, /* answered with symbols_wire_write_code() */
	SYMBOLS_WIRE_TYPES
};

struct symbols_wire_request {
	u64 number;
	enum symbols_wire_type type;
	struct symbol_query query;     /* FIND */
	u32 pid;                       /* PROCESS, EXECUTED, FORKED, CODE */
	u32 parent;                    /* FORKED */
	struct symbol_mapping mapping; /* MAPPED; when read, its path points into the packet */
};

/*
 * Returns the bytes written, or 0 if `room` is too small. A mapping's path may be NULL. A path that is too
 * long is cut.
 */
size_t symbols_wire_write_request(const struct symbols_wire_request *request, void *buffer, size_t room);

/* Parses the first request of a packet. Returns its size in bytes, or -EBADMSG. */
ssize_t symbols_wire_read_request(const void *packet, size_t size, struct symbols_wire_request *ret);

struct symbols_wire_answer {
	u64 number;
	u64 resolver_bytes; /* memory of the symbolizer, as it claims */
	bool has_symbol;
	struct symbol symbol; /* points into `block`: do not call symbol_done() */
	void *block;          /* the reader frees it; NULL: no texts and frames */
	size_t bytes;         /* of `block` */
};

/* `symbol` is NULL in the answer to a request other than FIND. Returns the bytes written. */
size_t symbols_wire_write_answer(u64 number, u64 resolver_bytes, const struct symbol *symbol,
				 u8 buffer[static SYMBOLS_WIRE_MAX]);

/*
 * Parses a complete packet. Names come from files of others, so control characters are replaced with '?', and
 * so are all bytes above 0x7f if a name is not valid UTF-8. Returns 0, -EBADMSG or -ENOMEM.
 */
int symbols_wire_read_answer(const void *packet, size_t size, struct symbols_wire_answer *ret);

/*
 * Writes the description of the code that a process executes: the text of process_code.h, less than
 * PROCESS_CODE_MAX bytes. Returns the bytes written.
 */
size_t symbols_wire_write_code(u64 number, const char *text, u8 buffer[static SYMBOLS_WIRE_MAX]);

/*
 * Parses a complete packet. `ret` points into it and has no control characters except newlines. Returns 0 or
 * -EBADMSG.
 */
int symbols_wire_read_code(void *packet, size_t size, u64 number, const char **ret);

#endif

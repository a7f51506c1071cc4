// SPDX-License-Identifier: GPL-2.0
/*
 * Messages between pebsd and its symbolizer, over a socket that keeps their bounds (SOCK_SEQPACKET):
 * requests, several in a packet, and an answer to each in their order, one in a packet. Either side refuses
 * whatever is not exactly of this form: the symbolizer reads files that others made, and may have been taken
 * over. Pure.
 */
#ifndef PEBSD_SYMBOLS_WIRE_H
#define PEBSD_SYMBOLS_WIRE_H

#include <sys/types.h>

#include "symbols/shared/process_code.h"
#include "symbols/shared/symbol.h"

/* Bytes with their 0. A longer name is cut, a longer path of a source file left out. */
#define SYMBOLS_WIRE_NAME_MAX 1024
#define SYMBOLS_WIRE_PATH_MAX 4096

/* No message is larger. */
#define SYMBOLS_WIRE_MAX 98304

/* Bytes of requests in one packet. One request has fewer. */
#define SYMBOLS_WIRE_PACKET 16384

/* The number of the first answer, which belongs to no request: the symbolizer has begun. */
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
	struct symbol_mapping mapping; /* MAPPED; its path is the reader's packet's */
};

/* Returns the bytes written, or 0 where `room` is too small for them. A mapping's path is cut where it is too
 * long, and may be NULL. */
size_t symbols_wire_write_request(const struct symbols_wire_request *request, void *buffer, size_t room);

/* The first request of a packet. Returns its bytes, or -EBADMSG. */
ssize_t symbols_wire_read_request(const void *packet, size_t size, struct symbols_wire_request *ret);

struct symbols_wire_answer {
	u64 number;
	u64 held; /* bytes that the symbolizer holds, as it says */
	bool has_symbol;
	struct symbol symbol; /* its pointers lead into `block`: not for symbol_done() */
	void *block;          /* the reader's, to be freed; NULL: there are none */
	size_t bytes;         /* of `block` */
};

/* `symbol` NULL: the answer to what is no question. Returns the bytes written. */
size_t symbols_wire_write_answer(u64 number, u64 held, const struct symbol *symbol,
				 u8 buffer[static SYMBOLS_WIRE_MAX]);

/*
 * A whole packet. What text in it is no UTF-8 or a control character is shown as '?': names are whatever the
 * maker of a file wrote. Returns 0, -EBADMSG, or -ENOMEM.
 */
int symbols_wire_read_answer(const void *packet, size_t size, struct symbols_wire_answer *ret);

/* What a process executes from: text of process_code.h, less than PROCESS_CODE_MAX bytes. Returns the bytes
 * written. */
size_t symbols_wire_write_code(u64 number, const char *text, u8 buffer[static SYMBOLS_WIRE_MAX]);

/* A whole packet. `ret` is in it, and holds no control character but the ends of lines. 0 or -EBADMSG. */
int symbols_wire_read_code(void *packet, size_t size, u64 number, const char **ret);

#endif

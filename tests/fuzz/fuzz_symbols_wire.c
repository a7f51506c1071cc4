// SPDX-License-Identifier: GPL-2.0
/*
 * Any answer of a hijacked symbolizer, and any request to one: the message is read completely or refused. A
 * message that was read must be consistent, and the same after it is written and read again.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "symbols/shared/symbols_wire.h"

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

#define DEMAND(condition)         \
	do {                      \
		if (!(condition)) \
			abort();  \
	} while (0)

static bool same_text(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

static void check_text(const char *text)
{
	if (!text)
		return;
	DEMAND(utf8_is_valid(text));
	for (; *text; text++)
		DEMAND((unsigned char)*text >= ' ' && *text != 0x7f);
}

static void compare(const struct symbol *a, const struct symbol *b)
{
	DEMAND(a->region == b->region && a->address == b->address && a->start == b->start &&
	       a->end == b->end && a->n_frames == b->n_frames && same_text(a->module, b->module) &&
	       a->build_id_size == b->build_id_size &&
	       memcmp(a->build_id, b->build_id, a->build_id_size) == 0);
	check_text(a->module);
	for (size_t i = 0; i < a->n_frames; i++) {
		DEMAND(same_text(a->frames[i].name, b->frames[i].name) &&
		       same_text(a->frames[i].file, b->frames[i].file) &&
		       a->frames[i].line == b->frames[i].line && a->frames[i].offset == b->frames[i].offset &&
		       a->frames[i].inlined == b->frames[i].inlined);
		check_text(a->frames[i].name);
		check_text(a->frames[i].file);
	}
}

static void read_answer(const unsigned char *data, size_t size)
{
	static u8 buffer[SYMBOLS_WIRE_MAX];
	struct symbols_wire_answer answer, again;

	if (symbols_wire_read_answer(data, size, &answer) < 0)
		return;
	size = symbols_wire_write_answer(answer.number, answer.resolver_bytes,
					 answer.has_symbol ? &answer.symbol : NULL, buffer);
	DEMAND(symbols_wire_read_answer(buffer, size, &again) == 0);
	DEMAND(again.number == answer.number && again.resolver_bytes == answer.resolver_bytes);
	if (answer.has_symbol)
		compare(&answer.symbol, &again.symbol);
	free(answer.block);
	free(again.block);
}

static void read_code(const unsigned char *data, size_t size)
{
	static u8 packet[SYMBOLS_WIRE_MAX], buffer[SYMBOLS_WIRE_MAX];
	const char *text, *again;
	u64 number;

	if (size < sizeof(number) || size > sizeof(packet))
		return;
	memcpy(packet, data, size);
	memcpy(&number, data, sizeof(number));
	if (symbols_wire_read_code(packet, size, number, &text) < 0)
		return;
	for (const char *at = text; *at; at++)
		DEMAND(((unsigned char)*at >= ' ' || *at == '\n') && *at != 0x7f);
	size = symbols_wire_write_code(number, text, buffer);
	DEMAND(symbols_wire_read_code(buffer, size, number, &again) == 0 && strcmp(text, again) == 0);
}

static void read_requests(const unsigned char *data, size_t size)
{
	static u8 buffer[SYMBOLS_WIRE_MAX];
	struct symbols_wire_request request, again;
	ssize_t n;

	for (; (n = symbols_wire_read_request(data, size, &request)) > 0; data += n, size -= (size_t)n) {
		size_t written = symbols_wire_write_request(&request, buffer, sizeof(buffer));

		DEMAND((size_t)n <= size);
		DEMAND(written > 0);
		DEMAND(symbols_wire_read_request(buffer, written, &again) == (ssize_t)written);
		DEMAND(again.type == request.type && again.number == request.number &&
		       again.pid == request.pid && again.query.address == request.query.address &&
		       again.mapping.start == request.mapping.start &&
		       same_text(again.mapping.path, request.mapping.path));
	}
	DEMAND(n == -EBADMSG);
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
	if (size == 0)
		return 0;
	if (data[0] & 2)
		read_code(data + 1, size - 1);
	else if (data[0] & 1)
		read_answer(data + 1, size - 1);
	else
		read_requests(data + 1, size - 1);
	return 0;
}

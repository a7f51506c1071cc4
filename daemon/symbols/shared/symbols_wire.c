// SPDX-License-Identifier: GPL-2.0
#include "symbols/shared/symbols_wire.h"

#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/utf8.h"

struct head {
	u32 size; /* of the message, including this head */
	u32 type;
	u64 number;
};

struct find {
	struct head head;
	u64 address;
	u32 pid;
	u32 kind;
};

struct process {
	struct head head;
	u32 pid;
	u32 parent;
};

/* The terminated path follows. */
struct mapping {
	struct head head;
	u64 start, size, offset, inode;
	u32 pid, major, minor, protection;
	u8 build_id[SYMBOL_BUILD_ID_MAX];
	u8 build_id_size;
	u8 has_path;
	u8 zero[2];
};

/* Frames follow, and then terminated strings: the module, and each frame's name and file. */
struct answer {
	u64 number;
	u64 resolver_bytes;
	u64 address, start, end;
	u32 region;
	u8 has_symbol;
	u8 deleted;
	u8 has_module;
	u8 n_frames;
	u8 build_id[SYMBOL_BUILD_ID_MAX];
	u8 build_id_size;
	u8 zero[3];
};

struct frame {
	u64 offset;
	u32 line;
	u8 inlined;
	u8 has_file;
	u8 zero[2];
};

_Static_assert(sizeof(struct answer) + SYMBOLS_WIRE_PATH_MAX +
			       SYMBOL_FRAMES_MAX * (sizeof(struct frame) + SYMBOLS_WIRE_NAME_MAX +
						    SYMBOLS_WIRE_PATH_MAX) <=
		       SYMBOLS_WIRE_MAX,
	       "the largest answer fits");

static size_t head_size(enum symbols_wire_type type)
{
	switch (type) {
	case SYMBOLS_WIRE_FIND:
		return sizeof(struct find);
	case SYMBOLS_WIRE_MAPPED:
		return sizeof(struct mapping);
	case SYMBOLS_WIRE_PROCESS:
	case SYMBOLS_WIRE_EXECUTED:
	case SYMBOLS_WIRE_FORKED:
	case SYMBOLS_WIRE_CODE:
		return sizeof(struct process);
	case SYMBOLS_WIRE_TYPES:
		break;
	}
	return 0;
}

static size_t write_mapping(const struct symbols_wire_request *request, u8 *buffer, size_t room)
{
	const struct symbol_mapping *from = &request->mapping;
	size_t length = from->path ? strnlen(from->path, SYMBOLS_WIRE_PATH_MAX - 1) : 0;
	size_t size = sizeof(struct mapping) + length + 1;
	struct mapping to = {
		.head = {(u32)size, SYMBOLS_WIRE_MAPPED, request->number},
		.start = from->start,
		.size = from->size,
		.offset = from->offset,
		.inode = from->inode,
		.pid = from->pid,
		.major = from->major,
		.minor = from->minor,
		.protection = from->protection,
		.build_id_size = from->build_id_size <= SYMBOL_BUILD_ID_MAX ? from->build_id_size : 0,
		.has_path = from->path != NULL,
	};

	if (size > room)
		return 0;
	memcpy(to.build_id, from->build_id, to.build_id_size);
	memcpy(buffer, &to, sizeof(to));
	if (length > 0)
		memcpy(buffer + sizeof(to), from->path, length);
	buffer[size - 1] = '\0';
	return size;
}

size_t symbols_wire_write_request(const struct symbols_wire_request *request, void *buffer, size_t room)
{
	struct head head = {(u32)head_size(request->type), request->type, request->number};

	if (request->type == SYMBOLS_WIRE_MAPPED)
		return write_mapping(request, buffer, room);
	if (head.size == 0 || head.size > room)
		return 0;
	if (request->type == SYMBOLS_WIRE_FIND)
		memcpy(buffer,
		       &(struct find){head, request->query.address, request->query.pid, request->query.kind},
		       head.size);
	else
		memcpy(buffer, &(struct process){head, request->pid, request->parent}, head.size);
	return head.size;
}

static int read_mapping(const u8 *packet, size_t size, struct symbol_mapping *ret)
{
	const char *path = (const char *)packet + sizeof(struct mapping);
	size_t room = size - sizeof(struct mapping);
	struct mapping from;

	memcpy(&from, packet, sizeof(from));
	if (room == 0 || room > SYMBOLS_WIRE_PATH_MAX || strnlen(path, room) != room - 1 ||
	    from.build_id_size > SYMBOL_BUILD_ID_MAX || from.has_path > 1)
		return -EBADMSG;
	*ret = (struct symbol_mapping){
		.pid = from.pid,
		.start = from.start,
		.size = from.size,
		.offset = from.offset,
		.major = from.major,
		.minor = from.minor,
		.inode = from.inode,
		.protection = from.protection,
		.path = from.has_path ? path : NULL,
		.build_id_size = from.build_id_size,
	};
	memcpy(ret->build_id, from.build_id, from.build_id_size);
	return 0;
}

ssize_t symbols_wire_read_request(const void *packet, size_t size, struct symbols_wire_request *ret)
{
	struct head head;
	struct process process;
	struct find find;

	if (size < sizeof(head))
		return -EBADMSG;
	memcpy(&head, packet, sizeof(head));
	if (head.type >= SYMBOLS_WIRE_TYPES || head.size > size || head.size < head_size(head.type) ||
	    (head.type != SYMBOLS_WIRE_MAPPED && head.size != head_size(head.type)) ||
	    head.number == SYMBOLS_WIRE_READY)
		return -EBADMSG;
	*ret = (struct symbols_wire_request){.number = head.number, .type = head.type};
	if (head.type == SYMBOLS_WIRE_MAPPED) {
		if (read_mapping(packet, head.size, &ret->mapping) < 0)
			return -EBADMSG;
	} else if (head.type == SYMBOLS_WIRE_FIND) {
		memcpy(&find, packet, sizeof(find));
		if (find.kind > SYMBOL_DATA)
			return -EBADMSG;
		ret->query = (struct symbol_query){find.address, find.pid, find.kind};
	} else {
		memcpy(&process, packet, sizeof(process));
		ret->pid = process.pid;
		ret->parent = process.parent;
	}
	return (ssize_t)head.size;
}

/*
 * Writes at most `max` bytes including the terminating 0. Never cuts a character in two, so valid UTF-8 stays
 * valid.
 */
static u8 *write_text(const char *text, size_t max, u8 *to)
{
	size_t length = strnlen(text, max);

	if (length == max) {
		length--;
		while (length > 0 && ((u8)text[length] & 0xc0) == 0x80)
			length--;
	}
	memcpy(to, text, length);
	to[length] = '\0';
	return to + length + 1;
}

static bool fits(const char *path)
{
	return path && strnlen(path, SYMBOLS_WIRE_PATH_MAX) < SYMBOLS_WIRE_PATH_MAX;
}

size_t symbols_wire_write_answer(u64 number, u64 resolver_bytes, const struct symbol *symbol,
				 u8 buffer[static SYMBOLS_WIRE_MAX])
{
	struct answer answer = {
		.number = number, .resolver_bytes = resolver_bytes, .has_symbol = symbol != NULL};
	u8 *at = buffer + sizeof(answer);
	size_t n = 0;

	if (symbol) {
		n = symbol->n_frames < SYMBOL_FRAMES_MAX ? symbol->n_frames : SYMBOL_FRAMES_MAX;
		answer.address = symbol->address;
		answer.start = symbol->start;
		answer.end = symbol->end;
		answer.region = symbol->region;
		answer.deleted = symbol->deleted;
		answer.has_module = symbol->module != NULL;
		answer.n_frames = (u8)n;
		if (symbol->build_id_size <= SYMBOL_BUILD_ID_MAX)
			answer.build_id_size = symbol->build_id_size;
		memcpy(answer.build_id, symbol->build_id, answer.build_id_size);
	}
	memcpy(buffer, &answer, sizeof(answer));
	for (size_t i = 0; i < n; i++) {
		const struct symbol_frame *from = &symbol->frames[i];
		struct frame to = {.offset = from->offset,
				   .line = from->line,
				   .inlined = from->inlined,
				   .has_file = fits(from->file)};

		memcpy(at, &to, sizeof(to));
		at += sizeof(to);
	}
	if (answer.has_module)
		at = write_text(symbol->module, SYMBOLS_WIRE_PATH_MAX, at);
	for (size_t i = 0; i < n; i++) {
		at = write_text(symbol->frames[i].name, SYMBOLS_WIRE_NAME_MAX, at);
		if (fits(symbol->frames[i].file))
			at = write_text(symbol->frames[i].file, SYMBOLS_WIRE_PATH_MAX, at);
	}
	return (size_t)(at - buffer);
}

static void make_visible(char *text)
{
	bool utf8 = utf8_is_valid(text);

	for (; *text; text++)
		if ((u8)*text < ' ' || *text == 0x7f || (!utf8 && (u8)*text >= 0x80))
			*text = '?';
}

/*
 * Takes the string at `*at`. Returns NULL if it is not terminated before `end`, or if it has `max` bytes or
 * more.
 */
static char *take_text(char **at, const char *end, size_t max)
{
	char *text = *at;
	size_t room = (size_t)(end - text);
	size_t length;

	if (room == 0)
		return NULL;
	length = strnlen(text, room);
	if (length == room || length >= max)
		return NULL;
	*at += length + 1;
	make_visible(text);
	return text;
}

static bool form_is_right(const struct answer *answer, size_t size)
{
	if (answer->has_symbol > 1 || answer->deleted > 1 || answer->has_module > 1 ||
	    answer->n_frames > SYMBOL_FRAMES_MAX || answer->build_id_size > SYMBOL_BUILD_ID_MAX ||
	    answer->region >= SYMBOL_REGIONS || answer->end < answer->start)
		return false;
	if (!answer->has_symbol && (answer->has_module || answer->n_frames))
		return false;
	/* Such an answer may be asked for again, so it takes no memory beyond its entry. */
	if (answer->region == SYMBOL_UNKNOWN && (answer->has_module || answer->n_frames))
		return false;
	return size >= sizeof(*answer) + answer->n_frames * sizeof(struct frame);
}

/* Takes the module's name and the frames. The caller has checked the packet's size. */
static int take_names(const struct answer *from, const u8 *wire_frames, char *at, const char *end,
		      struct symbol *symbol)
{
	if (from->has_module && !(symbol->module = take_text(&at, end, SYMBOLS_WIRE_PATH_MAX)))
		return -EBADMSG;
	for (size_t i = 0; symbol->frames && i < from->n_frames; i++) {
		struct symbol_frame *to = &symbol->frames[i];
		struct frame frame;

		memcpy(&frame, wire_frames + i * sizeof(frame), sizeof(frame));
		*to = (struct symbol_frame){
			.line = frame.line, .offset = frame.offset, .inlined = frame.inlined};
		if (frame.inlined > 1 || frame.has_file > 1 ||
		    !(to->name = take_text(&at, end, SYMBOLS_WIRE_NAME_MAX)) ||
		    (frame.has_file && !(to->file = take_text(&at, end, SYMBOLS_WIRE_PATH_MAX))))
			return -EBADMSG;
	}
	return at == end ? 0 : -EBADMSG;
}

int symbols_wire_read_answer(const void *packet, size_t size, struct symbols_wire_answer *ret)
{
	const u8 *wire_frames = (const u8 *)packet + sizeof(struct answer);
	_cleanup_free_ void *block = NULL;
	size_t frames_size, texts_size;
	struct symbol symbol;
	struct answer from;
	char *texts = NULL;

	if (size < sizeof(from) || size > SYMBOLS_WIRE_MAX)
		return -EBADMSG;
	memcpy(&from, packet, sizeof(from));
	if (!form_is_right(&from, size))
		return -EBADMSG;
	frames_size = from.n_frames * sizeof(struct symbol_frame);
	texts_size = size - sizeof(from) - from.n_frames * sizeof(struct frame);
	if (frames_size + texts_size > 0) {
		block = malloc(frames_size + texts_size);
		if (!block)
			return -ENOMEM;
		texts = (char *)block + frames_size;
		memcpy(texts, (const u8 *)packet + size - texts_size, texts_size);
	}
	symbol = (struct symbol){
		.region = from.region,
		.deleted = from.deleted,
		.address = from.address,
		.start = from.start,
		.end = from.end,
		.build_id_size = from.build_id_size,
		.n_frames = from.n_frames,
		.frames = from.n_frames ? block : NULL,
	};
	memcpy(symbol.build_id, from.build_id, from.build_id_size);
	if (take_names(&from, wire_frames, texts, texts ? texts + texts_size : NULL, &symbol) < 0)
		return -EBADMSG;
	*ret = (struct symbols_wire_answer){
		.number = from.number,
		.resolver_bytes = from.resolver_bytes,
		.has_symbol = from.has_symbol,
		.symbol = symbol,
		.bytes = frames_size + texts_size,
		.block = TAKE_PTR(block),
	};
	return 0;
}

_Static_assert(sizeof(u64) + PROCESS_CODE_MAX <= SYMBOLS_WIRE_MAX, "the largest text fits");

size_t symbols_wire_write_code(u64 number, const char *text, u8 buffer[static SYMBOLS_WIRE_MAX])
{
	memcpy(buffer, &number, sizeof(number));
	return (size_t)(write_text(text, PROCESS_CODE_MAX, buffer + sizeof(number)) - buffer);
}

int symbols_wire_read_code(void *packet, size_t size, u64 number, const char **ret)
{
	char *text = (char *)packet + sizeof(number);
	size_t room = size - sizeof(number);
	u64 its;

	if (size <= sizeof(number) || room > PROCESS_CODE_MAX || strnlen(text, room) != room - 1)
		return -EBADMSG;
	memcpy(&its, packet, sizeof(its));
	if (its != number)
		return -EBADMSG;
	for (char *at = text; *at; at++)
		if (((u8)*at < ' ' && *at != '\n') || *at == 0x7f)
			*at = '?';
	*ret = text;
	return 0;
}

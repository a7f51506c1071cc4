// SPDX-License-Identifier: GPL-2.0
/* The messages between pebsd and its symbolizer, and the messages that are refused. */
#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "base/cleanup.h"
#include "symbols/shared/symbols_wire.h"

static u8 buffer[SYMBOLS_WIRE_MAX];
static struct symbols_wire_answer answer;

static void end(void)
{
	free(answer.block);
	answer = (struct symbols_wire_answer){0};
}

TestSuite(symbols_wire, .fini = end);

static char *repeated(char c, size_t n)
{
	char *text = malloc(n + 1);

	cr_assert(text);
	memset(text, c, n);
	text[n] = '\0';
	return text;
}

/* Writes the symbol as an answer and reads it back. */
static const struct symbol *pass(const struct symbol *symbol)
{
	size_t size = symbols_wire_write_answer(7, 4096, symbol, buffer);

	end();
	cr_assert_eq(symbols_wire_read_answer(buffer, size, &answer), 0);
	cr_expect_eq(answer.number, 7);
	cr_expect_eq(answer.resolver_bytes, 4096);
	cr_expect_eq(answer.has_symbol, symbol != NULL);
	return &answer.symbol;
}

Test(symbols_wire, requests_arrive_unchanged)
{
	const struct symbols_wire_request sent[] = {
		{.number = 1,
		 .type = SYMBOLS_WIRE_FIND,
		 .query = {.address = 0xffffffff81000000, .pid = 12, .kind = SYMBOL_DATA}},
		{.number = 2, .type = SYMBOLS_WIRE_PROCESS, .pid = 34},
		{.number = 3,
		 .type = SYMBOLS_WIRE_MAPPED,
		 .mapping = {.pid = 56,
			     .start = 0x1000,
			     .size = 0x2000,
			     .offset = 0x3000,
			     .major = 8,
			     .minor = 1,
			     .inode = 99,
			     .protection = PROT_READ | PROT_EXEC,
			     .path = "/bin/x",
			     .build_id = {1, 2, 3},
			     .build_id_size = 3}},
		{.number = 4, .type = SYMBOLS_WIRE_EXECUTED, .pid = 78},
		{.number = 5, .type = SYMBOLS_WIRE_FORKED, .pid = 90, .parent = 78},
		{.number = 6, .type = SYMBOLS_WIRE_MAPPED, .mapping = {.pid = 56}},
	};
	struct symbols_wire_request got;
	size_t size = 0, at = 0;

	for (size_t i = 0; i < ARRAY_SIZE(sent); i++) {
		size_t n = symbols_wire_write_request(&sent[i], buffer + size, sizeof(buffer) - size);

		cr_assert_gt(n, 0);
		size += n;
	}
	for (size_t i = 0; i < ARRAY_SIZE(sent); i++) {
		ssize_t n = symbols_wire_read_request(buffer + at, size - at, &got);

		cr_assert_gt(n, 0, "request %zu", i);
		at += (size_t)n;
		cr_expect_eq(got.number, sent[i].number);
		cr_expect_eq(got.type, sent[i].type);
		cr_expect_eq(got.pid, sent[i].pid);
		cr_expect_eq(got.parent, sent[i].parent);
		cr_expect_eq(got.query.address, sent[i].query.address);
		cr_expect_eq(got.query.pid, sent[i].query.pid);
		cr_expect_eq(got.query.kind, sent[i].query.kind);
		cr_expect_eq(got.mapping.inode, sent[i].mapping.inode);
		cr_expect_eq(got.mapping.protection, sent[i].mapping.protection);
		cr_expect_eq(got.mapping.offset, sent[i].mapping.offset);
		cr_expect_eq(got.mapping.build_id_size, sent[i].mapping.build_id_size);
		cr_expect_arr_eq(got.mapping.build_id, sent[i].mapping.build_id, SYMBOL_BUILD_ID_MAX);
		if (sent[i].mapping.path)
			cr_expect_str_eq(got.mapping.path, sent[i].mapping.path);
		else
			cr_expect_null(got.mapping.path);
	}
	cr_expect_eq(at, size);
}

Test(symbols_wire, truncated_or_oversized_requests_are_refused)
{
	struct symbols_wire_request request = {
		.number = 1, .type = SYMBOLS_WIRE_MAPPED, .mapping = {.path = "/bin/x"}};
	size_t size = symbols_wire_write_request(&request, buffer, sizeof(buffer));
	struct symbols_wire_request got;

	for (size_t cut = 0; cut < size; cut++)
		cr_expect_eq(symbols_wire_read_request(buffer, cut, &got), -EBADMSG, "cut to %zu", cut);
	buffer[size - 3] = '\0';
	cr_expect_eq(symbols_wire_read_request(buffer, size, &got), -EBADMSG, "a 0 in the path");
	request = (struct symbols_wire_request){.number = 1, .query.kind = 2};
	size = symbols_wire_write_request(&request, buffer, sizeof(buffer));
	cr_expect_eq(symbols_wire_read_request(buffer, size, &got), -EBADMSG, "a kind that there is not");
	request = (struct symbols_wire_request){.number = SYMBOLS_WIRE_READY};
	size = symbols_wire_write_request(&request, buffer, sizeof(buffer));
	cr_expect_eq(symbols_wire_read_request(buffer, size, &got), -EBADMSG, "no number");
	cr_expect_eq(symbols_wire_write_request(&request, buffer, size - 1), 0, "no room");
}

Test(symbols_wire, a_symbol_arrives_unchanged)
{
	struct symbol_frame frames[] = {
		{.name = (char *)"inner", .file = (char *)"a.c", .line = 3, .inlined = true},
		{.name = (char *)"outer", .offset = 0x1f},
	};
	const struct symbol symbol = {.region = SYMBOL_FILE,
				      .deleted = true,
				      .module = (char *)"/usr/bin/x",
				      .address = 0x1234,
				      .start = 0x550000000000,
				      .end = 0x550000001000,
				      .build_id = {0xde, 0xad},
				      .build_id_size = 2,
				      .n_frames = 2,
				      .frames = frames};
	const struct symbol *got = pass(&symbol);

	cr_expect_geq(answer.bytes, 2 * sizeof(struct symbol_frame) + strlen("/usr/bin/xinneroutera.c"));
	cr_expect_eq(got->region, SYMBOL_FILE);
	cr_expect(got->deleted);
	cr_expect_str_eq(got->module, "/usr/bin/x");
	cr_expect_eq(got->address, 0x1234);
	cr_expect_eq(got->start, symbol.start);
	cr_expect_eq(got->end, symbol.end);
	cr_expect_eq(got->build_id_size, 2);
	cr_expect_eq(got->build_id[1], 0xad);
	cr_assert_eq(got->n_frames, 2);
	cr_expect_str_eq(got->frames[0].name, "inner");
	cr_expect_str_eq(got->frames[0].file, "a.c");
	cr_expect_eq(got->frames[0].line, 3);
	cr_expect(got->frames[0].inlined);
	cr_expect_str_eq(got->frames[1].name, "outer");
	cr_expect_null(got->frames[1].file);
	cr_expect_eq(got->frames[1].offset, 0x1f);
	cr_expect_not(got->frames[1].inlined);
}

Test(symbols_wire, an_empty_answer_arrives_unchanged)
{
	const struct symbol *got = pass(&(struct symbol){0});

	cr_expect_eq(got->region, SYMBOL_UNKNOWN);
	cr_expect_null(got->module);
	cr_expect_null(got->frames);
	cr_expect_null(answer.block);
	(void)pass(NULL);
}

Test(symbols_wire, the_largest_names_fit_and_larger_ones_are_cut)
{
	_cleanup_free_ char *name = repeated('n', 100000);
	_cleanup_free_ char *path = repeated('p', SYMBOLS_WIRE_PATH_MAX - 1);
	_cleanup_free_ char *longer = repeated('q', SYMBOLS_WIRE_PATH_MAX);
	struct symbol_frame frames[SYMBOL_FRAMES_MAX + 1];
	struct symbol symbol = {
		.region = SYMBOL_FILE, .module = longer, .n_frames = ARRAY_SIZE(frames), .frames = frames};
	const struct symbol *got;

	for (size_t i = 0; i < ARRAY_SIZE(frames); i++)
		frames[i] = (struct symbol_frame){.name = name, .file = i == 1 ? longer : path};
	got = pass(&symbol);
	cr_expect_eq(strlen(got->module), SYMBOLS_WIRE_PATH_MAX - 1);
	cr_assert_eq(got->n_frames, SYMBOL_FRAMES_MAX);
	cr_expect_eq(strlen(got->frames[0].name), SYMBOLS_WIRE_NAME_MAX - 1);
	cr_expect_str_eq(got->frames[0].file, path);
	cr_expect_null(got->frames[1].file, "another file's path is not sent");

	/* A character is not cut in two. */
	memcpy(name + SYMBOLS_WIRE_NAME_MAX - 2, "\xc3\xa4", 2);
	got = pass(&symbol);
	cr_expect_eq(strlen(got->frames[0].name), SYMBOLS_WIRE_NAME_MAX - 2);
	cr_expect_eq(strspn(got->frames[0].name, "n"), SYMBOLS_WIRE_NAME_MAX - 2);
}

Test(symbols_wire, names_are_escaped_for_terminals)
{
	struct symbol_frame frames[] = {{.name = (char *)"\x1b[2Jf\n"}, {.name = (char *)"\xff\xc3\xa4"}};
	const struct symbol symbol = {
		.region = SYMBOL_FILE, .module = (char *)"/\xc3\xa4", .n_frames = 2, .frames = frames};
	const struct symbol *got = pass(&symbol);

	cr_expect_str_eq(got->frames[0].name, "?[2Jf?");
	cr_expect_str_eq(got->frames[1].name, "???");
	cr_expect_str_eq(got->module, "/\xc3\xa4");
}

/* The cache keeps such an answer to ask again, without a limit for its block. */
Test(symbols_wire, an_unknown_address_has_neither_module_nor_frames)
{
	struct symbol_frame frames[] = {{.name = (char *)"f"}};
	const struct symbol module = {.region = SYMBOL_UNKNOWN, .module = (char *)"/x"};
	const struct symbol named = {.region = SYMBOL_UNKNOWN, .n_frames = 1, .frames = frames};
	size_t size = symbols_wire_write_answer(7, 0, &module, buffer);

	cr_expect_eq(symbols_wire_read_answer(buffer, size, &answer), -EBADMSG);
	size = symbols_wire_write_answer(7, 0, &named, buffer);
	cr_expect_eq(symbols_wire_read_answer(buffer, size, &answer), -EBADMSG);
	size = symbols_wire_write_answer(7, 0, &(struct symbol){.region = SYMBOL_UNKNOWN}, buffer);
	cr_expect_eq(symbols_wire_read_answer(buffer, size, &answer), 0);
}

/* Each byte of an answer is set to several values. The result is refused, or it is consistent. */
Test(symbols_wire, inconsistent_answers_are_refused)
{
	struct symbol_frame frames[] = {{.name = (char *)"f", .file = (char *)"a.c"}, {.name = (char *)"g"}};
	const struct symbol symbol = {
		.region = SYMBOL_FILE, .module = (char *)"/x", .n_frames = 2, .frames = frames};
	size_t size = symbols_wire_write_answer(7, 0, &symbol, buffer);
	static const u8 values[] = {0, 1, 2, 17, 0x7f, 0xff};

	for (size_t cut = 0; cut < size; cut++)
		cr_expect_eq(symbols_wire_read_answer(buffer, cut, &answer), -EBADMSG, "cut to %zu", cut);
	buffer[size] = 'x';
	cr_expect_eq(symbols_wire_read_answer(buffer, size + 1, &answer), -EBADMSG, "something behind it");
	for (size_t at = 0; at < size; at++)
		for (size_t i = 0; i < ARRAY_SIZE(values); i++) {
			u8 before = buffer[at];

			buffer[at] = values[i];
			end();
			if (symbols_wire_read_answer(buffer, size, &answer) == 0) {
				cr_expect_lt(answer.symbol.region, SYMBOL_REGIONS);
				cr_expect_leq(answer.symbol.build_id_size, SYMBOL_BUILD_ID_MAX);
				for (size_t n = 0; n < answer.symbol.n_frames; n++)
					cr_expect_leq(strlen(answer.symbol.frames[n].name), size);
			}
			buffer[at] = before;
		}
}

Test(symbols_wire, executable_mappings_are_sent_as_lines)
{
	static char longest[2 * PROCESS_CODE_MAX];
	const char *text = NULL;
	size_t size = symbols_wire_write_code(7, "a\tname\n1000-2000 r-xp 0 0:0 1 /a\n", buffer);

	cr_assert_eq(symbols_wire_read_code(buffer, size, 7, &text), 0);
	cr_expect_str_eq(text, "a?name\n1000-2000 r-xp 0 0:0 1 /a\n");
	cr_expect_eq(symbols_wire_read_code(buffer, size, 8, &text), -EBADMSG);
	cr_expect_eq(symbols_wire_read_code(buffer, size - 1, 7, &text), -EBADMSG);
	cr_expect_eq(symbols_wire_read_code(buffer, 8, 7, &text), -EBADMSG);
	cr_expect_eq(symbols_wire_read_code(buffer, 0, 7, &text), -EBADMSG);
	memset(longest, 'x', sizeof(longest) - 1);
	size = symbols_wire_write_code(7, longest, buffer);
	cr_assert_eq(symbols_wire_read_code(buffer, size, 7, &text), 0);
	cr_expect_eq(strlen(text), PROCESS_CODE_MAX - 1);
}

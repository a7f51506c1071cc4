// SPDX-License-Identifier: GPL-2.0
/*
 * Shows what a program draws on a terminal, as a picture or as text:
 *   draw_top [--svg] [--size COLUMNSxROWS] [--term TYPE] [--locale NAME] [--wait TEXT] [--for MS]
 *            [--keys KEYS]... -- PROGRAM [ARGUMENT]...
 *
 * It waits until the screen shows TEXT (`--wait`), and then for MS milliseconds (`--for`). Then it types the
 * KEYS of each `--keys`, and waits that long after each ("\e" is Escape, "\r" is Enter).
 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "terminal.h"

#define PATIENCE_MS 30000
#define KEYS_MAX    16
#define CELL_WIDTH  8.4
#define CELL_HEIGHT 18
#define MARGIN      10

DEFINE_CLEANUP(struct terminal *, terminal_free)

static const char *const palette[8] = {"#1e1e1e", "#e06c75", "#98c379", "#e5c07b",
				       "#61afef", "#c678dd", "#56b6c2", "#dcdfe4"};
static const char letters[] = "#dcdfe4", ground[] = "#1e1e1e";

static const char *colour(int number, const char *otherwise)
{
	return number >= 0 && number < 8 ? palette[number] : otherwise;
}

static void put_escaped(const char *text)
{
	for (; *text; text++) {
		if (*text == '<')
			(void)fputs("&lt;", stdout);
		else if (*text == '>')
			(void)fputs("&gt;", stdout);
		else if (*text == '&')
			(void)fputs("&amp;", stdout);
		else
			(void)fputc(*text, stdout);
	}
}

/* The colours as drawn, with reverse video applied. */
static const char *front_of(const struct terminal_cell *cell)
{
	return cell->reverse ? colour(cell->behind, ground) : colour(cell->colour, letters);
}

static const char *back_of(const struct terminal_cell *cell)
{
	return cell->reverse ? colour(cell->colour, letters) : colour(cell->behind, ground);
}

/*
 * Block elements, U+2581 to U+258F: a number of eighths, from the bottom or from the left. They are drawn as
 * rectangles, because fonts leave gaps between them.
 */
struct block {
	unsigned int eighths; /* 0: the cell is not a block */
	bool from_left;
};

static struct block block_of(const struct terminal_cell *cell)
{
	const unsigned char *text = (const unsigned char *)cell->text;

	if (text[0] != 0xe2 || text[1] != 0x96 || text[2] < 0x81 || text[2] > 0x8f || text[3])
		return (struct block){0};
	if (text[2] <= 0x88)
		return (struct block){.eighths = text[2] - 0x80U};
	return (struct block){.eighths = 0x90U - text[2], .from_left = true};
}

static bool is_blank(const struct terminal_cell *cell)
{
	return !*cell->text || strcmp(cell->text, " ") == 0;
}

static double left_of(int column)
{
	return MARGIN + column * CELL_WIDTH;
}

static void put_rect(double x, double y, double width, double height, const char *fill)
{
	(void)printf("<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"%s\"/>\n", x, y,
		     width, height, fill);
}

/* Each of these functions draws what begins at `column`, and returns the column behind it. */
static int put_ground(const struct terminal *terminal, int row, int column, int columns)
{
	struct terminal_cell cell = terminal_cell(terminal, row, column);
	const char *back = back_of(&cell);
	int end = column;

	do {
		end++;
		if (end == columns)
			break;
		cell = terminal_cell(terminal, row, end);
	} while (strcmp(back_of(&cell), back) == 0);
	if (strcmp(back, ground) != 0)
		put_rect(left_of(column), MARGIN + row * (double)CELL_HEIGHT, (end - column) * CELL_WIDTH,
			 CELL_HEIGHT, back);
	return end;
}

static int put_block(const struct terminal *terminal, int row, int column, int columns)
{
	struct terminal_cell first = terminal_cell(terminal, row, column), cell;
	/* Leave a gap between the bars of two rows. */
	double y = MARGIN + 1 + row * (double)CELL_HEIGHT, height = CELL_HEIGHT - 2;
	struct block block = block_of(&first);
	int end = column + 1;

	if (block.from_left) {
		put_rect(left_of(column), y, CELL_WIDTH * block.eighths / 8, height, front_of(&first));
		return end;
	}
	for (; end < columns; end++) {
		cell = terminal_cell(terminal, row, end);
		if (strcmp(cell.text, first.text) != 0 || strcmp(front_of(&cell), front_of(&first)) != 0)
			break;
	}
	put_rect(left_of(column), y + height * (8.0 - block.eighths) / 8, (end - column) * CELL_WIDTH,
		 height * block.eighths / 8.0, front_of(&first));
	return end;
}

/*
 * Draws one text from here on, up to two blanks, a block, or other attributes. It is as wide as its cells in
 * any font.
 */
static int put_text(const struct terminal *terminal, int row, int column, int columns)
{
	struct terminal_cell first = terminal_cell(terminal, row, column), cell = first;
	int end, last = column;

	for (end = column + 1; end < columns && end - last <= 2; end++) {
		cell = terminal_cell(terminal, row, end);
		if (block_of(&cell).eighths > 0 || cell.bold != first.bold ||
		    strcmp(front_of(&cell), front_of(&first)) != 0)
			break;
		if (!is_blank(&cell))
			last = end;
	}
	end = last + 1;
	(void)printf("<text x=\"%.1f\" y=\"%d\" textLength=\"%.1f\" fill=\"%s\"%s>", left_of(column),
		     MARGIN + row * CELL_HEIGHT + CELL_HEIGHT - 5, (end - column) * CELL_WIDTH,
		     front_of(&first), first.bold ? " font-weight=\"bold\"" : "");
	for (int at = column; at < end; at++) {
		cell = terminal_cell(terminal, row, at);
		put_escaped(is_blank(&cell) ? " " : cell.text);
	}
	(void)printf("</text>\n");
	return end;
}

static void put_row(const struct terminal *terminal, int row, int columns)
{
	for (int column = 0; column < columns;)
		column = put_ground(terminal, row, column, columns);
	for (int column = 0; column < columns;) {
		struct terminal_cell cell = terminal_cell(terminal, row, column);

		if (is_blank(&cell))
			column++;
		else if (block_of(&cell).eighths > 0)
			column = put_block(terminal, row, column, columns);
		else
			column = put_text(terminal, row, column, columns);
	}
}

static void put_svg(const struct terminal *terminal)
{
	int columns, rows;

	terminal_size(terminal, &columns, &rows);
	(void)printf("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.0f %d\" "
		     "font-family=\"DejaVu Sans Mono,Menlo,Consolas,monospace\" font-size=\"14\" "
		     "shape-rendering=\"crispEdges\">\n"
		     "<rect width=\"100%%\" height=\"100%%\" rx=\"6\" fill=\"%s\"/>\n",
		     2 * MARGIN + columns * CELL_WIDTH, 2 * MARGIN + rows * CELL_HEIGHT, ground);
	for (int row = 0; row < rows; row++)
		put_row(terminal, row, columns);
	(void)printf("</svg>\n");
}

/* Replaces "\e" and "\r" in the argument. */
static void unescape(char *keys)
{
	char *to = keys;

	for (; *keys; keys++) {
		if (keys[0] == '\\' && (keys[1] == 'e' || keys[1] == 'r')) {
			*to++ = keys[1] == 'e' ? '\033' : '\r';
			keys++;
		} else {
			*to++ = *keys;
		}
	}
	*to = '\0';
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{"svg", no_argument, NULL, 's'},        {"size", required_argument, NULL, 'x'},
		{"term", required_argument, NULL, 't'}, {"locale", required_argument, NULL, 'l'},
		{"wait", required_argument, NULL, 'w'}, {"for", required_argument, NULL, 'f'},
		{"keys", required_argument, NULL, 'k'}, {0}};
	struct terminal_settings settings = {
		.type = "xterm-256color", .locale = "C.UTF-8", .columns = 80, .rows = 24};
	_cleanup_(terminal_freep) struct terminal *terminal = NULL;
	const char *wait = NULL;
	char *keys[KEYS_MAX];
	size_t n_keys = 0;
	int option, milliseconds = 200;
	bool svg = false;

	while ((option = getopt_long(argc, argv, "+", options, NULL)) != -1) {
		if (option == 's')
			svg = true;
		else if (option == 'x' && sscanf(optarg, "%dx%d", &settings.columns, &settings.rows) == 2)
			;
		else if (option == 't')
			settings.type = optarg;
		else if (option == 'l')
			settings.locale = optarg;
		else if (option == 'w')
			wait = optarg;
		else if (option == 'f')
			milliseconds = atoi(optarg);
		else if (option == 'k' && n_keys < KEYS_MAX)
			keys[n_keys++] = optarg;
		else
			return 2;
	}
	if (optind == argc)
		return 2;
	terminal = terminal_run(&settings, argv[optind], argv + optind);
	if (!terminal) {
		(void)fprintf(stderr, "draw_top: cannot run %s: %s\n", argv[optind], strerror(errno));
		return 1;
	}
	if (wait && !terminal_wait(terminal, wait, true, PATIENCE_MS)) {
		(void)fprintf(stderr, "draw_top: '%s' does not come\n", wait);
		return 1;
	}
	terminal_watch(terminal, milliseconds);
	for (size_t i = 0; i < n_keys; i++) {
		unescape(keys[i]);
		terminal_type(terminal, keys[i]);
		terminal_watch(terminal, milliseconds);
	}
	if (svg) {
		put_svg(terminal);
	} else {
		_cleanup_free_ char *text = terminal_text(terminal);

		(void)fputs(text ? text : "", stdout);
	}
	return 0;
}

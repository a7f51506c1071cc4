// SPDX-License-Identifier: GPL-2.0
/*
 * What a program draws on a terminal, as a picture or as text:
 *   draw_top [--svg] [--size COLUMNSxROWS] [--term TYPE] [--locale NAME] [--wait TEXT] [--for MS] [--keys
 * KEYS]... -- PROGRAM [ARGUMENT]...
 * `--wait`: until this is on the screen; `--for`: and so much longer. Each `--keys` is typed then, with as
 * long after it ("\e" is Escape, "\r" Enter).
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

static void put_cell(const struct terminal_cell *cell, int row, int column)
{
	const char *front = colour(cell->colour, letters), *back = colour(cell->behind, ground);
	double x = MARGIN + column * CELL_WIDTH, y = MARGIN + row * (double)CELL_HEIGHT;

	if (cell->reverse) {
		const char *other = front;

		front = back;
		back = other;
	}
	if (strcmp(back, ground) != 0)
		(void)printf("<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%d\" fill=\"%s\"/>\n", x, y,
			     CELL_WIDTH + 0.3, CELL_HEIGHT, back);
	if (!*cell->text || strcmp(cell->text, " ") == 0)
		return;
	(void)printf("<text x=\"%.1f\" y=\"%.1f\" fill=\"%s\"%s>", x, y + CELL_HEIGHT - 5, front,
		     cell->bold ? " font-weight=\"bold\"" : "");
	put_escaped(cell->text);
	(void)printf("</text>\n");
}

static void put_svg(const struct terminal *terminal)
{
	int columns, rows;

	terminal_size(terminal, &columns, &rows);
	(void)printf("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.0f %d\" "
		     "font-family=\"DejaVu Sans Mono,Menlo,Consolas,monospace\" font-size=\"14\">\n"
		     "<rect width=\"100%%\" height=\"100%%\" rx=\"6\" fill=\"%s\"/>\n",
		     2 * MARGIN + columns * CELL_WIDTH, 2 * MARGIN + rows * CELL_HEIGHT, ground);
	for (int row = 0; row < rows; row++)
		for (int column = 0; column < columns; column++) {
			struct terminal_cell cell = terminal_cell(terminal, row, column);

			put_cell(&cell, row, column);
		}
	(void)printf("</svg>\n");
}

/* "\e" and "\r" in what was given. */
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

// SPDX-License-Identifier: GPL-2.0
/*
 * Runs a program on a terminal that libvterm emulates. Tests check what is on the screen, not the bytes that
 * were written.
 */
#ifndef PEBSD_TESTS_TERMINAL_H
#define PEBSD_TESTS_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct terminal;

struct terminal_settings {
	const char *type;   /* TERM */
	const char *locale; /* LC_ALL */
	int columns, rows;
	bool stopped; /* the program waits for SIGCONT before it starts */
};

/* The content of a cell. Colours are 0 to 255, or -1 for the terminal's default. */
struct terminal_cell {
	char text[32]; /* UTF-8; "" to the right of a wide character */
	bool bold, reverse;
	int colour, behind;
};

/*
 * Returns NULL and sets errno if no child can be created. A program that cannot be executed ends with exit
 * code 127. terminal_free() kills the program and closes the terminal, so that its children get SIGHUP.
 */
struct terminal *terminal_run(const struct terminal_settings *settings, const char *program,
			      char *const *arguments);
struct terminal *terminal_free(struct terminal *terminal);

pid_t terminal_pid(const struct terminal *terminal);
int terminal_fd(const struct terminal *terminal);

void terminal_type(struct terminal *terminal, const char *keys);
void terminal_resize(struct terminal *terminal, int columns, int rows);

/* Waits until the screen shows `text`, or does not show it (`shown` false). Returns false on a timeout. */
bool terminal_wait(struct terminal *terminal, const char *text, bool shown, int milliseconds);

/* Reads output for this time. */
void terminal_watch(struct terminal *terminal, int milliseconds);

/* Waits until the program ends. Returns the status of waitpid(), or -1 on a timeout. */
int terminal_wait_end(struct terminal *terminal, int milliseconds);

/* Returns the lines of the screen without trailing blanks. The caller frees the text. */
char *terminal_text(const struct terminal *terminal);
struct terminal_cell terminal_cell(const struct terminal *terminal, int row, int column);
void terminal_size(const struct terminal *terminal, int *ret_columns, int *ret_rows);

/* Returns everything that the program has written so far, NUL-terminated. The terminal owns it. */
const char *terminal_written(const struct terminal *terminal);

#endif

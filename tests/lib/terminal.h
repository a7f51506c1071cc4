// SPDX-License-Identifier: GPL-2.0
/* A program on a terminal, which libvterm plays: what it draws is looked at, not what it writes. */
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
	bool stopped; /* it waits for SIGCONT before it begins */
};

/* What stands in a place. Colours: -1 the terminal's own, else 0 to 255. */
struct terminal_cell {
	char text[32]; /* UTF-8; "" right of a wide character */
	bool bold, reverse;
	int colour, behind;
};

/* NULL and errno: it can't be started. It is ended with what it runs by terminal_free(). */
struct terminal *terminal_run(const struct terminal_settings *settings, const char *program,
			      char *const *arguments);
struct terminal *terminal_free(struct terminal *terminal);

pid_t terminal_pid(const struct terminal *terminal);
int terminal_fd(const struct terminal *terminal);

void terminal_type(struct terminal *terminal, const char *keys);
void terminal_resize(struct terminal *terminal, int columns, int rows);

/* Until the screen shows `text`, or does not (`shown`), or the time is up: false. */
bool terminal_wait(struct terminal *terminal, const char *text, bool shown, int milliseconds);

/* Takes what comes for so long. */
void terminal_watch(struct terminal *terminal, int milliseconds);

/* Until it ends: as waitpid() tells it; -1: it does not. */
int terminal_wait_end(struct terminal *terminal, int milliseconds);

/* The screen's lines without blanks at their ends. The caller frees. */
char *terminal_text(const struct terminal *terminal);
struct terminal_cell terminal_cell(const struct terminal *terminal, int row, int column);
void terminal_size(const struct terminal *terminal, int *ret_columns, int *ret_rows);

/* All that it wrote so far. The terminal's, NUL-terminated. */
const char *terminal_written(const struct terminal *terminal);

#endif

// SPDX-License-Identifier: GPL-2.0
/*
 * A full terminal screen that is redrawn repeatedly, and its keys, by ncurses. SIGINT, SIGTERM and SIGHUP are
 * blocked and reported as SCREEN_END. The terminal, its mouse included, is restored when the screen is closed and
 * while the program is stopped (Ctrl-Z). Output to standard error is buffered until the screen is closed.
 */
#ifndef PEBSD_CTL_SCREEN_H
#define PEBSD_CTL_SCREEN_H

#include <stdbool.h>
#include <stddef.h>

#include "pebsd/types.h"

struct screen;

enum screen_event {
	SCREEN_TIME,    /* the time is up */
	SCREEN_READY,   /* the descriptor is readable */
	SCREEN_KEY,     /* a key was pressed, or the mouse was used */
	SCREEN_RESIZED, /* draw the screen again */
	SCREEN_END,     /* SIGINT, SIGTERM or SIGHUP came, or the terminal is gone */
};

/* A key is the Unicode character that it types, or one of these. */
enum screen_key {
	SCREEN_ENTER = '\n',
	SCREEN_ESCAPE = 27,
	SCREEN_UP = 0x110000,
	SCREEN_DOWN,
	SCREEN_LEFT,
	SCREEN_RIGHT,
	SCREEN_PAGE_UP,
	SCREEN_PAGE_DOWN,
	SCREEN_FIRST,
	SCREEN_LAST,
	SCREEN_BACKSPACE,
	SCREEN_CLICK, /* the left button of the mouse */
	SCREEN_WHEEL_UP,
	SCREEN_WHEEL_DOWN,
	SCREEN_OTHER_KEY,
};

/* `row` and `column`, from 0, are where the mouse is. They are 0 for a key. */
struct screen_input {
	u32 key;
	size_t row, column;
};

/*
 * Takes over the terminal that output_is_screen() found. Returns 0, -ENODEV if terminfo does not know the
 * terminal, or another -errno.
 */
int screen_open(struct screen **ret);
struct screen *screen_close(struct screen *screen);

/*
 * Asks the terminal to report the mouse, or leaves the mouse to the terminal, which can then select text.
 * Returns whether the mouse is reported from now on: never if terminfo knows no mouse of the terminal.
 */
bool screen_set_mouse(struct screen *screen, bool on);

/* The size of the screen in columns and rows, never 0. */
void screen_size(const struct screen *screen, size_t *ret_columns, size_t *ret_rows);
bool screen_has_colour(const struct screen *screen);

/*
 * Draws as many lines of `text` as there are rows, each cut to the width. "\033[Nm" in the text selects bold
 * (1), dim (2), reverse (7), a foreground colour (30 to 37), a background colour (40 to 47), or resets all
 * (0). Colours are ignored if the terminal has none.
 */
void screen_draw(struct screen *screen, const char *text);

/* Waits for an event for at most `milliseconds`. `fd` -1: no descriptor. */
enum screen_event screen_wait(struct screen *screen, int fd, int milliseconds, struct screen_input *ret);

/* Returns the key that the next screen_wait() will return without waiting; 0: none was pressed. */
u32 screen_next_key(const struct screen *screen);

/*
 * Waits only for `fd`, and keeps keys for screen_wait(). Returns 0 if it is readable; -ECANCELED if the
 * program is to end, or if a key came and the descriptor has been silent for half a second; -ETIMEDOUT.
 */
int screen_wait_for(struct screen *screen, int fd, int milliseconds);

#endif

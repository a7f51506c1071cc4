// SPDX-License-Identifier: GPL-2.0
/*
 * A whole terminal screen that is drawn again and again, with its keys, by ncurses. The terminal is as it was
 * before when the screen is closed, when the program is stopped (Ctrl-Z) and when it is ended by SIGINT,
 * SIGTERM or SIGHUP, all of which arrive here. What is written to standard error meanwhile appears when it is
 * closed.
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
	SCREEN_KEY,     /* a key was hit */
	SCREEN_RESIZED, /* draw again */
	SCREEN_END,     /* a signal, or the terminal is gone */
};

/* A key is the character that it types (Unicode), or one of these. */
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
	SCREEN_OTHER_KEY,
};

/* Takes the terminal over that output_is_screen() found. Returns 0, -ENODEV where nothing is known of a
 * terminal of its name, or -errno. */
int screen_open(struct screen **ret);
struct screen *screen_close(struct screen *screen);

/* Columns and rows as they are drawn on, never 0. */
void screen_room(const struct screen *screen, size_t *ret_columns, size_t *ret_rows);
bool screen_has_colour(const struct screen *screen);

/*
 * Draws as many lines of `text` as there are rows, each cut to the width. "\033[Nm" in it is bold (1), dim
 * (2), reverse (7), a colour (30 to 37 of letters, 40 to 47 behind them; nothing where there is none), and
 * the end of these (0).
 */
void screen_draw(struct screen *screen, const char *text);

/* Waits for at most `milliseconds` for any of these; `fd` -1: for none. */
enum screen_event screen_wait(struct screen *screen, int fd, int milliseconds, u32 *ret_key);

/* Waits for `fd` alone: keys are kept for screen_wait(). 0; -ECANCELED: the end came, or a key, and the
 * descriptor has been silent for half a second; -ETIMEDOUT. */
int screen_wait_for(struct screen *screen, int fd, int milliseconds);

#endif

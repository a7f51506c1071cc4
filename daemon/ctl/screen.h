// SPDX-License-Identifier: GPL-2.0
/*
 * A whole terminal screen that is drawn again and again. The terminal is as it was before when the screen is
 * closed, when the program is stopped (Ctrl-Z) and when it is ended by SIGINT, SIGTERM or SIGHUP, all of
 * which arrive here. What is written to standard error meanwhile appears when it is closed.
 */
#ifndef PEBSD_CTL_SCREEN_H
#define PEBSD_CTL_SCREEN_H

#include <stdbool.h>
#include <stddef.h>

struct screen;

enum screen_event {
	SCREEN_TIME,    /* the time is up */
	SCREEN_RESIZED, /* draw again */
	SCREEN_END,     /* q, a signal, or the terminal is gone */
};

/* Whether standard output is a terminal that can do it. */
bool screen_possible(void);

/* Columns and rows of standard output; 0 of both where it is no terminal or does not tell. */
void screen_size(size_t *ret_columns, size_t *ret_rows);

/* Takes the terminal over. Returns 0 or -errno. */
int screen_open(struct screen **ret);
struct screen *screen_close(struct screen *screen);

/* Draws as many lines of `text` as there are rows, each cut to the width. Returns 0 or -errno. */
int screen_draw(struct screen *screen, const char *text);

/* Waits for at most `milliseconds`, which SCREEN_RESIZED may cut short. */
enum screen_event screen_wait(struct screen *screen, int milliseconds);

#endif

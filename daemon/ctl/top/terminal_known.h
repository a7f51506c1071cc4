// SPDX-License-Identifier: GPL-2.0
#ifndef PEBSD_CTL_TERMINAL_KNOWN_H
#define PEBSD_CTL_TERMINAL_KNOWN_H

#include <stdbool.h>

/* Returns true if terminfo knows the terminal of standard output, by its name in TERM. */
bool terminal_known(void);

/* Returns true if terminfo says how the terminal reports its mouse. Call it while ncurses has the terminal. */
bool terminal_has_mouse(void);

#endif

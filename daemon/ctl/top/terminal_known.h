// SPDX-License-Identifier: GPL-2.0
#ifndef PEBSD_CTL_TERMINAL_KNOWN_H
#define PEBSD_CTL_TERMINAL_KNOWN_H

#include <stdbool.h>

/* Whether terminfo knows the terminal that standard output is, by its name in TERM. */
bool terminal_known(void);

#endif

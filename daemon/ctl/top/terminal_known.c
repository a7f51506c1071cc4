// SPDX-License-Identifier: GPL-2.0
/* By itself: term.h makes macros of words such as columns and lines. */
#include "ctl/top/terminal_known.h"

#include <unistd.h>

#include <curses.h>
#include <term.h>

/* Asked before newterm(), which leaves memory behind where nothing is known of it (ncurses 6.4). */
bool terminal_known(void)
{
	int found;

	if (setupterm(NULL, STDOUT_FILENO, &found) != OK)
		return false;
	(void)del_curterm(cur_term);
	return true;
}

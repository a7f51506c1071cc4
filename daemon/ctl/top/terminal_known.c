// SPDX-License-Identifier: GPL-2.0
/* A file of its own, because term.h defines macros for words such as columns and lines. */
#include "ctl/top/terminal_known.h"

#include <unistd.h>

#include <curses.h>
#include <term.h>

/* Called before newterm(), which leaks memory if the terminal is unknown (ncurses 6.4). */
bool terminal_known(void)
{
	int found;

	if (setupterm(NULL, STDOUT_FILENO, &found) != OK)
		return false;
	(void)del_curterm(cur_term);
	return true;
}

bool terminal_has_mouse(void)
{
	const char *mouse = tigetstr((char *)"kmous");

	/* terminfo's word for a capability that is not a text. NOLINTNEXTLINE(performance-no-int-to-ptr) */
	return mouse && mouse != (const char *)-1;
}

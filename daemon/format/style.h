// SPDX-License-Identifier: GPL-2.0
#ifndef PEBSD_FORMAT_STYLE_H
#define PEBSD_FORMAT_STYLE_H

#include "format/format.h"

enum style_colour {
	/*
	 * Colours on a terminal that has them, unless $NO_COLOR is set to anything but an empty text
	 * (https://no-color.org).
	 */
	STYLE_COLOUR_AUTO,
	STYLE_COLOUR_ALWAYS,
	STYLE_COLOUR_NEVER,
};

/*
 * Returns the style that suits standard output: the terminal's width, the locale, and colours. Call
 * setlocale(3) before.
 */
struct format_style style_of_output(enum style_colour colour);

#endif

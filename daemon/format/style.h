// SPDX-License-Identifier: GPL-2.0
#ifndef PEBSD_FORMAT_STYLE_H
#define PEBSD_FORMAT_STYLE_H

#include "format/format.h"

/*
 * Returns the style that suits standard output: the terminal's width and the locale. Call setlocale(3)
 * before.
 */
struct format_style style_of_output(void);

#endif

// SPDX-License-Identifier: GPL-2.0
#ifndef PEBSD_FORMAT_STYLE_H
#define PEBSD_FORMAT_STYLE_H

#include "format/format.h"

/* How text is best shown on standard output: a terminal's width and the locale. Wants setlocale(3) before. */
struct format_style style_of_output(void);

#endif

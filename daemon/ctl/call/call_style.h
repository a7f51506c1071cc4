// SPDX-License-Identifier: GPL-2.0
#ifndef PEBSD_CALL_STYLE_H
#define PEBSD_CALL_STYLE_H

#include "ctl/call/ctl_options.h"
#include "format/style.h"

/* Returns the style of the output that the options ask for. */
struct format_style call_style(const struct ctl_options *options);

#endif

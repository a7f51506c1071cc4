// SPDX-License-Identifier: GPL-2.0
#include "ctl/call/call_style.h"

#include "base/moment.h"

struct format_style call_style(const struct ctl_options *options)
{
	struct format_style style = style_of_output(options->colour);

	style.full = options->full;
	if (options->utc)
		style.zone = moment_utc;
	return style;
}

// SPDX-License-Identifier: GPL-2.0
#include "format/style.h"

#include <langinfo.h>
#include <stdlib.h>
#include <string.h>

#include "format/output.h"

static bool has_colours(enum style_colour colour)
{
	const char *refused = getenv("NO_COLOR");

	if (colour != STYLE_COLOUR_AUTO)
		return colour == STYLE_COLOUR_ALWAYS;
	return output_is_screen() && !(refused && *refused);
}

struct format_style style_of_output(enum style_colour colour)
{
	struct format_style style = {.utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0,
				     .bold = output_is_screen(),
				     .colour = has_colours(colour),
				     .zone = localtime_r};
	size_t rows;

	output_size(&style.width, &rows);
	return style;
}

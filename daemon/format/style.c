// SPDX-License-Identifier: GPL-2.0
#include "format/style.h"

#include <langinfo.h>
#include <string.h>

#include "format/output.h"

struct format_style style_of_output(void)
{
	struct format_style style = {.utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0,
				     .bold = output_is_screen()};
	size_t rows;

	output_size(&style.width, &rows);
	return style;
}

// SPDX-License-Identifier: GPL-2.0
#include "ctl/output.h"

#include <errno.h>
#include <langinfo.h>
#include <string.h>
#include <unistd.h>

#include "ctl/screen.h"

struct format_style output_style(void)
{
	struct format_style style = {.utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0,
				     .bold = screen_possible()};
	size_t rows;

	screen_size(&style.width, &rows);
	return style;
}

int output_write(const char *bytes, size_t length)
{
	while (length > 0) {
		ssize_t written = write(STDOUT_FILENO, bytes, length);

		if (written < 0 && errno == EINTR)
			continue;
		if (written < 0)
			return -errno;
		bytes += written;
		length -= (size_t)written;
	}
	return 0;
}

// SPDX-License-Identifier: GPL-2.0
/* Any bytes as Accept and Accept-Encoding. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "http/server/negotiate.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *header = strndup((const char *)data, size);

	if (!header)
		return 0;
	/* A client that does not mention a format must not get it. */
	if (negotiate_openmetrics(header) && !strchr(header, '*') && !strcasestr(header, "openmetrics"))
		abort();
	if (negotiate_gzip(header) && !strchr(header, '*') && !strcasestr(header, "gzip"))
		abort();
	free(header);
	return 0;
}

// SPDX-License-Identifier: GPL-2.0
/* Accept and Accept-Encoding of any bytes. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

<<<<<<< HEAD
#include "base/cleanup.h"
=======
>>>>>>> export
#include "export/negotiate.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
<<<<<<< HEAD
	_cleanup_free_ char *header = malloc(size + 1);

	if (!header)
		return 0;
	memcpy(header, data, size);
	header[size] = '\0';
=======
	char *header = strndup((const char *)data, size);

	if (!header)
		return 0;
>>>>>>> export
	/* Neither is welcome to a client that does not speak of it. */
	if (negotiate_openmetrics(header) && !strchr(header, '*') && !strcasestr(header, "openmetrics"))
		abort();
	if (negotiate_gzip(header) && !strchr(header, '*') && !strcasestr(header, "gzip"))
		abort();
<<<<<<< HEAD
=======
	free(header);
>>>>>>> export
	return 0;
}

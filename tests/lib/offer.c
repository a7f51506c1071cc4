// SPDX-License-Identifier: GPL-2.0
#include "offer.h"

#include <criterion/criterion.h>

#include <unistd.h>

#include "base/cleanup.h"

int offer_bytes(const u8 *bytes, size_t size, enum offer_way way)
{
	int ends[2];
	pid_t child;

	if (way == OFFER_FILE)
		return writer_memfd(bytes, size);
	cr_assert_eq(pipe(ends), 0);
	child = fork();
	cr_assert_geq(child, 0);
	if (child == 0) {
		(void)close(ends[0]);
		while (size) {
			/* Write pieces of odd size, so that records are split. */
			ssize_t n = write(ends[1], bytes, size < 1021 ? size : 1021);

			if (n <= 0)
				break;
			bytes += n;
			size -= (size_t)n;
		}
		_exit(0);
	}
	(void)close(ends[1]);
	return ends[0];
}

struct perf_data *offer_written(struct writer *writer, enum offer_way way)
{
	_cleanup_free_ char *message = NULL;
	_cleanup_free_ u8 *bytes = NULL;
	struct perf_data *data = NULL;
	size_t size;

	bytes = writer_finish(writer, &size);
	writer_free(writer);
	cr_assert_eq(perf_data_open(offer_bytes(bytes, size, way), &data, &message), 0, "%s", message);
	return data;
}

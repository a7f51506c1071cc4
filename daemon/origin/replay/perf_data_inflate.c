// SPDX-License-Identifier: GPL-2.0
#include "origin/replay/perf_data_inflate.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

/* Twice the largest record, so that the rest of one record never prevents the next from fitting. */
#define BUFFER_SIZE ((size_t)128 * 1024)

struct perf_data_inflate {
	ZSTD_DStream *stream;
	ZSTD_inBuffer input;
	bool drained; /* the decompressor has returned all of the input */
	size_t start; /* first byte in `buffer` that is not returned yet */
	size_t end;
	u8 buffer[BUFFER_SIZE];
};

int perf_data_inflate_new(struct perf_data_inflate **ret)
{
	struct perf_data_inflate *inflate;

	inflate = calloc(1, sizeof(*inflate));
	if (!inflate)
		return -ENOMEM;
	inflate->stream = ZSTD_createDStream();
	if (!inflate->stream) {
		free(inflate);
		return -ENOMEM;
	}
	inflate->drained = true;
	*ret = inflate;
	return 0;
}

struct perf_data_inflate *perf_data_inflate_free(struct perf_data_inflate *inflate)
{
	if (!inflate)
		return NULL;
	(void)ZSTD_freeDStream(inflate->stream);
	free(inflate);
	return NULL;
}

void perf_data_inflate_input(struct perf_data_inflate *inflate, const u8 *at, size_t size)
{
	inflate->input = (ZSTD_inBuffer){.src = at, .size = size};
	inflate->drained = !size;
}

static int unpack_more(struct perf_data_inflate *inflate)
{
	ZSTD_outBuffer output;
	size_t r;

	memmove(inflate->buffer, inflate->buffer + inflate->start, inflate->end - inflate->start);
	inflate->end -= inflate->start;
	inflate->start = 0;
	output = (ZSTD_outBuffer){.dst = inflate->buffer, .size = BUFFER_SIZE, .pos = inflate->end};
	r = ZSTD_decompressStream(inflate->stream, &output, &inflate->input);
	if (ZSTD_isError(r))
		return -EBADMSG;
	/* If space is left in the output, this input yields nothing more. */
	inflate->drained = inflate->input.pos == inflate->input.size && output.pos < output.size;
	inflate->end = output.pos;
	return 0;
}

int perf_data_inflate_next(struct perf_data_inflate *inflate, struct perf_event_header *ret_header,
			   const u8 **ret_record)
{
	for (;;) {
		size_t there = inflate->end - inflate->start;
		int r;

		if (there >= sizeof(*ret_header)) {
			memcpy(ret_header, inflate->buffer + inflate->start, sizeof(*ret_header));
			if (ret_header->size < sizeof(*ret_header))
				return -EBADMSG;
			if (ret_header->size <= there) {
				*ret_record = inflate->buffer + inflate->start;
				inflate->start += ret_header->size;
				return 1;
			}
		}
		if (inflate->drained)
			return 0;
		r = unpack_more(inflate);
		if (r < 0)
			return r;
	}
}

bool perf_data_inflate_pending(const struct perf_data_inflate *inflate)
{
	return inflate->end > inflate->start;
}

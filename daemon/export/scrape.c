// SPDX-License-Identifier: GPL-2.0
#include "export/scrape.h"

#include <errno.h>
#include <limits.h>
#include <microhttpd.h>
#include <stdlib.h>
#include <zlib.h>

#include "base/cleanup.h"
#include "export/prometheus.h"

/* Level 1 makes a tenth of such text, the default a twelfth in thrice the time. */
#define COMPRESSION_LEVEL Z_BEST_SPEED

/* windowBits of deflateInit2(): the largest window, in a gzip wrapper. */
#define GZIP_WINDOW_BITS (15 + 16)
#define MEMORY_LEVEL     8

struct body {
	struct MHD_Response *plain; /* NULL: not made yet */
	struct MHD_Response *gzip;
	u64 made_ns;
	char *text; /* the plain response's */
	size_t length;
};

struct scrape {
	scrape_render render;
	void *userdata;
	u64 sequence;
	struct body text;
	struct body openmetrics;
};

int scrape_new(scrape_render render, void *userdata, struct scrape **ret)
{
	struct scrape *scrape = calloc(1, sizeof(*scrape));

	if (!scrape)
		return -ENOMEM;
	scrape->render = render;
	scrape->userdata = userdata;
	*ret = scrape;
	return 0;
}

/* A connection that still sends a response has its own reference to it. */
static void body_drop(struct body *body)
{
	if (body->plain)
		MHD_destroy_response(body->plain);
	if (body->gzip)
		MHD_destroy_response(body->gzip);
	*body = (struct body){0};
}

struct scrape *scrape_free(struct scrape *scrape)
{
	if (!scrape)
		return NULL;
	body_drop(&scrape->text);
	body_drop(&scrape->openmetrics);
	free(scrape);
	return NULL;
}

int scrape_compress(const void *plain, size_t length, void **ret, size_t *ret_length)
{
	_cleanup_free_ void *compressed = NULL;
	z_stream stream = {0};
	uLong bound;
	int r;

	if (length > UINT_MAX / 2)
		return -EFBIG;
	if (deflateInit2(&stream, COMPRESSION_LEVEL, Z_DEFLATED, GZIP_WINDOW_BITS, MEMORY_LEVEL,
			 Z_DEFAULT_STRATEGY) != Z_OK)
		return -ENOMEM;
	bound = deflateBound(&stream, length);
	compressed = malloc(bound);
	if (!compressed) {
		(void)deflateEnd(&stream);
		return -ENOMEM;
	}
	stream.next_in = (Bytef *)plain;
	stream.avail_in = (uInt)length;
	stream.next_out = compressed;
	stream.avail_out = (uInt)bound;
	r = deflate(&stream, Z_FINISH);
	*ret_length = stream.total_out;
	(void)deflateEnd(&stream);
	if (r != Z_STREAM_END)
		return -EIO;
	*ret = TAKE_PTR(compressed);
	return 0;
}

/* `data` becomes the response's, or is freed. */
static struct MHD_Response *respond(void *data, size_t length, bool openmetrics, bool gzip)
{
	struct MHD_Response *response =
		MHD_create_response_from_buffer_with_free_callback(length, data, free);
	const char *type = openmetrics ? PROMETHEUS_OPENMETRICS_TYPE : PROMETHEUS_TEXT_TYPE;

	if (!response) {
		free(data);
		return NULL;
	}
	if (MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, type) != MHD_YES ||
	    MHD_add_response_header(response, MHD_HTTP_HEADER_CONNECTION, "close") != MHD_YES ||
	    MHD_add_response_header(response, MHD_HTTP_HEADER_VARY, "Accept, Accept-Encoding") != MHD_YES ||
	    (gzip &&
	     MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_ENCODING, "gzip") != MHD_YES)) {
		MHD_destroy_response(response);
		return NULL;
	}
	return response;
}

static int make_plain(struct scrape *scrape, struct body *body, bool openmetrics)
{
	char *text;
	size_t length;
	int r;

	r = scrape->render(scrape->userdata, openmetrics, &text, &length);
	if (r < 0)
		return r;
	body->plain = respond(text, length, openmetrics, false);
	if (!body->plain)
		return -ENOMEM;
	body->text = text;
	body->length = length;
	return 0;
}

static int make_gzip(struct body *body, bool openmetrics)
{
	void *compressed;
	size_t length;
	int r;

	r = scrape_compress(body->text, body->length, &compressed, &length);
	if (r < 0)
		return r;
	body->gzip = respond(compressed, length, openmetrics, true);
	return body->gzip ? 0 : -ENOMEM;
}

int scrape_get(struct scrape *scrape, u64 sequence, u64 now_ns, bool openmetrics, bool gzip,
	       struct MHD_Response **ret)
{
	struct body *body = openmetrics ? &scrape->openmetrics : &scrape->text;
	int r;

	if (sequence != scrape->sequence) {
		body_drop(&scrape->text);
		body_drop(&scrape->openmetrics);
		scrape->sequence = sequence;
	}
	if (body->plain && now_ns - body->made_ns >= SCRAPE_AGE_MAX_NS)
		body_drop(body);
	if (!body->plain) {
		r = make_plain(scrape, body, openmetrics);
		if (r < 0)
			return r;
		body->made_ns = now_ns;
	}
	if (gzip && !body->gzip) {
		r = make_gzip(body, openmetrics);
		if (r < 0)
			return r;
	}
	*ret = gzip ? body->gzip : body->plain;
	return 0;
}

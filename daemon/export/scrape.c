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
	const char *text; /* the plain response's */
	size_t length;
};

struct scrape_generation {
	u64 sequence;
	unsigned int users; /* who are being sent it */
	bool served;        /* to who asks now: the scrape's `current` */
	struct body text;
	struct body openmetrics;
};

struct scrape {
	scrape_render render;
	void *userdata;
	struct scrape_generation *current; /* NULL: none was asked for yet */
	struct scrape_generation generations[SCRAPE_GENERATIONS_MAX];
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

static void body_drop(struct body *body)
{
	if (body->plain)
		MHD_destroy_response(body->plain);
	if (body->gzip)
		MHD_destroy_response(body->gzip);
	*body = (struct body){0};
}

static void generation_drop(struct scrape_generation *generation)
{
	body_drop(&generation->text);
	body_drop(&generation->openmetrics);
}

static bool is_free(const struct scrape_generation *generation)
{
	return !generation->served && generation->users == 0;
}

void scrape_release(struct scrape_generation *held)
{
	if (!held)
		return;
	held->users--;
	if (is_free(held))
		generation_drop(held);
}

struct scrape *scrape_free(struct scrape *scrape)
{
	if (!scrape)
		return NULL;
	for (size_t i = 0; i < SCRAPE_GENERATIONS_MAX; i++)
		generation_drop(&scrape->generations[i]);
	free(scrape);
	return NULL;
}

unsigned int scrape_generations(const struct scrape *scrape)
{
	unsigned int n = 0;

	for (size_t i = 0; i < SCRAPE_GENERATIONS_MAX; i++)
		n += !is_free(&scrape->generations[i]);
	return n;
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
	/* A tenth of what it might have been. A shorter piece is no reason to fail. */
	*ret = realloc(compressed, *ret_length);
	if (!*ret)
		*ret = compressed;
	TAKE_PTR(compressed);
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

/* Where the next generation goes: in the place of one that nobody is being sent. NULL: there is none. */
static struct scrape_generation *next_place(struct scrape *scrape)
{
	if (scrape->current && scrape->current->users == 0)
		return scrape->current;
	for (size_t i = 0; i < SCRAPE_GENERATIONS_MAX; i++)
		if (is_free(&scrape->generations[i]))
			return &scrape->generations[i];
	return NULL;
}

static void turn_to(struct scrape *scrape, u64 sequence)
{
	struct scrape_generation *next;

	if (scrape->current && scrape->current->sequence == sequence)
		return;
	next = next_place(scrape);
	if (!next)
		return;
	if (scrape->current)
		scrape->current->served = false;
	generation_drop(next);
	*next = (struct scrape_generation){.sequence = sequence, .served = true};
	scrape->current = next;
}

int scrape_get(struct scrape *scrape, u64 sequence, bool openmetrics, bool gzip, struct MHD_Response **ret,
	       struct scrape_generation **ret_held)
{
	struct body *body;
	int r;

	turn_to(scrape, sequence);
	body = openmetrics ? &scrape->current->openmetrics : &scrape->current->text;
	if (!body->plain) {
		r = make_plain(scrape, body, openmetrics);
		if (r < 0)
			return r;
	}
	if (gzip && !body->gzip) {
		r = make_gzip(body, openmetrics);
		if (r < 0)
			return r;
	}
	*ret = gzip ? body->gzip : body->plain;
	*ret_held = scrape->current;
	scrape->current->users++;
	return 0;
}

// SPDX-License-Identifier: GPL-2.0
#include "http/http_bodies.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <zlib.h>

#include "base/cleanup.h"
#include "base/sealed.h"

/*
 * Level 1 compresses the text of the metrics to a tenth. The default level compresses it to a twelfth, in three
 * times the time.
 */
#define COMPRESSION_LEVEL Z_BEST_SPEED

/* windowBits of deflateInit2(): the largest window, in a gzip wrapper. */
#define GZIP_WINDOW_BITS (15 + 16)
#define MEMORY_LEVEL     8

void http_bodies_init(struct http_bodies *bodies, const struct http_source *source)
{
	*bodies = (struct http_bodies){.source = source};
	for (u32 form = 0; form < HTTP_FORMS; form++)
		bodies->made[form].fd = -1;
}

static void drop(struct http_body_made *made)
{
	if (made->fd >= 0)
		(void)close(made->fd);
	*made = (struct http_body_made){.fd = -1};
}

void http_bodies_done(struct http_bodies *bodies)
{
	for (u32 form = 0; form < HTTP_FORMS; form++)
		drop(&bodies->made[form]);
}

int http_bodies_compress(const void *plain, size_t length, void **ret, size_t *ret_length)
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
	/* The buffer is about ten times too large. If it cannot be made smaller, keep it. */
	*ret = realloc(compressed, *ret_length);
	if (!*ret)
		*ret = compressed;
	TAKE_PTR(compressed);
	return 0;
}

static int keep(struct http_bodies *bodies, u32 form, const void *data, size_t size)
{
	struct http_body_made *made = &bodies->made[form];
	int r = sealed_new("pebsd-http", data, size, &made->fd);

	if (r < 0)
		return r;
	made->size = size;
	made->generation = ++bodies->last_generation;
	return 0;
}

static int make_document(const struct http_source *source, enum http_document document, char **ret_text,
			 size_t *ret_length)
{
	switch (document) {
	case HTTP_DOCUMENT_TOP:
		return source->top ? source->top(source->userdata, ret_text, ret_length) : -EOPNOTSUPP;
	case HTTP_DOCUMENT_ALERTS:
		return source->alerts ? source->alerts(source->userdata, ret_text, ret_length) : -EOPNOTSUPP;
	default:
		return source->metrics(source->userdata, document == HTTP_DOCUMENT_OPENMETRICS, ret_text,
				       ret_length);
	}
}

static int make_plain(struct http_bodies *bodies, u32 form)
{
	_cleanup_free_ char *text = NULL;
	size_t length;
	int r = make_document(bodies->source, http_form_document(form), &text, &length);

	return r < 0 ? r : keep(bodies, form, text, length);
}

static int make_gzip(struct http_bodies *bodies, u32 form)
{
	const struct http_body_made *plain = &bodies->made[form & ~HTTP_FORM_GZIP];
	_cleanup_free_ void *compressed = NULL;
	size_t length;
	void *text;
	int r;

	text = mmap(NULL, plain->size, PROT_READ, MAP_PRIVATE, plain->fd, 0);
	if (text == MAP_FAILED)
		return -errno;
	r = http_bodies_compress(text, plain->size, &compressed, &length);
	(void)munmap(text, plain->size);
	return r < 0 ? r : keep(bodies, form, compressed, length);
}

int http_bodies_get(struct http_bodies *bodies, u32 form, struct http_body_made *ret)
{
	u64 sequence = bodies->source->sequence(bodies->source->userdata);
	u32 plain = form & ~HTTP_FORM_GZIP;
	int r = 0;

	if (sequence != bodies->sequence)
		http_bodies_done(bodies);
	bodies->sequence = sequence;
	if (!bodies->made[plain].generation)
		r = make_plain(bodies, plain);
	if (r == 0 && !bodies->made[form].generation)
		r = make_gzip(bodies, form);
	if (r < 0)
		return r;
	*ret = bodies->made[form];
	return 0;
}

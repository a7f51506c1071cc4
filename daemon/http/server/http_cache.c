// SPDX-License-Identifier: GPL-2.0
#include "http/server/http_cache.h"

#include <errno.h>
#include <microhttpd.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "export/prometheus/prometheus.h"
#include "http/server/http_answer.h"

static void drop_unused(struct http_cache_body *body)
{
	if (body->served || body->users > 0 || !body->response)
		return;
	MHD_destroy_response(body->response);
	*body = (struct http_cache_body){0};
}

void http_cache_done(struct http_cache *cache)
{
	for (u32 form = 0; form < HTTP_FORMS; form++)
		for (size_t i = 0; i < HTTP_CACHE_BODIES_MAX; i++) {
			cache->bodies[form][i].served = false;
			drop_unused(&cache->bodies[form][i]);
		}
}

struct http_cache_body *http_cache_current(struct http_cache *cache, u32 form)
{
	for (size_t i = 0; i < HTTP_CACHE_BODIES_MAX; i++)
		if (cache->bodies[form][i].served)
			return &cache->bodies[form][i];
	return NULL;
}

/*
 * Returns the place for a new body: that of the current body if no client is receiving it, else an empty
 * place. NULL: there is none.
 */
static struct http_cache_body *next_place(struct http_cache *cache, u32 form)
{
	struct http_cache_body *current = http_cache_current(cache, form);

	if (current && current->users == 0)
		return current;
	for (size_t i = 0; i < HTTP_CACHE_BODIES_MAX; i++)
		if (!cache->bodies[form][i].response)
			return &cache->bodies[form][i];
	return NULL;
}

u64 http_cache_bytes(const struct http_cache *cache)
{
	u64 bytes = 0;

	for (u32 form = 0; form < HTTP_FORMS; form++)
		for (size_t i = 0; i < HTTP_CACHE_BODIES_MAX; i++)
			if (!cache->bodies[form][i].served)
				bytes += cache->bodies[form][i].size;
	return bytes;
}

bool http_cache_full(struct http_cache *cache, u32 form)
{
	const struct http_cache_body *current = http_cache_current(cache, form);
	u64 more = current && current->users > 0 ? current->size : 0;

	return !next_place(cache, form) || (more && http_cache_bytes(cache) + more > HTTP_CACHE_BYTES_MAX);
}

static const struct {
	const char *type;
	const char *vary; /* the headers that choose the form */
} documents[HTTP_DOCUMENTS] = {
	[HTTP_DOCUMENT_TEXT] = {PROMETHEUS_TEXT_TYPE, "Accept, Accept-Encoding"},
	[HTTP_DOCUMENT_OPENMETRICS] = {PROMETHEUS_OPENMETRICS_TYPE, "Accept, Accept-Encoding"},
	[HTTP_DOCUMENT_TOP] = {HTTP_JSON_TYPE, "Accept-Encoding"},
	[HTTP_DOCUMENT_ALERTS] = {HTTP_JSON_TYPE, "Accept-Encoding"},
};

/* Takes ownership of `fd`: the response closes it, or this function does. */
static struct MHD_Response *respond(int fd, u64 size, u32 form)
{
	struct MHD_Response *response = MHD_create_response_from_fd64(size, fd);
	enum http_document document = http_form_document(form);

	if (!response) {
		(void)close(fd);
		return NULL;
	}
	if (http_describe(response, documents[document].type, NULL) < 0 ||
	    MHD_add_response_header(response, MHD_HTTP_HEADER_VARY, documents[document].vary) != MHD_YES ||
	    (form & HTTP_FORM_GZIP &&
	     MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_ENCODING, "gzip") != MHD_YES)) {
		MHD_destroy_response(response);
		return NULL;
	}
	return response;
}

int http_cache_put(struct http_cache *cache, u32 form, u64 generation, int fd, u64 size)
{
	struct http_cache_body *current = http_cache_current(cache, form);
	struct http_cache_body *place = http_cache_full(cache, form) ? NULL : next_place(cache, form);
	struct MHD_Response *response;

	if (!place) {
		(void)close(fd);
		return -ENOSPC;
	}
	response = respond(fd, size, form);
	if (!response)
		return -ENOMEM;
	if (current) {
		current->served = false;
		drop_unused(current);
	}
	*place = (struct http_cache_body){
		.generation = generation, .size = size, .response = response, .served = true};
	return 0;
}

void http_cache_hold(struct http_cache_body *body)
{
	body->users++;
}

void http_cache_release(struct http_cache_body *body)
{
	if (!body)
		return;
	body->users--;
	drop_unused(body);
}

unsigned int http_cache_live(const struct http_cache *cache)
{
	unsigned int n = 0;

	for (u32 form = 0; form < HTTP_FORMS; form++)
		for (size_t i = 0; i < HTTP_CACHE_BODIES_MAX; i++)
			n += cache->bodies[form][i].response != NULL;
	return n;
}

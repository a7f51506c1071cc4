// SPDX-License-Identifier: GPL-2.0
#include "http/server/http_page.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "http/server/http_answer.h"
#include "http/server/http_profile.h"
#include "page.h" /* made from page.html: PAGE_TEXT, and the SHA-256 sums of its script and style */

/* Marks in the page, in this order, that fill_in() replaces. */
#define ORIGIN_MARK   "@ORIGIN@"
#define PROFILES_MARK "@PROFILES@"

#define PROFILES_TEXT "<li>" HTTP_PROFILE_PATH "?cgroup=/PATH&amp;seconds=30 for pprof</li>"

/*
 * Permits the page's script and style, images in data: URLs, and requests to the server of the page. Nothing
 * else can run, load or be sent anywhere. Trusted Types keep the script from turning text into markup.
 */
#define POLICY                                                                                              \
	"default-src 'none'; script-src 'sha256-" PAGE_SCRIPT_SHA256                                        \
	"'; style-src 'sha256-" PAGE_STYLE_SHA256 "'; connect-src 'self'; img-src data:; base-uri 'none'; " \
	"form-action 'none'; frame-ancestors 'none'; "                                                      \
	"require-trusted-types-for 'script'; trusted-types 'none'"

/* Returns the page, which the caller frees, or NULL if memory runs out. */
static char *fill_in(const char *origin, bool profiles)
{
	static const char text[] = PAGE_TEXT;
	const char *first = strstr(text, ORIGIN_MARK);
	const char *second = strstr(text, PROFILES_MARK);
	char *page;

	if (asprintf(&page, "%.*s%s%s%.*s%s%s", (int)(first - text), text, origin,
		     strcmp(origin, "model") == 0 ? " (not a measurement)" : "",
		     (int)(second - first - (ptrdiff_t)strlen(ORIGIN_MARK)), first + strlen(ORIGIN_MARK),
		     profiles ? PROFILES_TEXT : "", second + strlen(PROFILES_MARK)) < 0)
		return NULL;
	return page;
}

enum MHD_Result http_page_send(struct MHD_Connection *connection, const char *origin, bool profiles)
{
	_cleanup_free_ char *page = fill_in(origin, profiles);
	struct MHD_Response *response = page ? http_text("text/html; charset=utf-8", POLICY, page) : NULL;

	return response ? http_send(connection, MHD_HTTP_OK, response) : MHD_NO;
}

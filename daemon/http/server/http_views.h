// SPDX-License-Identifier: GPL-2.0
/* GET requests of the views of the page (http_view.h). */
#ifndef PEBSD_HTTP_VIEWS_H
#define PEBSD_HTTP_VIEWS_H

#include "http/server/http_waits.h"
#include "http/shared/http_view.h"

/*
 * Answers a request of `owner` on the socket `fd`: with a refusal if its parameters are wrong, or if zooms are not
 * served (`zooms`) and it asks for one; otherwise as http_waits_begin().
 */
enum MHD_Result http_views_begin(struct http_waits *waits, enum http_view_kind kind, bool zooms,
				 struct MHD_Connection *connection, int fd, struct http_owner owner,
				 struct http_waiting **ret);

#endif

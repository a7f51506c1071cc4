// SPDX-License-Identifier: GPL-2.0
/* The page at /: page.html, which is compiled into the program and fetches JSON from this server. */
#ifndef PEBSD_HTTP_PAGE_H
#define PEBSD_HTTP_PAGE_H

#include <microhttpd.h>
#include <stdbool.h>

/* `origin` of the samples; `profiles`: profiles are served, and the page shows their path. */
enum MHD_Result http_page_send(struct MHD_Connection *connection, const char *origin, bool profiles);

#endif

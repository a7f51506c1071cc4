// SPDX-License-Identifier: GPL-2.0
/* The page at /: page.html, which is part of the program and fetches JSON from the server that it came from. */
#ifndef PEBSD_HTTP_PAGE_H
#define PEBSD_HTTP_PAGE_H

#include <microhttpd.h>
#include <stdbool.h>

/* `origin` of the samples; `profiles`: it says where they are. */
enum MHD_Result http_page_send(struct MHD_Connection *connection, const char *origin, bool profiles);

#endif

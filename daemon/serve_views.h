// SPDX-License-Identifier: GPL-2.0
/* The views of the page: figures and alerts of the past, explanations and zooms (http/shared/http_view.h). */
#ifndef PEBSD_SERVE_VIEWS_H
#define PEBSD_SERVE_VIEWS_H

#include <stddef.h>

#include "http/shared/http_view.h"

/* http_source.view; `userdata` is the server. */
int serve_view(void *userdata, const struct http_view *view, char **ret_text, size_t *ret_length,
	       char **ret_message);

#endif

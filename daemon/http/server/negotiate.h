// SPDX-License-Identifier: GPL-2.0
/* What a client asked for in Accept and Accept-Encoding (RFC 9110, 12.5). Pure; any bytes are let in. */
#ifndef PEBSD_NEGOTIATE_H
#define PEBSD_NEGOTIATE_H

#include <stdbool.h>

/*
 * Whether OpenMetrics 1.0.0 is preferred to the text format 0.0.4. Text is the answer where both are as
 * welcome, where neither is, and where `accept` is NULL. Parameters other than `version` and `q` do not
 * count; an element that cannot be read is passed over.
 */
bool negotiate_openmetrics(const char *accept);

/* Whether gzip is allowed, and not less welcome than no encoding. `accept_encoding` may be NULL: no. */
bool negotiate_gzip(const char *accept_encoding);

#endif

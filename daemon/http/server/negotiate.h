// SPDX-License-Identifier: GPL-2.0
/*
 * Reads Accept and Accept-Encoding of a request (RFC 9110, 12.5). Pure functions; the texts may contain any
 * bytes.
 */
#ifndef PEBSD_NEGOTIATE_H
#define PEBSD_NEGOTIATE_H

#include <stdbool.h>

/*
 * Returns true if OpenMetrics 1.0.0 is preferred to the text format 0.0.4. If both have the same quality,
 * OpenMetrics is preferred only if `accept` names it and does not name text. Text is chosen if neither is
 * welcome, and if `accept` is NULL. Parameters other than `version` and `q` are ignored, and so are elements
 * that cannot be parsed.
 */
bool negotiate_openmetrics(const char *accept);

/*
 * Returns true if gzip is allowed and at least as welcome as no encoding. `accept_encoding` may be NULL:
 * returns false.
 */
bool negotiate_gzip(const char *accept_encoding);

#endif

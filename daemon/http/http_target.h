// SPDX-License-Identifier: GPL-2.0
/* What a request asks for (RFC 9112, 3.2): its form, and its percent-encoding. Pure. */
#ifndef PEBSD_HTTP_TARGET_H
#define PEBSD_HTTP_TARGET_H

#include <stdbool.h>
#include <stddef.h>

/* Longer than any host that is right, with its port. */
#define HTTP_AUTHORITY_MAX 300

/*
 * The path of a target in origin form ("/metrics") or absolute form ("http://host:9754/metrics"), whose
 * authority is then in `ret_authority`, "" otherwise. False: the target has neither form.
 */
bool http_target_split(const char *target, const char **ret_path, char ret_authority[HTTP_AUTHORITY_MAX]);

/*
 * Decodes in place, and returns the new length. %00 stays as it is: what was behind it would be cut off, and
 * another page than the one that is asked for would be served. So does what is no percent-encoding.
 */
size_t http_target_decode(char *text);

#endif

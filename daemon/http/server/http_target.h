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

/* A NUL as a client encodes it. */
#define HTTP_TARGET_NUL "%00"

/*
 * Decodes the percent-encoding of `text` in place, and returns the new length. Text with a NUL in it stays as
 * it is: decoded it would end there, and name another page than the client asked for.
 */
size_t http_target_decode(char *text);

#endif

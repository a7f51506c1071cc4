// SPDX-License-Identifier: GPL-2.0
/* The target of a request (RFC 9112, 3.2): its form, and its percent-encoding. Pure functions. */
#ifndef PEBSD_HTTP_TARGET_H
#define PEBSD_HTTP_TARGET_H

#include <stdbool.h>
#include <stddef.h>

/* Longer than any valid host with its port. */
#define HTTP_AUTHORITY_MAX 300

/*
 * Splits a target in origin form ("/metrics") or absolute form ("http://host:9754/metrics"). `ret_authority`
 * gets the authority of the absolute form, otherwise "". Returns false if the target has neither form.
 */
bool http_target_split(const char *target, const char **ret_path, char ret_authority[HTTP_AUTHORITY_MAX]);

/* A percent-encoded NUL byte. */
#define HTTP_TARGET_NUL "%00"

/*
 * Decodes the percent-encoding of `text` in place, and returns the new length. Text that contains an encoded
 * NUL is not decoded: it would end at the NUL, and name another page than the client requested.
 */
size_t http_target_decode(char *text);

#endif

// SPDX-License-Identifier: GPL-2.0
/* Values of Prometheus labels. Pure functions. */
#ifndef PEBSD_LABEL_H
#define PEBSD_LABEL_H

/*
 * Returns `value` as it appears between the quotes of a label: in its shown form (base/utf8.h), with
 * backslash, quote and newline escaped. Returns 0 or -ENOMEM; the caller frees *ret.
 */
int label_escape(const char *value, char **ret);

#endif

// SPDX-License-Identifier: GPL-2.0
/* Values of Prometheus labels. Pure. */
#ifndef PEBSD_LABEL_H
#define PEBSD_LABEL_H

/*
 * `value` as it stands between the quotes of a label: backslash, quote and newline escaped, and valid UTF-8,
 * which a cgroup's name need not be. A byte that is none becomes U+FFFD and its two hexadecimal digits, and
 * so do the bytes of a U+FFFD that was there before: two different values never become one. Returns 0 or
 * -ENOMEM; the caller frees *ret.
 */
int label_escape(const char *value, char **ret);

#endif

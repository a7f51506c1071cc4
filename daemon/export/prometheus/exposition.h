// SPDX-License-Identifier: GPL-2.0
/*
 * Writes metrics in the text format 0.0.4 or in OpenMetrics 1.0. These differ in the names of families, in
 * the type `info` and in the last line. Write all samples of a family in a row: its HELP and TYPE lines
 * precede the first one. A family without samples does not appear at all.
 */
#ifndef PEBSD_EXPOSITION_H
#define PEBSD_EXPOSITION_H

#include <stdbool.h>
#include <stddef.h>

#include "snapshot/snapshot.h"

enum family_type { FAMILY_COUNTER, FAMILY_GAUGE, FAMILY_HISTOGRAM, FAMILY_SUMMARY, FAMILY_INFO };

struct family {
	const char *name; /* without the _total of a counter or the _info of an info */
	enum family_type type;
	const char *help; /* contains no newline, backslash or quote */
};

struct exposition {
	bool openmetrics;
	bool failed;         /* no memory: nothing more is written */
	const char *current; /* name of the last family, which must outlive the exposition */
	char *text;
	size_t length;
	size_t size; /* allocated bytes of `text` */
};

/* exposition_end() must follow, to free the memory. */
void exposition_begin(struct exposition *out, bool openmetrics);

/*
 * Returns 0, or -ENOMEM. On success the caller frees *ret_text, which is NUL-terminated and not larger than
 * needed.
 */
int exposition_end(struct exposition *out, char **ret_text, size_t *ret_length);

/*
 * Writes one sample. `suffix` is the part of its name after the family's name: "_total" for a counter,
 * "_info" for an info, "" for a gauge. `labels` and `more`, escaped and without braces, may be NULL.
 */
void exposition_u64(struct exposition *out, const struct family *family, const char *suffix,
		    const char *labels, const char *more, u64 value);

/*
 * Like exposition_u64(), for a u64 or a double, but these functions write nothing if the value is not known. A
 * value that is not finite counts as not known.
 */
void exposition_maybe_u64(struct exposition *out, const struct family *family, const char *suffix,
			  const char *labels, const char *more, struct maybe_u64 value);
void exposition_maybe_double(struct exposition *out, const struct family *family, const char *suffix,
			     const char *labels, const char *more, struct maybe_double value);

#endif

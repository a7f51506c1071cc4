// SPDX-License-Identifier: GPL-2.0
/*
 * Writes metrics in the text format 0.0.4 or in OpenMetrics 1.0, which differ in the names of families, in
 * the type `info` and in the end. All samples of a family are to be written in a row; its HELP and TYPE
 * precede the first, and a family without samples leaves no trace.
 */
#ifndef PEBSD_EXPOSITION_H
#define PEBSD_EXPOSITION_H

#include <stdbool.h>
#include <stddef.h>

#include "snapshot/snapshot.h"

enum family_type { FAMILY_COUNTER, FAMILY_GAUGE, FAMILY_HISTOGRAM, FAMILY_SUMMARY, FAMILY_INFO };

struct family {
	const char *name; /* without a counter's _total and an info's _info */
	enum family_type type;
	const char *help; /* without newline, backslash and quote */
};

struct exposition {
	bool openmetrics;
	bool failed; /* no memory: nothing more is written */
	const struct family *current;
	char *text;
	size_t length;
	size_t size; /* of `text` */
};

/* exposition_end() must follow. */
void exposition_begin(struct exposition *out, bool openmetrics);

/* Returns 0, and then the caller frees *ret_text, NUL-terminated and no larger than it needs to be; or
 * -ENOMEM. */
int exposition_end(struct exposition *out, char **ret_text, size_t *ret_length);

/*
 * One sample. `suffix` is what its name has beyond the family's: "_total" for a counter, "_info" for an info,
 * "" for a gauge. `labels` and `more`, escaped and without braces, may be NULL.
 */
void exposition_u64(struct exposition *out, const struct family *family, const char *suffix,
		    const char *labels, const char *more, u64 value);

/* The same where the value is known; one that is no finite number is not. */
void exposition_maybe_u64(struct exposition *out, const struct family *family, const char *suffix,
			  const char *labels, const char *more, struct maybe_u64 value);
void exposition_maybe_double(struct exposition *out, const struct family *family, const char *suffix,
			     const char *labels, const char *more, struct maybe_double value);

#endif

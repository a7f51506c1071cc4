// SPDX-License-Identifier: GPL-2.0
#include "export/prometheus/exposition.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>

/* Enough for a host with few cgroups. room_for() doubles the size when needed. */
#define TEXT_SIZE_MIN (64UL * 1024)

/*
 * exposition_maybe_double() writes integers below this value by exposition_u64(). %.15g would give the same
 * text.
 */
#define INTEGER_MAX 1e15

/* Digits of the largest u64. */
#define DIGITS_MAX 20

void exposition_begin(struct exposition *out, bool openmetrics)
{
	*out = (struct exposition){.openmetrics = openmetrics};
}

/* Returns the address at which to write `n` bytes and a NUL; NULL: no memory. */
static char *room_for(struct exposition *out, size_t n)
{
	size_t size = MAX(out->size, TEXT_SIZE_MIN);
	char *larger;

	if (out->failed)
		return NULL;
	if (out->length + n < out->size)
		return out->text + out->length;
	while (out->length + n >= size)
		size *= 2;
	larger = realloc(out->text, size);
	if (!larger) {
		out->failed = true;
		return NULL;
	}
	out->text = larger;
	out->size = size;
	return out->text + out->length;
}

/* Adds the bytes that were written up to `end` to the text. */
static void take(struct exposition *out, const char *end)
{
	out->length = (size_t)(end - out->text);
}

static char *put(char *to, const char *text, size_t length)
{
	memcpy(to, text, length);
	return to + length;
}

static char *put_text(char *to, const char *text)
{
	return stpcpy(to, text);
}

/* Writes two digits at a time: a scrape has some thousand numbers. */
static char *put_u64(char *to, u64 value)
{
	static const char pairs[] = "00010203040506070809101112131415161718192021222324"
				    "25262728293031323334353637383940414243444546474849"
				    "50515253545556575859606162636465666768697071727374"
				    "75767778798081828384858687888990919293949596979899";
	char digits[DIGITS_MAX];
	char *from = digits + sizeof(digits);

	for (; value >= 100; value /= 100)
		from = memcpy(from - 2, pairs + 2 * (value % 100), 2);
	if (value >= 10)
		from = memcpy(from - 2, pairs + 2 * value, 2);
	else
		*--from = (char)('0' + value);
	return put(to, from, (size_t)(digits + sizeof(digits) - from));
}

int exposition_end(struct exposition *out, char **ret_text, size_t *ret_length)
{
	static const char end[] = "# EOF\n";
	char *to = room_for(out, sizeof(end));

	if (!to) {
		free(out->text);
		return -ENOMEM;
	}
	if (out->openmetrics)
		to = put_text(to, end);
	*to++ = '\0';
	take(out, to);
	/*
	 * Free the unused rest of the block, which can be as large as the text. If realloc() fails, keep the
	 * larger block.
	 */
	*ret_text = realloc(out->text, out->length);
	if (!*ret_text)
		*ret_text = out->text;
	*ret_length = out->length - 1;
	return 0;
}

static void begin_family(struct exposition *out, const struct family *family)
{
	const char *type = "untyped";
	const char *suffix = "";
	char *to;

	if (out->current == family->name)
		return;
	out->current = family->name;
	switch (family->type) {
	case FAMILY_COUNTER:
		type = "counter";
		suffix = out->openmetrics ? "" : "_total";
		break;
	case FAMILY_GAUGE:
		type = "gauge";
		break;
	case FAMILY_HISTOGRAM:
		type = "histogram";
		break;
	case FAMILY_SUMMARY:
		type = "summary";
		break;
	case FAMILY_INFO:
		type = out->openmetrics ? "info" : "gauge";
		suffix = out->openmetrics ? "" : "_info";
		break;
	}
	to = room_for(out, 2 * (strlen(family->name) + strlen(suffix)) + strlen(family->help) + strlen(type) +
				   sizeof("# HELP  \n# TYPE  \n"));
	if (!to)
		return;
	to = put_text(put_text(put_text(to, "# HELP "), family->name), suffix);
	to = put_text(put_text(put_text(to, " "), family->help), "\n# TYPE ");
	to = put_text(put_text(put_text(to, family->name), suffix), " ");
	take(out, put_text(put_text(to, type), "\n"));
}

/*
 * Writes a sample up to its value, and reserves `value_size` bytes for the value and one for a newline.
 * Returns the address of the value; NULL: no memory.
 */
static char *begin_sample(struct exposition *out, const struct family *family, const char *suffix,
			  const char *labels, const char *more, size_t value_size)
{
	size_t n_name = strlen(family->name);
	size_t n_suffix = strlen(suffix);
	size_t n_labels = labels ? strlen(labels) : 0;
	size_t n_more = more ? strlen(more) : 0;
	char *to;

	begin_family(out, family);
	to = room_for(out, n_name + n_suffix + n_labels + n_more + value_size + sizeof("{,} \n"));
	if (!to)
		return NULL;
	to = put(put(to, family->name, n_name), suffix, n_suffix);
	if (labels || more) {
		*to++ = '{';
		to = put(to, labels ? labels : "", n_labels);
		if (labels && more)
			*to++ = ',';
		to = put(to, more ? more : "", n_more);
		*to++ = '}';
	}
	*to++ = ' ';
	return to;
}

void exposition_u64(struct exposition *out, const struct family *family, const char *suffix,
		    const char *labels, const char *more, u64 value)
{
	char *to = begin_sample(out, family, suffix, labels, more, DIGITS_MAX);

	if (!to)
		return;
	to = put_u64(to, value);
	*to++ = '\n';
	take(out, to);
}

void exposition_maybe_u64(struct exposition *out, const struct family *family, const char *suffix,
			  const char *labels, const char *more, struct maybe_u64 value)
{
	if (value.known)
		exposition_u64(out, family, suffix, labels, more, value.value);
}

void exposition_maybe_double(struct exposition *out, const struct family *family, const char *suffix,
			     const char *labels, const char *more, struct maybe_double value)
{
	char number[40];
	char *to;

	if (!value.known || !isfinite(value.value))
		return;
	if (value.value >= 0 && value.value < INTEGER_MAX && value.value == (double)(u64)value.value &&
	    !signbit(value.value)) {
		exposition_u64(out, family, suffix, labels, more, (u64)value.value);
		return;
	}
	/* The shortest text that is read back exactly. */
	for (int digits = DBL_DIG; digits <= DBL_DECIMAL_DIG; digits++) {
		(void)snprintf(number, sizeof(number), "%.*g", digits, value.value);
		if (strtod(number, NULL) == value.value)
			break;
	}
	to = begin_sample(out, family, suffix, labels, more, strlen(number));
	if (!to)
		return;
	to = put_text(to, number);
	*to++ = '\n';
	take(out, to);
}

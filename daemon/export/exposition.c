// SPDX-License-Identifier: GPL-2.0
#include "export/exposition.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "base/cleanup.h"

int exposition_begin(struct exposition *out, bool openmetrics)
{
	*out = (struct exposition){.openmetrics = openmetrics};
	out->file = open_memstream(&out->text, &out->length);
	return out->file ? 0 : -ENOMEM;
}

int exposition_end(struct exposition *out, char **ret_text, size_t *ret_length)
{
	bool failed;

	if (out->openmetrics)
		(void)fputs("# EOF\n", out->file);
	failed = ferror(out->file);
	if (fclose(out->file) != 0 || failed) {
		free(out->text);
		return -ENOMEM;
	}
	*ret_text = TAKE_PTR(out->text);
	*ret_length = out->length;
	return 0;
}

static void begin_family(struct exposition *out, const struct family *family)
{
	const char *type = "untyped";
	const char *suffix = "";

	if (out->current == family)
		return;
	out->current = family;
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
	(void)fprintf(out->file, "# HELP %s%s %s\n# TYPE %s%s %s\n", family->name, suffix, family->help,
		      family->name, suffix, type);
}

static void write_name(struct exposition *out, const struct family *family, const char *suffix,
		       const char *labels, const char *more)
{
	begin_family(out, family);
	(void)fprintf(out->file, "%s%s", family->name, suffix);
	if (labels || more)
		(void)fprintf(out->file, "{%s%s%s}", labels ? labels : "", labels && more ? "," : "",
			      more ? more : "");
}

void exposition_u64(struct exposition *out, const struct family *family, const char *suffix,
		    const char *labels, const char *more, u64 value)
{
	write_name(out, family, suffix, labels, more);
	(void)fprintf(out->file, " %llu\n", (unsigned long long)value);
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

	if (!value.known || !isfinite(value.value))
		return;
	/* As short as it can be and still be read back exactly. */
	for (int digits = DBL_DIG; digits <= DBL_DECIMAL_DIG; digits++) {
		(void)snprintf(number, sizeof(number), "%.*g", digits, value.value);
		if (strtod(number, NULL) == value.value)
			break;
	}
	write_name(out, family, suffix, labels, more);
	(void)fprintf(out->file, " %s\n", number);
}

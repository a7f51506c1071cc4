// SPDX-License-Identifier: GPL-2.0
#include "format/format_zoom_lines.h"

#include <string.h>

#include "base/cleanup.h"
#include "base/json_get.h"
#include "format/location.h"

#define ACCESS_LEFT (6 + 6 + 8 + 7 + 5 + 1)
#define INDENT      7
#define NAME_LEAST  12

static bool is_shared(const json_object *line)
{
	return json_get_text(line, "sharing");
}

static const char *sharing_of(const json_object *line)
{
	const char *sharing = json_get_text(line, "sharing");

	if (!sharing)
		return NULL;
	return strcmp(sharing, "false") == 0  ? "false sharing (candidate): CPUs at different offsets"
	       : strcmp(sharing, "true") == 0 ? "true sharing: CPUs at one offset"
					      : NULL;
}

static void put_access(FILE *out, const struct format_style *style, json_object *access)
{
	char offset[TEXT_NUMBER_MAX] = "-";
	u64 value;

	if (json_get_u64(access, "offset", &value))
		(void)snprintf(offset, sizeof(offset), "0x%02llx", (unsigned long long)value);
	(void)fprintf(out, "%*s%6s", INDENT, "", offset);
	location_put_count(out, 5, access, "hitm");
	location_put_count(out, 7, access, "samples");
	location_put_count(out, 6, access, "stores");
	location_put_count(out, 4, access, "cpus");
	(void)fputc(' ', out);
	location_put_function(out, style, access, "function", false,
			      place_rest(style, INDENT + ACCESS_LEFT, NAME_LEAST));
}

/* "counters+0x40 (in /usr/bin/x), process 812". */
static void put_object(FILE *out, const struct format_style *style, const json_object *line)
{
	_cleanup_free_ char *object = NULL, *text = NULL;
	char process[64] = "";
	u64 pid;

	if (json_get_u64(line, "pid", &pid) && pid > 0)
		(void)snprintf(process, sizeof(process), ", process %llu", (unsigned long long)pid);
	if (asprintf(&text, "%s%s", line_visible(json_get_text(line, "object"), &object), process) < 0)
		text = NULL;
	(void)fprintf(out, "%*s", INDENT, "");
	location_put_start(out, text ? text : "?", place_rest(style, INDENT, NAME_LEAST));
	(void)fputc('\n', out);
}

static void put_line(FILE *out, const struct format_style *style, const struct zoom_weight *weight,
		     json_object *line)
{
	json_object *accesses = json_get_array(line, "accesses");
	_cleanup_free_ char *address = NULL;
	const char *sharing = sharing_of(line);
	char cpus[TEXT_NUMBER_MAX] = "-";
	double part = 0;
	bool known = json_get_double(line, weight->key, &part);
	u64 count, total;

	if (json_get_u64(line, "hitm_cpus", &count) && json_get_u64(line, "cpus", &total))
		(void)snprintf(cpus, sizeof(cpus), "%llu/%llu", (unsigned long long)count,
			       (unsigned long long)total);
	location_put_share(out, known, part, weight->all);
	location_put_count(out, 7, line, "samples");
	location_put_count(out, 5, line, "hitm");
	(void)fprintf(out, " %7s ", cpus);
	(void)fprintf(out, "%s\n", line_visible(json_get_text(line, "address"), &address));
	put_object(out, style, line);
	if (sharing)
		(void)fprintf(out, "%*s%s\n", INDENT, "", sharing);
	for (size_t i = 0; accesses && i < json_object_array_length(accesses); i++) {
		if (i == 0)
			(void)fprintf(out, "%*sOFFSET  HITM SAMPLES STORES CPUS CODE\n", INDENT, "");
		put_access(out, style, json_object_array_get_idx(accesses, i));
	}
}

/* Prints only contended lines: the others are part of the table of data. */
void format_zoom_lines(FILE *out, const struct format_style *style, json_object *lines,
		       const struct zoom_weight *weight)
{
	bool first = true;

	for (size_t i = 0; lines && i < json_object_array_length(lines); i++) {
		json_object *line = json_object_array_get_idx(lines, i);

		if (!is_shared(line))
			continue;
		if (first)
			location_put_head(
				out, style,
				weight->latency
					? "  LAT% SAMPLES  HITM ON CPUS CACHE LINE THAT CPUS CONTEND FOR"
					: "SHARE% SAMPLES  HITM ON CPUS CACHE LINE THAT CPUS CONTEND FOR");
		else
			(void)fputc('\n', out);
		first = false;
		put_line(out, style, weight, line);
	}
}

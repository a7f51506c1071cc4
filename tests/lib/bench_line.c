// SPDX-License-Identifier: GPL-2.0
#include "bench_line.h"

#include <json-c/json.h>
#include <stdio.h>

static void add_text(json_object *line, const char *key, const char *text)
{
	(void)json_object_object_add(line, key, json_object_new_string(text));
}

static void print(json_object *line)
{
	(void)printf("%s\n", json_object_to_json_string_ext(line, JSON_C_TO_STRING_NOSLASHESCAPE));
	(void)fflush(stdout);
	json_object_put(line);
}

void bench_line_better(const char *group, const char *name, const char *unit, double value,
		       enum bench_better better)
{
	json_object *line = json_object_new_object();

	add_text(line, "group", group);
	add_text(line, "name", name);
	add_text(line, "unit", unit);
	(void)json_object_object_add(line, "value", json_object_new_double(value));
	if (better != BENCH_LOWER)
		add_text(line, "better", better == BENCH_HIGHER ? "higher" : "neither");
	print(line);
}

void bench_line(const char *group, const char *name, const char *unit, double value)
{
	bench_line_better(group, name, unit, value, BENCH_LOWER);
}

void bench_line_left_out(const char *group, const char *name, const char *why)
{
	json_object *line = json_object_new_object();

	add_text(line, "group", group);
	add_text(line, "name", name);
	add_text(line, "left_out", why);
	print(line);
}

void bench_line_fact(const char *name, const char *value)
{
	json_object *line = json_object_new_object();

	add_text(line, "fact", name);
	add_text(line, "value", value);
	print(line);
}

// SPDX-License-Identifier: GPL-2.0
#include "export/json/json_flame.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "export/json/data_source_names.h"
#include "export/json/json_zoom.h"

static json_object *node_object(struct json_writer *writer, const struct flame_node *node, const char *name,
				bool latency)
{
	json_object *object = json_checked(writer, json_object_new_object());

	json_put_text(writer, object, "name", name);
	json_put_source_line(writer, object, node->file, node->line);
	json_put_u64(writer, object, "samples", node->samples);
	if (latency)
		json_put_u64(writer, object, "latency", node->latency);
	json_put_counts(writer, object, "sources", node->sources, source_names, SOURCE_SLOTS);
	if (latency)
		json_put_counts(writer, object, "source_latencies", node->source_latencies, source_names,
				SOURCE_SLOTS);
	return object;
}

/* Parents come before their children, so each node is added to an object that exists. */
static json_object *tree_object(struct json_writer *writer, const struct flame *flame, const char *root,
				bool latency)
{
	_cleanup_free_ json_object **objects = calloc(flame->n + 1, sizeof(json_object *));

	if (!objects) {
		writer->failed = true;
		return NULL;
	}
	for (size_t i = 0; i < flame->n && !writer->failed; i++) {
		const struct flame_node *node = &flame->nodes[i];
		bool is_root = node->parent == FLAME_NONE;
		json_object *parent = is_root ? NULL : objects[node->parent];
		json_object *children = parent ? json_object_object_get(parent, "children") : NULL;

		objects[i] = node_object(writer, node,
					 is_root      ? root
					 : node->name ? node->name
						      : "(other)",
					 latency);
		if (is_root)
			continue;
		if (!children) {
			children = json_checked(writer, json_object_new_array());
			json_put(writer, parent, "children", children);
		}
		/* After a failure the list may be freed. */
		json_append(writer, writer->failed ? NULL : children, objects[i]);
	}
	return objects[0];
}

static json_object *access_object(struct json_writer *writer, const struct report_access *access)
{
	json_object *object = json_checked(writer, json_object_new_object());

	json_put_u64(writer, object, "cpu", access->cpu);
	json_put_access(writer, object, access);
	return object;
}

static json_object *line_object(struct json_writer *writer, const struct report_line *line, u64 all,
				bool addresses)
{
	json_object *object = json_checked(writer, json_object_new_object());
	json_object *accesses = json_checked(writer, json_object_new_array());
	bool kernel = SYMBOL_IS_KERNEL(line->address);
	_cleanup_free_ char *name = strdup(line->object);
	char *plus = name ? strrchr(name, '+') : NULL;
	char address[24];

	if (addresses && !kernel) {
		(void)snprintf(address, sizeof(address), "0x%llx", (unsigned long long)line->address);
		json_put_text(writer, object, "line", address);
	}
	/* Leave out the offset in a mapping of the kernel: it would reveal the address. */
	if (kernel && plus && strncmp(plus, "+0x", 3) == 0)
		*plus = '\0';
	writer->failed = writer->failed || !name;
	if (name)
		json_put_text(writer, object, "object", name);
	json_put_u64(writer, object, "samples", line->samples);
	json_put_u64(writer, object, "hitm", line->hitm);
	json_put_number(writer, object, "share", all ? (double)line->samples / (double)all : 0, 6);
	json_put(writer, object, "false_sharing", json_object_new_boolean(line->false_sharing));
	json_put_u64(writer, object, "cpus", line->cpus);
	for (size_t i = 0; i < line->n_accesses; i++)
		json_append(writer, accesses, access_object(writer, &line->accesses[i]));
	json_put(writer, object, "accesses", accesses);
	return object;
}

json_object *json_flame(const struct json_zoom *zoom, const struct flame *flame,
			const struct profile_report *report, bool addresses)
{
	struct json_writer writer = {0};
	json_object *object = json_start_of(&writer, zoom->about->origin);
	json_object *lines = json_checked(&writer, json_object_new_array());
	const struct timespec until = json_zoom_until(zoom->zoom, zoom->about);
	bool latency = json_zoom_has_latency(zoom->about);

	json_put_text(&writer, object, "cgroup", zoom->about->cgroup);
	json_put_time(&writer, object, "until", &until);
	json_put_number(&writer, object, "seconds", zoom->zoom->seconds, 3);
	json_put_u64(&writer, object, "samples", zoom->totals.samples);
	if (latency)
		json_put_u64(&writer, object, "latency", zoom->totals.latency);
	json_put(&writer, object, "flame", tree_object(&writer, flame, zoom->about->cgroup, latency));
	for (size_t i = 0; i < report->n_lines; i++)
		/* Lines without a HITM are not contended. */
		if (report->lines[i].hitm)
			json_append(&writer, lines,
				    line_object(&writer, &report->lines[i], report->totals.with_address,
						addresses));
	json_put(&writer, object, "lines", lines);
	return json_finish(&writer, object);
}

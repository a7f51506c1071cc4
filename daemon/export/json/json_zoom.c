// SPDX-License-Identifier: GPL-2.0
#include "export/json/json_zoom.h"

#include <string.h>
#include <sys/param.h>

#include "base/json_get.h"
#include "export/json/data_source_names.h"
#include "export/json/json.h"
#include "export/json/json_writer.h"
#include "profile/hidden_names.h"

const char *json_zoom_state(enum zoom_state state)
{
	switch (state) {
	case ZOOM_RUNNING:
		return "running";
	case ZOOM_NAMING:
		return "naming";
	case ZOOM_DONE:
		break;
	}
	return "done";
}

static struct timespec real_time(u64 ns)
{
	return (struct timespec){.tv_sec = (time_t)(ns / NSEC_PER_SEC), .tv_nsec = (long)(ns % NSEC_PER_SEC)};
}

struct timespec json_zoom_until(const struct zoom *zoom, const struct zoom_about *about)
{
	return real_time(about->began_real_ns + (u64)(zoom->seconds * (double)NSEC_PER_SEC));
}

bool json_zoom_has_latency(const struct zoom_about *about)
{
	for (size_t i = 0; i < about->n_events; i++)
		if (about->events[i].settings.has_latency)
			return true;
	return false;
}

static json_object *events_array(struct json_writer *writer, const struct zoom_about *about)
{
	json_object *array = json_checked(writer, json_object_new_array());

	for (size_t i = 0; i < about->n_events; i++) {
		char key[EVENT_KEY_MAX];

		event_key(about->events, about->n_events, i, key);
		json_append(writer, array, json_name(key));
	}
	return array;
}

static json_object *samples_object(struct json_writer *writer, const struct json_zoom *zoom)
{
	const struct zoom_about *about = zoom->about;
	json_object *object = json_checked(writer, json_object_new_object());

	json_put_u64(writer, object, "taken", zoom->totals.samples);
	json_put_u64(writer, object, "seen", about->counts.seen);
	json_put_u64(writer, object, "limited", about->counts.limited);
	json_put_u64(writer, object, "lost", about->counts.lost);
	/*
	 * Samples that the recording dropped are mostly the same ones that the tables dropped, so the larger
	 * number is closer to the truth than the sum of both.
	 */
	json_put_u64(writer, object, "dropped", MAX(about->dropped, zoom->totals.dropped));
	json_put_u64(writer, object, "malformed", about->counts.malformed);
	return object;
}

static json_object *stacks_object(struct json_writer *writer, const struct json_zoom *zoom)
{
	json_object *object = json_checked(writer, json_object_new_object());

	json_put_text(writer, object, "by", zoom->about->lbr ? "lbr" : "frame pointers");
	json_put_u64(writer, object, "user", zoom->totals.user_stacks);
	json_put_u64(writer, object, "early", zoom->totals.early);
	return object;
}

static json_object *state_object(struct json_writer *writer, const struct json_zoom *state)
{
	json_object *object = json_checked(writer, json_object_new_object());
	const struct zoom_about *about = state->about;
	const struct zoom *zoom = state->zoom;
	struct timespec began = real_time(about->began_real_ns);
	u64 end_ns = about->ended_ns ? about->ended_ns : state->now_ns;
	bool latency = json_zoom_has_latency(about);

	json_put_u64(writer, object, "zoom", zoom->id);
	json_put_text(writer, object, "cgroup", about->cgroup);
	json_put_text(writer, object, "state", json_zoom_state(zoom->state));
	json_put_time(writer, object, "began", &began);
	if (zoom->state == ZOOM_RUNNING) {
		struct timespec until = json_zoom_until(zoom, about);

		json_put_time(writer, object, "until", &until);
	}
	json_put_number(writer, object, "seconds", zoom->seconds, 3);
	json_put_number(writer, object, "ran_s",
			(double)(end_ns - MIN(about->began_ns, end_ns)) / (double)NSEC_PER_SEC, 3);
	json_put_text(writer, object, "reason", zoom->reason);
	if (zoom->note)
		json_put_text(writer, object, "note", zoom->note);
	json_put_u64(writer, object, "rate", about->rate);
	json_put(writer, object, "events", events_array(writer, about));
	json_put(writer, object, "latency", json_object_new_boolean(latency));
	if (zoom->period)
		json_put_u64(writer, object, "period", zoom->period);
	json_put(writer, object, "samples", samples_object(writer, state));
	json_put_u64(writer, object, "throttles", about->counts.throttles);
	if (about->counts.enabled_ns)
		json_put_number(writer, object, "running_ratio",
				(double)about->counts.running_ns / (double)about->counts.enabled_ns, 6);
	if (latency)
		json_put_u64(writer, object, "latency_sum", state->totals.latency);
	json_put(writer, object, "stacks", stacks_object(writer, state));
	json_put_u64(writer, object, "memory", state->bytes);
	return object;
}

json_object *json_zoom(const struct json_zoom *zoom)
{
	struct json_writer writer = {0};
	json_object *object = state_object(&writer, zoom);

	return json_finish(&writer, object);
}

void json_put_source_line(struct json_writer *writer, json_object *object, const char *file, u32 line)
{
	if (file)
		json_put_text(writer, object, "file", file);
	if (file && line)
		json_put_u64(writer, object, "line", line);
}

static json_object *function_object(struct json_writer *writer, const struct report_function *function,
				    bool latency)
{
	json_object *object = json_checked(writer, json_object_new_object());

	json_put_text(writer, object, "name", function->name);
	if (function->module)
		json_put_text(writer, object, "module", function->module);
	json_put_source_line(writer, object, function->file, function->line);
	json_put_u64(writer, object, "samples", function->samples);
	if (latency)
		json_put_u64(writer, object, "latency", function->latency);
	json_put_u64(writer, object, "total_samples", function->total_samples);
	if (latency)
		json_put_u64(writer, object, "total_latency", function->total_latency);
	json_put_counts(writer, object, "sources", function->sources, source_names, SOURCE_SLOTS);
	return object;
}

static json_object *object_object(struct json_writer *writer, const struct report_object *of, bool latency)
{
	json_object *object = json_checked(writer, json_object_new_object());

	json_put_text(writer, object, "name", of->name);
	json_put_text(writer, object, "region", symbol_region_name(of->region));
	json_put_u64(writer, object, "samples", of->samples);
	if (latency)
		json_put_u64(writer, object, "latency", of->latency);
	json_put_u64(writer, object, "hitm", of->hitm);
	json_put_counts(writer, object, "sources", of->sources, source_names, SOURCE_SLOTS);
	return object;
}

void json_put_access(struct json_writer *writer, json_object *object, const struct report_access *access)
{
	json_put_u64(writer, object, "offset", access->offset);
	json_put_text(writer, object, "function", access->function);
	json_put_source_line(writer, object, access->file, access->line);
	json_put_u64(writer, object, "samples", access->samples);
	json_put_u64(writer, object, "stores", access->stores);
	json_put_u64(writer, object, "hitm", access->hitm);
}

static json_object *access_object(struct json_writer *writer, const struct report_access *access,
				  bool latency)
{
	json_object *object = json_checked(writer, json_object_new_object());

	json_put_access(writer, object, access);
	if (latency)
		json_put_u64(writer, object, "latency", access->latency);
	json_put_u64(writer, object, "cpus", access->cpus);
	return object;
}

/*
 * Adds the name. If `hidden`, removes the offset of "name+0xOFFSET", which says where in its object the
 * kernel's cache line lies.
 */
static void put_object_name(struct json_writer *writer, json_object *object, const char *name, bool hidden)
{
	_cleanup_free_ char *text = strdup(name);
	char *plus = text ? strrchr(text, '+') : NULL;

	if (!text) {
		writer->failed = true;
		return;
	}
	if (hidden && plus && strncmp(plus, "+0x", 3) == 0)
		*plus = '\0';
	json_put_text(writer, object, "object", text);
}

static json_object *line_object(struct json_writer *writer, const struct report_line *line, bool latency,
				bool hidden)
{
	json_object *object = json_checked(writer, json_object_new_object());
	json_object *accesses = json_checked(writer, json_object_new_array());
	char address[24];

	if (!hidden) {
		(void)snprintf(address, sizeof(address), "0x%llx", (unsigned long long)line->address);
		json_put_text(writer, object, "address", address);
	}
	if (line->pid)
		json_put_u64(writer, object, "pid", line->pid);
	put_object_name(writer, object, line->object, hidden);
	json_put_u64(writer, object, "samples", line->samples);
	if (latency)
		json_put_u64(writer, object, "latency", line->latency);
	json_put_u64(writer, object, "hitm", line->hitm);
	json_put_u64(writer, object, "cpus", line->cpus);
	json_put_u64(writer, object, "hitm_cpus", line->hitm_cpus);
	if (line->false_sharing || line->hitm_cpus >= 2)
		json_put_text(writer, object, "sharing", line->false_sharing ? "false" : "true");
	for (size_t i = 0; i < line->n_accesses; i++)
		json_append(writer, accesses, access_object(writer, &line->accesses[i], latency));
	json_put(writer, object, "accesses", accesses);
	return object;
}

static json_object *node_object(struct json_writer *writer, const struct report_node *node, bool latency)
{
	json_object *object = json_checked(writer, json_object_new_object());

	if (node->node >= 0)
		json_put_u64(writer, object, "node", (u64)node->node);
	json_put_u64(writer, object, "samples", node->samples);
	if (latency)
		json_put_u64(writer, object, "latency", node->latency);
	json_put_u64(writer, object, "remote", node->remote);
	json_put_u64(writer, object, "pages", node->pages);
	return object;
}

/* Adds to `left_out` how many of `n` items are not in their list. */
static void put_left_out(struct json_writer *writer, json_object *left_out, const char *key, size_t n,
			 const json_object *array)
{
	size_t listed = array ? json_object_array_length(array) : 0;

	if (listed < n)
		json_put_u64(writer, left_out, key, n - listed);
}

/* Adds the lists of the report, which share the space of one page. */
static void put_lists(struct json_writer *writer, json_object *object, const struct json_zoom *zoom,
		      const struct profile_report *report)
{
	json_object *functions = json_checked(writer, json_object_new_array());
	json_object *objects = json_checked(writer, json_object_new_array());
	json_object *lines = json_checked(writer, json_object_new_array());
	_cleanup_json_ json_object *left_out = json_checked(writer, json_object_new_object());
	bool latency = json_zoom_has_latency(zoom->about);
	struct json_page page = {0};

	json_page_share(&page, 3);
	for (size_t i = 0; i < report->n_functions; i++)
		if (!json_append_to_page(writer, functions,
					 function_object(writer, &report->functions[i], latency), &page, i))
			break;
	json_page_share(&page, 2);
	for (size_t i = 0; i < report->n_objects; i++)
		if (!json_append_to_page(writer, objects, object_object(writer, &report->objects[i], latency),
					 &page, i))
			break;
	json_page_share(&page, 1);
	for (size_t i = 0; i < report->n_lines; i++) {
		const struct report_line *line = &report->lines[i];
		bool hidden = !zoom->kernel_addresses && SYMBOL_IS_KERNEL(line->address);

		if (!json_append_to_page(writer, lines, line_object(writer, line, latency, hidden), &page, i))
			break;
	}
	put_left_out(writer, left_out, "functions", report->n_functions, functions);
	put_left_out(writer, left_out, "objects", report->n_objects, objects);
	put_left_out(writer, left_out, "lines", report->n_lines, lines);
	json_put(writer, object, "functions", functions);
	json_put(writer, object, "objects", objects);
	json_put(writer, object, "lines", lines);
	if (left_out && json_object_object_length(left_out) > 0)
		json_put(writer, object, "left_out", json_object_get(left_out));
}

json_object *json_zoom_report(const struct json_zoom *zoom, const struct profile_report *report)
{
	struct json_writer writer = {0};
	json_object *object = json_start_of(&writer, zoom->about->origin);
	bool latency = json_zoom_has_latency(zoom->about);

	json_put(&writer, object, "zoom", state_object(&writer, zoom));
	put_lists(&writer, object, zoom, report);
	if (report->n_nodes > 0) {
		json_object *nodes = json_checked(&writer, json_object_new_array());

		for (size_t i = 0; i < report->n_nodes; i++)
			json_append(&writer, nodes, node_object(&writer, &report->nodes[i], latency));
		json_put(&writer, object, "nodes", nodes);
	}
	json_put_u64(&writer, object, "unnamed", report->unnamed);
	return json_finish(&writer, object);
}

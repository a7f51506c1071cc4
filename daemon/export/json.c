// SPDX-License-Identifier: GPL-2.0
#include "export/json.h"

#include "base/cleanup.h"
#include "base/utf8.h"
#include "export/json_event.h"

json_object *json_name(const char *name)
{
	_cleanup_free_ char *shown = NULL;

	return utf8_show(name, &shown) < 0 ? NULL : json_object_new_string(shown);
}

static json_object *total_object(struct json_writer *writer, const struct snapshot *snapshot)
{
	json_object *object = json_checked(writer, json_object_new_object());
	const struct figures *totals[EVENTS_MAX] = {NULL};

	for (size_t i = 0; i < snapshot->n_events; i++)
		totals[i] = &snapshot->events[i].total;
	json_put_events(writer, object, snapshot, totals, false);
	return object;
}

/* Absent where the cgroup's own accesses are all that there is. */
static void put_guest(struct json_writer *writer, json_object *object, const struct snapshot_cgroup *cgroup)
{
	if (cgroup->guest_not_sampled)
		json_put(writer, object, "guest_not_sampled", json_object_new_boolean(1));
}

static json_object *cgroup_object(struct json_writer *writer, const struct snapshot *snapshot,
				  const struct snapshot_cgroup *cgroup)
{
	json_object *object = json_checked(writer, json_object_new_object());

	json_put_text(writer, object, "cgroup", cgroup->path);
	json_put_u64(writer, object, "id", cgroup->id);
	put_guest(writer, object, cgroup);
	json_put_events(writer, object, snapshot, cgroup->figures, false);
	return object;
}

static json_object *top_object(const struct snapshot *snapshot, const size_t *chosen, size_t n)
{
	struct json_writer writer = {0};
	json_object *object = json_start(&writer, snapshot);
	json_object *cgroups = json_checked(&writer, json_object_new_array());

	json_put_window(&writer, object, snapshot);
	json_put(&writer, object, "samples",
		 json_samples(&writer, snapshot, snapshot->events, snapshot->n_events));
	json_put(&writer, object, "total", total_object(&writer, snapshot));
	for (size_t i = 0; i < n; i++)
		json_append(&writer, cgroups,
			    cgroup_object(&writer, snapshot, &snapshot->cgroups[chosen ? chosen[i] : i]));
	json_put(&writer, object, "cgroups", cgroups);
	if (snapshot->notes && *snapshot->notes)
		json_put(&writer, object, "notes", json_notes(&writer, snapshot));
	return json_finish(&writer, object);
}

json_object *json_top(const struct snapshot *snapshot)
{
	return top_object(snapshot, NULL, snapshot->n_cgroups);
}

json_object *json_top_of(const struct snapshot *snapshot, const size_t *cgroups, size_t n)
{
	static const size_t none[1];

	return top_object(snapshot, cgroups ? cgroups : none, n);
}

static json_object *detail_object(const struct snapshot *snapshot, const struct snapshot_cgroup *cgroup)
{
	struct json_writer writer = {0};
	json_object *object = json_start(&writer, snapshot);

	json_put_window(&writer, object, snapshot);
	json_put_text(&writer, object, "cgroup", cgroup->path);
	json_put_u64(&writer, object, "id", cgroup->id);
	json_put(&writer, object, "alive", json_object_new_boolean(cgroup->alive));
	put_guest(&writer, object, cgroup);
	json_put_events(&writer, object, snapshot, cgroup->figures, true);
	return json_finish(&writer, object);
}

json_object *json_cgroup(const struct snapshot *snapshot, size_t index)
{
	return detail_object(snapshot, &snapshot->cgroups[index]);
}

json_object *json_cgroup_without_samples(const struct snapshot *snapshot, const char *path, u64 id,
					 bool alive)
{
	return detail_object(snapshot, &(struct snapshot_cgroup){.path = path, .id = id, .alive = alive});
}

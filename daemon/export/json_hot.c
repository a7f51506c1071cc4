// SPDX-License-Identifier: GPL-2.0
#include "export/json_hot.h"

#include "export/json_writer.h"

/* Of x86-64 and arm64: the upper half of the address space. */
static bool is_kernel(u64 address)
{
	return address >> 63;
}

/* Of `of` samples in all. */
static void append_item(struct json_writer *writer, json_object *code, const char *address,
			const struct hot_item *item, u64 of)
{
	json_object *object = json_checked(writer, json_object_new_object());

	json_put_text(writer, object, "address", address);
	json_put_u64(writer, object, "samples", item->samples);
	json_put_u64(writer, object, "error", item->error);
	json_put_number(writer, object, "share", of ? (double)item->samples / (double)of : 0, 6);
	json_append(writer, code, object);
}

static void append_address(struct json_writer *writer, json_object *code, const struct hot_item *item, u64 of,
			   u64 *room)
{
	char address[24];

	(void)snprintf(address, sizeof(address), "0x%llx", (unsigned long long)item->item);
	append_item(writer, code, address, item, of);
	(*room)--;
}

/* Once, where there is anything of it, and room. */
static void append_kernel(struct json_writer *writer, json_object *code, struct hot_item *kernel, u64 of,
			  u64 *room)
{
	if (kernel->samples == 0 || *room == 0)
		return;
	append_item(writer, code, "kernel", kernel, of);
	kernel->samples = 0;
	(*room)--;
}

/* What the kernel's addresses have together. All that has no cell may be theirs, too. */
static struct hot_item sum_kernel(const struct hot_list *list)
{
	struct hot_item sum = {0};
	u64 certain = 0;

	for (size_t i = 0; i < list->n; i++) {
		certain += list->items[i].samples;
		if (is_kernel(list->items[i].item))
			sum.samples += list->items[i].samples;
	}
	sum.error = list->samples - certain;
	return sum;
}

static json_object *code_array(struct json_writer *writer, const struct hot_list *list,
			       const struct json_hot_options *options)
{
	json_object *code = json_checked(writer, json_object_new_array());
	struct hot_item kernel = {0};
	u64 room = options->limit;

	if (!options->kernel_addresses)
		kernel = sum_kernel(list);
	for (size_t i = 0; i < list->n; i++) {
		const struct hot_item *item = &list->items[i];

		if (kernel.samples > item->samples)
			append_kernel(writer, code, &kernel, list->samples, &room);
		if (room == 0)
			return code;
		if (options->kernel_addresses || !is_kernel(item->item))
			append_address(writer, code, item, list->samples, &room);
	}
	append_kernel(writer, code, &kernel, list->samples, &room);
	return code;
}

static json_object *event_object(struct json_writer *writer, const struct snapshot_event *event,
				 const struct hot_list *list, const struct json_hot_options *options)
{
	json_object *object = json_checked(writer, json_object_new_object());

	if (event->event.pmu[0])
		json_put_text(writer, object, "pmu", event->event.pmu);
	json_put_u64(writer, object, "samples", list->samples);
	json_put(writer, object, "code", code_array(writer, list, options));
	return object;
}

json_object *json_hot(const struct snapshot *snapshot, const struct snapshot_cgroup *cgroup,
		      const struct hot_list *const *lists, const struct json_hot_options *options)
{
	struct json_writer writer = {0};
	json_object *object = json_start(&writer, snapshot);
	json_object *events = json_checked(&writer, json_object_new_object());

	json_put_text(&writer, object, "cgroup", cgroup->path);
	json_put_u64(&writer, object, "id", cgroup->id);
	for (size_t i = 0; i < snapshot->n_events; i++)
		if (lists[i])
			json_put_shown(&writer, events, snapshot->events[i].key,
				       event_object(&writer, &snapshot->events[i], lists[i], options));
	json_put(&writer, object, "events", events);
	return json_finish(&writer, object);
}

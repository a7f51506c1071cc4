// SPDX-License-Identifier: GPL-2.0
#include "origin/replay/perf_data_events.h"

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "origin/replay/bytes.h"
#include "origin/replay/perf_data_sample.h"

#define EVENT_UPDATE_NAME 2 /* PERF_EVENT_UPDATE__NAME, tools/lib/perf/include/perf/event.h */

#define PMUS_MAX 4096

void perf_data_events_clear(struct perf_data_events *events)
{
	for (size_t i = 0; i < events->n; i++)
		free(events->list[i].name);
	for (size_t i = 0; i < events->n_pmus; i++)
		free(events->pmus[i].name);
	free(events->list);
	free(events->pmus);
	free(events->cpuid);
	free(events->cpu_name);
	free(events->host);
	free(events->kernel);
	number_map_clear(&events->by_id);
	*events = (struct perf_data_events){};
}

/*
 * Updates the properties that all events share, for one more event with `attr`. A record's event is found by
 * the id in the record, before the record's layout is known. So the id must be at the same place for all events.
 */
static void note_layout(struct perf_data_events *events, const struct perf_event_attr *attr)
{
	int sample_word = perf_data_sample_id_word(attr->sample_type);
	unsigned int trailer_word = perf_data_trailer_id_word(attr->sample_type);
	bool timed = (attr->sample_type & PERF_SAMPLE_TIME) && attr->sample_id_all;
	bool first = !events->n;

	events->sample_id_word = first || sample_word == events->sample_id_word ? sample_word : -1;
	events->trailer_id_word = first || trailer_word == events->trailer_id_word ? trailer_word : 0;
	events->timed = timed && (first || events->timed);
}

int perf_data_events_add(struct perf_data_events *events, const u8 *attr, size_t size, const u8 *ids,
			 size_t n_ids)
{
	struct perf_data_event event = {};
	struct perf_data_event *list;

	if (events->n >= PERF_DATA_EVENTS_MAX || n_ids > PERF_DATA_IDS_MAX - events->n_ids)
		return -EBADMSG;
	list = reallocarray(events->list, events->n + 1, sizeof(*list));
	if (!list)
		return -ENOMEM;
	events->list = list;
	/*
	 * Attributes of older kernels are shorter, those of newer ones longer. The common part is the same.
	 */
	memcpy(&event.attr, attr, size < sizeof(event.attr) ? size : sizeof(event.attr));
	note_layout(events, &event.attr);
	list[events->n] = event;
	events->n++;

	for (size_t i = 0; i < n_ids; i++) {
		u64 id;
		int r;

		memcpy(&id, ids + i * sizeof(id), sizeof(id));
		r = number_map_set(&events->by_id, id, events->n - 1);
		if (r < 0)
			return r;
	}
	events->n_ids += n_ids;
	return 0;
}

int perf_data_events_add_record(struct perf_data_events *events, const u8 *body, size_t size)
{
	u32 attr_size;

	if (size < PERF_DATA_ATTR_MIN)
		return -EBADMSG;
	memcpy(&attr_size, body + offsetof(struct perf_event_attr, size), sizeof(attr_size));
	/* A size of 0 means the first version (perf_copy_attr() in kernel/events/core.c). */
	if (!attr_size)
		attr_size = PERF_ATTR_SIZE_VER0;
	if (attr_size < PERF_DATA_ATTR_MIN || attr_size > size)
		return -EBADMSG;
	return perf_data_events_add(events, body, attr_size, body + attr_size,
				    (size - attr_size) / sizeof(u64));
}

/* Copies a string of at most `size` bytes, with or without its NUL. An empty string becomes NULL. */
static int copy_string(const u8 *at, size_t size, char **ret)
{
	size_t length = strnlen((const char *)at, size);
	char *copy = NULL;

	if (length) {
		copy = strndup((const char *)at, length);
		if (!copy)
			return -ENOMEM;
	}
	free(*ret);
	*ret = copy;
	return 0;
}

/* Reads a string in the format of perf's do_read_string(): a length, then that number of bytes. */
static int read_string(struct bytes *bytes, char **ret)
{
	u32 size = bytes_u32(bytes);
	const u8 *at = bytes_take(bytes, size);

	if (!at)
		return -EBADMSG;
	return copy_string(at, size, ret);
}

int perf_data_events_update(struct perf_data_events *events, const u8 *body, size_t size)
{
	struct bytes bytes = {.at = body, .left = size};
	u64 type = bytes_u64(&bytes);
	u64 id = bytes_u64(&bytes);
	u64 index;

	if (bytes.overrun)
		return -EBADMSG;
	if (type != EVENT_UPDATE_NAME || !number_map_get(&events->by_id, id, &index))
		return 0;
	return copy_string(bytes.at, bytes.left, &events->list[index].name);
}

/*
 * Returns the event that a description belongs to: by its first id, or by its position if no ids were
 * recorded.
 */
static struct perf_data_event *described(struct perf_data_events *events, size_t place, const u8 *ids,
					 size_t n_ids)
{
	u64 index = place;
	u64 id;

	if (n_ids) {
		memcpy(&id, ids, sizeof(id));
		if (!number_map_get(&events->by_id, id, &index))
			return NULL;
	}
	return index < events->n ? &events->list[index] : NULL;
}

static int read_descriptions(struct perf_data_events *events, struct bytes *bytes)
{
	u32 n = bytes_u32(bytes);
	u32 attr_size = bytes_u32(bytes);

	for (size_t i = 0; i < n && !bytes->overrun; i++) {
		_cleanup_free_ char *name = NULL;
		struct perf_data_event *event;
		const u8 *ids;
		u32 n_ids;
		int r;

		(void)bytes_take(bytes, attr_size);
		n_ids = bytes_u32(bytes);
		r = read_string(bytes, &name);
		if (r < 0)
			return r;
		ids = bytes_take(bytes, (u64)n_ids * sizeof(u64));
		if (!ids)
			return -EBADMSG;
		event = described(events, i, ids, n_ids);
		if (event && name) {
			free(event->name);
			event->name = TAKE_PTR(name);
		}
	}
	return bytes->overrun ? -EBADMSG : 0;
}

static int read_pmus(struct perf_data_events *events, struct bytes *bytes)
{
	u32 n = bytes_u32(bytes);

	for (u32 i = 0; i < n && !bytes->overrun; i++) {
		u32 type = bytes_u32(bytes);
		_cleanup_free_ char *name = NULL;
		struct perf_data_pmu *pmus;
		int r;

		r = read_string(bytes, &name);
		if (r < 0)
			return r;
		if (!name)
			continue;
		if (events->n_pmus >= PMUS_MAX)
			return -EBADMSG;
		pmus = reallocarray(events->pmus, events->n_pmus + 1, sizeof(*pmus));
		if (!pmus)
			return -ENOMEM;
		events->pmus = pmus;
		pmus[events->n_pmus++] = (struct perf_data_pmu){.type = type, .name = TAKE_PTR(name)};
	}
	return bytes->overrun ? -EBADMSG : 0;
}

/*
 * Reads the same moment on two clocks: version, clock id, CLOCK_REALTIME, the recording's clock. Times are in
 * ns.
 */
static int read_clock(struct perf_data_events *events, struct bytes *bytes)
{
	u32 version = bytes_u32(bytes);
	u64 real, own;

	(void)bytes_u32(bytes);
	real = bytes_u64(bytes);
	own = bytes_u64(bytes);
	if (bytes->overrun)
		return -EBADMSG;
	if (version != 1 || real > INT64_MAX || own > INT64_MAX)
		return 0;
	events->real_time_known = true;
	events->real_time_offset = (s64)real - (s64)own;
	return 0;
}

int perf_data_events_feature(struct perf_data_events *events, u64 feature, const u8 *body, size_t size)
{
	struct bytes bytes = {.at = body, .left = size};

	switch (feature) {
	case PERF_DATA_FEATURE_HOSTNAME:
		return read_string(&bytes, &events->host);
	case PERF_DATA_FEATURE_OSRELEASE:
		return read_string(&bytes, &events->kernel);
	case PERF_DATA_FEATURE_CPUDESC:
		return read_string(&bytes, &events->cpu_name);
	case PERF_DATA_FEATURE_CPUID:
		return read_string(&bytes, &events->cpuid);
	case PERF_DATA_FEATURE_EVENT_DESC:
		return read_descriptions(events, &bytes);
	case PERF_DATA_FEATURE_PMU_MAPPINGS:
		return read_pmus(events, &bytes);
	case PERF_DATA_FEATURE_CLOCK_DATA:
		return read_clock(events, &bytes);
	default:
		return 0;
	}
}

static int event_by_id(const struct perf_data_events *events, const u8 *at)
{
	u64 index;
	u64 id;

	memcpy(&id, at, sizeof(id));
	return number_map_get(&events->by_id, id, &index) ? (int)index : -1;
}

int perf_data_events_of_sample(const struct perf_data_events *events, const u8 *body, size_t size)
{
	size_t before;

	if (events->n <= 1)
		return (int)events->n - 1;
	if (events->sample_id_word < 0)
		return -1;
	before = (size_t)events->sample_id_word * sizeof(u64);
	return size < before + sizeof(u64) ? -1 : event_by_id(events, body + before);
}

int perf_data_events_of_trailer(const struct perf_data_events *events, const u8 *body, size_t size)
{
	size_t from;

	if (events->n <= 1)
		return (int)events->n - 1;
	from = events->trailer_id_word * sizeof(u64);
	return !from || size < from ? -1 : event_by_id(events, body + size - from);
}

const char *perf_data_events_pmu(const struct perf_data_events *events, u32 type)
{
	for (size_t i = 0; i < events->n_pmus; i++)
		if (events->pmus[i].type == type)
			return events->pmus[i].name;
	return NULL;
}

// SPDX-License-Identifier: GPL-2.0
/*
 * Any bytes as a record of a zoom's ring, for an event with any of the fields that a zoom requests. The
 * fields that are read must stay within the record and within the space for stacks, and must pass through a
 * recording unchanged.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "zoom/zoom_parse.h"
#include "zoom/zoom_recording.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int compare(void *userdata, const struct zoom_record *record)
{
	const struct zoom_record *want = userdata;

	if (record->kind != want->kind || record->time_ns != want->time_ns || record->pid != want->pid)
		abort();
	if (record->kind == ZOOM_RECORD_SAMPLE &&
	    (record->sample.n_user != want->sample.n_user ||
	     (want->sample.n_user &&
	      memcmp(record->sample.user, want->sample.user, want->sample.n_user * sizeof(u64)) != 0)))
		abort();
	if (record->kind == ZOOM_RECORD_NAMED && strncmp(record->named.name, want->named.name, 4095) != 0)
		abort();
	return 0;
}

static void record_it(const struct zoom_record *record)
{
	const struct zoom_about about = {.cgroup = (char *)"/"};
	_cleanup_(zoom_recording_freep) struct zoom_recording *recording = NULL;

	if (zoom_recording_new(&about, 1 << 20, &recording) < 0 || zoom_recording_add(recording, record) < 0)
		return;
	(void)zoom_recording_each(recording, compare, (void *)record);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct perf_event_attr attr = {
		.sample_id_all = 1,
		.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
			       PERF_SAMPLE_CPU | PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_CGROUP,
		.branch_sample_type = PERF_SAMPLE_BRANCH_CALL_STACK,
	};
	struct event event = {0};
	struct zoom_stacks stacks;
	struct zoom_record record;
	uint8_t *bytes;
	uint16_t length;
	u64 id;

	if (size < 10)
		return 0;
	/*
	 * The first two bytes select the event. The rest is the record, whose length field is correct in most
	 * inputs.
	 */
	attr.sample_type |= data[0] & 1 ? PERF_SAMPLE_BRANCH_STACK : 0;
	attr.sample_type |= data[0] & 2 ? PERF_SAMPLE_ADDR | PERF_SAMPLE_PHYS_ADDR : 0;
	attr.sample_type |= data[0] & 4 ? PERF_SAMPLE_WEIGHT_STRUCT | PERF_SAMPLE_DATA_SRC : 0;
	attr.sample_type |= data[0] & 8 ? PERF_SAMPLE_RAW : 0;
	attr.branch_sample_type |= data[0] & 16 ? PERF_SAMPLE_BRANCH_HW_INDEX : 0;
	attr.sample_id_all = !(data[0] & 32);
	event.settings.has_latency = event.settings.weight_struct = data[1] & 1;
	event.settings.has_source = data[1] >> 1 & 1;
	event.settings.has_address = data[1] >> 2 & 1;
	size -= 2;
	bytes = malloc(size);
	if (!bytes)
		return 0;
	memcpy(bytes, data + 2, size);
	length = (uint16_t)size;
	if (!(data[0] & 64) && size < 65536)
		memcpy(bytes + 6, &length, sizeof(length));
	if (zoom_parse(&attr, &event, bytes, size, &stacks, &record) == 0) {
		if (record.kind == ZOOM_RECORD_SAMPLE &&
		    (record.sample.n_kernel > ZOOM_STACK_MAX || record.sample.n_user > ZOOM_STACK_MAX))
			abort();
		if (record.kind != ZOOM_RECORD_LOST && record.kind != ZOOM_RECORD_THROTTLED &&
		    record.kind != ZOOM_RECORD_OTHER)
			record_it(&record);
	}
	(void)zoom_parse_id(bytes, size, &id);
	free(bytes);
	return 0;
}

// SPDX-License-Identifier: GPL-2.0
/*
 * What a recording says of its events and of the machine: attributes, sample ids, event names, the CPU, the
 * names of PMUs. Pure over bytes; the layouts are those of tools/perf/util/header.c and
 * tools/perf/Documentation/perf.data-file-format.txt in Linux.
 */
#ifndef PEBSD_PERF_DATA_EVENTS_H
#define PEBSD_PERF_DATA_EVENTS_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>

#include "origin/replay/number_map.h"

/* Numbers of the feature sections that are read (enum in tools/perf/util/header.h). */
enum {
	PERF_DATA_FEATURE_CPUID = 9,
	PERF_DATA_FEATURE_EVENT_DESC = 12,
	PERF_DATA_FEATURE_PMU_MAPPINGS = 16,
	PERF_DATA_FEATURE_CLOCK_DATA = 29,
	PERF_DATA_FEATURES = 256,
};

struct perf_data_event {
	struct perf_event_attr attr; /* what the file has of it; the rest 0 */
	char *name;                  /* NULL where the recording does not tell */
};

struct perf_data_pmu {
	u32 type;
	char *name;
};

/* All zero is one without events. */
struct perf_data_events {
	struct perf_data_event *list;
	size_t n;
	struct number_map by_id; /* sample id to index */
	size_t n_ids;
	int sample_id_word;           /* as perf_data_sample_id_word(), of all events; -1 where they differ */
	unsigned int trailer_id_word; /* as perf_data_trailer_id_word(), of all; 0 where they differ */
	bool timed;                   /* each record of each event carries a time */
	char *cpuid;                  /* "GenuineIntel,6,85,4"; NULL where the recording does not tell */
	struct perf_data_pmu *pmus;
	size_t n_pmus;
	bool real_time_known; /* the recording was told to keep a clock (perf record --clockid) */
	s64 real_time_offset; /* ns from its clock to CLOCK_REALTIME */
};

/* More than these is no recording: perf opens an event on each CPU, and numbers each. */
#define PERF_DATA_EVENTS_MAX 4096
#define PERF_DATA_IDS_MAX    (1U << 20)
#define PERF_DATA_ATTR_MIN   PERF_ATTR_SIZE_VER0
#define PERF_DATA_ATTR_MAX   4096

void perf_data_events_clear(struct perf_data_events *events);

/*
 * Adds an event whose attribute is `size` bytes long, PERF_DATA_ATTR_MIN or more, and whose sample ids are
 * the `n_ids` 8-byte words at `ids`. Returns 0, -EBADMSG where there are too many, -ENOMEM.
 */
int perf_data_events_add(struct perf_data_events *events, const u8 *attr, size_t size, const u8 *ids,
			 size_t n_ids);

/* The body of a HEADER_ATTR record: an attribute of the size it states, then its ids. Returns as above. */
int perf_data_events_add_record(struct perf_data_events *events, const u8 *body, size_t size);

/* The body of an EVENT_UPDATE record; one that is not about a name is left out. 0, -EBADMSG, -ENOMEM. */
int perf_data_events_update(struct perf_data_events *events, const u8 *body, size_t size);

/* A feature section; one that is not read here is left out. 0, -EBADMSG, -ENOMEM. */
int perf_data_events_feature(struct perf_data_events *events, u64 feature, const u8 *body, size_t size);

/* Index of the event that a sample (its `size` bytes behind the record header) is of; -1: not known. */
int perf_data_events_of_sample(const struct perf_data_events *events, const u8 *body, size_t size);

/* Index of the event in whose layout the trailer of another record is; -1: not known. */
int perf_data_events_of_trailer(const struct perf_data_events *events, const u8 *body, size_t size);

/* NULL where the recording does not tell. */
const char *perf_data_events_pmu(const struct perf_data_events *events, u32 type);

#endif

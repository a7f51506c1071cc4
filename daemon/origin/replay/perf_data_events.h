// SPDX-License-Identifier: GPL-2.0
/*
 * The description of the events and of the machine in a recording: attributes, sample ids, event names, the
 * CPU, and the names of PMUs. Pure functions over bytes. The layouts are those of tools/perf/util/header.c and
 * tools/perf/Documentation/perf.data-file-format.txt in Linux.
 */
#ifndef PEBSD_PERF_DATA_EVENTS_H
#define PEBSD_PERF_DATA_EVENTS_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/number_map.h"

/* The numbers of the feature sections that are read (enum in tools/perf/util/header.h). */
enum {
	PERF_DATA_FEATURE_HOSTNAME = 3,
	PERF_DATA_FEATURE_OSRELEASE = 4,
	PERF_DATA_FEATURE_CPUDESC = 8,
	PERF_DATA_FEATURE_CPUID = 9,
	PERF_DATA_FEATURE_EVENT_DESC = 12,
	PERF_DATA_FEATURE_PMU_MAPPINGS = 16,
	PERF_DATA_FEATURE_CLOCK_DATA = 29,
	PERF_DATA_FEATURES = 256,
};

struct perf_data_event {
	struct perf_event_attr attr; /* the part that the file contains; the rest is 0 */
	char *name;                  /* NULL if the recording does not contain it */
};

struct perf_data_pmu {
	u32 type;
	char *name;
};

/* All zero means no events. */
struct perf_data_events {
	struct perf_data_event *list;
	size_t n;
	struct number_map by_id; /* sample id to index in `list` */
	size_t n_ids;
	int sample_id_word;           /* perf_data_sample_id_word() of all events; -1 if they differ */
	unsigned int trailer_id_word; /* perf_data_trailer_id_word() of all events; 0 if they differ */
	bool timed;                   /* all records of all events contain a time */
	char *cpuid; /* "GenuineIntel,6,85,4"; NULL, like the next three, if the recording does not contain it */
	char *cpu_name;
	char *host;
	char *kernel; /* release */
	struct perf_data_pmu *pmus;
	size_t n_pmus;
	bool real_time_known; /* the recording used a given clock (perf record --clockid) */
	s64 real_time_offset; /* ns to add to that given clock to get CLOCK_REALTIME */
};

/*
 * A recording with more events or ids is invalid. perf opens each event on each CPU, with one id for each
 * CPU.
 */
#define PERF_DATA_EVENTS_MAX 4096
#define PERF_DATA_IDS_MAX    (1U << 20)
#define PERF_DATA_ATTR_MIN   PERF_ATTR_SIZE_VER0
#define PERF_DATA_ATTR_MAX   4096

void perf_data_events_clear(struct perf_data_events *events);

/*
 * Adds an event. `attr` has `size` bytes, at least PERF_DATA_ATTR_MIN. `ids` has `n_ids` sample ids of 8
 * bytes each. Returns 0, -EBADMSG if there are too many, or -ENOMEM.
 */
int perf_data_events_add(struct perf_data_events *events, const u8 *attr, size_t size, const u8 *ids,
			 size_t n_ids);

/*
 * Adds the event in the body of a HEADER_ATTR record: an attribute that contains its size, followed by the
 * ids. Returns like perf_data_events_add(), and -EBADMSG if the size is invalid.
 */
int perf_data_events_add_record(struct perf_data_events *events, const u8 *body, size_t size);

/*
 * Reads the body of an EVENT_UPDATE record. Ignores updates that are not of a name. Returns 0, -EBADMSG or
 * -ENOMEM.
 */
int perf_data_events_update(struct perf_data_events *events, const u8 *body, size_t size);

/* Reads a feature section. Ignores sections other than those above. Returns 0, -EBADMSG or -ENOMEM. */
int perf_data_events_feature(struct perf_data_events *events, u64 feature, const u8 *body, size_t size);

/*
 * Returns the index of a sample's event, or -1 if it is not known. `body` has `size` bytes and follows the
 * record header.
 */
int perf_data_events_of_sample(const struct perf_data_events *events, const u8 *body, size_t size);

/*
 * Returns the index of the event that defines the layout of another record's trailer, or -1 if it is not
 * known.
 */
int perf_data_events_of_trailer(const struct perf_data_events *events, const u8 *body, size_t size);

/* Returns the name of a PMU, or NULL if the recording does not contain it. */
const char *perf_data_events_pmu(const struct perf_data_events *events, u32 type);

#endif

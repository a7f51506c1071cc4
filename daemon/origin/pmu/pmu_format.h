// SPDX-License-Identifier: GPL-2.0
/*
 * Parses the two formats in a PMU's sysfs folder (sysfs-bus-event_source-devices-format and -events in
 * Documentation/ABI/testing). "config1:0-15" says which bits hold a term. "event=0xcd,umask=0x1,ldlat=3"
 * lists the terms of an event. Pure functions.
 */
#ifndef PEBSD_PMU_FORMAT_H
#define PEBSD_PMU_FORMAT_H

#include <stddef.h>

#include "pebsd/types.h"

/* perf_event_attr's config, config1, config2, config3. */
#define PMU_CONFIGS 4

struct pmu_format {
	unsigned config; /* index of the config word, below PMU_CONFIGS */
	u64 mask;        /* the bits in this word; the lowest bit of a value goes to the lowest of them */
};

#define PMU_TERM_MAX 64

struct pmu_term {
	char name[PMU_TERM_MAX];
	u64 value; /* 1 if the text has no "=" */
};

/* Parses text like "config:0-7,32-35". Returns 0 or -EINVAL. */
int pmu_format_parse(const char *text, struct pmu_format *ret);

/*
 * Replaces the format's bits in `configs` by `value`. Returns 0, or -ERANGE if the value needs more bits than
 * the format has.
 */
int pmu_format_place(const struct pmu_format *format, u64 value, u64 configs[PMU_CONFIGS]);

/*
 * Reads the next term and moves `text` past it. Returns 1, 0 at the end, or -EINVAL if the text is not a list
 * of terms with numbers. A name never contains '/' nor starts with '.', so that it can be used as a file
 * name.
 */
int pmu_term_next(const char **text, struct pmu_term *ret);

#endif

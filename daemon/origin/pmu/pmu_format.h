// SPDX-License-Identifier: GPL-2.0
/*
 * The two small languages of a PMU's sysfs folder (Documentation/ABI/testing/sysfs-bus-event_source-devices-
 * format and -events): where a term's bits lie, "config1:0-15", and what an event is made of,
 * "event=0xcd,umask=0x1,ldlat=3". Pure.
 */
#ifndef PEBSD_PMU_FORMAT_H
#define PEBSD_PMU_FORMAT_H

#include <stddef.h>

#include "pebsd/types.h"

/* perf_event_attr's config, config1, config2, config3. */
#define PMU_CONFIGS 4

struct pmu_format {
	unsigned config; /* which of them, below PMU_CONFIGS */
	u64 mask;        /* its bits; a value's lowest bit goes to the lowest of them */
};

#define PMU_TERM_MAX 64

struct pmu_term {
	char name[PMU_TERM_MAX];
	u64 value; /* 1 where the text has no "=" */
};

/* "config:0-7,32-35". Returns 0 or -EINVAL. */
int pmu_format_parse(const char *text, struct pmu_format *ret);

/*
 * Replaces the format's bits in `configs` by `value`; whatever stood there is gone. Returns 0, or -ERANGE
 * where the value needs more bits than the format has.
 */
int pmu_format_place(const struct pmu_format *format, u64 value, u64 configs[PMU_CONFIGS]);

/*
 * Takes the next term off `text` and moves it past. Returns 1, 0 at the end, -EINVAL where the text is no
 * list of terms with numbers. A name never holds '/' nor starts with '.', so that it can be a file's.
 */
int pmu_term_next(const char **text, struct pmu_term *ret);

#endif

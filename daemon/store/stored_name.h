// SPDX-License-Identifier: GPL-2.0
/*
 * Names of descriptors in the service manager's store: KIND-LAYOUT[-LABEL][-NUMBER...], such as
 * "map-1-slot_index" or "event-1-0-17-2". A descriptor with another layout must not be read, which is why its
 * name contains the layout. Pure functions.
 */
#ifndef PEBSD_STORED_NAME_H
#define PEBSD_STORED_NAME_H

#include <stdbool.h>

#include "pebsd/types.h"

enum stored_kind {
	STORED_MAP,      /* a BPF map; the label is its name */
	STORED_LINK,     /* a BPF link; the label is the program's name */
	STORED_EVENT,    /* a perf event: number of the event, CPU, number of the opening */
	STORED_LEADER,   /* the leader of the event's group: the same numbers */
	STORED_COUNTER,  /* an off-core counter: kind, CPU, number of the opening */
	STORED_HANDOVER, /* a memfd that describes these descriptors (handover.h) */
	STORED_STATE,    /* a memfd with the collector's own state */
	STORED_KINDS,
};

#define STORED_NUMBERS_MAX 3
#define STORED_LABEL_MAX   32

/* The manager accepts names of up to 255 bytes (fdname_is_valid(), systemd 252). These are shorter. */
#define STORED_NAME_MAX 96

struct stored_name {
	enum stored_kind kind;
	u32 layout;                   /* version of the descriptor's content */
	char label[STORED_LABEL_MAX]; /* first a to z, "_" or ".", then also digits; "": none */
	u32 n_numbers;
	u32 numbers[STORED_NUMBERS_MAX];
};

/*
 * Returns whether `text` is a name, and parses it into `ret`. Only the output of stored_name_format() is a
 * name.
 */
bool stored_name_parse(const char *text, struct stored_name *ret);

/* `ret` holds STORED_NAME_MAX bytes. */
void stored_name_format(const struct stored_name *name, char *ret);

#endif

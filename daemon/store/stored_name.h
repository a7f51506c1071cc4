// SPDX-License-Identifier: GPL-2.0
/*
 * Names of descriptors in the service manager's store: KIND-LAYOUT[-LABEL][-NUMBER...], such as
 * "map-1-slot_index" or "event-1-0-17-2". What another layout wrote is nobody's to read: its name tells.
 * Pure.
 */
#ifndef PEBSD_STORED_NAME_H
#define PEBSD_STORED_NAME_H

#include <stdbool.h>

#include "pebsd/types.h"

enum stored_kind {
	STORED_MAP,      /* a BPF map; the label is its name */
	STORED_LINK,     /* a BPF link; the label is the program's name */
	STORED_EVENT,    /* a perf event: number of the event, CPU, number of the opening */
	STORED_LEADER,   /* the leader of its group, likewise */
	STORED_COUNTER,  /* an off-core counter: kind, CPU, number of the opening */
	STORED_HANDOVER, /* what there is to know of these: a memfd */
	STORED_STATE,    /* the collector's own: a memfd */
	STORED_KINDS,
};

#define STORED_NUMBERS_MAX 3
#define STORED_LABEL_MAX   32

/* The manager takes names of 255 bytes (fdname_is_valid(), systemd 252); these are shorter. */
#define STORED_NAME_MAX 96

struct stored_name {
	enum stored_kind kind;
	u32 layout;                   /* version of what the descriptor holds */
	char label[STORED_LABEL_MAX]; /* a letter, '_' or '.' first, then digits too; "": none */
	u32 n_numbers;
	u32 numbers[STORED_NUMBERS_MAX];
};

/* Returns whether `text` is a name, with it in `ret`; only what stored_name_format() writes is one. */
bool stored_name_parse(const char *text, struct stored_name *ret);

/* `ret` holds STORED_NAME_MAX bytes. */
void stored_name_format(const struct stored_name *name, char *ret);

#endif

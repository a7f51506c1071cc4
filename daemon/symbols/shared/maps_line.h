// SPDX-License-Identifier: GPL-2.0
/* Parses lines of /proc/PID/maps (fs/proc/task_mmu.c, show_map_vma()). Pure. */
#ifndef PEBSD_SYMBOLS_MAPS_LINE_H
#define PEBSD_SYMBOLS_MAPS_LINE_H

#include <stdbool.h>

#include "pebsd/types.h"

struct maps_line {
	u64 start, end, offset, inode;
	u32 major, minor;
	u32 protection; /* PROT_* */
	bool shared, deleted;
	char *path; /* points into the line, without " (deleted)"; "" if there is none */
};

/* Changes `line`: newlines that the kernel wrote as \012 are restored. Returns 0 or -EINVAL. */
int maps_parse_line(char *line, struct maps_line *ret);

/*
 * Removes " (deleted)", which the kernel appends to the path of a removed file. Returns whether it was there.
 */
bool maps_cut_deleted(char *path);

#endif

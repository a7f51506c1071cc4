// SPDX-License-Identifier: GPL-2.0
/*
 * A disk for SQLite that records everything that is written to it, and can fail. From the record, the files
 * are made as they are after the process was killed, or the power failed, at any write. It is a layer above
 * SQLite's default VFS.
 */
#ifndef PEBSD_TEST_HISTORY_DISK_H
#define PEBSD_TEST_HISTORY_DISK_H

#include <stdbool.h>
#include <stddef.h>

#include "pebsd/types.h"

#define HISTORY_DISK "history_disk" /* name of the VFS */

/* Registers the VFS and empties the record. One process has one disk. */
void history_disk_begin(void);

/*
 * From now on, writes fail with this result code of SQLite, and waiting for the disk with the other; 0: they
 * work.
 */
void history_disk_fail(int writes, int syncs);

/* Puts a mark into the record, between the writes. */
void history_disk_mark(void);

/* The number of steps in the record: writes, truncations, removals, waits for the disk, and marks. */
size_t history_disk_steps(void);

/* The number of marks among the first steps. */
size_t history_disk_marks(size_t steps);

/*
 * Writes the files as they are after the first steps into a directory. With `power`, a write without a later
 * sync is kept or lost, as the random number decides. Ends the program on an error.
 */
void history_disk_restore(const char *directory, size_t steps, bool power, u64 random);

void history_disk_end(void);

#endif

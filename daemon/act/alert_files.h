// SPDX-License-Identifier: GPL-2.0
/* The alerts' directory, and ID.env files in it. */
#ifndef PEBSD_ALERT_FILES_H
#define PEBSD_ALERT_FILES_H

#include <stdbool.h>

#include "base/cleanup.h"
#include "pebsd/types.h"

/*
 * Opens the directory, made (0700) with those above it where it is missing, for this process alone as long as
 * `*ret` is open. It must be this user's, and nobody else's to write to. 0 or -errno: -EPERM whose it is or
 * may be; -EBUSY: another process has it.
 */
int alert_files_open(const char *path, int *ret);

/* "17.env" */
#define ALERT_FILES_NAME_MAX 32
void alert_files_name(u64 alert, char ret[ALERT_FILES_NAME_MAX]);

/* Calls `found` for each name of that form, or one that was left half written: `whole` is false. 0 or -errno.
 */
int alert_files_scan(int directory, void (*found)(void *userdata, u64 alert, bool whole), void *userdata);

/* Removes it, half written ones too. 0, also where there is none, or -errno. */
int alert_files_remove(int directory, u64 alert);

#endif

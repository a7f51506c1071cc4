// SPDX-License-Identifier: GPL-2.0
/* The directory of alerts, and the NUMBER.env files in it. */
#ifndef PEBSD_ALERT_FILES_H
#define PEBSD_ALERT_FILES_H

#include <stdbool.h>

#include "base/cleanup.h"
#include "pebsd/types.h"

/*
 * Opens the directory, and locks it for this process until `*ret` is closed. A missing directory is made with
 * mode 0700, and missing directories above it with 0755. It must belong to this user, and nobody else may
 * write to it. Returns 0 or -errno. -EPERM: owner or mode are wrong. -EBUSY: another process has locked it.
 */
int alert_files_open(const char *path, int *ret);

/* "17.env" */
#define ALERT_FILES_NAME_MAX 32
void alert_files_name(u64 alert, char ret[ALERT_FILES_NAME_MAX]);

/* Calls `found` for each NUMBER.env and each half-written one. Returns 0 or -errno. */
int alert_files_scan(int directory, void (*found)(void *userdata, u64 alert), void *userdata);

/* Removes the NUMBER.env of an alert, and its half-written file. Returns 0 (also if there is none) or -errno. */
int alert_files_remove(int directory, u64 alert);

#endif

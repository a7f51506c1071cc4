// SPDX-License-Identifier: GPL-2.0
/* Paths of cgroups in the words of whoever asks. Pure. */
#ifndef PEBSD_PLAIN_PATH_H
#define PEBSD_PLAIN_PATH_H

#include <stdbool.h>

/* Begins with /, and leads by names alone, without `.` and `..`, to what lies below. */
bool plain_path(const char *text);

#endif

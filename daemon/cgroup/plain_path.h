// SPDX-License-Identifier: GPL-2.0
/* Checks paths of cgroups that come from a user or client. Pure functions. */
#ifndef PEBSD_PLAIN_PATH_H
#define PEBSD_PLAIN_PATH_H

#include <stdbool.h>

/* Returns whether the path begins with / and has no empty component, `.` or `..`. "/" itself is valid. */
bool plain_path(const char *text);

#endif

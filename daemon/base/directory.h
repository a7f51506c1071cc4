// SPDX-License-Identifier: GPL-2.0
/* `_cleanup_closedir_`: closes a directory when its variable goes out of scope. NULL is allowed. */
#ifndef PEBSD_DIRECTORY_H
#define PEBSD_DIRECTORY_H

#include <dirent.h>

#include "base/cleanup.h"

DEFINE_CLEANUP(DIR *, closedir)

#define _cleanup_closedir_ _cleanup_(closedirp)

#endif

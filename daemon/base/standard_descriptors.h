// SPDX-License-Identifier: GPL-2.0
/* Standard input, output and error of a process that was started without some of them. */
#ifndef PEBSD_STANDARD_DESCRIPTORS_H
#define PEBSD_STANDARD_DESCRIPTORS_H

/*
 * Opens /dev/null, only for reading, as each of the descriptors 0 to 2 that is closed. Otherwise a socket or a map would
 * get that number, and what is written to standard output or error would go there. Writing fails with EBADF instead.
 * Call it before anything else. If /dev/null cannot be opened, nothing changes.
 */
void standard_descriptors_occupy(void);

#endif

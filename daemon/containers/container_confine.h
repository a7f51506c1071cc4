// SPDX-License-Identifier: GPL-2.0
/* What the process that reads containers' names leaves itself: to open and read files, and to answer. */
#ifndef PEBSD_CONTAINER_CONFINE_H
#define PEBSD_CONTAINER_CONFINE_H

#define CONTAINER_CONFINE_SPACE (256UL << 20) /* address space, bytes */
#define CONTAINER_CONFINE_DATA  (96UL << 20)
#define CONTAINER_CONFINE_FILES 32

/*
 * Of the calling process, for good: of its capabilities CAP_DAC_READ_SEARCH stays, where it has that.
 * Whatever it needs beside files is open by now. 0, or -errno where rights cannot be given up.
 */
int container_confine(void);

#endif

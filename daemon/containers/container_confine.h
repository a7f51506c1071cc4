// SPDX-License-Identifier: GPL-2.0
/*
 * Confines the process that reads containers' names: it can only receive requests, open and read files, and send
 * answers.
 */
#ifndef PEBSD_CONTAINER_CONFINE_H
#define PEBSD_CONTAINER_CONFINE_H

#define CONTAINER_CONFINE_SPACE (256UL << 20) /* address space, bytes */
#define CONTAINER_CONFINE_DATA  (96UL << 20)
#define CONTAINER_CONFINE_FILES 32

/*
 * Confines the calling process permanently. Of its capabilities, only CAP_DAC_READ_SEARCH remains, if the process
 * has it. It can still open files for reading, but it cannot make sockets: the socket for its answers must be open
 * already. Returns 0, or -errno if it could not give up its rights.
 */
int container_confine(void);

#endif

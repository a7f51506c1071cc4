// SPDX-License-Identifier: GPL-2.0
/*
 * The process that reads containers' names: `pebsd --container-names`. pebsd starts it when a cgroup belongs
 * to a container. Its only capability is CAP_DAC_READ_SEARCH, if pebsd has it, to look into directories that
 * are closed to others. It can open files, read them, and answer (container_confine.h).
 */
#ifndef PEBSD_CONTAINER_WORKER_H
#define PEBSD_CONTAINER_WORKER_H

/* Answers on `socket` until it is closed. Returns an exit code. */
int container_worker(int socket);

#endif

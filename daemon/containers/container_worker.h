// SPDX-License-Identifier: GPL-2.0
/*
 * The process that reads containers' names: `pebsd --container-names`, which pebsd starts where a cgroup is
 * a container's. It has one right, to look into directories that are closed to others
 * (CAP_DAC_READ_SEARCH, where pebsd has that), and may open, read and answer (container_confine.h).
 */
#ifndef PEBSD_CONTAINER_WORKER_H
#define PEBSD_CONTAINER_WORKER_H

/* Answers on `line` until it is closed. Returns an exit code. */
int container_worker(int line);

#endif

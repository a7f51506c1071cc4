// SPDX-License-Identifier: GPL-2.0
/* Serializes tests that follow the creation of cgroups, because they would see each other's cgroups. */
#ifndef PEBSD_TEST_CGROUP_TURN_H
#define PEBSD_TEST_CGROUP_TURN_H

/* Waits for the turn of this process, which lasts until the process ends. Returns 0 or -errno. */
int cgroup_turn(void);

#endif

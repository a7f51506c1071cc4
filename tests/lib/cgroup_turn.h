// SPDX-License-Identifier: GPL-2.0
/* Tests that follow the births of cgroups see each other's: one at a time makes some. */
#ifndef PEBSD_TEST_CGROUP_TURN_H
#define PEBSD_TEST_CGROUP_TURN_H

/* Waits for this process's turn, which lasts until it ends. 0 or -errno. */
int cgroup_turn(void);

#endif

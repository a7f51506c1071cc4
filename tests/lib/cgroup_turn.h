// SPDX-License-Identifier: GPL-2.0
/* Serializes tests that follow the creation of cgroups, because they would see each other's cgroups. */
#ifndef PEBSD_TEST_CGROUP_TURN_H
#define PEBSD_TEST_CGROUP_TURN_H

/*
 * Waits for the turn of this process, which lasts until the process ends. The lock is that of the directory `mount`,
 * where cgroup2 is mounted. alone_with_cgroups() in tests/e2e/faults.sh takes it, too, and so do tests that run in
 * another root on the same machine. Returns 0 or -errno.
 */
int cgroup_turn(const char *mount);

#endif

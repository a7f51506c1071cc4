// SPDX-License-Identifier: GPL-2.0
/*
 * Cgroups for tests: a directory under the cgroup2 mount, with cgroups and child processes in them. All are
 * removed at the end.
 */
#ifndef PEBSD_TEST_CGROUP_FIXTURE_H
#define PEBSD_TEST_CGROUP_FIXTURE_H

#include <stdbool.h>
#include <sys/types.h>

#include "pebsd/types.h"

struct cgroup_fixture {
	char *mount; /* the cgroup2 mount */
	char *path;  /* path below the mount: "/pebsd-test-PID" */
};

/* A test has one at a time. */
extern struct cgroup_fixture cgroup_fixture;

/*
 * The .init and .fini of test suites. cgroup_fixture_setup() skips the test, with the reason, if cgroup2 is not mounted
 * or cannot be written.
 */
void cgroup_fixture_setup(void);
void cgroup_fixture_teardown(void);

/*
 * Returns the number of cgroups in the mount, including the root and the fixture's own. A test does not
 * control this number.
 */
u32 cgroup_fixture_existing(void);

/* Returns the id of the fixture's own cgroup. */
u64 cgroup_fixture_id(void);

/*
 * Creates the cgroup `name` in the fixture ("a", or "a/b" if "a" exists), and returns its id. Fails the test
 * on error.
 */
u64 cgroup_fixture_make(const char *name);
void cgroup_fixture_remove(const char *name);

/*
 * Forks a child that waits in the cgroup. cgroup_fixture_start() lets it run `work`, cgroup_fixture_wait()
 * waits for its end, and cgroup_fixture_go() does both. The result of `work` is the exit status, which must
 * be 0.
 */
struct cgroup_child {
	pid_t pid;
	int start;
};
struct cgroup_child cgroup_fixture_child(const char *name, int (*work)(void *userdata), void *userdata);
void cgroup_fixture_start(struct cgroup_child *child);
void cgroup_fixture_wait(struct cgroup_child *child);
void cgroup_fixture_go(struct cgroup_child *child);

/*
 * For cgroup_fixture_child(): touches fresh pages, each with one page fault. `userdata` points to their
 * number, a const unsigned.
 */
int touch_pages(void *userdata);

#endif

// SPDX-License-Identifier: GPL-2.0
/* Cgroups for tests: a folder of its own under the cgroup2 mount, children that run in it, all removed at the
 * end. */
#ifndef PEBSD_TEST_CGROUP_FIXTURE_H
#define PEBSD_TEST_CGROUP_FIXTURE_H

#include <stdbool.h>
#include <sys/types.h>

#include "pebsd/types.h"

struct cgroup_fixture {
	char *mount; /* the cgroup2 mount */
	char *path;  /* below it: "/pebsd-test-PID" */
};

/* Skips the test with the reason where there is no cgroup2 mount that can be written. */
void cgroup_fixture_setup(struct cgroup_fixture *fixture);
void cgroup_fixture_teardown(struct cgroup_fixture *fixture);

/* How many cgroups there are below the mount, it and the fixture's own among them: not a test's to decide. */
u32 cgroup_fixture_existing(const struct cgroup_fixture *fixture);

/* The id of the fixture's own folder. */
u64 cgroup_fixture_id(const struct cgroup_fixture *fixture);

/* Makes `name` ("a" or "a/b", parents exist) in the fixture; its id. Fails the test on error. */
u64 cgroup_fixture_make(const struct cgroup_fixture *fixture, const char *name);
void cgroup_fixture_remove(const struct cgroup_fixture *fixture, const char *name);

/*
 * Forks a child that waits, already in the cgroup. cgroup_fixture_start() lets it run `work`,
 * cgroup_fixture_wait() waits for its end, cgroup_fixture_go() does both; what `work` returns is its exit
 * status, which must be 0.
 */
struct cgroup_child {
	pid_t pid;
	int start;
};
struct cgroup_child cgroup_fixture_child(const struct cgroup_fixture *fixture, const char *name,
					 int (*work)(void *userdata), void *userdata);
void cgroup_fixture_start(struct cgroup_child *child);
void cgroup_fixture_wait(struct cgroup_child *child);
void cgroup_fixture_go(struct cgroup_child *child);

/* Touches `pages` fresh pages, each one page fault; for cgroup_fixture_child(). userdata: const unsigned
 * *pages. */
int touch_pages(void *userdata);

#endif

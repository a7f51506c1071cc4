// SPDX-License-Identifier: GPL-2.0
#include "cgroup_fixture.h"

#include <criterion/criterion.h>

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "cgroup/mount.h"
#include "cgroup/walk.h"
#include "cgroup_turn.h"

struct cgroup_fixture cgroup_fixture;

static char *full_path(const char *name)
{
	char *path;

	cr_assert_geq(asprintf(&path, "%s%s%s%s", cgroup_fixture.mount, cgroup_fixture.path, name ? "/" : "",
			       name ? name : ""),
		      0);
	return path;
}

void cgroup_fixture_setup(void)
{
	_cleanup_free_ char *path = NULL;
	bool subtree;

	if (cgroup_mount_find(&cgroup_fixture.mount, &subtree) < 0)
		cr_skip_test("no cgroup2 mount");
	cr_assert_eq(cgroup_turn(cgroup_fixture.mount), 0);
	cr_assert_geq(asprintf(&cgroup_fixture.path, "/pebsd-test-%d", getpid()), 0);
	path = full_path(NULL);
	if (mkdir(path, 0755) < 0)
		cr_skip_test("cannot make %s: %s", path, strerror(errno));
}

static int remove_directory(const char *path, const struct stat *st, int type, struct FTW *where)
{
	(void)st;
	(void)where;
	if (type == FTW_DP)
		(void)rmdir(path);
	return 0;
}

void cgroup_fixture_teardown(void)
{
	_cleanup_free_ char *path = full_path(NULL);
	bool removed;

	/* A test that failed half way leaves its cgroups behind. */
	(void)nftw(path, remove_directory, 32, FTW_DEPTH | FTW_PHYS);
	removed = access(path, F_OK) < 0;
	cr_assert(removed, "%s is still there: %s", path, strerror(errno));
	free(cgroup_fixture.mount);
	free(cgroup_fixture.path);
}

u32 cgroup_fixture_existing(void)
{
	_cleanup_close_ int fd = open(cgroup_fixture.mount, O_DIRECTORY | O_CLOEXEC);
	struct cgroup_walk_counts counts;

	cr_assert_geq(fd, 0);
	cr_assert_eq(cgroup_walk(fd, NULL, NULL, &counts), 0);
	return (u32)counts.cgroups;
}

u64 cgroup_fixture_id(void)
{
	_cleanup_free_ char *path = full_path(NULL);
	struct stat st;

	cr_assert_eq(stat(path, &st), 0);
	return st.st_ino;
}

u64 cgroup_fixture_make(const char *name)
{
	_cleanup_free_ char *path = full_path(name);
	struct stat st;

	cr_assert_eq(mkdir(path, 0755), 0, "%s: %s", path, strerror(errno));
	cr_assert_eq(stat(path, &st), 0);
	return st.st_ino;
}

void cgroup_fixture_remove(const char *name)
{
	_cleanup_free_ char *path = full_path(name);

	cr_assert_eq(rmdir(path), 0, "%s: %s", path, strerror(errno));
}

struct cgroup_child cgroup_fixture_child(const char *name, int (*work)(void *userdata), void *userdata)
{
	_cleanup_free_ char *path = full_path(name);
	_cleanup_free_ char *procs = NULL;
	_cleanup_close_ int fd = -1;
	struct cgroup_child child;
	char number[16];
	int pipe_fds[2];

	cr_assert_eq(pipe2(pipe_fds, O_CLOEXEC), 0);
	child.pid = fork();
	cr_assert_geq(child.pid, 0);
	if (child.pid == 0) {
		char go;

		(void)close(pipe_fds[1]);
		_exit(read(pipe_fds[0], &go, 1) == 1 ? work(userdata) : 99);
	}
	(void)close(pipe_fds[0]);
	child.start = pipe_fds[1];

	cr_assert_geq(asprintf(&procs, "%s/cgroup.procs", path), 0);
	fd = open(procs, O_WRONLY | O_CLOEXEC);
	cr_assert_geq(fd, 0, "%s: %s", procs, strerror(errno));
	(void)snprintf(number, sizeof(number), "%d", child.pid);
	cr_assert_gt(write(fd, number, strlen(number)), 0, "%s: %s", procs, strerror(errno));
	return child;
}

void cgroup_fixture_start(struct cgroup_child *child)
{
	cr_assert_eq(write(child->start, "g", 1), 1);
}

void cgroup_fixture_wait(struct cgroup_child *child)
{
	int status;

	cr_assert_eq(waitpid(child->pid, &status, 0), child->pid);
	cr_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the child ended with status %#x",
		  (unsigned)status);
	(void)close(child->start);
}

void cgroup_fixture_go(struct cgroup_child *child)
{
	cgroup_fixture_start(child);
	cgroup_fixture_wait(child);
}

int touch_pages(void *userdata)
{
	const unsigned *pages = userdata;
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *memory = mmap(NULL, *pages * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED || madvise(memory, *pages * page, MADV_NOHUGEPAGE) < 0)
		return 1;
	for (size_t i = 0; i < *pages; i++)
		((volatile char *)memory)[i * page] = 1;
	return munmap(memory, *pages * page) < 0;
}

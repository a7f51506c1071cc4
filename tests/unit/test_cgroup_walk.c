// SPDX-License-Identifier: GPL-2.0
#include <criterion/criterion.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "cgroup/mount.h"
#include "cgroup/walk.h"

struct met {
	u64 id;
	u64 parent_id;
	char name[256];
};

struct list {
	struct met met[4096];
	size_t n;
	int root_fd;
	const char *remove; /* relative to root_fd; removed when the walk meets `remove_at` */
	const char *remove_at;
	size_t stop_at;
};

static struct list list;
static char root[] = "/tmp/pebsd-test-XXXXXX";

static int collect(u64 id, u64 parent_id, const char *name, void *userdata)
{
	struct list *to = userdata;

	cr_assert_eq(to, &list);
	cr_assert_lt(to->n, ARRAY_SIZE(to->met));
	to->met[to->n].id = id;
	to->met[to->n].parent_id = parent_id;
	(void)snprintf(to->met[to->n].name, sizeof(to->met[to->n].name), "%s", name);
	to->n++;
	if (to->remove_at && strcmp(name, to->remove_at) == 0)
		cr_assert_eq(unlinkat(to->root_fd, to->remove, AT_REMOVEDIR), 0, "%s: %m", to->remove);
	return to->stop_at && to->n == to->stop_at ? -EPIPE : 0;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

static void setup(void)
{
	cr_assert_not_null(mkdtemp(root));
	list.root_fd = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	cr_assert_geq(list.root_fd, 0);
}

static void teardown(void)
{
	(void)close(list.root_fd);
	(void)nftw(root, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

TestSuite(cgroup_walk, .init = setup, .fini = teardown);

static void make(const char *path)
{
	cr_assert_eq(mkdirat(list.root_fd, path, 0700), 0, "%s: %m", path);
}

static u64 id_of(int root_fd, const char *path)
{
	struct stat st;

	cr_assert_eq(fstatat(root_fd, path, &st, 0), 0, "%s: %m", path);
	return st.st_ino;
}

static const struct met *find(const char *name)
{
	for (size_t i = 0; i < list.n; i++)
		if (strcmp(list.met[i].name, name) == 0)
			return &list.met[i];
	return NULL;
}

static size_t descriptors(void)
{
	DIR *directory = opendir("/proc/self/fd");
	size_t n = 0;

	cr_assert_not_null(directory);
	while (readdir(directory))
		n++;
	(void)closedir(directory);
	return n;
}

static struct cgroup_walk_counts walk(void)
{
	struct cgroup_walk_counts counts;
	size_t before = descriptors();

	cr_assert_eq(cgroup_walk(list.root_fd, collect, &list, &counts), 0);
	cr_expect_eq(descriptors(), before);
	cr_expect_eq(counts.cgroups, list.n);
	for (size_t i = 1; i < list.n; i++) {
		size_t parent = 0;

		while (parent < i && list.met[parent].id != list.met[i].parent_id)
			parent++;
		cr_expect_lt(parent, i, "%s came before its parent", list.met[i].name);
	}
	return counts;
}

Test(cgroup_walk, the_walk_reports_ids_names_and_parents)
{
	struct cgroup_walk_counts counts;

	make("a");
	make("a/a1");
	make("a/a1/deep name");
	make("b");
	cr_assert_eq(mknodat(list.root_fd, "cgroup.procs", S_IFREG | 0600, 0), 0);

	counts = walk();
	cr_expect_eq(counts.cgroups, 5);
	cr_expect_eq(counts.vanished, 0);
	cr_expect_eq(counts.unentered, 0);
	cr_expect_str_eq(list.met[0].name, "");
	cr_expect_eq(list.met[0].parent_id, 0);
	cr_expect_eq(list.met[0].id, id_of(list.root_fd, "."));
	cr_assert_not_null(find("deep name"));
	cr_expect_eq(find("deep name")->id, id_of(list.root_fd, "a/a1/deep name"));
	cr_expect_eq(find("deep name")->parent_id, id_of(list.root_fd, "a/a1"));
	cr_expect_eq(find("a1")->parent_id, id_of(list.root_fd, "a"));
	cr_expect_eq(find("b")->parent_id, list.met[0].id);
}

Test(cgroup_walk, symbolic_links_are_not_followed)
{
	make("a");
	cr_assert_eq(symlinkat(".", list.root_fd, "loop"), 0);
	cr_assert_eq(symlinkat("/", list.root_fd, "a/out"), 0);
	cr_expect_eq(walk().cgroups, 2);
}

Test(cgroup_walk, a_cgroup_that_vanishes_during_the_walk_is_skipped)
{
	struct cgroup_walk_counts counts;

	make("parent");
	make("parent/child");
	list.remove_at = "parent";
	list.remove = "parent/child";
	counts = walk();
	cr_expect_eq(counts.cgroups, 2);
	cr_expect_null(find("child"));
}

Test(cgroup_walk, a_cgroup_removed_while_it_is_entered_is_skipped)
{
	make("a");
	make("a/b");
	list.remove_at = "b";
	list.remove = "a/b";
	cr_expect_eq(walk().cgroups, 3);
	cr_expect_not_null(find("b"));
}

/* Makes a chain of `depth` nested directories named `name`, whose path may be longer than PATH_MAX. */
static void make_chain(const char *name, size_t depth)
{
	int fd = dup(list.root_fd);

	for (size_t i = 0; i < depth; i++) {
		int child;

		cr_assert_eq(mkdirat(fd, name, 0700), 0);
		child = openat(fd, name, O_PATH | O_DIRECTORY);
		cr_assert_geq(child, 0);
		(void)close(fd);
		fd = child;
	}
	(void)close(fd);
}

/* nftw() cannot remove directories whose paths are longer than PATH_MAX. */
static void remove_chain(const char *name, size_t depth)
{
	int line[512];

	cr_assert_lt(depth, ARRAY_SIZE(line));
	line[0] = list.root_fd;
	for (size_t i = 0; i < depth; i++)
		line[i + 1] = openat(line[i], name, O_PATH | O_DIRECTORY);
	for (size_t i = depth; i > 0; i--) {
		(void)unlinkat(line[i - 1], name, AT_REMOVEDIR);
		(void)close(line[i]);
	}
}

Test(cgroup_walk, two_hundred_levels_of_long_names_are_walked)
{
	_cleanup_free_ char *path = calloc(1, 200 * 201 + 1);
	char name[201] = "";
	struct cgroup_walk_counts counts;

	memset(name, 'n', 200);
	make_chain(name, 200);
	counts = walk();
	cr_expect_eq(counts.cgroups, 201);
	cr_expect_eq(counts.unentered, 0);
	for (size_t i = 0; i < 200; i++) {
		path[i * 201] = '/';
		memcpy(path + i * 201 + 1, name, 200);
	}
	cr_expect_eq(cgroup_walk_exists(list.root_fd, path, list.met[200].id), 1);
	cr_expect_eq(cgroup_walk_exists(list.root_fd, path, list.met[199].id), 0);
	remove_chain(name, 200);
}

Test(cgroup_walk, deeper_than_the_bound_is_counted)
{
	struct cgroup_walk_counts counts;

	make_chain("d", 300);
	counts = walk();
	cr_expect_eq(counts.cgroups, CGROUP_WALK_DEPTH_MAX + 2);
	cr_expect_eq(counts.unentered, 1);
	remove_chain("d", 300);
}

Test(cgroup_walk, without_descriptors_the_rest_is_still_named)
{
	struct rlimit limit = {.rlim_cur = descriptors() + 10, .rlim_max = 1024};
	struct cgroup_walk_counts counts;

	make_chain("d", 50);
	make("other");
	cr_assert_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
	counts = walk();
	limit.rlim_cur = limit.rlim_max;
	cr_assert_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
	cr_expect_eq(counts.unentered, 1);
	cr_expect_gt(counts.cgroups, 5);
	cr_expect_lt(counts.cgroups, 20);
	cr_expect_not_null(find("other"));
	remove_chain("d", 50);
}

Test(cgroup_walk, an_unreadable_cgroup_is_still_named)
{
	struct cgroup_walk_counts counts;

	make("closed");
	make("closed/below");
	cr_assert_eq(fchmodat(list.root_fd, "closed", 0, 0), 0);
	/* Root may read every directory, so become another user. */
	if (getuid() == 0) {
		cr_assert_eq(fchownat(list.root_fd, "", 65534, 65534, AT_EMPTY_PATH), 0);
		cr_assert_eq(seteuid(65534), 0);
	}
	counts = walk();
	cr_assert_eq(seteuid(getuid()), 0);
	cr_assert_eq(fchmodat(list.root_fd, "closed", 0700, 0), 0);
	cr_expect_eq(counts.cgroups, 2);
	cr_expect_eq(counts.unentered, 1);
	cr_expect_not_null(find("closed"));
}

Test(cgroup_walk, an_error_of_the_callback_ends_the_walk)
{
	struct cgroup_walk_counts counts;

	make("a");
	make("a/b");
	make("a/b/c");
	list.stop_at = 3;
	cr_expect_eq(cgroup_walk(list.root_fd, collect, &list, &counts), -EPIPE);
	cr_expect_eq(list.n, 3);
	cr_expect_eq(counts.cgroups, 3);
}

Test(cgroup_walk, cgroups_are_counted_without_a_callback)
{
	struct cgroup_walk_counts counts;

	make("a");
	make("a/b");
	make("c");
	cr_expect_eq(cgroup_walk(list.root_fd, NULL, NULL, &counts), 0);
	cr_expect_eq(counts.cgroups, 4, "%zu", counts.cgroups);
}

Test(cgroup_walk, an_invalid_root_is_refused)
{
	struct cgroup_walk_counts counts;

	cr_expect_eq(cgroup_walk(-1, collect, &list, &counts), -EBADF);
	cr_expect_eq(counts.cgroups, 0);
}

Test(cgroup_walk, a_cgroup_exists_if_path_and_id_match)
{
	u64 id;

	make("a");
	make("a/b");
	cr_assert_eq(symlinkat("a", list.root_fd, "link"), 0);
	id = id_of(list.root_fd, "a/b");
	cr_expect_eq(cgroup_walk_exists(list.root_fd, "/", id_of(list.root_fd, ".")), 1);
	cr_expect_eq(cgroup_walk_exists(list.root_fd, "/a/b", id), 1);
	cr_expect_eq(cgroup_walk_exists(list.root_fd, "/a/b", id + 1), 0);
	cr_expect_eq(cgroup_walk_exists(list.root_fd, "/a", id), 0);
	cr_expect_eq(cgroup_walk_exists(list.root_fd, "/a/c", id), 0);
	cr_expect_eq(cgroup_walk_exists(list.root_fd, "/c/b", id), 0);
	cr_expect_eq(cgroup_walk_exists(list.root_fd, "/link/b", id), 0);
	cr_expect_eq(cgroup_walk_exists(list.root_fd, "/a/../a/b", id), -EINVAL);
	cr_expect_eq(cgroup_walk_exists(list.root_fd, "a/b", id), -EINVAL);
	cr_expect_eq(cgroup_walk_exists(list.root_fd, "", id), -EINVAL);
	cr_expect_eq(cgroup_walk_exists(-1, "/a", id), -EBADF);
	cr_assert_eq(unlinkat(list.root_fd, "a/b", AT_REMOVEDIR), 0);
	cr_expect_eq(cgroup_walk_exists(list.root_fd, "/a/b", id), 0);
}

/* Returns the id of a cgroup according to the kernel: its file handle is the 64-bit id (fs/kernfs/mount.c). */
static u64 handle_of(int root_fd, const char *path)
{
	union {
		struct file_handle handle;
		char bytes[sizeof(struct file_handle) + sizeof(u64)];
	} place = {.handle = {.handle_bytes = sizeof(u64)}};
	int mount_id;
	u64 id;

	cr_assert_eq(name_to_handle_at(root_fd, path, &place.handle, &mount_id, 0), 0, "%s: %m", path);
	memcpy(&id, place.handle.f_handle, sizeof(id));
	return id;
}

Test(cgroup_walk_real, ids_are_the_kernels_and_removals_are_survived)
{
	_cleanup_free_ char *path = NULL;
	struct cgroup_walk_counts counts;
	char parent[64];
	char name[64];
	char child[160];
	bool subtree;
	int mount_fd;
	u64 id;

	if (cgroup_mount_find(&path, &subtree) < 0)
		cr_skip_test("no cgroup2 mounted here");
	mount_fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	cr_assert_geq(mount_fd, 0);
	(void)snprintf(parent, sizeof(parent), "pebsd-test-walk-%d", (int)getpid());
	/* A run that was killed may have left its own. */
	(void)snprintf(name, sizeof(name), "child-%d", (int)getpid());
	(void)snprintf(child, sizeof(child), "%s/%s", parent, name);
	if (mkdirat(mount_fd, parent, 0755) < 0)
		cr_skip_test("the cgroup2 mount can't be written");
	cr_assert_eq(mkdirat(mount_fd, child, 0755), 0);
	id = handle_of(mount_fd, child);

	cr_expect_eq(cgroup_walk(mount_fd, collect, &list, &counts), 0);
	cr_expect_eq(list.met[0].id, handle_of(mount_fd, "."));
	cr_assert_not_null(find(name));
	cr_expect_eq(find(name)->id, id);
	cr_expect_eq(find(name)->parent_id, handle_of(mount_fd, parent));
	cr_expect_eq(cgroup_mount_in_use(path), 1);

	/*
	 * First the child is removed when the walk meets its parent, then the parent when the walk meets the
	 * parent itself.
	 */
	list.n = 0;
	list.root_fd = mount_fd;
	list.remove = child;
	list.remove_at = parent;
	cr_expect_eq(cgroup_walk(mount_fd, collect, &list, &counts), 0);
	cr_expect_null(find(name));
	list.n = 0;
	list.remove = parent;
	cr_expect_eq(cgroup_walk(mount_fd, collect, &list, &counts), 0);
	cr_expect_not_null(find(parent));
	(void)snprintf(child, sizeof(child), "/%s", parent);
	cr_expect_eq(cgroup_walk_exists(mount_fd, child, find(parent)->id), 0);
}

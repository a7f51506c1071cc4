// SPDX-License-Identifier: GPL-2.0
#include "cgroup/walk.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"

/* A directory that is being read. */
struct level {
	DIR *directory;
	u64 id;
};

struct walk {
	cgroup_walk_callback callback;
	void *userdata;
	struct cgroup_walk_counts *counts;
	dev_t device;
	size_t depth; /* index of the deepest level; levels[0] is the root */
	struct level levels[CGROUP_WALK_DEPTH_MAX + 1];
};

static void walk_free(struct walk *walk)
{
	for (size_t i = 0; i < ARRAY_SIZE(walk->levels); i++)
		if (walk->levels[i].directory)
			(void)closedir(walk->levels[i].directory);
	free(walk);
}

DEFINE_CLEANUP(struct walk *, walk_free)

/* On success the directory stream owns the descriptor. */
static int read_directory(int fd, DIR **ret)
{
	DIR *directory = fdopendir(fd);

	if (!directory)
		return -errno;
	*ret = directory;
	return 0;
}

static int report(struct walk *walk, u64 id, u64 parent_id, const char *name)
{
	walk->counts->cgroups++;
	return walk->callback ? walk->callback(id, parent_id, name, walk->userdata) : 0;
}

static bool is_directory_name(const struct dirent *entry)
{
	if (entry->d_type != DT_DIR && entry->d_type != DT_UNKNOWN)
		return false;
	return strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
}

/* Opens one component below `fd`. A symbolic link fails with -ENOTDIR, like a file that is not a directory. */
static int open_component(int fd, const char *name, int flags)
{
	int child = openat(fd, name, flags | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (child >= 0)
		return child;
	return errno == ELOOP ? -ENOTDIR : -errno;
}

/*
 * A directory has a link from its parent, one from itself, and one from each subdirectory. kernfs counts them
 * (fs/kernfs/inode.c, kernfs_refresh_inode()), as most file systems do; other file systems report one link.
 * Listing a directory costs far more than fstatat(), because it names the files of every controller.
 */
static bool has_none_below(const struct stat *st)
{
	return st->st_nlink == 2;
}

/* Calls back for a subdirectory. Makes it the deepest level if it can be entered and has subdirectories. */
static int enter(struct walk *walk, const char *name)
{
	const struct level *parent = &walk->levels[walk->depth];
	_cleanup_close_ int fd = -EMFILE;
	DIR *directory = NULL;
	struct stat st;
	int r;

	if (fstatat(dirfd(parent->directory), name, &st, AT_SYMLINK_NOFOLLOW) < 0) {
		walk->counts->vanished++;
		return 0;
	}
	if (!S_ISDIR(st.st_mode) || st.st_dev != walk->device)
		return 0;
	if (has_none_below(&st))
		return report(walk, st.st_ino, parent->id, name);
	if (walk->depth < CGROUP_WALK_DEPTH_MAX)
		fd = open_component(dirfd(parent->directory), name, O_RDONLY);
	/* A directory that cannot be entered still has a name and an id. */
	r = fd >= 0 ? fstat(fd, &st) : fstatat(dirfd(parent->directory), name, &st, AT_SYMLINK_NOFOLLOW);
	if (r < 0) {
		walk->counts->vanished++;
		return 0;
	}
	if (!S_ISDIR(st.st_mode) || st.st_dev != walk->device)
		return 0;

	r = report(walk, st.st_ino, parent->id, name);
	if (r < 0)
		return r;
	if (fd < 0 || read_directory(fd, &directory) < 0) {
		walk->counts->unentered++;
		return 0;
	}
	TAKE_FD(fd);
	walk->levels[++walk->depth] = (struct level){.directory = directory, .id = st.st_ino};
	return 0;
}

static void leave(struct walk *walk)
{
	(void)closedir(walk->levels[walk->depth].directory);
	walk->levels[walk->depth--].directory = NULL;
}

static int enter_root(struct walk *walk, int root_fd)
{
	_cleanup_close_ int fd = open_component(root_fd, ".", O_RDONLY);
	struct stat st;
	int r;

	if (fd < 0)
		return fd;
	if (fstat(fd, &st) < 0)
		return -errno;
	walk->device = st.st_dev;
	walk->levels[0].id = st.st_ino;
	r = read_directory(fd, &walk->levels[0].directory);
	if (r < 0)
		return r;
	TAKE_FD(fd);
	return report(walk, st.st_ino, 0, "");
}

int cgroup_walk(int root_fd, cgroup_walk_callback callback, void *userdata,
		struct cgroup_walk_counts *ret_counts)
{
	_cleanup_(walk_freep) struct walk *walk = calloc(1, sizeof(*walk));
	int r;

	*ret_counts = (struct cgroup_walk_counts){0};
	if (!walk)
		return -ENOMEM;
	walk->callback = callback;
	walk->userdata = userdata;
	walk->counts = ret_counts;

	for (r = enter_root(walk, root_fd); r >= 0;) {
		const struct dirent *entry;

		errno = 0;
		entry = readdir(walk->levels[walk->depth].directory);
		if (entry) {
			r = is_directory_name(entry) ? enter(walk, entry->d_name) : 0;
			continue;
		}
		/*
		 * The listing of a directory that was removed meanwhile simply ends; an errno is a real
		 * failure.
		 */
		if (errno)
			walk->counts->unentered++;
		if (!walk->depth)
			break;
		leave(walk);
	}
	return r < 0 ? r : 0;
}

/* Copies the first component of `*path` and moves past it. Returns 1, 0 at the end, or -EINVAL. */
static int next_component(const char **path, char ret[NAME_MAX + 1])
{
	const char *start = *path + strspn(*path, "/");
	size_t length = strcspn(start, "/");

	*path = start + length;
	if (!length)
		return 0;
	if (length > NAME_MAX)
		return -EINVAL;
	memcpy(ret, start, length);
	ret[length] = '\0';
	return strcmp(ret, ".") == 0 || strcmp(ret, "..") == 0 ? -EINVAL : 1;
}

/* Opens one component at a time, because a whole path may be longer than PATH_MAX. */
int cgroup_walk_open(int root_fd, const char *path)
{
	_cleanup_close_ int fd = -1;
	char component[NAME_MAX + 1];
	int r = 0;

	if (path[0] != '/')
		return -EINVAL;
	fd = open_component(root_fd, ".", O_PATH);
	while (fd >= 0 && (r = next_component(&path, component)) > 0) {
		int child = open_component(fd, component, O_PATH);

		(void)close(fd);
		fd = child;
	}
	if (fd == -ENODEV || fd == -ENOTDIR)
		return -ENOENT;
	if (fd < 0)
		return fd;
	return r < 0 ? r : TAKE_FD(fd);
}

int cgroup_walk_exists(int root_fd, const char *path, u64 id)
{
	_cleanup_close_ int fd = cgroup_walk_open(root_fd, path);
	struct stat st;

	if (fd == -ENOENT)
		return 0;
	if (fd < 0)
		return fd;
	if (fstat(fd, &st) < 0)
		return -errno;
	return st.st_ino == id;
}

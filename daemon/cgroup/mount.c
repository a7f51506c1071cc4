// SPDX-License-Identifier: GPL-2.0
#include "cgroup/mount.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include "base/cleanup.h"
#include "base/text_file.h"

/* The id of the hierarchy's root: the first one that kernfs assigns (fs/kernfs/dir.c, kernfs_create_root). */
#define ROOT_ID 1

/* Ranks how much of the tree a mount shows, according to its root field. */
#define RANK_NONE    (-1) /* a removed cgroup */
#define RANK_SUBTREE 0
#define RANK_ROOT    1 /* plus one for each level above the namespace's root */

static int rank_of(const char *root)
{
	static const char deleted[] = "//deleted";
	size_t length = strlen(root);
	int rank = RANK_ROOT;

	if (length >= sizeof(deleted) - 1 && strcmp(root + length - (sizeof(deleted) - 1), deleted) == 0)
		return RANK_NONE;
	if (strcmp(root, "/") == 0)
		return RANK_ROOT;
	for (; strncmp(root, "/..", 3) == 0 && (root[3] == '/' || root[3] == '\0'); root += 3)
		rank++;
	return *root ? RANK_SUBTREE : rank;
}

static bool is_octal(char c, char most)
{
	return c >= '0' && c <= most;
}

/*
 * Replaces the escapes \ooo of blanks and backslashes, in place. Returns false for an escaped NUL, which no
 * path contains.
 */
static bool unescape(char *text)
{
	char *to = text;

	for (const char *from = text; *from; to++) {
		if (from[0] == '\\' && is_octal(from[1], '3') && is_octal(from[2], '7') &&
		    is_octal(from[3], '7')) {
			*to = (char)((from[1] - '0') << 6 | (from[2] - '0') << 3 | (from[3] - '0'));
			if (!*to)
				return false;
			from += 4;
		} else {
			*to = *from++;
		}
	}
	*to = '\0';
	return true;
}

/*
 * Parses a line of mountinfo:
 * ID PARENT MAJOR:MINOR ROOT MOUNTPOINT OPTIONS [OPTIONAL...] - TYPE ...
 * Returns the rank of a cgroup2 mount, and its path within `line`. Returns RANK_NONE for any other line.
 */
static int parse_line(char *line, const char **ret_path)
{
	enum { ROOT = 3, MOUNTPOINT = 4, FIELDS = 6 };
	char *fields[FIELDS];
	char *rest = line;
	char *field;

	for (size_t i = 0; i < FIELDS; i++) {
		fields[i] = strtok_r(rest, " \n", &rest);
		if (!fields[i])
			return RANK_NONE;
	}
	do {
		field = strtok_r(NULL, " \n", &rest);
		if (!field)
			return RANK_NONE;
	} while (strcmp(field, "-") != 0);
	field = strtok_r(NULL, " \n", &rest);
	if (!field || strcmp(field, "cgroup2") != 0)
		return RANK_NONE;
	if (!unescape(fields[ROOT]) || !unescape(fields[MOUNTPOINT]))
		return RANK_NONE;
	if (fields[ROOT][0] != '/' || fields[MOUNTPOINT][0] != '/')
		return RANK_NONE;
	*ret_path = fields[MOUNTPOINT];
	return rank_of(fields[ROOT]);
}

int cgroup_mount_parse(FILE *mountinfo, char **ret_path, bool *ret_subtree)
{
	_cleanup_free_ char *best = NULL;
	_cleanup_free_ char *line = NULL;
	int best_rank = RANK_NONE;
	size_t allocated = 0;

	errno = 0;
	while (getline(&line, &allocated, mountinfo) >= 0) {
		const char *path;
		int rank = parse_line(line, &path);

		if (rank <= best_rank)
			continue;
		free(best);
		best = strdup(path);
		if (!best)
			return -ENOMEM;
		best_rank = rank;
	}
	if (!feof(mountinfo))
		return errno ? -errno : -EIO;
	if (!best)
		return -ENOENT;
	*ret_path = TAKE_PTR(best);
	*ret_subtree = best_rank == RANK_SUBTREE;
	return 0;
}

int cgroup_mount_find(char **ret_path, bool *ret_subtree)
{
	_cleanup_fclose_ FILE *mountinfo = NULL;
	_cleanup_free_ char *path = NULL;
	_cleanup_close_ int fd = -1;
	struct statfs filesystem;
	struct stat st;
	int r;

	mountinfo = fopen("/proc/self/mountinfo", "re");
	if (!mountinfo)
		return errno == ENOENT ? -ENODATA : -errno;
	r = cgroup_mount_parse(mountinfo, &path, ret_subtree);
	if (r < 0)
		return r;
	fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0 || fstatfs(fd, &filesystem) < 0 || fstat(fd, &st) < 0)
		return -errno;
	if (filesystem.f_type != CGROUP2_SUPER_MAGIC)
		return -ENOENT;
	*ret_path = TAKE_PTR(path);
	*ret_subtree = st.st_ino != ROOT_ID;
	return 0;
}

int cgroup_mount_in_use(const char *path)
{
	const struct dirent *entry;
	int found = 0;
	DIR *directory;

	directory = opendir(path);
	if (!directory)
		return -errno;
	errno = 0;
	while (!found && (entry = readdir(directory)))
		found = entry->d_type == DT_DIR && strcmp(entry->d_name, ".") != 0 &&
			strcmp(entry->d_name, "..") != 0;
	if (!found && errno)
		found = -errno;
	(void)closedir(directory);
	return found;
}

/* A line is ID:CONTROLLERS:PATH. The id of the default hierarchy is 0. */
static bool has_v1(const char *self_cgroup)
{
	for (const char *line = self_cgroup; line && *line;) {
		const char *end = strchr(line, '\n');

		if (strncmp(line, "0:", 2) != 0)
			return true;
		line = end ? end + 1 : NULL;
	}
	return false;
}

enum cgroup_use cgroup_use_of(bool below, bool subtree, const char *self_cgroup)
{
	/*
	 * If this process sees only a part of the tree, that part may be empty although cgroups exist elsewhere.
	 * pebsd finds further cgroups when they are created.
	 */
	if (below || subtree)
		return CGROUP_USE_CGROUPS;
	return has_v1(self_cgroup) ? CGROUP_USE_V1 : CGROUP_USE_NONE_YET;
}

int cgroup_mount_use(const char *path, bool subtree, enum cgroup_use *ret)
{
	_cleanup_free_ char *self_cgroup = NULL;
	int below = cgroup_mount_in_use(path);

	if (below < 0)
		return below;
	(void)text_file_read("/proc/self/cgroup", &self_cgroup);
	*ret = cgroup_use_of(below > 0, subtree, self_cgroup);
	return 0;
}

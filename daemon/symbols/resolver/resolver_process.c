// SPDX-License-Identifier: GPL-2.0
#include "symbols/resolver/resolver_process.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <string.h>

#include "base/text_file.h"
#include "symbols/resolver/resolver_open.h"

#define PLACE_MAX 128

int resolver_process_new(u32 pid, struct process **ret)
{
	_cleanup_free_ struct process *process = calloc(1, sizeof(*process));
	int r;

	if (!process)
		return -ENOMEM;
	process->pid = pid;
	process->jit.fd = -1;
	r = maps_new(&process->maps);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(process);
	return 0;
}

struct process *resolver_process_free(struct process *process)
{
	if (!process)
		return NULL;
	maps_unref(process->maps);
	jit_file_done(&process->jit);
	free(process->root);
	free(process);
	return NULL;
}

void process_set_maps(struct process *process, struct maps *maps)
{
	maps_unref(process->maps);
	process->maps = maps;
}

int resolver_process_reset(struct process *process)
{
	struct maps *maps;
	int r = maps_new(&maps);

	if (r < 0)
		return r;
	process_set_maps(process, maps);
	jit_file_done(&process->jit);
	process->jit_looked = 0;
	process->vdso = VDSO_NOT_COMPARED;
	process->read = 0;
	process->took = 0;
	return 0;
}

/*
 * In the maps of a chrooted process, paths start at the root of its mount namespace. Reads the path of the
 * process' root, which process_path() removes from them.
 */
static int read_root(struct process *process, const char *proc)
{
	char place[PLACE_MAX], root[PATH_MAX];
	ssize_t length;
	char *copy;

	(void)snprintf(place, sizeof(place), "%s/%u/root", proc, process->pid);
	length = readlink(place, root, sizeof(root) - 1);
	if (length <= 0)
		return 0;
	root[length] = 0;
	copy = strdup(length == 1 ? "" : root);
	if (!copy)
		return -ENOMEM;
	free(process->root);
	process->root = copy;
	return 0;
}

const char *process_path(const struct process *process, const char *path)
{
	size_t length = process->root ? strlen(process->root) : 0;

	return length && strncmp(path, process->root, length) == 0 && path[length] == '/' ? path + length
											  : path;
}

int resolver_process_read(struct process *process, const char *proc)
{
	_cleanup_(maps_unrefp) struct maps *newer = NULL, *merged = NULL;
	_cleanup_fclose_ FILE *file = NULL;
	char place[PLACE_MAX];
	int r;

	(void)snprintf(place, sizeof(place), "%s/%u/maps", proc, process->pid);
	file = fopen(place, "re");
	if (!file)
		return errno == ENOENT ? -ESRCH : -errno;
	r = maps_read(file, &newer);
	if (r == 0)
		r = read_root(process, proc);
	if (r < 0)
		return r;
	if (!process->maps->n) {
		process_set_maps(process, TAKE_PTR(newer));
		return 0;
	}
	r = maps_merge(newer, process->maps, &merged);
	if (r < 0)
		return r;
	process_set_maps(process, TAKE_PTR(merged));
	return 0;
}

int process_parse_start_time(const char *stat, u64 *ret)
{
	/* The name may contain blanks and parentheses. The fields after it do not. */
	const char *at = strrchr(stat, ')');
	char *end;

	for (int field = 2; at && field < 22; field++) {
		at = strchr(at, ' ');
		if (at)
			at++;
	}
	if (!at || *at < '0' || *at > '9')
		return -EINVAL;
	errno = 0;
	*ret = strtoull(at, &end, 10);
	return errno || *end != ' ' ? -EINVAL : 0;
}

int process_start_time(const char *proc, u32 pid, u64 *ret)
{
	_cleanup_free_ char *stat = NULL;
	char place[PLACE_MAX];
	int r;

	(void)snprintf(place, sizeof(place), "%s/%u/stat", proc, pid);
	r = text_file_read(place, &stat);
	return r < 0 ? r : process_parse_start_time(stat, ret);
}

int resolver_process_root(const char *proc, u32 pid, struct module_root *ret)
{
	_cleanup_close_ int root = open_root(proc, pid);
	struct stat own, found, mounts;
	char place[PLACE_MAX];

	memset(ret, 0, sizeof(*ret));
	if (root < 0)
		return root;
	if (fstat(root, &found) < 0 || stat("/", &own) < 0)
		return -errno;
	if (own.st_dev == found.st_dev && own.st_ino == found.st_ino)
		return 0;
	(void)snprintf(place, sizeof(place), "%s/%u/ns/mnt", proc, pid);
	if (stat(place, &mounts) < 0)
		return -errno;
	ret->device = found.st_dev;
	ret->inode = found.st_ino;
	ret->mounts = mounts.st_ino;
	return 0;
}

bool resolver_process_has(const char *proc, u32 pid, u64 start, const char *image, size_t size)
{
	_cleanup_free_ char *bytes = malloc(size);
	_cleanup_close_ int fd = -1;
	char place[PLACE_MAX];

	(void)snprintf(place, sizeof(place), "%s/%u/mem", proc, pid);
	fd = open(place, O_RDONLY | O_CLOEXEC);
	return bytes && fd >= 0 && start <= INT64_MAX &&
	       pread(fd, bytes, size, (off_t)start) == (ssize_t)size && memcmp(bytes, image, size) == 0;
}

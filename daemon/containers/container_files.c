// SPDX-License-Identifier: GPL-2.0
#include "containers/container_files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>

#include "base/cleanup.h"
#include "base/regular_file.h"
#include "containers/container_state.h"

/* The default directories, and those of k3s and MicroK8s. */
static const char *const pod_logs = "var/log/pods";
static const char *const container_logs = "var/log/containers";
static const char *const docker = "var/lib/docker/containers";
static const char *const tasks[] = {"run/containerd/io.containerd.runtime.v2.task",
				    "run/k3s/containerd/io.containerd.runtime.v2.task",
				    "var/snap/microk8s/common/run/containerd/io.containerd.runtime.v2.task"};
static const char *const bundles = "run/containers/storage/overlay-containers";
static const char *const storage = "var/lib/containers/storage/overlay-containers";
static const char *const storage_lists[] = {"containers.json", "volatile-containers.json"};

/* Follows symbolic links: the administrator may have moved a well-known directory to another disk. */
static int open_directory(int root, const char *path)
{
	return openat(root, path, O_RDONLY | O_DIRECTORY | O_NONBLOCK | O_CLOEXEC);
}

/* Calls `take` for the entries of a directory, which is open as `in`, until one call returns true. */
static bool scan(int root, const char *path, const char *wanted, struct container_labels *ret,
		 bool (*take)(int in, const char *entry, const char *wanted, struct container_labels *ret))
{
	int fd = open_directory(root, path);
	DIR *directory = fd >= 0 ? fdopendir(fd) : NULL;
	bool found = false;

	if (!directory) {
		if (fd >= 0)
			(void)close(fd);
		return false;
	}
	for (size_t n = 0; !found && n < CONTAINER_FILES_ENTRIES; n++) {
		const struct dirent *entry = readdir(directory);

		if (!entry)
			break;
		found = take(dirfd(directory), entry->d_name, wanted, ret);
	}
	(void)closedir(directory);
	return found;
}

static bool take_log_link(int in, const char *entry, const char *id, struct container_labels *ret)
{
	(void)in;
	return container_state_log_link(entry, id, ret);
}

static bool take_pod_directory(int in, const char *entry, const char *uid, struct container_labels *ret)
{
	(void)in;
	return container_state_pod_directory(entry, uid, ret);
}

static int open_below(int directory, const char *path)
{
	const struct open_how how = {
		.flags = O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC,
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS,
	};
	int fd = (int)syscall(SYS_openat2, directory, path, &how, sizeof(how));

	return fd < 0 ? -errno : fd;
}

static int read_file(int directory, const char *path, char **ret, size_t *ret_length)
{
	_cleanup_close_ int fd = open_below(directory, path);

	return fd < 0 ? fd : regular_file_read(fd, CONTAINER_FILES_BYTES, ret, ret_length);
}

static bool read_docker(int root, const char *id, struct container_labels *ret)
{
	_cleanup_close_ int directory = open_directory(root, docker);
	_cleanup_free_ char *text = NULL;
	char path[CONTAINER_TEXT_MAX + 32];
	size_t length;

	(void)snprintf(path, sizeof(path), "%s/config.v2.json", id);
	return directory >= 0 && read_file(directory, path, &text, &length) == 0 &&
	       container_state_docker(text, length, ret);
}

static bool read_bundle(int root, const char *in, const char *path, struct container_labels *ret)
{
	_cleanup_close_ int directory = open_directory(root, in);
	_cleanup_free_ char *text = NULL;
	size_t length;

	return directory >= 0 && read_file(directory, path, &text, &length) == 0 &&
	       container_state_bundle(text, length, ret);
}

/* Reads the container's bundle in this namespace of containerd. */
static bool take_task(int in, const char *namespace, const char *id, struct container_labels *ret)
{
	char path[CONTAINER_TEXT_MAX + NAME_MAX + 32];
	_cleanup_free_ char *text = NULL;
	size_t length;

	(void)snprintf(path, sizeof(path), "%s/%s/config.json", namespace, id);
	return read_file(in, path, &text, &length) == 0 && container_state_bundle(text, length, ret);
}

static bool read_containerd(int root, const char *id, struct container_labels *ret)
{
	for (size_t i = 0; i < ARRAY_SIZE(tasks); i++)
		if (scan(root, tasks[i], id, ret, take_task))
			return true;
	return false;
}

static bool read_crio(int root, const char *id, struct container_labels *ret)
{
	char path[CONTAINER_TEXT_MAX + 32];

	(void)snprintf(path, sizeof(path), "%s/userdata/config.json", id);
	return read_bundle(root, bundles, path, ret);
}

static bool read_podman(int root, const char *id, struct container_labels *ret)
{
	_cleanup_close_ int directory = open_directory(root, storage);

	for (size_t i = 0; directory >= 0 && i < ARRAY_SIZE(storage_lists); i++) {
		_cleanup_free_ char *text = NULL;
		size_t length = 0;

		if (read_file(directory, storage_lists[i], &text, &length) == 0 &&
		    container_state_storage(text, length, id, ret))
			return true;
	}
	return false;
}

static const struct {
	const char *runtime;
	bool (*read)(int root, const char *id, struct container_labels *ret);
} runtimes[] = {
	{"containerd", read_containerd},
	{"cri-o", read_crio},
	{"docker", read_docker},
	{"podman", read_podman},
};

/*
 * Reads the files of the runtime that the labels name. If they name none, takes the first runtime that has the
 * container.
 */
static void ask_runtimes(int root, struct container_labels *labels)
{
	char *runtime = labels->text[CONTAINER_LABEL_RUNTIME];

	for (size_t i = 0; i < ARRAY_SIZE(runtimes); i++) {
		if (*runtime && strcmp(runtime, runtimes[i].runtime) != 0)
			continue;
		if (!runtimes[i].read(root, labels->text[CONTAINER_LABEL_ID], labels))
			continue;
		memcpy(runtime, runtimes[i].runtime, strlen(runtimes[i].runtime) + 1);
		return;
	}
}

bool container_files_complete(const struct container_labels *labels)
{
	if (*labels->text[CONTAINER_LABEL_POD_UID] && !*labels->text[CONTAINER_LABEL_POD])
		return false;
	return !*labels->text[CONTAINER_LABEL_ID] || *labels->text[CONTAINER_LABEL_CONTAINER];
}

void container_files_find(int root, struct container_labels *labels)
{
	const char *uid = labels->text[CONTAINER_LABEL_POD_UID], *id = labels->text[CONTAINER_LABEL_ID];

	/*
	 * Names of directories come first because they contain only names, while the runtimes' files also
	 * contain environments.
	 */
	if (*id && *uid)
		(void)scan(root, container_logs, id, labels, take_log_link);
	if (*uid && !container_files_complete(labels))
		(void)scan(root, pod_logs, uid, labels, take_pod_directory);
	if (*id && !container_files_complete(labels))
		ask_runtimes(root, labels);
}

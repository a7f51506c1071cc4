// SPDX-License-Identifier: GPL-2.0
#include "kernel/guests.h"

#include <errno.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "guests.skel.h"
#include "kernel/load_failure.h"

struct guests {
	struct guests_bpf *skeleton;
};

static int load(struct guests *guests, bool every_thread, const char **ret_step)
{
	*ret_step = "open the BPF program that finds virtual machines";
	guests->skeleton = guests_bpf__open();
	if (!guests->skeleton)
		return -errno;
	guests->skeleton->rodata->every_thread = every_thread;
	*ret_step = "load the BPF program that finds virtual machines";
	if (guests_bpf__load(guests->skeleton) < 0)
		return -errno;
	*ret_step = "attach the BPF program that finds virtual machines";
	return guests_bpf__attach(guests->skeleton) < 0 ? -errno : 0;
}

int guests_open(bool every_thread, struct guests **ret, char **ret_message)
{
	_cleanup_(guests_freep) struct guests *guests = calloc(1, sizeof(*guests));
	_cleanup_(load_log_freep) struct load_log *log = NULL;
	const char *step;
	int r;

	*ret_message = NULL;
	if (!guests)
		return -ENOMEM;
	r = load_log_start(&log);
	if (r < 0)
		return r;
	r = load(guests, every_thread, &step);
	if (r < 0) {
		*ret_message = load_failure(step, r, log);
		return r;
	}
	*ret = TAKE_PTR(guests);
	return 0;
}

struct guests *guests_free(struct guests *guests)
{
	if (!guests)
		return NULL;
	guests_bpf__destroy(guests->skeleton);
	free(guests);
	return NULL;
}

static int compare_ids(const void *a, const void *b)
{
	u64 left = *(const u64 *)a, right = *(const u64 *)b;

	return (left > right) - (left < right);
}

size_t guests_unique(u64 *ids, size_t n)
{
	size_t kept = 0;

	if (n == 0)
		return 0;
	qsort(ids, n, sizeof(*ids), compare_ids);
	for (size_t i = 0; i < n; i++)
		if (kept == 0 || ids[i] != ids[kept - 1])
			ids[kept++] = ids[i];
	return kept;
}

/*
 * Reads one cgroup id for each thread that the BPF program lists. The program writes only whole ids. When the
 * kernel's buffer is full, the iterator continues with the next read().
 */
static int read_ids(int fd, u64 **ret, size_t *ret_n)
{
	_cleanup_free_ u64 *ids = NULL;
	size_t bytes = 0, room = 0;

	for (;;) {
		ssize_t got;

		if (room - bytes < 4096) {
			u64 *longer = realloc(ids, room + 65536);

			if (!longer)
				return -ENOMEM;
			ids = longer;
			room += 65536;
		}
		got = read(fd, (char *)ids + bytes, room - bytes);
		/* EAGAIN: the kernel has looked at a million threads without listing one. */
		if (got < 0 && (errno == EAGAIN || errno == EINTR))
			continue;
		if (got < 0)
			return -errno;
		bytes += (size_t)got;
		if (got == 0 || bytes >= GUESTS_THREADS_MAX * sizeof(*ids))
			break;
	}
	*ret_n = guests_unique(ids, bytes / sizeof(*ids));
	*ret = TAKE_PTR(ids);
	return 0;
}

int guests_find(const struct guests *guests, u64 **ret, size_t *ret_n)
{
	int link = bpf_link__fd(guests->skeleton->links.guest_cgroups);
	_cleanup_close_ int fd = bpf_iter_create(link);

	return fd < 0 ? fd : read_ids(fd, ret, ret_n);
}

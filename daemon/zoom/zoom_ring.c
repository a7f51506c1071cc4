// SPDX-License-Identifier: GPL-2.0
#include "zoom/zoom_ring.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static size_t page_size(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

size_t zoom_ring_size(size_t n, size_t all, size_t least, size_t most)
{
	size_t size = least;

	while (size * 2 <= most && size * 2 * n <= all)
		size *= 2;
	return size;
}

int zoom_ring_open(int fd, size_t size, u8 *copy, struct zoom_ring *ret)
{
	int r = -ENOMEM;

	*ret = (struct zoom_ring){0};
	for (; size >= page_size(); size /= 2) {
		/* Writable: with a read-only mapping, the kernel overwrites unread records. */
		void *page = mmap(NULL, page_size() + size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

		if (page == MAP_FAILED) {
			/*
			 * The ring exceeds RLIMIT_MEMLOCK and kernel.perf_event_mlock_kb (EPERM,
			 * perf_mmap()), or the available memory (ENOMEM). Try half the size.
			 */
			r = -errno;
			if (r == -EPERM || r == -ENOMEM)
				continue;
			return r;
		}
		ret->page = page;
		ret->data = (const u8 *)page + page_size();
		ret->size = size;
		ret->copy = copy;
		return 0;
	}
	return r;
}

void zoom_ring_close(struct zoom_ring *ring)
{
	if (ring->page)
		(void)munmap(ring->page, page_size() + ring->size);
	*ring = (struct zoom_ring){0};
}

u64 zoom_ring_head(const struct zoom_ring *ring)
{
	return __atomic_load_n(&ring->page->data_head, __ATOMIC_ACQUIRE);
}

static void copy_out(const struct zoom_ring *ring, u64 from, size_t size, u8 *ret)
{
	size_t offset = from & (ring->size - 1);
	size_t first = size < ring->size - offset ? size : ring->size - offset;

	memcpy(ret, ring->data + offset, first);
	memcpy(ret + first, ring->data, size - first);
}

int zoom_ring_next(struct zoom_ring *ring, u64 head, const u8 **ret_record, size_t *ret_size)
{
	struct perf_event_header header;
	u64 available = head - ring->tail;
	size_t offset = ring->tail & (ring->size - 1);

	if (available == 0)
		return 0;
	if (available > ring->size || available < sizeof(header))
		goto bad;
	copy_out(ring, ring->tail, sizeof(header), (u8 *)&header);
	if (header.size < sizeof(header) || header.size > available)
		goto bad;
	*ret_size = header.size;
	*ret_record = ring->data + offset;
	if (header.size > ring->size - offset) {
		copy_out(ring, ring->tail, header.size, ring->copy);
		*ret_record = ring->copy;
	}
	ring->tail += header.size;
	return 1;
bad:
	ring->tail = head;
	return -EBADMSG;
}

void zoom_ring_free_up(struct zoom_ring *ring)
{
	__atomic_store_n(&ring->page->data_tail, ring->tail, __ATOMIC_RELEASE);
}

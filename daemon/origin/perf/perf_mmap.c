// SPDX-License-Identifier: GPL-2.0
#include "origin/perf/perf_mmap.h"

#include <sys/mman.h>
#include <unistd.h>

#include "base/monotonic.h"

static size_t page_size(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

/*
 * Maps the data pages writable. In a read-only mapping the kernel overwrites records that were not read
 * (rb->overwrite), and they may be torn.
 */
static bool map_pages(int fd, unsigned data_pages, struct perf_mmap *map)
{
	int protection = data_pages ? PROT_READ | PROT_WRITE : PROT_READ;
	void *page = mmap(NULL, page_size() * (1 + data_pages), protection, MAP_SHARED, fd, 0);

	if (page == MAP_FAILED)
		return false;
	map->page = page;
	map->data_pages = data_pages;
	return true;
}

void perf_mmap_open(int fd, unsigned data_pages_max, struct perf_mmap *ret)
{
	*ret = (struct perf_mmap){.data_pages_max = data_pages_max};
	if (!map_pages(fd, 1, ret))
		(void)map_pages(fd, 0, ret);
}

void perf_mmap_close(struct perf_mmap *map)
{
	if (map->page)
		(void)munmap(map->page, page_size() * (1 + map->data_pages));
	map->page = NULL;
	map->data_pages = 0;
}

/* Doubles the ring. The old mapping must go first: the kernel accepts another size only then (perf_mmap). */
static void grow(struct perf_mmap *map, int fd)
{
	unsigned data_pages = map->data_pages;

	if (data_pages >= map->data_pages_max)
		return;
	perf_mmap_close(map);
	if (!map_pages(fd, data_pages * 2, map) && !map_pages(fd, data_pages, map))
		(void)map_pages(fd, 0, map);
}

void perf_mmap_read(struct perf_mmap *map, int fd)
{
	struct perf_event_mmap_page *page = map->page;
	u64 head;

	if (!map->data_pages)
		return;
	head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE);
	perf_throttle_read((const unsigned char *)page + page_size(), page_size() * map->data_pages,
			   page->data_tail, head, monotonic_ns(), &map->throttle);
	__atomic_store_n(&page->data_tail, head, __ATOMIC_RELEASE);
	if (map->throttle.full)
		grow(map, fd);
}

// SPDX-License-Identifier: GPL-2.0
#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "base/cleanup.h"
#include "base/own_memory.h"

Test(own_memory, statm_is_parsed)
{
	u64 bytes = 7;

	cr_expect_eq(own_memory_of_statm("5120 812 600 210 0 300 0\n", 4096, &bytes), 0);
	cr_expect_eq(bytes, 212ULL * 4096);
	cr_expect_eq(own_memory_of_statm("1 1 1 0 0 0 0\n", 16384, &bytes), 0);
	cr_expect_eq(bytes, 0);
	bytes = 7;
	cr_expect_eq(own_memory_of_statm("", 4096, &bytes), -ENODATA);
	cr_expect_eq(own_memory_of_statm("5120 812", 4096, &bytes), -ENODATA);
	cr_expect_eq(own_memory_of_statm("5120 812 813", 4096, &bytes), -ENODATA);
	cr_expect_eq(bytes, 7);
}

Test(own_memory, the_peak_is_read_from_status)
{
	u64 bytes = 7;

	cr_expect_eq(own_memory_peak_of_status("Name:\tpebsd\nVmHWM:\t   20000 kB\nVmRSS:\t   9000 kB\n"
					       "RssAnon:\t    4000 kB\nRssFile:\t    4800 kB\n"
					       "RssShmem:\t     200 kB\n",
					       &bytes),
		     0);
	cr_expect_eq(bytes, 15000ULL * 1024);
	/* The counters lag behind each other: the peak is never less than the present amount. */
	cr_expect_eq(own_memory_peak_of_status("VmHWM:\t 9000 kB\nRssAnon:\t 4300 kB\nRssFile:\t 4800 kB\n"
					       "RssShmem:\t 200 kB\n",
					       &bytes),
		     0);
	cr_expect_eq(bytes, 4300ULL * 1024);
	bytes = 7;
	cr_expect_eq(own_memory_peak_of_status("VmHWM:\t 9000 kB\nRssAnon:\t 4300 kB\n", &bytes), -ENODATA);
	cr_expect_eq(own_memory_peak_of_status("", &bytes), -ENODATA);
	cr_expect_eq(bytes, 7);
}

Test(own_memory, the_figure_follows_allocations_and_releases)
{
	const size_t bytes = 64UL << 20;
	_cleanup_close_ int fd = own_memory_open();
	u64 before, with, after, peak;
	void *memory;

	cr_assert_geq(fd, 0);
	cr_assert_eq(own_memory_read(fd, &before), 0);
	memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	cr_assert_neq(memory, MAP_FAILED);
	memset(memory, 1, bytes);
	cr_assert_eq(own_memory_read(fd, &with), 0);
	cr_assert_eq(munmap(memory, bytes), 0);
	cr_assert_eq(own_memory_read(fd, &after), 0);
	cr_assert_eq(own_memory_peak(&peak), 0);
	/* The tolerance allows for the counters of a few CPUs that lag behind. */
	cr_expect_geq(with, before + bytes - (bytes >> 2));
	cr_expect_leq(after, with - (bytes >> 1));
	cr_expect_geq(peak, before + (bytes >> 1));
}

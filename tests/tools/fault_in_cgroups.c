// SPDX-License-Identifier: GPL-2.0
/*
 * fault_in_cgroups DIRECTORY N PAGES: makes the cgroups 1 to N in the cgroup DIRECTORY, except those that exist. A
 * process in each of them, one after the other, touches PAGES fresh pages. Each touch is a page fault. The cgroups
 * stay.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/number.h"

#define PAGE 4096UL

/* Returns the exit status of the process. */
static int touch(size_t pages)
{
	volatile char *memory =
		mmap(NULL, pages * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED || madvise((void *)memory, pages * PAGE, MADV_NOHUGEPAGE) < 0)
		return 1;
	for (size_t i = 0; i < pages; i++)
		memory[i * PAGE] = 1;
	return 0;
}

/*
 * Forks into the cgroup. To move an existing process into it, the kernel would wait for an RCU grace period, which
 * takes milliseconds.
 */
static int work_in(int cgroup_fd, size_t pages)
{
	struct clone_args how = {
		.flags = CLONE_INTO_CGROUP, .exit_signal = SIGCHLD, .cgroup = (unsigned)cgroup_fd};
	const pid_t child = (pid_t)syscall(SYS_clone3, &how, sizeof(how));
	int status;

	if (child < 0)
		return -errno;
	if (child == 0)
		_exit(touch(pages));
	if (waitpid(child, &status, 0) < 0)
		return -errno;
	return status == 0 ? 0 : -ENOMEM;
}

static int fill(int directory_fd, u64 number, size_t pages)
{
	_cleanup_close_ int cgroup_fd = -1;
	char name[24];

	(void)snprintf(name, sizeof(name), "%llu", (unsigned long long)number);
	if (mkdirat(directory_fd, name, 0755) < 0 && errno != EEXIST)
		return -errno;
	cgroup_fd = openat(directory_fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return cgroup_fd < 0 ? -errno : work_in(cgroup_fd, pages);
}

int main(int argc, char **argv)
{
	_cleanup_close_ int directory_fd = -1;
	u64 n, pages;
	int r = 0;

	if (argc != 4 || number_parse(argv[2], 1, 1000000, &n) < 0 ||
	    number_parse(argv[3], 1, 1000000, &pages) < 0) {
		(void)fprintf(stderr, "usage: fault_in_cgroups DIRECTORY N PAGES\n");
		return 2;
	}
	directory_fd = open(argv[1], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (directory_fd < 0)
		r = -errno;
	for (u64 number = 1; r == 0 && number <= n; number++)
		r = fill(directory_fd, number, pages);
	if (r < 0)
		(void)fprintf(stderr, "fault_in_cgroups: %s: %s\n", argv[1], strerror(-r));
	return r < 0;
}

// SPDX-License-Identifier: GPL-2.0
/*
 * A process that has confined itself to a few system calls may do nothing else. A child of the test reports
 * the results by its exit code.
 */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "child/seccomp.h"

static bool is_refused(long result)
{
	return result == -1 && errno == EPERM;
}

static int confine(const struct seccomp_list *lists, size_t n)
{
	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ? -errno : seccomp_allow(lists, n);
}

/* Returns the result of `deed` in a child that has called seccomp_allow(). */
static int in_child(const struct seccomp_list *lists, size_t n, int (*deed)(int pair[2]))
{
	int pair[2], status;
	pid_t pid;

	cr_assert_eq(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair), 0);
	pid = fork();
	cr_assert_geq(pid, 0);
	if (pid == 0)
		_exit(confine(lists, n) < 0 ? 100 : deed(pair));
	(void)close(pair[0]);
	(void)close(pair[1]);
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	cr_assert(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void ignore(int number)
{
	(void)number;
}

static int do_what_any_may(int pair[2])
{
	struct timespec now;
	struct stat status;
	void *memory;
	char byte;

	if (send(pair[0], "x", 1, 0) != 1 || recv(pair[1], &byte, 1, 0) != 1)
		return 1;
	if (send(pair[0], "x", 1, 0) != 1 || read(pair[1], &byte, 1) != 1)
		return 2;
	/* Not fstat(): with some versions of the C library it is another system call. */
	if (syscall(SYS_fstat, pair[0], &status) < 0 || fcntl(pair[0], F_GETFL) < 0)
		return 3;
	memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED || mprotect(memory, 4096, PROT_READ) < 0 || munmap(memory, 4096) < 0)
		return 4;
	if (signal(SIGUSR1, ignore) == SIG_ERR || clock_gettime(CLOCK_MONOTONIC, &now) < 0)
		return 5;
	if (syscall(SYS_getpid) <= 0 || syscall(SYS_gettid) <= 0)
		return 6;
	return write(STDERR_FILENO, "", 0) == 0 ? 0 : 7;
}

static int try_what_none_may(int pair[2])
{
	char *const nothing[] = {NULL};
	struct stat status;

	if (!is_refused(open("/dev/null", O_RDONLY)) || !is_refused(stat("/", &status)))
		return 1;
	if (!is_refused(socket(AF_UNIX, SOCK_STREAM, 0)) || !is_refused(dup(pair[0])))
		return 2;
	if (!is_refused(close(pair[0])) || !is_refused(fcntl(pair[0], F_SETFL, 0)))
		return 3;
	if (!is_refused(execve("/bin/true", nothing, nothing)) || !is_refused(kill(getppid(), 0)))
		return 4;
	if (!is_refused(syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0)) || !is_refused(unshare(CLONE_NEWUSER)))
		return 5;
	if (syscall(SYS_clone3, NULL, 0) != -1 || errno != ENOSYS)
		return 6;
#ifndef __SANITIZE_ADDRESS__
	if (!is_refused(write(pair[0], "x", 1)) || !is_refused(prctl(PR_GET_DUMPABLE)))
		return 7;
	if (mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED)
		return 8;
	if (mmap(NULL, 4096, PROT_READ, MAP_SHARED | MAP_ANONYMOUS, -1, 0) != MAP_FAILED)
		return 9;
#endif
	return 0;
}

static const struct seccomp_permission first[] = {
	{SYS_openat, {{2, SECCOMP_WITHOUT, O_ACCMODE}}},
	{SYS_close, {{0, SECCOMP_ABOVE, STDERR_FILENO}}},
	{SYS_fcntl, {{0, SECCOMP_ABOVE, STDERR_FILENO}, {1, SECCOMP_EQUAL, F_GETFD}}},
};
static const struct seccomp_permission second[] = {
	{SYS_openat, {{2, SECCOMP_EQUAL, O_RDWR}}},
	{.call = SYS_dup},
};
static const struct seccomp_list lists[] = {{first, ARRAY_SIZE(first)}, {second, ARRAY_SIZE(second)}};

static int use_first(int pair[2])
{
	int fd = openat(AT_FDCWD, "/dev/null", O_RDONLY | O_CLOEXEC);

	if (fd < 0 || close(fd) < 0 || !is_refused(close(STDERR_FILENO)))
		return 1;
	if (fcntl(pair[0], F_GETFD) < 0 || !is_refused(fcntl(pair[0], F_SETFD, 0)) ||
	    !is_refused(fcntl(STDIN_FILENO, F_GETFD)))
		return 2;
	return is_refused(openat(AT_FDCWD, "/dev/null", O_WRONLY)) ? 0 : 3;
}

static int use_first_alone(int pair[2])
{
	if (!is_refused(dup(pair[0])) || !is_refused(openat(AT_FDCWD, "/dev/null", O_RDWR)))
		return 10;
	return use_first(pair);
}

static int use_both(int pair[2])
{
	if (dup(pair[0]) < 0 || openat(AT_FDCWD, "/dev/null", O_RDWR) < 0)
		return 10;
	return use_first(pair);
}

Test(seccomp, without_a_list_basic_calls_are_allowed)
{
	cr_expect_eq(in_child(NULL, 0, do_what_any_may), 0);
}

Test(seccomp, without_a_list_other_calls_are_refused)
{
	cr_expect_eq(in_child(NULL, 0, try_what_none_may), 0);
}

Test(seccomp, all_checks_of_a_list_must_hold)
{
	cr_expect_eq(in_child(lists, 1, use_first_alone), 0);
	cr_expect_eq(in_child(lists, 1, do_what_any_may), 0);
}

Test(seccomp, permission_by_one_of_several_lists_is_enough)
{
	cr_expect_eq(in_child(lists, 2, use_both), 0);
}

Test(seccomp, a_too_long_filter_is_refused)
{
	static const struct seccomp_list many = {first, 4096};

	/* The error comes before the list is read. */
	cr_expect_eq(seccomp_allow(&many, 1), -E2BIG);
}

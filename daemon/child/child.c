// SPDX-License-Identifier: GPL-2.0
#include "child/child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/text_file.h"

#define SELF "/proc/self/exe"

/*
 * The descriptors of the child. All others are closed: those of pebsd are close-on-exec, but those of a library
 * may not be.
 */
static int make_files(posix_spawn_file_actions_t *files, int socket, const int *passed, size_t n_passed)
{
	int r;

	if ((r = posix_spawn_file_actions_adddup2(files, socket, STDIN_FILENO)) != 0 ||
	    (r = posix_spawn_file_actions_addopen(files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0)) != 0)
		return -r;
	for (size_t i = 0; i < n_passed; i++) {
		r = posix_spawn_file_actions_adddup2(files, passed[i], CHILD_PASSED_FIRST + (int)i);
		if (r != 0)
			return -r;
	}
	return -posix_spawn_file_actions_addclosefrom_np(files, CHILD_PASSED_FIRST + (int)n_passed);
}

static int make_signals(posix_spawnattr_t *attributes)
{
	sigset_t none, all;
	int r;

	sigemptyset(&none);
	sigfillset(&all);
	if ((r = posix_spawnattr_setsigmask(attributes, &none)) != 0 ||
	    (r = posix_spawnattr_setsigdefault(attributes, &all)) != 0)
		return -r;
	return -posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
}

static int spawn(const struct child_request *request, int socket, const int *passed, pid_t *ret)
{
	static char *const nothing[] = {NULL};
	char *arguments[] = {(char *)(request->program ? request->program : "pebsd"),
			     (char *)request->argument, NULL};
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attributes;
	int r = -posix_spawn_file_actions_init(&files);

	if (r < 0)
		return r;
	r = -posix_spawnattr_init(&attributes);
	if (r == 0) {
		r = make_files(&files, socket, passed, request->n_passed);
		if (r == 0)
			r = make_signals(&attributes);
		if (r == 0)
			r = -posix_spawn(ret, request->program ? request->program : SELF, &files, &attributes,
					 arguments, request->environment ? request->environment : nothing);
		(void)posix_spawnattr_destroy(&attributes);
	}
	(void)posix_spawn_file_actions_destroy(&files);
	return r;
}

/*
 * Duplicates the descriptor to a number above those of the child. dup2() onto the same number would leave it
 * close-on-exec, and dup2() onto another passed descriptor would replace that one.
 */
static int move_up(int fd, int *ret)
{
	int moved = fcntl(fd, F_DUPFD_CLOEXEC, CHILD_PASSED_FIRST + CHILD_PASSED_MAX);

	*ret = moved;
	return moved < 0 ? -errno : 0;
}

static int spawn_with(const struct child_request *request, int socket, pid_t *ret)
{
	int passed[CHILD_PASSED_MAX];
	_cleanup_close_ int moved = -1;
	size_t n = 0;
	int r = move_up(socket, &moved);

	while (r == 0 && n < request->n_passed) {
		r = move_up(request->passed[n], &passed[n]);
		n += r == 0;
	}
	if (r == 0)
		r = spawn(request, moved, passed, ret);
	while (n > 0)
		(void)close(passed[--n]);
	return r;
}

int child_run(const struct child_request *request, int socket, struct child *ret)
{
	struct child child = CHILD_NONE;
	int r;

	if (request->n_passed > CHILD_PASSED_MAX)
		return -E2BIG;
	r = spawn_with(request, socket, &child.pid);
	if (r < 0)
		return r;
	child.pidfd = (int)syscall(SYS_pidfd_open, child.pid, 0);
	if (child.pidfd < 0) {
		r = -errno;
		(void)kill(child.pid, SIGKILL);
		(void)waitpid(child.pid, NULL, 0);
		return r;
	}
	*ret = child;
	return 0;
}

int child_start(const struct child_request *request, struct child *ret)
{
	_cleanup_close_ int ours = -1;
	_cleanup_close_ int its = -1;
	int pair[2];
	int r;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return -errno;
	ours = pair[0];
	its = pair[1];
	if (fcntl(ours, F_SETFL, O_NONBLOCK) < 0)
		return -errno;
	r = child_run(request, its, ret);
	if (r == 0)
		ret->socket = TAKE_FD(ours);
	return r;
}

bool child_is_ours(int fd)
{
	int domain = 0, type = 0;
	socklen_t size = sizeof(int);

	return getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &size) == 0 && domain == AF_UNIX &&
	       getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) == 0 && type == SOCK_SEQPACKET;
}

bool child_is_busy(const struct child *child, u64 *cpu_ns)
{
	_cleanup_free_ char *stat = NULL;
	struct timespec taken;
	const char *name_end;
	u64 before_ns = *cpu_ns;
	char path[64];
	clockid_t clock;

	if (child->pid <= 0 || clock_getcpuclockid(child->pid, &clock) != 0 ||
	    clock_gettime(clock, &taken) < 0)
		return false;
	*cpu_ns = (u64)taken.tv_sec * NSEC_PER_SEC + (u64)taken.tv_nsec;
	(void)snprintf(path, sizeof(path), "/proc/%d/stat", child->pid);
	if (text_file_read(path, &stat) < 0)
		return child->pidfd < 0 && *cpu_ns > before_ns;
	name_end = strrchr(stat, ')');
	return name_end && strncmp(name_end, ") R", 3) == 0;
}

void child_kill(struct child *child)
{
	if (child->socket >= 0)
		(void)close(child->socket);
	child->socket = -1;
	if (child->pidfd >= 0)
		(void)syscall(SYS_pidfd_send_signal, child->pidfd, SIGKILL, NULL, 0);
}

int child_reap(struct child *child, char ret_how[static CHILD_END_MAX])
{
	siginfo_t info = {0};
	int r = 1;

	if (waitid(P_PID, (id_t)child->pid, &info, WEXITED | WNOHANG) < 0)
		r = -errno;
	else if (info.si_pid == 0)
		return 0;
	if (r < 0)
		(void)snprintf(ret_how, CHILD_END_MAX, "has ended");
	else if (info.si_code == CLD_EXITED)
		(void)snprintf(ret_how, CHILD_END_MAX, "ended with exit code %d", info.si_status);
	else
		(void)snprintf(ret_how, CHILD_END_MAX, "was killed by signal %d (%s)", info.si_status,
			       sigabbrev_np(info.si_status) ? sigabbrev_np(info.si_status) : "?");
	(void)close(child->pidfd);
	child->pidfd = -1;
	return r;
}

int child_wait(struct child *child, char ret_how[static CHILD_END_MAX])
{
	struct pollfd ended = {.fd = child->pidfd, .events = POLLIN};

	(void)poll(&ended, 1, 1000);
	return child_reap(child, ret_how);
}

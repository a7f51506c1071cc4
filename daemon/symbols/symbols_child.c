// SPDX-License-Identifier: GPL-2.0
#include "symbols/symbols_child.h"

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

/* libdebuginfod's cache, where pebsd is told no other place: the unit's, which systemd makes. */
#define CACHE_DEFAULT "/var/cache/pebsd/debuginfod"

#define ENVIRONMENT_MAX 8

struct environment {
	char *list[ENVIRONMENT_MAX + 1];
	size_t n;
};

static void environment_clear(struct environment *environment)
{
	for (size_t i = 0; i < environment->n; i++)
		free(environment->list[i]);
}

static int environment_add(struct environment *environment, const char *name, const char *value)
{
	char *text;

	if (environment->n == ENVIRONMENT_MAX)
		return -E2BIG;
	if (asprintf(&text, "%s=%s", name, value) < 0)
		return -ENOMEM;
	environment->list[environment->n++] = text;
	return 0;
}

static int add_cache(struct environment *environment)
{
	const char *own = getenv("DEBUGINFOD_CACHE_PATH");
	const char *unit = getenv("CACHE_DIRECTORY");
	_cleanup_free_ char *path = NULL;

	if (own && *own)
		return environment_add(environment, "DEBUGINFOD_CACHE_PATH", own);
	if (unit && *unit == '/' && asprintf(&path, "%s/debuginfod", unit) < 0) {
		path = NULL;
		return -ENOMEM;
	}
	return environment_add(environment, "DEBUGINFOD_CACHE_PATH", path ? path : CACHE_DEFAULT);
}

static int make_environment(const char *debuginfod, struct environment *environment)
{
	int r = 0;

	if ((r = environment_add(environment, "PATH", "/usr/sbin:/usr/bin:/sbin:/bin")) < 0 ||
	    (r = environment_add(environment, "LANG", "C.UTF-8")) < 0)
		return r;
#ifdef __SANITIZE_ADDRESS__
	/* Its search for leaks attaches to the process, which is forbidden there. */
	if ((r = environment_add(environment, "ASAN_OPTIONS", "detect_leaks=0:abort_on_error=1")) < 0)
		return r;
#endif
	if (!debuginfod || !*debuginfod)
		return 0;
	/* Less than a question may take (SYMBOLS_QUESTION_S): a server that hangs costs a name, not the
	 * symboliser. */
	if ((r = environment_add(environment, "DEBUGINFOD_URLS", debuginfod)) < 0 ||
	    (r = environment_add(environment, "DEBUGINFOD_TIMEOUT", "2")) < 0 ||
	    (r = environment_add(environment, "DEBUGINFOD_MAXTIME", "6")) < 0)
		return r;
	return add_cache(environment);
}

/* Everything else is close-on-exec here, but a library's descriptor may not be. */
static int make_files(posix_spawn_file_actions_t *files, int socket)
{
	int r;

	/* Not 0: dup2() onto itself would leave it close-on-exec. */
	if ((r = posix_spawn_file_actions_adddup2(files, socket, STDIN_FILENO)) != 0 ||
	    (r = posix_spawn_file_actions_addopen(files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0)) != 0)
		return -r;
	return -posix_spawn_file_actions_addclosefrom_np(files, STDERR_FILENO + 1);
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

static int spawn(const char *program, int socket, char **environment, pid_t *ret)
{
	char *arguments[] = {(char *)(program ? program : "pebsd"), (char *)"--symbolizer", NULL};
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attributes;
	int r = -posix_spawn_file_actions_init(&files);

	if (r < 0)
		return r;
	r = -posix_spawnattr_init(&attributes);
	if (r == 0) {
		r = make_files(&files, socket);
		if (r == 0)
			r = make_signals(&attributes);
		if (r == 0)
			r = -posix_spawn(ret, program ? program : SELF, &files, &attributes, arguments,
					 environment);
		(void)posix_spawnattr_destroy(&attributes);
	}
	(void)posix_spawn_file_actions_destroy(&files);
	return r;
}

int symbols_child_start(const char *program, const char *debuginfod, struct symbols_child *ret)
{
	_cleanup_(environment_clear) struct environment environment = {0};
	struct symbols_child child = SYMBOLS_CHILD_NONE;
	_cleanup_close_ int ours = -1;
	_cleanup_close_ int its = -1;
	int pair[2];
	int r = make_environment(debuginfod, &environment);

	if (r < 0)
		return r;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return -errno;
	ours = pair[0];
	its = pair[1];
	/* pebsd started with standard input closed: the socket has taken its number. */
	if (its <= STDERR_FILENO) {
		int other = fcntl(its, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);

		if (other < 0)
			return -errno;
		(void)close(its);
		its = other;
	}
	if (fcntl(ours, F_SETFL, O_NONBLOCK) < 0)
		return -errno;
	r = spawn(program, its, environment.list, &child.pid);
	if (r < 0)
		return r;
	child.pidfd = (int)syscall(SYS_pidfd_open, child.pid, 0);
	if (child.pidfd < 0) {
		r = -errno;
		(void)kill(child.pid, SIGKILL);
		(void)waitpid(child.pid, NULL, 0);
		return r;
	}
	child.socket = TAKE_FD(ours);
	*ret = child;
	return 0;
}

bool symbols_child_is_busy(const struct symbols_child *child, u64 *ret_cpu_ns)
{
	_cleanup_free_ char *stat = NULL;
	struct timespec taken;
	const char *name_end;
	char path[64];
	clockid_t clock;

	(void)snprintf(path, sizeof(path), "/proc/%d/stat", child->pid);
	if (text_file_read(path, &stat) < 0 || !(name_end = strrchr(stat, ')')) ||
	    strncmp(name_end, ") R", 3) != 0)
		return false;
	if (clock_getcpuclockid(child->pid, &clock) != 0 || clock_gettime(clock, &taken) < 0)
		return false;
	*ret_cpu_ns = (u64)taken.tv_sec * NSEC_PER_SEC + (u64)taken.tv_nsec;
	return true;
}

void symbols_child_kill(struct symbols_child *child)
{
	if (child->socket >= 0)
		(void)close(child->socket);
	child->socket = -1;
	if (child->pidfd >= 0)
		(void)syscall(SYS_pidfd_send_signal, child->pidfd, SIGKILL, NULL, 0);
}

int symbols_child_reap(struct symbols_child *child, char ret_how[static SYMBOLS_CHILD_END_MAX])
{
	siginfo_t info = {0};
	int r = 1;

	if (waitid(P_PID, (id_t)child->pid, &info, WEXITED | WNOHANG) < 0)
		r = -errno;
	else if (info.si_pid == 0)
		return 0;
	if (r < 0)
		(void)snprintf(ret_how, SYMBOLS_CHILD_END_MAX, "has ended");
	else if (info.si_code == CLD_EXITED)
		(void)snprintf(ret_how, SYMBOLS_CHILD_END_MAX, "ended with exit code %d", info.si_status);
	else
		(void)snprintf(ret_how, SYMBOLS_CHILD_END_MAX, "was ended by signal %d (%s)", info.si_status,
			       sigabbrev_np(info.si_status) ? sigabbrev_np(info.si_status) : "?");
	(void)close(child->pidfd);
	child->pidfd = -1;
	return r;
}

int symbols_child_wait(struct symbols_child *child, char ret_how[static SYMBOLS_CHILD_END_MAX])
{
	struct pollfd ended = {.fd = child->pidfd, .events = POLLIN};

	(void)poll(&ended, 1, 1000);
	return symbols_child_reap(child, ret_how);
}

// SPDX-License-Identifier: GPL-2.0
#include "bench_child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/monotonic.h"
#include "bench_victim.h"

#define STOP_NS  (5 * NSEC_PER_SEC)
#define PAUSE_NS (2 * (long)NSEC_PER_MSEC)

bool bench_child_exists(const char *program)
{
	_cleanup_free_ char *places = NULL;
	const char *path = getenv("PATH");
	char *state = NULL;

	if (strchr(program, '/'))
		return access(program, X_OK) == 0;
	places = strdup(path ? path : "/usr/sbin:/usr/bin");
	for (char *place = places ? strtok_r(places, ":", &state) : NULL; place;
	     place = strtok_r(NULL, ":", &state)) {
		_cleanup_free_ char *file = NULL;

		if (asprintf(&file, "%s/%s", place, program) >= 0 && access(file, X_OK) == 0)
			return true;
	}
	return false;
}

/* Runs in the child: only async-signal-safe functions are allowed. */
static void __attribute__((noreturn))
become(char *const arguments[], const char *output, const int to[2], const int answer[2])
{
	int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
	int out = output ? open(output, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600) : nowhere;

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	(void)victim_pin(victim_other_cpu());
	if (nowhere < 0 || out < 0 || dup2(nowhere, 0) < 0 || dup2(out, 1) < 0 || dup2(out, 2) < 0)
		_exit(126);
	if (to[0] >= 0) {
		/* Move the pipes away from 3 and 4 first: dup2() could overwrite one of them. */
		int from_us = fcntl(to[0], F_DUPFD, 10), to_us = fcntl(answer[1], F_DUPFD, 10);

		if (from_us < 0 || to_us < 0 || dup2(from_us, 3) < 0 || dup2(to_us, 4) < 0)
			_exit(126);
		(void)close(from_us);
		(void)close(to_us);
	}
	(void)execvp(arguments[0], arguments);
	_exit(127);
}

int bench_child_start(char *const arguments[], const char *output, bool pipes, struct bench_child *ret)
{
	int to[2] = {-1, -1}, answer[2] = {-1, -1};

	*ret = (struct bench_child){-1, -1, -1};
	if (pipes && (pipe2(to, O_CLOEXEC) < 0 || pipe2(answer, O_CLOEXEC) < 0))
		return -errno;
	ret->pid = fork();
	if (ret->pid < 0)
		return -errno;
	if (ret->pid == 0)
		become(arguments, output, to, answer);
	if (pipes) {
		(void)close(to[0]);
		(void)close(answer[1]);
		ret->to = to[1];
		ret->answer = answer[0];
	}
	return 0;
}

bool bench_child_runs(const struct bench_child *child)
{
	siginfo_t info = {0};

	return waitid(P_PID, (id_t)child->pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == 0;
}

int bench_child_stop(struct bench_child *child, int number)
{
	const struct timespec pause = {.tv_nsec = PAUSE_NS};
	u64 until = monotonic_ns() + STOP_NS;
	int status = 0;

	(void)kill(child->pid, number);
	while (bench_child_runs(child) && monotonic_ns() < until)
		(void)nanosleep(&pause, NULL);
	(void)kill(child->pid, SIGKILL);
	if (child->to >= 0)
		(void)close(child->to);
	if (child->answer >= 0)
		(void)close(child->answer);
	child->to = child->answer = -1;
	return waitpid(child->pid, &status, 0) < 0 ? -errno : status;
}

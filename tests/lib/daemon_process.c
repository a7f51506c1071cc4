// SPDX-License-Identifier: GPL-2.0
#include <criterion/criterion.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "daemon_process.h"
#include "tree.h"

const char *program_path(const char *variable)
{
	static const struct {
		const char *variable, *path;
	} built[] = {{"PEBSD", "build/pebsd"}, {"PEBSCTL", "build/pebsctl"}, {"TOOLS", "build/tests/tools"}};
	const char *path = getenv(variable);

	for (size_t i = 0; !path && i < sizeof(built) / sizeof(*built); i++)
		if (strcmp(built[i].variable, variable) == 0)
			path = built[i].path;
	cr_assert_not_null(path, "no program %s", variable);
	return path;
}

void daemon_process_init(struct daemon_process *daemon)
{
	*daemon = (struct daemon_process){.directory = tree_new()};
	(void)snprintf(daemon->socket_path, sizeof(daemon->socket_path), "%s/control.sock",
		       daemon->directory);
}

void daemon_process_done(struct daemon_process *daemon)
{
	if (daemon->pid > 0) {
		(void)kill(daemon->pid, SIGKILL);
		(void)daemon_process_wait(daemon);
	}
	if (daemon->directory)
		tree_remove(TAKE_PTR(daemon->directory));
}

char *daemon_process_file(const struct daemon_process *daemon, const char *name)
{
	char *path;

	cr_assert_geq(asprintf(&path, "%s/%s", daemon->directory, name), 0);
	return path;
}

void daemon_process_start(struct daemon_process *daemon, const char *program, char *const *arguments, int log)
{
	cr_assert_eq(daemon->pid, 0, "a daemon runs already");
	daemon->pid = fork();
	cr_assert_geq(daemon->pid, 0);
	if (daemon->pid > 0)
		return;
	if (log >= 0) {
		(void)dup2(log, STDOUT_FILENO);
		(void)dup2(log, STDERR_FILENO);
	}
	(void)execvp(program, arguments);
	_exit(127);
}

int daemon_process_wait(struct daemon_process *daemon)
{
	int status;

	cr_assert_gt(daemon->pid, 0, "no daemon runs");
	cr_assert_eq(waitpid(daemon->pid, &status, 0), daemon->pid);
	daemon->pid = 0;
	return status;
}

int daemon_process_stop(struct daemon_process *daemon)
{
	cr_assert_gt(daemon->pid, 0, "no daemon runs");
	cr_assert_eq(kill(daemon->pid, SIGTERM), 0);
	return daemon_process_wait(daemon);
}

bool daemon_process_alive(struct daemon_process *daemon)
{
	int status;

	if (daemon->pid > 0 && waitpid(daemon->pid, &status, WNOHANG) == 0)
		return true;
	if (daemon->pid > 0)
		(void)printf("the daemon ended with status %#x\n", (unsigned)status);
	daemon->pid = 0;
	return false;
}

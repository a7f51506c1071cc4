// SPDX-License-Identifier: GPL-2.0
#include "child_server.h"

#include <criterion/criterion.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

struct child_server child_server;

void child_server_prepare(void)
{
	(void)stpcpy(child_server.directory, "/tmp/pebsd-server-XXXXXX");
	cr_assert_not_null(mkdtemp(child_server.directory));
	(void)snprintf(child_server.path, sizeof(child_server.path), "%s/socket", child_server.directory);
}

void child_server_start(void (*play)(int fd, const void *part), const void *part)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int listening = socket(AF_UNIX, SOCK_STREAM, 0);

	child_server_prepare();
	(void)stpcpy(address.sun_path, child_server.path);
	cr_assert_eq(bind(listening, (struct sockaddr *)&address, sizeof(address)), 0);
	cr_assert_eq(listen(listening, 1), 0);
	child_server.pid = fork();
	if (child_server.pid == 0) {
		play(accept(listening, NULL, NULL), part);
		_exit(0);
	}
	(void)close(listening);
}

void child_server_stop(void)
{
	if (child_server.pid > 0) {
		(void)kill(child_server.pid, SIGKILL);
		(void)waitpid(child_server.pid, NULL, 0);
		child_server.pid = 0;
	}
	(void)unlink(child_server.path);
	(void)rmdir(child_server.directory);
}

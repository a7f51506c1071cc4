// SPDX-License-Identifier: GPL-2.0
#include "containers/container_worker.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>

#include "base/cleanup.h"
#include "base/failure.h"
#include "base/log.h"
#include "child/child.h"
#include "containers/container_confine.h"
#include "containers/container_files.h"
#include "containers/container_wire.h"

/* Answers requests. Returns 0 when the other end has closed the socket, or -errno. */
static int answer(int socket, int root)
{
	struct container_message message;

	for (;;) {
		ssize_t n = recv(socket, &message, sizeof(message), 0);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : 0;
		if (!container_message_ok(&message, (size_t)n))
			return -EBADMSG;
		container_files_find(root, &message.labels);
		if (send(socket, &message, sizeof(message), MSG_NOSIGNAL) < 0)
			return errno == EPIPE ? 0 : -errno;
	}
}

int container_worker(int socket)
{
	_cleanup_close_ int root = -1;
	int r;

	if (!child_is_ours(socket)) {
		(void)log_error(
			0,
			"--container-names: standard input is not a socket from pebsd; pebsd starts this process itself if there are containers, see pebsd-containers(7)");
		return EXIT_INPUT;
	}
	root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root < 0) {
		(void)log_error(-errno, "cannot open / to read containers' names");
		return EXIT_FAILED;
	}
	r = container_confine();
	if (r < 0) {
		(void)log_error(
			0,
			"the process that reads containers' names cannot drop its privileges, so it exits: %s; `names = no` in [containers] disables it",
			strerror(-r));
		return EXIT_FAILED;
	}
	r = answer(socket, root);
	if (r < 0 && r != -ECONNRESET)
		(void)log_error(r, "the process that reads containers' names cannot communicate with pebsd");
	return r < 0 ? EXIT_FAILED : EXIT_DONE;
}

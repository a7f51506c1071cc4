// SPDX-License-Identifier: GPL-2.0
#include "notify_socket.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <systemd/sd-daemon.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "child_expect.h"
#include "tree.h"

#define MESSAGE_MAX 4096
#define FDS_MAX     253 /* SCM_MAX_FD, include/net/scm.h */
#define SETTLE_USEC 60000000

struct message {
	char text[MESSAGE_MAX];
	int fds[FDS_MAX];
	size_t n_fds;
};

static bool receive(int fd, struct message *ret)
{
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof(int) * FDS_MAX)];
	} control;
	struct iovec data = {.iov_base = ret->text, .iov_len = sizeof(ret->text) - 1};
	struct msghdr header = {.msg_iov = &data,
				.msg_iovlen = 1,
				.msg_control = &control,
				.msg_controllen = sizeof(control)};
	ssize_t bytes = recvmsg(fd, &header, MSG_CMSG_CLOEXEC);

	if (bytes <= 0)
		return false;
	ret->text[bytes] = '\0';
	ret->n_fds = 0;
	for (const struct cmsghdr *part = CMSG_FIRSTHDR(&header); part;
	     part = CMSG_NXTHDR(&header, (struct cmsghdr *)part)) {
		if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS)
			continue;
		ret->n_fds = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
		memcpy(ret->fds, CMSG_DATA(part), ret->n_fds * sizeof(int));
	}
	return true;
}

static bool has_line(const char *text, const char *line)
{
	const size_t length = strlen(line);

	for (const char *at = text; at; at = strchr(at, '\n')) {
		at += *at == '\n';
		if (strncmp(at, line, length) == 0 && (at[length] == '\n' || at[length] == '\0'))
			return true;
	}
	return false;
}

static void name_of(const char *text, char name[256])
{
	const char *found = strstr(text, "FDNAME=");

	(void)snprintf(name, 256, "%.*s", found ? (int)strcspn(found + 7, "\n") : 0, found ? found + 7 : "");
}

static void store(struct notify_socket *socket, struct message *message)
{
	struct notify_stored *longer =
		reallocarray(socket->stored, socket->n + message->n_fds, sizeof(*socket->stored));

	cr_assert_not_null(longer);
	socket->stored = longer;
	for (size_t i = 0; i < message->n_fds; i++) {
		name_of(message->text, longer[socket->n].name);
		longer[socket->n++].fd = message->fds[i];
	}
	message->n_fds = 0;
	socket->messages++;
	socket->polled |= !has_line(message->text, "FDPOLL=0");
	if (++socket->since > socket->longest)
		socket->longest = socket->since;
}

static void forget(struct notify_socket *socket, const char *text)
{
	char name[256];
	size_t kept = 0;

	name_of(text, name);
	for (size_t i = 0; i < socket->n; i++) {
		if (strcmp(socket->stored[i].name, name) == 0)
			(void)close(socket->stored[i].fd);
		else
			socket->stored[kept++] = socket->stored[i];
	}
	socket->n = kept;
}

static void *serve(void *userdata)
{
	struct notify_socket *socket = userdata;
	struct message message;

	while (receive(socket->fd, &message)) {
		(void)pthread_mutex_lock(&socket->lock);
		if (has_line(message.text, "FDSTORE=1"))
			store(socket, &message);
		else if (has_line(message.text, "FDSTOREREMOVE=1"))
			forget(socket, message.text);
		else if (has_line(message.text, "BARRIER=1")) {
			socket->barriers++;
			socket->since = 0;
			if (socket->silent)
				message.n_fds = 0;
		}
		(void)pthread_mutex_unlock(&socket->lock);
		for (size_t i = 0; i < message.n_fds; i++)
			(void)close(message.fds[i]);
		if (has_line(message.text, "END=1"))
			break;
	}
	return NULL;
}

void notify_socket_start(struct notify_socket *ret)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};

	ret->root = tree_new();
	(void)snprintf(address.sun_path, sizeof(address.sun_path), "%s/notify", ret->root);
	ret->fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	cr_assert_geq(ret->fd, 0);
	cr_assert_eq(bind(ret->fd, (const struct sockaddr *)&address, sizeof(address)), 0, "%s",
		     strerror(errno));
	cr_assert_eq(setenv("NOTIFY_SOCKET", address.sun_path, 1), 0);
	cr_assert_eq(pthread_mutex_init(&ret->lock, NULL), 0);
	cr_assert_eq(pthread_create(&ret->thread, NULL, serve, ret), 0);
}

void notify_socket_stop(struct notify_socket *socket)
{
	if (!socket->root)
		return;
	(void)sd_notify(0, "END=1");
	(void)pthread_join(socket->thread, NULL);
	(void)unsetenv("NOTIFY_SOCKET");
	for (size_t i = 0; i < socket->n; i++)
		(void)close(socket->stored[i].fd);
	free(socket->stored);
	(void)close(socket->fd);
	tree_remove(socket->root);
	*socket = (struct notify_socket){0};
}

size_t notify_socket_count(struct notify_socket *socket, const char *name)
{
	size_t n = 0;

	cr_assert_gt(sd_notify_barrier(0, SETTLE_USEC), 0);
	(void)pthread_mutex_lock(&socket->lock);
	for (size_t i = 0; i < socket->n; i++)
		n += strcmp(socket->stored[i].name, name) == 0;
	(void)pthread_mutex_unlock(&socket->lock);
	return n;
}

void notify_socket_pass_these(const struct notify_stored *stored, size_t n)
{
	const int first = SD_LISTEN_FDS_START;
	_cleanup_free_ int *fds = calloc(n + 1, sizeof(*fds));
	char *names = NULL, number[24];
	size_t bytes;
	FILE *stream = open_memstream(&names, &bytes);

	cr_assert(fds && stream);
	if (n == 0) {
		(void)fclose(stream);
		free(names);
		return;
	}
	/* Move the descriptors to higher numbers first, so that dup2() overwrites none of them. */
	for (size_t i = 0; i < n; i++) {
		fds[i] = fcntl(stored[i].fd, F_DUPFD_CLOEXEC, first + (int)n);
		cr_assert_geq(fds[i], 0);
	}
	for (size_t i = 0; i < n; i++) {
		cr_assert_geq(dup2(fds[i], first + (int)i), 0);
		(void)close(fds[i]);
		(void)fprintf(stream, "%s%s", i ? ":" : "", stored[i].name);
	}
	cr_assert_eq(fclose(stream), 0);
	(void)snprintf(number, sizeof(number), "%zu", n);
	cr_assert_eq(setenv("LISTEN_FDS", number, 1), 0);
	cr_assert_eq(setenv("LISTEN_FDNAMES", names, 1), 0);
	(void)snprintf(number, sizeof(number), "%d", getpid());
	cr_assert_eq(setenv("LISTEN_PID", number, 1), 0);
	free(names);
}

void notify_socket_pass(const struct notify_socket *socket)
{
	notify_socket_pass_these(socket->stored, socket->n);
}

struct notify_socket manager;

void manager_start(void)
{
	notify_socket_start(&manager);
}

void manager_stop(void)
{
	notify_socket_stop(&manager);
}

int manager_run(int (*run)(struct store *store, void *userdata), void *userdata)
{
	pid_t child;
	int status;

	(void)notify_socket_count(&manager, "");
	child = fork();
	cr_assert_geq(child, 0);
	if (child == 0) {
		struct store *store;

		notify_socket_pass(&manager);
		EXPECT(store_open(&store) == 0);
		_exit(run(store, userdata));
	}
	cr_assert_eq(waitpid(child, &status, 0), child);
	cr_assert(WIFEXITED(status), "the process ended with %#x", (unsigned)status);
	return WEXITSTATUS(status);
}

// SPDX-License-Identifier: GPL-2.0
#include "symbols/symbols_socket.h"

#include <errno.h>
#include <linux/capability.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "symbols/shared/symbols_wire.h"
#include "symbols/symbols.h"

#define START_MS  60000
#define ANSWER_MS (SYMBOLS_QUERY_S * 1000)

int symbols_socket_connect(const char *path, struct child *ret)
{
	_cleanup_close_ int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	struct ucred listener;
	socklen_t size = sizeof(listener);
	int yes = 1;

	if (fd < 0)
		return -errno;
	if (strlen(path) >= sizeof(address.sun_path))
		return -ENAMETOOLONG;
	(void)stpcpy(address.sun_path, path);
	/* Set SO_PASSCRED before connect(), because the first answer may arrive immediately. */
	if (setsockopt(fd, SOL_SOCKET, SO_PASSCRED, &yes, sizeof(yes)) < 0 ||
	    connect(fd, (const struct sockaddr *)&address, sizeof(address)) < 0 ||
	    getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &listener, &size) < 0)
		return -errno;
	if (listener.uid != 0)
		return -EPERM;
	*ret = CHILD_NONE;
	ret->socket = TAKE_FD(fd);
	return 0;
}

bool symbols_socket_is_needed(void)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {0};

	if (syscall(SYS_capget, &header, data) < 0)
		return true;
	return !(data[CAP_TO_INDEX(CAP_SYS_PTRACE)].effective & CAP_TO_MASK(CAP_SYS_PTRACE));
}

ssize_t symbols_socket_receive(struct child *child, void *packet, size_t size)
{
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(struct ucred))];
	struct iovec data = {packet, size};
	struct msghdr message = {
		.msg_iov = &data, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof(control)};
	ssize_t n = recvmsg(child->socket, &message, MSG_DONTWAIT | MSG_TRUNC | MSG_CMSG_CLOEXEC);
	const struct cmsghdr *head = n > 0 ? CMSG_FIRSTHDR(&message) : NULL;
	struct ucred sender;
	int no = 0;

	if (head && head->cmsg_level == SOL_SOCKET && head->cmsg_type == SCM_CREDENTIALS &&
	    head->cmsg_len == CMSG_LEN(sizeof(sender))) {
		memcpy(&sender, CMSG_DATA(head), sizeof(sender));
		child->pid = sender.pid;
		(void)setsockopt(child->socket, SOL_SOCKET, SO_PASSCRED, &no, sizeof(no));
	}
	return n;
}

static ssize_t await_packet(int fd, int most_ms, u8 packet[static SYMBOLS_WIRE_MAX])
{
	struct pollfd answered = {.fd = fd, .events = POLLIN};
	ssize_t n;

	do {
		int r = poll(&answered, 1, most_ms);

		if (r <= 0)
			return r < 0 ? -errno : -ETIMEDOUT;
		n = recv(fd, packet, SYMBOLS_WIRE_MAX, MSG_DONTWAIT | MSG_TRUNC);
	} while (n < 0 && (errno == EINTR || errno == EAGAIN));
	if (n < 0)
		return -errno;
	return n == 0 || n > SYMBOLS_WIRE_MAX ? -ECONNRESET : n;
}

static int connect_ready(const char *path, u8 packet[static SYMBOLS_WIRE_MAX], struct child *connection)
{
	struct symbols_wire_answer ready;
	int r = symbols_socket_connect(path, connection);
	ssize_t n;

	if (r < 0)
		return r;
	n = await_packet(connection->socket, START_MS, packet);
	if (n < 0)
		return (int)n;
	r = symbols_wire_read_answer(packet, (size_t)n, &ready);
	if (r < 0)
		return r;
	free(ready.block);
	return ready.number == SYMBOLS_WIRE_READY ? 0 : -EBADMSG;
}

static int ask_code(int fd, u32 pid, u8 packet[static SYMBOLS_WIRE_MAX], char **ret_text)
{
	const struct symbols_wire_request request = {.number = 1, .type = SYMBOLS_WIRE_CODE, .pid = pid};
	size_t size = symbols_wire_write_request(&request, packet, SYMBOLS_WIRE_MAX);
	const char *text;
	ssize_t n;
	int r;

	if (send(fd, packet, size, MSG_NOSIGNAL) < 0)
		return -errno;
	n = await_packet(fd, ANSWER_MS, packet);
	if (n < 0)
		return (int)n;
	r = symbols_wire_read_code(packet, (size_t)n, request.number, &text);
	if (r < 0)
		return r;
	*ret_text = strdup(text);
	return *ret_text ? 0 : -ENOMEM;
}

int symbols_socket_code(const char *path, struct child *connection, u32 pid, char **ret_text)
{
	_cleanup_free_ u8 *packet = malloc(SYMBOLS_WIRE_MAX);
	int r = 0;

	if (!packet)
		return -ENOMEM;
	if (connection->socket < 0)
		r = connect_ready(path, packet, connection);
	if (r == 0)
		r = ask_code(connection->socket, pid, packet, ret_text);
	if (r < 0)
		child_kill(connection);
	return r;
}

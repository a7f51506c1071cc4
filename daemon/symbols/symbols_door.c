// SPDX-License-Identifier: GPL-2.0
#include "symbols/symbols_door.h"

#include <errno.h>
#include <linux/capability.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/cleanup.h"

int symbols_door_connect(const char *path, struct child *ret)
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
	/* Before connecting: its first answer may be there at once. */
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

bool symbols_door_is_needed(void)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {0};

	if (syscall(SYS_capget, &header, data) < 0)
		return true;
	return !(data[CAP_TO_INDEX(CAP_SYS_PTRACE)].effective & CAP_TO_MASK(CAP_SYS_PTRACE));
}

ssize_t symbols_door_receive(struct child *child, void *packet, size_t size)
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

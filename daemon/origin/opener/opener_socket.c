// SPDX-License-Identifier: GPL-2.0
#include "origin/opener/opener_socket.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "base/cleanup.h"
#include "origin/opener/opener_wire.h"

/*
 * The union gives the buffer the alignment of cmsghdr. The buffer has space for one more descriptor than
 * allowed, to detect a message with too many.
 */
union control {
	struct cmsghdr header;
	char bytes[CMSG_SPACE(sizeof(int) * (OPENER_FDS_MAX + 1))];
};

/* The alignment of the buffer may leave space for even more descriptors. */
#define ROOM_FDS ((sizeof(union control) - CMSG_LEN(0)) / sizeof(int))

int opener_socket_send(int socket, const void *bytes, size_t size, const int *fds, size_t n_fds)
{
	struct iovec part = {.iov_base = (void *)bytes, .iov_len = size};
	union control control = {0};
	struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};

	if (n_fds > OPENER_FDS_MAX)
		return -E2BIG;
	if (n_fds > 0) {
		struct cmsghdr *header = &control.header;

		header->cmsg_level = SOL_SOCKET;
		header->cmsg_type = SCM_RIGHTS;
		header->cmsg_len = CMSG_LEN(sizeof(int) * n_fds);
		memcpy(CMSG_DATA(header), fds, sizeof(int) * n_fds);
		message.msg_control = &control;
		message.msg_controllen = CMSG_SPACE(sizeof(int) * n_fds);
	}
	return sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT) < 0 ? -errno : 0;
}

static size_t take_fds(struct msghdr *message, int taken[ROOM_FDS])
{
	size_t n = 0;

	for (struct cmsghdr *header = CMSG_FIRSTHDR(message); header; header = CMSG_NXTHDR(message, header)) {
		size_t here;

		if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS)
			continue;
		here = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
		if (here > ROOM_FDS - n)
			here = ROOM_FDS - n;
		memcpy(taken + n, CMSG_DATA(header), here * sizeof(int));
		n += here;
	}
	return n;
}

ssize_t opener_socket_receive(int socket, void *bytes, size_t room, int *fds, size_t *ret_n_fds)
{
	struct iovec part = {.iov_base = bytes, .iov_len = room};
	union control control = {0};
	struct msghdr message = {
		.msg_iov = &part,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control),
	};
	int taken[ROOM_FDS];
	ssize_t size = recvmsg(socket, &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
	size_t n;

	*ret_n_fds = 0;
	if (size < 0)
		return -errno;
	n = take_fds(&message, taken);
	if (size > 0 && n <= OPENER_FDS_MAX && !(message.msg_flags & (MSG_TRUNC | MSG_CTRUNC))) {
		memcpy(fds, taken, n * sizeof(int));
		*ret_n_fds = n;
		return size;
	}
	for (size_t i = 0; i < n; i++)
		(void)close(taken[i]);
	/* `control` has space for more descriptors than allowed, so only a lack of them can have cut these off. */
	if (size > 0 && n <= OPENER_FDS_MAX && (message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) == MSG_CTRUNC)
		return -EMFILE;
	return size > 0 || n > 0 ? -EBADMSG : 0;
}

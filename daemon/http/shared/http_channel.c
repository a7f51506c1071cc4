// SPDX-License-Identifier: GPL-2.0
#include "http/shared/http_channel.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/cleanup.h"

union control {
	struct cmsghdr head;
	u8 room[CMSG_SPACE(sizeof(int))];
};

static int send_with(int fd, const u8 *packet, size_t size, int passed)
{
	union control control = {0};
	struct iovec data = {.iov_base = (void *)packet, .iov_len = size};
	struct msghdr all = {.msg_iov = &data,
			     .msg_iovlen = 1,
			     .msg_control = &control,
			     .msg_controllen = sizeof(control)};

	control.head.cmsg_level = SOL_SOCKET;
	control.head.cmsg_type = SCM_RIGHTS;
	control.head.cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(&control.head), &passed, sizeof(passed));
	return sendmsg(fd, &all, MSG_NOSIGNAL | MSG_DONTWAIT) < 0 ? -errno : 0;
}

int http_channel_send(int fd, const struct http_message *message, int passed)
{
	u8 packet[HTTP_WIRE_MAX];
	size_t size = http_wire_write(message, packet);
	int r;

	if (size == 0)
		return -EMSGSIZE;
	do {
		/* The process that speaks HTTP must not use sendmsg(), which can pass on descriptors. */
		if (passed >= 0)
			r = send_with(fd, packet, size, passed);
		else
			r = send(fd, packet, size, MSG_NOSIGNAL | MSG_DONTWAIT) < 0 ? -errno : 0;
	} while (r == -EINTR);
	return r;
}

/*
 * Returns the descriptor that came with the message, or -1. If several came, returns the last and closes the
 * others.
 */
static int passed_of(struct msghdr *all)
{
	int passed = -1;

	for (struct cmsghdr *head = CMSG_FIRSTHDR(all); head; head = CMSG_NXTHDR(all, head)) {
		if (head->cmsg_level != SOL_SOCKET || head->cmsg_type != SCM_RIGHTS)
			continue;
		/* The alignment of the buffer leaves room for a second descriptor in the same header. */
		for (size_t at = CMSG_LEN(0); at + sizeof(passed) <= head->cmsg_len; at += sizeof(passed)) {
			if (passed >= 0)
				(void)close(passed);
			memcpy(&passed, (const u8 *)head + at, sizeof(passed));
		}
	}
	return passed;
}

int http_channel_receive(int fd, u8 packet[static HTTP_WIRE_MAX], struct http_message *ret, int *ret_passed)
{
	union control control = {0};
	struct iovec data = {.iov_base = packet, .iov_len = HTTP_WIRE_MAX};
	struct msghdr all = {.msg_iov = &data, .msg_iovlen = 1};
	_cleanup_close_ int passed = -1;
	ssize_t n;
	int r;

	if (ret_passed) {
		all.msg_control = &control;
		all.msg_controllen = sizeof(control);
	}
	do {
		n = recvmsg(fd, &all, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	} while (n < 0 && errno == EINTR);
	if (n < 0)
		return errno == ECONNRESET ? 0 : -errno;
	if (ret_passed)
		passed = passed_of(&all);
	/* Neither side sends empty messages, so this is the end. */
	if (n == 0)
		return 0;
	if (all.msg_flags & MSG_TRUNC)
		return -EBADMSG;
	r = http_wire_read(packet, (size_t)n, ret);
	if (r < 0)
		return r;
	if (ret_passed)
		*ret_passed = TAKE_FD(passed);
	return 1;
}

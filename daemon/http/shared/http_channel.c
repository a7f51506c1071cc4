// SPDX-License-Identifier: GPL-2.0
#include "http/shared/http_channel.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/passed.h"

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
			r = passed_send(fd, packet, size, passed);
		else
			r = send(fd, packet, size, MSG_NOSIGNAL | MSG_DONTWAIT) < 0 ? -errno : 0;
	} while (r == -EINTR);
	return r;
}

int http_channel_receive(int fd, u8 packet[static HTTP_WIRE_MAX], struct http_message *ret, int *ret_passed)
{
	union passed_control control = {0};
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
		passed = passed_take(&all);
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

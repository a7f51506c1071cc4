// SPDX-License-Identifier: GPL-2.0
#include "base/passed.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "pebsd/types.h"

int passed_send(int fd, const void *packet, size_t size, int passed)
{
	union passed_control control = {0};
	struct iovec data = {.iov_base = (void *)packet, .iov_len = size};
	const struct msghdr all = {.msg_iov = &data,
				   .msg_iovlen = 1,
				   .msg_control = &control,
				   .msg_controllen = sizeof(control)};

	control.head.cmsg_level = SOL_SOCKET;
	control.head.cmsg_type = SCM_RIGHTS;
	control.head.cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(&control.head), &passed, sizeof(passed));
	return sendmsg(fd, &all, MSG_NOSIGNAL | MSG_DONTWAIT) < 0 ? -errno : 0;
}

int passed_take(struct msghdr *message)
{
	int passed = -1;

	for (struct cmsghdr *head = CMSG_FIRSTHDR(message); head; head = CMSG_NXTHDR(message, head)) {
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

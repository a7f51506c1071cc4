// SPDX-License-Identifier: GPL-2.0
#include "base/log_journal.h"

#include <endian.h>
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/log.h"

#define JOURNAL_SOCKET "/run/systemd/journal/socket"

static struct iovec piece(const void *bytes, size_t length)
{
	return (struct iovec){.iov_base = (void *)bytes, .iov_len = length};
}

static struct iovec word(const char *text)
{
	return piece(text, strlen(text));
}

size_t log_journal_pieces(const struct log_field *fields, size_t n, u64 lengths[static LOG_JOURNAL_FIELDS],
			  struct iovec ret[static LOG_JOURNAL_FIELDS * LOG_JOURNAL_PIECES])
{
	size_t pieces = 0;

	for (size_t i = 0; i < n && i < LOG_JOURNAL_FIELDS; i++) {
		const char *value = fields[i].value;
		bool lines = strchr(value, '\n') != NULL;

		ret[pieces++] = word(fields[i].name);
		ret[pieces++] = word(lines ? "\n" : "=");
		if (lines) {
			lengths[i] = htole64(strlen(value));
			ret[pieces++] = piece(&lengths[i], sizeof(lengths[i]));
		}
		ret[pieces++] = word(value);
		ret[pieces++] = word("\n");
	}
	return pieces;
}

static int open_socket(void)
{
	const struct timeval most = {.tv_usec = LOG_JOURNAL_WAIT_MS * 1000L};
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	int r;

	if (fd < 0)
		return -errno;
	if (setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &most, sizeof(most)) == 0)
		return fd;
	r = -errno;
	(void)close(fd);
	return r;
}

int log_journal_send(const struct log_field *fields, size_t n, bool wait)
{
	static int fd = -1;
	struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = JOURNAL_SOCKET};
	struct iovec pieces[LOG_JOURNAL_FIELDS * LOG_JOURNAL_PIECES];
	u64 lengths[LOG_JOURNAL_FIELDS];
	struct msghdr message = {.msg_name = &address, .msg_namelen = sizeof(address), .msg_iov = pieces};

	if (fd < 0)
		fd = open_socket();
	if (fd < 0)
		return fd;
	message.msg_iovlen = log_journal_pieces(fields, n, lengths, pieces);
	return sendmsg(fd, &message, MSG_NOSIGNAL | (wait ? 0 : MSG_DONTWAIT)) < 0 ? -errno : 0;
}

// SPDX-License-Identifier: GPL-2.0
#include "base/local_socket.h"

#include <errno.h>
#include <grp.h>
#include <stdarg.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "base/cleanup.h"
#include "base/log.h"

#define BACKLOG 64

__attribute__((format(printf, 3, 4))) static int fail(int error, char **ret_message, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	if (vasprintf(ret_message, format, arguments) < 0)
		*ret_message = NULL;
	va_end(arguments);
	return error;
}

/* Creates the directories above the socket; usually they exist. */
static int make_parents(const struct local_socket_words *words, const char *path, char **ret_message)
{
	_cleanup_free_ char *directory = strdup(path);

	if (!directory)
		return -ENOMEM;
	for (char *slash = strchr(directory + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		if (mkdir(directory, 0755) < 0 && errno != EEXIST) {
			int error = -errno;

			return fail(error, ret_message,
				    "cannot create the directory %s for the %s: %s; create it, or %s",
				    directory, words->what, strerror(-error), words->other);
		}
		*slash = '/';
	}
	return 0;
}

/* Removes an existing socket if nobody listens on it. */
static int remove_stale(const struct local_socket_words *words, const struct sockaddr_un *address,
			char **ret_message)
{
	_cleanup_close_ int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	struct stat st;

	if (fd < 0)
		return fail(-errno, ret_message, "cannot create the %s %s: %s", words->what,
			    address->sun_path, strerror(errno));
	if (lstat(address->sun_path, &st) < 0)
		return errno == ENOENT ? 0
				       : fail(-errno, ret_message, "cannot access the %s %s: %s", words->what,
					      address->sun_path, strerror(errno));
	if (!S_ISSOCK(st.st_mode))
		return fail(-EEXIST, ret_message,
			    "%s is not a socket, so the %s cannot be created there; remove it, or %s",
			    address->sun_path, words->what, words->other);
	if (connect(fd, (const struct sockaddr *)address, sizeof(*address)) == 0 || errno == EAGAIN)
		return fail(-EADDRINUSE, ret_message, "another daemon listens on the %s %s; stop it, or %s",
			    words->what, address->sun_path, words->other);
	if (errno != ECONNREFUSED)
		return fail(-errno, ret_message,
			    "cannot connect to the %s %s to find out whether another daemon uses it: %s",
			    words->what, address->sun_path, strerror(errno));
	if (unlink(address->sun_path) < 0 && errno != ENOENT)
		return fail(-errno, ret_message, "cannot remove the stale %s %s: %s", words->what,
			    address->sun_path, strerror(errno));
	return 0;
}

/*
 * No failure here is fatal: without the group, the socket is for its owner and root alone, and the log says
 * what to do.
 */
static void give_to_group(const struct local_socket_words *words, const char *path, const char *group)
{
	const struct group *entry;
	struct stat st;

	if (!group)
		return;
	errno = 0;
	entry = getgrnam(group);
	if (!entry) {
		log_notice(
			"%s %s: the group %s does not exist, so only the socket's owner and root may connect; create the group, or set `group` in [control], and restart pebsd",
			words->what, path, group);
		return;
	}
	/*
	 * The socket already has the group if it is pebsd's primary group. In this case do not call chown:
	 * the unit may not permit it.
	 */
	if (((lstat(path, &st) < 0 || st.st_gid != entry->gr_gid) &&
	     lchown(path, (uid_t)-1, entry->gr_gid) < 0) ||
	    chmod(path, 0660) < 0)
		(void)log_warning(
			0,
			"%s %s: cannot change its group to %s: %s, so only the socket's owner and root may connect; run systemctl edit pebsd.service, add Group=%s to its [Service], and restart pebsd",
			words->what, path, group, strerror(errno), group);
}

int local_socket_listen(const struct local_socket_words *words, const char *path, const char *group,
			struct local_socket *ret, int *ret_fd, char **ret_message)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	_cleanup_close_ int fd = -1;
	struct stat st;
	int r;

	if (!*path || strlen(path) >= sizeof(address.sun_path))
		return fail(-ENAMETOOLONG, ret_message,
			    "cannot listen on the %s '%s': its path must have 1 to %zu bytes", words->what,
			    path, sizeof(address.sun_path) - 1);
	(void)stpcpy(address.sun_path, path);
	r = make_parents(words, path, ret_message);
	if (r < 0)
		return r;
	r = remove_stale(words, &address, ret_message);
	if (r < 0)
		return r;

	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	/*
	 * bind(2) gives the file the mode of the socket's own inode (unix(7), net/unix/af_unix.c in Linux
	 * 6.1). Others can therefore never connect.
	 */
	if (fd < 0 || fchmod(fd, 0600) < 0 ||
	    bind(fd, (const struct sockaddr *)&address, sizeof(address)) < 0)
		return fail(-errno, ret_message,
			    "cannot create the %s %s: %s; check that pebsd may write to its directory, or %s",
			    words->what, path, strerror(errno), words->other);

	ret->path = strdup(path);
	if (!ret->path || lstat(path, &st) < 0) {
		r = ret->path ? -errno : -ENOMEM;
		(void)unlink(path);
		free(TAKE_PTR(ret->path));
		return fail(r, ret_message, "cannot access the %s %s: %s", words->what, path, strerror(-r));
	}
	ret->device = st.st_dev;
	ret->inode = st.st_ino;
	give_to_group(words, path, group);
	if (listen(fd, BACKLOG) < 0) {
		r = -errno;
		local_socket_remove(ret);
		return fail(r, ret_message, "cannot listen on the %s %s: %s", words->what, path,
			    strerror(-r));
	}
	*ret_fd = TAKE_FD(fd);
	return 0;
}

void local_socket_remove(struct local_socket *socket)
{
	struct stat st;

	if (!socket->path)
		return;
	if (lstat(socket->path, &st) == 0 && st.st_dev == socket->device && st.st_ino == socket->inode)
		(void)unlink(socket->path);
	free(TAKE_PTR(socket->path));
}

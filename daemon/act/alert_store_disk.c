// SPDX-License-Identifier: GPL-2.0
/* Reads and replaces the file of alerts, with the checks and the synchronization that a crash needs. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <time.h>

#include "act/alert_store.h"
#include "base/json_get.h"
#include "base/regular_file.h"

/* Enough for more than 50,000 alerts. A message of alert_store_read() names this size. */
#define BYTES_MAX ((size_t)64 << 20)

/* Returns -EBADMSG if the file is not a regular file, or has more than BYTES_MAX bytes. */
static int read_all(int directory, char **ret, size_t *ret_length)
{
	_cleanup_close_ int fd =
		openat(directory, ALERT_STORE_FILE, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
	int r;

	if (fd < 0)
		return errno == ELOOP ? -EBADMSG : -errno;
	r = regular_file_read(fd, BYTES_MAX, ret, ret_length);
	return r == -EINVAL || r == -EFBIG ? -EBADMSG : r;
}

/*
 * Returns a number above those of all earlier alerts, which are lost. Numbers began at 1, and in the long run
 * there is less than one alert a second, so the seconds of CLOCK_REALTIME are above all of them.
 */
static u64 number_after_loss(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_REALTIME, &now);
	return now.tv_sec > 1 ? (u64)now.tv_sec : 1;
}

static int move_aside(int directory, const char *wrong, struct alert_store *store, char **ret_message)
{
	int r = 0, length;

	store->next_number = number_after_loss();

	/* The rename also moves a directory away, which alert_store_write() could not replace. */
	if (renameat(directory, ALERT_STORE_FILE, directory, ALERT_STORE_BAD) < 0)
		r = -errno;
	if (r < 0)
		length = asprintf(
			ret_message,
			"cannot use the state of alerts in %s: %s; cannot rename it to " ALERT_STORE_BAD
			" either: %s",
			ALERT_STORE_FILE, wrong, strerror(-r));
	else
		length = asprintf(
			ret_message,
			"cannot use the state of alerts in %s: %s; it is kept as " ALERT_STORE_BAD
			", and a new state begins: alerts that the previous process did not pass on start again, with numbers from %llu on",
			ALERT_STORE_FILE, wrong, (unsigned long long)store->next_number);
	if (length < 0)
		*ret_message = NULL;
	return r;
}

int alert_store_read(int directory, struct alert_store *ret, char **ret_message)
{
	_cleanup_free_ char *text = NULL;
	const char *wrong = "it is not a regular file, or is larger than 64 MiB";
	size_t length = 0;
	int r;

	*ret_message = NULL;
	alert_store_init(ret);
	r = read_all(directory, &text, &length);
	if (r == -ENOENT)
		return 0;
	if (r == 0)
		r = alert_store_parse(text, length, ret, &wrong);
	if (r == -EBADMSG)
		return move_aside(directory, wrong, ret, ret_message);
	return r;
}

static int write_all(int fd, const char *text, size_t length)
{
	while (length > 0) {
		ssize_t n = write(fd, text, length);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		text += n;
		length -= (size_t)n;
	}
	return fsync(fd) < 0 ? -errno : 0;
}

int alert_store_replace(int directory, const char *name, const char *text, size_t length)
{
	_cleanup_free_ char *unfinished = NULL;
	_cleanup_close_ int fd = -1;
	int r;

	if (asprintf(&unfinished, "%s.new", name) < 0) {
		unfinished = NULL;
		return -ENOMEM;
	}
	/* Remove a leftover of an interrupted write: with O_EXCL, openat() fails if the file exists. */
	if (unlinkat(directory, unfinished, 0) < 0 && errno != ENOENT)
		return -errno;
	fd = openat(directory, unfinished, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	r = write_all(fd, text, length);
	if (r == 0 && renameat(directory, unfinished, directory, name) < 0)
		r = -errno;
	if (r < 0) {
		(void)unlinkat(directory, unfinished, 0);
		return r;
	}
	return fsync(directory) < 0 ? -errno : 0;
}

int alert_store_write(int directory, const struct alert_store *store)
{
	_cleanup_free_ char *text = NULL;
	size_t length;
	int r;

	r = alert_store_format(store, &text, &length);
	if (r < 0)
		return r;
	/* The next process would move such a file aside. */
	if (length > BYTES_MAX || json_has_too_many_values(text, length))
		return -E2BIG;
	return alert_store_replace(directory, ALERT_STORE_FILE, text, length);
}

// SPDX-License-Identifier: GPL-2.0
#include <criterion/criterion.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/regular_file.h"
#include "tree.h"

static char *root;

static void begin(void)
{
	root = tree_new();
	cr_assert_eq(chdir(root), 0);
}

static void end(void)
{
	cr_assert_eq(chdir("/"), 0);
	tree_remove(root);
}

TestSuite(regular_file, .init = begin, .fini = end);

static int read_of(const char *name, size_t most, char **ret, size_t *ret_length)
{
	_cleanup_close_ int fd = open(name, O_RDONLY | O_NONBLOCK | O_CLOEXEC);

	cr_assert_geq(fd, 0, "%s", name);
	return regular_file_read(fd, most, ret, ret_length);
}

Test(regular_file, a_file_is_read_whole_with_an_uncounted_nul)
{
	_cleanup_free_ char *text = NULL;
	size_t length = 0;

	tree_write(root, "file", "one\ntwo\n");
	cr_assert_eq(read_of("file", 100, &text, &length), 0);
	cr_expect_eq(length, 8);
	cr_expect_arr_eq(text, "one\ntwo\n", 9);
}

Test(regular_file, an_empty_file_is_read)
{
	_cleanup_free_ char *text = NULL;
	size_t length = 1;

	tree_write(root, "file", "");
	cr_assert_eq(read_of("file", 0, &text, &length), 0);
	cr_expect_eq(length, 0);
	cr_expect_str_eq(text, "");
}

Test(regular_file, reading_starts_at_the_position_of_the_descriptor)
{
	_cleanup_free_ char *text = NULL;
	_cleanup_close_ int fd = -1;
	size_t length = 0;

	tree_write(root, "file", "one\ntwo\n");
	fd = open("file", O_RDONLY | O_CLOEXEC);
	cr_assert_geq(fd, 0);
	cr_assert_eq(lseek(fd, 4, SEEK_SET), 4);
	cr_assert_eq(regular_file_read(fd, 100, &text, &length), 0);
	cr_expect_eq(length, 4);
	cr_expect_str_eq(text, "two\n");
}

Test(regular_file, a_file_of_exactly_the_bound_is_read)
{
	_cleanup_free_ char *text = NULL;
	char *none = NULL;
	size_t length = 0;

	tree_write(root, "file", "12345678");
	cr_expect_eq(read_of("file", 7, &none, &length), -EFBIG);
	cr_expect_null(none);
	cr_assert_eq(read_of("file", 8, &text, &length), 0);
	cr_expect_eq(length, 8);
	/* The size that a file claims does not decide how much memory is allocated. */
	cr_assert_eq(truncate("file", (off_t)1 << 40), 0);
	cr_expect_eq(read_of("file", 8, &none, &length), -EFBIG);
	cr_expect_null(none);
}

Test(regular_file, other_kinds_of_files_are_not_read)
{
	char *none = NULL;
	size_t length = 0;

	cr_assert_eq(mkfifo("fifo", 0600), 0);
	cr_expect_eq(read_of("fifo", 100, &none, &length), -EINVAL);
	cr_expect_eq(read_of(".", 100, &none, &length), -EINVAL);
	cr_expect_eq(read_of("/dev/zero", 100, &none, &length), -EINVAL);
	cr_expect_null(none);
}

Test(regular_file, read_errors_are_returned)
{
	char *none = NULL;
	size_t length = 0;
	_cleanup_close_ int fd = -1;

	cr_expect_eq(regular_file_read(-1, 100, &none, &length), -EBADF);
	tree_write(root, "file", "12345678");
	fd = open("file", O_WRONLY | O_CLOEXEC);
	cr_assert_geq(fd, 0);
	cr_expect_eq(regular_file_read(fd, 100, &none, &length), -EBADF);
	cr_expect_null(none);
}

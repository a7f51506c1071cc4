// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <limits.h>

#include <criterion/criterion.h>

#include "base/cleanup.h"
#include "base/text_file.h"
#include "tree.h"

/* Reads a file with these bytes. Returns NULL after a failure, whose error is in *ret_error. */
static char *read_bytes(const char *bytes, size_t n, int *ret_error)
{
	char path[PATH_MAX];
	char *text = NULL;
	char *root = tree_new();

	tree_write_bytes(root, "file", bytes, n);
	(void)snprintf(path, sizeof(path), "%s/file", root);
	*ret_error = text_file_read(path, &text);
	tree_remove(root);
	return text;
}

Test(text_file, trailing_line_ends_and_nuls_are_removed)
{
	static const struct {
		const char *bytes;
		size_t n;
		const char *text;
	} files[] = {{"", 0, ""},
		     {"4\n", 2, "4"},
		     {"4", 1, "4"},
		     {"4\n\n", 3, "4"},
		     {"a\nb\n", 4, "a\nb"},
		     {"event=0xd0\0", 11, "event=0xd0"},
		     {"event=0xd0\0\0\0\0", 14, "event=0xd0"},
		     {"event=0xd0\n\0\0", 13, "event=0xd0"},
		     {"\0\0", 2, ""}};

	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		_cleanup_free_ char *text = NULL;
		int r;

		text = read_bytes(files[i].bytes, files[i].n, &r);
		cr_assert_eq(r, 0, "file %zu: %d", i, r);
		cr_expect_str_eq(text, files[i].text, "file %zu", i);
	}
}

Test(text_file, nul_before_text_is_an_error)
{
	static const struct {
		const char *bytes;
		size_t n;
	} files[] = {{"a\0b", 3}, {"\0a", 2}, {"a\0\n", 3}, {"a\0b\0\0", 5}};

	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		int r;

		cr_expect_null(read_bytes(files[i].bytes, files[i].n, &r), "file %zu", i);
		cr_expect_eq(r, -EINVAL, "file %zu: %d", i, r);
	}
}

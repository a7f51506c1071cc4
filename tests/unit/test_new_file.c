// SPDX-License-Identifier: GPL-2.0
#include <criterion/criterion.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include "base/text_file.h"
#include "ctl/new_file.h"
#include "own_mounts.h"
#include "tree.h"

static char *root;

static void begin(void)
{
	root = tree_new();
}

static void end(void)
{
	tree_remove(root);
}

TestSuite(new_file, .init = begin, .fini = end);

static char *in_root(const char *name)
{
	char *path;

	cr_assert_geq(asprintf(&path, "%s/%s", root, name), 0);
	return path;
}

static void expect_text(const char *name, const char *text)
{
	_cleanup_free_ char *path = in_root(name), *found = NULL;

	cr_assert_eq(text_file_read(path, &found), 0);
	cr_expect_str_eq(found, text);
}

/* Expects that the directory contains this file and nothing else. */
static void expect_alone(const char *name)
{
	_cleanup_free_ char *command = NULL;

	cr_assert_geq(asprintf(&command, "test \"$(ls -A '%s')\" = '%s'", root, name), 0);
	cr_expect_eq(system(command), 0, "more than %s is there", name);
}

Test(new_file, a_file_appears_when_it_is_complete)
{
	_cleanup_(new_file_freep) struct new_file *file = NULL;
	_cleanup_free_ char *path = in_root("profile");
	struct stat status;

	tree_write(root, "profile", "what was there\n");
	cr_assert_eq(chmod(path, 0644), 0);
	cr_assert_eq(new_file_open(path, &file), 0);
	cr_assert_eq(new_file_write(file, (const u8 *)"new", 3), 0);
	expect_text("profile", "what was there");
	/* Nothing else would remain if the program ended here. */
	expect_alone("profile");
	cr_assert_eq(new_file_finish(file), 0);
	expect_text("profile", "new");
	expect_alone("profile");
	cr_assert_eq(stat(path, &status), 0);
	cr_expect_eq(status.st_mode & 07777, 0600);
}

Test(new_file, an_unfinished_file_is_removed)
{
	_cleanup_free_ char *path = in_root("profile");
	struct new_file *file = NULL;

	tree_write(root, "profile", "what was there\n");
	cr_assert_eq(new_file_open(path, &file), 0);
	cr_assert_eq(new_file_write(file, (const u8 *)"half", 4), 0);
	new_file_free(file);
	expect_text("profile", "what was there");
	expect_alone("profile");
}

/* A file without a name gets one through /proc. Where that is not mounted, the temporary file has a name. */
Test(new_file, a_temporary_file_has_a_name_where_proc_is_missing)
{
	_cleanup_free_ char *path = in_root("profile");
	struct new_file *file = NULL;

	if (own_mounts() < 0 || mount("none", "/proc", "tmpfs", 0, NULL) < 0)
		cr_skip_test("needs root to mount");
	cr_assert_eq(new_file_open(path, &file), 0);
	cr_assert_eq(new_file_write(file, (const u8 *)"half", 4), 0);
	new_file_free(file);
	cr_expect_eq(access(path, F_OK), -1);
	cr_assert_eq(new_file_open(path, &file), 0);
	cr_assert_eq(new_file_write(file, (const u8 *)"new", 3), 0);
	cr_assert_eq(new_file_finish(file), 0);
	new_file_free(file);
	/* The address sanitizer needs it at the end. */
	cr_assert_eq(umount("/proc"), 0);
	expect_text("profile", "new");
	expect_alone("profile");
}

Test(new_file, links_are_not_followed)
{
	_cleanup_free_ char *path = in_root("link"), *target = in_root("target");
	struct new_file *file = NULL;

	tree_write(root, "target", "kept\n");
	cr_assert_eq(symlink(target, path), 0);
	cr_expect_eq(new_file_open(path, &file), -ELOOP);
	cr_expect_null(file);
	expect_text("target", "kept");
	cr_expect_eq(new_file_open(root, &file), -EISDIR);
	cr_expect_eq(new_file_open("/nonexistent/profile", &file), -ENOENT);
}

/* A device is written to, not replaced by a file. */
Test(new_file, devices_are_written_directly)
{
	struct new_file *file = NULL;
	struct stat status;

	cr_assert_eq(new_file_open("/dev/null", &file), 0);
	cr_expect_eq(new_file_write(file, (const u8 *)"new", 3), 0);
	cr_expect_eq(new_file_finish(file), 0);
	new_file_free(file);
	cr_assert_eq(stat("/dev/null", &status), 0);
	cr_expect(S_ISCHR(status.st_mode));
}

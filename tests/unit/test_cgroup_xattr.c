// SPDX-License-Identifier: GPL-2.0
/* Attributes of real cgroups. Plain directories stand in for them if only paths matter. */
#include "cgroup/xattr.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "alerts/attributes.h"
#include "base/cleanup.h"
#include "cgroup_fixture.h"

#define NAME "user.pebsd.ignore"

static int root_fd = -1;

static char *path_of(const char *name)
{
	char *path;

	cr_assert_geq(asprintf(&path, "%s%s%s", cgroup_fixture.mount, cgroup_fixture.path, name), 0);
	return path;
}

static void begin(void)
{
	cgroup_fixture_setup();
	(void)cgroup_fixture_make("a");
	(void)cgroup_fixture_make("a/b");
	root_fd = open(cgroup_fixture.mount, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	cr_assert_geq(root_fd, 0);
}

static void end(void)
{
	(void)close(root_fd);
	cgroup_fixture_teardown();
}

TestSuite(cgroup_xattr, .init = begin, .fini = end);

/*
 * Reads the attribute of the cgroup `name` in the cgroup_fixture. *ret is the value or NULL, and the caller frees
 * it.
 */
static int read_attribute(const char *name, size_t max, char **ret, bool *ret_root)
{
	char path[128];

	(void)snprintf(path, sizeof(path), "%s%s", cgroup_fixture.path, name);
	return cgroup_xattr(root_fd, path, NAME, max, ret, ret_root);
}

static void set_attribute(const char *name, const char *value, size_t length)
{
	_cleanup_free_ char *path = path_of(name);

	if (setxattr(path, NAME, value, length, 0) < 0) {
		if (errno == EOPNOTSUPP)
			cr_skip_test("this kernel has no user attributes on cgroups, before 5.7");
		cr_assert_fail("%s: %s", path, strerror(errno));
	}
}

Test(cgroup_xattr, attributes_are_read_or_reported_as_missing)
{
	_cleanup_free_ char *value = (char *)"";
	bool root = false;

	set_attribute("/a/b", "slow-db other", 13);
	cr_assert_eq(read_attribute("/a", 64, &value, &root), 0);
	cr_expect_null(value);
	cr_expect(root);
	cr_assert_eq(read_attribute("/a/b", 64, &value, &root), 0);
	cr_expect_str_eq(value, "slow-db other");
	cr_expect(root);
	free(value);
	set_attribute("/a/b", "", 0);
	cr_assert_eq(read_attribute("/a/b", 64, &value, &root), 0);
	cr_expect_str_eq(value, "");
}

Test(cgroup_xattr, the_owner_of_the_directory_is_read)
{
	_cleanup_free_ char *path = path_of("/a/b");
	char *value = NULL;
	bool root = true;

	set_attribute("/a/b", "x", 1);
	if (chown(path, 12345, (gid_t)-1) < 0)
		cr_skip_test("cannot give %s away: %s", path, strerror(errno));
	cr_assert_eq(read_attribute("/a/b", 64, &value, &root), 0);
	cr_expect_str_eq(value, "x");
	cr_expect_not(root);
	free(value);
	cr_assert_eq(read_attribute("/a", 64, &value, &root), 0);
	cr_expect_null(value);
	cr_expect(root);
}

Test(cgroup_xattr, the_longest_attribute_is_read)
{
	char *value = NULL;
	bool root;

	set_attribute("/a", "12345678", 8);
	cr_assert_eq(read_attribute("/a", 8, &value, &root), 0);
	cr_expect_str_eq(value, "12345678");
	free(value);
	value = NULL;
	cr_expect_eq(read_attribute("/a", 7, &value, &root), -E2BIG);
	cr_expect_eq(read_attribute("/a", 3, &value, &root), -E2BIG);
	cr_expect_null(value);
}

Test(cgroup_xattr, a_path_that_is_not_a_cgroup_is_refused)
{
	_cleanup_free_ char *value = NULL;
	bool root;

	cr_expect_eq(read_attribute("/c", 8, &value, &root), -ENOENT);
	cr_expect_eq(read_attribute("/a/b/c", 8, &value, &root), -ENOENT);
	cr_expect_eq(read_attribute("/a/cgroup.procs", 8, &value, &root), -ENOENT, "a file");
	cr_expect_eq(read_attribute("/a/../a", 8, &value, &root), -EINVAL);
	cr_expect_eq(cgroup_xattr(root_fd, "comm:a", NAME, 8, &value, &root), -EINVAL);
	cr_expect_eq(cgroup_xattr(root_fd, "", NAME, 8, &value, &root), -EINVAL);
	cgroup_fixture_remove("a/b");
	cr_expect_eq(read_attribute("/a/b", 8, &value, &root), -ENOENT);
	cr_expect_null(value);
	cr_expect_eq(cgroup_xattr(root_fd, "/", NAME, 8, &value, &root), 0);
}

/* cgroup2 has no symbolic links. If another file system is mounted there instead, links are not followed. */
Test(cgroup_xattr, links_are_not_followed)
{
	char directory[] = "/tmp/pebsd-test-attributes-XXXXXX";
	char target[64];
	char link[64];
	char *value = NULL;
	bool root;
	int fd;

	cr_assert(mkdtemp(directory));
	(void)snprintf(target, sizeof(target), "%s/target", directory);
	(void)snprintf(link, sizeof(link), "%s/link", directory);
	cr_assert_eq(mkdir(target, 0755), 0);
	cr_assert_eq(symlink("target", link), 0);
	fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	cr_assert_geq(fd, 0);
	cr_expect_eq(cgroup_xattr(fd, "/link", NAME, 8, &value, &root), -ENOENT);
	cr_expect_neq(cgroup_xattr(fd, "/target", NAME, 8, &value, &root), -ENOENT);
	free(value);
	(void)close(fd);
	(void)unlink(link);
	(void)rmdir(target);
	(void)rmdir(directory);
}

static void set_named(const char *cgroup, const char *name, const char *value, size_t length)
{
	_cleanup_free_ char *path = path_of(cgroup);

	if (setxattr(path, name, value, length, 0) < 0) {
		if (errno == EOPNOTSUPP)
			cr_skip_test("this kernel has no user attributes on cgroups, before 5.7");
		cr_assert_fail("%s: %s", path, strerror(errno));
	}
}

/* The other attribute still counts, and an older value of the unreadable one does not. */
Test(cgroup_xattr, an_unreadable_attribute_does_not_hide_the_other_one)
{
	static const char *const names[] = {PREFERENCE_IGNORE, PREFERENCE_THRESHOLD};
	static char long_text[PREFERENCE_TEXT_MAX + 1];
	char path[128];

	memset(long_text, 'x', sizeof(long_text));
	(void)snprintf(path, sizeof(path), "%s/a/b", cgroup_fixture.path);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		_cleanup_(attributes_done) struct attributes attributes;
		const char *read, *unread;

		set_named("/a/b", names[i], long_text, sizeof(long_text));
		set_named("/a/b", names[!i], "slow-db", 7);
		cr_assert_eq(attributes_read(root_fd, path, &attributes), 0);
		read = i ? attributes.preference.ignore : attributes.preference.threshold;
		unread = i ? attributes.preference.threshold : attributes.preference.ignore;
		cr_assert_not_null(read);
		cr_expect_str_eq(read, "slow-db");
		cr_expect_null(unread);
		cr_expect_eq(attributes.error, -E2BIG);
		cr_expect_str_eq(attributes.unread, names[i]);
		cr_expect(attributes.preference.owner_is_root);
	}
}

Test(cgroup_xattr, a_removed_cgroup_has_no_preference_to_read)
{
	_cleanup_(attributes_done) struct attributes attributes;

	cr_expect_eq(attributes_read(root_fd, "/no/such/cgroup", &attributes), -ENOENT);
}

// SPDX-License-Identifier: GPL-2.0
#include <criterion/criterion.h>
#include <errno.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "cgroup/mount.h"

static int parse(const char *text, size_t length, char **ret_path, bool *ret_subtree)
{
	_cleanup_fclose_ FILE *file = fmemopen((char *)text, length, "r");

	cr_assert_not_null(file);
	*ret_path = NULL;
	return cgroup_mount_parse(file, ret_path, ret_subtree);
}

static void expect(const char *text, const char *path, bool subtree)
{
	_cleanup_free_ char *found = NULL;
	bool found_subtree = !subtree;

	cr_assert_eq(parse(text, strlen(text), &found, &found_subtree), 0, "%s", text);
	cr_expect_str_eq(found, path);
	cr_expect_eq(found_subtree, subtree, "%s", text);
}

static void expect_none(const char *text, size_t length)
{
	_cleanup_free_ char *found = NULL;
	bool subtree;

	cr_expect_eq(parse(text, length, &found, &subtree), -ENOENT, "%s gave %s", text, found ? found : "?");
	cr_expect_null(found);
}

#define EXPECT_NONE(text) expect_none(text, sizeof(text) - 1)

Test(cgroup_mount, a_pure_v2_mount_is_found)
{
	expect("22 28 0:20 / /sys rw,nosuid shared:7 - sysfs sysfs rw\n"
	       "30 22 0:26 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n"
	       "31 22 0:27 / /sys/fs/pstore rw shared:10 - pstore pstore rw\n",
	       "/sys/fs/cgroup", false);
}

Test(cgroup_mount, a_hybrid_mount_is_found)
{
	expect("31 23 0:28 / /sys/fs/cgroup ro shared:4 - tmpfs tmpfs rw,mode=755\n"
	       "32 31 0:29 / /sys/fs/cgroup/unified rw shared:5 - cgroup2 cgroup2 rw\n"
	       "33 31 0:30 / /sys/fs/cgroup/systemd rw shared:6 - cgroup cgroup rw,name=systemd\n",
	       "/sys/fs/cgroup/unified", false);
}

Test(cgroup_mount, v1_alone_yields_no_mount)
{
	EXPECT_NONE("31 23 0:28 / /sys/fs/cgroup ro - tmpfs tmpfs rw\n"
		    "33 31 0:30 / /sys/fs/cgroup/systemd rw - cgroup cgroup rw,name=systemd\n");
	EXPECT_NONE("\n");
}

Test(cgroup_mount, any_number_of_optional_fields)
{
	expect("30 22 0:26 / /a rw - cgroup2 c rw\n", "/a", false);
	expect("30 22 0:26 / /a rw shared:1 master:2 propagate_from:3 unbindable - cgroup2 c rw\n", "/a",
	       false);
	/* The file system type follows the separator. The same word before it does not count. */
	EXPECT_NONE("30 22 0:26 / /a rw cgroup2 - tmpfs cgroup2 rw\n");
}

Test(cgroup_mount, escapes_in_paths_are_decoded)
{
	expect("30 22 0:26 / /my\\040cgroups\\011x\\134040\\012 rw - cgroup2 c rw\n", "/my cgroups\tx\\040\n",
	       false);
	expect("30 22 0:26 / /a\\b\\09\\777\\ rw - cgroup2 c rw\n", "/a\\b\\09\\777\\", false);
	EXPECT_NONE("30 22 0:26 / /a\\000b rw - cgroup2 c rw\n");
}

Test(cgroup_mount, the_first_mount_of_the_whole_tree_is_used)
{
	expect("30 22 0:26 /system.slice /sub rw - cgroup2 c rw\n"
	       "31 22 0:26 / /first rw - cgroup2 c rw\n"
	       "32 22 0:26 / /second rw - cgroup2 c rw\n",
	       "/first", false);
	expect("30 22 0:26 /a /sub rw - cgroup2 c rw\n"
	       "31 22 0:26 /b /other rw - cgroup2 c rw\n",
	       "/sub", true);
}

Test(cgroup_mount, in_a_cgroup_namespace_the_highest_mount_is_used)
{
	expect("30 22 0:26 /../.. /host rw - cgroup2 c rw\n", "/host", false);
	expect("30 22 0:26 / /sys/fs/cgroup rw - cgroup2 c rw\n"
	       "31 22 0:26 /../.. /host rw - cgroup2 c rw\n"
	       "32 22 0:26 /.. /half rw - cgroup2 c rw\n",
	       "/host", false);
	expect("30 22 0:26 /../../system.slice /slice rw - cgroup2 c rw\n", "/slice", true);
	expect("30 22 0:26 /..a /dots rw - cgroup2 c rw\n", "/dots", true);
}

Test(cgroup_mount, a_mount_of_a_removed_cgroup_is_ignored)
{
	EXPECT_NONE("30 22 0:26 /gone//deleted /a rw - cgroup2 c rw\n");
}

Test(cgroup_mount, hostile_lines_are_passed_over)
{
	static const char text[] = "30 22 0:26 / /nul\0 rw - cgroup2 c rw\n"
				   "-\n - - - -\n"
				   "30 22 0:26 / /cut rw - cgroup2x c rw\n"
				   "30 22 0:26 / /cut rw -\n"
				   "30 22 0:26 / /cut rw\n"
				   "30 22 0:26 / relative rw - cgroup2 c rw\n"
				   "30 22 0:26 relative /root rw - cgroup2 c rw\n"
				   "30 22 0:26 / /good rw - cgroup2";
	_cleanup_free_ char *path = NULL;
	bool subtree;

	cr_assert_eq(parse(text, sizeof(text) - 1, &path, &subtree), 0);
	cr_expect_str_eq(path, "/good");
}

Test(cgroup_mount, a_line_of_a_mebibyte)
{
	_cleanup_free_ char *text = malloc(1 << 20);
	_cleanup_free_ char *path = NULL;
	static const char good[] = "\n30 22 0:26 / /good rw - cgroup2 c rw\n";
	size_t length = 1 << 20;
	bool subtree;

	memset(text, 'x', length);
	memcpy(text + length - sizeof(good), good, sizeof(good));
	cr_assert_eq(parse(text, length - 1, &path, &subtree), 0);
	cr_expect_str_eq(path, "/good");
}

Test(cgroup_mount, an_unreadable_file_is_an_error)
{
	_cleanup_fclose_ FILE *file = fopen("/", "r");
	char *path;
	bool subtree;

	cr_assert_eq(cgroup_mount_parse(file, &path, &subtree), -EISDIR);
}

Test(cgroup_mount, the_mount_of_this_machine_is_cgroup2)
{
	_cleanup_free_ char *path = NULL;
	_cleanup_free_ char *procs = NULL;
	struct stat st;
	bool subtree;
	int r;

	r = cgroup_mount_find(&path, &subtree);
	if (r == -ENOENT)
		cr_skip_test("no cgroup2 mounted here");
	cr_assert_eq(r, 0);
	cr_assert_gt(asprintf(&procs, "%s/cgroup.procs", path), 0);
	cr_expect_eq(access(procs, F_OK), 0, "%s", procs);
	cr_assert_eq(stat(path, &st), 0);
	cr_expect_eq(subtree, st.st_ino != 1);
}

Test(cgroup_mount, only_a_hierarchy_of_v1_makes_a_root_without_cgroups_useless)
{
	static const char v2[] = "0::/\n";
	static const char hybrid[] = "9:name=systemd:/\n4:memory:/\n0::/\n";
	static const char last[] = "0::/\n1:net_cls:/";

	cr_expect_eq(cgroup_use_of(false, false, v2), CGROUP_USE_NONE_YET);
	cr_expect_eq(cgroup_use_of(false, false, "0::/"), CGROUP_USE_NONE_YET);
	cr_expect_eq(cgroup_use_of(false, false, ""), CGROUP_USE_NONE_YET);
	cr_expect_eq(cgroup_use_of(false, false, NULL), CGROUP_USE_NONE_YET);
	cr_expect_eq(cgroup_use_of(false, false, hybrid), CGROUP_USE_V1);
	cr_expect_eq(cgroup_use_of(false, false, last), CGROUP_USE_V1);
	cr_expect_eq(cgroup_use_of(true, false, hybrid), CGROUP_USE_CGROUPS);
	cr_expect_eq(cgroup_use_of(true, false, v2), CGROUP_USE_CGROUPS);
	cr_expect_eq(cgroup_use_of(false, true, hybrid), CGROUP_USE_CGROUPS);
}

Test(cgroup_mount, in_use_means_a_directory_below)
{
	char path[] = "/tmp/pebsd-test-XXXXXX";
	_cleanup_free_ char *file = NULL;
	_cleanup_free_ char *directory = NULL;

	cr_assert_not_null(mkdtemp(path));
	cr_assert_gt(asprintf(&file, "%s/cgroup.procs", path), 0);
	cr_assert_gt(asprintf(&directory, "%s/system.slice", path), 0);
	cr_assert_eq(mknod(file, S_IFREG | 0600, 0), 0);
	cr_expect_eq(cgroup_mount_in_use(path), 0);
	cr_assert_eq(mkdir(directory, 0700), 0);
	cr_expect_eq(cgroup_mount_in_use(path), 1);
	cr_assert_eq(rmdir(directory), 0);
	cr_assert_eq(unlink(file), 0);
	cr_assert_eq(rmdir(path), 0);
	cr_expect_eq(cgroup_mount_in_use(path), -ENOENT);
}

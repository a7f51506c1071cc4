// SPDX-License-Identifier: GPL-2.0
/* The short names of cgroups, alone and among others. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "cgroup/short_name.h"
#include "cgroup/short_names.h"
#include "counted_strcmp.h"

#define ID    "3f4a1b9c0d2e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7e8"
#define ID2   "c46bafd57b2ef55a23c1319893c8aa5bfca24872bd95258700a51059941fb69e"
#define UID   "12fdc709-933e-41d0-917f-cd84de9afa94"
#define UID_  "12fdc709_933e_41d0_917f_cd84de9afa94"
#define UID2_ "99aaaaaa_933e_41d0_917f_cd84de9afa94"
#define POD   "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" UID_ ".slice"
#define APP   POD "/cri-containerd-" ID ".scope"
#define USER  "/user.slice/user-1000.slice"

static const struct container shop = {.text = {[CONTAINER_LABEL_RUNTIME] = "containerd",
					       [CONTAINER_LABEL_NAMESPACE] = "shop",
					       [CONTAINER_LABEL_POD] = "checkout-6d4f",
					       [CONTAINER_LABEL_CONTAINER] = "app"}};
static const struct container pod = {
	.text = {[CONTAINER_LABEL_NAMESPACE] = "shop", [CONTAINER_LABEL_POD] = "checkout-6d4f"}};
static const struct container web = {.text = {[CONTAINER_LABEL_CONTAINER] = "web"}};

static void expect_level(const char *path, const struct container *labels, unsigned int level,
			 const char *wanted)
{
	_cleanup_free_ char *name = NULL;

	cr_assert_eq(short_name(path, labels, level, &name), 0);
	cr_expect_str_eq(name, wanted, "'%s' is named '%s', not '%s'", path, name, wanted);
}

static void expect(const char *path, const struct container *labels, const char *wanted)
{
	expect_level(path, labels, 0, wanted);
}

Test(short_name, units_have_no_suffix)
{
	expect("/system.slice/cron.service", NULL, "cron");
	expect("/system.slice/system-postgresql.slice/postgresql@15-main.service", NULL,
	       "postgresql@15-main");
	expect("/system.slice/system-getty.slice", NULL, "system-getty");
	expect("/system.slice", NULL, "system");
	expect("/init.scope", NULL, "init");
	expect("/system.slice/dbus.socket", NULL, "dbus.socket");
	expect("/system.slice/boot.mount", NULL, "boot.mount");
	expect("/system.slice/postgresql@15-main.service/workers", NULL, "postgresql@15-main/workers");
	expect("/system.slice/a.service/b/c.slice", NULL, "a/b/c");
	expect("/system.slice/.service", NULL, ".service");
}

Test(short_name, units_and_sessions_of_users_have_the_user)
{
	expect(USER, NULL, "user-1000");
	expect(USER "/session-3.scope", NULL, "user-1000/session-3");
	expect(USER "/user@1000.service", NULL, "user@1000");
	expect(USER "/user@1000.service/init.scope", NULL, "user-1000/init");
	expect(USER "/user@1000.service/app.slice", NULL, "user@1000/app");
	expect(USER "/user@1000.service/app.slice/redis.service", NULL, "user-1000/redis");
	expect(USER "/user@1000.service/app.slice/app-gnome-firefox\\x2desr-2211.scope", NULL,
	       "user-1000/app-gnome-firefox-esr-2211");
}

Test(short_name, escapes_are_undone_if_a_shell_needs_no_quotes_for_them)
{
	expect("/system.slice/systemd-fsck@dev-disk-by\\x2duuid-AB.service", NULL,
	       "systemd-fsck@dev-disk-by-uuid-AB");
	expect("/system.slice/a\\x20b.service", NULL, "a\\x20b");
	expect("/system.slice/a\\x2fb\\x00\\x2.service", NULL, "a\\x2fb\\x00\\x2");
	expect("/system.slice/\\x2da.service", NULL, "/system.slice/\\x2da.service");
	expect("/system.slice/a\\x2", NULL, "a\\x2");
	expect("/system.slice/a\\", NULL, "a\\");
}

Test(short_name, containers_of_pods_have_their_known_names)
{
	expect(APP, &shop, "shop/checkout-6d4f/app");
	expect(POD, &pod, "shop/checkout-6d4f");
	expect(APP, &pod, "shop/checkout-6d4f/container-3f4a1b9c0d2e");
	expect(APP, NULL, "containerd-3f4a1b9c0d2e");
	expect(POD, NULL, "pod-12fdc709");
	expect("/kubepods/burstable/pod" UID "/" ID, NULL, "container-3f4a1b9c0d2e");
	expect("/kubepods/burstable/pod" UID "/" ID, &shop, "shop/checkout-6d4f/app");
	expect("/kubepods/burstable/pod" UID, &pod, "shop/checkout-6d4f");
	expect("/kubepods/besteffort/pod" UID "/crio-" ID, NULL, "cri-o-3f4a1b9c0d2e");
	expect("/kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-pod" UID_ ".slice/cri-containerd-" ID
	       ".scope",
	       &shop, "shop/checkout-6d4f/app");
	expect("/system.slice/containerd.service/kubepods-besteffort-pod" UID_ ".slice:cri-containerd:" ID,
	       &shop, "shop/checkout-6d4f/app");
	expect(APP "/nested/x.slice", &shop, "shop/checkout-6d4f/app/nested/x");
	expect("/kubepods.slice/kubepods-burstable.slice", NULL, "kubepods-burstable");
	expect("/kubepods/burstable", NULL, "burstable");
}

Test(short_name, containers_have_their_names_or_a_short_id)
{
	expect("/system.slice/docker-" ID ".scope", &web, "web");
	expect("/system.slice/docker-" ID ".scope", NULL, "docker-3f4a1b9c0d2e");
	expect("/docker/" ID, NULL, "docker-3f4a1b9c0d2e");
	expect("/default/" ID, NULL, "containerd-3f4a1b9c0d2e");
	expect("/machine.slice/libpod-" ID ".scope/container", &web, "web/container");
	expect("/machine.slice/libpod-" ID ".scope/container", NULL, "podman-3f4a1b9c0d2e/container");
	expect("/system.slice/web.service/libpod-payload-" ID, NULL, "web/podman-3f4a1b9c0d2e");
	expect("/system.slice/quad.service/libpod-payload-" ID, &web, "web");
	expect("/system.slice/docker-" ID ".scope/system.slice/nginx.service", &web, "web/nginx");
	expect("/lxc.payload.web/system.slice/nginx.service/x", NULL, "web/nginx/x");
	expect("/lxc.payload.web", NULL, "web");
	expect("/lxc/101/ns", NULL, "101/ns");
	expect("/machine.slice/machine-build\\x2dhost.scope/payload", NULL, "build-host/payload");
	expect("/machine.slice/systemd-nspawn@build.service/payload/system.slice/sshd.service", NULL,
	       "build/sshd");
	expect("/machine.slice/machine-qemu\\x2d6\\x2ddebian12\\x2d1.scope/libvirt/vcpu0", NULL,
	       "debian12-1/libvirt/vcpu0");
	expect(USER "/user@1000.service/user.slice/libpod-" ID ".scope/container", &web, "web/container");
}

Test(short_name, other_cgroups_have_the_last_component)
{
	expect("/", NULL, "/");
	expect("/batch", NULL, "batch");
	expect("/a/b/worker", NULL, "worker");
	expect("/a/--full", NULL, "/a/--full");
	expect("/a/.scope", NULL, ".scope");
	expect("/a/", NULL, "/a/");
	expect("other", NULL, "other");
	expect("unattributed", NULL, "unattributed");
	expect("model:database", NULL, "database");
	expect("comm:nginx: worker", NULL, "nginx: worker");
	expect("comm:", NULL, "comm:");
	/* The name of a process that looks like the name of another cgroup. */
	expect("comm:model:x", NULL, "comm:model:x");
	expect("comm:comm:x", NULL, "comm:comm:x");
	expect("model:a:b", NULL, "a:b");
	expect("comm:/bin/sh", NULL, "comm:/bin/sh");
	expect("comm:-x", NULL, "comm:-x");
	expect("cgroup:7", NULL, "cgroup:7");
	expect("", NULL, "");
}

Test(short_name, each_level_has_more_detail_and_the_last_is_the_path)
{
	expect_level("/a/b/c/d/worker.slice", NULL, 1, "d/worker");
	expect_level("/a/b/c/d/worker.slice", NULL, 2, "c/d/worker");
	expect_level("/a/b/c/d/worker.slice", NULL, 3, "b/c/d/worker");
	expect_level("/a/b/c/d/worker.slice", NULL, 4, "/a/b/c/d/worker.slice");
	expect_level("/a/worker", NULL, 2, "/a/worker");
	expect_level("/system.slice/web.service/x", NULL, 1, "system.slice/web/x");
	expect_level(USER "/session-3.scope", NULL, 1, "user-1000/user-1000.slice/session-3");
	expect_level(APP, &shop, 1, "shop/checkout-6d4f/app@3f4a1b9c0d2e");
	expect_level(POD, &(struct container){.text = {[CONTAINER_LABEL_POD] = "db-0"}}, 1, "db-0@12fdc709");
	expect_level(APP, &shop, 2, APP);
	expect_level(APP, NULL, 1, APP);
	expect_level("/lxc.payload.web", NULL, 1, "/lxc.payload.web");
	expect_level("/x/lxc.payload.web/y", NULL, 1, "x/web/y");
	expect_level("model:database", NULL, 1, "model:database");
	expect_level("/", NULL, 1, "/");
}

Test(short_name, names_of_any_length_are_shortened)
{
	char path[2 + 4096] = "/", label[CONTAINER_TEXT_MAX];
	const struct container longest = {.text = {[CONTAINER_LABEL_NAMESPACE] = label,
						   [CONTAINER_LABEL_POD] = label,
						   [CONTAINER_LABEL_CONTAINER] = label}};
	char wanted[3 * CONTAINER_TEXT_MAX + 1];

	memset(path + 1, 'a', 4095);
	expect(path, NULL, path + 1);
	for (size_t i = 1; i < 4095; i += 2)
		path[i] = '/';
	expect(path, NULL, "aa");
	memset(label, 'b', sizeof(label) - 1);
	label[sizeof(label) - 1] = '\0';
	(void)snprintf(wanted, sizeof(wanted), "%s/%s/%s", label, label, label);
	expect(APP, &longest, wanted);
}

static const struct container *find(void *userdata, const char *path)
{
	(void)userdata;
	if (strstr(path, "/cri-containerd-"))
		return &shop;
	return strstr(path, "/docker-") ? &web : NULL;
}

static const struct container_lookup lookup = {.find = find};

static struct short_names *names_of(const char *const *paths, size_t n, unsigned int labels)
{
	struct short_names *names = NULL;

	cr_assert_eq(short_names_new(&lookup, labels, &names), 0);
	for (size_t i = 0; i < n; i++)
		cr_assert_eq(short_names_add(names, paths[i], true), 0);
	return names;
}

static void expect_among(const char *const (*rows)[2], size_t n, unsigned int labels)
{
	const char *paths[32];
	struct short_names *names;

	/* The order in which cgroups are added does not matter. */
	for (size_t backward = 0; backward < 2; backward++) {
		for (size_t i = 0; i < n; i++)
			paths[i] = rows[backward ? n - 1 - i : i][0];
		names = names_of(paths, n, labels);
		for (size_t i = 0; i < n; i++) {
			bool sampled = false;

			cr_expect_str_eq(short_names_find(names, rows[i][0]), rows[i][1]);
			cr_expect_str_eq(short_names_path(names, rows[i][1], &sampled), rows[i][0]);
			cr_expect(sampled);
		}
		short_names_free(names);
	}
}

Test(short_names, cgroups_of_one_name_get_distinguishing_parents)
{
	static const char *const rows[][2] = {
		{"/a/worker", "a/worker"},
		{"/b/worker", "b/worker"},
		{"/x/c/worker", "x/c/worker"},
		{"/y/c/worker", "y/c/worker"},
		{"/z/worker/1", "1"},
		{APP, "shop/checkout-6d4f/app@3f4a1b9c0d2e"},
		{POD "/cri-containerd-" ID2 ".scope", "shop/checkout-6d4f/app@c46bafd57b2e"},
		{"/system.slice/docker-" ID ".scope", "web@3f4a1b9c0d2e"},
		{"/system.slice/web.service", "system.slice/web"},
		{"/system.slice/alone.service", "alone"},
		{"model:m", "model:m"},
		{"comm:m", "comm:m"},
		{"model:n", "n"},
		{"/worker", "/worker"},
	};

	expect_among(rows, ARRAY_SIZE(rows), ~0U);
}

Test(short_names, a_longer_name_is_not_that_of_another_cgroup)
{
	/* "b/c" is the name of a unit's part, and what would tell the second and third cgroup apart. */
	static const char *const rows[][2] = {
		{"/s/b.service/c", "s/b/c"},
		{"/x/b/c", "x/b/c"},
		{"/y/d/c", "d/c"},
	};

	expect_among(rows, ARRAY_SIZE(rows), ~0U);
}

Test(short_names, only_the_wanted_labels_are_used)
{
	static const char *const rows[][2] = {{APP, "containerd-3f4a1b9c0d2e"}};
	static const char *const some[][2] = {{APP, "shop/checkout-6d4f/container-3f4a1b9c0d2e"}};

	expect_among(rows, 1, 0);
	expect_among(some, 1, 1U << CONTAINER_LABEL_POD | 1U << CONTAINER_LABEL_NAMESPACE);
}

Test(short_names, ancestors_have_names_but_no_samples)
{
	static const char *const paths[] = {"/a.slice/b.service/c", "/d/b"};
	_cleanup_(short_names_freep) struct short_names *names = names_of(paths, ARRAY_SIZE(paths), ~0U);
	bool sampled = true;

	cr_expect_str_eq(short_names_path(names, "a.slice/b", &sampled), "/a.slice/b.service");
	cr_expect_not(sampled);
	cr_expect_str_eq(short_names_find(names, "/d/b"), "d/b");
	cr_expect_null(short_names_path(names, "b", NULL), "several have it");
	cr_expect_null(short_names_path(names, "e", NULL));
}

Test(short_names, unknown_cgroups_are_added)
{
	_cleanup_(short_names_freep) struct short_names *names = names_of(NULL, 0, ~0U);

	cr_expect_str_eq(short_names_find(names, "/old/gone.service"), "gone");
	cr_expect_str_eq(short_names_find(names, "/new/gone.service"), "new/gone");
	cr_expect_str_eq(short_names_find(names, "/old/gone.service"), "old/gone");
	cr_expect_str_eq(short_names_find(names, ""), "");
	/* The shown form of a name that is not UTF-8. */
	cr_expect_str_eq(short_names_find(names, "/a/\xef\xbf\xbd"
						 "ff"),
			 "\xef\xbf\xbd"
			 "ff");
}

Test(short_names, bytes_that_are_not_utf8_are_found_and_named_in_their_shown_form)
{
	static const char *const paths[] = {"/a/\xff", "/b/\xff"};
	_cleanup_(short_names_freep) struct short_names *names = names_of(paths, ARRAY_SIZE(paths), ~0U);

	cr_expect_str_eq(short_names_find(names, "/a/\xef\xbf\xbd"
						 "ff"),
			 "a/\xef\xbf\xbd"
			 "ff");
	cr_expect_str_eq(short_names_path(names,
					  "b/\xef\xbf\xbd"
					  "ff",
					  NULL),
			 "/b/\xef\xbf\xbd"
			 "ff");
}

/* 10,000 cgroups of the same name, and 10,000 whose names differ. They are kept in trees, so nothing is compared with all. */
Test(short_names, many_cgroups_of_one_name_get_unique_names)
{
	enum { MANY = 20000, COMPARED_MAX = 200 };
	_cleanup_(short_names_freep) struct short_names *names = names_of(NULL, 0, ~0U);
	char path[64], name[64];
	u64 before = counted_strcmp;

	for (int i = 0; i < MANY; i++) {
		(void)snprintf(path, sizeof(path), i % 2 ? "/x/%d/worker" : "/x/y%d.service", i);
		cr_assert_eq(short_names_add(names, path, true), 0);
	}
	cr_expect_lt(counted_strcmp - before, (u64)MANY * COMPARED_MAX, "%llu comparisons",
		     (unsigned long long)(counted_strcmp - before));
	before = counted_strcmp;
	for (int i = 0; i < MANY; i++) {
		(void)snprintf(path, sizeof(path), i % 2 ? "/x/%d/worker" : "/x/y%d.service", i);
		(void)snprintf(name, sizeof(name), i % 2 ? "%d/worker" : "y%d", i);
		cr_assert_str_eq(short_names_find(names, path), name);
	}
	cr_expect_lt(counted_strcmp - before, (u64)MANY * COMPARED_MAX, "%llu comparisons",
		     (unsigned long long)(counted_strcmp - before));
	cr_expect_gt(counted_strcmp - before, MANY, "comparisons are counted");
}

/* A container that was removed and is started again has the same name, in whatever order both are added. */
Test(short_names, removed_cgroups_do_not_make_names_longer)
{
	static const char old[] = "/system.slice/docker-" ID ".scope",
			  new[] = "/system.slice/docker-" ID2 ".scope";

	for (int order = 0; order < 3; order++) {
		_cleanup_(short_names_freep) struct short_names *names = names_of(NULL, 0, ~0U);
		bool longer = false;

		if (order == 0)
			cr_assert_eq(short_names_add(names, old, true), 0);
		if (order == 1)
			cr_assert_eq(short_names_add_removed(names, "/other/web", &longer), 0);
		if (order != 2)
			cr_assert_eq(short_names_add_removed(names, old, &longer), 0);
		cr_assert_eq(short_names_add(names, new, true), 0);
		if (order == 2)
			cr_assert_eq(short_names_add_removed(names, old, &longer), 0);
		cr_expect_str_eq(short_names_find(names, new), "web", "%d", order);
		cr_expect_str_eq(short_names_find(names, old), "web@3f4a1b9c0d2e", "%d", order);
		cr_expect_str_eq(short_names_path(names, "web", NULL), new);
		cr_expect_not(longer);
		/* A cgroup that was never added is not known to exist. */
		cr_expect_str_eq(short_names_find(names, "/third/web.service"), "third/web");
		cr_expect_str_eq(short_names_find(names, new), "web");
	}
}

Test(short_names, present_siblings_have_longer_names)
{
	static const char *const paths[] = {"/a/web", "/b/web"};
	_cleanup_(short_names_freep) struct short_names *names = names_of(paths, 2, ~0U);
	bool longer = false;

	cr_assert_eq(short_names_add_removed(names, "/a/web", &longer), 0);
	cr_expect(longer, "b/web could have a shorter name now");
	longer = false;
	cr_assert_eq(short_names_add_removed(names, "/a/web", &longer), 0);
	cr_expect_not(longer, "known");
	/* The cgroup exists again. */
	cr_assert_eq(short_names_add(names, "/a/web", true), 0);
	cr_expect_str_eq(short_names_find(names, "/a/web"), "a/web");
	cr_expect_str_eq(short_names_find(names, "/b/web"), "b/web");
}

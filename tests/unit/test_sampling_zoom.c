// SPDX-License-Identifier: GPL-2.0
/* The always-on events that a zoom opens, the ones that pause for it, and the directories that it may open. */
#include <criterion/criterion.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "sampling/sampling_zoom.h"
#include "tree.h"

struct one {
	enum event_role role;
	const char *pmu;
	u32 type;
	u8 only_counter; /* COUNTED: the event only counts */
};

#define COUNTED 255

static struct event_spec specs[EVENTS_MAX];
static const struct event_spec *pointers[EVENTS_MAX];
static bool chosen[EVENTS_MAX], displaced[EVENTS_MAX];

/*
 * Returns a character for each event: '+' if it is chosen, 'p' if it pauses, '*' for both, '.' for neither.
 */
static const char *plan(const struct one *ones, size_t n)
{
	static char text[EVENTS_MAX + 1];

	for (size_t i = 0; i < n; i++) {
		specs[i] = (struct event_spec){
			.event = {.role = ones[i].role,
				  .settings.has_code_address = ones[i].only_counter != COUNTED},
			.type = ones[i].type,
			.only_counter = ones[i].only_counter};
		(void)snprintf(specs[i].event.pmu, sizeof(specs[i].event.pmu), "%s", ones[i].pmu);
		pointers[i] = &specs[i];
	}
	sampling_zoom_choose(pointers, n, chosen);
	(void)sampling_zoom_displaces(pointers, n, chosen, displaced);
	for (size_t i = 0; i < n; i++)
		text[i] = ".+p*"[(displaced[i] ? 2 : 0) + (chosen[i] ? 1 : 0)];
	text[n] = '\0';
	return text;
}

#define PLAN(...)                               \
	plan((const struct one[]){__VA_ARGS__}, \
	     sizeof((const struct one[]){__VA_ARGS__}) / sizeof(struct one))

Test(sampling_zoom, a_zoom_prefers_loads_then_stores_then_instructions)
{
	cr_expect_str_eq(PLAN({EVENT_LOADS, "cpu", 4, 0}, {EVENT_STORES, "cpu", 4, 0},
			      {EVENT_INSTRUCTIONS, "cpu", 4, 33}),
			 "+..");
	cr_expect_str_eq(PLAN({EVENT_INSTRUCTIONS, "cpu", 4, 0}, {EVENT_STORES, "cpu", 4, 0}), ".+");
	cr_expect_str_eq(PLAN({EVENT_INSTRUCTIONS, "cpu", 4, 0}), "+");
	/* On each PMU, the best event that this PMU has. */
	cr_expect_str_eq(PLAN({EVENT_STORES, "cpu_atom", 10, 0}, {EVENT_LOADS, "cpu_core", 4, 0},
			      {EVENT_STORES, "cpu_core", 4, 1}),
			 "++.");
}

Test(sampling_zoom, events_that_only_count_are_never_chosen)
{
	cr_expect_str_eq(PLAN({EVENT_LOADS, "ibs_op", 11, 1}, {EVENT_INSTRUCTIONS, "cpu", 4, COUNTED},
			      {EVENT_CYCLES, "cpu", 4, COUNTED}, {EVENT_STALLS, "cpu", 4, COUNTED}),
			 "*...");
	cr_expect_str_eq(PLAN({EVENT_INSTRUCTIONS, "cpu", 4, COUNTED}, {EVENT_MISSES, "cpu", 4, COUNTED}),
			 "..");
}

Test(sampling_zoom, events_that_need_the_counter_are_paused)
{
	/* Sandy Bridge: loads and stores need counter 3. */
	cr_expect_str_eq(PLAN({EVENT_LOADS, "cpu", 4, 4}, {EVENT_STORES, "cpu", 4, 4},
			      {EVENT_INSTRUCTIONS, "cpu", 4, 2}),
			 "*p.");
	/* Sapphire Rapids: only stores are bound to a counter, and a zoom of loads does not need it. */
	cr_expect_str_eq(PLAN({EVENT_LOADS, "cpu", 4, 0}, {EVENT_STORES, "cpu", 4, 1}), "+.");
	cr_expect_str_eq(PLAN({EVENT_STORES, "cpu", 4, 1}, {EVENT_INSTRUCTIONS, "cpu", 4, 33}), "*.");
	cr_expect_str_eq(PLAN({EVENT_LOADS, "ibs_op", 9, 1}), "*");
	/* The same number is another counter on another PMU. */
	cr_expect_str_eq(PLAN({EVENT_LOADS, "a", 4, 4}, {EVENT_LOADS, "b", 5, 4}, {EVENT_STORES, "b", 5, 0}),
			 "**.");
	cr_expect_str_eq(PLAN({EVENT_LOADS, "a", 4, 4}, {EVENT_LOADS, "b", 5, 0}, {EVENT_STORES, "b", 5, 4}),
			 "*+.");
}

static int open_path(const char *mount, const char *path)
{
	_cleanup_close_ int tree = open(mount, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int fd = sampling_zoom_directory(tree, path);

	if (fd >= 0)
		(void)close(fd);
	return fd < 0 ? fd : 0;
}

Test(sampling_zoom, only_directories_below_the_mount_are_accepted)
{
	_cleanup_(tree_removep) char *root = tree_new();
	char path[256];

	tree_write(root, "mount/a/b/cgroup.procs", "");
	tree_write(root, "outside/cgroup.procs", "");
	(void)snprintf(path, sizeof(path), "%s/mount/link", root);
	cr_assert_eq(symlink("../outside", path), 0);
	(void)snprintf(path, sizeof(path), "%s/mount/inner", root);
	cr_assert_eq(symlink("a", path), 0);
	(void)snprintf(path, sizeof(path), "%s/mount", root);

	cr_expect_eq(open_path(path, "/"), 0);
	cr_expect_eq(open_path(path, "/a"), 0);
	cr_expect_eq(open_path(path, "/a/b"), 0);
	cr_expect_eq(open_path(path, "/none"), -ENOENT);
	cr_expect_eq(open_path(path, "/a/b/cgroup.procs"), -ENOENT);
	cr_expect_eq(open_path(path, "/../outside"), -ENOENT);
	cr_expect_eq(open_path(path, "/a/../../outside"), -ENOENT);
	cr_expect_eq(open_path(path, "/link"), -ENOENT);
	cr_expect_eq(open_path(path, "/inner"), -ENOENT);
}

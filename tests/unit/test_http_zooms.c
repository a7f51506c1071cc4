// SPDX-License-Identifier: GPL-2.0
/* Zooms that clients request over HTTP. */
#include <criterion/criterion.h>
#include <errno.h>
#include <limits.h>
#include <string.h>

#include "base/cleanup.h"
#include "fake_zooms.h"
#include "http/http_zooms.h"

static bool enabled;
static struct http_zooms requests = {.enabled = &enabled};
static struct http_profiles profiles;

static void start(void)
{
	profiles = http_zooms_profiles(&requests);
}

TestSuite(http_zooms, .init = start, .fini = fake_zooms_reset);

static int begin(const char *path, double seconds, u64 *ret_id)
{
	_cleanup_free_ char *message = NULL;

	return profiles.begin(profiles.userdata, path, seconds, ret_id, &message);
}

Test(http_zooms, the_current_configuration_applies)
{
	cr_expect_not(profiles.enabled(profiles.userdata, HTTP_PROFILE_PPROF));
	enabled = true;
	cr_expect(profiles.enabled(profiles.userdata, HTTP_PROFILE_PPROF));
}

Test(http_zooms, the_flame_graph_of_a_model_is_public)
{
	_cleanup_free_ u8 *data = NULL;
	size_t size;
	u64 id;

	enabled = false;
	cr_expect_not(profiles.enabled(profiles.userdata, HTTP_PROFILE_FLAME));
	cr_expect_eq(begin("model:shop", 12, &id), -ENOENT, "not the path of a cgroup");
	requests.modelled = true;
	cr_expect(profiles.enabled(profiles.userdata, HTTP_PROFILE_FLAME));
	cr_expect_not(profiles.enabled(profiles.userdata, HTTP_PROFILE_PPROF));
	fake_zooms.output_size = 3;
	cr_assert_eq(begin("model:shop", 12, &id), 0);
	fake_zooms.zooms[0].state = ZOOM_DONE;
	cr_assert_eq(profiles.write(profiles.userdata, id, HTTP_PROFILE_FLAME, &data, &size), 0);
	cr_expect_eq(size, 3);
	cr_expect(fake_zooms.addresses);
	requests.modelled = false;
	free(data);
	cr_assert_eq(profiles.write(profiles.userdata, id, HTTP_PROFILE_FLAME, &data, &size), 0);
	cr_expect_not(fake_zooms.addresses, "data addresses of real processes are secret");
	profiles.leave(profiles.userdata, id);
}

Test(http_zooms, a_request_starts_a_zoom_and_gets_its_profile)
{
	_cleanup_free_ u8 *data = NULL;
	size_t size;
	u64 id;

	fake_zooms.output_size = 3;
	cr_assert_eq(begin("/a", 12, &id), 0);
	cr_expect_str_eq(fake_zooms.path, "/a");
	cr_expect_eq(fake_zooms.request.seconds, 12);
	cr_expect_eq(profiles.state(profiles.userdata, id), HTTP_PROFILE_UNDER_WAY);
	fake_zooms.zooms[0].state = ZOOM_NAMING;
	cr_expect_eq(profiles.state(profiles.userdata, id), HTTP_PROFILE_UNDER_WAY);
	fake_zooms.zooms[0].state = ZOOM_DONE;
	cr_expect_eq(profiles.state(profiles.userdata, id), HTTP_PROFILE_READY);
	cr_assert_eq(profiles.write(profiles.userdata, id, HTTP_PROFILE_PPROF, &data, &size), 0);
	cr_expect_eq(size, 3);
	cr_expect_not(fake_zooms.kernel_names, "never an address of the kernel over HTTP");
	profiles.leave(profiles.userdata, id);
	cr_expect_eq(fake_zooms.ended, 0, "it was over");
	cr_expect_eq(profiles.state(profiles.userdata, 99), HTTP_PROFILE_GONE);
	cr_expect_eq(profiles.write(profiles.userdata, 99, HTTP_PROFILE_PPROF, &data, &size), -ENODATA);
}

Test(http_zooms, a_client_that_leaves_ends_a_zoom_only_it_requested)
{
	u64 id;

	cr_assert_eq(begin("/a", 12, &id), 0);
	profiles.leave(profiles.userdata, id);
	cr_expect_eq(fake_zooms.ended, 1);
	profiles.leave(profiles.userdata, id);
	cr_expect_eq(fake_zooms.ended, 1);

	cr_assert_eq(begin("/b", 12, &id), 0);
	fake_zooms.zooms[0].seconds = 60; /* another client extended it */
	profiles.leave(profiles.userdata, id);
	cr_expect_eq(fake_zooms.ended, 1);
}

Test(http_zooms, two_http_clients_share_a_zoom)
{
	u64 first, second;

	cr_assert_eq(begin("/a", 12, &first), 0);
	cr_assert_eq(begin("/a", 30, &second), 0);
	cr_expect_eq(first, second);
	profiles.leave(profiles.userdata, first);
	cr_expect_eq(fake_zooms.ended, 1, "the zoom ends when the last client left");
}

Test(http_zooms, a_zoom_of_another_client_is_not_changed)
{
	_cleanup_free_ char *message = NULL;
	u64 id;

	(void)fake_zooms_hold("/a", ZOOM_RUNNING);
	cr_expect_eq(profiles.begin(profiles.userdata, "/a", 5, &id, &message), -EBUSY);
	cr_expect(strstr(message, "asked for by uid 0"), "%s", message);
	cr_expect_eq(fake_zooms.begun, 0);
	fake_zooms.zooms[0].state = ZOOM_DONE;
	cr_expect_eq(begin("/a", 5, &id), 0);
}

Test(http_zooms, paths_outside_the_cgroup_tree_are_refused)
{
	char longest[PATH_MAX + 1];
	u64 id;

	cr_expect_eq(begin("/../a", 5, &id), -ENOENT);
	cr_expect_eq(begin("/a/..", 5, &id), -ENOENT);
	cr_expect_eq(begin("//", 5, &id), -ENOENT);
	/* A path that is too long does not exist either: a retry would be in vain. */
	memset(longest, 'a', PATH_MAX);
	longest[0] = '/';
	longest[PATH_MAX] = '\0';
	cr_expect_eq(begin(longest, 5, &id), -ENOENT);
	cr_expect_eq(fake_zooms.begun, 0);
}

// SPDX-License-Identifier: GPL-2.0
/* Pause and Resume on the control socket, and who may call them. */
#include <criterion/criterion.h>
#include <errno.h>
#include <grp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/json_get.h"
#include "control_fixture.h"
#include "example_snapshot.h"
#include "export/control/control.h"
#include "export/control/control_interface.h"
#include "varlink_peer.h"

struct backend {
	int pause_error;
	int pauses;
	struct maybe_double paused_for; /* argument of the last call */
	bool paused;
	struct timespec paused_until;
};

static struct backend backend;

static int snapshot(void *userdata, const struct maybe_double *window_seconds, const struct snapshot **ret)
{
	const struct backend *state = userdata;
	struct snapshot *example = example_perf();

	(void)window_seconds;
	example->paused = state->paused;
	example->paused_until = state->paused_until;
	*ret = example;
	return 0;
}

static int pause_backend(void *userdata, const struct maybe_double *seconds)
{
	struct backend *state = userdata;

	state->pauses++;
	state->paused_for = *seconds;
	if (state->pause_error)
		return state->pause_error;
	state->paused = true;
	state->paused_until = (struct timespec){.tv_sec = seconds->known ? 1795327200 : 0};
	return 0;
}

static bool resume_backend(void *userdata)
{
	struct backend *state = userdata;
	bool was_paused = state->paused;

	state->paused = false;
	return was_paused;
}

static void start(void)
{
	const struct control_backend callbacks = {
		.snapshot = snapshot,
		.pause = pause_backend,
		.resume = resume_backend,
		.userdata = &backend,
	};

	control_fixture_start(&callbacks, NULL);
}

TestSuite(control_pause, .init = start, .fini = control_fixture_stop);

static void expect_invalid(int fd, const char *text, const char *parameter)
{
	char answer[160];

	(void)snprintf(answer, sizeof(answer),
		       "{\"error\":\"org.varlink.service.InvalidParameter\",\"parameters\":{\"parameter\":"
		       "\"%s\"}}",
		       parameter);
	peer_expect(event, fd, text, answer);
}

Test(control_pause, pause_methods_are_described)
{
	cr_expect_not_null(strstr(control_interface_description, "\nmethod Pause("));
	cr_expect_not_null(strstr(control_interface_description, "\nmethod Resume("));
}

Test(control_pause, sampling_can_be_paused_and_resumed)
{
	_cleanup_close_ int fd = peer_connect(socket_path);

	if (getuid() != 0)
		cr_skip("only root may pause");
	peer_expect(event, fd, "{\"method\":\"io.pebsd.Resume\"}", "{\"parameters\":{\"was_paused\":false}}");
	peer_expect(event, fd, "{\"method\":\"io.pebsd.Pause\"}", "{\"parameters\":{}}");
	cr_expect_not(backend.paused_for.known);
	peer_expect(event, fd, "{\"method\":\"io.pebsd.Pause\",\"parameters\":{\"for_s\":2.5}}",
		    "{\"parameters\":{\"paused_until\":\"2026-11-22T06:00:00Z\"}}");
	cr_expect(backend.paused_for.known);
	cr_expect_float_eq(backend.paused_for.value, 2.5, 1e-9);
	peer_expect(event, fd, "{\"method\":\"io.pebsd.Resume\"}", "{\"parameters\":{\"was_paused\":true}}");
	cr_expect_eq(backend.pauses, 2);

	backend.pause_error = -EOPNOTSUPP;
	peer_expect(
		event, fd, "{\"method\":\"io.pebsd.Pause\"}",
		"{\"error\":\"io.pebsd.NotMeasured\",\"parameters\":{\"what\":\"pause\",\"reason\":\"a replay holds no counters that it could free\"}}");
}

Test(control_pause, a_client_that_closes_early_still_causes_the_pause)
{
	static const char text[] = "{\"method\":\"io.pebsd.Pause\"}";
	int fd = peer_connect(socket_path);

	if (getuid() != 0)
		cr_skip("only root may pause");
	cr_assert_eq(send(fd, text, sizeof(text), MSG_NOSIGNAL), sizeof(text));
	(void)close(fd);
	for (int i = 0; i < 20 && backend.pauses == 0; i++)
		(void)sd_event_run(event, 100000);
	cr_expect_eq(backend.pauses, 1);
	fd = peer_connect(socket_path);
	peer_expect(event, fd, "{\"method\":\"io.pebsd.Resume\"}", "{\"parameters\":{\"was_paused\":true}}");
	(void)close(fd);
}

Test(control_pause, a_pause_out_of_range_is_refused_by_name)
{
	static const char *const wrong[] = {"0", "-1", "1e400", "31536001", "\"10m\"", "true"};
	_cleanup_close_ int fd = peer_connect(socket_path);
	char text[128];

	if (getuid() != 0)
		cr_skip("only root may pause");
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		(void)snprintf(text, sizeof(text),
			       "{\"method\":\"io.pebsd.Pause\",\"parameters\":{\"for_s\":%s}}", wrong[i]);
		expect_invalid(fd, text, "for_s");
	}
	expect_invalid(fd, "{\"method\":\"io.pebsd.Pause\",\"parameters\":{\"for\":1}}", "for");
	expect_invalid(fd, "{\"method\":\"io.pebsd.Resume\",\"parameters\":{\"x\":1}}", "x");
	cr_expect_eq(backend.pauses, 0);
}

/* Makes a call as user and group 65534, and expects exactly this answer. `more` is a supplementary group (0: none). */
static void expect_as_other(const char *text, gid_t more, const char *expected)
{
	_cleanup_free_ char *answer = call_as(65534, more, text);

	cr_expect_str_eq(answer, expected, "%s", text);
}

#define PERMITTED(users) \
	"{\"error\":\"org.varlink.service.PermissionDenied\",\"parameters\":{\"permitted\":\"" users "\"}}"
#define ROOT_ALONE PERMITTED("root alone (`detail` in [control] can permit a user or group)")

Test(control_pause, users_named_by_detail_can_pause)
{
	static const char pause[] = "{\"method\":\"io.pebsd.Pause\"}";
	static const char resume[] = "{\"method\":\"io.pebsd.Resume\"}";

	expect_as_other(pause, 0, ROOT_ALONE);
	control_permit(control, "adm");
	expect_as_other(pause, 0, PERMITTED("root and the group adm"));
	expect_as_other(resume, 0, PERMITTED("root and the group adm"));
	cr_expect_eq(backend.pauses, 0);
	/* The process is in the group adm, but not as its primary group. */
	expect_as_other(pause, getgrnam("adm")->gr_gid, "{\"parameters\":{}}");
	cr_expect_eq(backend.pauses, 1);
	expect_as_other(resume, getgrnam("adm")->gr_gid, "{\"parameters\":{\"was_paused\":true}}");
	control_permit(control, "nobody");
	expect_as_other(pause, 0, "{\"parameters\":{}}");
	/* `detail = root` permits no other user, and neither does a name that does not exist. */
	control_permit(control, "root");
	expect_as_other(pause, 0, ROOT_ALONE);
	control_permit(control, "no-such-name");
	expect_as_other(pause, 0, ROOT_ALONE);
	cr_expect_eq(backend.pauses, 2);
}

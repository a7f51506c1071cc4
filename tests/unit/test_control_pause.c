// SPDX-License-Identifier: GPL-2.0
/* Pause and Resume on the control socket, and who may call them. */
#include <criterion/criterion.h>
#include <errno.h>
#include <grp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "base/json_get.h"
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

static sd_event *event;
static struct control *control;
static struct backend backend;
static char directory[] = "/tmp/pebsd-control-XXXXXX";
static char socket_path[128];

static int snapshot(void *userdata, const struct maybe_double *window_seconds, const struct snapshot **ret)
{
	const struct backend *books = userdata;
	struct snapshot *example = example_perf();

	(void)window_seconds;
	example->paused = books->paused;
	example->paused_until = books->paused_until;
	*ret = example;
	return 0;
}

static int pause_books(void *userdata, const struct maybe_double *seconds)
{
	struct backend *books = userdata;

	books->pauses++;
	books->paused_for = *seconds;
	if (books->pause_error)
		return books->pause_error;
	books->paused = true;
	books->paused_until = (struct timespec){.tv_sec = seconds->known ? 1795327200 : 0};
	return 0;
}

static bool resume_books(void *userdata)
{
	struct backend *books = userdata;
	bool was_paused = books->paused;

	books->paused = false;
	return was_paused;
}

static void start(void)
{
	const struct control_backend callbacks = {
		.snapshot = snapshot,
		.pause = pause_books,
		.resume = resume_books,
		.userdata = &backend,
	};
	_cleanup_free_ char *message = NULL;

	cr_assert_not_null(mkdtemp(directory));
	(void)snprintf(socket_path, sizeof(socket_path), "%s/control.sock", directory);
	cr_assert_geq(sd_event_new(&event), 0);
	cr_assert_eq(control_new(event, socket_path, NULL, &callbacks, &control, &message), 0, "%s", message);
}

static void stop(void)
{
	control = control_free(control);
	event = sd_event_unref(event);
	cr_expect_eq(rmdir(directory), 0);
}

TestSuite(control_pause, .init = start, .fini = stop);

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

/* Makes a call as user and group 65534, and copies the answer. `more` is a supplementary group (0: none). */
static void ask_as_other(const char *text, gid_t more, char answer[256])
{
	int pair_answer[2];
	ssize_t n;
	pid_t child;

	if (getuid() != 0)
		cr_skip("needs root to become someone else");
	memset(answer, 0, 256);
	cr_assert_eq(pipe(pair_answer), 0);
	cr_assert_eq(chmod(socket_path, 0666) | chmod(directory, 0755), 0);
	child = fork();
	if (child == 0) {
		struct sockaddr_un address = {.sun_family = AF_UNIX};
		int fd = socket(AF_UNIX, SOCK_STREAM, 0);

		(void)stpcpy(address.sun_path, socket_path);
		if (setgroups(more ? 1 : 0, &more) < 0 || setresgid(65534, 65534, 65534) < 0 ||
		    setresuid(65534, 65534, 65534) < 0 ||
		    connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0 ||
		    send(fd, text, strlen(text) + 1, 0) < 0)
			_exit(1);
		n = recv(fd, answer, 255, 0);
		_exit(write(pair_answer[1], answer, (size_t)n) != n);
	}
	(void)close(pair_answer[1]);
	for (int i = 0; i < 20 && waitpid(child, NULL, WNOHANG) == 0; i++)
		(void)sd_event_run(event, 100000);
	n = read(pair_answer[0], answer, 255);
	cr_assert_gt(n, 0);
	(void)close(pair_answer[0]);
}

Test(control_pause, users_named_by_detail_can_pause)
{
	static const char pause[] = "{\"method\":\"io.pebsd.Pause\"}";
	static const char resume[] = "{\"method\":\"io.pebsd.Resume\"}";
	char answer[256];

	ask_as_other(pause, 0, answer);
	cr_expect_str_eq(
		answer,
		"{\"error\":\"org.varlink.service.PermissionDenied\",\"parameters\":{\"permitted\":\"root alone (`detail` in [control] can permit a user or group)\"}}");
	control_permit(control, "adm");
	ask_as_other(pause, 0, answer);
	cr_expect_str_eq(answer, "{\"error\":\"org.varlink.service.PermissionDenied\",\"parameters\":"
				 "{\"permitted\":\"root and the group adm\"}}");
	ask_as_other(resume, 0, answer);
	cr_expect_not_null(strstr(answer, "PermissionDenied"), "%s", answer);
	cr_expect_eq(backend.pauses, 0);
	/* The process is in the group adm, but not as its primary group. */
	ask_as_other(pause, getgrnam("adm")->gr_gid, answer);
	cr_expect_str_eq(answer, "{\"parameters\":{}}");
	cr_expect_eq(backend.pauses, 1);
	ask_as_other(resume, getgrnam("adm")->gr_gid, answer);
	cr_expect_str_eq(answer, "{\"parameters\":{\"was_paused\":true}}");
	control_permit(control, "nobody");
	ask_as_other(pause, 0, answer);
	cr_expect_str_eq(answer, "{\"parameters\":{}}", "by its user");
	/* `detail = root` permits no other user, and neither does a name that does not exist. */
	control_permit(control, "root");
	ask_as_other(pause, 0, answer);
	cr_expect_not_null(strstr(answer, "PermissionDenied"), "%s", answer);
	control_permit(control, "no-such-name");
	ask_as_other(pause, 0, answer);
	cr_expect_not_null(strstr(answer, "root alone"), "%s", answer);
	cr_expect_eq(backend.pauses, 2);
}

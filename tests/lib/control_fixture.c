// SPDX-License-Identifier: GPL-2.0
#include "control_fixture.h"

#include <criterion/criterion.h>
#include <grp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/json_get.h"
#include "varlink_peer.h"

#define REPLY_MAX 65536

sd_event *event;
struct control *control;
char directory[] = "/tmp/pebsd-control-XXXXXX";
char socket_path[128];

void control_fixture_start(const struct control_backend *backend, const char *group)
{
	_cleanup_free_ char *message = NULL;

	cr_assert_not_null(mkdtemp(directory));
	cr_assert_eq(chmod(directory, 0755), 0);
	(void)snprintf(socket_path, sizeof(socket_path), "%s/run/control.sock", directory);
	cr_assert_geq(sd_event_new(&event), 0);
	cr_assert_eq(control_new(event, socket_path, group, backend, &control, &message), 0, "%s", message);
}

void control_fixture_stop(void)
{
	char parent[64];

	control = control_free(control);
	event = sd_event_unref(event);
	(void)snprintf(parent, sizeof(parent), "%s/run", directory);
	cr_expect_eq(rmdir(parent), 0);
	cr_expect_eq(rmdir(directory), 0);
}

json_object *call(int fd, const char *text)
{
	_cleanup_free_ char *reply = NULL;
	_cleanup_json_ json_object *message = NULL;

	peer_call(event, fd, text);
	reply = peer_receive(event, fd, NULL);
	cr_assert_not_null(reply, "%s", text);
	cr_assert_eq(json_parse(reply, strlen(reply), 32, &message), 0);
	return json_object_get(json_get(message, "error") ? message : json_get(message, "parameters"));
}

json_object *call_with(int fd, const char *method, const char *parameters)
{
	_cleanup_free_ char *text = NULL;

	cr_assert_gt(asprintf(&text, "{\"method\":\"io.pebsd.%s\",\"parameters\":{%s}}", method, parameters),
		     0);
	return call(fd, text);
}

void expect_invalid_reply(json_object *reply, const char *text, const char *parameter)
{
	const char *error = json_get_text(reply, "error");
	const char *named = json_get_text(json_get(reply, "parameters"), "parameter");

	cr_assert_not_null(error, "%s was accepted", text);
	cr_expect_str_eq(error, "org.varlink.service.InvalidParameter", "%s", text);
	cr_expect_str_eq(named ? named : "(none)", parameter, "%s", text);
	json_object_put(reply);
}

/* Runs in the process of the other user, and does not return. */
static void reply_to_other(uid_t user, gid_t more, const char *text, int to)
{
	static char reply[REPLY_MAX];
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);
	ssize_t n;

	(void)stpcpy(address.sun_path, socket_path);
	if (setgroups(more ? 1 : 0, &more) < 0 || setresgid(user, user, user) < 0 ||
	    setresuid(user, user, user) < 0 ||
	    connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0 ||
	    send(fd, text, strlen(text) + 1, 0) < 0)
		_exit(1);
	n = recv(fd, reply, sizeof(reply) - 1, 0);
	if (n < 0 || write(to, reply, (size_t)n) != n)
		_exit(1);
	_exit(0);
}

char *call_as(uid_t user, gid_t more, const char *text)
{
	char *reply;
	int ends[2];
	pid_t child;

	if (getuid() != 0)
		cr_skip("needs root to become someone else");
	reply = calloc(1, REPLY_MAX);
	cr_assert_not_null(reply);
	cr_assert_eq(pipe(ends), 0);
	cr_assert_eq(chmod(socket_path, 0666), 0);
	child = fork();
	cr_assert_geq(child, 0);
	if (child == 0)
		reply_to_other(user, more, text, ends[1]);
	(void)close(ends[1]);
	while (waitpid(child, NULL, WNOHANG) == 0)
		(void)sd_event_run(event, 100000);
	cr_assert_gt(read(ends[0], reply, REPLY_MAX - 1), 0, "no reply to %s", text);
	(void)close(ends[0]);
	return reply;
}

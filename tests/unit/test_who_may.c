// SPDX-License-Identifier: GPL-2.0
/*
 * The permission to call a method on the control socket: every method, by every kind of caller. A new method
 * fails this test until it is in the table.
 */
#include <criterion/criterion.h>
#include <errno.h>
#include <grp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "control_fixture.h"
#include "export/control/control.h"
#include "export/control/control_methods.h"
#include "varlink_peer.h"

/* Groups that every Debian system has: one may connect, and `detail` names the other. */
#define READERS "daemon"
#define DETAIL  "adm"

enum caller {
	ROOT,
	OF_DETAIL, /* through a supplementary group */
	READER,
	STRANGER,
	CALLERS
};

static const char *const caller_names[CALLERS] = {"root", "whom detail names", "a reader", "a stranger"};

/* R: only root. D: also those named by `detail`. A: everybody who may connect. */
static const struct {
	const char *name;
	char who;
} expected[] = {
	{"GetStatus", 'A'}, {"GetTop", 'A'},      {"GetCgroup", 'A'},  {"GetRules", 'A'},
	{"GetAlerts", 'A'}, {"Explain", 'A'},     {"Watch", 'A'},      {"GetNeighbours", 'A'},
	{"Zoom", 'D'},      {"EndZoom", 'D'},     {"GetZoom", 'D'},    {"GetZooms", 'D'},
	{"GetHot", 'D'},    {"GetProfile", 'D'},  {"Pause", 'D'},      {"Resume", 'D'},
	{"Reload", 'R'},    {"FindCgroups", 'A'}, {"GetHistory", 'A'}, {"Compare", 'A'},
};

/* No backend is needed, because each call has an unknown parameter. */
static void start(void)
{
	static const struct control_backend none;

	log_set_level(LOG_EMERG);
	control_fixture_start(&none, READERS);
	control_permit(control, DETAIL);
}

TestSuite(who_may, .init = start, .fini = control_fixture_stop);

static gid_t group_of(const char *name)
{
	const struct group *group = getgrnam(name);

	cr_assert(group, "no group %s", name);
	return group->gr_gid;
}

static void become(enum caller caller)
{
	const gid_t groups[] = {group_of(READERS), group_of(DETAIL)};

	if (caller == ROOT)
		return;
	cr_assert_eq(setgroups(caller == OF_DETAIL ? 2 : caller == READER ? 1 : 0, groups), 0);
	cr_assert_eq(setegid(65534), 0);
	cr_assert_eq(seteuid(65534), 0);
}

/* The kernel remembers who connects (SO_PEERCRED), so this process can change back before the answer. */
static int connect_as(enum caller caller)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int r;

	(void)stpcpy(address.sun_path, socket_path);
	become(caller);
	r = connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0 ? -errno : 0;
	cr_assert_eq(seteuid(0), 0);
	cr_assert_eq(setegid(0), 0);
	cr_assert_eq(setgroups(0, NULL), 0);
	if (r == 0)
		return fd;
	(void)close(fd);
	return r;
}

static char who_may(const char *method)
{
	for (size_t i = 0; i < sizeof(expected) / sizeof(*expected); i++)
		if (strcmp(expected[i].name, method) == 0)
			return expected[i].who;
	return '\0';
}

static bool may(enum caller caller, char who)
{
	return caller == ROOT || who == 'A' || (who == 'D' && caller == OF_DETAIL);
}

static void expect_answer(int fd, enum caller caller, const char *method, char who)
{
	const char *permitted = who == 'R' ? "root alone" : "root and the group " DETAIL;
	_cleanup_free_ char *call = NULL;
	_cleanup_free_ char *answer = NULL;
	_cleanup_free_ char *wanted = NULL;

	cr_assert_gt(asprintf(&call, "{\"method\":\"io.pebsd.%s\",\"parameters\":{\"unheard\":1}%s}", method,
			      strcmp(method, "Watch") == 0 ? ",\"more\":true" : ""),
		     0);
	if (may(caller, who))
		cr_assert_gt(asprintf(&wanted, "{\"error\":\"org.varlink.service.InvalidParameter\","
					       "\"parameters\":{\"parameter\":\"unheard\"}}"),
			     0);
	else
		cr_assert_gt(asprintf(&wanted,
				      "{\"error\":\"org.varlink.service.PermissionDenied\","
				      "\"parameters\":{\"permitted\":\"%s\"}}",
				      permitted),
			     0);
	peer_call(event, fd, call);
	answer = peer_receive(event, fd, NULL);
	cr_expect_str_eq(answer ? answer : "(no answer)", wanted, "%s by %s", method, caller_names[caller]);
}

Test(who_may, each_method_has_the_permission_of_the_table)
{
	for (enum caller caller = ROOT; caller < STRANGER; caller++) {
		int fd = connect_as(caller);

		cr_assert_geq(fd, 0, "%s: %s", caller_names[caller], strerror(-fd));
		for (size_t i = 0; i < control_n_methods; i++) {
			char who = who_may(control_methods[i].name);

			cr_assert(who, "%s does not stand in the table of this test",
				  control_methods[i].name);
			expect_answer(fd, caller, control_methods[i].name, who);
		}
		(void)close(fd);
	}
}

Test(who_may, other_users_cannot_connect)
{
	cr_expect_eq(connect_as(STRANGER), -EACCES);
}

Test(who_may, the_table_has_only_existing_methods)
{
	for (size_t i = 0; i < sizeof(expected) / sizeof(*expected); i++) {
		bool found = false;

		for (size_t j = 0; j < control_n_methods; j++)
			found = found || strcmp(expected[i].name, control_methods[j].name) == 0;
		cr_expect(found, "%s", expected[i].name);
	}
}

/* Everybody who may connect may also call the methods of org.varlink.service. */
Test(who_may, all_connected_users_can_call_the_service_methods)
{
	_cleanup_free_ char *answer = NULL;
	int fd = connect_as(READER);

	peer_call(event, fd, "{\"method\":\"org.varlink.service.GetInfo\"}");
	answer = peer_receive(event, fd, NULL);
	cr_expect_not_null(strstr(answer ? answer : "", "\"interfaces\""));
	(void)close(fd);
}

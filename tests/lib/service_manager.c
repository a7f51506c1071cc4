// SPDX-License-Identifier: GPL-2.0
#include "service_manager.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>

#include "base/cleanup.h"
#include "tree.h"

#define DEADLINE_S 10
#define MOMENT_US  50000

static const char config[] =
	"<!DOCTYPE busconfig PUBLIC '-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN'\n"
	"  'http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd'>\n"
	"<busconfig>\n"
	"  <listen>unix:path=%s/bus</listen>\n"
	"  <policy context='default'>\n"
	"    <allow send_destination='*'/><allow receive_sender='*'/><allow own='*'/>\n"
	"  </policy>\n"
	"</busconfig>\n";

static int answer(struct service_manager *manager, sd_bus_message *call)
{
	if (manager->refusal)
		return sd_bus_reply_method_errorf(call, manager->refusal, "refused by the test");
	return sd_bus_reply_method_return(call, "o", "/org/freedesktop/systemd1/job/1");
}

static int start_unit(sd_bus_message *call, void *userdata, sd_bus_error *ret_error)
{
	struct service_manager *manager = userdata;
	const char *name, *mode;

	(void)ret_error;
	cr_assert_geq(sd_bus_message_read(call, "ss", &name, &mode), 0);
	cr_assert_lt(manager->n, SERVICE_MANAGER_STARTS_MAX);
	(void)snprintf(manager->starts[manager->n], sizeof(manager->starts[0]), "%s %s", name, mode);
	manager->n++;
	if (!manager->silent)
		return answer(manager, call);
	manager->waiting[manager->n_waiting++] = sd_bus_message_ref(call);
	return 1;
}

static const sd_bus_vtable vtable[] = {
	SD_BUS_VTABLE_START(0),
	SD_BUS_METHOD("StartUnit", "ss", "o", start_unit, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_VTABLE_END,
};

void service_manager_lose_bus(struct service_manager *manager)
{
	if (!manager->daemon)
		return;
	(void)kill(manager->daemon, SIGKILL);
	(void)waitpid(manager->daemon, NULL, 0);
	manager->daemon = 0;
	(void)sd_bus_detach_event(manager->bus);
	manager->bus = sd_bus_close_unref(manager->bus);
}

static int connect_to(struct service_manager *manager, const char *address)
{
	_cleanup_(sd_bus_close_unrefp) sd_bus *bus = NULL;
	int r;

	cr_assert_geq(sd_bus_new(&bus), 0);
	cr_assert_geq(sd_bus_set_address(bus, address), 0);
	cr_assert_geq(sd_bus_set_bus_client(bus, 1), 0);
	r = sd_bus_start(bus);
	/* Unlike sd_bus_start(), this call waits for a reply of the dbus-daemon. */
	if (r >= 0)
		r = sd_bus_request_name(bus, "org.freedesktop.systemd1", 0);
	if (r >= 0)
		manager->bus = TAKE_PTR(bus);
	return r;
}

void service_manager_regain_bus(struct service_manager *manager)
{
	const struct timespec moment = {.tv_nsec = 10000000};
	_cleanup_free_ char *text = NULL, *option = NULL, *address = NULL, *socket = NULL;
	time_t until = time(NULL) + DEADLINE_S;

	cr_assert_gt(asprintf(&text, config, manager->root), 0);
	cr_assert_gt(asprintf(&option, "--config-file=%s/bus.conf", manager->root), 0);
	cr_assert_gt(asprintf(&address, "unix:path=%s/bus", manager->root), 0);
	cr_assert_gt(asprintf(&socket, "%s/bus", manager->root), 0);
	(void)unlink(socket);
	tree_write(manager->root, "bus.conf", text);
	cr_assert_eq(setenv("DBUS_SYSTEM_BUS_ADDRESS", address, 1), 0);
	manager->daemon = fork();
	cr_assert_geq(manager->daemon, 0);
	if (manager->daemon == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		/* dbus-daemon complains about limits that it cannot raise here. */
		if (!freopen("/dev/null", "w", stderr))
			_exit(126);
		(void)execlp("dbus-daemon", "dbus-daemon", option, "--nofork", "--nopidfile", (char *)NULL);
		_exit(127);
	}
	while (connect_to(manager, address) < 0) {
		cr_assert_eq(waitpid(manager->daemon, NULL, WNOHANG), 0, "dbus-daemon ended");
		cr_assert_lt(time(NULL), until, "dbus-daemon does not answer");
		(void)nanosleep(&moment, NULL);
	}
	cr_assert_geq(sd_bus_add_object_vtable(manager->bus, NULL, "/org/freedesktop/systemd1",
					       "org.freedesktop.systemd1.Manager", vtable, manager),
		      0);
	cr_assert_geq(sd_bus_attach_event(manager->bus, manager->event, 0), 0);
}

void service_manager_start(struct service_manager *manager)
{
	if (system("command -v dbus-daemon >/dev/null") != 0) /* NOLINT(cert-env33-c) */
		cr_skip_test("needs dbus-daemon");
	manager->root = tree_new();
	service_manager_regain_bus(manager);
}

void service_manager_stop(struct service_manager *manager)
{
	for (size_t i = 0; i < manager->n_waiting; i++)
		sd_bus_message_unref(manager->waiting[i]);
	manager->n_waiting = 0;
	service_manager_lose_bus(manager);
	if (manager->root)
		tree_remove(manager->root);
	manager->root = NULL;
}

void service_manager_answer(struct service_manager *manager)
{
	for (size_t i = 0; i < manager->n_waiting; i++) {
		cr_assert_geq(answer(manager, manager->waiting[i]), 0);
		sd_bus_message_unref(manager->waiting[i]);
	}
	manager->n_waiting = 0;
}

void service_manager_wait(const struct service_manager *manager, bool (*done)(void *userdata), void *userdata)
{
	time_t until = time(NULL) + DEADLINE_S;

	while (!done(userdata)) {
		cr_assert_lt(time(NULL), until, "nothing comes");
		cr_assert_geq(sd_event_run(manager->event, MOMENT_US), 0);
	}
}

void service_manager_settle(const struct service_manager *manager)
{
	int r;

	do {
		r = sd_event_run(manager->event, MOMENT_US);
		cr_assert_geq(r, 0);
	} while (r > 0);
}

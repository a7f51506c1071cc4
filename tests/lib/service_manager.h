// SPDX-License-Identifier: GPL-2.0
/*
 * A private system bus with a fake service manager, which records the units that it is asked to start. The
 * manager runs in the test's process and event loop, and the bus is a dbus-daemon. Code that uses libsystemd
 * finds the bus through DBUS_SYSTEM_BUS_ADDRESS.
 */
#ifndef PEBSD_TESTS_SERVICE_MANAGER_H
#define PEBSD_TESTS_SERVICE_MANAGER_H

#include <stdbool.h>
#include <sys/types.h>
#include <systemd/sd-bus.h>
#include <systemd/sd-event.h>

#define SERVICE_MANAGER_STARTS_MAX 64

struct service_manager {
	sd_event *event;
	char *root;
	pid_t daemon;
	sd_bus *bus;
	const char *refusal; /* name of the error that it replies; NULL: it starts the unit */
	bool silent;         /* does not reply before service_manager_answer() */
	size_t n;
	char starts[SERVICE_MANAGER_STARTS_MAX][64]; /* "NAME MODE", in the order of the requests */
	sd_bus_message *waiting[SERVICE_MANAGER_STARTS_MAX];
	size_t n_waiting;
};

/*
 * Starts the bus and the manager. Skips the test if there is no dbus-daemon, and fails it on error. `manager`
 * must be all zero, except for its event loop.
 */
void service_manager_start(struct service_manager *manager);
void service_manager_stop(struct service_manager *manager);

/* Stop only the bus, and start it again at the same address. Recorded requests are kept. */
void service_manager_lose_bus(struct service_manager *manager);
void service_manager_regain_bus(struct service_manager *manager);

/* Answers all waiting requests. */
void service_manager_answer(struct service_manager *manager);

/* Runs the loop until `done` returns true. Fails the test after some seconds. */
void service_manager_wait(const struct service_manager *manager, bool (*done)(void *userdata),
			  void *userdata);

/* Runs the loop until there is nothing to do, and nothing arrives for a moment. */
void service_manager_settle(const struct service_manager *manager);

#endif

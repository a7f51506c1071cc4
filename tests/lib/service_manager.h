// SPDX-License-Identifier: GPL-2.0
/*
 * A system bus of the test's own, with a service manager on it that writes down what it is asked to start. It
 * is in the test's process and event loop; the bus is a dbus-daemon. The library's users find it by
 * DBUS_SYSTEM_BUS_ADDRESS.
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
	const char *refusal; /* the error's name that it answers with; NULL: it starts the unit */
	bool silent;         /* it does not answer before service_manager_answer() */
	size_t n;
	char starts[SERVICE_MANAGER_STARTS_MAX][64]; /* "NAME MODE", in the order in which they came */
	sd_bus_message *waiting[SERVICE_MANAGER_STARTS_MAX];
	size_t n_waiting;
};

/* Skips the test where there is no dbus-daemon. Fails it on error. `manager` is all zero but for its event
 * loop. */
void service_manager_start(struct service_manager *manager);
void service_manager_stop(struct service_manager *manager);

/* Only the bus, which ends and begins anew under the same address; what was asked stays written down. */
void service_manager_lose_bus(struct service_manager *manager);
void service_manager_regain_bus(struct service_manager *manager);

/* Answers all that waits. */
void service_manager_answer(struct service_manager *manager);

/* Runs the loop until `done` says so. Fails the test after some seconds. */
void service_manager_wait(const struct service_manager *manager, bool (*done)(void *userdata),
			  void *userdata);

/* Runs the loop until there is nothing to do, and nothing comes for a moment. */
void service_manager_settle(const struct service_manager *manager);

#endif

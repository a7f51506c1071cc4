// SPDX-License-Identifier: GPL-2.0
#include "act/unit.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <systemd/sd-bus.h>

#define MANAGER      "org.freedesktop.systemd1"
#define MANAGER_PATH "/org/freedesktop/systemd1"

/* A start that waits for its answer. The list is sorted by deadline. */
struct request {
	struct request *next;
	struct unit *unit;
	u64 alert;
	u64 deadline_us;
	sd_bus_slot *slot;
};

struct unit {
	struct unit_settings settings;
	sd_bus *bus; /* NULL: not open */
	sd_event_source *timer;
	struct request *first;
};

void unit_name(u64 alert, char ret[UNIT_NAME_MAX])
{
	(void)snprintf(ret, UNIT_NAME_MAX, "pebsd-alert@%llu.service", (unsigned long long)alert);
}

/* Returns advice on the D-Bus error with this name, or on a failure to open the bus if `error` is NULL. */
static const char *remedy_for(const char *error)
{
	static const struct {
		const char *error;
		const char *remedy;
	} remedies[] = {
		{SD_BUS_ERROR_ACCESS_DENIED,
		 "the daemon must run as root, or as the user pebsd with polkit running and the packaged file pebsd.rules in polkit's directory rules.d; see pebsd-alert(8)"},
		{SD_BUS_ERROR_INTERACTIVE_AUTHORIZATION_REQUIRED,
		 "the daemon must run as root, or as the user pebsd with polkit running and the packaged file pebsd.rules in polkit's directory rules.d; see pebsd-alert(8)"},
		{"org.freedesktop.systemd1.NoSuchUnit",
		 "install pebsd-alert@.service and run systemctl daemon-reload"},
		{"org.freedesktop.systemd1.UnitMasked",
		 "run systemctl unmask pebsd-alert@.service, or remove `unit` from the rule's action"},
		{"org.freedesktop.systemd1.BadUnitSetting",
		 "run systemd-analyze verify pebsd-alert@.service to see what is wrong in it or its drop-ins"},
		{"org.freedesktop.systemd1.LoadFailed",
		 "run systemd-analyze verify pebsd-alert@.service to see what is wrong in it or its drop-ins"},
		{SD_BUS_ERROR_SERVICE_UNKNOWN, "the action `unit` needs systemd as the service manager"},
		{SD_BUS_ERROR_NAME_HAS_NO_OWNER, "the action `unit` needs systemd as the service manager"},
		{SD_BUS_ERROR_NO_MEMORY, "free some memory"},
	};

	if (!error)
		return "the action `unit` needs the system bus: run systemctl start dbus.service";
	for (size_t i = 0; i < ARRAY_SIZE(remedies); i++)
		if (strcmp(error, remedies[i].error) == 0)
			return remedies[i].remedy;
	return "see `systemctl status` of this unit, and the journal";
}

static void arm(struct unit *unit)
{
	if (!unit->first) {
		(void)sd_event_source_set_enabled(unit->timer, SD_EVENT_OFF);
		return;
	}
	(void)sd_event_source_set_time(unit->timer, unit->first->deadline_us);
	(void)sd_event_source_set_enabled(unit->timer, SD_EVENT_ONESHOT);
}

static void drop_request(struct request *request)
{
	struct request **place = &request->unit->first;

	while (*place != request)
		place = &(*place)->next;
	*place = request->next;
	sd_bus_slot_unref(request->slot);
	free(request);
}

/* The message without a reason, for which no memory is needed. Writes the name alone after a success. */
#define BRIEF_MAX (UNIT_NAME_MAX + 32)
static void brief_message(const char *name, int result, char ret[BRIEF_MAX])
{
	(void)snprintf(ret, BRIEF_MAX, result < 0 ? "cannot start %s: out of memory" : "%s", name);
}

/* Reports the result and frees the request. `error` is an argument for remedy_for(). */
static void end_request(struct request *request, int result, const char *error, const char *reason)
{
	struct unit *unit = request->unit;
	_cleanup_free_ char *message = NULL;
	char name[UNIT_NAME_MAX], brief[BRIEF_MAX];
	u64 alert = request->alert;

	unit_name(alert, name);
	brief_message(name, result, brief);
	if (result < 0 && asprintf(&message, "cannot start %s: %s; %s", name, reason, remedy_for(error)) < 0)
		message = NULL;
	drop_request(request);
	arm(unit);
	unit->settings.ended(unit->settings.userdata, alert, result, message ? message : brief);
}

static int answered(sd_bus_message *message, void *userdata, sd_bus_error *ret_error)
{
	const sd_bus_error *error = sd_bus_message_get_error(message);
	struct request *request = userdata;

	(void)ret_error;
	if (error)
		end_request(request,
			    sd_bus_error_has_name(error, SD_BUS_ERROR_NO_REPLY)
				    ? -ECONNRESET /* a lost bus fails all calls with this error */
				    : -sd_bus_error_get_errno(error),
			    error->name, error->message ? error->message : error->name);
	else
		end_request(request, 0, NULL, NULL);
	return 0;
}

static void close_bus(struct unit *unit)
{
	if (!unit->bus)
		return;
	(void)sd_bus_detach_event(unit->bus);
	sd_bus_close(unit->bus);
	unit->bus = sd_bus_unref(unit->bus);
}

static int late(sd_event_source *source, uint64_t now_us, void *userdata)
{
	struct unit *unit = userdata;

	(void)source;
	/* Close a connection that is still not ready: later requests would wait for it, too. */
	if (unit->bus && sd_bus_is_ready(unit->bus) <= 0)
		close_bus(unit);
	while (unit->first && unit->first->deadline_us <= now_us)
		end_request(unit->first, -ETIMEDOUT, "", "the service manager did not answer in time");
	arm(unit);
	return 0;
}

int unit_new(const struct unit_settings *settings, struct unit **ret)
{
	_cleanup_(unit_freep) struct unit *unit = calloc(1, sizeof(*unit));
	int r;

	if (!unit)
		return -ENOMEM;
	unit->settings = *settings;
	sd_event_ref(settings->event);
	r = sd_event_add_time(settings->event, &unit->timer, CLOCK_MONOTONIC, 0, 0, late, unit);
	if (r >= 0)
		r = sd_event_source_set_enabled(unit->timer, SD_EVENT_OFF);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(unit);
	return 0;
}

struct unit *unit_free(struct unit *unit)
{
	if (!unit)
		return NULL;
	while (unit->first)
		drop_request(unit->first);
	close_bus(unit);
	sd_event_source_disable_unref(unit->timer);
	sd_event_unref(unit->settings.event);
	free(unit);
	return NULL;
}

static int open_bus(struct unit *unit)
{
	int r;

	if (unit->bus && sd_bus_is_open(unit->bus) > 0)
		return 0;
	close_bus(unit);
	r = sd_bus_open_system(&unit->bus);
	if (r < 0)
		return r;
	r = sd_bus_attach_event(unit->bus, unit->settings.event, SD_EVENT_PRIORITY_NORMAL);
	if (r < 0)
		close_bus(unit);
	return r;
}

static int ask(struct unit *unit, struct request *request, const char *name)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *message = NULL;
	int r;

	r = open_bus(unit);
	if (r < 0)
		return r;
	r = sd_bus_message_new_method_call(unit->bus, &message, MANAGER, MANAGER_PATH, MANAGER ".Manager",
					   "StartUnit");
	if (r >= 0)
		r = sd_bus_message_append(message, "ss", name, "replace");
	/*
	 * The request has its own deadline, because sd-bus starts its timeout only when the connection is
	 * made.
	 */
	if (r >= 0)
		r = sd_bus_call_async(unit->bus, &request->slot, message, answered, request, UINT64_MAX);
	return r;
}

void unit_start(struct unit *unit, u64 alert)
{
	struct request *request = calloc(1, sizeof(*request));
	struct request **last = &unit->first;
	char name[UNIT_NAME_MAX], brief[BRIEF_MAX];
	uint64_t now_us = 0;
	int r;

	unit_name(alert, name);
	if (!request) {
		brief_message(name, -ENOMEM, brief);
		unit->settings.ended(unit->settings.userdata, alert, -ENOMEM, brief);
		return;
	}
	(void)sd_event_now(unit->settings.event, CLOCK_MONOTONIC, &now_us);
	*request = (struct request){.unit = unit,
				    .alert = alert,
				    .deadline_us = now_us + unit->settings.timeout_ns / NSEC_PER_USEC};
	while (*last)
		last = &(*last)->next;
	*last = request;
	r = ask(unit, request, name);
	/* The connection has been lost since its last use, and nothing was sent. Try again with a new one. */
	if (r == -ENOTCONN || r == -ECONNRESET || r == -EPIPE) {
		request->slot = sd_bus_slot_unref(request->slot);
		close_bus(unit);
		r = ask(unit, request, name);
	}
	if (r < 0)
		end_request(request, r, r == -ENOMEM ? SD_BUS_ERROR_NO_MEMORY : NULL, strerror(-r));
	else
		arm(unit);
}

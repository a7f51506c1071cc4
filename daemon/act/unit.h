// SPDX-License-Identifier: GPL-2.0
/*
 * Asks the service manager to start pebsd-alert@NUMBER.service. No other unit can be started, because the
 * caller gives only the number. The system bus is opened when it is first needed, and again after it was
 * lost. No function blocks.
 */
#ifndef PEBSD_ACT_UNIT_H
#define PEBSD_ACT_UNIT_H

#include <systemd/sd-event.h>

#include "base/cleanup.h"
#include "pebsd/types.h"

#define UNIT_TIMEOUT_NS (30 * NSEC_PER_SEC)
#define UNIT_NAME_MAX   48

struct unit_settings {
	sd_event *event; /* referenced */
	u64 timeout_ns;  /* for the answer, including the time to connect */
	/*
	 * Called once for each unit_start(), possibly before that returns. `result` is 0 if the manager queued
	 * the start, else -errno. `message` is the unit's name after a success. After a failure it also gives
	 * the reason and what to do, unless memory ran out. After -ECONNRESET or -ETIMEDOUT the unit may have
	 * been started nevertheless.
	 */
	void (*ended)(void *userdata, u64 alert, int result, const char *message);
	void *userdata;
};

struct unit;

/* 0 or -errno. unit_free() drops open requests without calling ended(). */
int unit_new(const struct unit_settings *settings, struct unit **ret);
struct unit *unit_free(struct unit *unit);
DEFINE_CLEANUP(struct unit *, unit_free)

void unit_start(struct unit *unit, u64 alert);

/* "pebsd-alert@17.service" */
void unit_name(u64 alert, char ret[UNIT_NAME_MAX]);

#endif

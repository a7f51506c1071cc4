// SPDX-License-Identifier: GPL-2.0
/*
 * Asks the service manager to start pebsd-alert@NUMBER.service, and no other: the name is made of a number.
 * The system bus is opened when it is first needed and again after it was lost; nothing here waits.
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
	u64 timeout_ns;  /* for an answer, the connection's time included */
	/*
	 * Called once for each unit_start(), at times before that returns: 0 when the start was queued; else
	 * -errno, and `message` has the unit, the reason and what to do. -ECONNRESET, -ETIMEDOUT: it may have
	 * been started after all.
	 */
	void (*ended)(void *userdata, u64 alert, int result, const char *message);
	void *userdata;
};

struct unit;

/* 0 or -ENOMEM. unit_free() asks for no more answers: ended() is not called any more. */
int unit_new(const struct unit_settings *settings, struct unit **ret);
struct unit *unit_free(struct unit *unit);
DEFINE_CLEANUP(struct unit *, unit_free)

void unit_start(struct unit *unit, u64 alert);

/* "pebsd-alert@17.service" */
void unit_name(u64 alert, char ret[UNIT_NAME_MAX]);

/* What to do about an error of D-Bus, by its name, or of opening the bus (NULL). A constant. */
const char *unit_remedy(const char *error);

#endif

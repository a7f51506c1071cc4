// SPDX-License-Identifier: GPL-2.0
/* Sets up the model's computer from the configuration, and describes it. */
#ifndef PEBSD_MODEL_SETUP_H
#define PEBSD_MODEL_SETUP_H

#include "base/failure.h"
#include "config/config.h"
#include "origin/event.h"
#include "origin/model/computer.h"

/* Returns the period to request from the model. `configured` is the configured one, which may be `auto`. */
u64 model_period(u64 configured);

/* Makes the computer. Returns 0; -ENOMEM; or another -errno with `failure` filled in. */
int model_computer(const struct config *config, struct computer **ret, struct failure *failure);

/*
 * Describes the events that the model samples: loads, at the period in force, and the configured counts of the
 * computer. Returns their number.
 */
size_t model_events(const struct config *config, u64 period, struct event ret[static EVENTS_MAX]);

/*
 * Checks the periods of a reload: the model cannot change those of its `events`. `period` is the one of loads, as
 * requested at the start. Returns 0 if they are the same, or -EOPNOTSUPP with `ret_message` set, which the caller frees.
 */
int model_check_periods(const struct event *events, size_t n, u64 period, const struct event_periods *periods,
			char **ret_message);

/* Composes the note that the figures are not a measurement. The caller frees `*ret`. Returns 0 or -ENOMEM. */
int model_note(const struct config *config, char **ret);

/* Fills in `failure` with "cannot start the model: ...". Returns `error`. */
int model_fail(struct failure *failure, int error, const char *what);

#endif

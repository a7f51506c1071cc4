// SPDX-License-Identifier: GPL-2.0
/* The model's computer as the configuration wants it, and what is to be said of it. */
#ifndef PEBSD_MODEL_SETUP_H
#define PEBSD_MODEL_SETUP_H

#include "base/failure.h"
#include "config/config.h"
#include "origin/event.h"
#include "origin/model/computer.h"

/* The period that is asked of the model, where the configuration says `configured`. */
u64 model_period(u64 configured);

/* Returns 0, or -errno with `failure` filled in. */
int model_computer(const struct config *config, struct computer **ret, struct failure *failure);

/* What its samples are of, at the period in force. */
void model_event(const struct config *config, u64 period, struct event *ret);

/* That its figures are no measurement; the caller's. 0 or -ENOMEM. */
int model_note(const struct config *config, char **ret);

/* "cannot start the model: ..."; returns `error`. */
int model_fail(struct failure *failure, int error, const char *what);

#endif

// SPDX-License-Identifier: GPL-2.0
/* The JSON that `pebsd --test-rules --json` prints, with the conventions of json.h. Pure. */
#ifndef PEBSD_EXPORT_JSON_TRIAL_H
#define PEBSD_EXPORT_JSON_TRIAL_H

#include <json-c/json.h>

#include "policy/policy.h"
#include "trial/trial_report.h"

/* Returns a new object that the caller owns, or NULL if memory runs out. */
json_object *json_trial(const struct trial_report *report);

#endif

// SPDX-License-Identifier: GPL-2.0
/* What `pebsd --test-rules --json` prints; see json.h, whose conventions hold. Pure. */
#ifndef PEBSD_EXPORT_JSON_TRIAL_H
#define PEBSD_EXPORT_JSON_TRIAL_H

#include <json-c/json.h>

#include "policy/policy.h"
#include "trial/trial_report.h"

/* A new object that the caller owns; NULL where memory is short. */
json_object *json_trial(const struct trial_report *report);

#endif

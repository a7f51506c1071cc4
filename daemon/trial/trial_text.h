// SPDX-License-Identifier: GPL-2.0
/*
 * The text that `pebsd --test-rules` prints: a line for each change of a state, then a summary of each rule.
 * Pure.
 */
#ifndef PEBSD_TRIAL_TEXT_H
#define PEBSD_TRIAL_TEXT_H

#include <stdio.h>

#include "format/format.h"
#include "trial/trial_report.h"

/*
 * Cgroups have their short names, or with `full` of the style their paths. Names are made visible for the current
 * locale. Times are in the zone of the style.
 */
void trial_text(FILE *out, const struct trial_report *report, const struct format_style *style);

#endif

// SPDX-License-Identifier: GPL-2.0
/* What `pebsd --test-rules` prints for people: a line for each change of a state, then each rule in short.
 * Pure. */
#ifndef PEBSD_EXPORT_TEXT_TRIAL_H
#define PEBSD_EXPORT_TEXT_TRIAL_H

#include <stdio.h>

#include "trial_report.h"

/* Names are made visible for the current locale. */
void text_trial(FILE *out, const struct trial_report *report);

#endif

// SPDX-License-Identifier: GPL-2.0
/*
 * The text that `pebsd --test-rules` prints: a line for each change of a state, then a summary of each rule.
 * Pure.
 */
#ifndef PEBSD_TRIAL_TEXT_H
#define PEBSD_TRIAL_TEXT_H

#include <stdio.h>

#include "trial/trial_report.h"

/* Names are made visible for the current locale. */
void trial_text(FILE *out, const struct trial_report *report);

#endif

// SPDX-License-Identifier: GPL-2.0
/*
 * Performance monitoring interrupts on their way to software (manual 18.8.1.1, "Performance Counter
 * Prioritization"): in order, the ones of a cause that is already waiting with it, as the local APIC holds
 * them.
 */
#ifndef PEBSD_MODEL_INTERRUPTS_H
#define PEBSD_MODEL_INTERRUPTS_H

#include "pebs.h"

/*
 * One more. It goes with the last one where that has the same cause, and with one of the same cause that
 * waited already before the instruction (`older`: pending_count at its start): what one instruction raises on
 * both sides of another cause stays apart.
 */
void interrupt_raise(struct pebs_unit *unit, u8 older, enum interrupt_cause cause, u64 status);

#endif

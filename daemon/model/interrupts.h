// SPDX-License-Identifier: GPL-2.0
/*
 * Performance monitoring interrupts that software has not taken yet (manual 18.8.1.1, "Performance Counter
 * Prioritization"). They are kept in order. Interrupts of a cause that is already pending are merged with it,
 * as in the local APIC.
 */
#ifndef PEBSD_MODEL_INTERRUPTS_H
#define PEBSD_MODEL_INTERRUPTS_H

#include "pebs.h"

/*
 * Adds an interrupt, or merges it with a pending one of the same cause: with the last pending one, or with
 * one that was pending before the instruction (`older`: pending_count at the start of the instruction). If
 * one instruction raises two interrupts of a cause, with another cause in between, the two stay separate.
 */
void interrupt_raise(struct pebs_unit *unit, u8 older, enum interrupt_cause cause, u64 status);

/*
 * Returns whether the machine has an uncore that posts interrupts (18.8.2). Every machine since Nehalem has
 * one, and the model uses Nehalem's registers for all of them.
 */
bool interrupt_has_uncore(const struct machine *machine);

#endif

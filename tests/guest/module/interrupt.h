// SPDX-License-Identifier: GPL-2.0
/* The performance monitoring interrupt, non-maskable: intel_pmu_handle_irq() in arch/x86/events/intel/core.c.
 */
#ifndef PEBS_MACHINE_INTERRUPT_H
#define PEBS_MACHINE_INTERRUPT_H

int interrupt_open(void);
void interrupt_close(void);

#endif

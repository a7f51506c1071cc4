// SPDX-License-Identifier: GPL-2.0
/*
 * Does the work of the BPF programs `inject` and `slot_table` (bpf/pebsd.bpf.c) in this process, on memory of the same
 * layout. An origin that does not measure this machine needs no more, if the process cannot use BPF. Only one thread
 * may use it, so nothing here is atomic.
 */
#ifndef PEBSD_KERNEL_IN_PROCESS_H
#define PEBSD_KERNEL_IN_PROCESS_H

#include "kernel/kernel_internal.h"

/* Accounts samples, with the functions of bpf/account.h and bpf/hot_write.h, in the first stripe. */
void kernel_in_process_inject(struct kernel *kernel, const struct sample *samples, size_t n);

/*
 * Carries out a request to the slot table. Returns the result as the program does: a slot number or 0, -ENOSPC,
 * -ENOENT, -EINVAL or -ESTALE; or -ENOMEM.
 */
int kernel_in_process_ask(struct kernel *kernel, const struct slot_request *request);

#endif

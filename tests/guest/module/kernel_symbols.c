// SPDX-License-Identifier: GPL-2.0
#include "kernel_symbols.h"

#include <linux/kprobes.h>

struct kernel_symbols kernel_symbols;

/* A kprobe knows its function's address, exported or not; it never fires. */
static unsigned long address_of_function(const char *name)
{
	struct kprobe probe = {.symbol_name = name};
	unsigned long address;

	if (register_kprobe(&probe) < 0)
		return 0;
	address = (unsigned long)probe.addr;
	unregister_kprobe(&probe);
	return address;
}

int kernel_symbols_open(void)
{
	unsigned long (*lookup)(const char *name) = (void *)address_of_function("kallsyms_lookup_name");
	const struct {
		const char *name;
		void *address;
	} wanted[] = {
#define WANTED(symbol) {#symbol, &kernel_symbols.symbol}
		WANTED(perf_event_overflow),    WANTED(perf_event_output),
		WANTED(perf_log_lost_samples),  WANTED(perf_event_account_interrupt),
		WANTED(perf_sample_event_took), WANTED(perf_callchain),
		WANTED(perf_sched_cb_inc),      WANTED(perf_sched_cb_dec),
		WANTED(bpf_prog_active),
#undef WANTED
	};

	if (!lookup) {
		pr_err("pebs_machine: cannot probe kallsyms_lookup_name; a kernel with CONFIG_KPROBES and "
		       "CONFIG_KALLSYMS_ALL is needed\n");
		return -ENOENT;
	}
	for (size_t i = 0; i < ARRAY_SIZE(wanted); i++) {
		unsigned long address = lookup(wanted[i].name);

		if (!address) {
			pr_err("pebs_machine: this kernel has no %s\n", wanted[i].name);
			return -ENOENT;
		}
		memcpy(wanted[i].address, &address, sizeof(address));
	}
	return 0;
}

// SPDX-License-Identifier: GPL-2.0
/*
 * pebs_machine: a CPU with PEBS for a machine that has none. Perf core is given a core PMU `cpu` (of a hybrid
 * machine cpu_core and cpu_atom, on the CPUs of even and of odd numbers) whose hardware is the model in
 * daemon/model/; samples come as real ones do, through a PEBS record, a non-maskable interrupt and
 * perf_event_overflow(), and are counted on the way. For tests in a virtual machine: it refuses one that has
 * a PMU. `insmod pebs_machine.ko cpu=skylake`.
 *
 * Parameters, in /sys/module/pebs_machine/parameters/; all but `cpu` and `books` can be written at any time:
 * - cpu: which of the model's machines, by its name; from Nehalem on. Those that the running kernel does not
 *   know are played as a later one's driver would.
 *   zen3 and zen5 have no PEBS but IBS: a PMU `ibs_op`, as this kernel's driver has it.
 * - loads_per_second: events of each counter in a second of running tasks, on each CPU. Divided by an event's
 *   period it is the sampling rate: with the daemon's own period of 10007, 10000000 makes 1 kHz. What a guest
 *   cannot keep up with is cut to what leaves half of the time to tasks; 1000000000: as fast as it can.
 * - paused: Y: no time passes for the counters. Once written, all that was under way is delivered.
 * - time_samples: Y: perf core is told how long the handler took, as the real driver does, and lowers
 *   kernel.perf_event_max_sample_rate by it. Under emulation that is the emulator's time: N by default.
 * - books: entries of each CPU's table, 64 to 65536.
 * - together: one in so many times that several counters near their ends come to them together, not one after
 *   the other, so that before Skylake their records collide and events stay without a next one. 0, the
 * default: never.
 *
 * In /sys/kernel/debug/pebs_machine/, as JSON, an object a line (what is of an event opened for one cgroup
 * has its code as "cgroup:0x1cd"):
 * - books: for each CPU and its PMU, event, cgroup, thread and name, what went to perf_event_overflow(), and
 * as `ring` what went to perf_event_output() alone, where no BPF program sees it. `latency` is what was
 * handed over, `latency_true` what the record had; `guarded`, those of the samples for which the kernel left
 * out BPF programs (bpf_prog_active was held when they were handed over).
 * - totals: for each CPU the same by event, with collisions, how often and for how long it was throttled, and
 *   `cut`, how often it was stopped with its period over and no record of it yet; and
 *   what should be 0: not_written, stopped, early, unclaimed, broken, full, events_full.
 *   Of IBS the events are kinds of operations: 0x2 loads, 0x4 stores, 0x1 others (under 0x0: throttles);
 *   `ibs` counts what the unit told of, what its filters dropped, and what the driver discarded.
 * - touched: for each CPU, event, cgroup and thread that told what its code does (places.h), by instruction
 *   and data address: samples, those of them that were guarded, and of the others latency and HITM.
 * - reset: written to, all of it is forgotten.
 * - open: the number of events of the core PMU that are open now.
 * - places: written to by a thread, what its code does (places.h).
 *
 * A task's name says what it does: that of a workload (streaming, pointer-chase, remote-numa, false-sharing,
 * tlb-thrash, locked-counters, mix), else mix; but of a thread that told what its code does (places.h)
 * samples are as it executed. The idle task does nothing.
 *
 * Not as the real kernel and machine: events of PERF_TYPE_HW_CACHE are refused (ENOENT), branch records too
 * (EOPNOTSUPP), and XMM registers (EINVAL); TSX, top-down and freeze_on_smi are not shown; user space cannot
 * read counters by RDPMC (cap_user_rdpmc is 0, the page's index is real); instructions' addresses are the
 * model's, and before Haswell one instruction late, where the driver would look for the one before in branch
 * records; memory events but load latency and the machine's store event have no data source (PERF_MEM_NA).
 * The buffer is the driver's, 64 KiB. Of an AMD machine, `cpu` and `ibs_fetch` refuse events (EOPNOTSUPP).
 */
#include "core.h"

#include <linux/module.h>

#include "ibs_pmu.h"
#include "interrupt.h"
#include "kernel_symbols.h"
#include "parameters.h"
#include "pmu.h"
#include "world.h"

static char default_cpu[] = "skylake";

struct parameters parameters = {
	.cpu = default_cpu,
	.loads_per_second = 10000000,
	.books = 4096,
};

static int hotplug_state;

static int set_paused(const char *value, const struct kernel_param *parameter)
{
	int r = param_set_bool(value, parameter);

	if (r == 0)
		world_settle();
	return r;
}

static const struct kernel_param_ops paused_ops = {.set = set_paused, .get = param_get_bool};

module_param_named(cpu, parameters.cpu, charp, 0444);
MODULE_PARM_DESC(cpu, "the machine to play, by its name in the model");
module_param_named(loads_per_second, parameters.loads_per_second, ulong, 0644);
MODULE_PARM_DESC(loads_per_second, "events of each counter, a second of each CPU's running tasks");
module_param_cb(paused, &paused_ops, &parameters.paused, 0644);
MODULE_PARM_DESC(paused, "no time passes for the counters");
module_param_named(time_samples, parameters.time_samples, bool, 0644);
MODULE_PARM_DESC(time_samples, "perf core is told how long a sample took");
module_param_named(together, parameters.together, uint, 0644);
MODULE_PARM_DESC(together, "one in so many meetings of counters is a collision");
module_param_named(books, parameters.books, uint, 0444);
MODULE_PARM_DESC(books, "entries of each CPU's table of what was delivered");

static int choose_machine(const char **ret_title)
{
	const struct ibs_machine *ibs = ibs_machine_find(parameters.cpu);
	const struct machine *machine = machine_find(parameters.cpu);

	if (ibs) {
		*ret_title = ibs->title;
		ibs_pmu_describe(ibs);
		return 0;
	}
	if (!machine) {
		pr_err("pebs_machine: the model has no machine \"%s\"\n", parameters.cpu);
		return -EINVAL;
	}
	if (!machine->kernel_name || machine->format < RECORD_NEHALEM) {
		pr_err("pebs_machine: %s cannot be played here, its PEBS is not of Nehalem's kind\n",
		       machine->title);
		return -EINVAL;
	}
	*ret_title = machine->title;
	return pmu_describe(machine);
}

static int __init pebs_machine_init(void)
{
	const char *title;
	int r;

	if (boot_cpu_has(X86_FEATURE_ARCH_PERFMON)) {
		pr_err("pebs_machine: this CPU has performance counters of its own; load it in a virtual "
		       "machine "
		       "without\n");
		return -EBUSY;
	}
	r = choose_machine(&title);
	if (r == 0)
		r = kernel_symbols_open();
	if (r < 0)
		return r;
	r = cores_open();
	if (r < 0)
		return r;
	r = interrupt_open();
	if (r < 0)
		goto no_interrupt;
	hotplug_state = world_open();
	if (hotplug_state < 0) {
		r = hotplug_state;
		goto no_world;
	}
	r = books_files_open();
	if (r < 0)
		goto no_files;
	r = ibs_pmu_machine() ? ibs_pmu_open() : pmu_open();
	if (r < 0)
		goto no_pmu;
	pr_info("pebs_machine: plays %s\n", title);
	return 0;
no_pmu:
	books_files_close();
no_files:
	world_close(hotplug_state);
no_world:
	interrupt_close();
no_interrupt:
	cores_close();
	return r;
}

static void __exit pebs_machine_exit(void)
{
	if (ibs_pmu_machine())
		ibs_pmu_close();
	else
		pmu_close();
	books_files_close();
	world_close(hotplug_state);
	cores_close();
	interrupt_close();
}

module_init(pebs_machine_init);
module_exit(pebs_machine_exit);
MODULE_DESCRIPTION("A PEBS machine played by pebsd's model, for its tests");
MODULE_LICENSE("GPL");

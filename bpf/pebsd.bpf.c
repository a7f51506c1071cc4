// SPDX-License-Identifier: GPL-2.0
/* The BPF programs that receive samples and cgroups. sample_path.h has the path of a sample. */
#include <linux/bpf.h>
#include <linux/bpf_perf_event.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "kernel_types.h"
#include "offcore_switch.h"
#include "sample_path.h"

char LICENSE[] SEC("license") = "GPL";

/* Samples injected by user space. The daemon is the only writer, and fills the map before it runs `inject`. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, INJECT_MAX);
	__type(key, u32);
	__type(value, struct sample);
} injected SEC(".maps");

/*
 * One program per event: its number is a constant, so the verifier drops code for fields that the event does
 * not measure, and the program of one event can be replaced alone. Only programs of events in use are loaded.
 */
#define PERF_EVENT_PROGRAM(number)                                                   \
	SEC("perf_event")                                                            \
	int event_##number(struct bpf_perf_event_data *context)                      \
	{                                                                            \
		account_hardware(context, number);                                   \
		return 0; /* no record to a ring, no signal: kernel/events/core.c */ \
	}

PERF_EVENT_PROGRAM(0)
PERF_EVENT_PROGRAM(1)
PERF_EVENT_PROGRAM(2)
PERF_EVENT_PROGRAM(3)
PERF_EVENT_PROGRAM(4)
PERF_EVENT_PROGRAM(5)
PERF_EVENT_PROGRAM(6)
PERF_EVENT_PROGRAM(7)
PERF_EVENT_PROGRAM(8)
PERF_EVENT_PROGRAM(9)
PERF_EVENT_PROGRAM(10)
PERF_EVENT_PROGRAM(11)

_Static_assert(EVENTS_MAX == 12, "a program for each event");

/*
 * Counts the runs of the program `empty`, which does nothing else. The calibration of the interrupt's cost
 * attaches `empty` to an event of one thread, to measure the cost of a sample without the work of pebsd. An
 * increase shows the calibration that a sample came.
 */
u64 empty_runs = 0;

SEC("perf_event")
int empty(void *context)
{
	(void)context;
	empty_runs++;
	return 0;
}

/*
 * Counts a sample into the stripe of the present CPU. The program does not leave this CPU
 * (bpf_prog_test_run_syscall(), net/bpf/test_run.c). It counts atomically, because a PMI may interrupt it.
 */
static long inject_one(u32 index, void *unused)
{
	const volatile struct event_settings *event;
	struct cpu_state *this_cpu, *inject_cache = cpu_state_of(cpu_count);
	struct sample *sample;
	u32 number, slot;

	(void)unused;
	sample = bpf_map_lookup_elem(&injected, &index);
	this_cpu = cpu_state_of(bpf_get_smp_processor_id());
	if (!sample || !inject_cache || !this_cpu)
		return 1;
	number = sample->event;
	if (number >= EVENTS_MAX) {
		ACCOUNT_ADD(true, rejected[0][cpu_stripe(this_cpu)].malformed, 1);
		return 0;
	}
	event = &events[number];
	if (account_rejected(sample, (u16)number, event, this_cpu, true))
		return 0;
	slot = cpu_slot_of(inject_cache, sample->cgroup_id, NULL);
	account_hot(sample, (u16)number, event, NULL, slot);
	if (account_is_count(event))
		account_as_count(sample, (u16)number, event, this_cpu, slot, true);
	else
		account(sample, (u16)number, event, this_cpu, slot, true);
	return 0;
}

SEC("syscall")
int inject(struct inject_request *request)
{
	u32 count = request->count;
	long done;

	if (count > INJECT_MAX)
		count = INJECT_MAX;
	done = bpf_loop(count, inject_one, NULL, 0);
	request->done = done < 0 ? 0 : (u32)done;
	return 0;
}

/*
 * The tracepoints also fire for v1 hierarchies, which have ids of their own. Only the default hierarchy
 * counts. Fields are read with BPF_CORE_READ instead of followed as trusted pointers. Since Linux 6.4 the
 * verifier searches all of the kernel's types for names when a program follows such a pointer
 * (kernel/bpf/btf.c, btf_nested_type_is_trusted()), which would add a millisecond to the start each time.
 */
static __always_inline int in_default_hierarchy(struct cgroup *cgroup)
{
	return BPF_CORE_READ(cgroup, root, hierarchy_id) == 0;
}

static __always_inline u64 parent_id_of(struct kernfs_node *node)
{
	struct kernfs_node *parent;

	if (bpf_core_field_exists(node->__parent)) {
		parent = BPF_CORE_READ(node, __parent);
	} else {
		struct kernfs_node___before_6_15 *older = (void *)node;

		parent = BPF_CORE_READ(older, parent);
	}
	return BPF_CORE_READ(parent, id);
}

SEC("tp_btf/cgroup_mkdir")
int BPF_PROG(cgroup_born, struct cgroup *cgroup)
{
	struct kernfs_node *node;
	struct slot_owner *owner;
	int slot;

	if (!in_default_hierarchy(cgroup))
		return 0;
	__sync_fetch_and_add(&index_epoch, 1);
	node = BPF_CORE_READ(cgroup, kn);
	slot = slot_take(BPF_CORE_READ(node, id), parent_id_of(node), &owner);
	slots_report_short();
	/*
	 * Another instance of this program has given the cgroup a slot: two are attached while one replaces
	 * the other.
	 */
	if (slot == -EEXIST)
		return 0;
	__sync_fetch_and_add(&slot_counters.births, 1);
	if (slot < 0) {
		__sync_fetch_and_add(&slot_counters.births_without_slot, 1);
		return 0;
	}
	if (bpf_probe_read_kernel_str(owner->name, sizeof(owner->name), BPF_CORE_READ(node, name)) < 0) {
		owner->name[0] = '\0';
		__sync_fetch_and_add(&slot_counters.names_unread, 1);
	}
	slot = slot_enter((u32)slot, owner);
	if (slot < 0 && slot != -EEXIST)
		__sync_fetch_and_add(&slot_counters.births_without_slot, 1);
	return 0;
}

SEC("tp_btf/cgroup_rmdir")
int BPF_PROG(cgroup_died, struct cgroup *cgroup)
{
	if (!in_default_hierarchy(cgroup))
		return 0;
	__sync_fetch_and_add(&slot_counters.deaths, 1);
	slot_mark_dead(BPF_CORE_READ(cgroup, kn, id));
	return 0;
}

static __always_inline int slot_adopt(struct slot_request *request)
{
	u64 cgroup_id = request->cgroup_id;
	struct slot_owner *owner;
	u32 *present;
	int slot;

	slot = slot_take(cgroup_id, request->parent_id, &owner);
	if (slot >= 0) {
		__builtin_memcpy(owner->name, request->name, sizeof(owner->name));
		owner->name[sizeof(owner->name) - 1] = '\0';
		slot = slot_enter((u32)slot, owner);
	}
	if (slot != -EEXIST)
		return slot;
	present = bpf_map_lookup_elem(&slot_index, &cgroup_id);
	return present ? (int)*present : -EAGAIN;
}

SEC("syscall")
int slot_table(struct slot_request *request)
{
	switch (request->kind) {
	case SLOT_ADOPT:
		request->result = slot_adopt(request);
		break;
	case SLOT_MARK_DEAD:
		request->result = slot_mark_dead(request->cgroup_id);
		break;
	case SLOT_RETIRE:
		request->result = slot_retire(request->slot, request->generation);
		break;
	case SLOT_RELEASE:
		request->result = slot_release(request->slot, request->generation);
		break;
	default:
		request->result = -EINVAL;
	}
	return 0;
}

/* Loaded only if off-core responses are counted. */
SEC("tp_btf/sched_switch")
int BPF_PROG(offcore_switched, u64 preempt, struct task_struct *prev, struct task_struct *next)
{
	(void)preempt;
	offcore_switch_between(prev, next);
	return 0;
}

/*
 * Charges the cgroup that runs now. The program is not attached: at a collection the daemon makes each CPU
 * run it (BPF_PROG_TEST_RUN with BPF_F_TEST_RUN_ON_CPU). A run is one interrupt, has the interrupted task as
 * `current`, and does not hold a guard (net/bpf/test_run.c, bpf_prog_test_run_raw_tp(), Linux 6.1).
 */
SEC("raw_tp")
int offcore_collect(void *context)
{
	struct offcore_cpu *state;
	u32 cpu;

	(void)context;
	state = offcore_this_cpu(&cpu);
	if (state)
		offcore_settle(cpu, state, bpf_get_current_cgroup_id());
	return 0;
}

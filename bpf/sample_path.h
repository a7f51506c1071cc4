// SPDX-License-Identifier: GPL-2.0
/* The path of a sample: it is read, checked, and counted in the record of its cgroup. */
#ifndef PEBSD_SAMPLE_PATH_H
#define PEBSD_SAMPLE_PATH_H

#include <linux/bpf.h>
#include <linux/bpf_perf_event.h>

#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "account.h"
#include "cpu_states.h"
#include "hot_tables.h"
#include "read_sample.h"
#include "slots.h"

/* Reads a sample's fields. Tests define their own, because their machines have no PMU that fills the fields. */
#ifndef READ_RAW_SAMPLE
#define READ_RAW_SAMPLE read_raw_sample
#endif

/*
 * Counts a sample's code address and data address in the hot tables. No other function reads these addresses.
 * With PEBS and IBS, the instruction pointer in the registers is that of the recorded instruction
 * (x86/events/intel/ds.c setup_pebs_fixed_sample_data, amd/ibs.c perf_ibs_handle_irq, Linux 6.1). An injected
 * sample brings its own addresses, and has no `context`.
 */
static __always_inline void account_addresses(const struct sample *sample, u16 number,
					      const volatile struct event_settings *event,
					      struct bpf_perf_event_data *context, u32 slot)
{
	u64 code = 0, line = 0, weight = 1, origin = 0;
	u32 first;
	void *tables = hot_tables_of(slot, number, &first);

	if (!tables)
		return;
	if (event->has_code_address && context)
		code = hot_code_item(PT_REGS_IP(&context->regs));
	else if (event->has_code_address && (sample->fields & SAMPLE_CODE_ADDRESS))
		code = hot_code_item(sample->code_address);
	if (event->has_address && context)
		line = hot_line_item(read_address(context));
	else if (!context && (sample->fields & SAMPLE_ADDRESS))
		line = hot_line_item(sample->address);
	if (event->has_latency)
		weight = sample->fields & SAMPLE_LATENCY ? sample->latency : 0;
	if (context)
		origin = bpf_get_current_pid_tgid() >> 32;
	/* The HITM bit is moved without a branch of its own: with one, the verifier would check the rest again. */
	if (sample->fields & SAMPLE_DATA_SOURCE)
		origin |= (u64)(DATA_SOURCE_SNOOP(sample->data_source) / SNOOP_BIT_HITM & 1) << 32;
	hot_account(tables, first, code, line, weight, origin);
}

/*
 * Returns whether the sample is rejected: filtered by the event's operations, or malformed. Counts a rejected
 * one in the stripe of the CPU of `state`. `atomic`: see account.h.
 */
static __always_inline bool account_rejected(const struct sample *sample, u16 number,
					     const volatile struct event_settings *event,
					     const struct cpu_state *state, bool atomic)
{
	struct rejected_record *mine = &rejected[number][cpu_stripe(state)];

	if (account_filtered(sample, event->operations)) {
		ACCOUNT_ADD(atomic, mine->filtered, 1);
		return true;
	}
	if (__builtin_expect(account_malformed(sample), 0)) {
		ACCOUNT_ADD(atomic, mine->malformed, 1);
		return true;
	}
	return false;
}

/* True for a count: it measures neither latency nor data source. */
static __always_inline bool account_is_count(const volatile struct event_settings *event)
{
	return !event->has_latency && !event->has_source;
}

static __always_inline struct plain_record *
plain_record_of(const struct cpu_state *state, const volatile struct event_settings *event, u32 slot)
{
	u32 index = cpu_record(state, event, slot);
	u32 block_number = slot_block(slot);
	void *block = bpf_map_lookup_elem(&plain_blocks, &block_number);

	return block ? bpf_map_lookup_elem(block, &index) : NULL;
}

/* Adds the sample to the record of its slot, then sets the dirty byte. The event is not a count. */
static __always_inline void account(const struct sample *sample, u16 number,
				    const volatile struct event_settings *event,
				    const struct cpu_state *state, u32 slot, bool atomic)
{
	if (event->has_latency) {
		u32 index = cpu_record(state, event, slot);
		u32 block_number = slot_block(slot);
		struct latency_record *record = NULL;
		void *block = bpf_map_lookup_elem(&latency_blocks, &block_number);

		if (block)
			record = bpf_map_lookup_elem(block, &index);
		if (record)
			account_latency(record, sample, atomic);
	} else {
		struct plain_record *record = plain_record_of(state, event, slot);

		if (record)
			account_plain(record, sample, atomic);
	}
	/* Sets the dirty byte in any case: the lookups above cannot fail, but the verifier does not know that. */
	slot_set_dirty(cpu_dirty(state, number), slot, atomic);
}

/* The same for a count. */
static __always_inline void account_as_count(const struct sample *sample, u16 number,
					     const volatile struct event_settings *event,
					     const struct cpu_state *state, u32 slot, bool atomic)
{
	struct plain_record *record = plain_record_of(state, event, slot);

	if (record)
		account_count(record, sample, atomic);
	slot_set_dirty(cpu_dirty(state, number), slot, atomic);
}

/*
 * Does nothing unless slots are chosen for hot tables. Call this before account(): otherwise the verifier
 * would check this function again for every path through account().
 */
static __always_inline void account_hot(const struct sample *sample, u16 number,
					const volatile struct event_settings *event,
					struct bpf_perf_event_data *context, u32 slot)
{
	if (hot_max && __builtin_expect(hot_chosen, 0) && slot != SLOT_UNATTRIBUTED)
		account_addresses(sample, number, event, context, slot);
}

static __always_inline u32 current_slot(struct cpu_state *state)
{
	struct cgroup *cgroup = read_cgroup();

	return cpu_slot_of(state, (u64)cgroup, cgroup);
}

/* A count measures nothing, so there is nothing to read, and nothing to reject. */
static __always_inline void account_run_count(struct bpf_perf_event_data *context, u16 number,
					      const volatile struct event_settings *event,
					      struct cpu_state *state, bool atomic)
{
	const struct sample sample = {.period = context->sample_period};
	u32 slot = current_slot(state);

	account_hot(&sample, number, event, context, slot);
	account_as_count(&sample, number, event, state, slot, atomic);
}

static __always_inline void account_run(struct bpf_perf_event_data *context, u16 number,
					const volatile struct event_settings *event, struct cpu_state *state,
					bool atomic)
{
	struct raw_sample raw;
	struct sample sample;
	u32 slot;

	if (account_is_count(event)) {
		account_run_count(context, number, event, state, atomic);
		return;
	}
	READ_RAW_SAMPLE(context, &raw);
	select_fields(&raw, event, &sample);
	if (account_rejected(&sample, number, event, state, atomic))
		return;
	slot = current_slot(state);
	sample.period = context->sample_period;
	account_hot(&sample, number, event, context, slot);
	account(&sample, number, event, state, slot, atomic);
}

/* The complete program of an event. `number` is a constant below EVENTS_MAX. */
static __always_inline void account_hardware(struct bpf_perf_event_data *context, u16 number)
{
	struct cpu_state *state = cpu_state_of(bpf_get_smp_processor_id());
	u64 begun;

	if (!state)
		return;
	begun = cpu_run_begins(state);
	if (stripes_alone)
		account_run(context, number, &events[number], state, false);
	else
		account_run(context, number, &events[number], state, true);
	cpu_run_ends(state, begun);
}

#endif

// SPDX-License-Identifier: GPL-2.0
/*
 * Any bytes as the state that another process left: as the memory itself, or as complete records. The
 * totals, the collection, the series and the rules refuse it, or restore it and continue. Then they collect
 * and judge, and the state that they save is restored again.
 */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alerts/alerts_saved.h"
#include "collect/collect.h"
#include "fake_kernel.h"
#include "series/series.h"
#include "state/state_bytes.h"
#include "state/state_internal.h"
#include "state/state_kinds.h"

#define SLOTS    16
#define BEGIN_NS (4 * COLLECT_GRACE_NS)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct restored {
	struct kernel *kernel;
	struct names *names;
	struct totals *totals;
	struct collect *collect;
	struct series_table *series;
};

#define must(so)                                                                       \
	do {                                                                           \
		if (!(so)) {                                                           \
			(void)fprintf(stderr, "line %d: not so: %s\n", __LINE__, #so); \
			abort();                                                       \
		}                                                                      \
	} while (0)

/* A kernel side with live, dead and free slots, none of which was reused. */
static struct kernel *some_kernel(void)
{
	const struct stripes stripes = {.n = 2};
	struct kernel_settings settings = {
		.slots = SLOTS, .stripes = &stripes, .n_events = 2, .events = {{.has_latency = 1}}};
	struct kernel *kernel = fake_kernel_new(&settings);

	for (u32 i = 1; i < SLOTS / 2; i++) {
		u32 slot = fake_kernel_born(kernel, 100 + i, 0, "some");

		fake_kernel_count(kernel, slot, i % 2, 0, 0, 100, 1);
		if (i % 3 == 0)
			fake_kernel_died(kernel, slot, 1);
	}
	return kernel;
}

static void open_restored(struct restored *restored, struct state *state)
{
	*restored = (struct restored){.kernel = some_kernel()};
	must(names_new(64, &restored->names) == 0 && totals_new(&restored->totals) == 0 &&
	     series_table_new(3, &restored->series) == 0);
	must(collect_new(&(struct collect_settings){.kernel = restored->kernel,
						    .names = restored->names,
						    .totals = restored->totals,
						    .names_from_slots = true,
						    .state = state},
			 &restored->collect) == 0);
}

static void close_restored(struct restored *restored)
{
	series_table_free(restored->series);
	collect_free(restored->collect);
	totals_free(restored->totals);
	names_free(restored->names);
	kernel_free(restored->kernel);
}

static void live(struct restored *restored, struct state *state, u64 now_ns)
{
	for (u64 i = 0; i < 3; i++) {
		(void)collect_run(restored->collect, now_ns + i * KERNEL_REST_NS);
		(void)totals_fold(restored->totals, 1, 4);
		(void)series_table_update(restored->series, now_ns + i * KERNEL_REST_NS, NULL, 0, NULL, 0);
		collect_save(restored->collect);
		series_table_save(restored->series);
		must(state_commit(state) == 0);
	}
}

static struct policy *some_policy(const struct alerts_saved *saved, u64 now_ns)
{
	static char *everything[] = {"/**"};
	const struct rule rule = {.name = "remote",
				  .patterns = everything,
				  .n_patterns = 1,
				  .metric = {.kind = METRIC_SHARE, .source = SOURCE_REMOTE_DRAM},
				  .threshold = 0.5,
				  .clear = 0.4,
				  .window_ns = NSEC_PER_SEC,
				  .min_samples = 20,
				  .confidence = 0.95,
				  .severity = "warning"};
	const struct event event = {.role = EVENT_LOADS, .settings = {.has_source = 1}};
	struct policy *policy;

	must(policy_new(&(struct policy_settings){.rules = &rule,
						  .n_rules = 1,
						  .events = &event,
						  .n_events = 1,
						  .start_ns = now_ns,
						  .next_number = alerts_saved_next_number(saved),
						  .max_bytes = POLICY_BYTES},
			&policy) == 0);
	return policy;
}

/* Restores the alerts, whatever their saved state is, and judges some collections. */
static struct alerts_saved *judge(struct state *state, u64 now_ns, struct policy **ret)
{
	static const struct sliding_time time[EVENTS_MAX];
	const struct policy_saved_alert *saved_alerts;
	const struct transition *transitions;
	struct alerts_saved *saved;
	const char *wrong;
	size_t n;

	must(alerts_saved_new(state, now_ns, &saved, &wrong) == 0);
	*ret = some_policy(saved, now_ns);
	saved_alerts = alerts_saved_alerts(saved, &n);
	must(!wrong || n == 0);
	for (size_t i = 0; i < n; i++) {
		int r = policy_restore_alert(*ret, &saved_alerts[i]);

		must(r == 0 || r == -ESTALE);
		policy_gone(*ret, i % 2 ? saved_alerts[i].cgroup : "/some");
	}
	for (u64 i = 1; i < 4; i++) {
		policy_begin(*ret, now_ns + i * NSEC_PER_SEC, &(struct timespec){.tv_sec = (time_t)i}, time);
		must(policy_tick(*ret, &transitions, &n) == 0);
	}
	return saved;
}

static int take_up(struct state *state, bool same_maps, u64 now_ns)
{
	struct restored restored;
	int r;

	open_restored(&restored, state);
	r = totals_restore(restored.totals, state);
	if (r == 0)
		r = collect_restore(restored.collect, same_maps, now_ns);
	if (r == 0)
		r = series_table_restore(restored.series, state, now_ns);
	must(r == 0 || r == -EBADMSG);
	if (r == 0) {
		struct policy *policy;
		struct alerts_saved *saved = judge(state, now_ns, &policy);

		state_settle(state);
		must(alerts_saved_write(saved, policy) == 0);
		live(&restored, state, now_ns + COLLECT_GRACE_NS);
		policy_free(policy);
		alerts_saved_free(saved);
	}
	close_restored(&restored);
	return r;
}

static int inherit(const struct state *state, struct state **ret)
{
	const char *wrong;
	int r = state_inherit(state_fd(state), STATE_RECORDS, ret, &wrong);

	must(r == 0 || r == -ENODATA || (r == -EBADMSG && wrong));
	return r;
}

/* A state that was restored must leave one that can be restored again, with other maps. */
static void take_up_both(const struct state *left, bool same_maps)
{
	struct state *state = NULL, *next = NULL;

	if (inherit(left, &state) == 0 && take_up(state, same_maps, BEGIN_NS) == 0) {
		must(inherit(state, &next) == 0);
		must(take_up(next, false, 2 * BEGIN_NS) == 0);
	}
	state_free(next);
	state_free(state);
}

/* Uses the bytes first as the header of a memory, and the rest as its chunks. */
static void as_memory(struct state *state, const uint8_t *data, size_t size)
{
	struct state_header *header = state_header(state);
	u32 chunks = size > 0 ? 1 + data[0] % 3 : 1;

	for (u32 chunk = 0; chunk < chunks; chunk++)
		must(state_grow(state, size > chunk ? data[chunk] % STATE_SIZES : 0) == 0);
	header->committed = 3;
	if (size > 8) {
		memcpy(&header->sizes[0], data, 3);
		memcpy(&header->lost, data + 3, 1);
		header->n_chunks += data[4] % 2;
	}
	for (u32 chunk = 0; chunk < chunks && size > 0; chunk++) {
		size_t part = size < STATE_CHUNK_BYTES ? size : STATE_CHUNK_BYTES;

		memcpy(state->memory + STATE_HEADER_BYTES + (size_t)chunk * STATE_CHUNK_BYTES, data, part);
		data += part;
		size -= part;
	}
}

/* Uses the bytes as records: kind, key and length of each, then its bytes. */
static void as_records(struct state *state, const uint8_t *data, size_t size)
{
	struct state_reader reader = {.from = data, .end = data + size};
	struct state_ref head = {0};

	state_put(state, &head, STATE_HEAD, 0, "", 0);
	while (reader.from != reader.end && !reader.bad) {
		u64 kind = state_get_number(&reader), key = state_get_number(&reader),
		    length = state_get_number(&reader);
		size_t left = (size_t)(reader.end - reader.from);
		struct state_ref ref = {0};

		if (reader.bad || kind % STATE_KINDS == STATE_HEAD)
			break;
		length = length < left ? length : left;
		state_put(state, &ref, (u32)(kind % STATE_KINDS), key, reader.from,
			  length > STATE_RECORD_MAX ? STATE_RECORD_MAX : length);
		reader.from += length;
	}
	(void)state_commit(state);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct state *state;

	if (size == 0)
		return 0;
	must(state_new(STATE_RECORDS, &state) == 0);
	if (data[0] & 1)
		as_memory(state, data + 1, size - 1);
	else
		as_records(state, data + 1, size - 1);
	take_up_both(state, data[0] & 2);
	state_free(state);
	return 0;
}

// SPDX-License-Identifier: GPL-2.0
#include "sampling/sampling_model_zoom.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/monotonic.h"
#include "model/random.h"
#include "model/workload_code.h"
#include "zoom/zoom_limit.h"

/* The data addresses of all workloads fit into the memory of a node. */
_Static_assert(WORKLOAD_KINDS *WORKLOAD_DATA_SIZE < MODEL_ZOOM_NODE_BYTES, "nodes overlap");

/* The precise_ip of the event: the sampled instruction is the one that loaded. */
#define PRECISE 2

struct kept {
	struct sample sample;
	u64 time_ns;
	u32 cpu;
	u32 number; /* among the samples of this CPU since the last drain */
	struct computer_thread thread;
};

struct model_zoom {
	struct zoom_source source; /* must be first */
	struct model_zoom_settings settings;
	struct zoom_counts counts;
	u64 began_ns, drained_ns;
	struct random random;
	u64 due_ns;  /* zoom_limit_within() */
	u32 threads; /* number of threads announced so far; the next one has this number */
	bool stopped;
	u32 on_cpu[COMPUTER_CORES_MAX]; /* samples in `kept` */
	size_t n;
	struct kept kept[MODEL_ZOOM_SAMPLES];
};

static const struct model_zoom *const_zoom_of(const struct zoom_source *source)
{
	return (const struct model_zoom *)source;
}

static int drain(struct zoom_source *source,
		 int (*callback)(void *userdata, const struct zoom_record *record), void *userdata)
{
	return model_zoom_drain(model_zoom_of(source), monotonic_ns(), callback, userdata);
}

static void stop(struct zoom_source *source)
{
	struct model_zoom *zoom = model_zoom_of(source);

	if (!zoom->stopped && zoom->settings.flush)
		zoom->settings.flush(zoom->settings.userdata);
	zoom->stopped = true;
}

static void counts(struct zoom_source *source, struct zoom_counts *ret)
{
	struct model_zoom *zoom = model_zoom_of(source);

	zoom->counts.count = zoom->counts.seen * zoom->settings.event.period;
	zoom->counts.enabled_ns = zoom->counts.running_ns = zoom->drained_ns - zoom->began_ns;
	*ret = zoom->counts;
}

static void describe(const struct zoom_source *source, struct zoom_about *ret)
{
	const struct model_zoom *zoom = const_zoom_of(source);
	const struct event *event = &zoom->settings.event;

	ret->cgroup_id = zoom->settings.cgroup_id;
	ret->lbr = false;
	ret->physical = true;
	ret->n_events = 1;
	ret->events[0] = *event;
	ret->attrs[0] = (struct perf_event_attr){
		.type = PERF_TYPE_RAW,
		.size = sizeof(ret->attrs[0]),
		.config = zoom->settings.config,
		.config1 = event->ldlat,
		.sample_period = event->period,
		.sample_type = PERF_SAMPLE_CGROUP | PERF_SAMPLE_PHYS_ADDR,
		.precise_ip = PRECISE,
	};
}

static u64 bytes(const struct zoom_source *source)
{
	(void)source;
	return sizeof(struct model_zoom);
}

static const struct zoom_nodes *nodes(const struct zoom_source *source)
{
	return const_zoom_of(source)->settings.nodes;
}

static const struct zoom_source_methods methods = {
	.drain = drain,
	.stop = stop,
	.counts = counts,
	.describe = describe,
	.bytes = bytes,
	.nodes = nodes,
};

int model_zoom_new(const struct model_zoom_settings *settings, struct model_zoom **ret)
{
	struct model_zoom *zoom = calloc(1, sizeof(*zoom));

	if (!zoom)
		return -ENOMEM;
	zoom->source.methods = &methods;
	zoom->settings = *settings;
	random_seed(&zoom->random, settings->cgroup_id, settings->now_ns);
	zoom->began_ns = zoom->drained_ns = settings->now_ns;
	*ret = zoom;
	return 0;
}

struct model_zoom *model_zoom_free(struct model_zoom *zoom)
{
	free(zoom);
	return NULL;
}

struct zoom_source *model_zoom_source(struct model_zoom *zoom)
{
	return &zoom->source;
}

struct model_zoom *model_zoom_of(struct zoom_source *source)
{
	return (struct model_zoom *)source;
}

void model_zoom_take(struct model_zoom *zoom, const struct sample *sample, u32 cpu,
		     const struct computer_thread *thread)
{
	if (zoom->stopped || sample->event != 0 || sample->cgroup_id != zoom->settings.cgroup_id ||
	    cpu >= COMPUTER_CORES_MAX)
		return;
	zoom->counts.seen++;
	if (zoom->n == MODEL_ZOOM_SAMPLES) {
		zoom->counts.lost++;
		return;
	}
	zoom->kept[zoom->n++] = (struct kept){
		.sample = *sample, .cpu = cpu, .number = zoom->on_cpu[cpu]++, .thread = *thread};
}

static int by_time(const void *a, const void *b)
{
	const struct kept *one = a, *other = b;

	if (one->time_ns != other->time_ns)
		return (one->time_ns > other->time_ns) - (one->time_ns < other->time_ns);
	if (one->cpu != other->cpu)
		return (one->cpu > other->cpu) - (one->cpu < other->cpu);
	return (one->number > other->number) - (one->number < other->number);
}

/*
 * Gives each sample a time, in the order in which its CPU delivered it, and sorts by these times. Where in its part of
 * the span a sample lies is random: otherwise CPUs with the same number of samples would be in step, and the limit
 * would mostly leave out those of one CPU.
 */
static void spread(struct model_zoom *zoom, u64 now_ns)
{
	const u64 span_ns = now_ns - zoom->drained_ns;

	for (size_t i = 0; i < zoom->n; i++) {
		struct kept *kept = &zoom->kept[i];
		const u64 part_ns = span_ns / zoom->on_cpu[kept->cpu];

		kept->time_ns = zoom->drained_ns + part_ns * kept->number +
				(part_ns ? random_next(&zoom->random) % part_ns : 0);
	}
	qsort(zoom->kept, zoom->n, sizeof(*zoom->kept), by_time);
	memset(zoom->on_cpu, 0, sizeof(zoom->on_cpu));
}

static u32 pid_of(const struct model_zoom *zoom)
{
	return MODEL_ZOOM_PID + 100 * (u32)zoom->settings.workload;
}

/* Delivers what the kernel logs of a real process: the names of its threads, and the mapping of its program. */
static int announce(struct model_zoom *zoom, u32 threads,
		    int (*callback)(void *userdata, const struct zoom_record *record), void *userdata)
{
	const char *name = workload_names[zoom->settings.workload];
	struct zoom_record record = {.kind = ZOOM_RECORD_MAPPED, .pid = pid_of(zoom), .tid = pid_of(zoom)};
	char path[COMPUTER_NAME_MAX];
	int r = 0;

	record.mapped.start = WORKLOAD_TEXT + (u64)zoom->settings.workload * WORKLOAD_TEXT_SIZE;
	record.mapped.size = WORKLOAD_TEXT_SIZE;
	record.mapped.offset = record.mapped.start;
	record.mapped.protection = PROT_READ | PROT_EXEC;
	record.mapped.path = path;
	/*
	 * perf asks addr2line for lines of every path without brackets (srcline_dso_name(), 6.1), and dies if it ends.
	 */
	(void)snprintf(path, sizeof(path), "[model:%s]", name);
	if (zoom->threads == 0)
		r = callback(userdata, &record);
	for (; r == 0 && zoom->threads < threads; zoom->threads++) {
		record = (struct zoom_record){
			.kind = ZOOM_RECORD_NAMED, .pid = pid_of(zoom), .tid = pid_of(zoom) + zoom->threads};
		record.named.name = name;
		r = callback(userdata, &record);
	}
	return r;
}

static u64 physical_of(const struct sample *sample, const struct computer_thread *thread)
{
	struct workload_name name;
	u64 node;

	if (!(sample->fields & SAMPLE_ADDRESS) || !workload_name_of(sample->address, &name) || name.code)
		return 0;
	node = name.remote ? !thread->node : thread->node;
	return (node + 1) * MODEL_ZOOM_NODE_BYTES + (sample->address - WORKLOAD_DATA);
}

static int deliver(struct model_zoom *zoom, const struct kept *kept,
		   int (*callback)(void *userdata, const struct zoom_record *record), void *userdata)
{
	u64 stack[WORKLOAD_STACK_MAX];
	struct workload_name name;
	struct zoom_record record = {.kind = ZOOM_RECORD_SAMPLE,
				     .time_ns = kept->time_ns,
				     .pid = pid_of(zoom),
				     .tid = pid_of(zoom) + kept->thread.number};
	int r = announce(zoom, kept->thread.number + 1, callback, userdata);

	record.sample = (struct zoom_sample){
		.time_ns = kept->time_ns,
		.pid = record.pid,
		.tid = record.tid,
		.cpu = kept->cpu,
		.of = kept->sample,
		.physical = physical_of(&kept->sample, &kept->thread),
		.user = stack,
	};
	if (kept->sample.fields & SAMPLE_CODE_ADDRESS && workload_name_of(kept->sample.code_address, &name))
		record.sample.n_user = workload_code_stack(&name, stack);
	return r ? r : callback(userdata, &record);
}

int model_zoom_drain(struct model_zoom *zoom, u64 now_ns,
		     int (*callback)(void *userdata, const struct zoom_record *record), void *userdata)
{
	const u64 spacing_ns = zoom_limit_spacing(zoom->settings.rate);
	int r = 0;

	spread(zoom, now_ns);
	for (size_t i = 0; i < zoom->n; i++) {
		if (r != 0)
			zoom->counts.lost++;
		else if (zoom_limit_within(&zoom->due_ns, spacing_ns, zoom->kept[i].time_ns))
			r = deliver(zoom, &zoom->kept[i], callback, userdata);
		else
			zoom->counts.limited++;
	}
	zoom->n = 0;
	zoom->drained_ns = now_ns;
	return r;
}

// SPDX-License-Identifier: GPL-2.0
#include "profile/perf_data_write.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "profile/perf_data_bytes.h"
#include "symbols/shared/symbol.h"

#define HEADER_BYTES  104 /* struct perf_file_header */
#define UNKNOWN_CPU   0xffffffffU
#define HOST_KERNEL   0xffffffffU /* pid of the kernel's mapping (HOST_KERNEL_ID) */
#define KERNEL_NAME   "[kernel.kallsyms]_text"
#define PATH_BYTES    4096
#define BUILD_ID_ROOM 20

/* Fields that every sample has. */
#define SAMPLE_ALWAYS                                                                                     \
	(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | \
	 PERF_SAMPLE_PERIOD | PERF_SAMPLE_CALLCHAIN)

/* Position of a record in `records`, for sorting. */
struct position {
	u64 time_ns;
	size_t at, number;
};

/* An event as the file describes it. Its only sample id is its index plus 1. */
struct described_event {
	struct perf_event_attr attr;
	char name[EVENT_PMU_MAX + 48];
	const char *pmu;
};

struct writing {
	const struct zoom_about *zoom;
	struct described_event events[ZOOM_EVENTS_MAX];
	struct perf_data_bytes records;
	struct position *positions;
	size_t n_positions, positions_capacity;
	u64 first_ns, last_ns; /* times of the first and last sample; 0: no samples */
};

static void name_event(const struct event *event, struct described_event *ret)
{
	/*
	 * The names that perf uses. perf and other readers, such as pebsd's replay, use them to tell loads
	 * from stores.
	 */
	static const char *const names[EVENT_ROLES] = {
		[EVENT_LOADS] = "mem-loads",
		[EVENT_STORES] = "mem-stores",
		[EVENT_INSTRUCTIONS] = "instructions",
		[EVENT_OFFCORE] = "offcore",
		[EVENT_CYCLES] = "cycles",
		[EVENT_STALLS] = "stalls",
		[EVENT_MISSES] = "misses",
	};
	bool ibs = strncmp(event->pmu, "ibs_", strlen("ibs_")) == 0;

	if (ibs)
		(void)snprintf(ret->name, sizeof(ret->name), "%s//", event->pmu);
	else if (event->ldlat)
		(void)snprintf(ret->name, sizeof(ret->name), "%s/%s,ldlat=%u/", event->pmu,
			       names[event->role], event->ldlat);
	else
		(void)snprintf(ret->name, sizeof(ret->name), "%s/%s/", event->pmu, names[event->role]);
	ret->pmu = event->pmu;
}

/* Fills in the attributes with which the event was opened, but with the sample layout of this file. */
static void describe(const struct zoom_about *zoom, size_t index, struct described_event *ret)
{
	const struct perf_event_attr *opened = &zoom->attrs[index];
	const struct event_settings *settings = &zoom->events[index].settings;
	u64 type = SAMPLE_ALWAYS | (opened->sample_type & PERF_SAMPLE_CGROUP);

	if (settings->has_address)
		type |= PERF_SAMPLE_ADDR;
	if (settings->has_latency)
		type |= settings->weight_struct ? (u64)PERF_SAMPLE_WEIGHT_STRUCT : (u64)PERF_SAMPLE_WEIGHT;
	if (settings->has_source)
		type |= PERF_SAMPLE_DATA_SRC;
	if (zoom->physical)
		type |= opened->sample_type & PERF_SAMPLE_PHYS_ADDR;
	ret->attr = (struct perf_event_attr){
		.type = opened->type,
		.size = sizeof(ret->attr),
		.config = opened->config,
		.config1 = opened->config1,
		.config2 = opened->config2,
		.sample_period = opened->sample_period,
		.freq = opened->freq,
		.sample_type = type,
		.read_format = PERF_FORMAT_ID,
		.exclude_user = opened->exclude_user,
		.exclude_kernel = opened->exclude_kernel,
		.exclude_hv = opened->exclude_hv,
		.exclude_guest = opened->exclude_guest,
		.precise_ip = opened->precise_ip,
		.mmap = 1,
		.mmap2 = 1,
		.mmap_data = 1,
		.comm = 1,
		.comm_exec = 1,
		.task = 1,
		.cgroup = (type & PERF_SAMPLE_CGROUP) != 0,
		.sample_id_all = 1,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
	};
	name_event(&zoom->events[index], ret);
}

static int add_position(struct writing *writing, u64 time_ns, size_t at)
{
	if (writing->n_positions == writing->positions_capacity) {
		size_t capacity = writing->positions_capacity ? 2 * writing->positions_capacity : 4096;
		struct position *positions = realloc(writing->positions, capacity * sizeof(*positions));

		if (!positions)
			return -ENOMEM;
		writing->positions = positions;
		writing->positions_capacity = capacity;
	}
	writing->positions[writing->n_positions] =
		(struct position){.time_ns = time_ns, .at = at, .number = writing->n_positions};
	writing->n_positions++;
	return 0;
}

static size_t begin(struct perf_data_bytes *out, u32 type, u16 misc)
{
	const struct perf_event_header header = {.type = type, .misc = misc};
	size_t at = out->size;

	perf_data_put(out, &header, sizeof(header));
	return at;
}

static void end(struct perf_data_bytes *out, size_t at)
{
	u16 size = (u16)(out->size - at);

	if (!out->error)
		memcpy(out->bytes + at + offsetof(struct perf_event_header, size), &size, sizeof(size));
}

/* Writes the trailer of records other than samples (sample_id_all). */
static void put_trailer(struct perf_data_bytes *out, u32 pid, u32 tid, u64 time_ns)
{
	perf_data_put_u32(out, pid);
	perf_data_put_u32(out, tid);
	perf_data_put_u64(out, time_ns);
	perf_data_put_u32(out, UNKNOWN_CPU);
	perf_data_put_u32(out, 0);
	perf_data_put_u64(out, 1);
}

static bool of_kernel(const struct zoom_sample *sample)
{
	return sample->of.fields & SAMPLE_CODE_ADDRESS ? SYMBOL_IS_KERNEL(sample->of.code_address)
						       : sample->n_kernel > 0;
}

static void put_stack(struct perf_data_bytes *out, const struct zoom_sample *sample)
{
	bool has_code = sample->of.fields & SAMPLE_CODE_ADDRESS, kernel = of_kernel(sample);
	bool in_kernel = sample->n_kernel || (has_code && kernel);
	bool in_user = sample->n_user || (has_code && !kernel);

	perf_data_put_u64(out, (u64)in_kernel + in_user + has_code + sample->n_kernel + sample->n_user);
	if (in_kernel)
		perf_data_put_u64(out, (u64)PERF_CONTEXT_KERNEL);
	if (has_code && kernel)
		perf_data_put_u64(out, sample->of.code_address);
	perf_data_put(out, sample->kernel, sample->n_kernel * sizeof(u64));
	if (in_user)
		perf_data_put_u64(out, (u64)PERF_CONTEXT_USER);
	if (has_code && !kernel)
		perf_data_put_u64(out, sample->of.code_address);
	perf_data_put(out, sample->user, sample->n_user * sizeof(u64));
}

static u64 weight_of(const struct sample *sample, u64 type)
{
	union perf_sample_weight weight = {.full = sample->latency};

	if (type & PERF_SAMPLE_WEIGHT_STRUCT)
		weight = (union perf_sample_weight){
			.var1_dw = (u32)sample->latency,
			.var2_w = sample->instruction_latency < 0xffff ? (u16)sample->instruction_latency
								       : (u16)0xffff,
		};
	return weight.full;
}

static void put_sample(struct writing *writing, const struct zoom_sample *sample)
{
	u64 type = writing->events[sample->event].attr.sample_type;
	struct perf_data_bytes *out = &writing->records;
	size_t at = begin(out, PERF_RECORD_SAMPLE,
			  of_kernel(sample) ? PERF_RECORD_MISC_KERNEL : PERF_RECORD_MISC_USER);

	perf_data_put_u64(out, sample->event + 1ULL);
	perf_data_put_u64(out, sample->of.code_address);
	perf_data_put_u32(out, sample->pid);
	perf_data_put_u32(out, sample->tid);
	perf_data_put_u64(out, sample->time_ns);
	if (type & PERF_SAMPLE_ADDR)
		perf_data_put_u64(out, sample->of.address);
	perf_data_put_u32(out, sample->cpu);
	perf_data_put_u32(out, 0);
	perf_data_put_u64(out, sample->of.period);
	put_stack(out, sample);
	if (type & (PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT))
		perf_data_put_u64(out, weight_of(&sample->of, type));
	if (type & PERF_SAMPLE_DATA_SRC)
		perf_data_put_u64(out, sample->of.fields & SAMPLE_DATA_SOURCE ? sample->of.data_source
									      : ZOOM_SOURCE_NA);
	if (type & PERF_SAMPLE_PHYS_ADDR)
		perf_data_put_u64(out, sample->physical);
	if (type & PERF_SAMPLE_CGROUP)
		perf_data_put_u64(out, sample->of.cgroup_id);
	end(out, at);
	if (!writing->first_ns || sample->time_ns < writing->first_ns)
		writing->first_ns = sample->time_ns;
	if (sample->time_ns > writing->last_ns)
		writing->last_ns = sample->time_ns;
}

static void put_mapped(struct perf_data_bytes *out, const struct zoom_record *record)
{
	bool has_id = record->mapped.build_id_size > 0;
	u8 build_id[24] = {record->mapped.build_id_size};
	size_t at;

	if (strlen(record->mapped.path) >= PATH_BYTES)
		return;
	/* The kernel does the same: a mapping that is not executable is data (perf_event_mmap_event()). */
	at = begin(out, PERF_RECORD_MMAP2,
		   (u16)(PERF_RECORD_MISC_USER |
			 (record->mapped.protection & PROT_EXEC ? 0 : PERF_RECORD_MISC_MMAP_DATA) |
			 (has_id ? PERF_RECORD_MISC_MMAP_BUILD_ID : 0)));
	perf_data_put_u32(out, record->pid);
	perf_data_put_u32(out, record->tid);
	perf_data_put_u64(out, record->mapped.start);
	perf_data_put_u64(out, record->mapped.size);
	perf_data_put_u64(out, record->mapped.offset);
	if (has_id) {
		memcpy(build_id + 4, record->mapped.build_id, BUILD_ID_ROOM);
		perf_data_put(out, build_id, sizeof(build_id));
	} else {
		perf_data_put_u32(out, record->mapped.major);
		perf_data_put_u32(out, record->mapped.minor);
		perf_data_put_u64(out, record->mapped.inode);
		perf_data_put_u64(out, 0); /* inode generation */
	}
	perf_data_put_u32(out, record->mapped.protection);
	perf_data_put_u32(out, MAP_PRIVATE);
	perf_data_put_padded(out, record->mapped.path, sizeof(u64));
	put_trailer(out, record->pid, record->tid, record->time_ns);
	end(out, at);
}

static void put_named(struct perf_data_bytes *out, const struct zoom_record *record)
{
	char name[64];
	size_t at = begin(
		out, PERF_RECORD_COMM,
		(u16)(PERF_RECORD_MISC_USER | (record->named.executed ? PERF_RECORD_MISC_COMM_EXEC : 0)));

	(void)snprintf(name, sizeof(name), "%s", record->named.name);
	perf_data_put_u32(out, record->pid);
	perf_data_put_u32(out, record->tid);
	perf_data_put_padded(out, name, sizeof(u64));
	put_trailer(out, record->pid, record->tid, record->time_ns);
	end(out, at);
}

static void put_task(struct perf_data_bytes *out, u32 type, const struct zoom_record *record)
{
	size_t at = begin(out, type, PERF_RECORD_MISC_USER);

	perf_data_put_u32(out, record->pid);
	perf_data_put_u32(out, record->forked.parent_pid);
	perf_data_put_u32(out, record->tid);
	perf_data_put_u32(out, record->forked.parent_tid);
	perf_data_put_u64(out, record->time_ns);
	put_trailer(out, record->pid, record->tid, record->time_ns);
	end(out, at);
}

static int put_record(void *userdata, const struct zoom_record *record)
{
	struct writing *writing = userdata;
	struct perf_data_bytes *out = &writing->records;
	size_t at = out->size;

	switch (record->kind) {
	case ZOOM_RECORD_SAMPLE:
		if (record->sample.event < writing->zoom->n_events)
			put_sample(writing, &record->sample);
		break;
	case ZOOM_RECORD_MAPPED:
		put_mapped(out, record);
		break;
	case ZOOM_RECORD_NAMED:
		put_named(out, record);
		break;
	case ZOOM_RECORD_FORKED:
		put_task(out, PERF_RECORD_FORK, record);
		break;
	case ZOOM_RECORD_EXITED:
		put_task(out, PERF_RECORD_EXIT, record);
		break;
	default:
		break;
	}
	if (out->error || out->size == at)
		return out->error;
	return add_position(
		writing, record->kind == ZOOM_RECORD_SAMPLE ? record->sample.time_ns : record->time_ns, at);
}

/*
 * The mapping extends from the start of the kernel to the end of the address space. perf finds the modules by
 * itself and maps them on top.
 */
static void put_kernel(struct perf_data_bytes *out, u64 start)
{
	size_t at = begin(out, PERF_RECORD_MMAP, PERF_RECORD_MISC_KERNEL);

	perf_data_put_u32(out, HOST_KERNEL);
	perf_data_put_u32(out, 0);
	perf_data_put_u64(out, start);
	perf_data_put_u64(out, ~0ULL - start);
	perf_data_put_u64(out, start); /* the address of the symbol in the name */
	perf_data_put_padded(out, KERNEL_NAME, sizeof(u64));
	put_trailer(out, 0, 0, 0);
	end(out, at);
}

static void put_cgroup(struct perf_data_bytes *out, const struct zoom_about *zoom)
{
	size_t at = begin(out, PERF_RECORD_CGROUP, 0);

	perf_data_put_u64(out, zoom->cgroup_id);
	perf_data_put_padded(out, zoom->cgroup, sizeof(u64));
	put_trailer(out, 0, 0, 0);
	end(out, at);
}

/*
 * Writes the number of samples lost in the rings. The record comes last, because it is not known when they were
 * lost.
 */
static void put_lost(struct perf_data_bytes *out, const struct writing *writing)
{
	size_t at = begin(out, PERF_RECORD_LOST, 0);

	perf_data_put_u64(out, 1);
	perf_data_put_u64(out, writing->zoom->counts.lost);
	put_trailer(out, 0, 0, writing->last_ns);
	end(out, at);
}

/* Records without a time come first: they describe the state before the first record. */
static int compare_positions(const void *a, const void *b)
{
	const struct position *one = a, *other = b;

	if (one->time_ns != other->time_ns)
		return one->time_ns < other->time_ns ? -1 : 1;
	return one->number < other->number ? -1 : one->number > other->number;
}

static void put_data(struct perf_data_bytes *out, struct writing *writing, const struct perf_data_host *host)
{
	const struct zoom_about *zoom = writing->zoom;

	if (writing->n_positions)
		qsort(writing->positions, writing->n_positions, sizeof(*writing->positions),
		      compare_positions);
	if (host->kernel_start)
		put_kernel(out, host->kernel_start);
	if (zoom->cgroup && zoom->cgroup_id && strlen(zoom->cgroup) < PATH_BYTES)
		put_cgroup(out, zoom);
	for (size_t i = 0; i < writing->n_positions; i++) {
		const u8 *record = writing->records.bytes + writing->positions[i].at;
		struct perf_event_header header;

		memcpy(&header, record, sizeof(header));
		perf_data_put(out, record, header.size);
	}
	if (zoom->counts.lost)
		put_lost(out, writing);
}

static void put_head(struct perf_data_bytes *out, const struct writing *writing)
{
	const size_t n = writing->zoom->n_events;
	const size_t attr_size = sizeof(struct perf_event_attr) + 2 * sizeof(u64);
	const u64 attrs_at = HEADER_BYTES + n * sizeof(u64);

	perf_data_put(out, "PERFILE2", 8);
	perf_data_put_u64(out, HEADER_BYTES);
	perf_data_put_u64(out, attr_size);
	perf_data_put_u64(out, attrs_at);
	perf_data_put_u64(out, n * attr_size);
	perf_data_put_u64(out, attrs_at + n * attr_size);
	/*
	 * Placeholders for the data size, the event types and the features. put_file() fills in the data size
	 * and the features. The event types stay 0: current perf versions do not use them.
	 */
	for (size_t i = 0; i < 7; i++)
		perf_data_put_u64(out, 0);
	for (size_t i = 0; i < n; i++)
		perf_data_put_u64(out, i + 1);
	for (size_t i = 0; i < n; i++) {
		perf_data_put(out, &writing->events[i].attr, sizeof(writing->events[i].attr));
		perf_data_put_u64(out, HEADER_BYTES + i * sizeof(u64));
		perf_data_put_u64(out, sizeof(u64));
	}
}

/* Section numbers (enum in tools/perf/util/header.h, Linux 6.1). The sections are in this order. */
enum {
	HOSTNAME = 3,
	RELEASE = 4,
	VERSION = 5,
	ARCHITECTURE = 6,
	CPUS = 7,
	CPUID = 9,
	COMMAND = 11,
	EVENTS = 12,
	NODES = 14,
	PMUS = 16,
	SAMPLE_TIME = 21,
	CLOCK_DATA = 29,
	FEATURES = 30,
};

#define CLOCK_DATA_VERSION 1

static void put_text(struct perf_data_bytes *out, const char *text)
{
	if (text)
		perf_data_put_string(out, text);
}

static void put_cpus(struct perf_data_bytes *out, const struct perf_data_host *host)
{
	if (!host->cpus_available)
		return;
	perf_data_put_u32(out, host->cpus_available);
	perf_data_put_u32(out, host->cpus_online);
}

/* A single argument: perf joins the arguments with blanks when it shows them. */
static void put_command(struct perf_data_bytes *out, const struct perf_data_host *host)
{
	if (!host->command)
		return;
	perf_data_put_u32(out, 1);
	perf_data_put_string(out, host->command);
}

static void put_events(struct perf_data_bytes *out, const struct writing *writing)
{
	perf_data_put_u32(out, (u32)writing->zoom->n_events);
	perf_data_put_u32(out, (u32)sizeof(struct perf_event_attr));
	for (size_t i = 0; i < writing->zoom->n_events; i++) {
		perf_data_put(out, &writing->events[i].attr, sizeof(writing->events[i].attr));
		perf_data_put_u32(out, 1);
		perf_data_put_string(out, writing->events[i].name);
		perf_data_put_u64(out, i + 1);
	}
}

static void put_nodes(struct perf_data_bytes *out, const struct perf_data_host *host)
{
	if (!host->n_nodes)
		return;
	perf_data_put_u32(out, (u32)host->n_nodes);
	for (size_t i = 0; i < host->n_nodes; i++) {
		perf_data_put_u32(out, host->nodes[i].number);
		perf_data_put_u64(out, host->nodes[i].total_kib);
		perf_data_put_u64(out, host->nodes[i].free_kib);
		perf_data_put_string(out, host->nodes[i].cpus);
	}
}

/* Returns whether the PMU needs no entry: an earlier event has the same type, or the event has no PMU. */
static bool needs_no_entry(const struct writing *writing, size_t index)
{
	for (size_t i = 0; i < index; i++)
		if (writing->events[i].attr.type == writing->events[index].attr.type)
			return true;
	return !*writing->events[index].pmu;
}

static void put_pmus(struct perf_data_bytes *out, const struct writing *writing)
{
	u32 n = 0;

	for (size_t i = 0; i < writing->zoom->n_events; i++)
		n += !needs_no_entry(writing, i);
	if (!n)
		return;
	perf_data_put_u32(out, n);
	for (size_t i = 0; i < writing->zoom->n_events; i++) {
		if (needs_no_entry(writing, i))
			continue;
		perf_data_put_u32(out, writing->events[i].attr.type);
		perf_data_put_string(out, writing->events[i].pmu);
	}
}

static void put_sample_time(struct perf_data_bytes *out, const struct writing *writing)
{
	if (!writing->first_ns)
		return;
	perf_data_put_u64(out, writing->first_ns);
	perf_data_put_u64(out, writing->last_ns);
}

/* Writes the start of the zoom on CLOCK_REALTIME and CLOCK_MONOTONIC. perf converts times with it. */
static void put_clock(struct perf_data_bytes *out, const struct writing *writing)
{
	if (!writing->zoom->began_real_ns)
		return;
	perf_data_put_u32(out, CLOCK_DATA_VERSION);
	perf_data_put_u32(out, CLOCK_MONOTONIC);
	perf_data_put_u64(out, writing->zoom->began_real_ns);
	perf_data_put_u64(out, writing->zoom->began_ns);
}

static void put_feature(struct perf_data_bytes *out, unsigned int number, const struct writing *writing,
			const struct perf_data_host *host)
{
	switch (number) {
	case HOSTNAME:
		put_text(out, host->hostname);
		break;
	case RELEASE:
		put_text(out, host->release);
		break;
	case VERSION:
		put_text(out, "pebsd " PEBSD_VERSION);
		break;
	case ARCHITECTURE:
		put_text(out, host->architecture);
		break;
	case CPUS:
		put_cpus(out, host);
		break;
	case CPUID:
		put_text(out, host->cpuid);
		break;
	case COMMAND:
		put_command(out, host);
		break;
	case EVENTS:
		put_events(out, writing);
		break;
	case NODES:
		put_nodes(out, host);
		break;
	case PMUS:
		put_pmus(out, writing);
		break;
	case SAMPLE_TIME:
		put_sample_time(out, writing);
		break;
	case CLOCK_DATA:
		put_clock(out, writing);
		break;
	default:
		break;
	}
}

/*
 * Appends the features: a table and sections after the data, which describe the machine and the events. Returns a mask
 * of the sections written, by their numbers, which are all below 64.
 */
static u64 put_features(struct perf_data_bytes *out, const struct writing *writing,
			const struct perf_data_host *host)
{
	struct perf_data_bytes sections = {0};
	u64 sizes[FEATURES] = {0};
	u64 bits = 0, at;

	for (unsigned int i = 0; i < FEATURES; i++) {
		size_t before = sections.size;

		put_feature(&sections, i, writing, host);
		sizes[i] = sections.size - before;
		if (sizes[i])
			bits |= 1ULL << i;
	}
	at = out->size + (u64)__builtin_popcountll(bits) * 2 * sizeof(u64);
	for (unsigned int i = 0; i < FEATURES; i++) {
		if (!sizes[i])
			continue;
		perf_data_put_u64(out, at);
		perf_data_put_u64(out, sizes[i]);
		at += sizes[i];
	}
	perf_data_put(out, sections.bytes, sections.size);
	if (!out->error)
		out->error = sections.error;
	free(sections.bytes);
	return bits;
}

#define DATA_SIZE_AT 48
#define FEATURES_AT  72

static int put_file(struct writing *writing, const struct perf_data_host *host, struct perf_data_bytes *out)
{
	u64 data_size, features;
	size_t head;

	put_head(out, writing);
	head = out->size;
	put_data(out, writing, host);
	data_size = out->size - head;
	features = put_features(out, writing, host);
	if (out->error)
		return out->error;
	memcpy(out->bytes + DATA_SIZE_AT, &data_size, sizeof(data_size));
	memcpy(out->bytes + FEATURES_AT, &features, sizeof(features));
	return 0;
}

int perf_data_write(const struct zoom_recording *recording, const struct perf_data_host *host, u8 **ret,
		    size_t *ret_size)
{
	struct writing writing = {.zoom = zoom_recording_about_const(recording)};
	struct perf_data_bytes out = {0};
	int r;

	for (size_t i = 0; i < writing.zoom->n_events; i++)
		describe(writing.zoom, i, &writing.events[i]);
	r = zoom_recording_each(recording, put_record, &writing);
	if (r == 0)
		r = put_file(&writing, host, &out);
	free(writing.positions);
	free(writing.records.bytes);
	if (r < 0) {
		free(out.bytes);
		return r;
	}
	*ret = out.bytes;
	*ret_size = out.size;
	return 0;
}

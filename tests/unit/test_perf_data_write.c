// SPDX-License-Identifier: GPL-2.0
/* The perf.data of a zoom, read by the code that reads those of perf. */
#include <criterion/criterion.h>

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "origin/replay/perf_data.h"
#include "origin/replay/replay_event.h"
#include "perf_data_writer.h"
#include "profile/perf_data_bytes.h"
#include "profile/perf_data_host.h"
#include "profile/perf_data_write.h"
#include "tree.h"

#define HITM  0x40c2ULL
#define BEGAN 1000000ULL

static const struct perf_data_host host = {.hostname = "here",
					   .release = "6.1.0",
					   .architecture = "x86_64",
					   .cpus_online = 4,
					   .cpus_available = 8,
					   .kernel_start = 0xffffffff81000000,
					   .command = "pebsctl profile",
					   .cpuid = "GenuineIntel,6,143,8"};

static struct zoom_about about_of(size_t n_events)
{
	static char cgroup[] = "/a.service";
	struct zoom_about about = {.cgroup = cgroup,
				   .cgroup_id = 77,
				   .began_ns = BEGAN,
				   .began_real_ns = BEGAN + 5000,
				   .rate = 1000,
				   .n_events = n_events,
				   .origin = "perf"};

	for (size_t i = 0; i < n_events; i++) {
		about.events[i] = (struct event){.role = i ? EVENT_STORES : EVENT_LOADS,
						 .ldlat = i ? 0 : 30,
						 .settings = {.has_latency = 1,
							      .has_instruction_latency = 1,
							      .has_source = 1,
							      .has_address = 1,
							      .weight_struct = 1},
						 .pmu = "cpu"};
		about.attrs[i] =
			(struct perf_event_attr){.type = PERF_TYPE_RAW,
						 .config = i ? 0x2cd : 0x1cd,
						 .config1 = i ? 0 : 30,
						 .sample_period = 1009,
						 .sample_type = PERF_SAMPLE_CGROUP | PERF_SAMPLE_PHYS_ADDR};
	}
	return about;
}

static struct zoom_record sample_at(u64 time_ns, u32 event, u64 latency)
{
	struct zoom_record record = {.kind = ZOOM_RECORD_SAMPLE, .time_ns = time_ns, .pid = 5, .tid = 6};

	record.sample = (struct zoom_sample){
		.time_ns = time_ns,
		.pid = 5,
		.tid = 6,
		.cpu = 3,
		.event = event,
		.physical = 0x123000,
		.of = {.cgroup_id = 77,
		       .latency = latency,
		       .instruction_latency = 9,
		       .code_address = 0x401000,
		       .address = 0x7000 + latency,
		       .period = 1009,
		       .data_source = HITM,
		       .fields = SAMPLE_LATENCY | SAMPLE_INSTRUCTION_LATENCY | SAMPLE_DATA_SOURCE |
				 SAMPLE_ADDRESS | SAMPLE_CODE_ADDRESS},
	};
	return record;
}

static void add(struct zoom_recording *recording, const struct zoom_record *record)
{
	cr_assert_eq(zoom_recording_add(recording, record), 0);
}

/* Writes the recording, frees it, and opens the result. */
static struct perf_data *reopened(struct zoom_recording *recording, u8 **ret_bytes, size_t *ret_size)
{
	struct perf_data *data = NULL;
	char *message = NULL;
	int r;

	cr_assert_eq(perf_data_write(recording, &host, ret_bytes, ret_size), 0);
	zoom_recording_free(recording);
	r = perf_data_open(writer_memfd(*ret_bytes, *ret_size), &data, &message);
	cr_assert_eq(r, 0, "%s", message);
	return data;
}

/* Pretends that all but four bytes of the largest file are written. Untouched pages do not use memory. */
Test(perf_data_write, a_file_is_no_larger_than_the_maximum)
{
	void *memory = mmap(NULL, PERF_DATA_BYTES_MAX, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	struct perf_data_bytes out = {
		.bytes = memory, .size = PERF_DATA_BYTES_MAX - 4, .capacity = PERF_DATA_BYTES_MAX};

	cr_assert_neq(memory, MAP_FAILED);
	perf_data_put(&out, "1234", 4);
	cr_expect_eq(out.error, 0);
	cr_expect_eq(out.size, PERF_DATA_BYTES_MAX);
	perf_data_put(&out, "5", 1);
	cr_expect_eq(out.error, -E2BIG);
	cr_expect_eq(out.size, PERF_DATA_BYTES_MAX);
	cr_expect_eq(out.bytes, memory);
	(void)munmap(memory, PERF_DATA_BYTES_MAX);
}

Test(perf_data_write, a_written_file_has_the_samples_in_order_of_time)
{
	struct zoom_about about = about_of(2);
	struct zoom_recording *recording = NULL;
	struct perf_data_record record;
	_cleanup_free_ u8 *bytes = NULL;
	u64 samples[2] = {0}, latency = 0, last = 0;
	struct perf_data *data;
	size_t size;
	int r;

	cr_assert_eq(zoom_recording_new(&about, 1U << 20, &recording), 0);
	for (u64 cpu = 0; cpu < 2; cpu++) {
		for (u64 i = 0; i < 50; i++) {
			struct zoom_record one = sample_at(BEGAN + 10 * i + cpu, i % 5 == 0, 100 + i);

			add(recording, &one);
		}
	}
	data = reopened(recording, &bytes, &size);
	cr_expect_eq(perf_data_events(data)->n, 2);
	cr_expect_str_eq(perf_data_events(data)->list[0].name, "cpu/mem-loads,ldlat=30/");
	cr_expect_str_eq(perf_data_events(data)->list[1].name, "cpu/mem-stores/");
	cr_expect_str_eq(perf_data_events(data)->cpuid, host.cpuid);
	cr_expect_str_eq(perf_data_events_pmu(perf_data_events(data), PERF_TYPE_RAW), "cpu");
	cr_expect(perf_data_events(data)->real_time_known);
	cr_expect_eq(perf_data_events(data)->real_time_offset, 5000);
	while ((r = perf_data_next(data, &record)) > 0) {
		if (record.kind != PERF_DATA_SAMPLE)
			continue;
		cr_assert(record.event == 0 || record.event == 1);
		cr_expect_geq(record.time, last);
		cr_expect_eq(record.sample.pid, 5);
		cr_expect_eq(record.sample.tid, 6);
		cr_expect_eq(record.sample.data_source, HITM);
		cr_expect_eq(record.sample.cgroup_id, 77);
		cr_expect_eq(record.sample.period, 1009);
		cr_expect_eq(record.sample.address, 0x7000 + (u32)record.sample.weight);
		cr_expect_eq((u16)(record.sample.weight >> 32), 9);
		last = record.time;
		samples[record.event]++;
		latency += (u32)record.sample.weight;
	}
	cr_expect_eq(r, 0, "%s", perf_data_message(data));
	cr_expect_eq(samples[0], 80);
	cr_expect_eq(samples[1], 20);
	cr_expect_eq(latency, 2ULL * (50 * 100 + 49 * 50 / 2));
	perf_data_free(data);
}

/* PERF_MEM_NA of include/linux/perf_event.h, Linux 6.1. */
Test(perf_data_write, a_sample_without_a_source_has_the_kernels_value_for_none)
{
	struct zoom_record one = sample_at(BEGAN, 0, 321);
	struct zoom_about about = about_of(1);
	struct zoom_recording *recording = NULL;
	struct perf_data_record record = {0};
	_cleanup_free_ u8 *bytes = NULL;
	struct perf_data *data;
	size_t size;

	one.sample.of.fields &= (u16)~SAMPLE_DATA_SOURCE;
	cr_assert_eq(zoom_recording_new(&about, 1U << 20, &recording), 0);
	add(recording, &one);
	data = reopened(recording, &bytes, &size);
	while (record.kind != PERF_DATA_SAMPLE || !record.time)
		cr_assert_eq(perf_data_next(data, &record), 1);
	cr_expect_eq(record.sample.data_source, 0x1e05080021, "%#llx",
		     (unsigned long long)record.sample.data_source);
	perf_data_free(data);
}

/* Fields that the event does not measure are absent, and the other fields stay in their order. */
Test(perf_data_write, each_layout_is_written_and_read)
{
	for (unsigned int bits = 0; bits < 64; bits++) {
		struct zoom_record one = sample_at(BEGAN, 0, 321);
		struct zoom_about about = about_of(1);
		struct event_settings *settings = &about.events[0].settings;
		struct zoom_recording *recording = NULL;
		struct perf_data_record record = {0};
		_cleanup_free_ u8 *bytes = NULL;
		struct perf_data *data;
		size_t size;

		settings->has_latency = bits & 1;
		settings->weight_struct = (bits & 2) != 0;
		settings->has_source = (bits & 4) != 0;
		settings->has_address = (bits & 8) != 0;
		about.physical = bits & 16;
		if (!(bits & 32))
			about.attrs[0].sample_type = PERF_SAMPLE_PHYS_ADDR;
		about.cgroup_id = 0;
		cr_assert_eq(zoom_recording_new(&about, 1U << 20, &recording), 0);
		add(recording, &one);
		data = reopened(recording, &bytes, &size);
		while (record.kind != PERF_DATA_SAMPLE || !record.time)
			cr_assert_eq(perf_data_next(data, &record), 1);
		cr_expect_eq(record.event, 0);
		cr_expect_eq(record.time, BEGAN);
		cr_expect_eq((u32)record.sample.weight, bits & 1 ? 321 : 0);
		cr_expect_eq(record.sample.weight >> 32, (bits & 3) == 3 ? 9 : 0);
		cr_expect_eq(record.sample.data_source, bits & 4 ? HITM : 0);
		cr_expect_eq(record.sample.address, bits & 8 ? 0x7000 + 321 : 0);
		cr_expect_eq(record.sample.cgroup_id, bits & 32 ? 77 : 0);
		cr_expect_eq(perf_data_next(data, &record), 0);
		perf_data_free(data);
	}
}

Test(perf_data_write, tasks_the_cgroup_and_losses_are_written)
{
	struct zoom_about about = about_of(1);
	const struct zoom_record records[] = {
		{.kind = ZOOM_RECORD_EXITED, .time_ns = BEGAN + 4, .pid = 9, .tid = 9},
		{.kind = ZOOM_RECORD_FORKED,
		 .time_ns = BEGAN + 2,
		 .pid = 9,
		 .tid = 10,
		 .forked = {.parent_pid = 5, .parent_tid = 6}},
		{.kind = ZOOM_RECORD_NAMED, .pid = 5, .tid = 6, .named = {.name = "first"}},
		{.kind = ZOOM_RECORD_MAPPED,
		 .time_ns = BEGAN + 3,
		 .pid = 9,
		 .tid = 9,
		 .mapped = {.start = 0x400000,
			    .size = 0x1000,
			    .protection = PROT_EXEC,
			    .build_id = {1, 2, 3},
			    .build_id_size = 20,
			    .path = "/bin/with a build id"}},
	};
	static const enum perf_data_kind kinds[] = {PERF_DATA_OTHER, PERF_DATA_CGROUP, PERF_DATA_COMM,
						    PERF_DATA_FORK,  PERF_DATA_OTHER,  PERF_DATA_OTHER,
						    PERF_DATA_LOST};
	struct zoom_recording *recording = NULL;
	struct perf_data_record record;
	_cleanup_free_ u8 *bytes = NULL;
	struct perf_data *data;
	size_t size;

	about.counts.lost = 12;
	cr_assert_eq(zoom_recording_new(&about, 1U << 20, &recording), 0);
	for (size_t i = 0; i < ARRAY_SIZE(records); i++)
		add(recording, &records[i]);
	data = reopened(recording, &bytes, &size);
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		cr_assert_eq(perf_data_next(data, &record), 1);
		cr_assert_eq(record.kind, kinds[i], "record %zu", i);
		if (record.kind == PERF_DATA_CGROUP) {
			cr_expect_eq(record.cgroup.id, 77);
			cr_expect_eq(strncmp(record.cgroup.path, "/a.service", record.cgroup.length), 0);
		} else if (record.kind == PERF_DATA_COMM) {
			cr_expect_eq(record.comm.tid, 6);
			cr_expect_eq(strncmp(record.comm.name, "first", 5), 0);
		} else if (record.kind == PERF_DATA_FORK) {
			cr_expect_eq(record.fork.tid, 10);
			cr_expect_eq(record.fork.parent_tid, 6);
			cr_expect_eq(record.time, BEGAN + 2);
		} else if (record.kind == PERF_DATA_LOST) {
			cr_expect_eq(record.lost, 12);
		}
	}
	cr_expect_eq(perf_data_next(data, &record), 0);
	perf_data_free(data);
	cr_expect_not_null(memmem(bytes, size, "\x14\0\0\0\1\2\3", 7), "the build id");
	cr_expect_not_null(memmem(bytes, size, "[kernel.kallsyms]_text", 22));
}

/* Each half of the stack follows its marker. The sampled instruction comes first in its half. */
Test(perf_data_write, stacks_are_written)
{
	const u64 kernel[] = {0xffffffff81000100}, user[] = {0x401500, 0x401600};
	const u64 of_kernel[] = {6,
				 (u64)PERF_CONTEXT_KERNEL,
				 0xffffffff81000040,
				 0xffffffff81000100,
				 (u64)PERF_CONTEXT_USER,
				 0x401500,
				 0x401600};
	const u64 of_user[] = {4, (u64)PERF_CONTEXT_USER, 0x401000, 0x401500, 0x401600};
	struct zoom_about about = about_of(1);
	struct zoom_recording *recording = NULL;
	struct zoom_record one = sample_at(BEGAN, 0, 5);
	_cleanup_free_ u8 *bytes = NULL;
	size_t size;

	cr_assert_eq(zoom_recording_new(&about, 1U << 20, &recording), 0);
	one.sample.user = user;
	one.sample.n_user = 2;
	add(recording, &one);
	one.sample.kernel = kernel;
	one.sample.n_kernel = 1;
	one.sample.of.code_address = 0xffffffff81000040;
	add(recording, &one);
	perf_data_free(reopened(recording, &bytes, &size));
	cr_expect_not_null(memmem(bytes, size, of_kernel, sizeof(of_kernel)));
	cr_expect_not_null(memmem(bytes, size, of_user, sizeof(of_user)));
}

Test(perf_data_write, an_empty_recording_is_valid)
{
	struct zoom_about about = about_of(1);
	struct zoom_recording *recording = NULL;
	struct perf_data_record record;
	_cleanup_free_ u8 *bytes = NULL;
	struct perf_data *data;
	size_t size, n = 0;

	cr_assert_eq(zoom_recording_new(&about, 1U << 20, &recording), 0);
	data = reopened(recording, &bytes, &size);
	while (perf_data_next(data, &record) > 0)
		n += record.kind == PERF_DATA_SAMPLE;
	cr_expect_eq(n, 0);
	cr_expect_not(perf_data_unfinished(data));
	perf_data_free(data);
}

Test(perf_data_write, the_machine_is_described)
{
	char *root = tree_new();
	struct perf_data_machine *machine = NULL;

	tree_write(root, "cpuinfo",
		   "processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 143\n"
		   "model name\t: Intel(R) Xeon(R)\nstepping\t: 8\n\nprocessor\t: 1\nmodel\t\t: 1\n");
	tree_write(root, "kallsyms",
		   "ffffffff80000000 A early\nffffffff81000000 T _text\nffffffff81000040 T _stext\n");
	tree_write(root, "devices/system/cpu/online", "0-2\n");
	tree_write(root, "devices/system/cpu/present", "0-3\n");
	tree_write(root, "devices/system/node/node0/cpulist", "0-1\n");
	tree_write(root, "devices/system/node/node0/meminfo",
		   "Node 0 MemTotal:       65536 kB\nNode 0 MemFree:        1024 kB\n");
	tree_write(root, "devices/system/node/node2/cpulist", "\n");
	cr_assert_eq(perf_data_machine_new(root, root, "pebsctl", &machine), 0);
	cr_expect_str_eq(machine->host.cpuid, "GenuineIntel,6,143,8");
	cr_expect_eq(machine->host.kernel_start, 0xffffffff81000000);
	cr_expect_eq(machine->host.cpus_online, 3);
	cr_expect_eq(machine->host.cpus_available, 4);
	cr_assert_eq(machine->host.n_nodes, 2);
	cr_expect_str_eq(machine->nodes[0].cpus, "0-1");
	cr_expect_eq(machine->nodes[0].total_kib, 65536);
	cr_expect_eq(machine->nodes[0].free_kib, 1024);
	cr_expect_eq(machine->nodes[1].number, 2);
	cr_expect_str_eq(machine->nodes[1].cpus, "");
	perf_data_machine_free(machine);
	tree_remove(root);

	/* If nothing can be read, all facts stay unknown. */
	cr_assert_eq(perf_data_machine_new("/nonexistent", "/nonexistent", NULL, &machine), 0);
	cr_expect_null(machine->host.cpuid);
	cr_expect_eq(machine->host.kernel_start, 0);
	cr_expect_eq(machine->host.n_nodes, 0);
	perf_data_machine_free(machine);
}

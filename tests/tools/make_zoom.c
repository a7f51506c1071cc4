// SPDX-License-Identifier: GPL-2.0
/*
 * Builds the recording that a zoom of this process would have made, with known numbers of samples and known
 * latencies. Writes it as perf.data, to be read by perf:
 *
 *     make_zoom FILE
 *
 * Prints the values that a reader must find in it: "samples EVENT N LATENCY", "function NAME N LATENCY" (loads
 * of the function), "hitm N", "comm NAME N".
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "base/cleanup.h"
#include "profile/perf_data_host.h"

#define SAMPLES    3000
#define CHILD      4194000U /* hardly any process has this id: the child exists only in the recording */
#define FORKED_AT  1000
#define EXITED_AT  2500
#define BEGAN_NS   5000000000ULL
#define STEP_NS    1000000ULL
#define LINE_BYTES 64

/* The functions that samples belong to. perf finds them by name in this program's symbols. */
__attribute__((noinline)) static u64 scan_rows(const u64 *rows, u64 n)
{
	u64 sum = 0;

	for (u64 i = 0; i < n; i++)
		sum += rows[i] ^ i;
	return sum;
}

__attribute__((noinline)) static u64 probe_index(const u64 *rows, u64 n)
{
	u64 at = 0;

	for (u64 i = 0; i < n; i++)
		at = rows[at] % (n + 1);
	return at;
}

__attribute__((noinline)) static u64 serve_request(const u64 *rows, u64 n)
{
	return scan_rows(rows, n) + probe_index(rows, n) * 3;
}

static u64 rows[64] __attribute__((aligned(LINE_BYTES)));

static struct function {
	const char *name;
	u64 (*code)(const u64 *rows, u64 n);
	u64 samples, latency;
} functions[] = {
	{.name = "scan_rows", .code = scan_rows},
	{.name = "probe_index", .code = probe_index},
	{.name = "serve_request", .code = serve_request},
};

struct truth {
	u64 loads, stores, latency, hitm, child;
};

static int add_mappings(struct zoom_recording *recording, u32 pid)
{
	_cleanup_fclose_ FILE *maps = fopen("/proc/self/maps", "re");
	char line[4096 + 128];

	if (!maps)
		return -errno;
	while (fgets(line, sizeof(line), maps)) {
		uint64_t start, end, offset, inode;
		struct zoom_record record = {.kind = ZOOM_RECORD_MAPPED, .pid = pid, .tid = pid};
		char access[5], path[4096] = "//anon";
		unsigned int major, minor;

		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %x:%x %" SCNu64 " %4095[^\n]",
			   &start, &end, access, &offset, &major, &minor, &inode, path) < 7)
			continue;
		record.mapped.start = start;
		record.mapped.size = end - start;
		record.mapped.offset = offset;
		record.mapped.major = major;
		record.mapped.minor = minor;
		record.mapped.inode = inode;
		record.mapped.protection =
			(u32)((access[0] == 'r' ? PROT_READ : 0) | (access[1] == 'w' ? PROT_WRITE : 0) |
			      (access[2] == 'x' ? PROT_EXEC : 0));
		record.mapped.path = path;
		if (zoom_recording_add(recording, &record) < 0)
			return -ENOMEM;
	}
	return 0;
}

static int add_name(struct zoom_recording *recording, u32 pid, u64 time_ns, const char *name)
{
	const struct zoom_record record = {.kind = ZOOM_RECORD_NAMED,
					   .time_ns = time_ns,
					   .pid = pid,
					   .tid = pid,
					   .named = {.name = name}};

	return zoom_recording_add(recording, &record);
}

static int add_task(struct zoom_recording *recording, enum zoom_record_kind kind, u32 pid, u32 parent,
		    u64 time_ns)
{
	const struct zoom_record record = {.kind = kind,
					   .time_ns = time_ns,
					   .pid = pid,
					   .tid = pid,
					   .forked = {.parent_pid = parent, .parent_tid = parent}};

	return zoom_recording_add(recording, &record);
}

/*
 * A sixth of the samples are stores. Of 25 loads, 14 are in the first function, 10 in the second and 1 in the
 * third.
 */
static int add_sample(struct zoom_recording *recording, u32 pid, u64 number, u64 time_ns, struct truth *truth)
{
	bool store = number % 6 == 5, hitm = !store && number % 10 == 0;
	struct function *function = &functions[number % 3 == 1 ? 1 : number % 30 == 2 ? 2 : 0];
	u64 latency = store ? 0 : 30 + number * 7919 % 400 + (hitm ? 500 : 0);
	const u64 caller[] = {(u64)(uintptr_t)serve_request + 8, (u64)(uintptr_t)add_sample + 8};
	bool in_child = number >= FORKED_AT && number < EXITED_AT && number % 4 == 0;
	struct zoom_record record = {.kind = ZOOM_RECORD_SAMPLE, .time_ns = time_ns};
	struct zoom_sample *sample = &record.sample;

	record.pid = sample->pid = in_child ? CHILD : pid;
	record.tid = sample->tid = sample->pid;
	sample->time_ns = time_ns;
	sample->cpu = number % 2;
	sample->event = store;
	sample->user = function->code == serve_request ? caller + 1 : caller;
	sample->n_user = function->code == serve_request ? 1 : 2;
	sample->of = (struct sample){
		.cgroup_id = 77,
		.latency = latency,
		.instruction_latency = store ? 0 : (u32)latency + 12,
		.code_address = (u64)(uintptr_t)function->code + 4,
		.address = (u64)(uintptr_t)rows + (hitm ? number % 8 * 8 : LINE_BYTES + number % 64),
		.period = 1009,
		.data_source = store  ? PERF_MEM_S(OP, STORE) | PERF_MEM_S(LVL, L1) | PERF_MEM_S(LVL, HIT)
			       : hitm ? PERF_MEM_S(OP, LOAD) | PERF_MEM_S(LVL, L3) | PERF_MEM_S(LVL, HIT) |
						PERF_MEM_S(SNOOP, HITM)
				      : PERF_MEM_S(OP, LOAD) | PERF_MEM_S(LVL, L1) | PERF_MEM_S(LVL, HIT) |
						PERF_MEM_S(SNOOP, NONE),
		.fields = (u16)(SAMPLE_DATA_SOURCE | SAMPLE_ADDRESS | SAMPLE_CODE_ADDRESS |
				(store ? 0 : SAMPLE_LATENCY | SAMPLE_INSTRUCTION_LATENCY)),
	};
	truth->stores += store;
	truth->loads += !store;
	truth->latency += latency;
	truth->hitm += hitm;
	truth->child += in_child;
	function->samples += !store;
	function->latency += latency;
	return zoom_recording_add(recording, &record);
}

/* Alternates between two CPUs, one batch at a time, like samples from rings that are drained in turn. */
static int fill(struct zoom_recording *recording, struct truth *truth)
{
	const u64 batch = 100;
	u32 pid = (u32)getpid();
	int r;

	r = add_mappings(recording, pid);
	if (r == 0)
		r = add_name(recording, pid, 0, "zoomed");
	for (u64 first = 0; r == 0 && first < SAMPLES; first += batch) {
		for (u64 cpu = 0; cpu < 2; cpu++) {
			for (u64 number = first + cpu; r == 0 && number < first + batch; number += 2) {
				u64 time_ns = BEGAN_NS + number * STEP_NS;

				if (number == FORKED_AT)
					r = add_task(recording, ZOOM_RECORD_FORKED, CHILD, pid, time_ns - 2);
				if (number == FORKED_AT && r == 0)
					r = add_name(recording, CHILD, time_ns - 1, "forked");
				if (number == EXITED_AT)
					r = add_task(recording, ZOOM_RECORD_EXITED, CHILD, pid, time_ns);
				if (r == 0)
					r = add_sample(recording, pid, number, time_ns, truth);
			}
		}
	}
	return r;
}

static int make(struct truth *truth, u8 **ret, size_t *ret_size)
{
	struct zoom_about about = {
		.cgroup = (char[]){"/system.slice/zoomed.service"},
		.cgroup_id = 77,
		.began_ns = BEGAN_NS,
		.ended_ns = BEGAN_NS + SAMPLES * STEP_NS,
		.began_real_ns = 1795320000ULL * NSEC_PER_SEC,
		.rate = 1000,
		.n_events = 2,
		.origin = "perf",
	};
	_cleanup_(perf_data_machine_freep) struct perf_data_machine *machine = NULL;
	_cleanup_(zoom_recording_freep) struct zoom_recording *recording = NULL;
	int r;

	for (size_t i = 0; i < about.n_events; i++) {
		about.events[i] = (struct event){
			.role = i == 0 ? EVENT_LOADS : EVENT_STORES,
			.ldlat = i == 0 ? 30 : 0,
			.settings = {.has_latency = i == 0,
				     .has_instruction_latency = i == 0,
				     .has_source = true,
				     .has_address = true,
				     .weight_struct = true,
				     .has_code_address = true},
			.pmu = "cpu",
		};
		about.attrs[i] = (struct perf_event_attr){
			.type = PERF_TYPE_RAW,
			.config = i == 0 ? 0x1cd : 0x2cd,
			.config1 = i == 0 ? 30 : 0,
			.sample_period = 1009,
			.sample_type = PERF_SAMPLE_CGROUP,
			.precise_ip = 2,
		};
	}
	r = zoom_recording_new(&about, (8U << 20), &recording);
	if (r == 0)
		r = fill(recording, truth);
	if (r == 0)
		r = perf_data_machine_new("/proc", "/sys", "make_zoom", &machine);
	return r == 0 ? perf_data_write(recording, &machine->host, ret, ret_size) : r;
}

int main(int argc, char **argv)
{
	_cleanup_fclose_ FILE *file = NULL;
	_cleanup_free_ u8 *bytes = NULL;
	struct truth truth = {0};
	size_t size = 0;
	int r;

	if (argc != 2)
		return 2;
	/* Call the functions, so that the compiler keeps them. */
	rows[1] = serve_request(rows, 8);
	r = make(&truth, &bytes, &size);
	if (r < 0) {
		(void)fprintf(stderr, "make_zoom: %s\n", strerror(-r));
		return 1;
	}
	file = fopen(argv[1], "we");
	if (!file || fwrite(bytes, 1, size, file) != size || fflush(file) != 0) {
		perror("make_zoom");
		return 1;
	}
	(void)printf("samples mem-loads %" PRIu64 " %" PRIu64 "\n", (uint64_t)truth.loads,
		     (uint64_t)truth.latency);
	(void)printf("samples mem-stores %" PRIu64 " 0\n", (uint64_t)truth.stores);
	for (size_t i = 0; i < ARRAY_SIZE(functions); i++)
		(void)printf("function %s %" PRIu64 " %" PRIu64 "\n", functions[i].name,
			     (uint64_t)functions[i].samples, (uint64_t)functions[i].latency);
	(void)printf("hitm %" PRIu64 "\n", (uint64_t)truth.hitm);
	(void)printf("comm zoomed %" PRIu64 "\ncomm forked %" PRIu64 "\n", (uint64_t)(SAMPLES - truth.child),
		     (uint64_t)truth.child);
	return 0;
}

// SPDX-License-Identifier: GPL-2.0
#include "origin/probe/perf_trial.h"

#include <errno.h>
#include <sched.h>

#include <bpf/btf.h>

#include "base/cleanup.h"
#include "base/monotonic.h"
#include "origin/perf/perf_backend.h"
#include "origin/perf/perf_cpu.h"
#include "origin/pmu/perf_attr.h"

DEFINE_CLEANUP(struct btf *, btf__free)

int perf_trial(const struct event_spec *spec, int program_fd, struct perf_trial *ret)
{
	*ret = (struct perf_trial){0};
	for (int cpu = cpu_list_next(&spec->cpus, -1); cpu >= 0 && ret->opened < PERF_TRIAL_CPUS;
	     cpu = cpu_list_next(&spec->cpus, cpu)) {
		u64 start_ns = monotonic_ns();
		struct perf_cpu event;
		int r;

		r = perf_cpu_open(spec, cpu, &event);
		if (r == -ENODEV) /* the CPU went offline in the meantime */
			continue;
		if (r < 0)
			return r;
		r = perf_cpu_start(&event, program_fd);
		ret->ns += monotonic_ns() - start_ns;
		ret->opened++;
		if (r >= 0) {
			perf_cpu_read(&event, true);
			if (event.outage.in_error)
				cpu_list_add(&ret->in_error, cpu);
		}
		perf_cpu_close(&event);
		if (r < 0)
			return r;
	}
	return 0;
}

static int open_once(const struct perf_event_attr *attr, int cpu)
{
	int fd = perf_backend_cpu(attr, cpu, -1);

	if (fd < 0)
		return fd;
	(void)close(fd);
	return 0;
}

int perf_trial_counter(const struct pmu_counter *counter, int cpu)
{
	struct perf_event_attr attr;

	perf_attr_counter(counter, &attr);
	return open_once(&attr, cpu);
}

int perf_trial_permission(void)
{
	struct perf_event_attr attr;
	int cpu = sched_getcpu();

	perf_attr_permission(&attr);
	return open_once(&attr, cpu < 0 ? 0 : cpu);
}

u64 perf_trial_event_bytes(void)
{
	static const char *const names[] = {"perf_event", "file", "perf_buffer"};
	_cleanup_(btf__freep) struct btf *btf = btf__load_vmlinux_btf();
	u64 bytes = 0;

	if (!btf)
		return 0;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		int id = btf__find_by_name_kind(btf, names[i], BTF_KIND_STRUCT);

		if (id < 0)
			return 0;
		bytes += btf__type_by_id(btf, (u32)id)->size;
	}
	return bytes;
}

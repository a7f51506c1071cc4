// SPDX-License-Identifier: GPL-2.0
#include "core.h"

#include <linux/debugfs.h>
#include <linux/jhash.h>
#include <linux/module.h>
#include <linux/seq_file.h>
#include <linux/vmalloc.h>

#include "kernel_symbols.h"
#include "places.h"
#include "sample.h"
#include "touched.h"

int touched_open(struct core_touched *touched)
{
	touched->table = vzalloc(array_size(TOUCHED_MAX, sizeof(*touched->table)));
	return touched->table ? 0 : -ENOMEM;
}

void touched_close(struct core_touched *touched)
{
	vfree(touched->table);
	touched->table = NULL;
}

void touched_reset(struct core_touched *touched)
{
	memset(touched->table, 0, array_size(TOUCHED_MAX, sizeof(*touched->table)));
	touched->full = 0;
}

static bool is_same(const struct touched *one, const struct touched *key)
{
	return one->event == key->event && one->tid == key->tid && one->cgroup == key->cgroup &&
	       one->ip == key->ip && one->address == key->address;
}

static struct touched *find(struct core_touched *touched, const struct touched *key)
{
	const u64 words[] = {key->cgroup, key->ip, key->address};
	u32 at = jhash(words, sizeof(words), key->event ^ key->tid);

	for (unsigned int tries = 0; tries < TOUCHED_MAX; tries++, at++) {
		struct touched *one = &touched->table[at & (TOUCHED_MAX - 1)];

		if (one->used && is_same(one, key))
			return one;
		if (one->used)
			continue;
		*one = *key;
		smp_store_release(&one->used, true);
		return one;
	}
	return NULL;
}

void touched_sample(struct core_touched *touched, const struct perf_event *event, u64 ip, u64 address,
		    const struct sample_figures *figures)
{
	struct touched key = {.event = books_event_code(event),
			      .tid = (u32)task_pid_nr(current),
			      .ip = ip,
			      .address = address};
	struct touched *one;

	if (!places_of_current())
		return;
	key.cgroup = books_current_cgroup();
	one = find(touched, &key);
	if (!one) {
		touched->full++;
		return;
	}
	one->samples++;
	if (*this_cpu_ptr(kernel_symbols.bpf_prog_active)) {
		one->guarded++;
		return;
	}
	one->latency += figures->latency;
	one->hitm += figures->has_source && figures->source.snoop == SNOOP_HITM;
}

static void put(struct seq_file *file, int cpu, const struct touched *one)
{
	seq_printf(file, "{\"cpu\":%d,\"event\":\"%s0x%x\",\"cgroup\":%llu,\"tid\":%u", cpu,
		   one->event & BOOKS_OF_CGROUP ? "cgroup:" : "", one->event & 0xffff, one->cgroup, one->tid);
	seq_printf(file, ",\"ip\":\"0x%llx\",\"address\":\"0x%llx\"", one->ip, one->address);
	seq_printf(file, ",\"samples\":%llu,\"guarded\":%llu,\"latency\":%llu,\"hitm\":%llu}\n", one->samples,
		   one->guarded, one->latency, one->hitm);
}

static int touched_lines_show(struct seq_file *file, void *unused)
{
	int cpu;

	for_each_possible_cpu(cpu)
	{
		const struct core_touched *touched = &per_cpu(cores, cpu)->touched;

		for (unsigned int i = 0; i < TOUCHED_MAX; i++)
			if (smp_load_acquire(&touched->table[i].used))
				put(file, cpu, &touched->table[i]);
		if (touched->full)
			seq_printf(file, "{\"cpu\":%d,\"full\":%llu}\n", cpu, touched->full);
	}
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(touched_lines);

void touched_file_open(struct dentry *directory)
{
	debugfs_create_file("touched", 0444, directory, NULL, &touched_lines_fops);
}

// SPDX-License-Identifier: GPL-2.0
#include "core.h"

#include <linux/cgroup.h>
#include <linux/debugfs.h>
#include <linux/module.h>
#include <linux/seq_file.h>

#include "counted.h"

static u64 count_of(const struct core *core, int counter)
{
	return counter_is_fixed(counter) ? core->unit.fixed[counter - PEBS_FIXED_0].count
					 : core->unit.general[counter].count;
}

static bool counts(const struct core *core, int counter)
{
	return (core->active >> counter & 1) && core->events[counter] &&
	       !is_sampling_event(core->events[counter]);
}

void counted_begin(struct core *core)
{
	for (int i = 0; i < COUNTERS_END; i++)
		if (counts(core, i))
			core->counted.before[i] = count_of(core, i);
}

static struct counted_book *counted_find(struct counted *counted, u64 cgroup, const struct perf_event *event)
{
	u64 extra = event->hw.extra_reg.reg ? event->hw.extra_reg.config : 0;
	u16 code = (u16)(event->attr.config & 0xffff);

	for (int i = 0; i < COUNTED_MAX; i++) {
		struct counted_book *book = &counted->books[i];

		if (book->used && book->cgroup == cgroup && book->event == code && book->extra == extra)
			return book;
		if (book->used)
			continue;
		book->cgroup = cgroup;
		book->event = code;
		book->extra = extra;
		smp_store_release(&book->used, true);
		return book;
	}
	counted->full++;
	return NULL;
}

void counted_end(struct core *core)
{
	u64 mask = (1ULL << core->machine->counter_bits) - 1;
	u64 cgroup;

	rcu_read_lock();
	cgroup = cgroup_id(task_dfl_cgroup(current));
	rcu_read_unlock();
	for (int i = 0; i < COUNTERS_END; i++) {
		struct counted_book *book;
		u64 moved;

		if (!counts(core, i))
			continue;
		moved = (count_of(core, i) - core->counted.before[i]) & mask;
		book = moved ? counted_find(&core->counted, cgroup, core->events[i]) : NULL;
		if (book)
			book->count += moved;
	}
}

static int counted_show(struct seq_file *file, void *unused)
{
	int cpu;

	for_each_possible_cpu(cpu)
	{
		const struct counted *counted = &per_cpu(cores, cpu)->counted;

		for (int i = 0; i < COUNTED_MAX; i++) {
			const struct counted_book *book = &counted->books[i];

			if (!smp_load_acquire(&book->used))
				break;
			seq_printf(file, "{\"cpu\":%d,\"event\":\"0x%x\",\"extra\":\"0x%llx\"", cpu,
				   book->event, book->extra);
			seq_printf(file, ",\"cgroup\":%llu,\"count\":%llu}\n", book->cgroup, book->count);
		}
		if (counted->full)
			seq_printf(file, "{\"cpu\":%d,\"full\":%llu}\n", cpu, counted->full);
	}
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(counted);

void counted_file_open(struct dentry *directory)
{
	debugfs_create_file("counted", 0444, directory, NULL, &counted_fops);
}

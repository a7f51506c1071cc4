// SPDX-License-Identifier: GPL-2.0
/*
 * Finds the cgroups that hold virtual machines: an iterator over all threads of the system lists the cgroup
 * of each thread that has run a guest. The kernel adds the time in a guest to the gtime of the thread, from
 * the first timer tick in the guest on (account_guest_time(), kernel/sched/cputime.c). Only KVM increases
 * gtime. Unlike a map system call, an iterator does not disable perf_event programs while it
 * runs (bpf_iter_run_prog(), kernel/bpf/bpf_iter.c, Linux 6.1 to 7.3).
 */
#include <stdbool.h>

#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#include "kernel_types.h"

char LICENSE[] SEC("license") = "GPL";

/* Lists the cgroups of all threads. For tests on machines that run no guest. */
const volatile bool every_thread = false;

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct css_set___guest {
	struct cgroup *dfl_cgrp;
};

struct task_struct___guest {
	u64 gtime;
	struct css_set___guest *cgroups;
};

struct bpf_iter_meta {
	struct seq_file *seq;
};

struct bpf_iter__task {
	struct bpf_iter_meta *meta;
	struct task_struct___guest *task;
};

#pragma clang attribute pop

SEC("iter/task")
int guest_cgroups(struct bpf_iter__task *context)
{
	struct task_struct___guest *task = context->task;
	u64 id;

	if (!task || (!every_thread && task->gtime == 0))
		return 0;
	id = task->cgroups->dfl_cgrp->kn->id;
	(void)bpf_seq_write(context->meta->seq, &id, sizeof(id));
	return 0;
}

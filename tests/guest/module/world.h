// SPDX-License-Identifier: GPL-2.0
/*
 * What happens on a CPU: time passes, and with it events of each counter, so many a second; then, where a
 * counter is about to overflow, instructions of the workload that the running task's name stands for retire
 * one by one, until the record is written. The idle task executes nothing.
 */
#ifndef PEBS_MACHINE_WORLD_H
#define PEBS_MACHINE_WORLD_H

struct core;
struct task_struct;
struct workload;

void world_setup(struct core *core);

/* A counter was started: time passes for it from now on. On the core's CPU, interrupts off. */
void world_start(struct core *core);

/* What the task does: the workload of its name. */
struct workload *world_workload(struct core *core, const struct task_struct *task);

/* Follows CPUs that come and go; the number to hand to world_close(), or -errno. */
int world_open(void);
void world_close(int state);

/* Waits until no CPU's world is at work. */
void world_settle(void);

#endif

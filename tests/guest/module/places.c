// SPDX-License-Identifier: GPL-2.0
#include "core.h"

#include <linux/debugfs.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/pid.h>
#include <linux/sched.h>
#include <linux/uaccess.h>

#include "places.h"

#define LINE_MAX 256

/* Of an access to the stack: over the daemon's threshold, or it would be in no sample. */
#define STACK_LOW  31
#define STACK_HIGH 60

/* What an instruction takes besides its access. */
#define RETIREMENT 5

struct places_task {
	pid_t tid;      /* 0: free */
	u64 start_time; /* of the task: another one may have the number later */
	unsigned int n;
	struct places_range ranges[PLACES_MAX];
};

static struct places_task tasks[PLACES_TASKS];
static DEFINE_MUTEX(tasks_mutex);

static const struct {
	const char *name;
	enum place place;
	enum asked asked;
} sources[] = {
	{"l1", PLACE_L1, ASKED_NONE},
	{"l2", PLACE_L2, ASKED_NONE},
	{"l3", PLACE_L3, ASKED_NONE},
	{"dram", PLACE_LOCAL_DRAM, ASKED_NONE},
	{"remote-dram", PLACE_REMOTE_DRAM, ASKED_NONE},
	{"hitm", PLACE_L3, ASKED_MODIFIED},
	{"remote-hitm", PLACE_REMOTE_CACHE, ASKED_MODIFIED},
};

static bool is_of_current(struct places_task *task)
{
	return smp_load_acquire(&task->tid) == task_pid_nr(current) &&
	       task->start_time == current->start_time;
}

static struct places_task *find_current(void)
{
	for (int i = 0; i < PLACES_TASKS; i++)
		if (is_of_current(&tasks[i]))
			return &tasks[i];
	return NULL;
}

const struct places_task *places_of_current(void)
{
	return find_current();
}

static const struct places_range *find_range(const struct places_task *task,
					     const struct pt_regs *interrupted)
{
	unsigned int n = smp_load_acquire(&task->n);

	/* user_mode() takes no constant registers in some kernels. */
	if (!user_mode((struct pt_regs *)interrupted))
		return NULL;
	for (unsigned int i = 0; i < n; i++)
		if (interrupted->ip >= task->ranges[i].start && interrupted->ip < task->ranges[i].end)
			return &task->ranges[i];
	return NULL;
}

static u64 one_address(const struct places_range *range, struct random *random)
{
	u64 lines = range->span / 64;

	return lines ? range->address + 64 * random_below(random, (u32)lines) : range->address;
}

void places_play(const struct places_task *task, const struct pt_regs *interrupted, struct random *random,
		 struct retired *retired)
{
	const struct places_range *range = find_range(task, interrupted);
	u32 low = range ? range->low : STACK_LOW;
	u32 high = range ? range->high : STACK_HIGH;

	retired->ip = interrupted->ip;
	retired->next_ip = interrupted->ip;
	if (retired->operation == OPERATION_NONE)
		return;
	if (range) {
		retired->ip = range->ip;
		retired->next_ip = range->next_ip;
	}
	retired->address = range ? one_address(range, random) : round_down(interrupted->sp, sizeof(u64));
	retired->place = range ? range->place : PLACE_L1;
	retired->asked = range ? range->asked : ASKED_NONE;
	retired->translated = TRANSLATED_L1;
	retired->locked = false;
	retired->data_blocked = false;
	retired->address_blocked = false;
	retired->latency = low + random_below(random, high - low + 1);
	retired->instruction_latency = retired->latency + RETIREMENT;
}

static bool is_gone(const struct places_task *task)
{
	const struct task_struct *found;
	bool gone;

	rcu_read_lock();
	found = pid_task(find_pid_ns(task->tid, &init_pid_ns), PIDTYPE_PID);
	gone = !found || found->start_time != task->start_time;
	rcu_read_unlock();
	return gone;
}

/* A free place, or one whose task has ended and thus is not looked for any more. */
static struct places_task *new_task(void)
{
	for (int i = 0; i < PLACES_TASKS; i++) {
		struct places_task *task = &tasks[i];

		if (task->tid && !is_gone(task))
			continue;
		WRITE_ONCE(task->tid, 0);
		task->n = 0;
		task->start_time = current->start_time;
		smp_store_release(&task->tid, task_pid_nr(current));
		return task;
	}
	return NULL;
}

static int parse(const char *line, struct places_range *ret)
{
	char source[16];

	if (sscanf(line, "%llx %llx %llx %llx %llx %llu %15s %u %u", &ret->start, &ret->end, &ret->ip,
		   &ret->next_ip, &ret->address, &ret->span, source, &ret->low, &ret->high) != 9)
		return -EINVAL;
	if (ret->start >= ret->end || ret->low > ret->high || ret->high > U16_MAX || ret->span > U32_MAX)
		return -EINVAL;
	for (size_t i = 0; i < ARRAY_SIZE(sources); i++) {
		if (strcmp(sources[i].name, source) != 0)
			continue;
		ret->place = sources[i].place;
		ret->asked = sources[i].asked;
		return 0;
	}
	return -EINVAL;
}

static int add(const struct places_range *range)
{
	struct places_task *task = find_current();

	if (!task)
		task = new_task();
	if (!task || task->n == PLACES_MAX)
		return -ENOSPC;
	task->ranges[task->n] = *range;
	smp_store_release(&task->n, task->n + 1);
	return 0;
}

static ssize_t places_write(struct file *file, const char __user *text, size_t size, loff_t *offset)
{
	struct places_range range;
	char line[LINE_MAX];
	int r;

	if (size >= sizeof(line))
		return -EINVAL;
	if (copy_from_user(line, text, size))
		return -EFAULT;
	line[size] = '\0';
	r = parse(line, &range);
	if (r < 0)
		return r;
	mutex_lock(&tasks_mutex);
	r = add(&range);
	mutex_unlock(&tasks_mutex);
	return r < 0 ? r : (ssize_t)size;
}

static const struct file_operations places_fops = {.owner = THIS_MODULE, .write = places_write};

void places_file_open(struct dentry *directory)
{
	debugfs_create_file("places", 0200, directory, NULL, &places_fops);
}

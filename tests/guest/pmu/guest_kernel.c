// SPDX-License-Identifier: GPL-2.0
#include "guest_kernel.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct field {
	const char *name;
	size_t offset;
};

#define FIELD_(name) {#name, offsetof(struct guest_kernel, name)},
static const struct field fields[] = {GUEST_KERNEL_FIELDS(FIELD_)};
#undef FIELD_

#define FIELDS (sizeof(fields) / sizeof(fields[0]))

int guest_kernel_parse(struct guest_kernel *kernel, const char *text)
{
	struct guest_kernel parsed = {0};
	u64 found = 0;

	while (*text) {
		size_t length = strcspn(text, "=");
		size_t i;
		char *end;
		u64 value;

		for (i = 0; i < FIELDS; i++)
			if (strlen(fields[i].name) == length && strncmp(fields[i].name, text, length) == 0)
				break;
		if (i == FIELDS || text[length] != '=')
			return -EINVAL;
		value = strtoull(text + length + 1, &end, 16);
		if (end == text + length + 1)
			return -EINVAL;
		memcpy((char *)&parsed + fields[i].offset, &value, sizeof(value));
		found |= 1ULL << i;
		text = end + strspn(end, " \n");
	}
	if (found != (1ULL << FIELDS) - 1)
		return -EINVAL;
	parsed.known = true;
	*kernel = parsed;
	return 0;
}

/* Returns 0 if the word cannot be read. */
static u64 word_at(const struct guest_memory *memory, u64 address)
{
	u64 word = 0;

	return !address || memory->read(memory->owner, address, &word, sizeof(word)) ? 0 : word;
}

static u64 of_cpu(const struct guest_kernel *kernel, const struct guest_memory *memory, u64 symbol,
		  unsigned int cpu)
{
	return symbol + word_at(memory, kernel->per_cpu_offset + 8ULL * cpu);
}

struct guest_task guest_kernel_task(const struct guest_kernel *kernel, const struct guest_memory *memory,
				    unsigned int cpu)
{
	struct guest_task task = {0};
	u64 address, cgroup;

	if (!kernel->known)
		return task;
	address = word_at(memory, of_cpu(kernel, memory, kernel->current_task, cpu));
	if (!address)
		return task;
	cgroup = word_at(memory, word_at(memory, address + kernel->task_cgroups) + kernel->css_set_cgroup);
	task.cgroup = word_at(memory, word_at(memory, cgroup + kernel->cgroup_kn) + kernel->kernfs_node_id);
	if (memory->read(memory->owner, address + kernel->task_pid, &task.pid, sizeof(task.pid)) ||
	    memory->read(memory->owner, address + kernel->task_comm, task.comm, sizeof(task.comm)))
		return (struct guest_task){0};
	task.comm[GUEST_COMM - 1] = '\0';
	memset(task.comm + strlen(task.comm), 0, GUEST_COMM - strlen(task.comm));
	return task;
}

struct guest_event guest_kernel_event(const struct guest_kernel *kernel, const struct guest_memory *memory,
				      unsigned int cpu, unsigned int counter)
{
	struct guest_event event = {0};
	u64 address;

	if (!kernel->known)
		return event;
	address = word_at(memory, of_cpu(kernel, memory, kernel->cpu_hw_events, cpu) + kernel->events +
					  8ULL * counter);
	if (!address)
		return event;
	event.of_cgroup = word_at(memory, address + kernel->event_cgroup) != 0;
	event.other = word_at(memory, address + kernel->event_program) == 0;
	event.period = word_at(memory, address + kernel->event_period);
	event.sample_type = word_at(memory, address + kernel->event_sample_type);
	return event;
}

bool guest_kernel_in_bpf(const struct guest_kernel *kernel, const struct guest_memory *memory,
			 unsigned int cpu)
{
	int active = 0;

	return kernel->known &&
	       !memory->read(memory->owner, of_cpu(kernel, memory, kernel->bpf_prog_active, cpu), &active,
			     sizeof(active)) &&
	       active != 0;
}

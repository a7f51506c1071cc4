// SPDX-License-Identifier: GPL-2.0
#include "origin/replay/replay_names.h"

#include <errno.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

/* perf's name for the idle task, which runs when no other task does. */
#define IDLE_COMM    "swapper"
#define UNKNOWN_COMM "unknown"

struct node {
	const char *text; /* owned by the name */
	u32 index;
};

static int compare(const void *a, const void *b)
{
	return strcmp(((const struct node *)a)->text, ((const struct node *)b)->text);
}

void replay_names_clear(struct replay_names *names)
{
	tdestroy(names->by_text, free);
	for (size_t i = 0; i < names->n; i++)
		free(names->list[i].text);
	free(names->list);
	number_map_clear(&names->ids);
	*names = (struct replay_names){};
}

void replay_machine_clear(struct replay_machine *machine)
{
	free(machine->comms);
	number_map_clear(&machine->cgroups);
	*machine = (struct replay_machine){};
}

/* Adds a name that is not in the set. Takes ownership of `text` on success. */
static int add_name(struct replay_names *names, char *text)
{
	_cleanup_free_ struct node *node = NULL;
	struct replay_name *list;

	if (names->n == names->capacity) {
		size_t capacity = names->capacity ? 2 * names->capacity : 64;

		list = reallocarray(names->list, capacity, sizeof(*list));
		if (!list)
			return -ENOMEM;
		names->list = list;
		names->capacity = capacity;
	}
	node = malloc(sizeof(*node));
	if (!node)
		return -ENOMEM;
	*node = (struct node){.text = text, .index = (u32)names->n};
	if (!tsearch(node, &names->by_text, compare))
		return -ENOMEM;
	TAKE_PTR(node);
	names->bytes += strlen(text) + REPLAY_NAME_OVERHEAD;
	names->list[names->n++] = (struct replay_name){.text = text};
	return 0;
}

int replay_names_index(struct replay_names *names, const char *prefix, const char *text, size_t length,
		       u32 *ret)
{
	_cleanup_free_ char *name = NULL;
	struct node wanted;
	struct node *const *found;
	int r;

	if (asprintf(&name, "%s%.*s", prefix, (int)length, text) < 0) {
		name = NULL;
		return -ENOMEM;
	}
	wanted = (struct node){.text = name};
	found = tfind(&wanted, &names->by_text, compare);
	if (found) {
		*ret = (*found)->index;
		return 0;
	}
	if (names->bytes > REPLAY_NAMES_BYTES_MAX)
		return -E2BIG;
	r = add_name(names, name);
	if (r < 0)
		return r;
	TAKE_PTR(name);
	*ret = (u32)names->n - 1;
	return 0;
}

int replay_names_comm(struct replay_names *names, const char *comm, size_t length, u32 *ret)
{
	return replay_names_index(names, "comm:", comm, length < REPLAY_COMM_MAX ? length : REPLAY_COMM_MAX,
				  ret);
}

int replay_names_id(struct replay_names *names, u32 index, u64 recorded, bool *ret_new)
{
	struct replay_name *name = &names->list[index];
	u64 id = recorded;
	u64 taken;
	int r;

	*ret_new = false;
	if (name->id)
		return 0;
	if (!id || (id & REPLAY_SYNTHETIC_ID) || number_map_get(&names->ids, id, &taken))
		id = REPLAY_SYNTHETIC_ID | (names->n_synthetic + 1);
	r = number_map_set(&names->ids, id, index);
	if (r < 0)
		return r;
	if (id & REPLAY_SYNTHETIC_ID)
		names->n_synthetic++;
	name->id = id;
	*ret_new = true;
	return 0;
}

static u32 comm_of(const struct replay_machine *machine, u32 tid)
{
	return tid < machine->n_comms ? machine->comms[tid] : 0;
}

static int set_comm(struct replay_machine *machine, u32 tid, u32 comm)
{
	u32 *comms;
	size_t n;

	/*
	 * Ignore the kernel's number for a task that has already exited, and numbers that no kernel writes.
	 */
	if (tid > REPLAY_TID_MAX)
		return 0;
	if (tid >= machine->n_comms) {
		/* At least double the size, so that growing stays cheap. */
		n = tid + 1 > 2 * machine->n_comms ? tid + 1 : 2 * machine->n_comms;
		comms = reallocarray(machine->comms, n, sizeof(*comms));
		if (!comms)
			return -ENOMEM;
		memset(comms + machine->n_comms, 0, (n - machine->n_comms) * sizeof(*comms));
		machine->comms = comms;
		machine->n_comms = n;
	}
	machine->comms[tid] = comm;
	return 0;
}

int replay_machine_set_comm(struct replay_machine *machine, u32 tid, u32 name)
{
	return set_comm(machine, tid, name + 1);
}

int replay_machine_set_path(struct replay_machine *machine, u64 id, u32 name)
{
	if (machine->cgroups.n >= REPLAY_CGROUPS_MAX)
		return -E2BIG;
	return number_map_set(&machine->cgroups, id, name);
}

int replay_machine_fork(struct replay_machine *machine, u32 tid, u32 parent_tid)
{
	/* If the parent's comm is not known, this forgets the comm of an earlier task with this tid. */
	return set_comm(machine, tid, comm_of(machine, parent_tid));
}

int replay_machine_cgroup(const struct replay_machine *machine, struct replay_names *names, u64 id, u32 *ret)
{
	char number[32];
	u64 index;
	int length;

	if (number_map_get(&machine->cgroups, id, &index)) {
		*ret = (u32)index;
		return 0;
	}
	length = snprintf(number, sizeof(number), "%llu", (unsigned long long)id);
	return replay_names_index(names, "cgroup:", number, (size_t)length, ret);
}

int replay_machine_comm(const struct replay_machine *machine, struct replay_names *names, u32 tid, u32 *ret)
{
	const char *comm = tid ? UNKNOWN_COMM : IDLE_COMM;
	u32 known = comm_of(machine, tid);

	if (known) {
		*ret = known - 1;
		return 0;
	}
	return replay_names_comm(names, comm, strlen(comm), ret);
}

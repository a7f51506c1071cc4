// SPDX-License-Identifier: GPL-2.0
#include "hot/hot_choices.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum choice_state { FREE, CHOSEN, RESTING };

struct choice {
	enum choice_state state;
	u32 slot;
	char *path; /* valid while the slot is chosen */
	bool configured;
	u64 since_ns;
	u64 until_ns; /* end of the latest request; 0: none */
	u64 released_ns;
};

struct hot_choices {
	struct kernel *kernel;
	bool freed; /* tables became free since the last hot_choices_tend() */
	size_t n;
	struct choice list[HOT_MAX];
};

int hot_choices_new(struct kernel *kernel, struct hot_choices **ret)
{
	struct hot_choices *choices = calloc(1, sizeof(*choices));

	if (!choices)
		return -ENOMEM;
	choices->kernel = kernel;
	choices->n = kernel_hot_max(kernel);
	*ret = choices;
	return 0;
}

struct hot_choices *hot_choices_free(struct hot_choices *choices)
{
	if (!choices)
		return NULL;
	for (size_t i = 0; i < choices->n; i++)
		free(choices->list[i].path);
	free(choices);
	return NULL;
}

static struct choice *choice_of(const struct hot_choices *choices, u32 slot)
{
	for (size_t i = 0; i < choices->n; i++)
		if (choices->list[i].state == CHOSEN && choices->list[i].slot == slot)
			return (struct choice *)&choices->list[i];
	return NULL;
}

/* Clears tables that have rested: they are free now. */
static void clear_rested(struct hot_choices *choices, u64 now_ns)
{
	for (size_t i = 0; i < choices->n; i++) {
		struct choice *choice = &choices->list[i];

		if (choice->state != RESTING || now_ns < choice->released_ns + KERNEL_REST_NS)
			continue;
		kernel_hot_clear(choices->kernel, (u32)i);
		choice->state = FREE;
		choices->freed = true;
	}
}

static void ask(struct choice *choice, u64 until_ns)
{
	if (until_ns == 0)
		choice->configured = true;
	else if (until_ns > choice->until_ns)
		choice->until_ns = until_ns;
}

int hot_choices_choose(struct hot_choices *choices, u32 slot, const char *path, u64 until_ns, u64 now_ns)
{
	struct choice *choice = choice_of(choices, slot);
	size_t i = 0;
	char *copy;
	int r;

	if (choices->n == 0)
		return -EOPNOTSUPP;
	if (choice) {
		ask(choice, until_ns);
		return 0;
	}
	clear_rested(choices, now_ns);
	while (i < choices->n && choices->list[i].state != FREE)
		i++;
	if (i == choices->n)
		return -ENOSPC;
	copy = strdup(path);
	if (!copy)
		return -ENOMEM;
	r = kernel_hot_choose(choices->kernel, slot, (u32)i);
	if (r < 0) {
		free(copy);
		return r;
	}
	choices->list[i] = (struct choice){.state = CHOSEN, .slot = slot, .path = copy, .since_ns = now_ns};
	ask(&choices->list[i], until_ns);
	return 0;
}

static void release(struct hot_choices *choices, struct choice *choice, u64 now_ns)
{
	kernel_hot_release(choices->kernel, choice->slot);
	free(choice->path);
	*choice = (struct choice){.state = RESTING, .released_ns = now_ns};
}

void hot_choices_release(struct hot_choices *choices, u32 slot, u64 now_ns)
{
	struct choice *choice = choice_of(choices, slot);

	if (choice)
		release(choices, choice, now_ns);
}

void hot_choices_unconfigure(struct hot_choices *choices, u32 slot, u64 now_ns)
{
	struct choice *choice = choice_of(choices, slot);

	if (!choice || !choice->configured)
		return;
	choice->configured = false;
	if (choice->until_ns <= now_ns)
		release(choices, choice, now_ns);
}

bool hot_choices_tend(struct hot_choices *choices, u64 now_ns)
{
	bool freed;

	for (size_t i = 0; i < choices->n; i++) {
		struct choice *choice = &choices->list[i];

		if (choice->state == CHOSEN && !choice->configured && choice->until_ns <= now_ns)
			release(choices, choice, now_ns);
	}
	clear_rested(choices, now_ns);
	freed = choices->freed;
	choices->freed = false;
	return freed;
}

bool hot_choices_resting(const struct hot_choices *choices)
{
	for (size_t i = 0; i < choices->n; i++)
		if (choices->list[i].state == RESTING)
			return true;
	return false;
}

bool hot_choices_has(const struct hot_choices *choices, u32 slot, bool *ret_configured)
{
	const struct choice *choice = choice_of(choices, slot);

	*ret_configured = choice && choice->configured;
	return choice;
}

bool hot_choices_find(const struct hot_choices *choices, const char *path, struct hot_choice *ret)
{
	bool found = false;

	for (size_t i = 0; i < choices->n; i++) {
		const struct choice *choice = &choices->list[i];

		if (choice->state != CHOSEN || strcmp(choice->path, path) != 0)
			continue;
		if (!found)
			*ret = (struct hot_choice){.since_ns = choice->since_ns};
		if (choice->since_ns < ret->since_ns)
			ret->since_ns = choice->since_ns;
		if (choice->until_ns > ret->until_ns)
			ret->until_ns = choice->until_ns;
		ret->configured = ret->configured || choice->configured;
		found = true;
	}
	if (found && ret->configured)
		ret->until_ns = 0;
	return found;
}

const char *hot_choices_nth(const struct hot_choices *choices, size_t index)
{
	for (size_t i = 0; i < choices->n; i++)
		if (choices->list[i].state == CHOSEN && index-- == 0)
			return choices->list[i].path;
	return NULL;
}

int hot_choices_places(const struct hot_choices *choices, const char *path, unsigned event,
		       enum hot_kind kind, struct hot_places *ret)
{
	const struct kernel_settings *settings = kernel_settings(choices->kernel);
	u32 cpus = kernel_hot_cpus(choices->kernel);
	_cleanup_free_ const struct hot_table **tables = NULL;
	size_t n = 0;

	if (event >= settings->n_events || !(kind == HOT_CODE ? settings->events[event].has_code_address
							      : settings->events[event].has_address))
		return -EOPNOTSUPP;
	tables = calloc(choices->n * cpus + 1, sizeof(*tables));
	if (!tables)
		return -ENOMEM;
	for (u32 cpu = 0; cpu < cpus; cpu++)
		for (size_t i = 0; i < choices->n; i++)
			if (choices->list[i].state == CHOSEN && strcmp(choices->list[i].path, path) == 0)
				tables[n++] = kernel_hot_table(choices->kernel, (u32)i, event, cpu);
	if (n == 0)
		return -ENODATA;
	/* Injected samples have no CPU, and share one table. */
	return hot_places_read(tables, n, settings->hardware ? cpus : 0, kind,
			       settings->events[event].has_latency, ret);
}

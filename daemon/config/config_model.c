// SPDX-License-Identifier: GPL-2.0
#include "config/config_model.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/config_words.h"
#include "model/workload.h"

#define ALL "all"

static int refuse_unable(const struct config_key *key, const struct machine *machine,
			 const char *const *words, size_t n, char **ret_problem)
{
	_cleanup_free_ char *list = config_words_join(words, n);

	if (!list || asprintf(ret_problem, "%s = %s: %s; use one of %s (%s)", key->name, machine->name,
			      machine_refusal(machine), list, key->meaning) < 0)
		return -ENOMEM;
	return -EINVAL;
}

int config_model_cpu(const struct config_key *key, const char *text, const struct machine **ret,
		     char **ret_problem)
{
	const struct machine *machine = machine_find(text);
	_cleanup_free_ const char **able = calloc(machines_count, sizeof(*able));
	size_t n = 0;

	if (!able)
		return -ENOMEM;
	for (size_t i = 0; i < machines_count; i++)
		if (!machine_refusal(&machines[i]))
			able[n++] = machines[i].name;
	if (!machine)
		return config_words_refuse(key, text, able, n, ret_problem);
	if (machine_refusal(machine))
		return refuse_unable(key, machine, able, n, ret_problem);
	*ret = machine;
	return 0;
}

int config_model_workloads(const struct config_key *key, const char *text, unsigned int *ret,
			   char **ret_problem)
{
	const char *words[WORKLOAD_COUNT + 1] = {ALL};
	_cleanup_free_ char *copy = strdup(text);
	unsigned int workloads = 0;
	char *rest = copy;
	char *word;

	if (!copy)
		return -ENOMEM;
	memcpy(&words[1], workload_names, sizeof(workload_names));
	while ((word = strsep(&rest, " \t"))) {
		int kind = workload_find(word);

		if (!*word)
			continue;
		if (strcmp(word, ALL) == 0)
			workloads |= (1U << WORKLOAD_COUNT) - 1;
		else if (kind >= 0)
			workloads |= 1U << kind;
		else
			return config_words_refuse(key, word, words, ARRAY_SIZE(words), ret_problem);
	}
	*ret = workloads;
	return 0;
}

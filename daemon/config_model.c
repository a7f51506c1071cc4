// SPDX-License-Identifier: GPL-2.0
#include "config_model.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/suggest.h"
#include "model/workload.h"

#define ALL "all"

/* "a, b, c", the caller's to free; NULL: no memory. */
static char *join(const char *const *words, size_t n)
{
	char *text = NULL;
	size_t bytes;
	FILE *stream = open_memstream(&text, &bytes);

	if (!stream)
		return NULL;
	for (size_t i = 0; i < n; i++)
		(void)fprintf(stream, "%s%s", i ? ", " : "", words[i]);
	if (fclose(stream) == 0)
		return text;
	free(text);
	return NULL;
}

/* `word` is none of `words`: they are listed, after the one that may be meant. */
static int refuse_unknown(const struct config_key *key, const char *word, const char *const *words, size_t n,
			  char **ret_problem)
{
	const char *near = suggest_nearest(word, words, n);
	_cleanup_free_ char *list = join(words, n);
	int length;

	if (!list)
		return -ENOMEM;
	if (near)
		length = asprintf(ret_problem, "%s = %s: unknown; did you mean %s? There are %s (%s)",
				  key->name, word, near, list, key->meaning);
	else
		length = asprintf(ret_problem, "%s = %s: unknown; there are %s (%s)", key->name, word, list,
				  key->meaning);
	return length < 0 ? -ENOMEM : -EINVAL;
}

static int refuse_unable(const struct config_key *key, const struct machine *machine,
			 const char *const *words, size_t n, char **ret_problem)
{
	_cleanup_free_ char *list = join(words, n);

	if (!list || asprintf(ret_problem, "%s = %s: %s; give one of %s (%s)", key->name, machine->name,
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
		return refuse_unknown(key, text, able, n, ret_problem);
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
			return refuse_unknown(key, word, words, ARRAY_SIZE(words), ret_problem);
	}
	*ret = workloads;
	return 0;
}

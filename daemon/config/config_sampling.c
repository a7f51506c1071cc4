// SPDX-License-Identifier: GPL-2.0
#include "config/config_sampling.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "config/config_words.h"
#include "origin/event.h"

#define ALL "all"
#define OFF "off"

#define BUDGET_MIN 0.0001

static int find_role(const char *word)
{
	for (int role = 0; role < EVENT_ROLES; role++)
		if (strcmp(word, event_role_name((enum event_role)role)) == 0)
			return role;
	return -ENOENT;
}

static int refuse_event(const struct config_key *key, const char *word, char **ret_problem)
{
	const char *words[EVENT_ROLES];

	for (int role = 0; role < EVENT_ROLES; role++)
		words[role] = event_role_name((enum event_role)role);
	return config_words_refuse(key, word, words, ARRAY_SIZE(words), ret_problem);
}

int config_sampling_events(const struct config_key *key, const char *text, unsigned int *ret,
			   char **ret_problem)
{
	_cleanup_free_ char *words = strdup(text);
	unsigned int events = 0;
	char *rest = words;
	char *word;

	if (!words)
		return -ENOMEM;
	while ((word = strsep(&rest, " \t"))) {
		int role;

		if (!*word)
			continue;
		role = find_role(word);
		if (role < 0)
			return refuse_event(key, word, ret_problem);
		if (events & 1U << role)
			return asprintf(ret_problem, "%s: %s is given twice; remove one (%s)", key->name,
					word, key->meaning) < 0
				       ? -ENOMEM
				       : -EINVAL;
		events |= 1U << role;
	}
	*ret = events;
	return 0;
}

int config_sampling_cpus(const struct config_key *key, const char *text, struct cpu_list *ret,
			 char **ret_problem)
{
	struct cpu_list cpus = {0};
	int length;
	int r;

	if (strcmp(text, ALL) == 0) {
		*ret = cpus;
		return 0;
	}
	r = cpu_list_parse(text, &cpus);
	if (r == 0 && cpu_list_count(&cpus) > 0) {
		*ret = cpus;
		return 0;
	}
	if (r == -ERANGE)
		length = asprintf(
			ret_problem,
			"%s = %s: the highest possible CPU number is %d; expected all or a list such as 0-3,8 (%s)",
			key->name, text, CPU_LIST_MAX - 1, key->meaning);
	else
		length = asprintf(
			ret_problem,
			"%s = %s: expected all, or numbers and ranges separated by commas without blanks, such as 0-3,8 (%s)",
			key->name, text, key->meaning);
	return length < 0 ? -ENOMEM : -EINVAL;
}

/* A number without % could be a fraction or a percentage: 0.5 is half of a CPU, or half a percent of it. */
static int refuse_bare(const struct config_key *key, const char *text, double value, char **ret_problem)
{
	return asprintf(
		       ret_problem,
		       "%s = %s: without %% this has two meanings: write %g%% if you mean %g percent, or %g%% if "
		       "you mean the fraction (%s)",
		       key->name, text, value, value, value * 100, key->meaning) < 0
		       ? -ENOMEM
		       : -EINVAL;
}

int config_sampling_budget(const struct config_key *key, const char *text, double *ret, char **ret_problem)
{
	double value;
	int r;

	if (strcmp(text, OFF) == 0) {
		*ret = 0;
		return 0;
	}
	r = decimal_parse(text, &value);
	if (r == 0 && !strchr(text, '%') && value >= BUDGET_MIN && value <= 1)
		return refuse_bare(key, text, value, ret_problem);
	if (r < 0 || !strchr(text, '%') || value < BUDGET_MIN || value > 1)
		return config_key_refuse_value(key, text, "off, or a percentage from 0.01% to 100%",
					       ret_problem);
	*ret = value;
	return 0;
}

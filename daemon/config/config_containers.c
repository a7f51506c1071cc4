// SPDX-License-Identifier: GPL-2.0
#include "config/config_containers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cgroup/container_label.h"
#include "config/config_words.h"

int config_container_labels(const struct config_key *key, const char *text, unsigned int *ret,
			    char **ret_problem)
{
	const char *words[CONTAINER_LABELS];
	_cleanup_free_ char *copy = strdup(text);
	unsigned int labels = 0;
	char *rest = copy;
	char *word;

	if (!copy)
		return -ENOMEM;
	for (enum container_label label = 0; label < CONTAINER_LABELS; label++)
		words[label] = container_label_name(label);
	while ((word = strsep(&rest, " \t"))) {
		enum container_label label = 0;

		if (!*word)
			continue;
		while (label < CONTAINER_LABELS && strcmp(word, words[label]) != 0)
			label++;
		if (label == CONTAINER_LABELS)
			return config_words_refuse(key, word, words, ARRAY_SIZE(words), ret_problem);
		labels |= 1U << label;
	}
	*ret = labels;
	return 0;
}

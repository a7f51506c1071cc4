// SPDX-License-Identifier: GPL-2.0
#include "config/config_words.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/suggest.h"

int config_refuse(char **ret_problem, const char *format, ...)
{
	va_list arguments;
	int length;

	va_start(arguments, format);
	length = vasprintf(ret_problem, format, arguments);
	va_end(arguments);
	return length < 0 ? -ENOMEM : -EINVAL;
}

int config_key_refuse_value(const struct config_key *key, const char *value, const char *wanted,
			    char **ret_problem)
{
	return config_refuse(ret_problem, "%s = %s: expected %s (%s)", key->name, value, wanted,
			     key->meaning);
}

char *config_words_join(const char *const *words, size_t n)
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

int config_words_refuse(const struct config_key *key, const char *word, const char *const *words, size_t n,
			char **ret_problem)
{
	const char *near = suggest_nearest(word, words, n);
	_cleanup_free_ char *list = config_words_join(words, n);
	int length;

	if (!list)
		return -ENOMEM;
	if (near)
		length = asprintf(ret_problem,
				  "%s = %s: unknown value; did you mean %s? Expected one of %s (%s)",
				  key->name, word, near, list, key->meaning);
	else
		length = asprintf(ret_problem, "%s = %s: unknown value; expected one of %s (%s)", key->name,
				  word, list, key->meaning);
	return length < 0 ? -ENOMEM : -EINVAL;
}

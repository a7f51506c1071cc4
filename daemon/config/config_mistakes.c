// SPDX-License-Identifier: GPL-2.0
#include "config/config_mistakes.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

#define NOT_LISTED "more mistakes follow, the first of them here; correct those above first"

int config_mistakes_add(struct config_mistakes *mistakes, const char *file, unsigned int line,
			const char *format, ...)
{
	_cleanup_free_ char *message = NULL;
	_cleanup_free_ char *name = strdup(file);
	struct config_mistake *list;
	va_list arguments;
	int length;

	if (mistakes->n > CONFIG_MISTAKES_MAX)
		return 0;
	if (mistakes->n == CONFIG_MISTAKES_MAX) {
		length = asprintf(&message, "%s", NOT_LISTED);
	} else {
		va_start(arguments, format);
		length = vasprintf(&message, format, arguments);
		va_end(arguments);
	}
	if (length < 0)
		message = NULL;
	if (!name || !message)
		return -ENOMEM;

	list = reallocarray(mistakes->list, mistakes->n + 1, sizeof(*list));
	if (!list)
		return -ENOMEM;
	mistakes->list = list;
	list[mistakes->n++] = (struct config_mistake){
		.file = TAKE_PTR(name),
		.line = line,
		.message = TAKE_PTR(message),
	};
	return 0;
}

char *config_mistake_text(const struct config_mistake *mistake)
{
	char *text;
	int length = mistake->line
			     ? asprintf(&text, "%s:%u: %s", mistake->file, mistake->line, mistake->message)
			     : asprintf(&text, "%s: %s", mistake->file, mistake->message);

	return length < 0 ? NULL : text;
}

void config_mistakes_print(const struct config_mistakes *mistakes, const char *prefix, FILE *out)
{
	for (size_t i = 0; i < mistakes->n; i++) {
		_cleanup_free_ char *text = config_mistake_text(&mistakes->list[i]);

		(void)fprintf(out, "%s%s\n", prefix, text ? text : mistakes->list[i].message);
	}
}

void config_mistakes_clear(struct config_mistakes *mistakes)
{
	for (size_t i = 0; i < mistakes->n; i++) {
		free(mistakes->list[i].file);
		free(mistakes->list[i].message);
	}
	free(mistakes->list);
	*mistakes = (struct config_mistakes){0};
}

// SPDX-License-Identifier: GPL-2.0
/* What is wrong with a configuration: all of it, not the first thing only. */
#ifndef PEBSD_CONFIG_MISTAKES_H
#define PEBSD_CONFIG_MISTAKES_H

#include <stddef.h>
#include <stdio.h>

struct config_mistake {
	char *file;
	unsigned int line; /* from 1; 0: the file as a whole */
	char *message;     /* what is wrong and what to do; UTF-8, no line break */
};

/* So many are listed, and one more that says where the first one is that is not. */
#define CONFIG_MISTAKES_MAX 100

/* {0} is an empty list. */
struct config_mistakes {
	struct config_mistake *list;
	size_t n;
};

/* Adds a copy of what it is given, as far as there is room for it in the list. Returns 0 or -ENOMEM. */
int config_mistakes_add(struct config_mistakes *mistakes, const char *file, unsigned int line,
			const char *format, ...) __attribute__((format(printf, 4, 5)));

/* "FILE:LINE: message", or "FILE: message" of a file as a whole. NULL where memory is short; the caller
 * frees. */
char *config_mistake_text(const struct config_mistake *mistake);

/* One line each. */
void config_mistakes_print(const struct config_mistakes *mistakes, FILE *out);

/* Frees what is in it and leaves it empty. */
void config_mistakes_clear(struct config_mistakes *mistakes);

#endif

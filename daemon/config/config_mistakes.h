// SPDX-License-Identifier: GPL-2.0
/* Collects all mistakes of a configuration, not just the first one. */
#ifndef PEBSD_CONFIG_MISTAKES_H
#define PEBSD_CONFIG_MISTAKES_H

#include <stddef.h>
#include <stdio.h>

struct config_mistake {
	char *file;
	unsigned int line; /* starts at 1; 0: the whole file */
	char *message;     /* what is wrong and what to do; UTF-8, without line breaks */
};

/*
 * Maximum number of mistakes in the list. If there are more, one entry after them says where the first
 * omitted mistake is.
 */
#define CONFIG_MISTAKES_MAX 100

/* {0} is an empty list. */
struct config_mistakes {
	struct config_mistake *list;
	size_t n;
};

/* Adds a mistake, with copies of the strings, if the list has room. Returns 0 or -ENOMEM. */
int config_mistakes_add(struct config_mistakes *mistakes, const char *file, unsigned int line,
			const char *format, ...) __attribute__((format(printf, 4, 5)));

/*
 * Returns "FILE:LINE: message", or "FILE: message" for a mistake of a whole file. Returns NULL if there is no
 * memory. The caller frees the result.
 */
char *config_mistake_text(const struct config_mistake *mistake);

/* Prints each mistake on a line of its own, after `prefix`. */
void config_mistakes_print(const struct config_mistakes *mistakes, const char *prefix, FILE *out);

/* Frees all mistakes and leaves the list empty. */
void config_mistakes_clear(struct config_mistakes *mistakes);

#endif

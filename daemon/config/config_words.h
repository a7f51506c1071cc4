// SPDX-License-Identifier: GPL-2.0
/* How a value is refused, and values that are words of a list. */
#ifndef PEBSD_CONFIG_WORDS_H
#define PEBSD_CONFIG_WORDS_H

#include "config/config_keys.h"

/* A value or an option that is refused. Returns -EINVAL with the text, or -ENOMEM. */
int config_refuse(char **ret_problem, const char *format, ...) __attribute__((format(printf, 2, 3)));
int config_key_refuse_value(const struct config_key *key, const char *value, const char *wanted,
			    char **ret_problem);

/* "a, b, c", the caller's to free; NULL: no memory. */
char *config_words_join(const char *const *words, size_t n);

/*
 * `word` is none of `words`: they are listed, after the one that may be meant. Returns -EINVAL with the
 * text, the caller's to free, or -ENOMEM.
 */
int config_words_refuse(const struct config_key *key, const char *word, const char *const *words, size_t n,
			char **ret_problem);

#endif

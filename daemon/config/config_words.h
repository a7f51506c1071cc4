// SPDX-License-Identifier: GPL-2.0
/* Refuses values, and lists words that are accepted. */
#ifndef PEBSD_CONFIG_WORDS_H
#define PEBSD_CONFIG_WORDS_H

#include "config/config_keys.h"

/* Refuses a value or an option. Returns -EINVAL with the text in `*ret_problem`, or -ENOMEM. */
int config_refuse(char **ret_problem, const char *format, ...) __attribute__((format(printf, 2, 3)));
int config_key_refuse_value(const struct config_key *key, const char *value, const char *wanted,
			    char **ret_problem);

/* Returns "a, b, c", which the caller frees, or NULL if memory runs out. */
char *config_words_join(const char *const *words, size_t n);

/*
 * Refuses `word`, which is not one of `words`. The text suggests the most similar one, if any is similar, and
 * lists all. Returns -EINVAL with the text, which the caller frees, or -ENOMEM.
 */
int config_words_refuse(const struct config_key *key, const char *word, const char *const *words, size_t n,
			char **ret_problem);

#endif

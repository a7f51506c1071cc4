// SPDX-License-Identifier: GPL-2.0
#include "config/reload.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"

void reload_free_lines(char **lines)
{
	for (size_t i = 0; lines && lines[i]; i++)
		free(lines[i]);
	free(lines);
}

/* Takes ownership of `line`. The caller has allocated enough room for all lines. */
static void add_line(char **lines, char *line)
{
	size_t n = 0;

	if (!line)
		return;
	while (lines[n])
		n++;
	lines[n] = line;
}

/* Composes "BEFORE a, b, c" from `keys` and from `more`, which ends with NULL. */
static char *join(const char *before, const char *const *keys, size_t n, char *const *more)
{
	const char *separator = " ";
	char *text = NULL;
	size_t bytes;
	FILE *stream = open_memstream(&text, &bytes);

	if (!stream)
		return NULL;
	(void)fputs(before, stream);
	for (size_t i = 0; i < n; i++, separator = ", ")
		(void)fprintf(stream, "%s%s", separator, keys[i]);
	for (; more && *more; more++, separator = ", ")
		(void)fprintf(stream, "%s%s", separator, *more);
	if (fclose(stream) != 0) {
		free(text);
		return NULL;
	}
	return text;
}

static void cleanup_changes(char ***changes)
{
	config_rule_changes_free(*changes);
}

static int refuse(const struct config_mistakes *mistakes, char **problem, char ***ret_lines)
{
	char **lines = calloc(mistakes->n + 2, sizeof(*lines));

	if (!lines)
		return -ENOMEM;
	for (size_t i = 0; i < mistakes->n; i++)
		add_line(lines, config_mistake_text(&mistakes->list[i]));
	if (*problem) {
		add_line(lines, *problem);
		*problem = NULL;
	}
	for (size_t i = 0; lines[i]; i++)
		(void)log_error(0, "%s", lines[i]);
	(void)log_error(0, "the configuration has mistakes; the old one stays in force");
	*ret_lines = lines;
	return -EINVAL;
}

static int apply_config(const struct reload_applier *applier, struct config *running, struct config *loaded,
			char ***ret_lines)
{
	_cleanup_(cleanup_changes) char **changes = NULL;
	const char *keys[CONFIG_KEYS_MAX];
	char *warning;
	/* Room for at most three lines besides the warnings, and for NULL. */
	char **lines = calloc(loaded->warnings.n + 4, sizeof(*lines));
	int changed;
	size_t n;

	if (!lines)
		return -ENOMEM;
	warning = applier->apply(applier->userdata, running, loaded);
	if (warning)
		(void)log_warning(0, "%s", warning);
	/* If memory runs out, the changed rules are applied without being listed. */
	changed = config_rule_changes(running, loaded, &changes);
	n = config_reload_keys(running, loaded, keys);
	if (n || changed > 0)
		add_line(lines, join("applied:", keys, n, changes));
	n = config_restart_keys(running, loaded, keys);
	if (n)
		add_line(lines, join("waiting for a restart:", keys, n, NULL));
	config_reload(running, loaded);
	log_notice("configuration read again%s", lines[0] || warning ? "" : "; nothing has changed");
	for (size_t i = 0; lines[i]; i++)
		log_notice("%s", lines[i]);
	add_line(lines, warning);
	for (size_t i = 0; i < loaded->warnings.n; i++) {
		char *text = config_mistake_text(&loaded->warnings.list[i]);

		(void)log_warning(0, "%s", text ? text : loaded->warnings.list[i].message);
		add_line(lines, text);
	}
	*ret_lines = lines;
	return 0;
}

int reload_config(const struct options *options, const struct reload_applier *applier, struct config *running,
		  char ***ret_lines)
{
	_cleanup_(config_mistakes_clear) struct config_mistakes mistakes = {0};
	_cleanup_(config_freep) struct config *loaded = NULL;
	_cleanup_free_ char *problem = NULL;
	int r;

	*ret_lines = NULL;
	r = config_load(options->config, NULL, &loaded, &mistakes);
	if (r == 0)
		r = options_override(options, loaded, &problem);
	if (r == -EINVAL)
		return refuse(&mistakes, &problem, ret_lines);
	if (r < 0) {
		(void)log_error(0, "cannot reload the configuration: %s; the old one stays in force",
				strerror(-r));
		return r;
	}
	return apply_config(applier, running, loaded, ret_lines);
}

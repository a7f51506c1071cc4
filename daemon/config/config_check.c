// SPDX-License-Identifier: GPL-2.0
#include "config/config_check.h"

#include <errno.h>
#include <grp.h>
#include <json-c/json.h>
#include <pwd.h>
#include <string.h>
#include <unistd.h>

#include "config/config_keys.h"
#include "policy/nanoseconds.h"

#define CPUS_POSSIBLE "/sys/devices/system/cpu/possible"

/* Adds `message` to `list`, with the file and line that set `key`, or "default". */
static int add_at(const struct config *config, const char *section, const char *key,
		  struct config_mistakes *list, const char *message)
{
	unsigned int line;
	const char *file = config_set_at(config, config_key_find(section, key), &line);

	return config_mistakes_add(list, file ? file : "default", line, "%s", message);
}

/*
 * A list that names none of this machine's CPUs is a mistake if its CPUs are sampled. config_load() does not look at
 * the machine, so this check does.
 */
static int check_cpus(const struct config *config, struct config_mistakes *mistakes)
{
	struct cpu_list possible, named = config->cpus;
	_cleanup_free_ char *wrong = cpu_list_format(&named);
	_cleanup_free_ char *message = NULL, *right = NULL;

	if (config->origin == CONFIG_ORIGIN_MODEL || config->origin == CONFIG_ORIGIN_REPLAY ||
	    cpu_list_count(&named) == 0 || cpu_list_read(CPUS_POSSIBLE, &possible) < 0)
		return 0;
	right = cpu_list_format(&possible);
	cpu_list_keep(&named, &possible);
	if (cpu_list_count(&named) > 0)
		return 0;
	if (asprintf(
		    &message,
		    "cpus = %s: this machine has none of these CPUs; it has %s; name some of those, or set cpus = all",
		    wrong ? wrong : "?", right ? right : "?") < 0)
		return -ENOMEM;
	return add_at(config, "sampling", "cpus", mistakes, message);
}

/*
 * Warns only if a file sets the group. A missing default group is normal: pebsd then serves root alone, and
 * logs that when it starts.
 */
static int check_group(struct config *config)
{
	_cleanup_free_ char *message = NULL;
	unsigned int line;

	if (!*config->group || !config_set_at(config, config_key_find("control", "group"), &line) ||
	    getgrnam(config->group))
		return 0;
	if (asprintf(&message,
		     "group = %s: there is no such group, so only root can query pebsd; create the group, or "
		     "name another",
		     config->group) < 0)
		return -ENOMEM;
	return add_at(config, "control", "group", &config->warnings, message);
}

static int check_detail(struct config *config)
{
	_cleanup_free_ char *message = NULL;

	if (!*config->detail || getpwnam(config->detail) || getgrnam(config->detail))
		return 0;
	if (asprintf(&message,
		     "detail = %s: there is no such user or group, so only root can pause, resume, zoom, and "
		     "read hot tables and profiles; create it, or name another",
		     config->detail) < 0)
		return -ENOMEM;
	return add_at(config, "control", "detail", &config->warnings, message);
}

int config_check(const char *file, struct config **ret, struct config_mistakes *ret_mistakes)
{
	_cleanup_(config_freep) struct config *config = NULL;
	int r;

	*ret = NULL;
	r = config_load(file, NULL, &config, ret_mistakes);
	if (r == 0)
		r = check_cpus(config, ret_mistakes);
	if (r == 0 && ret_mistakes->n > 0)
		r = -EINVAL;
	if (r == 0)
		r = check_group(config);
	if (r == 0)
		r = check_detail(config);
	if (r == 0)
		*ret = TAKE_PTR(config);
	return r;
}

/* Says what the limits that are given in nanoseconds are in cycles on this machine. */
static void print_times(const struct config *config, FILE *out)
{
	for (size_t i = 0; i < config->n_rules; i++) {
		const struct rule *rule = &config->rules[i];
		char threshold[NANOSECONDS_TEXT_MAX], clear[NANOSECONDS_TEXT_MAX];

		if (!rule->nanoseconds)
			continue;
		nanoseconds_limit(rule->threshold, rule->nominal_hz, threshold);
		nanoseconds_limit(rule->clear, rule->nominal_hz, clear);
		(void)fprintf(out, "[rule %s]: %s %s%s%s\n", rule->name, rule->below ? "below" : "above",
			      threshold, rule->clear == rule->threshold ? "" : ", clear at ",
			      rule->clear == rule->threshold ? "" : clear);
	}
}

static void print_text(const struct config *config, const struct config_mistakes *mistakes, FILE *out)
{
	config_mistakes_print(mistakes, "", out);
	if (!config)
		return;
	config_mistakes_print(&config->warnings, "warning: ", out);
	if (!config->files) {
		(void)fprintf(out, "Configuration OK (no file found, using defaults).\n");
		return;
	}
	(void)fprintf(out, "Configuration OK (");
	for (size_t i = 0; config->files[i]; i++)
		(void)fprintf(out, "%s%s", i ? ", " : "", config->files[i]);
	(void)fprintf(out, "; %zu rule%s).\n", config->n_rules, config->n_rules == 1 ? "" : "s");
	print_times(config, out);
}

static json_object *list_of(const struct config_mistakes *mistakes)
{
	json_object *list = json_object_new_array();

	for (size_t i = 0; i < mistakes->n; i++) {
		const struct config_mistake *mistake = &mistakes->list[i];
		json_object *entry = json_object_new_object();

		json_object_object_add(entry, "file", json_object_new_string(mistake->file));
		if (mistake->line)
			json_object_object_add(entry, "line", json_object_new_uint64(mistake->line));
		json_object_object_add(entry, "message", json_object_new_string(mistake->message));
		json_object_array_add(list, entry);
	}
	return list;
}

static int print_json(const struct config *config, const struct config_mistakes *mistakes, FILE *out)
{
	static const struct config_mistakes none = {0};
	json_object *root = json_object_new_object(), *files = json_object_new_array();
	const char *text;

	for (size_t i = 0; config && config->files && config->files[i]; i++)
		json_object_array_add(files, json_object_new_string(config->files[i]));
	json_object_object_add(root, "ok", json_object_new_boolean(config != NULL));
	json_object_object_add(root, "files", files);
	json_object_object_add(root, "rules", json_object_new_uint64(config ? config->n_rules : 0));
	json_object_object_add(root, "mistakes", list_of(mistakes));
	json_object_object_add(root, "warnings", list_of(config ? &config->warnings : &none));
	text = json_object_to_json_string_ext(
		root, (isatty(fileno(out)) ? JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_SPACED
					   : JSON_C_TO_STRING_PLAIN) |
			      JSON_C_TO_STRING_NOSLASHESCAPE);
	if (text)
		(void)fprintf(out, "%s\n", text);
	json_object_put(root);
	return text ? 0 : -ENOMEM;
}

int config_check_print(const struct config *config, const struct config_mistakes *mistakes, bool json,
		       FILE *out)
{
	if (json)
		return print_json(config, mistakes, out);
	print_text(config, mistakes, out);
	return 0;
}

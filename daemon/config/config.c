// SPDX-License-Identifier: GPL-2.0
#include "config/config.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "cgroup/pattern.h"
#include "config/config_file.h"
#include "config/config_keys.h"
#include "config/config_rules.h"
#include "machine/nominal.h"

#define MAIN_FILE    "/etc/pebsd/pebsd.conf"
#define DROP_IN_PATH "/etc/pebsd/pebsd.conf.d"

/*
 * Maximum size of a file. All keys with their comments need far less, so a larger file is not a
 * configuration.
 */
#define FILE_BYTES_MAX 262144

/*
 * Maximum number of *.conf files. The reply to `pebsctl status` names each file, and has room for this many
 * names even if they are not UTF-8.
 */
#define DROP_INS_MAX 500

/*
 * The largest budget without a warning: ten times the default. A greater share of each CPU is probably a
 * mistake.
 */
#define BUDGET_USUAL_MAX 0.05

int config_new(struct config **ret)
{
	_cleanup_(config_freep) struct config *config = calloc(1, sizeof(*config));
	const struct config_key *keys;
	size_t n;

	if (!config)
		return -ENOMEM;
	keys = config_keys(&n);
	for (size_t i = 0; i < n; i++) {
		_cleanup_free_ char *problem = NULL;
		int r = config_key_set(&keys[i], config, keys[i].default_text, &problem);

		if (r < 0)
			return r;
	}
	*ret = TAKE_PTR(config);
	return 0;
}

static void free_files(char **files)
{
	for (size_t i = 0; files && files[i]; i++)
		free(files[i]);
	free(files);
}

struct config *config_free(struct config *config)
{
	if (!config)
		return NULL;
	free_files(config->files);
	config_patterns_clear(&config->include);
	config_patterns_clear(&config->exclude);
	config_patterns_clear(&config->hot);
	(void)rules_free(config->rules, config->n_rules);
	(void)config_rules_free(config->reading);
	config_mistakes_clear(&config->warnings);
	free(config);
	return NULL;
}

/*
 * Never blocks, because a reload runs in the daemon, which must go on collecting samples. Returns the number of
 * bytes read, at most FILE_BYTES_MAX + 1, -ESPIPE for a pipe or a socket, or -errno.
 */
static ssize_t read_file(const char *file, char *buffer)
{
	_cleanup_close_ int fd = open(file, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	size_t length = 0;
	struct stat status;

	if (fd < 0)
		return errno == ENXIO ? -ESPIPE : -errno;
	if (fstat(fd, &status) < 0)
		return -errno;
	if (S_ISFIFO(status.st_mode))
		return -ESPIPE;
	while (length <= FILE_BYTES_MAX) {
		ssize_t n = read(fd, buffer + length, FILE_BYTES_MAX + 1 - length);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			break;
		length += (size_t)n;
	}
	return (ssize_t)length;
}

static const char *reason_of(ssize_t error)
{
	return error == -ESPIPE ? "it is a pipe or a socket, which cannot be read again"
				: strerror((int)-error);
}

static const char *remedy_for(ssize_t error)
{
	switch (error) {
	case -ENOENT:
		return "; create it, or correct the name or link that leads to it";
	case -EACCES:
	case -EPERM:
		return "; make it readable for the user that pebsd runs as";
	case -EAGAIN:
	case -EISDIR:
	case -ESPIPE:
		return "; use a regular file";
	default:
		return "";
	}
}

static int note_file(struct config *config, const char *file)
{
	size_t n = 0;
	char **files;

	while (config->files && config->files[n])
		n++;
	files = reallocarray(config->files, n + 2, sizeof(*files));
	if (!files)
		return -ENOMEM;
	config->files = files;
	files[n] = strdup(file);
	files[n + 1] = NULL;
	return files[n] ? 0 : -ENOMEM;
}

static int load_file(const char *file, bool may_miss, struct config *config, struct config_mistakes *mistakes)
{
	_cleanup_free_ char *buffer = malloc(FILE_BYTES_MAX + 1);
	ssize_t length;
	int r;

	if (!buffer)
		return -ENOMEM;
	length = read_file(file, buffer);
	if (length == -ENOENT && may_miss)
		return 0;
	if (length < 0)
		return config_mistakes_add(mistakes, file, 0, "cannot be read: %s%s", reason_of(length),
					   remedy_for(length));
	if (length > FILE_BYTES_MAX)
		return config_mistakes_add(
			mistakes, file, 0,
			"larger than %d bytes, the maximum for a configuration file; check the file name",
			FILE_BYTES_MAX);
	r = note_file(config, file);
	return r < 0 ? r : config_file_parse(file, buffer, (size_t)length, config, mistakes);
}

/* Files whose names begin with a dot are skipped: editors leave such files behind. */
static int is_drop_in(const struct dirent *entry)
{
	size_t length = strlen(entry->d_name);

	return entry->d_name[0] != '.' && length > strlen(".conf") &&
	       strcmp(entry->d_name + length - strlen(".conf"), ".conf") == 0;
}

static int compare_names(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static int load_drop_ins(const char *directory, struct config *config, struct config_mistakes *mistakes)
{
	struct dirent **entries;
	int n = scandir(directory, &entries, is_drop_in, compare_names);
	int r = 0;

	if (n < 0 && errno == ENOENT)
		return 0;
	if (n < 0 && errno == ENOMEM)
		return -ENOMEM;
	if (n < 0)
		return config_mistakes_add(mistakes, directory, 0, "cannot be listed: %s%s", strerror(errno),
					   remedy_for(-errno));

	if (n > DROP_INS_MAX)
		r = config_mistakes_add(
			mistakes, directory, 0,
			"has %d *.conf files, more than the maximum of %d; merge some of them", n,
			DROP_INS_MAX);
	for (int i = 0; i < n; i++) {
		_cleanup_free_ char *file = NULL;

		if (n > DROP_INS_MAX) {
			free(entries[i]);
			continue;
		}
		if (r == 0 && asprintf(&file, "%s/%s", directory, entries[i]->d_name) < 0) {
			file = NULL;
			r = -ENOMEM;
		}
		if (r == 0)
			r = load_file(file, false, config, mistakes);
		free(entries[i]);
	}
	free(entries);
	return r;
}

static int load_all(const char *root, struct config *config, struct config_mistakes *mistakes)
{
	char file[PATH_MAX];
	int length;
	int r;

	length = snprintf(file, sizeof(file), "%s" MAIN_FILE, root);
	if (length < 0 || (size_t)length >= sizeof(file))
		return config_mistakes_add(mistakes, root, 0, "the path is too long; name another directory");
	r = load_file(file, true, config, mistakes);
	if (r < 0)
		return r;
	length = snprintf(file, sizeof(file), "%s" DROP_IN_PATH, root);
	if (length < 0 || (size_t)length >= sizeof(file))
		return config_mistakes_add(mistakes, root, 0, "the path is too long; name another directory");
	return load_drop_ins(file, config, mistakes);
}

const char *config_set_at(const struct config *config, const struct config_key *key, unsigned int *ret_line)
{
	size_t n;
	const struct config_key_place *place = &config->places[key - config_keys(&n)];

	*ret_line = place->line;
	return place->line ? config->files[place->file] : NULL;
}

static int warn(struct config *config)
{
	unsigned int line;
	const char *file = config_set_at(config, config_key_find("sampling", "budget"), &line);

	if (!file || config->budget <= BUDGET_USUAL_MAX)
		return 0;
	return config_mistakes_add(
		&config->warnings, file, line,
		"budget = %g%%: sampling may take %g%% of the time of each CPU; the default is "
		"0.5%%, and more than 5%% is rarely meant",
		config->budget * 100, config->budget * 100);
}

/* A perf event is opened only for limits that need the frequency: a check of a configuration should do without. */
static int read_frequency(const char *root, struct config *config)
{
	_cleanup_free_ char *sysfs = NULL;

	if (asprintf(&sysfs, "%s/sys", root) < 0) {
		sysfs = NULL;
		return -ENOMEM;
	}
	config->nominal_hz = nominal_of_machine(sysfs, config_rules_have_times(config));
	return 0;
}

int config_load(const char *file, const char *root, struct config **ret, struct config_mistakes *ret_mistakes)
{
	_cleanup_(config_freep) struct config *config = NULL;
	int r;

	*ret_mistakes = (struct config_mistakes){0};
	r = config_new(&config);
	if (r < 0)
		return r;
	if (file)
		r = load_file(file, false, config, ret_mistakes);
	else
		r = load_all(root ? root : "", config, ret_mistakes);
	if (r == 0)
		r = read_frequency(root ? root : "", config);
	if (r == 0)
		r = config_rules_finish(config, ret_mistakes);
	if (r < 0)
		return r;
	if (ret_mistakes->n > 0)
		return -EINVAL;
	r = warn(config);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(config);
	return 0;
}

bool config_exports(const struct config *config, const char *path)
{
	return cgroup_patterns_match(config->include.list, config->include.n, path) &&
	       !cgroup_patterns_match(config->exclude.list, config->exclude.n, path);
}

bool config_hot(const struct config *config, const char *path)
{
	return cgroup_patterns_match(config->hot.list, config->hot.n, path);
}

static size_t changed_keys(const struct config *running, const struct config *loaded, bool needs_restart,
			   const char *ret[static CONFIG_KEYS_MAX])
{
	const struct config_key *keys;
	size_t changed = 0;
	size_t n;

	keys = config_keys(&n);
	for (size_t i = 0; i < n; i++)
		if (keys[i].needs_restart == needs_restart && !config_key_equal(&keys[i], running, loaded))
			ret[changed++] = keys[i].name;
	return changed;
}

size_t config_restart_keys(const struct config *running, const struct config *loaded,
			   const char *ret[static CONFIG_KEYS_MAX])
{
	return changed_keys(running, loaded, true, ret);
}

size_t config_reload_keys(const struct config *running, const struct config *loaded,
			  const char *ret[static CONFIG_KEYS_MAX])
{
	return changed_keys(running, loaded, false, ret);
}

void config_reload(struct config *running, struct config *loaded)
{
	struct rule *rules = running->rules;
	char **files = running->files;
	const size_t n_rules = running->n_rules;
	const struct config_key *keys;
	size_t n;

	keys = config_keys(&n);
	for (size_t i = 0; i < n; i++)
		if (!keys[i].needs_restart)
			config_key_swap(&keys[i], running, loaded);
	running->files = loaded->files;
	loaded->files = files;
	memcpy(running->places, loaded->places, sizeof(running->places));
	running->rules = loaded->rules;
	running->n_rules = loaded->n_rules;
	loaded->rules = rules;
	loaded->n_rules = n_rules;
}

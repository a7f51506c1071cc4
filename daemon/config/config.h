// SPDX-License-Identifier: GPL-2.0
/*
 * The configuration as plain data, and the functions that read it from files. Only config_keys.c and, for the
 * keys of rules, config_rule_keys.c list the keys with their ranges and defaults.
 */
#ifndef PEBSD_CONFIG_H
#define PEBSD_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "base/listen_address.h"
#include "config/config_mistakes.h"
#include "machine/cpu_list.h"
#include "model/machine.h"
#include "pebsd/types.h"
#include "rule/rule.h"

/* The origins, in the order of the choices of the key `origin`. */
enum config_origin { CONFIG_ORIGIN_AUTO, CONFIG_ORIGIN_PERF, CONFIG_ORIGIN_REPLAY, CONFIG_ORIGIN_MODEL };

/* Whether there is a history, in the order of the choices of the key `keep`. */
enum config_history { CONFIG_HISTORY_AUTO, CONFIG_HISTORY_YES, CONFIG_HISTORY_NO };

/* Stands for `auto` of a period: the PMU's own default, see struct event_periods. */
#define CONFIG_PERIOD_AUTO 0

/* Stands for `top = auto`. Must be equal to SERIES_TOP_AUTO (series/series.h). */
#define CONFIG_TOP_AUTO UINT64_MAX

#define CONFIG_CGROUPS_MAX_AUTO 0
#define CONFIG_MAX_MEMORY_AUTO  0
#define CONFIG_EVENTS_AUTO      0
#define CONFIG_GROUP_MAX        256
#define CONFIG_GROUP            "pebsd" /* the default of `group` */
#define CONFIG_LINE_MAX         200     /* inih's INI_MAX_LINE: the value of a key is shorter */

#define CONFIG_KEYS_MAX 40

struct config_patterns {
	char **list;
	size_t n;
};

/* The last line that set a key. */
struct config_key_place {
	unsigned int file; /* index into the files of the configuration */
	unsigned int line; /* starts at 1; 0: no file sets the key */
};

struct config {
	/* [sampling] */
	enum config_origin origin;
	unsigned int events;          /* bits: 1 << enum event_role; or CONFIG_EVENTS_AUTO */
	u64 ldlat;                    /* cycles */
	double budget;                /* share of each CPU's time that sampling may cost; 0: off */
	struct event_periods periods; /* each may be CONFIG_PERIOD_AUTO */
	struct cpu_list cpus;         /* CPUs to sample; empty: all */
	bool isolated;                /* also sample isolated CPUs */
	u64 leave_counters;           /* general-purpose counters of each CPU that pebsd does not use */
	u64 interval_ns;              /* time between two collections */

	/* [model] */
	const struct machine *cpu; /* CPU that the model simulates; machine_refusal() accepts it */
	u64 seed;
	unsigned int workloads; /* bits: 1 << enum workload_kind; at least one */

	/* [cgroups] */
	u64 cgroups_max;        /* slots; CONFIG_CGROUPS_MAX_AUTO: added as cgroups need them */
	u64 cgroups_max_memory; /* maximum bytes of the BPF maps; CONFIG_MAX_MEMORY_AUTO: by the machine */
	struct config_patterns include;
	struct config_patterns exclude;
	struct config_patterns hot; /* cgroups that get hot tables */
	u64 hot_max;                /* cgroups that can have hot tables at a time */

	/* [containers] */
	bool container_names;          /* look for names in the files of container runtimes on this host */
	unsigned int container_labels; /* labels of metrics, as bits: 1 << enum container_label */

	/* [history] */
	enum config_history history;
	u64 history_bytes;  /* the files take at most this much */
	u64 history_age_ns; /* older panes are dropped */

	/* [export] */
	struct listen_address listen;
	char hosts[CONFIG_LINE_MAX]; /* accepted values of Host, separated by blanks */
	u64 top;                     /* cgroups with series of their own; or CONFIG_TOP_AUTO */
	bool detail_metrics;
	bool profiles; /* serve profiles over HTTP */

	/* [control] */
	char group[CONFIG_GROUP_MAX];  /* group whose members may query pebsd; "": root alone */
	char detail[CONFIG_GROUP_MAX]; /* user or group, besides root, that may pause, zoom and profile */

	/* [symbols] */
	char debuginfod[CONFIG_LINE_MAX]; /* URLs, separated by blanks; "": no server is queried */

	/* The machine's nominal frequency (machine/nominal.h), in Hz, for limits in nanoseconds; 0: not known. */
	double nominal_hz;

	/* [rule NAME], in the order of the files; a reload applies them */
	struct rule *rules;
	size_t n_rules;

	char **files; /* the files that were read, in this order, and NULL at the end; NULL: none, all defaults */
	struct config_key_place places[CONFIG_KEYS_MAX]; /* in the order of config_keys() */
	struct config_mistakes warnings;                 /* values that are allowed, but probably not meant */

	struct config_rules *reading; /* config_rules.h; NULL once all files are read */
};

/* Makes a configuration with the defaults. Returns 0 or -ENOMEM. Free it with config_free(). */
int config_new(struct config **ret);
struct config *config_free(struct config *config);
DEFINE_CLEANUP(struct config *, config_free)

/*
 * Reads /etc/pebsd/pebsd.conf, then every *.conf file of /etc/pebsd/pebsd.conf.d in the byte order of the
 * names. If the first file is missing, the defaults remain. Both paths are below `root` if that is not NULL.
 * If `file` is not NULL, only that file is read. Limits of rules in nanoseconds are converted to cycles at the
 * nominal frequency of this machine, or at that in the sysfs tree below `root`.
 *
 * Returns 0, -EINVAL with every mistake in `*ret_mistakes`, or -ENOMEM. `*ret` is written on success only.
 * `*ret_mistakes` is always written, and the caller clears it.
 */
int config_load(const char *file, const char *root, struct config **ret,
		struct config_mistakes *ret_mistakes);

struct config_key;

/*
 * Returns the file whose line `*ret_line` gave the key its value, or NULL if no file sets the key. The string
 * belongs to `config`.
 */
const char *config_set_at(const struct config *config, const struct config_key *key, unsigned int *ret_line);

/* Returns the roles to sample, as bits 1 << enum event_role. For `auto`, a machine may lack some of them. */
static inline unsigned config_roles(const struct config *config)
{
	return config->events == CONFIG_EVENTS_AUTO ? EVENT_ROLES_AUTO : config->events;
}

/*
 * Returns whether the cgroup may have a series of its own: a pattern of `include` matches its path, and no
 * pattern of `exclude` does. Paths that do not start at the root ("comm:NAME", "cgroup:ID" of a replay,
 * "model:WORKLOAD") are also matched as if they were children of the root.
 */
bool config_exports(const struct config *config, const char *path);

/* Returns whether a pattern of [cgroups] hot matches the cgroup. Matching works as for `include`. */
bool config_hot(const struct config *config, const char *path);

/*
 * config_restart_keys() lists the names of the changed keys that only a restart applies, config_reload_keys()
 * those that a reload applies. Both return the number of names. The strings are constants.
 */
size_t config_restart_keys(const struct config *running, const struct config *loaded,
			   const char *ret[static CONFIG_KEYS_MAX]);
size_t config_reload_keys(const struct config *running, const struct config *loaded,
			  const char *ret[static CONFIG_KEYS_MAX]);

/*
 * Lists the rules that differ, which a reload applies. The lines have the form "rule NAME added", "rule NAME
 * changed" or "rule NAME removed", and NULL ends the list. Returns the number of lines or -ENOMEM. Free the
 * list with config_rule_changes_free().
 */
int config_rule_changes(const struct config *running, const struct config *loaded, char ***ret);
void config_rule_changes_free(char **changes);

/*
 * Applies a reload: swaps those values of `running` and `loaded` that need no restart. `running` keeps its
 * other values, so that it still describes the settings in force.
 */
void config_reload(struct config *running, struct config *loaded);

#endif

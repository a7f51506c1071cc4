// SPDX-License-Identifier: GPL-2.0
/*
 * The configuration: plain data, and how it comes from files. Which keys there are, with their ranges and
 * defaults, stands in config_keys.c alone.
 */
#ifndef PEBSD_CONFIG_H
#define PEBSD_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "base/cpu_list.h"
#include "base/listen_address.h"
#include "config/config_mistakes.h"
#include "model/machine.h"
#include "pebsd/types.h"
#include "policy/rule.h"

/* In the order of the choices of `origin`. */
enum config_origin { CONFIG_ORIGIN_AUTO, CONFIG_ORIGIN_PERF, CONFIG_ORIGIN_REPLAY, CONFIG_ORIGIN_MODEL };

/* What `period = auto` and `instructions-period = auto` stand for: the PMU's own default, see struct
 * pmu_wish.
 */
#define CONFIG_PERIOD_AUTO 0

/* What `top = auto` stands for: SERIES_TOP_AUTO. */
#define CONFIG_TOP_AUTO UINT64_MAX

#define CONFIG_CGROUPS_MAX_AUTO 0
#define CONFIG_MAX_MEMORY_AUTO  0
#define CONFIG_GROUP_MAX        256
#define CONFIG_LINE_MAX         200 /* a line has no more */

struct config_patterns {
	char **list;
	size_t n;
};

struct config {
	/* [sampling] */
	enum config_origin origin;
	unsigned int events;     /* bit 1 << enum event_role */
	u64 ldlat;               /* cycles */
	double budget;           /* share of each CPU's time that sampling may cost; 0: off */
	u64 period;              /* loads or stores a sample stands for; CONFIG_PERIOD_AUTO */
	u64 instructions_period; /* instructions a sample stands for; CONFIG_PERIOD_AUTO */
	struct cpu_list cpus;    /* to sample; none: all */
	bool isolated;           /* whether isolated CPUs are sampled, too */
	u64 interval_ns;         /* from one collection to the next */

	/* [model] */
	const struct machine *cpu; /* that the model plays; one that machine_refusal() has nothing against */
	u64 seed;
	unsigned int workloads; /* bit 1 << enum workload_kind; at least one */

	/* [cgroups] */
	u64 cgroups_max; /* slots; CONFIG_CGROUPS_MAX_AUTO: by the cgroups there are, and more as they come */
	u64 cgroups_max_memory; /* bytes, up to which these are more; CONFIG_MAX_MEMORY_AUTO: by the machine */
	struct config_patterns include;
	struct config_patterns exclude;
	struct config_patterns hot; /* cgroups that have hot tables */
	u64 hot_max;                /* cgroups that can have some at a time */

	/* [containers] */
	bool container_names;          /* whether names are looked for in what this host keeps */
	unsigned int container_labels; /* of metrics: bit 1 << enum container_label */

	/* [export] */
	struct listen_address listen;
	char hosts[CONFIG_LINE_MAX]; /* names that requests may have as Host, with blanks between them */
	u64 top;                     /* cgroups with series of their own; CONFIG_TOP_AUTO */
	bool detail_metrics;
	bool profiles; /* served over HTTP */

	/* [control] */
	char group[CONFIG_GROUP_MAX];  /* whose members may ask; "": root alone */
	char detail[CONFIG_GROUP_MAX]; /* user or group that may pause and look closer, beside root */

	/* [symbols] */
	char debuginfod[CONFIG_LINE_MAX]; /* URLs with blanks between them; "": none is asked */

	/* [rule NAME], in the order of the files; a reload applies them */
	struct rule *rules;
	size_t n_rules;

	char **files; /* that were read, in this order, and NULL; none: all are defaults */

	struct config_rules *reading; /* config_rules.h; NULL once all files are read */
};

/* Defaults. Returns 0 or -ENOMEM; free with config_free(). */
int config_new(struct config **ret);
struct config *config_free(struct config *config);
DEFINE_CLEANUP(struct config *, config_free)

/*
 * Reads /etc/pebsd/pebsd.conf (defaults where it is missing), then every *.conf of /etc/pebsd/pebsd.conf.d in
 * the order of their names' bytes, each below `root` where that is not NULL. With `file`, reads that alone.
 *
 * Returns 0; -EINVAL with every mistake in `*ret_mistakes`, which the caller clears; -ENOMEM. `*ret` is
 * written with 0 only. `*ret_mistakes` is written in every case.
 */
int config_load(const char *file, const char *root, struct config **ret,
		struct config_mistakes *ret_mistakes);

/*
 * Whether the cgroup may have a series of its own: one of `include` matches its path, and none of
 * `exclude`. What is not below the root ("comm:NAME", "cgroup:ID" of a replay, "model:WORKLOAD") is matched
 * as if it were a child of it.
 */
bool config_exports(const struct config *config, const char *path);

/* Whether [cgroups] hot names the cgroup: one of its patterns matches, as those of `include`. */
bool config_hot(const struct config *config, const char *path);

/* At least as many as there are keys. */
#define CONFIG_KEYS_MAX 32

/*
 * The names of the keys whose values differ and that only a restart applies, or of those that a reload
 * applies. Returns how many; the strings are constants.
 */
size_t config_restart_keys(const struct config *running, const struct config *loaded,
			   const char *ret[static CONFIG_KEYS_MAX]);
size_t config_reload_keys(const struct config *running, const struct config *loaded,
			  const char *ret[static CONFIG_KEYS_MAX]);

/*
 * The rules that differ, which a reload applies: "rule NAME added", "changed" or "removed", a list that ends
 * with NULL. Returns how many, or -ENOMEM; free with config_rule_changes_free().
 */
int config_rule_changes(const struct config *running, const struct config *loaded, char ***ret);
void config_rule_changes_free(char **changes);

/*
 * A reload: gives `running` the values of `loaded` that apply without a restart, in exchange for its own. The
 * others stay, so that `running` goes on to say what is true.
 */
void config_reload(struct config *running, struct config *loaded);

#endif

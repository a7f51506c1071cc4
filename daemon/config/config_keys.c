// SPDX-License-Identifier: GPL-2.0
#include "config/config_keys.h"

#include <errno.h>
#include <limits.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/glob.h"
#include "base/http_host.h"
#include "base/listen_address.h"
#include "base/number.h"
#include "cgroup/container_label.h"
#include "config/config_words.h"
#include "model/workload.h"
#include "origin/event.h"
#include "pebsd/hot.h"

#define BLANKS " \t"

/* The values of [containers] that are more than one word. */

/*
 * Parses labels (cgroup/container_label.h), separated by blanks, in any order. Sets `*ret` to the bits 1 <<
 * enum container_label; an empty text gives 0. Returns as config_key_set(): a mistake changes nothing.
 */
static int config_container_labels(const struct config_key *key, const char *text, unsigned int *ret,
				   char **ret_problem)
{
	const char *words[CONTAINER_LABELS];
	_cleanup_free_ char *copy = strdup(text);
	unsigned int labels = 0;
	char *rest = copy;
	char *word;

	if (!copy)
		return -ENOMEM;
	for (enum container_label label = 0; label < CONTAINER_LABELS; label++)
		words[label] = container_label_name(label);
	while ((word = strsep(&rest, BLANKS))) {
		enum container_label label = 0;

		if (!*word)
			continue;
		while (label < CONTAINER_LABELS && strcmp(word, words[label]) != 0)
			label++;
		if (label == CONTAINER_LABELS)
			return config_words_refuse(key, word, words, ARRAY_SIZE(words), ret_problem);
		labels |= 1U << label;
	}
	*ret = labels;
	return 0;
}

/* The values of [model] that name parts of the model: its CPUs and its workloads. */

#define ALL      "all"
#define SCENARIO "scenario"

#define ALL_WORKLOADS ((1U << WORKLOAD_COUNT) - 1)
#define ALL_PROGRAMS  ((1U << WORKLOAD_KINDS) - 1 - ALL_WORKLOADS)

static int refuse_unable(const struct config_key *key, const struct machine *machine,
			 const char *const *words, size_t n, char **ret_problem)
{
	_cleanup_free_ char *list = config_words_join(words, n);

	if (!list || asprintf(ret_problem, "%s = %s: %s; use one of %s (%s)", key->name, machine->name,
			      machine_refusal(machine), list, key->meaning) < 0)
		return -ENOMEM;
	return -EINVAL;
}

/*
 * Finds a CPU of the model by its name. Returns 0 or -ENOMEM, or -EINVAL with `*ret_problem`, which the
 * caller frees. The text has the reason if machine_refusal() refuses the CPU, and lists the CPUs that can be
 * used. `*ret` is written on success only.
 */
static int config_model_cpu(const struct config_key *key, const char *text, const struct machine **ret,
			    char **ret_problem)
{
	const struct machine *machine = machine_find(text);
	_cleanup_free_ const char **able = calloc(machines_count, sizeof(*able));
	size_t n = 0;

	if (!able)
		return -ENOMEM;
	for (size_t i = 0; i < machines_count; i++)
		if (!machine_refusal(&machines[i]))
			able[n++] = machines[i].name;
	if (!machine)
		return config_words_refuse(key, text, able, n, ret_problem);
	if (machine_refusal(machine))
		return refuse_unable(key, machine, able, n, ret_problem);
	*ret = machine;
	return 0;
}

/*
 * Parses names of workloads, separated by blanks, "scenario" or "all". Sets `*ret` to the bits 1 << enum workload_kind.
 * Returns as config_model_cpu().
 */
static int config_model_workloads(const struct config_key *key, const char *text, unsigned int *ret,
				  char **ret_problem)
{
	const char *words[WORKLOAD_KINDS + 2] = {SCENARIO, ALL};
	_cleanup_free_ char *copy = strdup(text);
	unsigned int workloads = 0;
	char *rest = copy;
	char *word;

	if (!copy)
		return -ENOMEM;
	memcpy(&words[2], workload_names, sizeof(workload_names));
	while ((word = strsep(&rest, BLANKS))) {
		int kind = workload_find(word);

		if (!*word)
			continue;
		if (strcmp(word, ALL) == 0)
			workloads |= ALL_WORKLOADS;
		else if (strcmp(word, SCENARIO) == 0)
			workloads |= ALL_PROGRAMS;
		else if (kind >= 0)
			workloads |= 1U << kind;
		else
			return config_words_refuse(key, word, words, ARRAY_SIZE(words), ret_problem);
	}
	*ret = workloads;
	return 0;
}

/* The values of [sampling] that are more than a number or a word. */

#define OFF  "off"
#define AUTO "auto"

#define BUDGET_MIN 0.0001

/* Most CPUs have 8 general-purpose counters at most. */
#define LEAVE_COUNTERS_MAX 8

static int find_role(const char *word)
{
	for (int role = 0; role < EVENT_ROLES; role++)
		if (strcmp(word, event_role_name((enum event_role)role)) == 0)
			return role;
	return -ENOENT;
}

static int refuse_event(const struct config_key *key, const char *word, char **ret_problem)
{
	const char *words[1 + EVENT_ROLES] = {AUTO};

	for (int role = 0; role < EVENT_ROLES; role++)
		words[1 + role] = event_role_name((enum event_role)role);
	return config_words_refuse(key, word, words, ARRAY_SIZE(words), ret_problem);
}

/*
 * Parses `auto`, or events, separated by blanks, each at most once. Sets `*ret` to CONFIG_EVENTS_AUTO or to the bits
 * 1 << enum event_role. Returns as config_key_set(): a mistake changes nothing.
 */
static int config_sampling_events(const struct config_key *key, const char *text, unsigned int *ret,
				  char **ret_problem)
{
	_cleanup_free_ char *words = strdup(text);
	unsigned int events = 0;
	bool automatic = false;
	char *rest = words;
	char *word;

	if (!words)
		return -ENOMEM;
	while ((word = strsep(&rest, BLANKS))) {
		bool is_auto = strcmp(word, AUTO) == 0;
		int role = is_auto ? -ENOENT : find_role(word);

		if (!*word)
			continue;
		if (!is_auto && role < 0)
			return refuse_event(key, word, ret_problem);
		if (is_auto ? automatic : (events & 1U << role) != 0)
			return asprintf(ret_problem, "%s: %s is given twice; remove one (%s)", key->name,
					word, key->meaning) < 0
				       ? -ENOMEM
				       : -EINVAL;
		if (is_auto)
			automatic = true;
		else
			events |= 1U << role;
	}
	if (automatic && events)
		return asprintf(
			       ret_problem,
			       "%s = %s: auto cannot be combined with other events; remove it, or the others (%s)",
			       key->name, text, key->meaning) < 0
			       ? -ENOMEM
			       : -EINVAL;
	*ret = events;
	return 0;
}

/* Parses `all`, which is the empty list, or CPUs in the kernel's format: 0-3,8. */
static int config_sampling_cpus(const struct config_key *key, const char *text, struct cpu_list *ret,
				char **ret_problem)
{
	struct cpu_list cpus = {0};
	int length;
	int r;

	if (strcmp(text, ALL) == 0) {
		*ret = cpus;
		return 0;
	}
	r = cpu_list_parse(text, &cpus);
	if (r == 0 && cpu_list_count(&cpus) > 0) {
		*ret = cpus;
		return 0;
	}
	if (r == -ERANGE)
		length = asprintf(
			ret_problem,
			"%s = %s: the highest possible CPU number is %d; expected all or a list such as 0-3,8 (%s)",
			key->name, text, CPU_LIST_MAX - 1, key->meaning);
	else
		length = asprintf(
			ret_problem,
			"%s = %s: expected all, or numbers and ranges separated by commas without blanks, such as 0-3,8 (%s)",
			key->name, text, key->meaning);
	return length < 0 ? -ENOMEM : -EINVAL;
}

#define BUDGET_FORM "off, or a percentage from 0.01% to 100%"

/*
 * A number without % could be a fraction or a percentage: 0.5 is half of a CPU, or half a percent of it. As a
 * percentage, a small number would be below the minimum.
 */
static int refuse_bare(const struct config_key *key, const char *text, double value, char **ret_problem)
{
	if (value < 100 * BUDGET_MIN)
		return config_refuse(ret_problem, "%s = %s: expected %s, such as %g%% for this fraction (%s)",
				     key->name, text, BUDGET_FORM, value * 100, key->meaning);
	return asprintf(
		       ret_problem,
		       "%s = %s: without %% this has two meanings: write %g%% if you mean %g percent, or %g%% if "
		       "you mean the fraction (%s)",
		       key->name, text, value, value, value * 100, key->meaning) < 0
		       ? -ENOMEM
		       : -EINVAL;
}

/* Parses `off`, which is 0, or a percentage of CPU time, such as 0.5%. A number without % is refused. */
static int config_sampling_budget(const struct config_key *key, const char *text, double *ret,
				  char **ret_problem)
{
	double value;
	int r;

	if (strcmp(text, OFF) == 0) {
		*ret = 0;
		return 0;
	}
	r = decimal_parse(text, &value);
	if (r == 0 && !strchr(text, '%') && value >= BUDGET_MIN && value <= 1)
		return refuse_bare(key, text, value, ret_problem);
	if (r < 0 || !strchr(text, '%') || value < BUDGET_MIN || value > 1)
		return config_key_refuse_value(key, text, BUDGET_FORM, ret_problem);
	*ret = value;
	return 0;
}

static const char *const origin_names[] = {
	[CONFIG_ORIGIN_AUTO] = "auto",
	[CONFIG_ORIGIN_PERF] = "perf",
	[CONFIG_ORIGIN_REPLAY] = "replay",
	[CONFIG_ORIGIN_MODEL] = "model",
};

#define FIELD(member) .offset = offsetof(struct config, member)

static const struct config_key keys[] = {
	{"sampling", "origin", CONFIG_KEY_ORIGIN, .needs_restart = true, FIELD(origin),
	 .default_text = "auto", .meaning = "where samples come from"},
	{"sampling", "events", CONFIG_KEY_EVENTS, .needs_restart = true, FIELD(events),
	 .default_text = "auto", .meaning = "events to sample"},
	{"sampling", "ldlat", CONFIG_KEY_NUMBER, .needs_restart = true, FIELD(ldlat), .default_text = "31",
	 .min = 3, .max = 65535, .meaning = "cycles a load must take to be sampled"},
	{"sampling", "budget", CONFIG_KEY_BUDGET, .needs_restart = false, FIELD(budget),
	 .default_text = "0.5%", .meaning = "share of each CPU's time that sampling may cost"},
	{"sampling", "period", CONFIG_KEY_NUMBER, .needs_restart = false, FIELD(periods.accesses),
	 .default_text = "auto", .min = 100, .max = INT32_MAX, .has_auto = true,
	 .auto_value = CONFIG_PERIOD_AUTO, .meaning = "loads or stores from one sample to the next"},
	{"sampling", "instructions-period", CONFIG_KEY_NUMBER, .needs_restart = false,
	 FIELD(periods.instructions), .default_text = "auto", .min = 1000, .max = INT32_MAX, .has_auto = true,
	 .auto_value = CONFIG_PERIOD_AUTO, .meaning = "instructions from one sample to the next"},
	{"sampling", "cycles-period", CONFIG_KEY_NUMBER, .needs_restart = false, FIELD(periods.cycles),
	 .default_text = "auto", .min = 1000, .max = INT32_MAX, .has_auto = true,
	 .auto_value = CONFIG_PERIOD_AUTO, .meaning = "cycles from one sample to the next"},
	{"sampling", "stalls-period", CONFIG_KEY_NUMBER, .needs_restart = false, FIELD(periods.stalls),
	 .default_text = "auto", .min = 1000, .max = INT32_MAX, .has_auto = true,
	 .auto_value = CONFIG_PERIOD_AUTO, .meaning = "stalled cycles from one sample to the next"},
	{"sampling", "misses-period", CONFIG_KEY_NUMBER, .needs_restart = false, FIELD(periods.misses),
	 .default_text = "auto", .min = 100, .max = INT32_MAX, .has_auto = true,
	 .auto_value = CONFIG_PERIOD_AUTO, .meaning = "cache misses from one sample to the next"},
	{"sampling", "cpus", CONFIG_KEY_CPUS, .needs_restart = true, FIELD(cpus), .default_text = "all",
	 .meaning = "CPUs that are sampled"},
	{"sampling", "isolated", CONFIG_KEY_YES_NO, .needs_restart = true, FIELD(isolated),
	 .default_text = "no", .meaning = "whether isolated CPUs are also sampled"},
	{"sampling", "leave-counters", CONFIG_KEY_NUMBER, .needs_restart = true, FIELD(leave_counters),
	 .default_text = "0", .min = 0, .max = LEAVE_COUNTERS_MAX,
	 .meaning = "general-purpose counters of each CPU that pebsd leaves to others"},
	{"sampling", "interval", CONFIG_KEY_DURATION, .needs_restart = false, FIELD(interval_ns),
	 .default_text = "1s", .min = 100 * NSEC_PER_MSEC, .max = 60 * NSEC_PER_SEC,
	 .meaning = "time from one collection to the next"},
	{"model", "cpu", CONFIG_KEY_MACHINE, .needs_restart = true, FIELD(cpu), .default_text = "skylake",
	 .meaning = "the CPU that the model simulates"},
	{"model", "seed", CONFIG_KEY_NUMBER, .needs_restart = true, FIELD(seed), .default_text = "1",
	 .min = 0, .max = UINT64_MAX, .meaning = "seed of the model's random numbers"},
	{"model", "workloads", CONFIG_KEY_WORKLOADS, .needs_restart = true, FIELD(workloads),
	 .default_text = "scenario", .meaning = "workloads of the model, each in its own cgroup"},
	{"cgroups", "max", CONFIG_KEY_NUMBER, .needs_restart = true, FIELD(cgroups_max),
	 .default_text = "auto", .min = 16, .max = 65536, .has_auto = true,
	 .auto_value = CONFIG_CGROUPS_MAX_AUTO, .meaning = "number of slots, one for each accounted cgroup"},
	{"cgroups", "max-memory", CONFIG_KEY_SIZE, .needs_restart = true, FIELD(cgroups_max_memory),
	 .default_text = "auto", .min = 1ULL << 20, .max = 1ULL << 40, .has_auto = true,
	 .auto_value = CONFIG_MAX_MEMORY_AUTO,
	 .meaning = "maximum memory of all BPF maps together; limits the slots if max is auto"},
	{"cgroups", "include", CONFIG_KEY_PATTERNS, .needs_restart = false, FIELD(include),
	 .default_text = "/**", .meaning = "cgroups that are exported by name"},
	{"cgroups", "exclude", CONFIG_KEY_PATTERNS, .needs_restart = false, FIELD(exclude),
	 .default_text = "", .meaning = "cgroups that are not exported by name, even if included"},
	{"cgroups", "hot", CONFIG_KEY_PATTERNS, .needs_restart = false, FIELD(hot), .default_text = "",
	 .meaning = "cgroups with tables of hot code and data"},
	{"cgroups", "hot-max", CONFIG_KEY_NUMBER, .needs_restart = true, FIELD(hot_max), .default_text = "8",
	 .min = 0, .max = HOT_MAX, .meaning = "maximum number of cgroups with hot tables at a time"},
	{"containers", "names", CONFIG_KEY_YES_NO, .needs_restart = false, FIELD(container_names),
	 .default_text = "yes", .meaning = "whether names of pods and containers are looked up on this host"},
	{"containers", "labels", CONFIG_KEY_LABELS, .needs_restart = false, FIELD(container_labels),
	 .default_text = "", .meaning = "labels that metrics have besides cgroup, if they are known"},
	{"history", "keep", CONFIG_KEY_HISTORY, .needs_restart = true, FIELD(history), .default_text = "auto",
	 .meaning = "whether a history is kept on disk"},
	{"history", "size", CONFIG_KEY_SIZE, .needs_restart = false, FIELD(history_bytes),
	 .default_text = "256M", .min = 8ULL << 20, .max = 1ULL << 40,
	 .meaning = "maximum size of the history on disk"},
	{"history", "age", CONFIG_KEY_DURATION, .needs_restart = false, FIELD(history_age_ns),
	 .default_text = "14d", .min = 3600 * NSEC_PER_SEC, .max = 3650ULL * 86400 * NSEC_PER_SEC,
	 .meaning = "maximum age of the history"},
	{"export", "listen", CONFIG_KEY_LISTEN, .needs_restart = true, FIELD(listen),
	 .default_text = LISTEN_ADDRESS_DEFAULT, .meaning = "where /metrics is served"},
	{"export", "hosts", CONFIG_KEY_HOSTS, .needs_restart = false, FIELD(hosts), .default_text = "",
	 .meaning = "names that HTTP clients may use for this host, besides the address in listen"},
	{"export", "top", CONFIG_KEY_NUMBER, .needs_restart = false, FIELD(top), .default_text = "auto",
	 .min = 0, .max = 10000, .has_auto = true, .auto_value = CONFIG_TOP_AUTO,
	 .meaning = "number of costliest cgroups that have series of their own"},
	{"export", "detail-metrics", CONFIG_KEY_YES_NO, .needs_restart = false, FIELD(detail_metrics),
	 .default_text = "no", .meaning = "whether all snoop and TLB results are exported"},
	{"export", "profiles", CONFIG_KEY_YES_NO, .needs_restart = false, FIELD(profiles),
	 .default_text = "no",
	 .meaning = "whether profiles are served over HTTP, to every client that can connect"},
	{"control", "group", CONFIG_KEY_GROUP, .needs_restart = true, FIELD(group),
	 .default_text = CONFIG_GROUP,
	 .meaning = "group whose members may query pebsd over the control socket"},
	{"control", "detail", CONFIG_KEY_ACCOUNT, .needs_restart = false, FIELD(detail),
	 .default_text = "root",
	 .meaning =
		 "user or group, besides root, that may pause, resume, zoom, and read hot tables and profiles"},
	{"symbols", "debuginfod", CONFIG_KEY_URLS, .needs_restart = true, FIELD(debuginfod),
	 .default_text = "", .meaning = "servers to ask for debugging information"},
};

_Static_assert(ARRAY_SIZE(keys) <= CONFIG_KEYS_MAX, "lists of keys are CONFIG_KEYS_MAX long");

const struct config_key *config_keys(size_t *ret_n)
{
	*ret_n = ARRAY_SIZE(keys);
	return keys;
}

size_t config_sections(const char *ret[static CONFIG_KEYS_MAX])
{
	size_t n = 0;

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		if (n == 0 || strcmp(ret[n - 1], keys[i].section) != 0)
			ret[n++] = keys[i].section;
	return n;
}

size_t config_key_names(const char *section, const char *ret[static CONFIG_KEYS_MAX])
{
	size_t n = 0;

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		if (!section || strcmp(keys[i].section, section) == 0)
			ret[n++] = keys[i].name;
	return n;
}

const struct config_key *config_key_find(const char *section, const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		if (strcmp(keys[i].section, section) == 0 && strcmp(keys[i].name, name) == 0)
			return &keys[i];
	return NULL;
}

static void *field_of(const struct config_key *key, struct config *config)
{
	return (char *)config + key->offset;
}

static const void *field_in(const struct config_key *key, const struct config *config)
{
	return (const char *)config + key->offset;
}

static size_t field_size(const struct config_key *key)
{
	switch (key->type) {
	case CONFIG_KEY_ORIGIN:
		return sizeof(enum config_origin);
	case CONFIG_KEY_HISTORY:
		return sizeof(enum config_history);
	case CONFIG_KEY_EVENTS:
	case CONFIG_KEY_WORKLOADS:
	case CONFIG_KEY_LABELS:
		return sizeof(unsigned int);
	case CONFIG_KEY_MACHINE:
		return sizeof(const struct machine *);
	case CONFIG_KEY_CPUS:
		return sizeof(struct cpu_list);
	case CONFIG_KEY_NUMBER:
	case CONFIG_KEY_DURATION:
	case CONFIG_KEY_SIZE:
		return sizeof(u64);
	case CONFIG_KEY_YES_NO:
		return sizeof(bool);
	case CONFIG_KEY_BUDGET:
		return sizeof(double);
	case CONFIG_KEY_PATTERNS:
		return sizeof(struct config_patterns);
	case CONFIG_KEY_LISTEN:
		return sizeof(struct listen_address);
	case CONFIG_KEY_GROUP:
	case CONFIG_KEY_ACCOUNT:
		return CONFIG_GROUP_MAX;
	case CONFIG_KEY_URLS:
	case CONFIG_KEY_HOSTS:
		return CONFIG_LINE_MAX;
	case CONFIG_KEY_RULE:
		break;
	}
	return 0;
}

static int set_origin(const struct config_key *key, void *field, const char *text, char **ret_problem)
{
	for (size_t i = 0; i < ARRAY_SIZE(origin_names); i++)
		if (strcmp(text, origin_names[i]) == 0) {
			*(enum config_origin *)field = (enum config_origin)i;
			return 0;
		}
	return config_key_refuse_value(key, text, "auto, perf, replay or model", ret_problem);
}

static int set_history(const struct config_key *key, void *field, const char *text, char **ret_problem)
{
	static const char *const names[] = {
		[CONFIG_HISTORY_AUTO] = "auto", [CONFIG_HISTORY_YES] = "yes", [CONFIG_HISTORY_NO] = "no"};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (strcmp(text, names[i]) == 0) {
			*(enum config_history *)field = (enum config_history)i;
			return 0;
		}
	return config_key_refuse_value(key, text, "auto, yes or no", ret_problem);
}

static int set_number(const struct config_key *key, void *field, const char *text, char **ret_problem)
{
	char wanted[96];

	if (key->has_auto && strcmp(text, "auto") == 0) {
		*(u64 *)field = key->auto_value;
		return 0;
	}
	if (number_parse(text, key->min, key->max, field) == 0)
		return 0;
	(void)snprintf(wanted, sizeof(wanted), "%sa whole number from %llu to %llu",
		       key->has_auto ? "auto or " : "", (unsigned long long)key->min,
		       (unsigned long long)key->max);
	return config_key_refuse_value(key, text, wanted, ret_problem);
}

static int set_duration(const struct config_key *key, void *field, const char *text, char **ret_problem)
{
	char min[NUMBER_TEXT_MAX];
	char max[NUMBER_TEXT_MAX];
	char wanted[sizeof(min) + sizeof(max) + 64];

	if (duration_parse(text, key->min, key->max, field) == 0)
		return 0;
	(void)snprintf(wanted, sizeof(wanted), "a time from %s to %s, a whole number with ms, s, m, h or d",
		       key->min ? duration_format(key->min, min) : "0", duration_format(key->max, max));
	return config_key_refuse_value(key, text, wanted, ret_problem);
}

static int set_size(const struct config_key *key, void *field, const char *text, char **ret_problem)
{
	char min[NUMBER_TEXT_MAX];
	char max[NUMBER_TEXT_MAX];
	char wanted[sizeof(min) + sizeof(max) + 64];

	if (key->has_auto && strcmp(text, "auto") == 0) {
		*(u64 *)field = key->auto_value;
		return 0;
	}
	if (size_parse(text, key->min, key->max, field) == 0)
		return 0;
	(void)snprintf(wanted, sizeof(wanted), "%sa size from %s to %s, a whole number with K, M, G or T",
		       key->has_auto ? "auto or " : "", size_format(key->min, min),
		       size_format(key->max, max));
	return config_key_refuse_value(key, text, wanted, ret_problem);
}

static int set_yes_no(const struct config_key *key, void *field, const char *text, char **ret_problem)
{
	bool yes = strcmp(text, "yes") == 0;

	if (!yes && strcmp(text, "no") != 0)
		return config_key_refuse_value(key, text, "yes or no", ret_problem);
	*(bool *)field = yes;
	return 0;
}

/*
 * `pattern` is not empty. A pattern that can never match is a mistake. Paths begin with `/` and have no empty names,
 * and only the root's ends with `/`. Names from a replay or the model begin with their kind.
 */
static bool pattern_can_match(const char *pattern)
{
	const size_t last = strlen(pattern) - 1;

	if (*pattern == '/' || strncmp(pattern, "**", 2) == 0)
		return !strstr(pattern, "//") && (pattern[last] != '/' || strspn(pattern, "*") == last);
	return strncmp(pattern, "comm:", 5) == 0 || strncmp(pattern, "cgroup:", 7) == 0 ||
	       strncmp(pattern, "model:", 6) == 0;
}

void config_patterns_clear(struct config_patterns *patterns)
{
	for (size_t i = 0; i < patterns->n; i++)
		free(patterns->list[i]);
	free(patterns->list);
	*patterns = (struct config_patterns){0};
}

static int add_pattern(struct config_patterns *patterns, const char *pattern)
{
	char **list = reallocarray(patterns->list, patterns->n + 1, sizeof(*list));

	if (!list)
		return -ENOMEM;
	patterns->list = list;
	list[patterns->n] = strdup(pattern);
	if (!list[patterns->n])
		return -ENOMEM;
	patterns->n++;
	return 0;
}

static int set_patterns(const struct config_key *key, void *field, const char *text, char **ret_problem)
{
	_cleanup_(config_patterns_clear) struct config_patterns patterns = {0};
	_cleanup_free_ char *words = strdup(text);
	struct config_patterns *place = field;
	struct config_patterns before;
	char *rest = words;
	char *word;
	int r;

	if (!words)
		return -ENOMEM;
	while ((word = strsep(&rest, BLANKS))) {
		if (!*word)
			continue;
		if (!pattern_can_match(word))
			return config_refuse(
				ret_problem,
				"%s: the pattern %s cannot match a cgroup; begin it with / or ** (comm: or cgroup: for a recording, model: for the model), and leave out // and a / at its end",
				key->name, word);
		if (strlen(word) > GLOB_PATTERN_MAX)
			return config_refuse(ret_problem,
					     "%s: a pattern has at most %d bytes; shorten it with **",
					     key->name, GLOB_PATTERN_MAX);
		r = add_pattern(&patterns, word);
		if (r < 0)
			return r;
	}
	before = *place;
	*place = patterns;
	patterns = before;
	return 0;
}

static int set_listen(const struct config_key *key, void *field, const char *text, char **ret_problem)
{
	if (listen_address_parse(text, field) < 0)
		return config_key_refuse_value(key, text, LISTEN_ADDRESS_FORM, ret_problem);
	return 0;
}

static int set_group(const struct config_key *key, void *field, const char *text, char **ret_problem)
{
	const bool account = key->type == CONFIG_KEY_ACCOUNT;
	size_t length = strlen(text);

	if (strspn(text, "0123456789") == length && length > 0)
		return config_key_refuse_value(key, text,
					       account ? "the name of a user or group, not its number"
						       : "the name of a group, not its number",
					       ret_problem);
	if (strpbrk(text, BLANKS ":,/") || *text == '-' || length >= CONFIG_GROUP_MAX)
		return config_key_refuse_value(
			key, text, account ? "the name of one user or group" : "the name of one group",
			ret_problem);
	memcpy(field, text, length + 1);
	return 0;
}

/* A user name or a password is not allowed: the symbolizer's environment would expose them. */
static bool is_url(const char *word)
{
	const char *host = strncmp(word, "https://", 8) == 0  ? word + 8
			   : strncmp(word, "http://", 7) == 0 ? word + 7
							      : "";

	for (const char *at = word; *at; at++)
		if (*at <= ' ' || *at > '~')
			return false;
	return *host && *host != '/' && *host != ':' && !strchr(host, '@');
}

static int set_urls(const struct config_key *key, void *field, const char *text, char **ret_problem)
{
	_cleanup_free_ char *words = strdup(text);
	char urls[CONFIG_LINE_MAX] = "";
	char *rest = words;
	char *word;

	if (!words)
		return -ENOMEM;
	if (strlen(text) >= sizeof(urls))
		return config_refuse(ret_problem, "%s: the URLs have more than %d bytes; list fewer",
				     key->name, CONFIG_LINE_MAX - 1);
	while ((word = strsep(&rest, BLANKS))) {
		if (!*word)
			continue;
		if (!is_url(word))
			return config_refuse(
				ret_problem,
				"%s: %s is not a valid URL of a debuginfod server; begin it with https:// or http://, without a user name",
				key->name, word);
		(void)snprintf(urls + strlen(urls), sizeof(urls) - strlen(urls), "%s%s", *urls ? " " : "",
			       word);
	}
	/* Clear the whole field: configurations are compared byte by byte. */
	memset(field, 0, sizeof(urls));
	memcpy(field, urls, strlen(urls));
	return 0;
}

static int set_hosts(const struct config_key *key, void *field, const char *text, char **ret_problem)
{
	_cleanup_free_ char *words = strdup(text);
	char hosts[CONFIG_LINE_MAX] = "";
	char *rest = words;
	char *word;

	if (!words)
		return -ENOMEM;
	if (strlen(text) >= sizeof(hosts))
		return config_refuse(ret_problem, "%s: the names have more than %d bytes; list fewer",
				     key->name, CONFIG_LINE_MAX - 1);
	while ((word = strsep(&rest, BLANKS))) {
		if (!*word)
			continue;
		if (!http_host_is_name(word))
			return config_refuse(ret_problem, "%s: %s is not a host; expected " HTTP_HOST_FORM,
					     key->name, word);
		(void)snprintf(hosts + strlen(hosts), sizeof(hosts) - strlen(hosts), "%s%s",
			       *hosts ? " " : "", word);
	}
	/* Clear the whole field: configurations are compared byte by byte. */
	memset(field, 0, sizeof(hosts));
	memcpy(field, hosts, strlen(hosts));
	return 0;
}

int config_key_set(const struct config_key *key, struct config *config, const char *text, char **ret_problem)
{
	return config_key_set_field(key, field_of(key, config), text, ret_problem);
}

int config_key_set_field(const struct config_key *key, void *field, const char *text, char **ret_problem)
{
	const char *value = *text ? text : key->default_text;

	switch (key->type) {
	case CONFIG_KEY_ORIGIN:
		return set_origin(key, field, value, ret_problem);
	case CONFIG_KEY_EVENTS:
		return config_sampling_events(key, value, field, ret_problem);
	case CONFIG_KEY_NUMBER:
		return set_number(key, field, value, ret_problem);
	case CONFIG_KEY_DURATION:
		return set_duration(key, field, value, ret_problem);
	case CONFIG_KEY_SIZE:
		return set_size(key, field, value, ret_problem);
	case CONFIG_KEY_HISTORY:
		return set_history(key, field, value, ret_problem);
	case CONFIG_KEY_YES_NO:
		return set_yes_no(key, field, value, ret_problem);
	case CONFIG_KEY_PATTERNS:
		return set_patterns(key, field, text, ret_problem);
	case CONFIG_KEY_LISTEN:
		return set_listen(key, field, value, ret_problem);
	case CONFIG_KEY_GROUP:
		return set_group(key, field, text, ret_problem);
	case CONFIG_KEY_ACCOUNT:
		return set_group(key, field, value, ret_problem);
	case CONFIG_KEY_URLS:
		return set_urls(key, field, text, ret_problem);
	case CONFIG_KEY_HOSTS:
		return set_hosts(key, field, text, ret_problem);
	case CONFIG_KEY_MACHINE:
		return config_model_cpu(key, value, field, ret_problem);
	case CONFIG_KEY_WORKLOADS:
		return config_model_workloads(key, value, field, ret_problem);
	case CONFIG_KEY_LABELS:
		return config_container_labels(key, text, field, ret_problem);
	case CONFIG_KEY_CPUS:
		return config_sampling_cpus(key, value, field, ret_problem);
	case CONFIG_KEY_BUDGET:
		return config_sampling_budget(key, value, field, ret_problem);
	case CONFIG_KEY_RULE:
		break;
	}
	return -EINVAL;
}

static bool patterns_equal(const struct config_patterns *a, const struct config_patterns *b)
{
	if (a->n != b->n)
		return false;
	for (size_t i = 0; i < a->n; i++)
		if (strcmp(a->list[i], b->list[i]) != 0)
			return false;
	return true;
}

bool config_key_equal(const struct config_key *key, const struct config *a, const struct config *b)
{
	const void *left = field_in(key, a);
	const void *right = field_in(key, b);

	switch (key->type) {
	case CONFIG_KEY_PATTERNS:
		return patterns_equal(left, right);
	case CONFIG_KEY_LISTEN:
		return listen_address_equal(left, right);
	case CONFIG_KEY_GROUP:
	case CONFIG_KEY_ACCOUNT:
		return strcmp(left, right) == 0;
	case CONFIG_KEY_ORIGIN:
	case CONFIG_KEY_EVENTS:
	case CONFIG_KEY_NUMBER:
	case CONFIG_KEY_DURATION:
	case CONFIG_KEY_SIZE:
	case CONFIG_KEY_YES_NO:
	case CONFIG_KEY_HISTORY:
	case CONFIG_KEY_MACHINE:
	case CONFIG_KEY_WORKLOADS:
	case CONFIG_KEY_CPUS:
	case CONFIG_KEY_BUDGET:
	case CONFIG_KEY_URLS:
	case CONFIG_KEY_HOSTS:
	case CONFIG_KEY_LABELS:
	case CONFIG_KEY_RULE:
		break;
	}
	return memcmp(left, right, field_size(key)) == 0;
}

void config_key_swap(const struct config_key *key, struct config *a, struct config *b)
{
	char *left = field_of(key, a);
	char *right = field_of(key, b);

	for (size_t i = 0; i < field_size(key); i++) {
		char byte = left[i];

		left[i] = right[i];
		right[i] = byte;
	}
}

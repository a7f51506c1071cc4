// SPDX-License-Identifier: GPL-2.0
#include "trial/trial.h"

#include <errno.h>
#include <search.h>
#include <string.h>

#include "policy/policy.h"

/*
 * The limit for `max = auto`. A cgroup needs little memory between collections, but a hostile recording may
 * have samples of all cgroups in one collection.
 */
#define CGROUPS_AUTO 16384

/* look() runs this many times within the shortest window of all rules. */
#define LOOKS_A_WINDOW 10

/* The start of the policy's clock. It is not 0, because the policy uses 0 for "never". */
#define CLOCK_START NSEC_PER_SEC

/* Flags of a path under one rule: the rule matches it, the rule judged it, the rule fired. */
enum standing { MATCHED = 1 << 0, JUDGED = 1 << 1, FIRED = 1 << 2 };

struct target {
	char *path;
	u8 standing[]; /* enum standing, for each rule */
};

/* An alert that is firing now. */
struct firing {
	u64 number; /* of the alert */
	size_t rule;
	u64 since_ns; /* on the policy's clock */
};

struct trial {
	const struct config *config;
	struct event events[EVENTS_MAX];
	size_t n_events;
	char event_keys[EVENTS_MAX][EVENT_KEY_MAX];
	struct account_totals *account;
	struct policy *policy; /* of the present stretch */
	struct trial_report *report;
	void *targets; /* a tree of struct target, see tsearch(3) */
	struct firing *firing;
	size_t n_firing;
	u64 next_number;
	u64 now_ns;  /* on the policy's clock */
	u64 look_ns; /* when to call look() next */
};

int trial_new(const struct trial_settings *settings, struct trial **ret)
{
	_cleanup_(trial_freep) struct trial *trial = calloc(1, sizeof(*trial));
	const struct config *config = settings->config;
	struct event_settings events[EVENTS_MAX];
	int r;

	if (!trial)
		return -ENOMEM;
	if (settings->n_events > EVENTS_MAX)
		return -EINVAL;
	trial->config = config;
	trial->next_number = 1;
	trial->n_events = settings->n_events;
	for (size_t i = 0; i < settings->n_events; i++) {
		trial->events[i] = settings->events[i];
		events[i] = settings->events[i].settings;
		event_key(settings->events, settings->n_events, i, trial->event_keys[i]);
	}
	r = account_totals_new(events, settings->n_events,
			       config->cgroups_max ? config->cgroups_max : CGROUPS_AUTO, &trial->account);
	if (r == 0)
		r = trial_report_new(settings->origin, config->rules, config->n_rules, &trial->report);
	if (r < 0)
		return r;
	trial->report->only_comms = true;
	trial->report->frequency_hz = settings->frequency_hz;
	for (size_t i = 0; i < trial->n_events; i++)
		trial->report->roles |= 1U << trial->events[i].role;
	*ret = TAKE_PTR(trial);
	return 0;
}

static void free_target(void *node)
{
	struct target *target = node;

	free(target->path);
	free(target);
}

struct trial *trial_free(struct trial *trial)
{
	if (!trial)
		return NULL;
	policy_free(trial->policy);
	account_totals_free(trial->account);
	trial_report_free(trial->report);
	tdestroy(trial->targets, free_target);
	free(trial->firing);
	free(trial);
	return NULL;
}

static int compare_targets(const void *a, const void *b)
{
	return strcmp(((const struct target *)a)->path, ((const struct target *)b)->path);
}

/* Finds or makes the target of a path. NULL: no memory. */
static struct target *target_of(struct trial *trial, const char *path)
{
	const size_t n_rules = trial->config->n_rules;
	struct target key = {.path = (char *)path};
	struct target *target;
	void *found = tfind(&key, &trial->targets, compare_targets);

	if (found)
		return *(struct target **)found;
	target = calloc(1, sizeof(*target) + n_rules);
	if (!target)
		return NULL;
	target->path = strdup(path);
	if (!target->path || !tsearch(target, &trial->targets, compare_targets)) {
		free_target(target);
		return NULL;
	}
	for (size_t i = 0; i < n_rules; i++) {
		if (!rule_matches(&trial->config->rules[i], path))
			continue;
		target->standing[i] = MATCHED;
		trial->report->of_rules[i].cgroups++;
	}
	return target;
}

/* Marks a standing, and counts it if it is new. */
static void mark(struct target *target, size_t rule, enum standing standing, u64 *count)
{
	if (target->standing[rule] & standing)
		return;
	target->standing[rule] |= (u8)standing;
	(*count)++;
}

static struct trial_stretch *stretch_of(const struct trial *trial)
{
	return &trial->report->stretches[trial->report->n_stretches - 1];
}

static u64 elapsed_ns(const struct trial *trial)
{
	return trial->now_ns - CLOCK_START;
}

static double seconds(u64 ns)
{
	return (double)ns / (double)NSEC_PER_SEC;
}

static void stop_firing(struct trial *trial, size_t index)
{
	const struct firing *firing = &trial->firing[index];

	trial->report->of_rules[firing->rule].firing_s += seconds(trial->now_ns - firing->since_ns);
	trial->firing[index] = trial->firing[--trial->n_firing];
}

static void end_stretch(struct trial *trial)
{
	while (trial->n_firing > 0) {
		trial->report->of_rules[trial->firing[trial->n_firing - 1].rule].still_firing++;
		stop_firing(trial, trial->n_firing - 1);
	}
	if (trial->policy)
		trial->next_number = policy_next_number(trial->policy);
	trial->policy = policy_free(trial->policy);
}

int trial_begin(struct trial *trial, const char *name, u64 start_ns, const struct timespec *real_time)
{
	struct trial_stretch stretch = {.start_ns = start_ns, .real_time = real_time != NULL};
	struct policy_settings settings = {
		.rules = trial->config->rules,
		.n_rules = trial->config->n_rules,
		.events = trial->events,
		.n_events = trial->n_events,
		.start_ns = CLOCK_START,
		.max_bytes = POLICY_BYTES,
	};
	int r;

	end_stretch(trial);
	settings.next_number = trial->next_number;
	trial->now_ns = trial->look_ns = CLOCK_START;
	if (real_time)
		stretch.start = *real_time;
	stretch.name = name ? strdup(name) : NULL;
	if (name && !stretch.name)
		return -ENOMEM;
	r = trial_report_stretch(trial->report, &stretch);
	if (r == 0)
		r = policy_new(&settings, &trial->policy);
	if (r < 0)
		return r;
	for (unsigned i = 0; i < trial->n_events; i++)
		if (trial->events[i].role == EVENT_CYCLES)
			policy_set_frequency(trial->policy, i, trial->report->frequency_hz);
	return 0;
}

int trial_name(struct trial *trial, u64 cgroup_id, const char *path)
{
	struct trial_report *report = trial->report;
	struct target *target;
	int r;

	/* An excluded cgroup is not accounted, so its samples do not count for the subtrees above it either. */
	if (!config_exports(trial->config, path)) {
		report->cgroups_excluded++;
		return 0;
	}
	r = account_totals_name(trial->account, cgroup_id, path);
	if (r == -ENOSPC) {
		report->cgroups_left_out++;
		return 0;
	}
	target = r == 0 ? target_of(trial, path) : NULL;
	if (!target)
		return -ENOMEM;
	if (report->cgroups < TRIAL_SOME_CGROUPS)
		report->some_cgroups[report->cgroups] = target->path;
	report->cgroups++;
	if (strncmp(path, "comm:", 5) != 0)
		report->only_comms = false;
	return 0;
}

int trial_add(struct trial *trial, const struct sample *samples, size_t n)
{
	trial->report->samples += n;
	return account_totals_add(trial->account, samples, n);
}

static size_t rule_of(const struct trial *trial, const char *name)
{
	size_t i = 0;

	while (i + 1 < trial->config->n_rules && strcmp(trial->config->rules[i].name, name) != 0)
		i++;
	return i;
}

static int start_firing(struct trial *trial, u64 number, size_t rule)
{
	struct firing *firing = reallocarray(trial->firing, trial->n_firing + 1, sizeof(*firing));

	if (!firing)
		return -ENOMEM;
	trial->firing = firing;
	firing[trial->n_firing++] =
		(struct firing){.number = number, .rule = rule, .since_ns = trial->now_ns};
	return 0;
}

/* If CLOCK_REALTIME is not known, the policy got made-up times. They must not appear in the report. */
static void forget_real_time(struct alert *alert)
{
	alert->since = alert->breached = alert->fired = alert->resolved = (struct timespec){0};
}

static int enter_transition(struct trial *trial, const struct transition *transition)
{
	const size_t rule = rule_of(trial, transition->alert.rule->name);
	struct trial_rule *of_rule = &trial->report->of_rules[rule];
	struct trial_transition entered = {
		.stretch = trial->report->n_stretches - 1,
		.rule = rule,
		.at_ns = elapsed_ns(trial),
		.transition = *transition,
	};
	struct alert *alert = &entered.transition.alert;
	struct target *target = target_of(trial, alert->cgroup);
	int r = 0;

	if (!target)
		return -ENOMEM;
	alert->rule = &trial->config->rules[rule];
	alert->cgroup = target->path;
	alert->event_key = trial->event_keys[alert->event];
	if (!stretch_of(trial)->real_time)
		forget_real_time(alert);
	for (size_t i = 0; transition->from == ALERT_FIRING && i < trial->n_firing; i++)
		if (trial->firing[i].number == alert->number)
			stop_firing(trial, i--);
	if (transition->to == ALERT_FIRING) {
		of_rule->fired++;
		mark(target, rule, FIRED, &of_rule->cgroups_fired);
		r = start_firing(trial, alert->number, rule);
	}
	return r < 0 ? r : trial_report_transition(trial->report, &entered);
}

/* Adds the time since the last collection for each target, as known or unknown. */
static void enter_time(struct trial *trial, double elapsed_s)
{
	for (size_t rule = 0; rule < trial->config->n_rules; rule++) {
		struct trial_rule *of_rule = &trial->report->of_rules[rule];
		struct policy_counts counts = {0};

		policy_count(trial->policy, rule, &counts);
		for (size_t i = 0; i < ARRAY_SIZE(counts.states); i++)
			of_rule->known_s += (double)counts.states[i] * elapsed_s;
		for (size_t i = UNKNOWN_WINDOW; i < ARRAY_SIZE(counts.unknown); i++)
			of_rule->unknown_s[i] += (double)counts.unknown[i] * elapsed_s;
	}
}

static int look_at(struct trial *trial, struct target *target, size_t rule)
{
	struct trial_rule *of_rule = &trial->report->of_rules[rule];
	const struct rule *judged_by = &trial->config->rules[rule];
	_cleanup_free_ struct alert *alerts = NULL;
	size_t n;
	int r = policy_explain(trial->policy, judged_by->name, target->path, &alerts, &n);

	if (r < 0)
		return r == -ENOMEM ? r : 0;
	for (size_t i = 0; i < n; i++) {
		const struct trial_closest estimate = {
			.threshold = alerts[i].limits.threshold,
			.cgroup = target->path,
			.event_key = trial->event_keys[alerts[i].event],
			.estimate = alerts[i].estimate,
			.stretch = trial->report->n_stretches - 1,
			.at_ns = elapsed_ns(trial),
		};

		const u64 samples = estimate_counted_of(&judged_by->metric, &alerts[i].estimate);

		if (alerts[i].decision.unknown == UNKNOWN_SAMPLES && samples > of_rule->most_samples)
			of_rule->most_samples = samples;
		if (alerts[i].decision.unknown != UNKNOWN_NOT)
			continue;
		mark(target, rule, JUDGED, &of_rule->cgroups_judged);
		if (alerts[i].estimate.known)
			trial_rule_approach(of_rule, judged_by, &estimate);
	}
	return 0;
}

/*
 * Measures how near each target is to its threshold. This does not run at each collection, because bounds are
 * slow to compute.
 */
static int look(struct trial *trial)
{
	u64 next_ns = ~0ULL;

	for (const char *path = policy_next_path(trial->policy, NULL); path;
	     path = policy_next_path(trial->policy, path)) {
		struct target *target = target_of(trial, path);
		int r = target ? 0 : -ENOMEM;

		for (size_t rule = 0; r == 0 && rule < trial->config->n_rules; rule++)
			if (target->standing[rule] & MATCHED)
				r = look_at(trial, target, rule);
		if (r < 0)
			return r;
	}
	for (size_t rule = 0; rule < trial->config->n_rules; rule++) {
		u64 pause_ns = trial->config->rules[rule].window_ns / LOOKS_A_WINDOW;

		next_ns = pause_ns < next_ns ? pause_ns : next_ns;
	}
	trial->look_ns = trial->now_ns + next_ns;
	return 0;
}

static void put(void *userdata, u32 entry, const char *path, const struct counters *const deltas[EVENTS_MAX])
{
	const struct trial *trial = userdata;
	u8 packed[PACKED_MAX];

	for (unsigned event = 0; event < trial->n_events; event++) {
		struct delta delta = {.event = event, .packed = packed};

		if (!deltas[event])
			continue;
		delta.size = (u32)packed_of(deltas[event], packed);
		policy_put(trial->policy, entry, path, &delta, 1);
	}
}

static struct timespec real_time(const struct trial *trial)
{
	const struct timespec start = stretch_of(trial)->start;
	const u64 ns = (u64)start.tv_nsec + elapsed_ns(trial);

	return (struct timespec){
		.tv_sec = start.tv_sec + (time_t)(ns / NSEC_PER_SEC),
		.tv_nsec = (long)(ns % NSEC_PER_SEC),
	};
}

int trial_collect(struct trial *trial, u64 now_ns, struct sliding_time times[EVENTS_MAX])
{
	const struct transition *transitions;
	const u64 before_ns = trial->now_ns;
	struct timespec now;
	size_t n;
	int r;

	trial->now_ns = CLOCK_START + (now_ns - stretch_of(trial)->start_ns);
	stretch_of(trial)->elapsed_ns = elapsed_ns(trial);
	for (size_t i = 0; i < trial->n_events; i++)
		times[i].elapsed_ns = trial->now_ns - before_ns;
	trial->report->collections++;
	now = real_time(trial);
	policy_begin(trial->policy, trial->now_ns, &now, times);
	account_totals_collect(trial->account, put, trial);
	r = policy_tick(trial->policy, &transitions, &n);
	for (size_t i = 0; r == 0 && i < n; i++)
		r = enter_transition(trial, &transitions[i]);
	if (r < 0)
		return r;
	enter_time(trial, seconds(trial->now_ns - before_ns));
	return trial->now_ns >= trial->look_ns ? look(trial) : 0;
}

u64 trial_memory_ns(const struct trial *trial)
{
	u64 longest_ns = 0;

	for (size_t i = 0; i < trial->config->n_rules; i++) {
		const struct rule *rule = &trial->config->rules[i];
		u64 ns = rule->window_ns + rule->for_ns;

		longest_ns = ns > longest_ns ? ns : longest_ns;
	}
	return longest_ns + DECIDE_RESOLVED_NS;
}

const struct trial_report *trial_finish(struct trial *trial)
{
	end_stretch(trial);
	return trial->report;
}

int trial_note(struct trial *trial, char *note)
{
	return trial_report_note(trial->report, note);
}

int trial_note_malformed(struct trial *trial)
{
	const struct account_losses losses = account_totals_losses(trial->account);
	char *note;
	int r;

	r = account_losses_note(&losses, &note);
	return r < 0 || !note ? r : trial_note(trial, note);
}

// SPDX-License-Identifier: GPL-2.0
/*
 * The report of a trial: which rules would have fired and when, and how near the others came to their
 * thresholds. Plain data, which trial.c fills in.
 */
#ifndef PEBSD_TRIAL_REPORT_H
#define PEBSD_TRIAL_REPORT_H

#include "base/cleanup.h"
#include "policy/alert.h"

/* The number of names of cgroups that are kept for hints. */
#define TRIAL_SOME_CGROUPS 3

/*
 * A stretch of time on one clock: one or more consecutive recordings, or the time of the model. Each stretch
 * has its own windows, baselines and states.
 */
struct trial_stretch {
	char *name;     /* of the first recording; NULL: the model */
	u64 start_ns;   /* time of the first sample, on the clock of the stretch; 0 for the model */
	u64 elapsed_ns; /* until the last collection */
	bool real_time; /* `start` is known, as CLOCK_REALTIME */
	struct timespec start;
};

struct trial_transition {
	size_t stretch;
	size_t rule; /* index in the configuration */
	u64 at_ns;   /* since the stretch began */
	/*
	 * The alert's `rule` points into the configuration. The alert's other strings live as long as the trial.
	 * Times on CLOCK_REALTIME are 0 if they are not known.
	 */
	struct transition transition;
};

/* The value that came nearest to a rule's threshold. */
struct trial_closest {
	bool known;
	double share;     /* value / threshold, or the inverse for a rule `below`; 1 or more: past it */
	double threshold; /* by which the rule was judged */
	const char *cgroup;
	const char *event_key;
	struct estimate estimate;
	size_t stretch;
	u64 at_ns;
};

/*
 * Sums over the targets of a rule. Times add up over targets that exist at the same time. They are in
 * seconds, because a sum may be centuries.
 */
struct trial_rule {
	u64 fired;
	u64 cgroups_fired;
	double firing_s;
	u64 still_firing; /* at the end of a stretch */
	u64 cgroups;      /* cgroups that the rule matches and that have at least one sample */
	u64 cgroups_judged;
	double known_s;
	double unknown_s[UNKNOWN_NOT_MEASURED + 1]; /* by reason */
	u64 most_samples;                           /* maximum over the windows that had too few */
	struct trial_closest closest;
};

struct trial_report {
	const char *origin;
	const struct rule *rules; /* owned by the configuration */
	size_t n_rules;
	struct trial_rule *of_rules; /* one for each rule */
	double frequency_hz;         /* as in struct trial_settings */
	unsigned roles;              /* bits 1 << enum event_role: the roles that have an event */
	struct trial_stretch *stretches;
	size_t n_stretches;
	struct trial_transition *transitions; /* in the order of time */
	size_t n_transitions;
	u64 collections;
	u64 samples;
	u64 cgroups;                                  /* with a sample; the next two are not included */
	u64 cgroups_excluded;                         /* by `include` and `exclude` of [cgroups] */
	u64 cgroups_left_out;                         /* beyond `max` of [cgroups] */
	const char *some_cgroups[TRIAL_SOME_CGROUPS]; /* the first of `cgroups`; NULL: there are fewer */
	bool only_comms; /* all `cgroups` are "comm:NAME": the recording has no cgroups */
	char **notes;    /* for readers of the report */
	size_t n_notes;
};

/*
 * Returns 0 or -ENOMEM. `rules` and `origin` must outlive the report. Free `*ret` with trial_report_free().
 */
int trial_report_new(const char *origin, const struct rule *rules, size_t n_rules, struct trial_report **ret);
struct trial_report *trial_report_free(struct trial_report *report);
DEFINE_CLEANUP(struct trial_report *, trial_report_free)

/*
 * Add a stretch or a note. They take ownership of the strings of `stretch`, and of `note`, also on failure.
 * They return 0 or -ENOMEM.
 */
int trial_report_stretch(struct trial_report *report, struct trial_stretch *stretch);
int trial_report_note(struct trial_report *report, char *note);

int trial_report_transition(struct trial_report *report, const struct trial_transition *transition);

/* Replaces of_rule->closest by `estimate`, a judged value, if `estimate` is nearer to the threshold. */
void trial_rule_approach(struct trial_rule *of_rule, const struct rule *rule,
			 const struct trial_closest *estimate);

/* The reason for most of the unknown time (UNKNOWN_NOT: there is none), and the sum of the unknown time. */
enum unknown_reason trial_rule_main_reason(const struct trial_rule *rule, double *ret_unknown_s);

#endif

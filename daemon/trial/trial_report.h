// SPDX-License-Identifier: GPL-2.0
/* What rules made of samples whose time has gone by: which would have fired and when, and how near the others
 * came. Plain data, added to by trial.c. */
#ifndef PEBSD_TRIAL_REPORT_H
#define PEBSD_TRIAL_REPORT_H

#include "base/cleanup.h"
#include "policy/alert.h"

/* Names of cgroups that are kept for hints. */
#define TRIAL_SOME_CGROUPS 3

/* A run of one clock: recordings that follow each other, or the model's time. Windows, baselines and states
 * are those of one stretch alone. */
struct trial_stretch {
	char *name;     /* of its first recording; NULL: of the model */
	u64 start_ns;   /* its clock, at the first sample */
	u64 elapsed_ns; /* until the last collection */
	bool real_time; /* the time of day is known: `start` */
	struct timespec start;
};

struct trial_transition {
	size_t stretch;
	size_t rule; /* of the configuration */
	u64 at_ns;   /* since the stretch began */
	/* Its `rule` is the configuration's, its other strings are the report's. Times of day that are not
	 * known are 0. */
	struct transition transition;
};

/* How near to its threshold a rule came. */
struct trial_closest {
	bool known;
	double share; /* of the threshold that was reached, of a rule `below` the inverse: 1 and more is past
			 it */
	double threshold; /* as judged */
	const char *cgroup;
	const char *event_key;
	struct estimate estimate;
	size_t stretch;
	u64 at_ns;
};

/* Sums over the subjects of a rule; times are those of subjects, which go by side by side: seconds, as their
 * sum may be centuries. */
struct trial_rule {
	u64 fired;
	u64 cgroups_fired;
	double firing_s;
	u64 still_firing; /* at the end of a stretch */
	u64 cgroups;      /* that it matches, with a sample */
	u64 cgroups_judged;
	double known_s;
	double unknown_s[UNKNOWN_NOT_MEASURED + 1]; /* by reason */
	u64 most_samples;                           /* in a window that had too few */
	struct trial_closest closest;
};

struct trial_report {
	const char *origin;
	const struct rule *rules; /* the configuration's */
	size_t n_rules;
	struct trial_rule *of_rules; /* as many */
	unsigned roles;              /* bit 1 << enum event_role: what there can be samples of */
	struct trial_stretch *stretches;
	size_t n_stretches;
	struct trial_transition *transitions; /* in the order of time */
	size_t n_transitions;
	u64 collections;
	u64 samples;
	u64 cgroups;                                  /* with a sample, but for excluded ones */
	u64 cgroups_excluded;                         /* [cgroups] exclude, or not included */
	u64 cgroups_left_out;                         /* beyond [cgroups] max */
	const char *some_cgroups[TRIAL_SOME_CGROUPS]; /* the first of them; NULL: fewer */
	bool only_comms; /* all of them are "comm:NAME": the recording has no cgroups */
	char **notes;    /* what a reader must know */
	size_t n_notes;
};

/* 0 or -ENOMEM. `rules` and `origin` outlive the report; free with trial_report_free(). */
int trial_report_new(const char *origin, const struct rule *rules, size_t n_rules, struct trial_report **ret);
struct trial_report *trial_report_free(struct trial_report *report);
DEFINE_CLEANUP(struct trial_report *, trial_report_free)

/* Both take what they are given, also where they fail: 0 or -ENOMEM. */
int trial_report_stretch(struct trial_report *report, struct trial_stretch *stretch);
int trial_report_note(struct trial_report *report, char *note);

int trial_report_transition(struct trial_report *report, const struct trial_transition *transition);

/* An estimate that was judged comes nearer than the nearest so far, or it does not: then nothing changes. */
void trial_rule_approach(struct trial_rule *of_rule, const struct rule *rule,
			 const struct trial_closest *estimate);

/* Which reason most of the unknown time has, UNKNOWN_NOT where there is none; and all of it together. */
enum unknown_reason trial_rule_main_reason(const struct trial_rule *rule, double *ret_unknown_s);

#endif

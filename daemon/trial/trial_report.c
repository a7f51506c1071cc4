// SPDX-License-Identifier: GPL-2.0
#include "trial/trial_report.h"

#include <errno.h>
#include <math.h>
#include <string.h>

int trial_report_new(const char *origin, const struct rule *rules, size_t n_rules, struct trial_report **ret)
{
	_cleanup_(trial_report_freep) struct trial_report *report = calloc(1, sizeof(*report));

	if (!report)
		return -ENOMEM;
	report->origin = origin;
	report->rules = rules;
	report->n_rules = n_rules;
	report->of_rules = calloc(n_rules, sizeof(*report->of_rules));
	if (!report->of_rules)
		return -ENOMEM;
	*ret = TAKE_PTR(report);
	return 0;
}

struct trial_report *trial_report_free(struct trial_report *report)
{
	if (!report)
		return NULL;
	for (size_t i = 0; i < report->n_stretches; i++)
		free(report->stretches[i].name);
	for (size_t i = 0; i < report->n_notes; i++)
		free(report->notes[i]);
	free(report->notes);
	free(report->stretches);
	free(report->transitions);
	free(report->of_rules);
	free(report);
	return NULL;
}

/* Makes room for one more item after `n`. The array doubles when it is full. */
static int make_room(void **list, size_t n, size_t size)
{
	void *longer;

	if (n & (n - 1) || n == 1)
		return 0;
	longer = reallocarray(*list, n ? 2 * n : 2, size);
	if (!longer)
		return -ENOMEM;
	*list = longer;
	return 0;
}

int trial_report_stretch(struct trial_report *report, struct trial_stretch *stretch)
{
	if (make_room((void **)&report->stretches, report->n_stretches, sizeof(*stretch)) < 0) {
		free(stretch->name);
		return -ENOMEM;
	}
	report->stretches[report->n_stretches++] = *stretch;
	return 0;
}

int trial_report_note(struct trial_report *report, char *note)
{
	if (!note || make_room((void **)&report->notes, report->n_notes, sizeof(note)) < 0) {
		free(note);
		return -ENOMEM;
	}
	report->notes[report->n_notes++] = note;
	return 0;
}

int trial_report_transition(struct trial_report *report, const struct trial_transition *transition)
{
	if (make_room((void **)&report->transitions, report->n_transitions, sizeof(*transition)) < 0)
		return -ENOMEM;
	report->transitions[report->n_transitions++] = *transition;
	return 0;
}

/* Sets *ret to the share of the threshold that was reached. Returns false if there is no finite share. */
static bool share_of(bool below, double value, double threshold, double *ret)
{
	const double part = below ? threshold : value;
	const double whole = below ? value : threshold;

	if (!(whole > 0) || !(threshold > 0))
		return false;
	*ret = part / whole;
	return isfinite(*ret);
}

/* Of equal shares, the first time is kept, and then the first name, so that equal inputs give equal reports. */
static bool is_closer(const struct trial_closest *estimate, double share, const struct trial_closest *than)
{
	int order;

	if (!than->known || share > than->share)
		return true;
	if (share < than->share || estimate->stretch != than->stretch || estimate->at_ns != than->at_ns)
		return false;
	order = strcmp(estimate->cgroup, than->cgroup);
	return order ? order < 0 : strcmp(estimate->event_key, than->event_key) < 0;
}

void trial_rule_approach(struct trial_rule *of_rule, const struct rule *rule,
			 const struct trial_closest *estimate)
{
	struct trial_closest *closest = &of_rule->closest;
	double share;

	if (!share_of(rule->below, estimate->estimate.value, estimate->threshold, &share) ||
	    !is_closer(estimate, share, closest))
		return;
	*closest = *estimate;
	closest->known = true;
	closest->share = share;
}

enum unknown_reason trial_rule_main_reason(const struct trial_rule *rule, double *ret_unknown_s)
{
	enum unknown_reason most = UNKNOWN_NOT;

	*ret_unknown_s = 0;
	for (enum unknown_reason reason = UNKNOWN_WINDOW; reason <= UNKNOWN_NOT_MEASURED; reason++) {
		*ret_unknown_s += rule->unknown_s[reason];
		if (rule->unknown_s[reason] > rule->unknown_s[most])
			most = reason;
	}
	return most;
}

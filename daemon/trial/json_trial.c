// SPDX-License-Identifier: GPL-2.0
#include "trial/json_trial.h"

#include "base/cleanup.h"
#include "export/json/json.h"
#include "export/json/json_rules.h"
#include "export/json/json_writer.h"

static void put_ns(struct json_writer *writer, json_object *object, const char *key, u64 ns)
{
	json_put_number(writer, object, key, (double)ns / (double)NSEC_PER_SEC, 3);
}

static struct timespec later(const struct timespec *time, u64 ns)
{
	const u64 nsec = (u64)time->tv_nsec + ns;

	return (struct timespec){
		.tv_sec = time->tv_sec + (time_t)(nsec / NSEC_PER_SEC),
		.tv_nsec = (long)(nsec % NSEC_PER_SEC),
	};
}

/* Puts the time of day, if it is known. */
static void put_span(struct json_writer *writer, json_object *object, const struct trial_stretch *first,
		     const struct trial_stretch *last)
{
	struct timespec end = later(&last->start, last->elapsed_ns);

	if (first->real_time)
		json_put_time(writer, object, "from", &first->start);
	if (last->real_time)
		json_put_time(writer, object, "to", &end);
}

static json_object *stretches(struct json_writer *writer, const struct trial_report *report)
{
	json_object *list = json_checked(writer, json_object_new_array());

	for (size_t i = 0; i < report->n_stretches; i++) {
		const struct trial_stretch *stretch = &report->stretches[i];
		json_object *object = json_checked(writer, json_object_new_object());

		if (stretch->name)
			json_put_text(writer, object, "recording", stretch->name);
		put_ns(writer, object, "clock_s", stretch->start_ns);
		put_ns(writer, object, "covered_s", stretch->elapsed_ns);
		put_span(writer, object, stretch, stretch);
		json_append(writer, list, object);
	}
	return list;
}

/* Makes a transition. Writes names in their shown form, because no later step converts them. */
static json_object *transition_object(struct json_writer *writer, const struct trial_report *report,
				      const struct trial_transition *entered)
{
	const struct alert *alert = &entered->transition.alert;
	const struct trial_stretch *stretch = &report->stretches[entered->stretch];
	json_object *object = json_checked(writer, json_transition(&entered->transition));
	struct timespec time = later(&stretch->start, entered->at_ns);

	/*
	 * json_transition() uses the key `source` for the event, because `event` has another meaning in items
	 * of the control socket. Here the event has the key `event`, as in other JSON.
	 */
	if (object)
		json_object_object_del(object, "source");
	json_put_text(writer, object, "cgroup", alert->cgroup);
	json_put_text(writer, object, "event", alert->event_key);
	json_put_text(writer, object, "severity", alert->rule->severity);
	json_put_u64(writer, object, "stretch", entered->stretch);
	put_ns(writer, object, "at_s", entered->at_ns);
	if (stretch->real_time)
		json_put_time(writer, object, "time", &time);
	return object;
}

static json_object *closest_object(struct json_writer *writer, const struct rule *rule,
				   const struct trial_closest *closest)
{
	json_object *object = json_checked(writer, json_object_new_object());

	json_put_text(writer, object, "cgroup", closest->cgroup);
	json_put_text(writer, object, "event", closest->event_key);
	json_put_metric(writer, object, "value", &rule->metric, closest->estimate.value);
	json_put_metric(writer, object, "low", &rule->metric, closest->estimate.bounds.low);
	json_put_metric(writer, object, "high", &rule->metric, closest->estimate.bounds.high);
	json_put_u64(writer, object, "samples", closest->estimate.samples);
	json_put_number(writer, object, "of_threshold", closest->share, 4);
	json_put_u64(writer, object, "stretch", closest->stretch);
	put_ns(writer, object, "at_s", closest->at_ns);
	return object;
}

static json_object *unknown_object(struct json_writer *writer, const struct trial_rule *of_rule)
{
	json_object *object = json_checked(writer, json_object_new_object());

	for (enum unknown_reason reason = UNKNOWN_NOT + 1; reason <= UNKNOWN_NOT_MEASURED; reason++)
		if (of_rule->unknown_s[reason] > 0)
			json_put_number(writer, object, unknown_reason_word(reason),
					of_rule->unknown_s[reason], 3);
	return object;
}

static void put_rule(struct json_writer *writer, json_object *object, const struct rule *rule,
		     const struct trial_rule *of_rule)
{
	json_put_u64(writer, object, "fired", of_rule->fired);
	json_put_u64(writer, object, "cgroups_fired", of_rule->cgroups_fired);
	json_put_number(writer, object, "firing_s", of_rule->firing_s, 3);
	json_put_u64(writer, object, "still_firing", of_rule->still_firing);
	json_put_u64(writer, object, "cgroups_matched", of_rule->cgroups);
	json_put_u64(writer, object, "cgroups_judged", of_rule->cgroups_judged);
	json_put_number(writer, object, "known_s", of_rule->known_s, 3);
	json_put(writer, object, "unknown_s", unknown_object(writer, of_rule));
	if (of_rule->most_samples)
		json_put_u64(writer, object, "most_samples", of_rule->most_samples);
	if (of_rule->closest.known)
		json_put(writer, object, "closest", closest_object(writer, rule, &of_rule->closest));
}

/*
 * The rules as the daemon reports them, without the numbers of cgroups in each state, which are not known
 * here.
 */
static json_object *rules(struct json_writer *writer, const struct trial_report *report)
{
	_cleanup_free_ struct policy_counts *counts = calloc(report->n_rules, sizeof(*counts));
	json_object *reply, *list = NULL;

	reply = counts ? json_rules(report->origin, report->rules, counts, report->n_rules, NULL) : NULL;
	if (!json_checked(writer, reply))
		return NULL;
	list = json_object_get(json_object_object_get(reply, "rules"));
	json_object_put(reply);
	for (size_t i = 0; i < report->n_rules; i++) {
		json_object *object = json_object_array_get_idx(list, i);

		json_object_object_del(object, "cgroups");
		put_rule(writer, object, &report->rules[i], &report->of_rules[i]);
	}
	return list;
}

static json_object *notes(struct json_writer *writer, const struct trial_report *report)
{
	json_object *list = json_checked(writer, json_object_new_array());

	for (size_t i = 0; i < report->n_notes; i++)
		json_append(writer, list, json_name(report->notes[i]));
	return list;
}

json_object *json_trial(const struct trial_report *report)
{
	struct json_writer writer = {0};
	json_object *object = json_start_of(&writer, report->origin);
	json_object *list = json_checked(&writer, json_object_new_array());

	if (report->n_stretches > 0)
		put_span(&writer, object, &report->stretches[0], &report->stretches[report->n_stretches - 1]);
	json_put(&writer, object, "stretches", stretches(&writer, report));
	json_put_u64(&writer, object, "collections", report->collections);
	json_put_u64(&writer, object, "samples", report->samples);
	json_put_u64(&writer, object, "cgroups", report->cgroups);
	if (report->cgroups_excluded)
		json_put_u64(&writer, object, "cgroups_excluded", report->cgroups_excluded);
	if (report->cgroups_left_out)
		json_put_u64(&writer, object, "cgroups_left_out", report->cgroups_left_out);
	for (size_t i = 0; i < report->n_transitions; i++)
		json_append(&writer, list, transition_object(&writer, report, &report->transitions[i]));
	json_put(&writer, object, "transitions", list);
	json_put(&writer, object, "rules", rules(&writer, report));
	if (report->n_notes > 0)
		json_put(&writer, object, "notes", notes(&writer, report));
	return json_finish(&writer, object);
}

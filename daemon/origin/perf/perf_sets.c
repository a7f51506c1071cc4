// SPDX-License-Identifier: GPL-2.0
#include "origin/perf/perf_sets.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "origin/perf/perf_backend.h"

/* Appends a sentence to `text`. Takes ownership of `sentence`. NULL means no memory or nothing to add. */
static void add_sentence(char **text, char *sentence)
{
	_cleanup_free_ char *added = sentence;
	char *longer;

	if (!*text) {
		*text = TAKE_PTR(added);
		return;
	}
	if (!added || asprintf(&longer, "%s. %s", *text, added) < 0)
		return;
	free(*text);
	*text = longer;
}

/*
 * Opens one event. Returns 1 if it is open, 0 if a note says why it is not, or -errno with `ret_message` set.
 */
static int open_spec(struct pmu_plan *plan, size_t i, const struct perf_selection *selection,
		     const char *online_path, struct perf_event_set **ret, char **ret_message)
{
	struct event_spec spec = plan->specs[i];
	int r;

	perf_selection_apply(selection, &spec);
	if (spec.has_members && cpu_list_next(&spec.members, -1) < 0) {
		_cleanup_free_ char *cpus = cpu_list_format(&plan->specs[i].members);

		if (cpus && !*cpus)
			return pmu_plan_note(plan,
					     "%s on PMU %s is not sampled: none of its CPUs is online; "
					     "restart pebsd when one is online",
					     event_role_name(spec.event.role), spec.event.pmu);
		return pmu_plan_note(
			plan,
			"%s on PMU %s is not sampled: `cpus` and `isolated` in [sampling] select none of its online CPUs (%s); add one to `cpus`, set `isolated = yes` if it is isolated, or restart pebsd when a selected one is online",
			event_role_name(spec.event.role), spec.event.pmu, cpus ? cpus : "?");
	}
	r = perf_open(&spec, online_path, ret, ret_message);
	return r < 0 ? r : 1;
}

static bool plans(const struct pmu_plan *plan, enum event_role role)
{
	for (size_t i = 0; i < plan->n_specs; i++)
		if (plan->specs[i].event.role == role)
			return true;
	return false;
}

int perf_sets_open(struct pmu_plan *plan, const struct perf_selection *selection, const char *online_path,
		   bool require_all, struct perf_event_set *ret[static EVENTS_MAX], size_t *ret_n,
		   char **ret_message)
{
	int first = -ENODEV, loads = 0;

	*ret_n = 0;
	*ret_message = NULL;
	for (size_t i = 0; i < plan->n_specs;) {
		const struct event event = plan->specs[i].event;
		char *message = NULL;
		int refused, r = open_spec(plan, i, selection, online_path, &ret[*ret_n], &message);

		if (r > 0) {
			++*ret_n;
			i++;
			continue;
		}
		if (r < 0) {
			if (require_all && perf_backend_may_mend(r)) {
				free(*ret_message);
				*ret_message = message;
				return r;
			}
			refused = pmu_plan_refuse(plan, event.pmu, event.role, "%s",
						  message ? message : strerror(-r));
			if (loads == 0 && event.role == EVENT_LOADS)
				loads = r;
			/* Nobody named the events of an automatic plan, so one message is enough for one error. */
			if (plan->automatic && r == first)
				free(message);
			else
				add_sentence(ret_message, message);
			if (first == -ENODEV)
				first = r;
			r = refused;
		}
		if (r < 0)
			return r;
		pmu_plan_drop(plan, i);
	}
	if (*ret_n == 0)
		return first;
	if (plan->automatic && loads < 0 && !plans(plan, EVENT_LOADS) && perf_backend_may_mend(loads))
		return loads;
	free(*ret_message);
	*ret_message = NULL;
	return 0;
}

static bool has_all_cpus(const struct pmu_plan *plan, enum event_role role)
{
	for (size_t i = 0; i < plan->n_specs; i++)
		if (plan->specs[i].event.role == role && !plan->specs[i].has_members)
			return true;
	return false;
}

char *perf_sets_refusal(const struct pmu_plan *plan, size_t i)
{
	const struct pmu_refusal *refusal = &plan->refusals[i];
	char *text;

	if (has_all_cpus(plan, refusal->role))
		return NULL;
	if (asprintf(&text, "%s on PMU %s is not available: %s", event_role_name(refusal->role), refusal->pmu,
		     refusal->reason) < 0)
		return NULL;
	return text;
}

/* Returns the roles that the PMU refuses and no other PMU samples instead. Only the first `n` refusals count. */
static unsigned left_out_on(const struct pmu_plan *plan, size_t n, const char *pmu)
{
	unsigned roles = 0;

	for (size_t i = 0; i < n; i++)
		if (strcmp(plan->refusals[i].pmu, pmu) == 0 && !has_all_cpus(plan, plan->refusals[i].role))
			roles |= 1U << plan->refusals[i].role;
	return roles;
}

static bool is_first_of_pmu(const struct pmu_plan *plan, size_t index)
{
	for (size_t i = 0; i < index; i++)
		if (strcmp(plan->refusals[i].pmu, plan->refusals[index].pmu) == 0)
			return false;
	return true;
}

/* Says what pebsd cannot do without loads. */
static char *without_loads(const struct pmu_plan *plan)
{
	_cleanup_free_ char *names = NULL;
	unsigned roles = 0;
	char *text;

	for (size_t i = 0; i < plan->n_specs; i++)
		roles |= 1U << plan->specs[i].event.role;
	names = event_role_names(roles);
	if (!names ||
	    asprintf(
		    &text,
		    "this machine cannot sample loads, so pebsd knows neither latencies nor data sources here; it samples %s (events = auto; pebsd --probe says why)",
		    names) < 0)
		return NULL;
	return text;
}

char *perf_sets_left_out(const struct pmu_plan *plan, size_t n)
{
	_cleanup_free_ char *list = NULL;
	_cleanup_fclose_ FILE *stream = NULL; /* closed before `list` is freed */
	const char *separator = "";
	char *text = NULL;
	size_t size;

	stream = open_memstream(&list, &size);
	for (size_t i = 0; stream && i < n; i++) {
		const unsigned roles =
			is_first_of_pmu(plan, i) ? left_out_on(plan, n, plan->refusals[i].pmu) : 0;
		_cleanup_free_ char *names = roles ? event_role_names(roles) : NULL;

		if (roles & 1U << EVENT_LOADS && !plans(plan, EVENT_LOADS))
			return without_loads(plan);
		if (!names)
			continue;
		(void)fprintf(stream, "%s%s on PMU %s", separator, names, plan->refusals[i].pmu);
		separator = ", ";
	}
	if (!stream || fclose(TAKE_PTR(stream)) != 0 || !*list)
		return NULL;
	return asprintf(&text, "events = auto leaves out %s; pebsd --probe says why", list) < 0 ? NULL : text;
}

static const struct event_spec *find_spec(const struct pmu_plan *plan, const struct event *event)
{
	for (size_t i = 0; i < plan->n_specs; i++)
		if (plan->specs[i].event.role == event->role &&
		    strcmp(plan->specs[i].event.pmu, event->pmu) == 0)
			return &plan->specs[i];
	return NULL;
}

/*
 * Explains why an event keeps its period: the new plan no longer has the event, most likely because its PMU
 * does not support the period. Returns -EINVAL.
 */
static int refuse_period(const struct pmu_plan *plan, const struct event *event, char **ret_message)
{
	const char *reason = "its PMU no longer exists";

	for (size_t i = 0; i < plan->n_refusals; i++)
		if (plan->refusals[i].role == event->role && strcmp(plan->refusals[i].pmu, event->pmu) == 0)
			reason = plan->refusals[i].reason;
	if (asprintf(ret_message, "%s on PMU %s keeps its period of %llu: %s", event_role_name(event->role),
		     event->pmu, (unsigned long long)event->period, reason) < 0)
		*ret_message = NULL;
	return -EINVAL;
}

int perf_sets_set_periods(struct perf_event_set *const *sets, size_t n, const struct pmu_plan *plan,
			  char **ret_message)
{
	u64 before[EVENTS_MAX];
	bool reverted = false;
	int first = 0;

	*ret_message = NULL;
	for (size_t i = 0; i < n; i++) {
		const struct event_spec *spec = find_spec(plan, perf_event(sets[i]));
		char *message = NULL;
		int r;

		before[i] = perf_event(sets[i])->period;
		r = spec ? perf_set_period(sets[i], spec->event.period, &message)
			 : refuse_period(plan, perf_event(sets[i]), &message);
		add_sentence(ret_message, message);
		if (first == 0)
			first = r;
	}
	for (size_t i = 0; i < n; i++) {
		_cleanup_free_ char *message = NULL;

		if (first == 0) {
			perf_mark_configured(sets[i]);
		} else if (perf_event(sets[i])->period != before[i]) {
			(void)perf_set_period(sets[i], before[i], &message);
			reverted = true;
		}
	}
	if (reverted)
		add_sentence(ret_message, strdup("The other events keep their periods too"));
	return first;
}

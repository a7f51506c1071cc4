// SPDX-License-Identifier: GPL-2.0
#include "sampling/sampling_perf_open.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "origin/perf/counter_number.h"
#include "origin/perf/perf_backend.h"
#include "origin/perf/perf_sets.h"
#include "origin/pmu/perf_selection.h"
#include "origin/pmu/pmu.h"

enum exit_code sampling_perf_code(int error)
{
	return perf_backend_may_mend(error) ? EXIT_FAILED : EXIT_CANNOT;
}

int sampling_perf_cannot(struct failure *failure, int error, const char *format, const char *what)
{
	failure->code = sampling_perf_code(error);
	if (asprintf(&failure->message, format, what) < 0)
		failure->message = NULL;
	return error;
}

static int refuse(const struct pmu_plan *plan, unsigned roles, struct failure *failure)
{
	_cleanup_free_ char *reasons = pmu_plan_refusals(plan, roles);

	failure->code = EXIT_CANNOT;
	if (asprintf(&failure->message,
		     "cannot sample %s here: %s. Run pebsd --probe for all details, or pebsd --origin "
		     "model to try pebsd on a model",
		     plan->automatic              ? "memory loads or count events"
		     : roles == 1U << EVENT_LOADS ? "memory loads"
						  : "any of the configured events",
		     reasons && *reasons ? reasons
		     : plan->n_notes > 0 ? plan->notes[plan->n_notes - 1]
					 : "no known PMU can") < 0)
		failure->message = NULL;
	return -ENODEV;
}

static int plan_events(const struct config *config, const struct event_periods *periods, struct pmu_plan *ret)
{
	const struct pmu_request request = {
		.roles = config_roles(config),
		.automatic = config->events == CONFIG_EVENTS_AUTO,
		.periods = *periods,
		.ldlat = (u32)config->ldlat,
	};

	return pmu_plan("/sys", &request, ret);
}

static int select_cpus(const struct config *config, struct perf_selection *ret, struct failure *failure)
{
	struct cpu_list online;
	int r;

	*ret = (struct perf_selection){.named = config->cpus};
	if (!config->isolated)
		ret->isolated = perf_selection_isolated("/sys");
	/* If the list itself cannot be read, opening the events reports it. */
	if (cpu_list_read(PERF_ONLINE_PATH, &online) < 0)
		return 0;
	r = perf_selection_check(ret, &online, &failure->message);
	failure->code = r == -ENODEV ? EXIT_INPUT : EXIT_FAILED;
	return r;
}

/* Adds a note that remains as long as pebsd runs. Takes ownership of `text`; NULL: no note. */
static void note_for_good(struct perf_notes *notes, char *text, bool warn)
{
	if (!text)
		return;
	if (warn)
		(void)log_warning(0, "%s", text);
	else
		log_notice("%s", text);
	perf_notes_add(notes, text);
}

/* Logs how the plan adapted the request, for instance a period that a PMU does not have. */
static void log_notes(const struct pmu_plan *plan, size_t n)
{
	for (size_t i = 0; i < n; i++)
		log_info("%s", plan->notes[i]);
}

/*
 * The plan's own notes are only logged. Notes that the opening added, from `first_note` on, are shown in the
 * status. With `events = auto`, the refusals before `first_refusal`, of events that the machine lacks, are one
 * note: nobody asked for these events.
 */
static void note_plan(struct perf_notes *notes, const struct pmu_plan *plan, size_t first_note,
		      size_t first_refusal, const struct perf_selection *selection)
{
	log_notes(plan, first_note);
	if (plan->automatic)
		note_for_good(notes, perf_sets_left_out(plan, first_refusal), false);
	note_for_good(notes, perf_selection_note(selection), false);
	/* The refusals of off-core responses have their own place in the status. */
	for (size_t i = plan->automatic ? first_refusal : 0; i < plan->n_refusals; i++)
		if (plan->refusals[i].role != EVENT_OFFCORE)
			note_for_good(notes, perf_sets_refusal(plan, i), true);
	for (size_t i = first_note; i < plan->n_notes; i++)
		note_for_good(notes, strdup(plan->notes[i]), false);
}

/* Refuses events that `leave-counters` leaves no counter for, or the start if the key cannot be kept. */
static int leave_counters(const struct config *config, struct pmu_plan *plan, struct failure *failure)
{
	struct pmu_general pmus[EVENTS_MAX];
	char reason[COUNTER_NUMBER_REASON_MAX];
	struct counter_users users;
	int n;

	if (config->leave_counters == 0)
		return 0;
	counter_users_gather_watchdog("/", &users);
	n = counter_number_find(plan, config_roles(config), users.watchdog, pmus, reason);
	if (n >= 0)
		return pmu_leave_counters(plan, config_roles(config), (unsigned)config->leave_counters, pmus,
					  (size_t)n);
	failure->code = EXIT_INPUT;
	if (asprintf(&failure->message, "leave-counters = %llu in [sampling] cannot be kept: %s; set it to 0",
		     (unsigned long long)config->leave_counters, reason) < 0)
		failure->message = NULL;
	return n;
}

int sampling_perf_open(const struct config *config, bool require_all, struct perf_notes *notes,
		       struct perf_event_set *sets[static EVENTS_MAX], size_t *ret_n,
		       struct sampling_offcore **ret_offcore, struct failure *failure)
{
	_cleanup_(pmu_plan_done) struct pmu_plan plan = {0};
	struct perf_selection selection;
	char *message = NULL;
	size_t first_note, first_refusal;
	int opened;
	int r = plan_events(config, &config->periods, &plan);

	if (r < 0)
		return sampling_perf_cannot(failure, r, "cannot read from /sys what can be sampled here: %s",
					    strerror(-r));
	r = select_cpus(config, &selection, failure);
	if (r < 0)
		return r;
	r = leave_counters(config, &plan, failure);
	if (r < 0)
		return r;
	first_note = plan.n_notes;
	first_refusal = plan.n_refusals;
	opened = perf_sets_open(&plan, &selection, PERF_ONLINE_PATH, require_all, sets, ret_n,
				&failure->message);
	failure->code = sampling_perf_code(opened);
	/* If there are events or off-core counters besides, a set without this event must not pass as complete. */
	if (opened < 0 && (*ret_n > 0 || (require_all && perf_backend_may_mend(opened))))
		return opened;
	for (size_t i = 0; i < plan.n_counters; i++)
		perf_selection_apply_counter(&selection, &plan.counters[i]);
	r = sampling_offcore_open(&plan, config_roles(config), require_all, ret_offcore, &message);
	if (r < 0) {
		free(failure->message);
		failure->code = sampling_perf_code(r);
		failure->message = message;
		return r;
	}
	/* Off-core responses alone are useful: Goldmont has nothing else. */
	if (opened == 0 || sampling_offcore_cpus(*ret_offcore) > 0) {
		note_plan(notes, &plan, first_note, first_refusal, &selection);
		free(failure->message);
		failure->message = NULL;
		return 0;
	}
	r = opened;
	if (r == -ENODEV && !failure->message)
		return refuse(&plan, config_roles(config), failure);
	return r;
}

int sampling_perf_set_periods(const struct config *config, const struct event_periods *periods,
			      struct perf_event_set *const *sets, size_t n, const bool kept[EVENTS_MAX],
			      char **ret_message)
{
	_cleanup_(pmu_plan_done) struct pmu_plan plan = {0};
	struct perf_event_set *others[EVENTS_MAX];
	size_t n_others = 0;
	int r = plan_events(config, periods, &plan);

	*ret_message = NULL;
	if (r < 0)
		return r;
	log_notes(&plan, plan.n_notes);
	for (size_t i = 0; i < n; i++)
		if (!kept[i])
			others[n_others++] = sets[i];
	return perf_sets_set_periods(others, n_others, &plan, ret_message);
}

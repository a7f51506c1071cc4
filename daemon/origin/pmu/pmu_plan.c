// SPDX-License-Identifier: GPL-2.0
/* The plan as a container. pmu.c and the files of the roles fill it. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "origin/pmu/pmu.h"

void pmu_plan_done(struct pmu_plan *plan)
{
	for (size_t i = 0; i < plan->n_refusals; i++)
		free(plan->refusals[i].reason);
	free(plan->refusals);
	for (size_t i = 0; i < plan->n_notes; i++)
		free(plan->notes[i]);
	free((void *)plan->notes);
	*plan = (struct pmu_plan){0};
}

int pmu_plan_refuse(struct pmu_plan *plan, const char *pmu, enum event_role role, const char *format, ...)
{
	_cleanup_free_ char *reason = NULL;
	struct pmu_refusal *longer, *refusal;
	va_list arguments;
	int length;

	va_start(arguments, format);
	length = vasprintf(&reason, format, arguments);
	va_end(arguments);
	if (length < 0) {
		reason = NULL;
		return -ENOMEM;
	}
	longer = reallocarray(plan->refusals, plan->n_refusals + 1, sizeof(*longer));
	if (!longer)
		return -ENOMEM;
	plan->refusals = longer;
	refusal = &plan->refusals[plan->n_refusals++];
	*refusal = (struct pmu_refusal){.role = role, .reason = TAKE_PTR(reason)};
	(void)snprintf(refusal->pmu, sizeof(refusal->pmu), "%s", pmu);
	return 0;
}

/* Returns the roles of `roles` that have the PMU and reason of a refusal, or 0 if an earlier refusal has them. */
static unsigned same_refusals(const struct pmu_plan *plan, size_t index, unsigned roles)
{
	const struct pmu_refusal *refusal = &plan->refusals[index];
	unsigned same = 0;

	for (size_t i = 0; i < plan->n_refusals; i++) {
		const struct pmu_refusal *other = &plan->refusals[i];

		if (!(roles & 1U << other->role) || strcmp(other->pmu, refusal->pmu) != 0 ||
		    strcmp(other->reason, refusal->reason) != 0)
			continue;
		if (i < index)
			return 0;
		same |= 1U << other->role;
	}
	return same;
}

char *pmu_plan_refusals(const struct pmu_plan *plan, unsigned roles)
{
	const char *separator = "";
	char *text = NULL;
	size_t bytes;
	FILE *stream = open_memstream(&text, &bytes);

	if (!stream)
		return NULL;
	for (size_t i = 0; i < plan->n_refusals; i++) {
		const struct pmu_refusal *refusal = &plan->refusals[i];
		const unsigned same = roles & 1U << refusal->role ? same_refusals(plan, i, roles) : 0;
		_cleanup_free_ char *names = same && same != roles ? event_role_names(same) : NULL;

		if (!same)
			continue;
		(void)fprintf(stream, "%s%s%s%s: %s", separator, names ? names : "", names ? " on " : "",
			      refusal->pmu, refusal->reason);
		separator = ". ";
	}
	if (fclose(stream) == 0)
		return text;
	free(text);
	return NULL;
}

int pmu_plan_note(struct pmu_plan *plan, const char *format, ...)
{
	_cleanup_free_ char *note = NULL;
	va_list arguments;
	char **longer;
	int length;

	va_start(arguments, format);
	length = vasprintf(&note, format, arguments);
	va_end(arguments);
	if (length < 0) {
		note = NULL;
		return -ENOMEM;
	}
	longer = reallocarray((void *)plan->notes, plan->n_notes + 1, sizeof(*longer));
	if (!longer)
		return -ENOMEM;
	plan->notes = longer;
	plan->notes[plan->n_notes++] = TAKE_PTR(note);
	return 0;
}

int pmu_plan_add(struct pmu_plan *plan, const struct event_spec *spec)
{
	if (plan->n_specs == EVENTS_MAX)
		return pmu_plan_refuse(plan, spec->event.pmu, spec->event.role,
				       "pebsd samples at most %d events at once; leave some out of `events`",
				       EVENTS_MAX);
	plan->specs[plan->n_specs++] = *spec;
	return 0;
}

void pmu_plan_drop(struct pmu_plan *plan, size_t index)
{
	plan->n_specs--;
	memmove(&plan->specs[index], &plan->specs[index + 1],
		(plan->n_specs - index) * sizeof(plan->specs[0]));
}

void pmu_plan_drop_counter(struct pmu_plan *plan, size_t index)
{
	plan->n_counters--;
	memmove(&plan->counters[index], &plan->counters[index + 1],
		(plan->n_counters - index) * sizeof(plan->counters[0]));
}

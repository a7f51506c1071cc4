// SPDX-License-Identifier: GPL-2.0
/* The first line of `pebsctl status`: what is sampled, where, at what cost, and what is lost. */
#include <string.h>

#include "base/cleanup.h"
#include "base/json_get.h"
#include "format/format_event.h"
#include "machine/cpu_list.h"

/* Prints the kinds of events without their PMUs, each once: "loads, cycles and stalls". */
static void put_roles(FILE *out, json_object *events)
{
	const char *roles[32];
	size_t lengths[32];
	size_t n = 0;

	json_object_object_foreach (events, key, event) {
		size_t length = strcspn(key, ":"), i = 0;

		(void)event;
		while (i < n && (lengths[i] != length || strncmp(roles[i], key, length) != 0))
			i++;
		if (i == n && n < ARRAY_SIZE(roles)) {
			roles[n] = key;
			lengths[n++] = length;
		}
	}
	for (size_t i = 0; i < n; i++) {
		_cleanup_free_ char *role = strndup(roles[i], lengths[i]), *visible = NULL;

		(void)fprintf(out, "%s%s",
			      i == 0      ? ""
			      : i + 1 < n ? ", "
					  : " and ",
			      line_visible(role, &visible));
	}
}

static void put_cpus(FILE *out, json_object *events)
{
	struct cpu_list all = {0}, of_event;
	size_t n;

	json_object_object_foreach (events, key, event) {
		const char *cpus = json_get_text(event, "cpus");

		(void)key;
		if (cpus && cpu_list_parse(cpus, &of_event) == 0)
			cpu_list_add_all(&all, &of_event);
	}
	n = cpu_list_count(&all);
	if (n > 0)
		(void)fprintf(out, " on %zu CPU%s", n, n == 1 ? "" : "s");
}

/* The cost and budget of the events of one PMU, which share its CPUs. */
static bool cost_of_pmu(json_object *events, const char *pmu, double *ret_cost, double *ret_budget)
{
	*ret_cost = *ret_budget = 0;
	json_object_object_foreach (events, key, event) {
		json_object *figures = json_get_object(event, "cost");
		const char *other = json_get_text(event, "pmu");
		double ratio, most;

		(void)key;
		if (!other || strcmp(other, pmu) != 0 || !json_get_double(figures, "budget", &most))
			continue;
		if (!json_get_double(figures, "ratio", &ratio))
			return false;
		*ret_cost += ratio;
		*ret_budget += most;
	}
	return *ret_budget > 0;
}

/* Of several PMUs, as those of a hybrid CPU, prints the cost of the one whose events cost most. */
static void put_cost(FILE *out, json_object *events)
{
	double cost = -1, budget = 0, of_pmu, most;

	json_object_object_foreach (events, key, event) {
		const char *pmu = json_get_text(event, "pmu");

		(void)key;
		if (!pmu)
			continue;
		if (cost_of_pmu(events, pmu, &of_pmu, &most) && of_pmu > cost) {
			cost = of_pmu;
			budget = most;
		}
	}
	if (cost >= 0)
		(void)fprintf(out, ", cost %.2f%% of %.2f%%", cost * 100, budget * 100);
}

static void put_lost(FILE *out, json_object *samples)
{
	json_object *lost = json_get_object(samples, "lost");
	u64 seen, unattributed, count, sum = 0;
	char percent[TEXT_NUMBER_MAX];

	if (!json_get_u64(samples, "seen", &seen) || !lost)
		return;
	json_object_object_foreach (lost, cause, number) {
		(void)number;
		if (json_get_u64(lost, cause, &count))
			sum += count;
	}
	if (sum > 0) {
		line_percent((double)sum, (double)seen + (double)sum, percent);
		(void)fprintf(out, ", %s of the samples lost", percent);
	} else {
		(void)fprintf(out, ", nothing lost");
	}
	if (json_get_u64(samples, "unattributed", &unattributed) && unattributed > 0) {
		line_percent((double)unattributed, (double)seen, percent);
		(void)fprintf(out, ", %s without a slot", percent);
	}
}

/* Prints the first words, and returns what they mean. `ret_sampling`: figures of the sampling follow. */
static enum line_mood put_what(FILE *out, const struct format_style *style, json_object *status,
			       bool *ret_sampling)
{
	json_object *events = json_get_object(status, "events");
	const char *origin = json_get_text(status, "origin");
	char until[LINE_TIME_MAX];
	bool paused, done;

	*ret_sampling = false;
	if (json_get_bool(status, "paused", &paused) && paused) {
		(void)fprintf(out, "paused until %s",
			      json_get_text(status, "paused_until")
				      ? line_time(style, json_get_text(status, "paused_until"), until)
				      : "`pebsctl resume`");
		return LINE_WARNING;
	}
	if (json_get_bool(status, "replay_done", &done)) {
		(void)fputs(done ? "all records of the replay were read" : "reading the replay", out);
		return LINE_GOOD;
	}
	if (!events) {
		(void)fputs("not known", out);
		return LINE_WARNING;
	}
	if (json_object_object_length(events) == 0) {
		(void)fputs("no event is sampled", out);
		return LINE_BAD;
	}
	*ret_sampling = true;
	(void)fputs(origin && strcmp(origin, "model") == 0 ? "modelling" : "sampling", out);
	return LINE_GOOD;
}

static void put_state(FILE *out, const struct format_style *style, json_object *status)
{
	json_object *events = json_get_object(status, "events");
	_cleanup_free_ char *what = NULL;
	enum line_mood mood;
	bool sampling;
	size_t length;
	u64 firing;
	FILE *first = open_memstream(&what, &length);

	if (!first)
		return;
	mood = put_what(first, style, status, &sampling);
	if (fclose(first) != 0)
		return;
	(void)fprintf(out, "%s%s%s", line_colour(style, mood), what, line_colour_end(style, mood));
	if (sampling) {
		(void)fputc(' ', out);
		put_roles(out, events);
		put_cpus(out, events);
		put_cost(out, events);
		put_lost(out, json_get_object(status, "samples"));
	}
	if (json_get_u64(status, "alerts_firing", &firing) && firing > 0)
		(void)fprintf(out, ", %s%llu alert%s firing%s", line_colour(style, LINE_BAD),
			      (unsigned long long)firing, firing == 1 ? "" : "s",
			      line_colour_end(style, LINE_BAD));
}

void format_state(FILE *out, const struct format_style *style, json_object *status)
{
	_cleanup_free_ char *text = NULL;
	size_t length;
	FILE *stream = open_memstream(&text, &length);

	if (!stream)
		return;
	put_state(stream, style, status);
	if (fclose(stream) == 0)
		line_put(out, style, "State", "%s", text);
}

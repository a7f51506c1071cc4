// SPDX-License-Identifier: GPL-2.0
#include "export/json/json_neighbours.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/param.h>

#include "base/cleanup.h"
#include "base/json_get.h"
#include "base/text.h"
#include "export/json/json.h"
#include "export/json/json_writer.h"
#include "policy/explain.h"

#define USEC_PER_SEC 1000000ULL

const char *json_neighbours_verdict(enum neighbours_verdict verdict)
{
	switch (verdict) {
	case NEIGHBOURS_NAMED:
		return "named";
	case NEIGHBOURS_SELF:
		return "self";
	case NEIGHBOURS_NOBODY:
		return "nobody";
	case NEIGHBOURS_THIN:
		return "thin";
	case NEIGHBOURS_EPISODE:
		return "episode";
	case NEIGHBOURS_STEADY:
		break;
	}
	return "steady";
}

/* Adds nothing if the value is not known. */
static void put_known(struct json_writer *writer, json_object *object, const char *key, double value,
		      int decimals)
{
	if (isfinite(value))
		json_put_number(writer, object, key, value, decimals);
}

/* Adds a value in the slowest and in the fastest bins; nothing if neither is known. */
static void put_slow_fast(struct json_writer *writer, json_object *object, const char *key, double slow,
			  double fast, int decimals)
{
	json_object *both;

	if (!isfinite(slow) && !isfinite(fast))
		return;
	both = json_checked(writer, json_object_new_object());
	put_known(writer, both, "slow", slow, decimals);
	put_known(writer, both, "fast", fast, decimals);
	json_put(writer, object, key, both);
}

static json_object *neighbour_object(struct json_writer *writer, const struct neighbours_report *report,
				     const struct neighbour *neighbour)
{
	json_object *object = json_checked(writer, json_object_new_object());

	json_put_text(writer, object, "cgroup", report->cgroups[neighbour->index]);
	json_put(writer, object, "named", json_object_new_boolean(neighbour->named));
	put_known(writer, object, "strength", neighbour->strength, 3);
	/* No correlation exceeds 1. */
	if (neighbour->needed < 1)
		put_known(writer, object, "needed", neighbour->needed, 3);
	json_put_number(writer, object, "lag_s", neighbour->lag * report->bin_seconds, 3);
	json_put_u64(writer, object, "bins", neighbour->n);
	put_slow_fast(writer, object, "traffic", neighbour->traffic_slow, neighbour->traffic_fast, 1);
	return object;
}

json_object *json_neighbours(const char *origin, const char *path, const struct neighbours_report *report,
			     struct json_page *page)
{
	const struct neighbours *ranking = &report->ranking;
	struct json_writer writer = {0};
	json_object *object = json_start_of(&writer, origin);
	json_object *list = json_checked(&writer, json_object_new_array());
	bool judged = ranking->verdict != NEIGHBOURS_THIN;

	json_put_text(&writer, object, "cgroup", path);
	json_put_text(&writer, object, "event", report->event);
	json_put_text(&writer, object, "traffic_from", report->misses ? "misses" : "loads");
	json_put_number(&writer, object, "bin_s", report->bin_seconds, 3);
	json_put_number(&writer, object, "window_s", report->covered_seconds, 3);
	json_put_u64(&writer, object, "bins", ranking->bins);
	json_put_text(&writer, object, "verdict", json_neighbours_verdict(ranking->verdict));
	/* The following members were computed only if there were enough bins. */
	if (judged) {
		put_known(&writer, object, "self_strength", ranking->self_strength, 3);
		put_slow_fast(&writer, object, "latency", ranking->latency_slow, ranking->latency_fast, 1);
	}
	json_put(&writer, object, "nodes_known", json_object_new_boolean(report->nodes_known));
	json_put_u64(&writer, object, "candidates", report->n_cgroups);
	json_put_u64(&writer, object, "apart", report->apart);
	if (report->beyond)
		json_put_u64(&writer, object, "beyond", report->beyond);
	for (size_t i = json_page_first(page, ranking->n); i < ranking->n; i++)
		if (!json_append_to_page(&writer, list, neighbour_object(&writer, report, &ranking->list[i]),
					 page, i))
			break;
	json_put(&writer, object, "neighbours", list);
	json_put_page(&writer, object, page);
	return json_finish(&writer, object);
}

/* A report, and the time that it is about, as a part of a sentence. */
struct evidence {
	struct neighbours_report *report;
	const struct past *past; /* NULL: the report is about the last minutes */
	char time[2 * TEXT_TIME_MAX + 16];
};

static void evidence_done(struct evidence *evidence)
{
	neighbours_report_free(evidence->report);
}

/* In the words of `pebsctl neighbours`. */
static json_object *suspect_sentence(const struct evidence *evidence, const struct neighbour *neighbour)
{
	_cleanup_free_ char *text = NULL;

	if (asprintf(
		    &text,
		    "%s may disturb this cgroup: %s its traffic rose when this cgroup's latency rose, by more than chance and this cgroup's own traffic explain (strength %.2f, needed %.2f)",
		    evidence->report->cgroups[neighbour->index], evidence->time, neighbour->strength,
		    neighbour->needed) < 0)
		text = NULL;
	return text ? json_name(text) : NULL;
}

/* Adds the sentences to `list`. */
static void put_suspects(struct json_writer *writer, json_object *list, const struct json_suspects *suspects,
			 const struct evidence *evidence)
{
	const struct neighbours_report *report = evidence->report;
	size_t named = 0;

	/* The strongest is first. */
	for (size_t i = 0; i < report->ranking.n && named < JSON_SUSPECTS_MAX; i++) {
		const struct neighbour *neighbour = &report->ranking.list[i];

		if (!neighbour->named ||
		    (suspects->may_name &&
		     !suspects->may_name(report->cgroups[neighbour->index], evidence->past, suspects->names)))
			continue;
		json_append(writer, list, suspect_sentence(evidence, neighbour));
		named++;
	}
}

static int find_now(const struct json_suspects *suspects, const char *path, struct evidence *ret)
{
	char span[TEXT_NUMBER_MAX];
	int r = suspects->find ? suspects->find(suspects->userdata, path, &ret->report) : -ENODATA;

	if (r < 0)
		return r;
	text_span(ret->report->covered_seconds, span);
	(void)snprintf(ret->time, sizeof(ret->time), "in the last %s", span);
	return 0;
}

static int find_then(const struct json_suspects *suspects, const char *path, const struct past_span *alert,
		     struct evidence *ret)
{
	const u64 around_us =
		MAX(NEIGHBOURS_REPORT_SPAN_NS / NSEC_PER_USEC, alert->until_us - alert->since_us);
	char since[TEXT_TIME_MAX], until[TEXT_TIME_MAX];
	int r = past_panes(suspects->past, suspects->userdata,
			   alert->since_us - MIN(around_us, alert->since_us), alert->until_us + around_us,
			   &ret->past);

	if (r == 0)
		r = suspects->past_neighbours(suspects->userdata, ret->past, path, &ret->report);
	if (r < 0)
		return r;
	text_time(&past_snapshot(ret->past)->since, since);
	text_time(&past_snapshot(ret->past)->taken, until);
	(void)snprintf(ret->time, sizeof(ret->time), "from %s to %s", since, until);
	return 0;
}

/*
 * Finds neighbours in the time of an alert, and leaves `ret->report` NULL if none is named. `alert` NULL: it has not
 * ended. Returns 0, -ENOMEM or -EAGAIN.
 */
static int find_evidence(const struct json_suspects *suspects, const char *path,
			 const struct past_span *alert, struct evidence *ret)
{
	const double age = alert ? (double)suspects->now - (double)alert->since_us / USEC_PER_SEC : 0;
	int r = -ENODATA;

	if (age <= (double)NEIGHBOURS_REPORT_SPAN_NS / NSEC_PER_SEC)
		r = find_now(suspects, path, ret);
	if (alert && r != -ENOMEM && (r < 0 || ret->report->covered_seconds < age)) {
		ret->report = neighbours_report_free(ret->report);
		r = find_then(suspects, path, alert, ret);
	}
	if (r == 0 && ret->report->ranking.verdict != NEIGHBOURS_NAMED)
		ret->report = neighbours_report_free(ret->report);
	/* Loads are not sampled with a latency, the cgroup never was, or the time is not stored. */
	return r == -ENOMEM || r == -EAGAIN ? r : 0;
}

static u64 microseconds(const struct timespec *time)
{
	return (u64)time->tv_sec * USEC_PER_SEC + (u64)time->tv_nsec / NSEC_PER_USEC;
}

int json_suspects(const struct json_suspects *suspects, const struct alert *alerts, size_t n,
		  json_object **ret)
{
	_cleanup_(evidence_done) struct evidence evidence = {0};
	struct json_writer writer = {0};
	struct past_span span;
	bool ended;
	size_t asks = 0;
	int r;

	*ret = NULL;
	while (asks < n && !explain_asks_neighbours(&alerts[asks]))
		asks++;
	if (asks == n)
		return 0;
	span = (struct past_span){microseconds(&alerts[asks].breached), microseconds(&alerts[asks].resolved)};
	ended = alerts[asks].decision.state == ALERT_RESOLVED && span.since_us &&
		span.since_us < span.until_us;
	r = find_evidence(suspects, alerts[asks].cgroup, ended ? &span : NULL, &evidence);
	if (r < 0 || !evidence.report)
		return r;
	*ret = json_checked(&writer, json_object_new_array());
	put_suspects(&writer, *ret, suspects, &evidence);
	*ret = json_finish(&writer, *ret);
	return *ret ? 0 : -ENOMEM;
}

/* Like explain_asks_neighbours(), for an alert of the history, which other programs can change. */
static bool past_asks_neighbours(const json_object *alert)
{
	const char *metric_text = json_get_text(alert, "metric"), *event = json_get_text(alert, "event");
	const char *loads = event_role_name(EVENT_LOADS);
	enum event_role implied[METRIC_EVENTS_MAX];
	struct metric metric;

	return json_get(alert, "fired") && metric_text && event && metric_parse(metric_text, &metric) == 0 &&
	       explain_metric_asks_neighbours(&metric, metric_events(&metric, implied) ||
							       strncmp(event, loads, strlen(loads)) == 0);
}

/* Returns false if the object lacks this time, or if it cannot be read. */
static bool get_microseconds(const json_object *object, const char *key, u64 *ret)
{
	const char *text = json_get_text(object, key);
	time_t seconds;

	if (!text || text_parse_time(text, &seconds) < 0 || seconds <= 0)
		return false;
	*ret = (u64)seconds * USEC_PER_SEC;
	return true;
}

static json_object *first_that_asks(const json_object *judged)
{
	const size_t n = judged ? json_object_array_length(judged) : 0;

	for (size_t i = 0; i < n; i++) {
		json_object *alert = json_object_array_get_idx(judged, i);

		if (past_asks_neighbours(alert))
			return alert;
	}
	return NULL;
}

int json_past_suspects(const struct json_suspects *suspects, json_object *explained)
{
	json_object *judged = json_get_array(explained, "judged"), *alert, *sentences;
	_cleanup_(evidence_done) struct evidence evidence = {0};
	struct json_writer writer = {0};
	const char *path;
	struct past_span span;
	int r;

	alert = first_that_asks(judged);
	path = json_get_text(alert, "cgroup");
	sentences = json_get_array(alert, "sentences");
	/* A name that is not UTF-8 is not found in this form, and has no neighbours then. */
	if (!path || !sentences || !get_microseconds(alert, "breached", &span.since_us) ||
	    !(get_microseconds(alert, "resolved", &span.until_us) ||
	      get_microseconds(explained, "taken", &span.until_us)) ||
	    span.since_us >= span.until_us)
		return 0;
	r = find_evidence(suspects, path, &span, &evidence);
	if (r == 0 && evidence.report)
		put_suspects(&writer, sentences, suspects, &evidence);
	return writer.failed ? -ENOMEM : r;
}

// SPDX-License-Identifier: GPL-2.0
#include "export/json/json_neighbours.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "export/json/json.h"
#include "export/json/json_writer.h"
#include "policy/explain.h"

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
	json_object *object = json_checked(&writer, json_object_new_object());
	json_object *list = json_checked(&writer, json_object_new_array());
	bool judged = ranking->verdict != NEIGHBOURS_THIN;

	json_put_u64(&writer, object, "version", JSON_VERSION);
	json_put_text(&writer, object, "origin", origin);
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

/* In the words of `pebsctl neighbours`. */
static json_object *suspect_sentence(const struct neighbours_report *report,
				     const struct neighbour *neighbour)
{
	_cleanup_free_ char *text = NULL;
	char span[TEXT_NUMBER_MAX];

	text_span(report->covered_seconds, span);
	if (asprintf(
		    &text,
		    "%s may disturb it: in the last %s its traffic rose when this cgroup's latency rose, by more than chance and this cgroup's own traffic explain (strength %.2f, needed %.2f)",
		    report->cgroups[neighbour->index], span, neighbour->strength, neighbour->needed) < 0)
		text = NULL;
	return text ? json_name(text) : NULL;
}

static json_object *suspect_sentences(const struct json_suspects *suspects,
				      const struct neighbours_report *report)
{
	struct json_writer writer = {0};
	json_object *list = json_checked(&writer, json_object_new_array());
	size_t named = 0;

	/* The strongest is first. */
	for (size_t i = 0; i < report->ranking.n && named < JSON_SUSPECTS_MAX; i++) {
		const struct neighbour *neighbour = &report->ranking.list[i];

		if (!neighbour->named ||
		    (suspects->may_name &&
		     !suspects->may_name(report->cgroups[neighbour->index], suspects->names)))
			continue;
		json_append(&writer, list, suspect_sentence(report, neighbour));
		named++;
	}
	return json_finish(&writer, list);
}

int json_suspects(const struct json_suspects *suspects, const struct alert *alerts, size_t n,
		  json_object **ret)
{
	_cleanup_(neighbours_report_freep) struct neighbours_report *report = NULL;
	size_t asks = 0;
	int r;

	*ret = NULL;
	while (asks < n && !explain_asks_neighbours(&alerts[asks]))
		asks++;
	if (asks == n || !suspects->find)
		return 0;
	r = suspects->find(suspects->userdata, alerts[asks].cgroup, &report);
	if (r < 0)
		/* Loads are not sampled with a latency, or the cgroup never was. */
		return r == -ENOMEM ? r : 0;
	if (report->ranking.verdict != NEIGHBOURS_NAMED)
		return 0;
	*ret = suspect_sentences(suspects, report);
	return *ret ? 0 : -ENOMEM;
}

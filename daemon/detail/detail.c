// SPDX-License-Identifier: GPL-2.0
#include "detail/detail.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "engine/engine.h"
#include "pebsd/hot.h"
#include "symbols/symbols_socket.h"

struct detail {
	struct detail_settings settings;
	struct symbols *symbols;
	struct zooms *zooms;
	struct detail_counts counts;
	const char *hot[HOT_MAX + 1];
};

static int open_zoom(void *userdata, const char *path, u32 rate, struct zoom_source **ret, char **ret_note,
		     char **ret_message)
{
	struct detail *detail = userdata;

	return sampling_zoom_open(detail->settings.sampling, path, rate, ret, ret_note, ret_message);
}

static void close_zoom(void *userdata, struct zoom_source *source)
{
	struct detail *detail = userdata;

	sampling_zoom_close(detail->settings.sampling, source);
}

static const struct symbol *name_address(void *userdata, const struct symbol_query *query)
{
	struct detail *detail = userdata;

	return sampling_name(detail->settings.sampling, query);
}

int detail_new(const struct detail_settings *settings, struct detail **ret)
{
	_cleanup_(detail_freep) struct detail *detail = calloc(1, sizeof(*detail));
	const struct symbols_settings symbols = {.event = settings->event,
						 .debuginfod = settings->config->debuginfod,
						 .socket = SYMBOLS_SOCKET};
	struct zooms_settings zooms = {
		.event = settings->event, .changed = settings->changed, .userdata = settings->userdata};
	int r;

	if (!detail)
		return -ENOMEM;
	detail->settings = *settings;
	r = symbols_new(&symbols, &detail->symbols);
	if (r < 0)
		return r;
	zooms.symbols = detail->symbols;
	zooms.socket = SYMBOLS_SOCKET;
	zooms.origin.name = engine_head(sampling_engine(settings->sampling))->origin;
	zooms.origin.userdata = detail;
	if (sampling_zooms(settings->sampling)) {
		zooms.origin.open = open_zoom;
		zooms.origin.close = close_zoom;
	}
	if (sampling_names(settings->sampling))
		zooms.origin.name_address = name_address;
	r = zooms_new(&zooms, &detail->zooms);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(detail);
	return 0;
}

struct detail *detail_free(struct detail *detail)
{
	if (!detail)
		return NULL;
	zooms_free(detail->zooms);
	symbols_free(detail->symbols);
	free(detail);
	return NULL;
}

struct zooms *detail_zooms(struct detail *detail)
{
	return detail->zooms;
}

struct symbols *detail_symbols(struct detail *detail)
{
	return detail->symbols;
}

int detail_choose_hot(struct detail *detail, const char *path, double seconds)
{
	struct engine *engine = sampling_engine(detail->settings.sampling);
	uint64_t now_us = 0;

	(void)sd_event_now(detail->settings.event, CLOCK_MONOTONIC, &now_us);
	return engine_hot_choose(engine, path,
				 now_us * NSEC_PER_USEC + (u64)(seconds * (double)NSEC_PER_SEC));
}

static int zoom_for(struct detail *detail, const struct transition *transition, char **ret_message)
{
	const struct rule *rule = transition->alert.rule;
	_cleanup_free_ char *reason = NULL;
	u64 id;

	if (asprintf(&reason, "rule %s, alert %llu", rule->name,
		     (unsigned long long)transition->alert.number) < 0) {
		reason = NULL;
		return -ENOMEM;
	}
	return zooms_begin(detail->zooms,
			   &(struct zoom_request){
				   .path = transition->alert.cgroup,
				   .seconds = (double)rule->zoom_ns / (double)NSEC_PER_SEC,
				   .reason = reason,
			   },
			   &id, ret_message);
}

static int hot_for(struct detail *detail, const struct transition *transition, char **ret_message)
{
	const char *path = transition->alert.cgroup;
	struct engine *engine = sampling_engine(detail->settings.sampling);
	int r = detail_choose_hot(detail, path,
				  (double)transition->alert.rule->hot_ns / (double)NSEC_PER_SEC);

	if (r == -ENOSPC &&
	    asprintf(
		    ret_message,
		    "all hot tables are in use: hot-max in [cgroups] is %zu; raise it and restart pebsd, or track fewer cgroups",
		    engine_hot_max(engine)) < 0)
		*ret_message = NULL;
	if (r == -EOPNOTSUPP)
		*ret_message = strdup(
			"there are no hot tables: hot-max in [cgroups] is 0, or no sampled event has addresses; if it is 0, raise it and restart pebsd");
	if (r == -ENOENT &&
	    asprintf(
		    ret_message,
		    "the cgroup %s no longer exists, or has no slot; if it exists, raise max-memory (or max) in [cgroups]",
		    path) < 0)
		*ret_message = NULL;
	if (r == 0)
		log_info("tracking hot code and data of %s for rule %s, alert %llu", path,
			 transition->alert.rule->name, (unsigned long long)transition->alert.number);
	return r;
}

int detail_start(struct detail *detail, const struct transition *transition, enum rule_action action,
		 char **ret_message)
{
	*ret_message = NULL;
	return action == RULE_ZOOM ? zoom_for(detail, transition, ret_message)
				   : hot_for(detail, transition, ret_message);
}

const struct detail_counts *detail_counts(struct detail *detail)
{
	const struct engine *engine = sampling_engine(detail->settings.sampling);
	struct symbols_counts symbols = symbols_counts(detail->symbols);
	struct zooms_counts zooms;
	size_t n = 0;

	zooms_get_counts(detail->zooms, &zooms);
	while (n < HOT_MAX && (detail->hot[n] = engine_hot_nth(engine, n)))
		n++;
	detail->hot[n] = NULL;
	detail->counts = (struct detail_counts){
		.zooms_running = zooms.running,
		.zooms_held = zooms.held,
		.zoom_bytes = zooms.bytes,
		.taken = zooms.taken,
		.limited = zooms.limited,
		.lost = zooms.lost,
		.dropped = zooms.dropped,
		.hot = detail->hot,
		.hot_max = engine_hot_max(engine),
		.symbols = {.asked = symbols.asked,
			    .answered = symbols.answered,
			    .unknown = symbols.unknown,
			    .lost = symbols.lost,
			    .late = symbols.late,
			    .starts = symbols.starts,
			    .bytes = symbols.bytes,
			    .own_bytes = symbols.own_bytes},
	};
	return &detail->counts;
}

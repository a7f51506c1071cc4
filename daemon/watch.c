// SPDX-License-Identifier: GPL-2.0
#include "watch.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "base/monotonic.h"
#include "base/subtract.h"
#include "base/text.h"
#include "export/json/json_rules.h"

static void publish(struct watch *watch, const char *kind, const char *text, json_object *fields)
{
	if (watch->control)
		control_publish(watch->control, kind, text, fields);
	else
		json_object_put(fields);
}

static void publish_cgroup(struct watch *watch, const char *kind, const char *path, u64 id)
{
	_cleanup_free_ char *text = NULL;
	json_object *fields;

	/*
	 * Thousands of cgroups may come and go in a second, so compose nothing if there is no control socket.
	 */
	if (!watch->control)
		return;
	fields = json_object_new_object();
	if (asprintf(&text, "%s %s", kind, path) < 0)
		text = NULL;
	if (fields) {
		(void)json_object_object_add(fields, "cgroup", json_object_new_string(path));
		(void)json_object_object_add(fields, "id", json_object_new_uint64(id));
	}
	publish(watch, kind, text ? text : kind, fields);
}

void watch_born(void *userdata, const char *path, u64 id)
{
	publish_cgroup(userdata, "born", path, id);
}

void watch_gone(void *userdata, const char *path, u64 id)
{
	publish_cgroup(userdata, "gone", path, id);
}

/* Publishes each loss. log_loss() logs the first at once, and after that the sum of a minute. */
static void publish_loss(struct watch *watch, const char *key, const char *reason, u64 lost)
{
	_cleanup_free_ char *text = NULL;
	json_object *fields = json_object_new_object();

	if (asprintf(&text, "lost %llu sample%s of %s: %s", (unsigned long long)lost, lost == 1 ? "" : "s",
		     key, reason) < 0)
		text = NULL;
	if (fields) {
		(void)json_object_object_add(fields, "source", json_object_new_string(key));
		(void)json_object_object_add(fields, "reason", json_object_new_string(reason));
		(void)json_object_object_add(fields, "samples", json_object_new_uint64(lost));
	}
	publish(watch, "loss", text ? text : reason, fields);
}

static void log_loss(struct log_sum *sum, const char *key, const char *reason, u64 more, bool at_end)
{
	char span[TEXT_NUMBER_MAX], within[TEXT_NUMBER_MAX + 16] = "";
	u64 since_ns;
	u64 lost = log_sum_add(sum, more, monotonic_ns(), at_end, &since_ns);

	if (lost == 0)
		return;
	if (since_ns > 0) {
		text_span((double)since_ns / (double)NSEC_PER_SEC, span);
		(void)snprintf(within, sizeof(within), ", in the last %s", span);
	}
	log_full(LOG_WARNING, 0,
		 ((const struct log_field[]){{"PEBSD_EVENT", key}, {"PEBSD_REASON", reason}, {0}}),
		 "lost %llu sample%s of %s: %s%s; see LOSSES in pebsd(8)", (unsigned long long)lost,
		 lost == 1 ? "" : "s", key, reason, within);
}

void watch_begin(struct watch *watch, unsigned event, const struct reading *reading)
{
	watch->malformed[event] = reading->malformed;
	watch->unexplained[event] = reading->unexplained;
}

void watch_losses(struct watch *watch, unsigned event, const struct snapshot_event *description,
		  const struct reading *reading)
{
	u64 malformed = subtract_to_zero(reading->malformed, watch->malformed[event]);
	u64 unexplained = subtract_to_zero(reading->unexplained, watch->unexplained[event]);

	/* One sample for each CPU may still be on its way, so up to that many are not reported yet. */
	if (unexplained <= description->n_cpus)
		unexplained = 0;
	if (malformed > 0)
		publish_loss(watch, description->key, "malformed", malformed);
	if (unexplained > 0)
		publish_loss(watch, description->key, "unexplained", unexplained);
	log_loss(&watch->logged[event].malformed, description->key, "malformed", malformed, false);
	log_loss(&watch->logged[event].unexplained, description->key, "unexplained", unexplained, false);
	watch->malformed[event] += malformed;
	watch->unexplained[event] += unexplained;
}

void watch_total(struct watch *watch, unsigned event, const struct snapshot_event *description,
		 const struct reading *reading)
{
	char seen[TEXT_NUMBER_MAX], lost[TEXT_NUMBER_MAX], seen_field[24], lost_field[24];
	u64 lost_in_all = reading->malformed + reading->unexplained;

	log_loss(&watch->logged[event].malformed, description->key, "malformed", 0, true);
	log_loss(&watch->logged[event].unexplained, description->key, "unexplained", 0, true);
	text_count(reading->seen, seen);
	text_count(lost_in_all, lost);
	(void)snprintf(seen_field, sizeof(seen_field), "%llu", (unsigned long long)reading->seen);
	(void)snprintf(lost_field, sizeof(lost_field), "%llu", (unsigned long long)lost_in_all);
	log_full(LOG_INFO, 0,
		 ((const struct log_field[]){{"PEBSD_EVENT", description->key},
					     {"PEBSD_SEEN", seen_field},
					     {"PEBSD_LOST", lost_field},
					     {0}}),
		 "total: %s sample%s of %s seen, %s lost", seen, reading->seen == 1 ? "" : "s",
		 description->key, lost);
}

static void publish_period(struct watch *watch, const struct snapshot_event *description, u64 before,
			   bool log)
{
	_cleanup_free_ char *text = NULL;
	json_object *fields = json_object_new_object();
	u64 now = description->event.period;

	if (asprintf(&text, "the period of %s is now %llu (was %llu)", description->key,
		     (unsigned long long)now, (unsigned long long)before) < 0)
		text = NULL;
	if (text && log)
		log_notice("%s", text);
	if (fields) {
		(void)json_object_object_add(fields, "source", json_object_new_string(description->key));
		(void)json_object_object_add(fields, "period", json_object_new_uint64(now));
		(void)json_object_object_add(fields, "before", json_object_new_uint64(before));
	}
	publish(watch, "period", text ? text : "period", fields);
}

void watch_period(struct watch *watch, const struct snapshot_event *description, u64 before)
{
	publish_period(watch, description, before, true);
}

void watch_governed(struct watch *watch, const struct snapshot_event *description, u64 before)
{
	publish_period(watch, description, before, false);
}

void watch_pause(struct watch *watch, const struct snapshot *head)
{
	_cleanup_free_ char *text = NULL;
	json_object *fields = NULL;
	char time[TEXT_TIME_MAX];

	if (!head->paused) {
		publish(watch, "resume", "sampling again", NULL);
		return;
	}
	if (head->paused_until.tv_sec == 0) {
		publish(watch, "pause", "paused until resumed", NULL);
		return;
	}
	text_time(&head->paused_until, time);
	if (asprintf(&text, "paused until %s", time) < 0)
		text = NULL;
	fields = json_object_new_object();
	if (fields)
		(void)json_object_object_add(fields, "paused_until", json_object_new_string(time));
	publish(watch, "pause", text ? text : "paused", fields);
}

void watch_alert(struct watch *watch, const struct transition *transition)
{
	const struct alert *alert = &transition->alert;
	_cleanup_free_ char *text = NULL;

	if (asprintf(&text, "rule %s on %s is %s, was %s%s", alert->rule->name, alert->cgroup,
		     alert_state_word(transition->to), alert_state_word(transition->from),
		     alert->rule->dry_run ? " (dry run)" : "") < 0)
		text = NULL;
	publish(watch, "alert", text ? text : alert->rule->name, json_transition(transition));
}

void watch_zoom(struct watch *watch, const struct zoom *zoom, bool over)
{
	const struct zoom_about *about = zoom_recording_about_const(zoom->recording);
	_cleanup_free_ char *text = NULL;
	json_object *fields = json_object_new_object();
	int r;
	u64 n = zoom_recording_samples(zoom->recording);
	char samples[TEXT_NUMBER_MAX], span[TEXT_NUMBER_MAX], limited[TEXT_NUMBER_MAX], lost[TEXT_NUMBER_MAX];

	text_count(about->counts.limited, limited);
	text_count(about->counts.lost, lost);
	text_count(n, samples);
	text_span(over ? (double)(about->ended_ns - about->began_ns) / (double)NSEC_PER_SEC : zoom->seconds,
		  span);
	r = over ? asprintf(&text, "zoom %llu on %s has ended: %s sample%s in %s, %s over the limit, %s lost",
			    (unsigned long long)zoom->id, about->cgroup, samples, n == 1 ? "" : "s", span,
			    limited, lost)
		 : asprintf(&text, "zoom %llu on %s begins, for %s (%s)", (unsigned long long)zoom->id,
			    about->cgroup, span, zoom->reason);
	if (r < 0)
		text = NULL;
	if (text)
		log_kind(LOG_INFO, over ? "zoom over" : "zoom", "%s", text);
	if (fields) {
		(void)json_object_object_add(fields, "zoom", json_object_new_uint64(zoom->id));
		(void)json_object_object_add(fields, "cgroup", json_object_new_string(about->cgroup));
		(void)json_object_object_add(fields, "state",
					     json_object_new_string(over ? "over" : "began"));
		(void)json_object_object_add(fields, "reason", json_object_new_string(zoom->reason));
	}
	publish(watch, "zoom", text ? text : "zoom", fields);
}

void watch_reload(struct watch *watch, int result)
{
	publish(watch, "reload",
		result == -EINVAL ? "the configuration has mistakes; the old one stays in force"
		: result < 0      ? "the configuration cannot be reloaded; the old one stays in force"
				  : "configuration read",
		NULL);
}

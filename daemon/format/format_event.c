// SPDX-License-Identifier: GPL-2.0
#include "format/format_event.h"

#include <string.h>

#include "base/cleanup.h"
#include "base/json_get.h"
#include "format/figure.h"
#include "format/format_past.h"
#include "format/format_waits.h"

const char *format_origin_name(json_object *reply, char **kept)
{
	const char *origin = json_get_text(reply, "origin");

	return origin && strcmp(origin, "model") == 0 ? "model (no measurement)" : line_visible(origin, kept);
}

/* Adds ", BEFORE TEXT" if the recording has the text. */
static void put_known(FILE *out, json_object *recording, const char *key, const char *before)
{
	const char *text = json_get_text(recording, key);
	_cleanup_free_ char *kept = NULL;

	if (text)
		(void)fprintf(out, ", %s%s", before, line_visible(text, &kept));
}

static char *describe_recording(const struct format_style *style, json_object *recording)
{
	const char *own = json_get_text(recording, "time"), *file = json_get_text(recording, "file_time");
	char time[LINE_TIME_MAX];
	_cleanup_free_ char *kept = NULL;
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	if (!out)
		return NULL;
	(void)fprintf(out, "%s", line_visible(json_get_text(recording, "file"), &kept));
	put_known(out, recording, "host", "host ");
	put_known(out, recording, "cpu", "");
	put_known(out, recording, "kernel", "Linux ");
	if (own)
		(void)fprintf(out, ", recorded %s", line_time(style, own, time));
	else if (file)
		(void)fprintf(out, ", recorded before %s (time of the file)", line_time(style, file, time));
	(void)fclose(out);
	return text;
}

void format_recordings(FILE *out, const struct format_style *style, json_object *reply)
{
	json_object *recordings = json_get_array(reply, "recordings");

	for (size_t i = 0; recordings && i < json_object_array_length(recordings); i++) {
		_cleanup_free_ char *text =
			describe_recording(style, json_object_array_get_idx(recordings, i));

		line_put(out, style, "Recording", "%s", text ? text : "");
	}
}

void format_origin(FILE *out, const struct format_style *style, const char *label, json_object *reply)
{
	char since[LINE_TIME_MAX];
	char window[TEXT_NUMBER_MAX];
	_cleanup_free_ char *kept = NULL;
	double seconds;

	if (format_is_past(reply)) {
		line_put(out, style, label, "%s, from the history", format_origin_name(reply, &kept));
		format_past(out, style, reply);
		return;
	}
	if (json_get_double(reply, "window_s", &seconds))
		text_span(seconds, window);
	else
		(void)snprintf(window, sizeof(window), "all");
	line_put(out, style, label, "%s since %s, window %s", format_origin_name(reply, &kept),
		 line_time(style, json_get_text(reply, "since"), since), window);
}

static const char *kind_in_words(const char *kind)
{
	if (kind && strcmp(kind, "use") == 0)
		return "use latency";
	if (kind && strcmp(kind, "cache") == 0)
		return "cache latency";
	if (kind && strcmp(kind, "dc_miss") == 0)
		return "data cache miss latency";
	return "latency of an unknown kind";
}

static void describe_latency(json_object *event, const char *role, const char *accesses, char *ret,
			     size_t size)
{
	const char *kind = json_get_text(event, "latency_kind");
	char condition[96] = "; their threshold is not known";
	u64 value;

	/*
	 * From Alder Lake and Sapphire Rapids on, the threshold applies to the instruction latency, but the event
	 * reports the cache latency.
	 */
	if (json_get_u64(event, "ldlat", &value))
		(void)snprintf(condition, sizeof(condition), " above %llu cycles%s",
			       (unsigned long long)value,
			       kind && strcmp(kind, "cache") == 0 ? " of instruction latency" : "");
	else if (kind && strcmp(kind, "dc_miss") == 0) /* AMD, no threshold: only the latest CPUs have one */
		(void)snprintf(condition, sizeof(condition), " that missed L1");
	else if (role && strcmp(role, "loads") != 0)
		condition[0] = '\0';
	(void)snprintf(ret, size, "%s, in core cycles, of sampled %s%s", kind_in_words(kind), accesses,
		       condition);
}

void format_event(FILE *out, const struct format_style *style, const char *label, const char *key,
		  json_object *event)
{
	const char *role = json_get_text(event, "role");
	const char *accesses;
	_cleanup_free_ char *shown_key = NULL;
	_cleanup_free_ char *shown_role = NULL;
	char period[TEXT_NUMBER_MAX] = "not known or not constant";
	char time[TEXT_NUMBER_MAX], frequency[TEXT_NUMBER_MAX];
	const char *hint = "";
	char what[256];
	double hz;
	u64 value;

	if (json_get_u64(event, "period", &value))
		text_count(value, period);
	if (waits_counted(event)) {
		line_put(out, style, label, "%s: period %s; %s, estimated as samples x period",
			 line_visible(key, &shown_key), period, waits_counted(event));
		return;
	}
	accesses = line_visible(role, &shown_role);
	if (figure_measures(event, "latency"))
		describe_latency(event, role, accesses, what, sizeof(what));
	else if (role && strcmp(role, "instructions") == 0)
		(void)snprintf(what, sizeof(what), "sampled instructions");
	else
		(void)snprintf(what, sizeof(what), "sampled %s, without latency", accesses);
	if (role && strcmp(role, "instructions") == 0 && figure_measures(event, "code_address"))
		hint = "; `pebsctl hot` shows where they are in the code";
	line_put(out, style, label, "%s: period %s; %s; not a count of all %s%s",
		 line_visible(key, &shown_key), period, what, accesses, hint);
	if (figure_measures(event, "latency") && figure_nominal_hz(event, &hz)) {
		text_nanoseconds(100 / hz, time);
		text_frequency(hz, frequency);
		line_put(out, style, "", "100 cycles are about %s at %s, the nominal frequency", time,
			 frequency);
	}
}

char *format_counts(json_object *counts, const char *none)
{
	_cleanup_fclose_ FILE *out = NULL;
	const char *separator = "";
	char *text = NULL;
	size_t length;

	if (!counts || json_object_object_length(counts) == 0)
		return strdup(none);
	out = open_memstream(&text, &length);
	if (!out)
		return NULL;
	json_object_object_foreach (counts, name, count) {
		_cleanup_free_ char *kept = NULL;
		char number[TEXT_NUMBER_MAX];

		text_count(json_object_get_uint64(count), number);
		(void)fprintf(out, "%s%s %s", separator, number, line_visible(name, &kept));
		separator = ", ";
	}
	if (fclose(TAKE_PTR(out)) != 0) {
		free(text);
		return NULL;
	}
	return text;
}

/* Prints "1.5s multiplexed, 0s throttled (added up over all events and CPUs)". */
static void format_unsampled(FILE *out, const struct format_style *style, json_object *unsampled)
{
	_cleanup_free_ char *text = NULL;
	const char *separator = "";
	size_t length;
	FILE *line;

	if (json_object_object_length(unsampled) == 0)
		return;
	line = open_memstream(&text, &length);
	if (!line)
		return;
	json_object_object_foreach (unsampled, name, value) {
		_cleanup_free_ char *kept = NULL;
		char span[TEXT_NUMBER_MAX];

		text_span(json_object_get_double(value), span);
		(void)fprintf(line, "%s%s %s", separator, span, line_visible(name, &kept));
		separator = ", ";
	}
	if (fclose(line) == 0)
		line_put(out, style, "Unsampled", "%s (added up over all events and CPUs)", text);
}

void format_samples(FILE *out, const struct format_style *style, json_object *samples, double seconds)
{
	json_object *unsampled = json_get_object(samples, "unsampled_seconds");
	_cleanup_free_ char *lost = format_counts(json_get_object(samples, "lost"), "not known");
	char seen_text[TEXT_NUMBER_MAX], unattributed_text[TEXT_NUMBER_MAX], percent[TEXT_NUMBER_MAX];
	char per_second[TEXT_NUMBER_MAX], rate[TEXT_NUMBER_MAX + 16] = "";
	char filtered_text[TEXT_NUMBER_MAX], other[TEXT_NUMBER_MAX + 40] = "";
	u64 seen = 0, unattributed = 0, filtered;

	if (!json_get_u64(samples, "seen", &seen) || !json_get_u64(samples, "unattributed", &unattributed)) {
		line_put(out, style, "Samples", "not known");
		return;
	}
	text_count(seen, seen_text);
	text_count(unattributed, unattributed_text);
	line_percent((double)unattributed, (double)seen, percent);
	if (seconds > 0) {
		line_rate((double)seen / seconds, per_second);
		(void)snprintf(rate, sizeof(rate), " (%s a second)", per_second);
	}
	if (json_get_u64(samples, "filtered", &filtered)) {
		text_count(filtered, filtered_text);
		(void)snprintf(other, sizeof(other), "; %s filtered (other operations)", filtered_text);
	}
	line_put(out, style, "Samples", "%s seen%s, %s unattributed%s%s%s%s; lost: %s", seen_text, rate,
		 unattributed_text, unattributed ? " (" : "", unattributed ? percent : "",
		 unattributed ? ")" : "", other, lost ? lost : "?");
	if (unsampled)
		format_unsampled(out, style, unsampled);
}

void format_pause(FILE *out, const struct format_style *style, json_object *status)
{
	char until[LINE_TIME_MAX];
	bool paused;

	if (!json_get_bool(status, "paused", &paused) || !paused)
		return;
	if (json_get_text(status, "paused_until"))
		line_put(out, style, "Paused", "until %s; all counters are free for other tools",
			 line_time(style, json_get_text(status, "paused_until"), until));
	else
		line_put(out, style, "Paused",
			 "until `pebsctl resume`; all counters are free for other tools");
}

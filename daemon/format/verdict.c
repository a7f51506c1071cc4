// SPDX-License-Identifier: GPL-2.0
#include "format/verdict.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/json_get.h"
#include "format/figure.h"
#include "format/line.h"
#include "policy/decide.h"
#include "rule/quantity.h"

bool verdict_member(const json_object *object, const char *key, double *ret)
{
	return json_get_double(object, key, ret) && isfinite(*ret);
}

static bool is_unit(const char *unit, const char *word)
{
	return unit && strcmp(unit, word) == 0;
}

void verdict_number(double value, const char *unit, enum verdict_width width, char ret[VERDICT_TEXT_MAX])
{
	bool share = is_unit(unit, "share");
	const char *after = share ? "%" : "";
	char text[TEXT_NUMBER_MAX];

	if (share)
		value *= 100;
	if (is_unit(unit, "bytes_per_second"))
		after = quantity_byte_rate(value, &value);
	if (share && value > 0 && value < 0.001)
		(void)snprintf(text, sizeof(text), "<0.001");
	else if (value < 999.95)
		(void)snprintf(text, sizeof(text), "%.4g", value);
	else if (!(value < LINE_DIGITS_END))
		(void)snprintf(text, sizeof(text), "%.3g", value);
	else if (width == VERDICT_SHORT && value >= 999999.5)
		text_short_count(value, text);
	else
		text_count((u64)(value + 0.5), text);
	(void)snprintf(ret, VERDICT_TEXT_MAX, "%s%s%s", text, *after && !share ? " " : "", after);
}

void verdict_quantity(double value, const char *unit, enum verdict_width width, char ret[VERDICT_TEXT_MAX])
{
	char number[VERDICT_TEXT_MAX];
	bool one;

	verdict_number(value, unit, width, number);
	one = strcmp(number, "1") == 0;
	(void)snprintf(ret, VERDICT_TEXT_MAX, "%.64s%s", number,
		       is_unit(unit, "cycles")                   ? (one ? " cycle" : " cycles")
		       : is_unit(unit, "per_second")             ? "/s"
		       : is_unit(unit, "ratio")                  ? " times"
		       : is_unit(unit, "cores")                  ? (one ? " core" : " cores")
		       : is_unit(unit, "cycles_per_instruction") ? " cycles per instruction"
								 : "");
}

/* Same as verdict_time_at(), but without the frequency. */
static void time_of(const json_object *object, double cycles, char ret[VERDICT_TEXT_MAX])
{
	char time[TEXT_NUMBER_MAX];
	double hz;

	*ret = '\0';
	if (!is_unit(json_get_text(object, "unit"), "cycles") || !figure_nominal_hz(object, &hz))
		return;
	text_nanoseconds(cycles / hz, time);
	(void)snprintf(ret, VERDICT_TEXT_MAX, ", about %s", time);
}

void verdict_time_at(const json_object *object, double cycles, char ret[VERDICT_TEXT_MAX])
{
	char frequency[TEXT_NUMBER_MAX];
	double hz;

	time_of(object, cycles, ret);
	if (!*ret || !figure_nominal_hz(object, &hz))
		return;
	text_frequency(hz, frequency);
	(void)snprintf(ret + strlen(ret), VERDICT_TEXT_MAX - strlen(ret), " at %s, the nominal frequency",
		       frequency);
}

void verdict_bounds(const json_object *alert, enum verdict_width width, char ret[VERDICT_TEXT_MAX])
{
	const char *unit = json_get_text(alert, "unit");
	char low_text[VERDICT_TEXT_MAX], high_text[VERDICT_TEXT_MAX];
	double low, high;
	bool has_low = verdict_member(alert, "low", &low);
	bool has_high = verdict_member(alert, "high", &high);

	if (has_low)
		verdict_number(low, unit, width, low_text);
	if (has_high)
		verdict_number(high, unit, width, high_text);
	if (has_low && has_high) {
		size_t length = strlen(low_text);

		/* "27.1 - 56.4%": only one percent sign. */
		if (low_text[length - 1] == '%')
			low_text[length - 1] = '\0';
		(void)snprintf(ret, VERDICT_TEXT_MAX, "%.40s - %.40s", low_text, high_text);
	} else if (has_low)
		(void)snprintf(ret, VERDICT_TEXT_MAX, "from %.40s", low_text);
	else if (has_high)
		(void)snprintf(ret, VERDICT_TEXT_MAX, "to %.40s", high_text);
	else
		(void)snprintf(ret, VERDICT_TEXT_MAX, "-");
}

void verdict_limit(const json_object *object, enum verdict_width width, char ret[VERDICT_TEXT_MAX])
{
	const char *unit = json_get_text(object, "unit");
	char text[VERDICT_TEXT_MAX];
	double value;
	bool below;

	below = !verdict_member(object, "above", &value);
	if (below && !verdict_member(object, "below", &value)) {
		(void)snprintf(ret, VERDICT_TEXT_MAX, "-");
		return;
	}
	(void)verdict_member(object, "judged_at", &value);
	verdict_quantity(value, unit, width, text);
	(void)snprintf(ret, VERDICT_TEXT_MAX, "%s %.80s", below ? "below" : "above", text);
}

struct word {
	const char *word;
	const char *text;
};

static const char *in_words(const struct word *words, size_t n, const char *word, char **kept)
{
	*kept = NULL;
	for (size_t i = 0; word && i < n; i++)
		if (strcmp(words[i].word, word) == 0)
			return words[i].text;
	return line_visible(word, kept);
}

const char *verdict_reason(const char *word, char **kept)
{
	*kept = NULL;
	if (word && strcmp(word, "gap") == 0)
		return "nothing is stored for this time: pebsd did not run, or sampling was paused";
	if (word && strcmp(word, "restart") == 0)
		return "its end is not stored: pebsd restarted and did not restore the alert";
	for (enum unknown_reason reason = UNKNOWN_NOT + 1; word && reason <= UNKNOWN_NOT_MEASURED; reason++)
		if (strcmp(unknown_reason_word(reason), word) == 0)
			return unknown_reason_text(reason);
	return line_visible(word, kept);
}

const char *verdict_end(const char *word, char **kept)
{
	static const struct word words[] = {
		{"clear", "proven clear"},
		{"gone", "its cgroup was removed; recovery was not proven"},
		{"rule", "its rule was changed or removed; recovery was not proven"},
		{"ignored", "its cgroup is excluded, or ignores the rule; recovery was not proven"},
	};

	return in_words(words, ARRAY_SIZE(words), word, kept);
}

char *verdict_preference(const json_object *alert)
{
	const json_object *preference = json_get_object(alert, "preference");
	_cleanup_fclose_ FILE *out = NULL;
	_cleanup_free_ char *text = NULL;
	char quantity[VERDICT_TEXT_MAX];
	const char *separator = "";
	bool said;
	double value;
	size_t length;

	if (!preference)
		return NULL;
	out = open_memstream(&text, &length);
	if (!out)
		return NULL;
	if (json_get_bool(preference, "ignored", &said) && said) {
		(void)fprintf(out, "user.pebsd.ignore on the cgroup's directory: not judged");
		separator = "; ";
	}
	if (verdict_member(preference, "threshold", &value)) {
		verdict_quantity(value, json_get_text(alert, "unit"), VERDICT_FULL, quantity);
		(void)fprintf(out,
			      "%suser.pebsd.threshold on the cgroup's directory: %s instead of the rule's",
			      separator, quantity);
		separator = "; ";
	}
	if (json_get_bool(preference, "untrusted", &said) && said) {
		(void)fprintf(
			out,
			"%suser.pebsd attributes ignored: root does not own the directory, and the rule does not trust its owner",
			separator);
		separator = "; ";
	}
	if (json_get_bool(preference, "malformed", &said) && said)
		(void)fprintf(
			out,
			"%suser.pebsd.threshold ignored: its value for this rule is invalid or given twice; pebsd.conf(5) describes it",
			separator);
	if (fclose(TAKE_PTR(out)) != 0 || length == 0)
		return NULL;
	return TAKE_PTR(text);
}

void verdict_age(const json_object *object, const char *key, time_t now, char ret[TEXT_NUMBER_MAX])
{
	const char *time = json_get_text(object, key);
	time_t since;

	if (!time || text_parse_time(time, &since) < 0)
		(void)snprintf(ret, TEXT_NUMBER_MAX, "-");
	else
		text_span((double)(now - since), ret);
}

bool verdict_is_lost(const json_object *alert)
{
	const char *reason = json_get_text(alert, "unknown");

	return reason && (strcmp(reason, "gap") == 0 || strcmp(reason, "restart") == 0);
}

bool verdict_is_unknown(const json_object *alert)
{
	const char *state = json_get_text(alert, "state");

	return state && strcmp(state, "unknown") == 0;
}

enum line_mood verdict_mood(const json_object *alert)
{
	const char *held = verdict_state_held(alert);

	if (strcmp(held, "firing") == 0)
		return verdict_is_unknown(alert) ? LINE_WARNING : LINE_BAD;
	if (strcmp(held, "pending") == 0)
		return LINE_WARNING;
	return strcmp(held, "resolved") == 0 || strcmp(held, "ok") == 0 ? LINE_GOOD : LINE_PLAIN;
}

const char *verdict_state_held(const json_object *alert)
{
	const char *state = json_get_text(alert, verdict_is_unknown(alert) ? "held" : "state");

	return state ? state : "";
}

char *verdict_state(const json_object *alert)
{
	_cleanup_free_ char *kept = NULL;
	const char *held = verdict_state_held(alert);
	char *text;
	int r;

	if (verdict_is_unknown(alert) && *held && strcmp(held, "inactive") != 0)
		r = asprintf(&text, "unknown (%s)", line_visible(held, &kept));
	else
		r = asprintf(&text, "%s", line_visible(json_get_text(alert, "state"), &kept));
	return r < 0 ? NULL : text;
}

/* ": p99 is 912 cycles (898 - 930), about 351 ns". The bounds, which have no unit, follow the unit that they are in. */
static void put_value(FILE *out, const json_object *alert)
{
	const char *metric = json_get_text(alert, "metric");
	_cleanup_free_ char *kept = NULL;
	char text[VERDICT_TEXT_MAX], bounds[VERDICT_TEXT_MAX], time[VERDICT_TEXT_MAX];
	double value;

	if (!verdict_member(alert, "value", &value))
		return;
	verdict_quantity(value, json_get_text(alert, "unit"), VERDICT_FULL, text);
	verdict_bounds(alert, VERDICT_FULL, bounds);
	time_of(alert, value, time);
	(void)fprintf(out, ": %s%s%s (%s)%s", metric ? line_visible(metric, &kept) : "", metric ? " is " : "",
		      text, bounds, time);
}

char *verdict_transition(const struct format_style *style, json_object *item)
{
	_cleanup_free_ char *rule = NULL, *cgroup = NULL, *from = NULL, *severity = NULL;
	_cleanup_free_ char *state = verdict_state(item), *end = NULL;
	const char *kind = json_get_text(item, "event");
	_cleanup_fclose_ FILE *out = NULL;
	_cleanup_free_ char *text = NULL;
	char limit[VERDICT_TEXT_MAX];
	bool dry_run;
	size_t length;
	u64 number;

	if (!kind || strcmp(kind, "alert") != 0 || !json_get_text(item, "rule") ||
	    !json_get_text(item, "state"))
		return NULL;
	out = open_memstream(&text, &length);
	if (!out)
		return NULL;
	if (json_get_bool(item, "dry_run", &dry_run) && dry_run)
		(void)fprintf(out, "dry run: ");
	(void)fprintf(out, "%s %s", line_visible(json_get_text(item, "rule"), &rule), state ? state : "?");
	if (json_get_text(item, "from"))
		(void)fprintf(out, " (was %s)", line_visible(json_get_text(item, "from"), &from));
	(void)fprintf(out, " %s", line_cgroup(style, item, &cgroup));
	put_value(out, item);
	verdict_limit(item, VERDICT_FULL, limit);
	if (strcmp(limit, "-") != 0)
		(void)fprintf(out, "; limit: %s", limit);
	if (json_get_text(item, "end"))
		(void)fprintf(out, "; ended: %s", verdict_end(json_get_text(item, "end"), &end));
	if (json_get_text(item, "severity"))
		(void)fprintf(out, "; %s", line_visible(json_get_text(item, "severity"), &severity));
	if (json_get_u64(item, "alert", &number))
		(void)fprintf(out, "; alert %llu", (unsigned long long)number);
	return fclose(TAKE_PTR(out)) == 0 ? TAKE_PTR(text) : NULL;
}

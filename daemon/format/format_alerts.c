// SPDX-License-Identifier: GPL-2.0
/* The text of `pebsctl alerts`. */
#include <string.h>

#include "base/cleanup.h"
#include "base/json_get.h"
#include "format/format_event.h"
#include "format/format_past.h"
#include "format/rule_text.h"
#include "format/verdict.h"

/*
 * Each alert is one row if the terminal has at least this many columns, and the cgroup gets at least CGROUP_MIN of
 * them. Otherwise the rule and the cgroup are on the next line.
 */
#define WIDTH_OF_ROWS   140
#define CGROUP_MIN      40
#define CGROUP_INDENT   4
#define RULE_INDENT     2
#define GAP             2
#define RESOLVED_SHOWN  10 /* on a terminal: keeps resolved alerts from scrolling firing ones away */
#define RULE_WIDTH_MAX  63
#define LIMIT_WIDTH_MAX 48

enum cell { STATE, AGE, VALUE, BOUNDS, LIMIT, RULE, SEVERITY, NUMBER, CGROUP, CELLS };

static const struct {
	const char *head;
	bool right;
} cells[CELLS] = {
	[STATE] = {"STATE", false},       [AGE] = {"AGE", true},      [VALUE] = {"VALUE", true},
	[BOUNDS] = {"BOUNDS", false},     [LIMIT] = {"LIMIT", false}, [RULE] = {"RULE", false},
	[SEVERITY] = {"SEVERITY", false}, [NUMBER] = {"ALERT", true}, [CGROUP] = {"CGROUP", false},
};

struct row {
	const json_object *alert;
	int rank;
	char *cell[CELLS];
};

struct table {
	struct row *rows;
	size_t n;
	size_t width[CELLS];
	bool wide;
};

static struct table *table_done(struct table *table)
{
	for (size_t i = 0; i < table->n; i++)
		for (size_t j = 0; j < CELLS; j++)
			free(table->rows[i].cell[j]);
	free(table->rows);
	return NULL;
}
DEFINE_CLEANUP(struct table *, table_done)

static const char *const ranks[] = {"firing", "pending", "resolved"};

/* Firing alerts come first. If an alert is unknown, the state that it holds counts. */
static int rank_of(const json_object *alert)
{
	const char *held = verdict_state_held(alert);

	for (size_t i = 0; i < ARRAY_SIZE(ranks); i++)
		if (strcmp(held, ranks[i]) == 0)
			return (int)i;
	return ARRAY_SIZE(ranks);
}

static bool is_dry(const json_object *alert)
{
	bool dry_run;

	return json_get_bool(alert, "dry_run", &dry_run) && dry_run;
}

static char *visible_member(const json_object *alert, const char *key)
{
	const char *text = json_get_text(alert, key);

	return text_visible(text ? text : "-");
}

static char *limit_of(const json_object *alert)
{
	const char *word = json_get_text(alert, "metric");
	_cleanup_free_ char *metric = NULL;
	char limit[VERDICT_TEXT_MAX];
	char *text;

	verdict_limit(alert, VERDICT_SHORT, limit);
	/*
	 * An alert has no metric if its rule was changed or removed while pebsd was stopped. Do not look up the
	 * metric by name: a rule with that name may be a different one.
	 */
	if (!word)
		return strdup(limit);
	return asprintf(&text, "%s %s", line_visible(word, &metric), limit) < 0 ? NULL : text;
}

static void fill_row(const struct format_style *style, struct row *row, const json_object *alert, time_t now)
{
	_cleanup_free_ char *cgroup = NULL;
	char text[VERDICT_TEXT_MAX] = "-", age[TEXT_NUMBER_MAX];
	double value;
	u64 number;

	row->alert = alert;
	row->rank = rank_of(alert);
	row->cell[STATE] = verdict_state(alert);
	verdict_age(alert, "since", now, age);
	row->cell[AGE] = strdup(age);
	if (verdict_member(alert, "value", &value))
		verdict_number(value, json_get_text(alert, "unit"), VERDICT_SHORT, text);
	row->cell[VALUE] = strdup(text);
	verdict_bounds(alert, VERDICT_SHORT, text);
	row->cell[BOUNDS] = strdup(text);
	row->cell[LIMIT] = limit_of(alert);
	row->cell[RULE] = visible_member(alert, "rule");
	row->cell[SEVERITY] = visible_member(alert, "severity");
	(void)snprintf(text, sizeof(text), "-");
	if (json_get_u64(alert, "alert", &number))
		(void)snprintf(text, sizeof(text), "%llu", (unsigned long long)number);
	row->cell[NUMBER] = strdup(text);
	row->cell[CGROUP] = line_cgroup(style, alert, &cgroup) == cgroup ? TAKE_PTR(cgroup) : NULL;
}

static const char *cell_of(const struct row *row, enum cell cell)
{
	return row->cell[cell] ? row->cell[cell] : "?";
}

/* Sorts by rank. Within a rank, the daemon's order stays, which is by `since`. */
static bool fill_table(const struct format_style *style, struct table *table, json_object *list, time_t now)
{
	size_t n = json_object_array_length(list);

	table->rows = calloc(n ? n : 1, sizeof(*table->rows));
	if (!table->rows)
		return false;
	for (int rank = 0; rank <= (int)ARRAY_SIZE(ranks); rank++) {
		for (size_t i = 0; i < n; i++) {
			const json_object *alert = json_object_array_get_idx(list, i);

			if (rank_of(alert) == rank)
				fill_row(style, &table->rows[table->n++], alert, now);
		}
	}
	return true;
}

static void choose_widths(struct table *table, const struct format_style *style)
{
	size_t fixed = 0;

	for (enum cell j = 0; j < CELLS; j++) {
		table->width[j] = strlen(cells[j].head);
		for (size_t i = 0; i < table->n; i++) {
			size_t width = text_width(cell_of(&table->rows[i], j));

			if (width > table->width[j])
				table->width[j] = width;
		}
		if (j != CGROUP)
			fixed += table->width[j] + GAP;
	}
	/*
	 * A longer cell is not cut: it moves the rest of its own row to the right. `fixed` has the full lengths,
	 * because the longest row must fit.
	 */
	if (table->width[RULE] > RULE_WIDTH_MAX)
		table->width[RULE] = RULE_WIDTH_MAX;
	if (table->width[LIMIT] > LIMIT_WIDTH_MAX)
		table->width[LIMIT] = LIMIT_WIDTH_MAX;
	table->wide =
		style->width == 0 || (style->width >= WIDTH_OF_ROWS && style->width >= fixed + CGROUP_MIN);
	if (table->wide && style->width && table->width[CGROUP] > style->width - fixed)
		table->width[CGROUP] = style->width - fixed;
}

/* A position in the output. A cell that does not fit on the line goes to the next one. */
struct place {
	FILE *out;
	size_t limit;  /* columns; 0: unlimited */
	size_t column; /* columns used so far */
	size_t blanks; /* padding after the last cell, not printed yet */
};

static void put(struct place *place, const char *text, size_t width, bool right)
{
	size_t columns = text_width(text);
	size_t padding = columns < width ? width - columns : 0;
	size_t gap = place->column == 0 ? 0 : right ? 1 : GAP;
	size_t before = gap + place->blanks + (right ? padding : 0);

	if (place->limit && place->column > RULE_INDENT && place->column + before + columns > place->limit) {
		(void)fputc('\n', place->out);
		place->column = 0;
		before = RULE_INDENT;
	}
	(void)fprintf(place->out, "%*s%s", (int)before, "", text);
	place->column += before + columns;
	place->blanks = (right ? 0 : padding);
}

static void put_cells(FILE *out, const struct table *table, const struct format_style *style,
		      const struct row *row)
{
	struct place place = {.out = out, .limit = table->wide ? 0 : style->width};

	for (enum cell j = 0; j < (table->wide ? CELLS : RULE); j++) {
		_cleanup_free_ char *cut = NULL;
		const char *text = row ? cell_of(row, j) : cells[j].head;
		enum line_mood mood;

		if (j == CGROUP && row) {
			cut = text_tail(text, table->width[j], style->utf8);
			text = cut ? cut : "?";
		}
		mood = row && j == STATE ? verdict_mood(row->alert) : LINE_PLAIN;
		(void)fputs(line_colour(style, mood), out);
		put(&place, text, table->width[j], cells[j].right);
		(void)fputs(line_colour_end(style, mood), out);
	}
}

/* "(page, alert 17, stores)": absent parts are left out, and so is the event "loads". */
static char *qualities_of(const struct row *row)
{
	_cleanup_free_ char *event = visible_member(row->alert, "event");
	bool has_number = strcmp(cell_of(row, NUMBER), "-") != 0;
	bool has_event = event && strcmp(event, "-") != 0 && strcmp(event, "loads") != 0;
	char *text;

	return asprintf(&text, "(%s%s%s%s%s)", cell_of(row, SEVERITY), has_number ? ", alert " : "",
			has_number ? cell_of(row, NUMBER) : "", has_event ? ", " : "",
			has_event ? event : "") < 0
		       ? NULL
		       : text;
}

static void put_names(FILE *out, const struct format_style *style, const struct row *row)
{
	struct place place = {.out = out, .limit = style->width};
	_cleanup_free_ char *qualities = qualities_of(row);
	const char *cgroup = cell_of(row, CGROUP);
	_cleanup_free_ char *cut = NULL;

	(void)fprintf(out, "%*s%s", RULE_INDENT, "", cell_of(row, RULE));
	place.column = RULE_INDENT + text_width(cell_of(row, RULE));
	put(&place, qualities ? qualities : "?", 0, false);
	if (text_width(cgroup) + GAP + place.column <= style->width) {
		(void)fprintf(out, "%*s%s\n", GAP, "", cgroup);
		return;
	}
	cut = text_tail(cgroup, style->width > CGROUP_INDENT ? style->width - CGROUP_INDENT : 1, style->utf8);
	(void)fprintf(out, "\n%*s%s\n", CGROUP_INDENT, "", cut ? cut : "?");
}

/* When the alert fired, for how long unless the clock was set back, and the value that was farthest past its limit. */
static void put_firing(FILE *out, const struct format_style *style, const json_object *alert)
{
	const char *fired = json_get_text(alert, "fired"), *resolved = json_get_text(alert, "resolved");
	char began[LINE_TIME_MAX], lasted[TEXT_NUMBER_MAX], worst[VERDICT_TEXT_MAX] = "not known";
	bool later;
	time_t from, to;
	double value;

	if (!fired || !resolved || text_parse_time(fired, &from) < 0 || text_parse_time(resolved, &to) < 0)
		return;
	later = to >= from;
	text_span((double)(to - from), lasted);
	if (verdict_member(alert, "worst", &value))
		verdict_quantity(value, json_get_text(alert, "unit"), VERDICT_SHORT, worst);
	line_put(out, style, "", "fired %s%s%s, worst value %s", line_time(style, fired, began),
		 later ? " for " : "", later ? lasted : "", worst);
}

static void put_notes(FILE *out, const struct format_style *style, const json_object *alert)
{
	_cleanup_free_ char *preference = verdict_preference(alert);
	_cleanup_free_ char *reason = NULL, *end = NULL;
	char held[TEXT_NUMBER_MAX], lasting[TEXT_NUMBER_MAX], number[TEXT_NUMBER_MAX];
	double held_s, for_s;
	u64 without;

	if (verdict_is_unknown(alert))
		line_put(out, style, "", "unknown: %s",
			 verdict_reason(json_get_text(alert, "unknown"), &reason));
	if (rank_of(alert) == 1 && verdict_member(alert, "held_s", &held_s) &&
	    verdict_member(alert, "for_s", &for_s)) {
		text_span(held_s, held);
		text_span(for_s, lasting);
		line_put(out, style, "", "breach proven for %s of the required %s", held, lasting);
	}
	if (json_get_u64(alert, "subtree_without_slot", &without) && without > 0) {
		text_count(without, number);
		line_put(out, style, "",
			 "%s cgroup%s of the subtree %s no slot: %s samples are not in the value", number,
			 without == 1 ? "" : "s", without == 1 ? "has" : "have",
			 without == 1 ? "its" : "their");
	}
	put_firing(out, style, alert);
	if (json_get_text(alert, "end"))
		line_put(out, style, "", "ended: %s", verdict_end(json_get_text(alert, "end"), &end));
	if (is_dry(alert))
		line_put(out, style, "", "dry run: changes are only logged");
	if (preference)
		line_put(out, style, "", "%s", preference);
}

static void put_table(FILE *out, const struct format_style *style, const struct table *table)
{
	_cleanup_fclose_ FILE *line = NULL;
	_cleanup_free_ char *head = NULL;
	size_t resolved = 0, length;
	char number[TEXT_NUMBER_MAX];

	line = open_memstream(&head, &length);
	if (!line)
		return;
	put_cells(line, table, style, NULL);
	if (fclose(TAKE_PTR(line)) != 0)
		return;
	(void)fputc('\n', out);
	line_head(out, style, head);
	for (size_t i = 0; i < table->n; i++) {
		const struct row *row = &table->rows[i];

		if (row->rank == 2 && ++resolved > RESOLVED_SHOWN && style->width)
			continue;
		put_cells(out, table, style, row);
		(void)fputc('\n', out);
		if (!table->wide)
			put_names(out, style, row);
		put_notes(out, style, row->alert);
	}
	if (resolved > RESOLVED_SHOWN && style->width) {
		text_count(resolved - RESOLVED_SHOWN, number);
		(void)fputc('\n', out);
		line_put(out, style, NULL, "%s more resolved: `pebsctl alerts | cat` lists all", number);
	}
}

/* "1 firing, 2 pending, 1 resolved in the last hour; 1 of these unknown now". */
static void put_summary(FILE *out, const struct format_style *style, const struct table *table, bool past)
{
	const char *const words[] = {"firing", "pending", past ? "resolved" : "resolved in the last hour",
				     past ? "ended without firing" : "in another state"};
	size_t by_rank[ARRAY_SIZE(words)] = {0}, unknown = 0, dry = 0;
	char text[256] = "", number[TEXT_NUMBER_MAX];
	size_t length = 0;

	for (size_t i = 0; i < table->n; i++) {
		by_rank[table->rows[i].rank]++;
		unknown += verdict_is_unknown(table->rows[i].alert);
		dry += is_dry(table->rows[i].alert);
	}
	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		if (by_rank[i] == 0 && i > 0)
			continue;
		text_count(by_rank[i], number);
		length += (size_t)snprintf(text + length, sizeof(text) - length, "%s%s %s",
					   length ? ", " : "", number, words[i]);
	}
	if (unknown) {
		text_count(unknown, number);
		length += (size_t)snprintf(text + length, sizeof(text) - length, "; %s of these unknown %s",
					   number, past ? "then" : "now");
	}
	if (dry) {
		text_count(dry, number);
		(void)snprintf(text + length, sizeof(text) - length, "; %s in dry run", number);
	}
	line_put(out, style, "Alerts", "%s", text);
}

/*
 * Silence does not prove that all is well. Prints that there are no rules, or how many cgroups cannot be judged,
 * or only in part.
 */
static void put_silence(FILE *out, const struct format_style *style, json_object *rules)
{
	json_object *list = json_get_array(rules, "rules");
	char all_text[TEXT_NUMBER_MAX], few_text[TEXT_NUMBER_MAX];
	u64 unknown = 0, few = 0, partial = 0, n;

	if (!list)
		return;
	if (json_object_array_length(list) == 0) {
		line_put(out, style, "Rules", "none, so no alert can fire; see `pebsctl rules`");
		return;
	}
	for (size_t i = 0; i < json_object_array_length(list); i++) {
		json_object *cgroups = json_get_object(json_object_array_get_idx(list, i), "cgroups");

		unknown += rule_text_unknown(cgroups);
		if (json_get_u64(json_get_object(cgroups, "unknown"), "samples", &n))
			few += n;
		if (json_get_u64(cgroups, "partial", &n))
			partial += n;
	}
	if (partial) {
		text_count(partial, all_text);
		line_put(
			out, style, "In part",
			"%s subtree%s (counted for each rule) %s judged without the samples of cgroups that have no slot",
			all_text, partial == 1 ? "" : "s", partial == 1 ? "is" : "are");
	}
	if (unknown == 0)
		return;
	text_count(unknown, all_text);
	text_count(few, few_text);
	/* Omit "2 of them" if the number is that of all cgroups: "1 of them" would be odd after "1 cgroup". */
	line_put(
		out, style, "Unknown",
		"%s cgroup%s (counted once for each rule) cannot be judged now%s%s%s; `pebsctl rules` says why",
		all_text, unknown == 1 ? "" : "s", few ? ", " : "", few && few < unknown ? few_text : "",
		!few            ? ""
		: few < unknown ? " of them because of too few samples"
				: "because of too few samples");
}

void format_alerts(FILE *out, json_object *rules, json_object *alerts, time_t now,
		   const struct format_style *style)
{
	json_object *list = json_get_array(alerts, "alerts");
	_cleanup_(table_donep) struct table *table = &(struct table){0};
	const char *taken = json_get_text(alerts, "taken");
	const bool past = format_is_past(alerts);
	_cleanup_free_ char *origin = NULL;
	time_t until;

	/* Ages of the past are those at its end. */
	if (past && taken && text_parse_time(taken, &until) == 0)
		now = until;
	line_put(out, style, "Origin", "%s%s", format_origin_name(alerts, &origin),
		 past ? ", from the history" : "");
	format_past(out, style, alerts);
	if (!list || !fill_table(style, table, list, now)) {
		line_put(out, style, "Alerts", "not known");
		return;
	}
	if (table->n == 0 && format_ends_in_gap(alerts))
		line_put(out, style, "Alerts",
			 "unknown at the end of this time, for which nothing is stored");
	else if (table->n == 0)
		line_put(out, style, "Alerts", "%s",
			 past ? "none was firing or pending in this time, as far as is known"
			      : "none firing or pending, and none resolved in the last hour");
	else
		put_summary(out, style, table, past);
	if (past && table->n > 0)
		line_put(
			out, style, "",
			"States are those at the end of this time; each value is from the start of its state");
	put_silence(out, style, rules);
	if (table->n == 0)
		return;
	choose_widths(table, style);
	put_table(out, style, table);
}

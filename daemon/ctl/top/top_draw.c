// SPDX-License-Identifier: GPL-2.0
#include "ctl/top/top_draw.h"

#include <stdarg.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/moment.h"
#include "base/text.h"

#define LINES_OVER_ROWS 4 /* lines above the rows of the table: three, and the column heads */
#define LINES_OVER_FEW  2 /* of these on a screen of less than FEW_ROWS lines: the first one, and the heads */
#define FEW_ROWS        6
#define LINES_OVER_PAGE 1
#define LINES_UNDER     1
#define LOW_ROWS        16
#define NAME_MIN        16
#define NUMBER          6 /* a blank and five columns */
#define BAR_MIN         10
#define BAR_MAX         64
#define TREND_MIN       9
#define TREND_MAX       60
#define ALERT_RULE_MAX  32
#define ALERT_RULE_MIN  12
#define MARKS           2   /* left of the name: the marks of the row and of its alert */
#define BESIDE_COLUMNS  170 /* from this width on the pane is beside the table */
#define BESIDE_ROWS     20
#define BELOW_ROWS      28 /* from this height on the pane is below the table */
#define PANE_MIN        10
#define ROOM_MIN        5 /* rows of the table that a low screen keeps */
#define BELOW_COLUMNS   60
#define DATE_COLUMNS    15 /* of "Sat 2026-11-21 " in a time of the past */
#define BETWEEN         3  /* columns between the table and the pane */

#define BOLD    "\033[1m"
#define DIM     "\033[2m"
#define RED     "\033[31m"
#define REVERSE "\033[7m"
#define NORMAL  "\033[0m"

size_t top_trend_cells(size_t width)
{
	if (width < 80)
		return TREND_MIN;
	return TREND_MIN + (width - 80) / 4 < TREND_MAX ? TREND_MIN + (width - 80) / 4 : TREND_MAX;
}

static size_t lines_over(enum top_page page)
{
	switch (page) {
	case TOP_TABLE:
	case TOP_ALERTS:
		return LINES_OVER_ROWS;
	case TOP_CGROUP:
	case TOP_EXPLAIN:
	case TOP_ZOOM:
		return LINES_OVER_PAGE + TOP_PANE_HEAD;
	default:
		return LINES_OVER_PAGE;
	}
}

struct top_frame top_frame_of(enum top_page page, size_t columns, size_t rows, u64 matching)
{
	struct top_frame frame = {.width = columns, .first = lines_over(page)};
	size_t other = frame.first + LINES_UNDER;

	/* A low screen has no fixed head of a cgroup. */
	if (page != TOP_TABLE && page != TOP_ALERTS && rows < LOW_ROWS) {
		frame.first = LINES_OVER_PAGE;
		other = LINES_OVER_PAGE + LINES_UNDER;
	}
	if ((page == TOP_TABLE || page == TOP_ALERTS) && rows < FEW_ROWS) {
		frame.first = LINES_OVER_FEW;
		other = LINES_OVER_FEW + LINES_UNDER;
	}
	frame.room = rows > other ? rows - other : 1;
	if (page != TOP_TABLE)
		return frame;
	if (columns >= BESIDE_COLUMNS && rows >= BESIDE_ROWS) {
		frame.beside = true;
		frame.pane_width = columns * 2 / 5;
		frame.width = columns - frame.pane_width - BETWEEN;
		frame.pane_lines = frame.room + 1;
	} else if (columns >= BELOW_COLUMNS && (rows >= BELOW_ROWS || (frame.room > PANE_MIN + ROOM_MIN &&
								       matching < frame.room - PANE_MIN))) {
		frame.pane_width = columns;
		frame.pane_lines = rows >= BELOW_ROWS ? rows * 2 / 5 : PANE_MIN;
		/* A line separates the pane from the table. */
		frame.room -= frame.pane_lines + 1;
	}
	return frame;
}

static const char *name_of(const struct top_row *row, bool full_names)
{
	return full_names && row->path ? row->path : row->visible;
}

static size_t widest_name(const struct top_table *table, bool full_names)
{
	size_t widest = NAME_MIN;

	for (size_t i = 0; i < table->n; i++) {
		const struct top_row *row = &table->rows[i];
		size_t width = text_width(name_of(row, full_names)) + (row->members > 0) + row->guest;

		widest = width > widest ? width : widest;
	}
	return widest;
}

static bool has_trend(const struct top_table *table)
{
	for (size_t i = 0; i < table->n; i++)
		if (table->rows[i].has_trend)
			return true;
	return false;
}

/* Takes `columns` columns of those left. Returns false if too few are left. */
static bool take(size_t *left, size_t columns)
{
	if (*left < columns)
		return false;
	*left -= columns;
	return true;
}

struct top_layout top_layout_of(const struct top_table *table, size_t width, bool full_names)
{
	size_t left = width > MARKS + NAME_MIN ? width - MARKS - NAME_MIN : 0;
	struct top_layout layout = {.name = NAME_MIN};
	size_t more;

	/* Take the most informative columns first: on a narrow screen the others are left out. */
	layout.p99 = table->latency && take(&left, NUMBER + 1);
	layout.samples = take(&left, NUMBER);
	layout.mean = table->latency && take(&left, NUMBER);
	for (enum shown_wait which = SHOWN_WAIT; which <= SHOWN_LOST; which++)
		layout.waits[which] = table->waits[which] && take(&left, 1 + WAITS_WIDTH);
	layout.p50 = table->latency && take(&left, NUMBER);
	layout.bar = table->sources && take(&left, 1 + BAR_MIN) ? BAR_MIN : 0;
	layout.hitm = table->latency && table->sources && take(&left, NUMBER);
	layout.trend = has_trend(table) && take(&left, 1 + TREND_MIN) ? TREND_MIN : 0;
	layout.share = take(&left, NUMBER);
	/* The other figures of waiting are for tables that have no latency. */
	for (enum shown_wait which = SHOWN_LOST + 1; which < SHOWN_WAITS; which++)
		layout.waits[which] = !table->latency && table->waits[which] && take(&left, 1 + WAITS_WIDTH);
	more = widest_name(table, full_names) - NAME_MIN;
	if (!take(&left, more)) {
		more = left;
		left = 0;
	}
	layout.name += more;
	if (layout.trend) {
		more = top_trend_cells(width) - TREND_MIN;
		more = more < left ? more : left;
		layout.trend += more;
		left -= more;
	}
	if (layout.bar) {
		more = BAR_MAX - BAR_MIN;
		layout.bar += more < left ? more : left;
	}
	return layout;
}

static void put_number(FILE *out, size_t width, const struct top_number *number, const char *format)
{
	char text[TEXT_NUMBER_MAX] = "-", marked[TEXT_NUMBER_MAX + 2];

	if (number->known && !format)
		text_short_count(number->value, text);
	else if (number->known && number->value > 0 && number->value < 0.05)
		(void)snprintf(text, sizeof(text), "<0.1");
	else if (number->known)
		(void)snprintf(text, sizeof(text), format, number->value);
	(void)snprintf(marked, sizeof(marked), "%s%s%s", number->over && number->known ? ">" : "", text,
		       number->few ? FIGURE_FEW_MARK : "");
	(void)fprintf(out, "%*s", (int)width, marked);
}

/* A rate below ten gets a decimal. */
static void put_rate(FILE *out, const struct top_table *table, const struct top_number *rate)
{
	bool small = table->per_second && rate->known && rate->value > 0 && rate->value < 9.95;

	put_number(out, NUMBER, rate, small ? "%.1f" : NULL);
}

static void put_wait(FILE *out, const struct top_row *row, enum shown_wait which)
{
	char text[TEXT_NUMBER_MAX];

	waits_text(which, row->waits[which].known, row->waits[which].few, row->waits[which].value, text);
	(void)fprintf(out, " %*s", WAITS_WIDTH, text);
}

static void put_bar(FILE *out, const struct top_row *row, size_t width, bool colour)
{
	u32 cells[FIGURE_GROUPS];
	size_t put = 0;

	(void)fputc(' ', out);
	text_divide(row->groups, FIGURE_GROUPS, (u32)width, cells);
	for (size_t i = 0; row->has_sources && i < FIGURE_GROUPS; i++) {
		if (cells[i] > 0 && colour)
			(void)fputs(top_group_colours[i], out);
		for (u32 cell = 0; cell < cells[i]; cell++, put++)
			(void)fputc(figure_letters[i], out);
		if (cells[i] > 0 && colour)
			(void)fputs(NORMAL, out);
	}
	(void)fprintf(out, "%*s", (int)(width - put), "");
}

static void put_name(FILE *out, const struct top_row *row, size_t width, bool full_names,
		     const struct format_style *style)
{
	const char *sum = row->members > 0 ? "+" : "", *guest = row->guest ? "*" : "";
	size_t marks = strlen(sum) + strlen(guest);
	char *fitting = text_tail(name_of(row, full_names), width - marks, style->utf8);
	size_t columns = (fitting ? text_width(fitting) : 1) + marks;

	(void)fprintf(out, "%s%s%s%*s", fitting ? fitting : "?", sum, guest,
		      (int)(columns < width ? width - columns : 0), "");
	free(fitting);
}

/* Begins the text of a row: reverse video if it is marked. */
static void begin_text(FILE *out, bool marked)
{
	(void)fputs(marked ? REVERSE : "", out);
}

static void put_mark(FILE *out, const struct top_alert *alert, bool marked, const struct format_style *style)
{
	begin_text(out, marked);
	(void)fputc(marked ? '>' : ' ', out);
	if (alert)
		(void)fprintf(out, "%s%s%c" NORMAL, style->bold || style->colour ? BOLD : "",
			      line_colour(style, alert->mood), top_alert_mark(alert));
	else
		(void)fputc(' ', out);
	if (alert)
		begin_text(out, marked);
}

static void put_row(FILE *out, const struct top_table *table, const struct top_row *row,
		    const struct top_layout *layout, const struct top_alert *alert, bool marked,
		    bool full_names, const struct format_style *style)
{
	put_mark(out, alert, marked, style);
	(void)fputs(alert && !marked ? line_colour(style, alert->mood) : "", out);
	put_name(out, row, layout->name, full_names, style);
	(void)fputs(alert && !marked ? line_colour_end(style, alert->mood) : "", out);
	if (layout->samples)
		put_rate(out, table, &row->samples);
	if (layout->share)
		put_number(out, NUMBER, &row->share, "%.1f");
	if (layout->mean)
		put_number(out, NUMBER, &row->mean, NULL);
	if (layout->p50)
		put_number(out, NUMBER, &row->p50, NULL);
	if (layout->p99)
		put_number(out, NUMBER + 1, &row->p99, NULL);
	for (enum shown_wait which = 0; which < SHOWN_WAITS; which++)
		if (layout->waits[which])
			put_wait(out, row, which);
	if (layout->bar) {
		/* The bar keeps its colours: reverse video would swap them. */
		if (marked && style->colour)
			(void)fputs(NORMAL, out);
		put_bar(out, row, layout->bar, style->colour);
		if (style->colour)
			begin_text(out, marked);
	}
	if (layout->hitm)
		put_number(out, NUMBER, &row->hitm, "%.1f");
	if (layout->trend) {
		(void)fputc(' ', out);
		if (row->has_trend)
			trend_line_put(out, &row->trend, layout->trend, style->utf8);
		else
			(void)fprintf(out, "%*s", (int)layout->trend, "");
	}
	(void)fprintf(out, "%s\n", marked ? NORMAL : "");
}

/* Writes the head of a column, with a '>' before it if the table is sorted by this column. */
static void put_head_of(FILE *out, size_t width, const char *head, const char *sort, const char *sorted_by)
{
	bool sorted = strncmp(sort, sorted_by, strlen(sorted_by)) == 0;

	(void)fprintf(out, "%*s%s%s", (int)(width - strlen(head) - 1), "", sorted ? ">" : " ", head);
}

/* Returns the order of the rows. An order by a cost of waiting stays even if no row has that cost. */
static const char *sort_of(const struct top_state *state, const struct top_table *table)
{
	return top_state_sort(state, &(struct top_figures){table->latency, table->sources, true});
}

static void put_heads(FILE *out, const struct top_state *state, const struct top_table *table,
		      const struct top_layout *layout)
{
	const char *sort = sort_of(state, table);
	bool by_source = strncmp(sort, "share:", 6) == 0 && strcmp(sort, "share:hitm") != 0;

	(void)fprintf(out, BOLD "%*s%-*s", MARKS, "", (int)layout->name, state->sums ? "SUBTREE" : "CGROUP");
	if (layout->samples)
		put_head_of(out, NUMBER, table->per_second ? "SMP/S" : "SMPLS", sort, "samples");
	if (layout->share)
		put_head_of(out, NUMBER, table->latency ? "LAT%" : "SMPL%", sort, "latency");
	if (layout->mean)
		put_head_of(out, NUMBER, "MEAN", sort, "mean");
	if (layout->p50)
		put_head_of(out, NUMBER, "P50", sort, "p50");
	if (layout->p99)
		put_head_of(out, NUMBER + 1, "P99", sort, "p99");
	for (enum shown_wait which = 0; which < SHOWN_WAITS; which++)
		if (layout->waits[which])
			put_head_of(out, 1 + WAITS_WIDTH, waits_head(which), sort,
				    waits_sort(which) ? waits_sort(which) : waits_head(which));
	if (layout->bar)
		(void)fprintf(out, "%s%-*s", by_source ? ">" : " ", (int)layout->bar, "SOURCES");
	if (layout->hitm)
		put_head_of(out, NUMBER, "HITM%", sort, "share:hitm");
	if (layout->trend) {
		double minutes = top_state_span(state) / 60;
		char head[32];

		(void)snprintf(head, sizeof(head), "TREND %.0f%s", minutes < 60 ? minutes : minutes / 60,
			       minutes < 60 ? "m" : "h");
		(void)fprintf(out, " %-*s", (int)layout->trend, head);
	}
	(void)fputs(NORMAL "\n", out);
}

/* Parts of a line, separated by blanks: as many as fit, but always the first one. */
struct line {
	FILE *out;
	size_t left;
	bool any;
};

__attribute__((format(printf, 3, 4))) static void put_part(struct line *line, const char *mark,
							   const char *format, ...)
{
	_cleanup_free_ char *text = NULL;
	va_list arguments;
	size_t columns;

	va_start(arguments, format);
	if (vasprintf(&text, format, arguments) < 0)
		text = NULL;
	va_end(arguments);
	columns = text ? text_width(text) + (line->any ? 2 : 0) : 0;
	if (!text || (line->any && columns > line->left))
		return;
	(void)fprintf(line->out, "%s%s%s%s", line->any ? "  " : "", mark, text, *mark ? NORMAL : "");
	line->left -= columns < line->left ? columns : line->left;
	line->any = true;
}

/* The first parts of the first line. Other parts follow only if all of these fit. */
#define PART_MAX 128
struct heading {
	struct {
		const char *mark;
		char text[PART_MAX], brief[PART_MAX]; /* `brief`: for a narrow screen; "": as it is */
	} parts[8];
	size_t n;
};

/* Returns the text of a new part. */
static char *new_part(struct heading *heading, const char *mark)
{
	heading->parts[heading->n].mark = mark;
	return heading->parts[heading->n++].text;
}

/* Returns the brief text of the last part. */
static char *brief_part(struct heading *heading)
{
	return heading->parts[heading->n - 1].brief;
}

/* Puts all parts. If they do not fit, the last ones are brief. If they still do not fit, no other part follows. */
static void put_heading(struct line *line, struct heading *heading)
{
	const size_t fitting = line->left;
	size_t columns = 0;

	for (size_t i = 0; i < heading->n; i++)
		columns += text_width(heading->parts[i].text) + (i ? 2 : 0);
	for (size_t i = heading->n; i-- > 0 && columns > fitting;) {
		if (!*heading->parts[i].brief)
			continue;
		columns -= text_width(heading->parts[i].text) - text_width(heading->parts[i].brief);
		memcpy(heading->parts[i].text, heading->parts[i].brief, PART_MAX);
	}
	for (size_t i = 0; i < heading->n; i++)
		put_part(line, heading->parts[i].mark, "%s", heading->parts[i].text);
	if (fitting < columns)
		line->left = 0;
}

static void put_first_line(FILE *out, const struct top_state *state, const struct top_data *data,
			   const struct format_style *style)
{
	const struct top_table *table = data->table;
	const char *origin = table->origin ? table->origin : "-";
	char number[TEXT_NUMBER_MAX];
	struct line line = {.out = out, .left = style->width};
	struct heading heading = {.n = 0};

	(void)snprintf(new_part(&heading, BOLD), PART_MAX, "pebsd: %.90s", origin);
	(void)snprintf(brief_part(&heading), PART_MAX, "pebsd: %.*s", (int)strcspn(origin, " "), origin);
	(void)snprintf(new_part(&heading, state->frozen || state->at ? REVERSE : ""), PART_MAX, "%s%s",
		       state->at       ? "PAST "
		       : state->frozen ? "FROZEN at "
				       : "",
		       data->clock);
	/* "Sat 2026-11-21 03:12:30 CET": without the date. */
	if (state->at && strlen(data->clock) > DATE_COLUMNS)
		(void)snprintf(brief_part(&heading), PART_MAX, "PAST %.60s", data->clock + DATE_COLUMNS);
	if (table->paused)
		(void)snprintf(new_part(&heading, REVERSE), PART_MAX, "PAUSED");
	if (table->lost)
		(void)snprintf(new_part(&heading, BOLD), PART_MAX, "LOST %.100s", table->lost);
	if (table->firing > 0) {
		(void)snprintf(new_part(&heading, style->colour ? BOLD RED : BOLD), PART_MAX,
			       "%llu alert%s firing (a)", (unsigned long long)table->firing,
			       table->firing == 1 ? "" : "s");
		(void)snprintf(brief_part(&heading), PART_MAX, "%llu firing (a)",
			       (unsigned long long)table->firing);
	}
	if (table->without_slot > 0)
		(void)snprintf(new_part(&heading, BOLD), PART_MAX, "%llu cgroup%s without a slot",
			       (unsigned long long)table->without_slot, table->without_slot == 1 ? "" : "s");
	if (*table->cores_lost) {
		(void)snprintf(new_part(&heading, BOLD), PART_MAX, "%.60s", table->cores_lost);
		(void)snprintf(brief_part(&heading), PART_MAX, "%.*s cores lost",
			       (int)strcspn(table->cores_lost, " "), table->cores_lost);
	}
	put_heading(&line, &heading);
	if (table->rate.known) {
		text_short_count(table->rate.value, number);
		put_part(&line, "", "%s samples/s", number);
	}
	if (table->cost.known)
		put_part(&line, "", "cost %.2f%%", table->cost.value);
	if (table->unattributed.known && table->unattributed.value > 0) {
		text_short_count(table->unattributed.value, number);
		put_part(&line, "", "%s samples unattributed", number);
	}
	(void)fputc('\n', out);
}

/*
 * A filter that is too long for the line is shortened, not left out: it decides which rows there are. Their number
 * follows it.
 */
static void put_filter(struct line *line, const char *filter, bool utf8)
{
	const size_t before = strlen("  filter "), after = strlen("  10000 cgroups");
	const size_t left = line->left > before ? line->left - before : 0;
	_cleanup_free_ char *visible = text_visible(filter), *fitting = NULL;

	if (!visible)
		return;
	fitting = text_tail(visible, text_width(visible) > left && left > after ? left - after : left, utf8);
	if (fitting && *fitting)
		put_part(line, BOLD, "filter %s", fitting);
}

static void put_second_line(FILE *out, const struct top_state *state, const struct top_table *table,
			    const struct format_style *style)
{
	char span[TEXT_NUMBER_MAX] = "all";
	struct line line = {.out = out, .left = style->width};

	if (!table->event) {
		(void)fputs(table->origin ? "no event is sampled\n" : "no figures yet\n", out);
		return;
	}
	put_part(&line, BOLD, "%s", table->event);
	if (table->n_events > 1)
		put_part(&line, "", "(event %zu of %zu)", table->event_index + 1, table->n_events);
	if (table->window.known)
		text_span(table->window.value, span);
	put_part(&line, "", "window %s", span);
	put_part(&line, "", "by %s", sort_of(state, table));
	if (*state->filter)
		put_filter(&line, state->filter, style->utf8);
	if (state->sums)
		put_part(&line, BOLD, "+ sums to depth %llu", (unsigned long long)state->depth);
	put_part(&line, "", "%llu cgroup%s", (unsigned long long)table->matching,
		 table->matching == 1 ? "" : "s");
	put_part(&line, "", "%s", table->about);
	(void)fputc('\n', out);
}

static bool any_alert(const struct top_alerts *alerts)
{
	for (size_t i = 0; i < alerts->n; i++)
		if (alerts->list[i].state != TOP_ALERT_OTHER)
			return true;
	return false;
}

static void put_third_line(FILE *out, const struct top_state *state, const struct top_layout *layout,
			   const struct top_data *data, size_t width)
{
	struct line line = {.out = out, .left = width};

	if (data->trouble)
		put_part(&line, BOLD, "%s", data->trouble);
	else if (state->message)
		put_part(&line, BOLD, "%s", state->message);
	else if (layout->bar)
		put_part(&line, "", "%s", figure_legend);
	if (!data->trouble && !state->message && data->alerts && any_alert(data->alerts))
		put_part(&line, "", "%s", top_alert_legend);
	(void)fputc('\n', out);
}

/* A key and what it does: "q\tquit". The key is bold. */
static void put_key(struct line *line, const char *text)
{
	size_t key = strcspn(text, "\t"),
	       columns = text_width(text + key + 1) + key + 1 + (line->any ? 2 : 0);

	if (line->any && columns > line->left)
		return;
	(void)fprintf(line->out, "%s" BOLD "%.*s" NORMAL " %s", line->any ? "  " : "", (int)key, text,
		      text + key + 1);
	line->left -= columns < line->left ? columns : line->left;
	line->any = true;
}

static void put_question(FILE *out, const struct top_state *state, const char *text, size_t width)
{
	_cleanup_free_ char *target = state->target ? text_visible(state->target) : NULL;
	size_t others = strlen("zoom into  for 10s?  Enter: start  Esc: cancel");
	_cleanup_free_ char *fitting = NULL;

	if (text) {
		/* The end of a long text, where it is typed, stays on the screen. */
		fitting = text_tail(text, width > strlen("filter: _") + 8 ? width - strlen("filter: _") : 8,
				    false);
		(void)fprintf(out, BOLD "%s: %s%s%s" NORMAL "  Enter: %s  Esc: cancel%s",
			      state->typing_time ? "time" : "filter",
			      state->typed_before && *text ? REVERSE : "", fitting ? fitting : "?",
			      state->typed_before && *text ? "" : "_",
			      state->typing_time ? "go there" : "apply",
			      state->typing_time ? "  (03:12, yesterday 22:00, -2h)" : "");
		return;
	}
	fitting = target ? text_tail(target, width > others + 8 ? width - others : 8, false) : NULL;
	(void)fprintf(out, BOLD "zoom into %s for 10s?" NORMAL "  Enter: start  Esc: cancel",
		      fitting ? fitting : "?");
}

#define SCROLL "Up Down\tscroll"

static void put_keys(FILE *out, const struct top_state *state, const struct top_alert *alert, size_t width)
{
	static const char *const of_pages[TOP_PAGES][14] = {
		[TOP_TABLE] = {"Enter\topen", "a\talerts", "x\twhy", "z\tzoom", "s\tsort", "/\tfilter",
			       ", .\ttime", "w\twindow", "space\tfreeze", "d\tsums", "p\tpaths", "e\tevent",
			       "t\ttrend", NULL},
		[TOP_CGROUP] = {"Esc\tback", SCROLL, "x\twhy", "z\tzoom", "w\twindow", "t\ttrend",
				"space\tfreeze", ", .\ttime", "j\tjump", NULL},
		[TOP_ALERTS] = {"Enter\texplain", "Esc\tback", "z\tzoom", "p\tpaths", ", .\ttime", "j\tjump",
				NULL},
		[TOP_EXPLAIN] = {"Esc\tback", SCROLL, "Enter\topen the cgroup", "z\tzoom", ", .\ttime", NULL},
		[TOP_ZOOM] = {"Esc\tback", SCROLL, "z\tzoom again", "x\twhy", NULL},
		[TOP_HELP] = {"Esc\tback", SCROLL, NULL},
	};
	/* The first keys while the past is shown; those of `of_past` follow. Zooms exist only in the present. */
	static const char *const of_past_pages[TOP_PAGES][4] = {
		[TOP_TABLE] = {"Enter\topen", "a\talerts", "x\twhy"},
		[TOP_CGROUP] = {"Esc\tback", SCROLL, "x\twhy"},
		[TOP_ALERTS] = {"Enter\texplain", "Esc\tback"},
		[TOP_EXPLAIN] = {"Esc\tback", SCROLL, "Enter\topen the cgroup"},
	};
	static const char *const of_past[] = {", .\tback, forward", "< >\tten windows", "j\tjump",
					      "w\twindow",          "s\tsort",          "/\tfilter"};
	_cleanup_free_ char *visible = state->typing ? text_visible(state->typed) : NULL;
	struct line line = {.out = out, .left = width};

	if (state->typing || state->confirming) {
		put_question(out, state, state->typing ? (visible ? visible : "?") : NULL, width);
		return;
	}
	put_key(&line, "q\tquit");
	if (state->page != TOP_HELP)
		put_key(&line, "?\thelp");
	if (alert && (state->page == TOP_TABLE || state->page == TOP_CGROUP))
		put_key(&line, state->at ? "x\texplain" : "x\texplain the alert");
	if (state->page == TOP_ZOOM && state->zoom_runs)
		put_key(&line, "Esc\tend the zoom");
	if (state->at && state->page != TOP_HELP && state->page != TOP_ZOOM) {
		put_key(&line, "n\tnow");
		for (const char *const *key = of_past_pages[state->page]; *key; key++)
			if (!alert || strcmp(*key, "x\twhy") != 0)
				put_key(&line, *key);
		/* Only the table can be sorted and filtered. */
		for (size_t i = 0; i < ARRAY_SIZE(of_past) - (state->page == TOP_TABLE ? 0 : 2); i++)
			put_key(&line, of_past[i]);
		return;
	}
	for (const char *const *key = of_pages[state->page]; *key; key++)
		if (!(alert && strcmp(*key, "x\twhy") == 0) &&
		    !(state->page == TOP_ZOOM && state->zoom_runs &&
		      (strcmp(*key, "Esc\tback") == 0 || strcmp(*key, "z\tzoom again") == 0)))
			put_key(&line, *key);
}

static void put_rows(FILE *out, const struct top_state *state, const struct top_data *data,
		     const struct top_layout *layout, size_t room, const struct format_style *style)
{
	const struct top_table *table = data->table;
	size_t drawn = 0;

	put_heads(out, state, table, layout);
	for (size_t i = state->first; i >= table->first && i - table->first < table->n && drawn < room;
	     i++, drawn++) {
		const struct top_row *row = &table->rows[i - table->first];

		put_row(out, table, row, layout, data->alerts ? top_alerts_of(data->alerts, row->name) : NULL,
			i == state->row, state->full_names, style);
	}
	if (table->origin && table->matching == 0 && room > 0) {
		(void)fprintf(out, " %s\n",
			      *state->filter ? "no matching cgroup has a sample in this window"
					     : "no sample in this window");
		drawn++;
	}
	for (; drawn < room; drawn++)
		(void)fputc('\n', out);
}

/* Returns the alert that the page explains, or the one of its cgroup or of the marked row; NULL: none. */
static const struct top_alert *alert_of(const struct top_state *state, const struct top_data *data)
{
	const struct top_table *table = data->table;
	const char *cgroup = state->target;

	if (!data->alerts)
		return NULL;
	if (state->page == TOP_TABLE)
		cgroup = state->row >= table->first && state->row - table->first < table->n
				 ? table->rows[state->row - table->first].name
				 : NULL;
	if (state->page == TOP_EXPLAIN && state->rule)
		return top_alerts_last_of(data->alerts, cgroup, state->rule);
	return top_alerts_of(data->alerts, cgroup);
}

/* Writes the pane as text, which the caller frees. */
static char *pane_text(const struct top_state *state, const struct top_data *data,
		       const struct top_frame *frame, const struct format_style *style)
{
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	if (!out)
		return NULL;
	if (!data->pane && state->frozen)
		(void)fputs("frozen: press space to continue\n", out);
	else if (data->pane)
		top_pane_draw(out, data->pane, alert_of(state, data), frame->pane_width, frame->pane_lines,
			      state->full_names, style);
	if (fclose(out) != 0) {
		free(text);
		return NULL;
	}
	return text;
}

void top_draw_table(FILE *out, const struct top_state *state, const struct top_data *data,
		    const struct format_style *style)
{
	const struct top_frame frame =
		top_frame_of(TOP_TABLE, style->width, data->rows, top_table_rows(data->table));
	const struct top_layout layout = top_layout_of(data->table, frame.width, state->full_names);
	_cleanup_free_ char *pane = frame.pane_lines ? pane_text(state, data, &frame, style) : NULL;
	_cleanup_free_ char *rows = NULL;
	size_t length;
	FILE *stream;

	if (frame.first == LINES_OVER_FEW && (data->trouble || state->message)) {
		put_third_line(out, state, &layout, data, style->width);
	} else {
		put_first_line(out, state, data, style);
	}
	if (frame.first > LINES_OVER_FEW) {
		put_second_line(out, state, data->table, style);
		put_third_line(out, state, &layout, data, style->width);
	}
	if (frame.beside && (stream = open_memstream(&rows, &length))) {
		put_rows(stream, state, data, &layout, frame.room, style);
		if (fclose(stream) == 0)
			top_beside(out, rows, frame.width, style->utf8 ? " │ " : " | ", pane ? pane : "",
				   frame.room + 1);
	} else {
		put_rows(out, state, data, &layout, frame.room, style);
	}
	if (!frame.beside && frame.pane_lines) {
		for (size_t i = 0; i < style->width; i++)
			(void)fputs(style->utf8 ? "─" : "-", out);
		(void)fputc('\n', out);
		top_beside(out, pane ? pane : "", 0, "", "", frame.pane_lines);
	}
	put_keys(out, state, alert_of(state, data), style->width);
}

const char *top_draw_sort_at(const struct top_layout *layout, size_t column)
{
	struct {
		size_t columns;
		const char *sort;
	} heads[8 + SHOWN_WAITS];
	size_t n = 0, end = MARKS + layout->name;

#define HEAD(shown, wide, by)              \
	if (shown) {                       \
		heads[n].columns = (wide); \
		heads[n++].sort = (by);    \
	}
	HEAD(layout->samples, NUMBER, "samples")
	HEAD(layout->share, NUMBER, "latency")
	HEAD(layout->mean, NUMBER, "mean")
	HEAD(layout->p50, NUMBER, NULL)
	HEAD(layout->p99, NUMBER + 1, "p99")
	for (enum shown_wait which = 0; which < SHOWN_WAITS; which++)
		HEAD(layout->waits[which], 1 + WAITS_WIDTH, waits_sort(which))
	HEAD(layout->bar, 1 + layout->bar, "share:remote_dram")
	HEAD(layout->hitm, NUMBER, "share:hitm")
#undef HEAD
	if (column < end)
		return NULL;
	for (size_t i = 0; i < n; i++) {
		end += heads[i].columns;
		if (column < end)
			return heads[i].sort;
	}
	return NULL;
}

static void put_title(FILE *out, const struct top_state *state, const struct top_data *data,
		      const char *title, const char *rest, size_t width)
{
	struct line line = {.out = out, .left = width};

	put_part(&line, BOLD, "%s", title);
	if (state->page != TOP_HELP)
		put_part(&line, "", "%s", data->clock);
	if (state->at && state->page != TOP_HELP && state->page != TOP_ZOOM)
		put_part(&line, REVERSE, "PAST");
	else if (state->frozen)
		put_part(&line, REVERSE, "FROZEN");
	if (data->trouble)
		put_part(&line, BOLD, "%s", data->trouble);
	else if (state->message)
		put_part(&line, BOLD, "%s", state->message);
	if (*rest)
		put_part(&line, "", "%s", rest);
	(void)fputc('\n', out);
}

/* The widths of the columns of the alerts; 0: left out. */
struct alert_columns {
	size_t words, age, value, limit, rule, name;
};

static void widen(size_t *width, const char *text)
{
	size_t columns = text_width(text);

	*width = columns > *width ? columns : *width;
}

static struct alert_columns alert_columns_of(const struct top_state *state, const struct top_alerts *alerts,
					     size_t width)
{
	struct alert_columns columns = {.words = strlen("STATE"),
					.age = strlen("LASTED"),
					.rule = strlen("RULE"),
					.name = strlen("CGROUP")};
	size_t value = strlen("VALUE"), limit = strlen("LIMIT"), used, least, more, left;

	for (size_t i = 0; i < alerts->n; i++) {
		const struct top_alert *alert = &alerts->list[i];

		widen(&columns.words, alert->words);
		widen(&columns.age, alert->age);
		widen(&columns.rule, alert->visible_rule);
		widen(&columns.name, state->full_names ? alert->path : alert->visible);
		widen(&value, alert->value);
		widen(&limit, alert->limit);
	}
	columns.rule = columns.rule < ALERT_RULE_MAX ? columns.rule : ALERT_RULE_MAX;
	least = columns.name < NAME_MIN ? columns.name : NAME_MIN;
	used = MARKS + columns.words + 2 + columns.age + 2 + columns.rule + 2;
	/* The value says more than the limit, and than the whole name of the rule. */
	more = used + least + value + 2 > width ? used + least + value + 2 - width : 0;
	if (columns.rule >= ALERT_RULE_MIN + more) {
		columns.rule -= more;
		used -= more;
	}
	left = width > used ? width - used : 0;
	columns.value = left >= least + value + 2 ? value : 0;
	left -= columns.value ? columns.value + 2 : 0;
	columns.limit = columns.value && left >= least + limit + 2 ? limit : 0;
	left -= columns.limit ? columns.limit + 2 : 0;
	columns.name = columns.name < left ? columns.name : left;
	return columns;
}

static void put_cell(FILE *out, const char *text, size_t width, bool utf8)
{
	_cleanup_free_ char *fitting = text_tail(text, width, utf8);
	size_t columns = fitting ? text_width(fitting) : 0;

	if (width > 0)
		(void)fprintf(out, "%s%*s  ", fitting ? fitting : "",
			      (int)(columns < width ? width - columns : 0), "");
}

static void put_alert_row(FILE *out, const struct top_state *state, const struct top_alert *alert,
			  bool marked, const struct alert_columns *columns, const struct format_style *style)
{
	bool utf8 = style->utf8;

	put_mark(out, alert, marked, style);
	(void)fputs(line_colour(style, alert->mood), out);
	put_cell(out, alert->words, columns->words, utf8);
	(void)fputs(line_colour_end(style, alert->mood), out);
	begin_text(out, marked && *line_colour_end(style, alert->mood));
	put_cell(out, alert->age, columns->age, utf8);
	put_cell(out, alert->visible_rule, columns->rule, utf8);
	put_cell(out, alert->value, columns->value, utf8);
	put_cell(out, alert->limit, columns->limit, utf8);
	put_cell(out, state->full_names ? alert->path : alert->visible, columns->name, utf8);
	(void)fprintf(out, "%s\n", marked ? NORMAL : "");
}

/*
 * Writes what may not fit into the row of the marked alert, and when it began. The limit comes first, because the
 * beginning of a number that was cut looks like another number.
 */
static void put_marked_alert(FILE *out, const struct top_state *state, const struct top_alerts *alerts,
			     size_t width)
{
	const struct top_alert *alert = state->alert < alerts->n ? &alerts->list[state->alert] : NULL;
	char began[MOMENT_TEXT_MAX] = "an unknown time", text[512] = "";

	if (alert && alert->began)
		moment_show(alert->began, state->zone ? state->zone : moment_utc, began);
	if (alert)
		(void)snprintf(text, sizeof(text), "%.80s; limit: %.80s; %s %s", alert->value, alert->limit,
			       alert->state == TOP_ALERT_OTHER ? "began" : "since", began);
	(void)fprintf(out, "%.*s\n", (int)text_cut(text, width), text);
}

void top_draw_alerts(FILE *out, const struct top_state *state, const struct top_data *data,
		     const struct format_style *style)
{
	static const struct top_alerts none = {0};
	const struct top_alerts *alerts = data->alerts ? data->alerts : &none;
	const struct alert_columns columns = alert_columns_of(state, alerts, style->width);
	const struct top_frame frame = top_frame_of(TOP_ALERTS, style->width, data->rows, 0);
	size_t room = frame.room, drawn = 0;
	size_t by_state[TOP_ALERT_OTHER + 1] = {0};
	char rest[64] = "";

	for (size_t i = 0; i < alerts->n; i++)
		by_state[alerts->list[i].state]++;
	if (alerts->n > room)
		(void)snprintf(rest, sizeof(rest), "%zu-%zu of %zu%s", state->first_alert + 1,
			       state->first_alert + room < alerts->n ? state->first_alert + room : alerts->n,
			       alerts->n, alerts->more ? " and more" : "");
	put_title(out, state, data, "Alerts", rest, style->width);
	if (frame.first > LINES_OVER_FEW) {
		(void)fprintf(out, "%zu firing, %zu pending, %zu unknown, %zu %s\n",
			      by_state[TOP_ALERT_FIRING], by_state[TOP_ALERT_PENDING],
			      by_state[TOP_ALERT_UNKNOWN], by_state[TOP_ALERT_OTHER],
			      state->at ? "ended in the hour before" : "resolved in the last hour");
		put_marked_alert(out, state, alerts, style->width);
	}
	(void)fprintf(out, BOLD "%*s", MARKS, "");
	put_cell(out, "STATE", columns.words, false);
	put_cell(out, "LASTED", columns.age, false);
	put_cell(out, "RULE", columns.rule, false);
	put_cell(out, "VALUE", columns.value, false);
	put_cell(out, "LIMIT", columns.limit, false);
	put_cell(out, "CGROUP", columns.name, false);
	(void)fputs(NORMAL "\n", out);
	for (size_t i = state->first_alert; i < alerts->n && drawn < room; i++, drawn++)
		put_alert_row(out, state, &alerts->list[i], i == state->alert, &columns, style);
	for (; drawn < room; drawn++)
		(void)fputc('\n', out);
	put_keys(out, state, NULL, style->width);
}

size_t top_lines(const char *text)
{
	size_t n = 0;

	for (; *text; text++)
		n += *text == '\n';
	return n;
}

/* Writes the name alone, as long as no figures of the cgroup are known. */
static void put_no_head(FILE *out, const struct top_state *state, const struct top_frame *frame,
			const struct format_style *style)
{
	_cleanup_free_ char *target = state->target ? text_visible(state->target) : NULL;
	_cleanup_free_ char *fitting = target ? text_tail(target, style->width, style->utf8) : NULL;

	for (size_t i = LINES_OVER_PAGE; i < frame->first; i++)
		(void)fprintf(out, BOLD "%s" NORMAL "\n", i == LINES_OVER_PAGE && fitting ? fitting : "");
}

void top_draw_page(FILE *out, const struct top_state *state, const struct top_data *data, const char *text,
		   const struct format_style *style)
{
	static const char *const titles[TOP_PAGES] = {[TOP_CGROUP] = "Cgroup",
						      [TOP_EXPLAIN] = "Why",
						      [TOP_ZOOM] = "Zoom",
						      [TOP_HELP] = "pebsctl top: keys and columns"};
	const struct top_frame frame = top_frame_of(state->page, style->width, data->rows, 0);
	size_t n = top_lines(text), drawn = 0;
	char rest[64] = "";

	if (n > frame.room)
		(void)snprintf(rest, sizeof(rest), "lines %zu-%zu of %zu", state->scroll + 1,
			       state->scroll + frame.room < n ? state->scroll + frame.room : n, n);
	put_title(out, state, data, titles[state->page], rest, style->width);
	if (frame.first > LINES_OVER_PAGE && data->pane)
		top_pane_draw_head(out, data->pane, alert_of(state, data), state->full_names, style);
	else
		put_no_head(out, state, &frame, style);
	for (size_t line = 0; *text; line++) {
		size_t length = strcspn(text, "\n");

		if (line >= state->scroll && drawn < frame.room) {
			(void)fprintf(out, "%.*s\n", (int)length, text);
			drawn++;
		}
		text += length + (text[length] == '\n');
	}
	for (; drawn < frame.room; drawn++)
		(void)fputc('\n', out);
	put_keys(out, state, alert_of(state, data), style->width);
}

const char *top_help(void)
{
	return "  Up Down PgUp PgDn Home End   select a row; scroll a page\n"
	       "  Enter, Right                 open it: quantiles, sources, histogram, hot code\n"
	       "  Esc, Left                    back; on the table Esc clears the filter\n"
	       "  a                            alerts; Enter explains the marked one\n"
	       "  x                            why: the alert of the cgroup, and neighbours that\n"
	       "                               could be the cause\n"
	       "  z                            zoom: code, data and cache lines of the cgroup,\n"
	       "                               after Enter confirms it; Esc ends the zoom\n"
	       "  s, S                         sort by the next figure, by the previous figure\n"
	       "  /                            filter: part of a name, or a pattern with * ** ?\n"
	       "  p                            full paths, or short names\n"
	       "  d                            sums of subtrees, or each cgroup by itself\n"
	       "  + -                          sums one level deeper, one level less deep\n"
	       "  e                            next event\n"
	       "  w                            next window: 10s, 1min, 10min, all\n"
	       "  t                            next trend: the last 10 minutes, minute, hour\n"
	       "  space, f                     freeze, continue\n"
	       "  , .                          back, forward in time by one window\n"
	       "  < >                          back, forward by ten windows\n"
	       "  j                            jump to a time: 03:12, yesterday 22:00, -2h\n"
	       "  n                            now: back to the present\n"
	       "  h, ?                         this help; any other key: back\n"
	       "  q                            quit\n"
	       "  mouse                        click: mark a row, click again: open it; click on\n"
	       "                               a head: sort by it; wheel: scroll\n"
	       "  m                            leave the mouse to the terminal, or take it back\n"
	       "                               (most terminals also select with Shift)\n"
	       "\n"
	       "  ! ~ ?   left of a name: an alert fires, is pending, or cannot be judged now\n"
	       "  SMP/S   samples a second that the hardware took; not a count of accesses\n"
	       "  LAT%    share of the weighted latency of all sampled accesses\n"
	       "  MEAN P50 P99   latency in cycles, of samples that passed the threshold\n"
	       "  " FIGURE_FEW_MARK
	       "       right of a figure: few samples for a quantile, or bounds of waiting\n"
	       "          farther apart than the figure is large; bounds decide about alerts\n"
	       "  SOURCES 1 L1, F LFB, 2 L2, 3 L3, D local DRAM, R remote, o other\n"
	       "  WAIT%   share of the cgroup's own cycles that are stalled on memory\n"
	       "  CORES   lost to memory, of those USED; an upper bound of what memory costs\n"
	       "  CPI     cycles per instruction; MISS: misses per thousand instructions\n"
	       "  B/S     traffic in bytes a second: misses x 64 bytes\n"
	       "  HITM%   share of samples that found the line modified in another cache\n"
	       "  TREND   the mean over time, oldest first (samples a second if there is no\n"
	       "          latency); each row has its own scale\n"
	       "  +       the sum of a subtree, which can contain other sums\n"
	       "  *       a virtual machine: guest not sampled, only the host's side of it\n";
}

// SPDX-License-Identifier: GPL-2.0
#include "ctl/top/top_draw.h"

#include <string.h>

#include "base/text.h"

#define LINES_OVER_ROWS 4 /* lines above the rows of the table: three, and the column heads */
#define LINES_OVER_PAGE 1
#define LINES_UNDER     1
#define NAME_MIN        16
#define NUMBER          6 /* a blank and five columns */
#define BAR_MIN         10
#define BAR_MAX         64
#define TREND_MIN       9
#define TREND_MAX       60
#define MARKS           1 /* left of the name: the mark of the row */

#define BOLD    "\033[1m"
#define DIM     "\033[2m"
#define REVERSE "\033[7m"
#define NORMAL  "\033[0m"

/* Backgrounds: caches green (L1, L2), cyan (LFB) and blue (L3), local memory yellow, other nodes red. */
static const char *const group_colours[FIGURE_GROUPS] = {
	[FIGURE_L1] = "\033[42m",    [FIGURE_LFB] = "\033[46m",   [FIGURE_L2] = "\033[42m",
	[FIGURE_L3] = "\033[44m",    [FIGURE_LOCAL] = "\033[43m", [FIGURE_REMOTE] = "\033[41m",
	[FIGURE_OTHER] = "\033[47m",
};

size_t top_trend_cells(size_t width)
{
	if (width < 80)
		return TREND_MIN;
	return TREND_MIN + (width - 80) / 4 < TREND_MAX ? TREND_MIN + (width - 80) / 4 : TREND_MAX;
}

size_t top_room(enum top_page page, size_t rows)
{
	size_t other = LINES_UNDER + (page == TOP_TABLE ? LINES_OVER_ROWS : LINES_OVER_PAGE);

	return rows > other ? rows - other : 1;
}

static size_t widest_name(const struct top_table *table)
{
	size_t widest = NAME_MIN;

	for (size_t i = 0; i < table->n; i++) {
		const struct top_row *row = &table->rows[i];
		size_t width = text_width(row->visible) + (row->members > 0) + row->guest;

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

struct top_layout top_layout_of(const struct top_table *table, size_t width)
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
	more = widest_name(table) - NAME_MIN;
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
	char text[TEXT_NUMBER_MAX] = "-";

	if (number->known && !format)
		text_short_count(number->value, text + number->over);
	else if (number->known && number->value > 0 && number->value < 0.05)
		(void)snprintf(text, sizeof(text), "<0.1");
	else if (number->known)
		(void)snprintf(text, sizeof(text), format, number->value);
	if (number->over && number->known)
		text[0] = '>';
	if (number->few)
		(void)fprintf(out, "%*s" FIGURE_FEW_MARK, (int)width - 1, text);
	else
		(void)fprintf(out, "%*s", (int)width, text);
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
			(void)fputs(group_colours[i], out);
		for (u32 cell = 0; cell < cells[i]; cell++, put++)
			(void)fputc(figure_letters[i], out);
		if (cells[i] > 0 && colour)
			(void)fputs(NORMAL, out);
	}
	(void)fprintf(out, "%*s", (int)(width - put), "");
}

static void put_name(FILE *out, const struct top_row *row, size_t width, const struct format_style *style)
{
	const char *sum = row->members > 0 ? "+" : "", *guest = row->guest ? "*" : "";
	size_t marks = strlen(sum) + strlen(guest);
	char *fitting = text_tail(row->visible, width - marks, style->utf8);
	size_t columns = (fitting ? text_width(fitting) : 1) + marks;

	(void)fprintf(out, "%s%s%s%*s", fitting ? fitting : "?", sum, guest,
		      (int)(columns < width ? width - columns : 0), "");
	free(fitting);
}

static void put_row(FILE *out, const struct top_table *table, const struct top_row *row,
		    const struct top_layout *layout, bool marked, const struct format_style *style)
{
	/* The end of a colour also ends reverse video, so the bar of a marked row has no colours. */
	(void)fprintf(out, "%s%c", marked ? REVERSE : "", marked ? '>' : ' ');
	put_name(out, row, layout->name, style);
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
	if (layout->bar)
		put_bar(out, row, layout->bar, style->colour && !marked);
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

static void put_heads(FILE *out, const struct top_state *state, const struct top_table *table,
		      const struct top_layout *layout)
{
	const char *sort = top_state_sort(state);
	bool by_source = strncmp(sort, "share:", 6) == 0 && strcmp(sort, "share:hitm") != 0;

	(void)fprintf(out, BOLD " %-*s", (int)layout->name, state->sums ? "SUBTREE" : "CGROUP");
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

static void put_part(struct line *line, const char *mark, const char *text)
{
	size_t columns = text_width(text) + (line->any ? 2 : 0);

	if (line->any && columns > line->left)
		return;
	(void)fprintf(line->out, "%s%s%s%s", line->any ? "  " : "", mark, text, *mark ? NORMAL : "");
	line->left -= columns < line->left ? columns : line->left;
	line->any = true;
}

static void put_first_line(FILE *out, const struct top_state *state, const struct top_table *table,
			   const char *clock, size_t width)
{
	char text[128], number[TEXT_NUMBER_MAX];
	struct line line = {.out = out, .left = width};

	(void)snprintf(text, sizeof(text), "pebsd: %.90s", table->origin ? table->origin : "-");
	put_part(&line, BOLD, text);
	(void)snprintf(text, sizeof(text), "%s%s",
		       state->at       ? "PAST "
		       : state->frozen ? "FROZEN at "
				       : "",
		       clock);
	put_part(&line, state->frozen || state->at ? REVERSE : "", text);
	if (table->paused)
		put_part(&line, REVERSE, "PAUSED");
	if (table->lost) {
		(void)snprintf(text, sizeof(text), "LOST %.100s", table->lost);
		put_part(&line, BOLD, text);
	}
	if (table->firing > 0) {
		(void)snprintf(text, sizeof(text), "%llu alert%s", (unsigned long long)table->firing,
			       table->firing == 1 ? "" : "s");
		put_part(&line, BOLD, text);
	}
	if (table->without_slot > 0) {
		(void)snprintf(text, sizeof(text), "%llu cgroup%s without a slot",
			       (unsigned long long)table->without_slot, table->without_slot == 1 ? "" : "s");
		put_part(&line, BOLD, text);
	}
	if (*table->cores_lost)
		put_part(&line, BOLD, table->cores_lost);
	if (table->rate.known) {
		text_short_count(table->rate.value, number);
		(void)snprintf(text, sizeof(text), "%s samples/s", number);
		put_part(&line, "", text);
	}
	if (table->cost.known) {
		(void)snprintf(text, sizeof(text), "cost %.2f%%", table->cost.value);
		put_part(&line, "", text);
	}
	if (table->unattributed.known && table->unattributed.value > 0) {
		text_short_count(table->unattributed.value, number);
		(void)snprintf(text, sizeof(text), "%s samples unattributed", number);
		put_part(&line, "", text);
	}
	(void)fputc('\n', out);
}

static void put_second_line(FILE *out, const struct top_state *state, const struct top_table *table,
			    size_t width)
{
	char text[TOP_FILTER_MAX + 64], span[TEXT_NUMBER_MAX] = "all";
	struct line line = {.out = out, .left = width};
	char *visible = *state->filter ? text_visible(state->filter) : NULL;

	if (!table->event) {
		(void)fputs(table->origin ? "no event is sampled\n" : "no figures yet\n", out);
		free(visible);
		return;
	}
	(void)snprintf(text, sizeof(text), "%.60s", table->event);
	put_part(&line, BOLD, text);
	if (table->n_events > 1) {
		(void)snprintf(text, sizeof(text), "(event %zu of %zu)", table->event_index + 1,
			       table->n_events);
		put_part(&line, "", text);
	}
	if (table->window.known)
		text_span(table->window.value, span);
	(void)snprintf(text, sizeof(text), "window %s", span);
	put_part(&line, "", text);
	(void)snprintf(text, sizeof(text), "by %s", top_state_sort(state));
	put_part(&line, "", text);
	if (visible) {
		(void)snprintf(text, sizeof(text), "filter %.240s", visible);
		put_part(&line, BOLD, text);
	}
	if (state->sums) {
		(void)snprintf(text, sizeof(text), "+ sums to depth %llu", (unsigned long long)state->depth);
		put_part(&line, BOLD, text);
	}
	(void)snprintf(text, sizeof(text), "%llu cgroup%s", (unsigned long long)table->matching,
		       table->matching == 1 ? "" : "s");
	put_part(&line, "", text);
	put_part(&line, "", table->about);
	(void)fputc('\n', out);
	free(visible);
}

static void put_third_line(FILE *out, const struct top_state *state, const struct top_layout *layout,
			   const char *trouble, size_t width)
{
	struct line line = {.out = out, .left = width};

	if (trouble)
		put_part(&line, BOLD, trouble);
	else if (state->message)
		put_part(&line, BOLD, state->message);
	else if (layout->bar)
		put_part(&line, "", figure_legend);
	(void)fputc('\n', out);
}

static void put_keys(FILE *out, const struct top_state *state, size_t width)
{
	static const char *const of_table[] = {"q quit",   "h help",  "Enter open", "s sort",
					       "/ filter", "d sums",  "w window",   "space freeze",
					       "t trend",  "e event", ", . time",   "j jump"};
	static const char *const of_page[] = {"q quit",   "Esc back", "Up Down PgUp PgDn scroll",
					      "w window", "t trend",  "space freeze",
					      ", . time", "j jump"};
	static const char *const of_past[] = {"q quit",   "h help",     ", . one window back, forward",
					      "< > ten",  "j jump",     "n now",
					      "w window", "Enter open", "Esc back",
					      "s sort",   "/ filter"};
	struct line line = {.out = out, .left = width};

	if (state->typing) {
		char *visible = text_visible(state->typed);

		(void)fprintf(out, BOLD "%s: %s_" NORMAL "  Enter: %s  Esc: cancel",
			      state->typing_time ? "time" : "filter", visible ? visible : "?",
			      state->typing_time ? "go there (03:12, yesterday 22:00, -2h)" : "apply");
		free(visible);
		return;
	}
	if (state->at && state->page != TOP_HELP) {
		for (size_t i = 0; i < sizeof(of_past) / sizeof(*of_past); i++)
			if (strcmp(of_past[i], state->page == TOP_TABLE ? "Esc back" : "Enter open") != 0)
				put_part(&line, "", of_past[i]);
		return;
	}
	for (size_t i = 0; state->page == TOP_TABLE && i < sizeof(of_table) / sizeof(*of_table); i++)
		put_part(&line, "", of_table[i]);
	for (size_t i = 0; state->page != TOP_TABLE && i < sizeof(of_page) / sizeof(*of_page); i++)
		put_part(&line, "", of_page[i]);
}

void top_draw_table(FILE *out, const struct top_state *state, const struct top_table *table,
		    const char *clock, const char *trouble, size_t rows, const struct format_style *style)
{
	const struct top_layout layout = top_layout_of(table, style->width);
	size_t room = top_room(TOP_TABLE, rows), drawn = 0;

	put_first_line(out, state, table, clock, style->width);
	put_second_line(out, state, table, style->width);
	put_third_line(out, state, &layout, trouble, style->width);
	put_heads(out, state, table, &layout);
	for (size_t i = state->first; i >= table->first && i - table->first < table->n && drawn < room;
	     i++, drawn++)
		put_row(out, table, &table->rows[i - table->first], &layout, i == state->row, style);
	if (table->origin && table->matching == 0 && room > 0) {
		(void)fprintf(out, " %s\n",
			      *state->filter ? "no matching cgroup has a sample in this window"
					     : "no sample in this window");
		drawn++;
	}
	for (; drawn < room; drawn++)
		(void)fputc('\n', out);
	put_keys(out, state, style->width);
}

size_t top_draw_page(FILE *out, const struct top_state *state, const char *title, const char *text,
		     const char *trouble, size_t rows, const struct format_style *style)
{
	size_t room = top_room(state->page, rows), n = 0, drawn = 0;
	struct line line = {.out = out, .left = style->width};

	put_part(&line, BOLD, title);
	if (state->at && state->page != TOP_HELP)
		put_part(&line, REVERSE, "PAST");
	else if (state->frozen)
		put_part(&line, REVERSE, "FROZEN");
	if (trouble)
		put_part(&line, BOLD, trouble);
	(void)fputc('\n', out);
	for (; *text; n++) {
		size_t length = strcspn(text, "\n");

		if (n >= state->scroll && drawn < room) {
			(void)fprintf(out, "%.*s\n", (int)length, text);
			drawn++;
		}
		text += length + (text[length] == '\n');
	}
	for (; drawn < room; drawn++)
		(void)fputc('\n', out);
	put_keys(out, state, style->width);
	return n;
}

const char *top_help(void)
{
	return "  Up Down PgUp PgDn Home End   select a cgroup\n"
	       "  Enter, Right                 open it: quantiles, sources, histogram, hot code\n"
	       "  Esc, Left                    back to the table; Esc there clears the filter\n"
	       "  s, S                         sort by the next figure, by the previous figure\n"
	       "  /                            filter: part of a name, or a pattern with * ** ?\n"
	       "  d                            sums of subtrees, or each cgroup by itself\n"
	       "  + -                          sums one level deeper, one level less deep\n"
	       "  e                            next event\n"
	       "  w                            next window: 10s, 1min, 10min, all\n"
	       "  t                            next trend: the last hour, 10 minutes, minute\n"
	       "  space, f                     freeze, continue\n"
	       "  , .                          back, forward in time by one window\n"
	       "  < >                          back, forward by ten windows\n"
	       "  j                            jump to a time: 03:12, yesterday 22:00, -2h\n"
	       "  n                            now: back to the present\n"
	       "  h, ?                         this help; any other key: back\n"
	       "  q                            quit\n"
	       "\n"
	       "  SMP/S   samples a second that the hardware took; not a count of accesses\n"
	       "  LAT%    share of the weighted latency of all sampled accesses\n"
	       "  MEAN P50 P99   latency in cycles, of samples that passed the threshold\n"
	       "          " FIGURE_FEW_MARK ": too few samples for this quantile, or wide bounds of waiting\n"
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

// SPDX-License-Identifier: GPL-2.0
#include "bench_text.h"

#include <math.h>
#include <string.h>

#include "base/text.h"

/* Maximum width of a name, and of a claim, in a table. */
#define NAME_WIDTH  "66"
#define CLAIM_WIDTH "66"

const char *bench_figure(double value, char text[BENCH_FIGURE])
{
	double size = fabs(value);

	if (!isfinite(value))
		(void)snprintf(text, BENCH_FIGURE, "-");
	else if (value >= 999.5 && value < 1e15)
		text_count((u64)llround(value), text);
	else
		(void)snprintf(text, BENCH_FIGURE, "%.*f",
			       size <= 0       ? 0
			       : size < 0.0995 ? 4
			       : size < 9.95   ? 2
			       : size < 99.5   ? 1
					       : 0,
			       value);
	return text;
}

static void print_spread(FILE *out, const struct bench_spread *spread)
{
	char median[BENCH_FIGURE], low[BENCH_FIGURE], high[BENCH_FIGURE], range[2 * BENCH_FIGURE + 8];

	(void)snprintf(range, sizeof(range), "%s to %s", bench_figure(spread->low, low),
		       bench_figure(spread->high, high));
	(void)fprintf(out, "%10s  %-20s", bench_figure(spread->median, median), range);
}

/* Prints a limit such as "at most 10.0 ms". Ratios have no unit. */
static void print_limit(FILE *out, const struct bench_claim *claim, const char *unit)
{
	char limit[BENCH_FIGURE];

	(void)fprintf(out, "%s %s%s%s", claim->at_most > 0 ? "at most" : "at least",
		      bench_figure(claim->at_most > 0 ? claim->at_most : claim->at_least, limit),
		      *unit ? " " : "", unit);
}

static const char *claim_unit(const struct bench_result *result)
{
	return !result || !result->unit || strcmp(result->unit, "ratio") == 0 ? "" : result->unit;
}

static void print_claims(FILE *out, const struct bench_results *results)
{
	(void)fprintf(out, "\nIt is to show:\n");
	for (size_t i = 0; i < n_bench_claims; i++) {
		const struct bench_claim *claim = &bench_claims[i];
		const struct bench_result *result = bench_claim_result(claim, results);
		struct bench_spread spread = {.n = 0};
		char median[BENCH_FIGURE];

		if (result && result->unit)
			spread = bench_result_spread(results, result);
		if (spread.n == 0) {
			(void)fprintf(out, "  %-" CLAIM_WIDTH "s not measured\n", bench_claim_told(claim));
			continue;
		}
		(void)fprintf(out, "  %-" CLAIM_WIDTH "s %10s %-5s  ", bench_claim_told(claim),
			      bench_figure(spread.median, median), claim_unit(result));
		print_limit(out, claim, claim_unit(result));
		(void)fprintf(out, ": %s\n",
			      bench_claim_holds(claim, spread.median) ? "holds" : "DOES NOT HOLD");
	}
}

static void print_result(FILE *out, const struct bench_results *results, const struct bench_result *result,
			 bool first)
{
	struct bench_spread spread = bench_result_spread(results, result);

	(void)fprintf(out, "%-11s %-" NAME_WIDTH "s ", first ? result->group : "", result->name);
	if (result->unit && spread.n) {
		print_spread(out, &spread);
		(void)fprintf(out, " %s", result->unit);
		if (spread.n < results->n_rounds)
			(void)fprintf(out, " (%zu rounds)", spread.n);
	} else {
		(void)fprintf(out, "%10s", "left out");
	}
	(void)fprintf(out, "%s%s\n", result->left_out ? "  " : "", result->left_out ? result->left_out : "");
}

/* Returns whether this result is the first of its group. */
static bool begins_group(const struct bench_results *results, size_t i)
{
	for (size_t j = 0; j < i; j++)
		if (strcmp(results->results[j].group, results->results[i].group) == 0)
			return false;
	return true;
}

void bench_text_table(FILE *out, const struct bench_results *results)
{
	for (size_t i = 0; i < results->n_facts; i++)
		(void)fprintf(out, "%s: %s\n", results->facts[i].name, results->facts[i].value);
	(void)fprintf(out, "rounds: %zu; the spread is that of the rounds but for the worst\n\n",
		      results->n_rounds);
	(void)fprintf(out, "%-11s %-" NAME_WIDTH "s %10s  %-20s %s\n", "GROUP", "NAME", "MEDIAN", "SPREAD",
		      "UNIT");
	for (size_t i = 0; i < results->n_results; i++)
		for (size_t j = i; begins_group(results, i) && j < results->n_results; j++)
			if (strcmp(results->results[i].group, results->results[j].group) == 0)
				print_result(out, results, &results->results[j], i == j);
	print_claims(out, results);
}

/* One row per sampler, one column per cost. */
static const char *const sampler_names[] = {
	"pebsd",       "per-CPU hash", "LRU per-CPU hash", "shared hash", "ring buffer, no wakeups",
	"ring buffer", "bpftrace",     "perf record",
};

static const char *const sampler_groups[] = {"body", "victim", "consumer", "bytes"};

static void markdown_cell(FILE *out, const struct bench_results *results, const char *group, const char *name)
{
	char key[256], text[BENCH_FIGURE];
	const struct bench_result *result;
	struct bench_spread spread;

	(void)snprintf(key, sizeof(key), "%s/%s", group, name);
	result = bench_results_find(results, key);
	if (!result || !result->unit) {
		(void)fprintf(out, " – |");
		return;
	}
	spread = bench_result_spread(results, result);
	(void)fprintf(out, " %s |", bench_figure(spread.median, text));
}

static void markdown_claim(FILE *out, const struct bench_results *results, const struct bench_claim *claim)
{
	const struct bench_result *result = bench_claim_result(claim, results);
	const char *unit = claim_unit(result);
	char median[BENCH_FIGURE], low[BENCH_FIGURE], high[BENCH_FIGURE];
	struct bench_spread spread = {.n = 0};

	if (result && result->unit)
		spread = bench_result_spread(results, result);
	(void)fprintf(out, "| %s | ", bench_claim_told(claim));
	if (spread.n)
		(void)fprintf(out, "%s%s%s | %s to %s | ", bench_figure(spread.median, median),
			      *unit ? " " : "", unit, bench_figure(spread.low, low),
			      bench_figure(spread.high, high));
	else
		(void)fprintf(out, "– | – | ");
	print_limit(out, claim, unit);
	(void)fprintf(out, " |\n");
}

void bench_text_markdown(FILE *out, const struct bench_results *results)
{
	static const char *const facts[] = {"machine", "kernel", "date", "peers"};

	for (size_t i = 0; i < ARRAY_SIZE(facts); i++) {
		const char *value = bench_results_fact(results, facts[i]);

		(void)fprintf(out, "%s%s", i ? "; " : "", value ? value : "");
	}
	(void)fprintf(out, "\n\n| a sample with | program, ns | victim, ns | reader, ns | bytes |\n"
			   "|---|--:|--:|--:|--:|\n");
	for (size_t i = 0; i < ARRAY_SIZE(sampler_names); i++) {
		(void)fprintf(out, "| %s |", sampler_names[i]);
		for (size_t j = 0; j < ARRAY_SIZE(sampler_groups); j++)
			markdown_cell(out, results, sampler_groups[j], sampler_names[i]);
		(void)fprintf(out, "\n");
	}
	(void)fprintf(out, "\n| | median | spread | is to be |\n|---|--:|--:|--:|\n");
	for (size_t i = 0; i < n_bench_claims; i++)
		markdown_claim(out, results, &bench_claims[i]);
}

static bool is_time(const char *unit)
{
	static const char *const times[] = {"ns", "us", "ms", "s"};

	for (size_t i = 0; i < ARRAY_SIZE(times); i++)
		if (strcmp(unit, times[i]) == 0)
			return true;
	return false;
}

/*
 * Returns the factor by which the machine itself was slower in `b`, measured by a loop that never changes.
 * Returns 1 if the difference is within the spread.
 */
static double machine_change(const struct bench_results *a, const struct bench_results *b)
{
	const struct bench_result *was = bench_results_find(a, "machine/integer loop");
	const struct bench_result *is = bench_results_find(b, "machine/integer loop");
	struct bench_spread before, after;

	if (!was || !is)
		return 1;
	before = bench_spread_of(was->values, a->n_rounds, BENCH_LOWER);
	after = bench_spread_of(is->values, b->n_rounds, BENCH_LOWER);
	switch (bench_change_of(&before, &after, BENCH_LOWER)) {
	case BENCH_WORSE:
	case BENCH_IMPROVED:
		return after.median / before.median;
	default:
		return 1;
	}
}

/* Prints other possible causes of a difference. */
static void print_facts(FILE *out, const struct bench_results *a, const struct bench_results *b)
{
	static const char *const facts[] = {"machine", "kernel", "compilers", "peers"};

	for (size_t i = 0; i < ARRAY_SIZE(facts); i++) {
		const char *was = bench_results_fact(a, facts[i]), *is = bench_results_fact(b, facts[i]);

		if (was && is && strcmp(was, is) != 0)
			(void)fprintf(out, "not the same %s: A had %s, B had %s\n", facts[i], was, is);
	}
}

static void print_change(FILE *out, const char *what, const struct bench_result *result,
			 const struct bench_spread *before, const struct bench_spread *after)
{
	(void)fprintf(out, "%-8s %-12s %-" NAME_WIDTH "s ", what, result->group, result->name);
	print_spread(out, before);
	(void)fprintf(out, "to");
	print_spread(out, after);
	(void)fprintf(out, "%s, %+.1f %%\n", result->unit, 100 * (after->median / before->median - 1));
}

static void print_missing(FILE *out, const struct bench_results *from, const struct bench_results *in,
			  const char *which)
{
	for (size_t i = 0; i < from->n_results; i++) {
		const struct bench_result *result = &from->results[i];
		char key[256];

		(void)snprintf(key, sizeof(key), "%s/%s", result->group, result->name);
		if (!bench_results_find(in, key))
			(void)fprintf(out, "only %s %-12s %s\n", which, result->group, result->name);
	}
}

size_t bench_text_compare(FILE *out, const struct bench_results *a, const struct bench_results *b)
{
	size_t worse = 0, improved = 0, same = 0, unknown = 0;
	double machine = machine_change(a, b);

	print_facts(out, a, b);
	if (machine > 1 || machine < 1)
		(void)fprintf(
			out,
			"B's machine was %.1f %% %s by a loop of integers: its times are held against that\n",
			100 * fabs(machine - 1), machine > 1 ? "slower" : "faster");
	for (size_t i = 0; i < b->n_results; i++) {
		const struct bench_result *is = &b->results[i], *was;
		struct bench_spread before, after;
		char key[256];

		(void)snprintf(key, sizeof(key), "%s/%s", is->group, is->name);
		was = bench_results_find(a, key);
		if (!was || !was->unit || !is->unit || strcmp(was->unit, is->unit) != 0)
			continue;
		before = bench_result_spread(a, was);
		after = bench_result_spread(b, is);
		if (is_time(is->unit)) {
			after.median /= machine;
			after.low /= machine;
			after.high /= machine;
		}
		switch (bench_change_of(&before, &after, is->better)) {
		case BENCH_WORSE:
			worse++;
			print_change(out, "WORSE", is, &before, &after);
			break;
		case BENCH_IMPROVED:
			improved++;
			print_change(out, "better", is, &before, &after);
			break;
		case BENCH_SAME:
			same++;
			break;
		case BENCH_UNKNOWN:
			unknown++;
			break;
		}
	}
	print_missing(out, a, b, "A");
	print_missing(out, b, a, "B");
	(void)fprintf(out, "%zu worse, %zu better, %zu the same within the spread of both, %zu unknown\n",
		      worse, improved, same, unknown);
	return worse;
}

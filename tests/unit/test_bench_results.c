// SPDX-License-Identifier: GPL-2.0
/*
 * Results of the benchmarks: medians and spreads of the rounds, conversion to JSON and back, and changes
 * between two runs.
 */
#include <criterion/criterion.h>

#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/cleanup.h"
#include "bench_text.h"

static struct bench_spread spread_of(const double *values, size_t n)
{
	return bench_spread_of(values, n, BENCH_LOWER);
}

Test(bench_spread, the_worst_round_is_left_out)
{
	const double values[] = {5, 3, 900, 4, 6, 2, 7};
	struct bench_spread lower = spread_of(values, 7), higher;

	cr_expect_eq(lower.n, 7);
	cr_expect_eq(lower.median, 5);
	cr_expect_eq(lower.low, 2);
	cr_expect_eq(lower.high, 7);
	higher = bench_spread_of(values, 7, BENCH_HIGHER);
	cr_expect_eq(higher.low, 3);
	cr_expect_eq(higher.high, 900);
}

Test(bench_spread, few_rounds_leave_none_out_and_missing_ones_do_not_count)
{
	const double values[] = {NAN, 4, 1, NAN, 3, 2};
	struct bench_spread spread = spread_of(values, 6), none = spread_of(values, 1);

	cr_expect_eq(spread.n, 4);
	cr_expect_eq(spread.median, 2.5);
	cr_expect_eq(spread.low, 1);
	cr_expect_eq(spread.high, 4);
	cr_expect_eq(none.n, 0);
	cr_expect(isnan(none.median) && isnan(none.low) && isnan(none.high));
}

static enum bench_change change(const double *a, const double *b, size_t n, enum bench_better better)
{
	struct bench_spread before = bench_spread_of(a, n, better), after = bench_spread_of(b, n, better);

	return bench_change_of(&before, &after, better);
}

Test(bench_spread, a_change_is_beyond_both_spreads)
{
	const double base[] = {100, 101, 102, 103, 200}, near[] = {103, 104, 105, 106, 300};
	const double far[] = {108, 109, 110, 111, 112}, few[] = {200, 201, 202};

	cr_expect_eq(change(base, base, 5, BENCH_LOWER), BENCH_SAME);
	cr_expect_eq(change(base, near, 5, BENCH_LOWER), BENCH_SAME, "103 is in both");
	cr_expect_eq(change(base, far, 5, BENCH_LOWER), BENCH_WORSE);
	cr_expect_eq(change(far, base, 5, BENCH_LOWER), BENCH_IMPROVED);
	cr_expect_eq(change(far, few, 3, BENCH_LOWER), BENCH_UNKNOWN, "three rounds prove nothing");
	cr_expect_eq(change(base, far, 5, BENCH_NEITHER), BENCH_UNKNOWN);
}

Test(bench_spread, if_higher_is_better_a_lower_value_is_worse)
{
	const double base[] = {2.0, 1.9, 1.95, 0.4, 1.92}, worse[] = {1.1, 1.0, 1.2, 0.2, 1.05};

	cr_expect_eq(change(base, worse, 5, BENCH_HIGHER), BENCH_WORSE);
	cr_expect_eq(change(worse, base, 5, BENCH_HIGHER), BENCH_IMPROVED);
}

Test(bench_spread, a_change_within_the_spread_is_not_a_change)
{
	const double base[] = {1000, 1000, 1000, 1000, 1000}, above[] = {1020, 1020, 1020, 1020, 1020};

	cr_expect_eq(change(base, above, 5, BENCH_LOWER), BENCH_SAME);
}

static int read_text(const char *text, struct bench_results *ret, size_t *line)
{
	_cleanup_fclose_ FILE *file = fmemopen((char *)text, strlen(text), "r");

	cr_assert_not_null(file);
	return bench_results_read_lines(file, ret, line);
}

#define VALUE(group, name, value) \
	"{\"group\": \"" group "\", \"name\": \"" name "\", \"unit\": \"ns\", \"value\": " #value "}\n"
#define ROUND(number) "{\"round\": " #number "}\n"

Test(bench_results, results_are_unchanged_by_json)
{
	_cleanup_(bench_results_done) struct bench_results read = {0}, parsed = {0};
	const struct bench_result *result;
	json_object *json;
	size_t line;
	const char *text;

	cr_assert_eq(read_text("{\"fact\": \"kernel\", \"value\": \"6.18\"}\n" ROUND(1) VALUE("body", "a", 4)
				       ROUND(2) VALUE("body", "b", 7.25) ROUND(3)
					       VALUE("body", "a", 6) "{\"group\": \"body\", \"name\": \"c\", "
								     "\"left_out\": \"not here\"}\n"
								     "{\"group\": \"two\", \"name\": \"d\", "
								     "\"unit\": \"ratio\", \"value\": 2, "
								     "\"better\": \"higher\"}\n",
			       &read, &line),
		     0);
	json = bench_results_json(&read);
	text = json_object_to_json_string(json);
	cr_assert_eq(bench_results_parse(text, strlen(text), &parsed), 0, "%s", text);
	json_object_put(json);

	cr_expect_str_eq(bench_results_fact(&parsed, "kernel"), "6.18");
	cr_expect_eq(parsed.n_rounds, 3);
	cr_assert_eq(parsed.n_results, 4);
	result = bench_results_find(&parsed, "body/a");
	cr_assert_not_null(result);
	cr_expect_str_eq(result->unit, "ns");
	cr_expect_eq(result->values[0], 4);
	cr_expect(isnan(result->values[1]));
	cr_expect_eq(result->values[2], 6);
	cr_expect_eq(bench_results_find(&parsed, "body/b")->values[1], 7.25);
	cr_expect_str_eq(bench_results_find(&parsed, "body/c")->left_out, "not here");
	cr_expect_eq(bench_results_find(&parsed, "two/d")->better, BENCH_HIGHER);
	cr_expect_null(bench_results_find(&parsed, "body/d"));
}

Test(bench_results, an_invalid_line_is_named)
{
	static const char *const wrong[] = {
		"what is that\n",
		"{\"round\": 0}\n",
		"{\"group\": \"a\", \"name\": \"b\", \"value\": 1}\n",
		"{\"group\": \"a\", \"name\": \"b\", \"unit\": \"ns\"}\n",
		"{\"group\": \"a/b\", \"name\": \"b\", \"unit\": \"ns\", \"value\": 1}\n",
		"{\"group\": \"a\", \"name\": \"b\", \"unit\": \"ns\", \"value\": 1, \"better\": \"no\"}\n",
		VALUE("a", "twice", 1),
	};

	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		_cleanup_(bench_results_done) struct bench_results results = {0};
		_cleanup_free_ char *text = NULL;
		size_t line = 0;

		cr_assert_geq(asprintf(&text, ROUND(1) VALUE("a", "twice", 1) "%s", wrong[i]), 0);
		cr_expect_eq(read_text(text, &results, &line), -EBADMSG, "%s", wrong[i]);
		cr_expect_eq(line, 3, "%s", wrong[i]);
	}
}

Test(bench_results, a_value_before_the_first_round_is_refused)
{
	_cleanup_(bench_results_done) struct bench_results results = {0};
	size_t line;

	cr_expect_eq(read_text(VALUE("a", "b", 1), &results, &line), -EBADMSG);
}

Test(bench_claims, claims_use_values_of_one_round)
{
	static const struct bench_claim claim = {
		.name = "r", .over = {"a/x"}, .under = {"a/y", "a/z"}, .at_most = 0.5};
	_cleanup_(bench_results_done) struct bench_results results = {0};
	const struct bench_result *ratio;
	size_t line;

	cr_assert_eq(read_text(ROUND(1) VALUE("a", "x", 1) VALUE("a", "y", 1) VALUE("a", "z", 3) ROUND(2)
				       VALUE("a", "x", 3) VALUE("a", "y", 2) VALUE("a", "z", 2) ROUND(3)
					       VALUE("a", "x", 3),
			       &results, &line),
		     0);
	cr_assert_eq(bench_claims_add(&claim, 1, &results), 0);
	ratio = bench_claim_result(&claim, &results);
	cr_assert_not_null(ratio);
	cr_expect_eq(ratio->values[0], 0.25);
	cr_expect_eq(ratio->values[1], 0.75);
	cr_expect(isnan(ratio->values[2]), "a part of it is lacking");
	cr_expect(bench_claim_holds(&claim, 0.5));
	cr_expect_not(bench_claim_holds(&claim, 0.51));
}

/*
 * Seven rounds of two results. `second` and `loop` are the values of the second result and of the machine's
 * loop.
 */
static void make_run(struct bench_results *ret, double second, double loop)
{
	_cleanup_free_ char *text = NULL;
	size_t size, line;
	FILE *file = open_memstream(&text, &size);

	for (int round = 1; round <= 7; round++) {
		double noise = 1 + 0.01 * (round % 3);

		(void)fprintf(file, ROUND(% d), round);
		(void)fprintf(file, VALUE("a", "first", % g), 40 * noise * loop / 5);
		(void)fprintf(file, VALUE("a", "second", % g), second * noise);
		(void)fprintf(file, VALUE("machine", "integer loop", % g), loop * noise);
	}
	(void)fclose(file);
	cr_assert_eq(read_text(text, ret, &line), 0);
}

static size_t compared(double second, double loop, char **ret_text)
{
	_cleanup_(bench_results_done) struct bench_results a = {0}, b = {0};
	size_t size, worse;
	FILE *file = open_memstream(ret_text, &size);

	make_run(&a, 100, 5);
	make_run(&b, second, loop);
	worse = bench_text_compare(file, &a, &b);
	(void)fclose(file);
	return worse;
}

Test(bench_compare, finds_a_planted_regression_and_none_in_equal_runs)
{
	_cleanup_free_ char *text = NULL;

	cr_expect_eq(compared(100, 5, &text), 0, "%s", text);
	free(text);
	cr_expect_eq(compared(110, 5, &text), 1, "%s", text);
	cr_expect_not_null(strstr(text, "WORSE    a            second"), "%s", text);
	cr_expect_null(strstr(text, "first"), "%s", text);
	free(text);
	cr_expect_eq(compared(90, 5, &text), 0, "%s", text);
	cr_expect_not_null(strstr(text, "better   a            second"), "%s", text);
}

Test(bench_compare, a_slower_machine_is_not_a_regression)
{
	_cleanup_free_ char *text = NULL;

	cr_expect_eq(compared(120, 6, &text), 0, "%s", text);
	cr_expect_not_null(strstr(text, "B's machine was 20.0 % slower"), "%s", text);
	free(text);
	cr_expect_eq(compared(150, 6, &text), 1, "worse than the machine alone explains: %s", text);
}

#define FACT(name, value) "{\"fact\": \"" name "\", \"value\": \"" value "\"}\n"

Test(bench_compare, other_differences_are_listed)
{
	_cleanup_(bench_results_done) struct bench_results a = {0}, b = {0};
	_cleanup_free_ char *text = NULL;
	size_t size, line;
	FILE *file = open_memstream(&text, &size);

	cr_assert_eq(read_text(FACT("machine", "one") FACT("kernel", "6.1") ROUND(1), &a, &line), 0);
	cr_assert_eq(read_text(FACT("machine", "other") FACT("kernel", "6.1") ROUND(1), &b, &line), 0);
	cr_expect_eq(bench_text_compare(file, &a, &b), 0);
	(void)fclose(file);
	cr_expect_not_null(strstr(text, "not the same machine: A had one, B had other\n"), "%s", text);
	cr_expect_null(strstr(text, "kernel"), "%s", text);
}

static void expect_in(const struct bench_results *results,
		      void (*print)(FILE *out, const struct bench_results *results), const char *wanted)
{
	_cleanup_free_ char *text = NULL;
	size_t size;
	FILE *file = open_memstream(&text, &size);

	print(file, results);
	(void)fclose(file);
	cr_expect_not_null(strstr(text, wanted), "%s\nlacks %s", text, wanted);
}

/* Limits are described in words, with the unit of the result. */
Test(bench_text, limits_have_units)
{
	_cleanup_(bench_results_done) struct bench_results results = {0};
	size_t line;

	cr_assert_eq(
		read_text(ROUND(1) "{\"group\": \"start\", \"name\": \"1,000 cgroups, to the first sample "
				   "accounted\", \"unit\": \"ms\", \"value\": 1234.5}\n",
			  &results, &line),
		0);
	expect_in(
		&results, bench_text_markdown,
		"| start to the first sample accounted, with 1,000 cgroups | 1,235 ms | 1,235 to 1,235 | at most 150 ms |\n");
	expect_in(
		&results, bench_text_table,
		"  start to the first sample accounted, with 1,000 cgroups                 1,235 ms     at most 150 ms: DOES NOT HOLD\n");
	expect_in(&results, bench_text_markdown,
		  "| a collection of 1,000 idle cgroups | – | – | at most 1,000 |\n");
}

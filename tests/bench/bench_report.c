// SPDX-License-Identifier: GPL-2.0
/*
 * Summarizes the values of the rounds of `make bench`.
 *   bench_report make <LINES >FILE.json
 *   bench_report table FILE.json
 *   bench_report markdown FILE.json
 *   bench_report compare A.json B.json    exits with 1 if something is worse in B
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/text_file.h"
#include "bench_text.h"

static int usage(void)
{
	(void)fprintf(stderr, "usage: bench_report make <LINES | table FILE | markdown FILE | compare A B\n");
	return 2;
}

static int make(void)
{
	_cleanup_(bench_results_done) struct bench_results results = {0};
	json_object *json;
	size_t line = 0;
	int r;

	r = bench_results_read_lines(stdin, &results, &line);
	if (r == -EBADMSG) {
		(void)fprintf(stderr, "bench_report: line %zu is not a result (tests/lib/bench_results.h)\n",
			      line);
		return 1;
	}
	if (r == 0)
		r = bench_claims_add(bench_claims, n_bench_claims, &results);
	if (r < 0) {
		(void)fprintf(stderr, "bench_report: %s\n", strerror(-r));
		return 1;
	}
	json = bench_results_json(&results);
	(void)printf("%s\n",
		     json_object_to_json_string_ext(json, JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_SPACED |
								  JSON_C_TO_STRING_NOSLASHESCAPE));
	json_object_put(json);
	return 0;
}

static int load(const char *path, struct bench_results *ret)
{
	_cleanup_free_ char *text = NULL;
	int r;

	r = text_file_read(path, &text);
	if (r == 0)
		r = bench_results_parse(text, strlen(text), ret);
	if (r < 0)
		(void)fprintf(stderr, "bench_report: %s: %s%s\n", path,
			      r == -EBADMSG ? "not what bench_report make wrote" : strerror(-r),
			      r == -ENOENT ? "; run `make bench` at that commit" : "");
	return r;
}

static int compare(const char *a, const char *b)
{
	_cleanup_(bench_results_done) struct bench_results before = {0};
	_cleanup_(bench_results_done) struct bench_results after = {0};

	if (load(a, &before) < 0 || load(b, &after) < 0)
		return 2;
	return bench_text_compare(stdout, &before, &after) > 0;
}

static int show(const char *path, void (*print)(FILE *out, const struct bench_results *results))
{
	_cleanup_(bench_results_done) struct bench_results results = {0};

	if (load(path, &results) < 0)
		return 1;
	print(stdout, &results);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 2 && strcmp(argv[1], "make") == 0)
		return make();
	if (argc == 3 && strcmp(argv[1], "table") == 0)
		return show(argv[2], bench_text_table);
	if (argc == 3 && strcmp(argv[1], "markdown") == 0)
		return show(argv[2], bench_text_markdown);
	if (argc == 4 && strcmp(argv[1], "compare") == 0)
		return compare(argv[2], argv[3]);
	return usage();
}

// SPDX-License-Identifier: GPL-2.0
#include "bench_results.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_get.h"

#define DEPTH 8

static const char *const better_words[] = {
	[BENCH_LOWER] = "lower", [BENCH_HIGHER] = "higher", [BENCH_NEITHER] = "neither"};

void bench_results_done(struct bench_results *results)
{
	for (size_t i = 0; i < results->n_facts; i++) {
		free(results->facts[i].name);
		free(results->facts[i].value);
	}
	for (size_t i = 0; i < results->n_results; i++) {
		struct bench_result *result = &results->results[i];

		free(result->group);
		free(result->name);
		free(result->unit);
		free(result->left_out);
		free(result->values);
	}
	free(results->facts);
	free(results->results);
	*results = (struct bench_results){0};
}

static int set_text(char **place, const char *text)
{
	char *copy = strdup(text);

	if (!copy)
		return -ENOMEM;
	free(*place);
	*place = copy;
	return 0;
}

static struct bench_result *find(const struct bench_results *results, const char *group, size_t length,
				 const char *name)
{
	for (size_t i = 0; i < results->n_results; i++) {
		struct bench_result *result = &results->results[i];

		if (strlen(result->group) == length && memcmp(result->group, group, length) == 0 &&
		    strcmp(result->name, name) == 0)
			return result;
	}
	return NULL;
}

const struct bench_result *bench_results_find(const struct bench_results *results, const char *key)
{
	const char *slash = strchr(key, '/');

	return slash ? find(results, key, (size_t)(slash - key), slash + 1) : NULL;
}

struct bench_result *bench_results_make(struct bench_results *results, const char *group, const char *name)
{
	struct bench_result *ret = find(results, group, strlen(group), name), *grown;

	if (ret)
		return ret;
	grown = reallocarray(results->results, results->n_results + 1, sizeof(*grown));
	if (!grown)
		return NULL;
	results->results = grown;
	ret = &grown[results->n_results];
	*ret = (struct bench_result){.group = strdup(group),
				     .name = strdup(name),
				     .values = calloc(BENCH_ROUNDS_MAX, sizeof(double))};
	results->n_results++;
	if (!ret->group || !ret->name || !ret->values)
		return NULL;
	for (size_t i = 0; i < BENCH_ROUNDS_MAX; i++)
		ret->values[i] = NAN;
	return ret;
}

const char *bench_results_fact(const struct bench_results *results, const char *name)
{
	for (size_t i = 0; i < results->n_facts; i++)
		if (strcmp(results->facts[i].name, name) == 0)
			return results->facts[i].value;
	return NULL;
}

/* A known fact is not replaced, because every round reports the facts again. */
static int add_fact(struct bench_results *results, const char *name, const char *value)
{
	struct bench_fact *grown;

	if (bench_results_fact(results, name))
		return 0;
	grown = reallocarray(results->facts, results->n_facts + 1, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	results->facts = grown;
	grown[results->n_facts] = (struct bench_fact){strdup(name), strdup(value)};
	results->n_facts++;
	return grown[results->n_facts - 1].name && grown[results->n_facts - 1].value ? 0 : -ENOMEM;
}

static int parse_better(const json_object *object, enum bench_better *ret)
{
	const char *word = json_get_text(object, "better");

	*ret = BENCH_LOWER;
	if (!word)
		return json_get(object, "better") ? -EBADMSG : 0;
	for (size_t i = 0; i < ARRAY_SIZE(better_words); i++)
		if (strcmp(word, better_words[i]) == 0) {
			*ret = (enum bench_better)i;
			return 0;
		}
	return -EBADMSG;
}

/* Reads all of a result except its value. */
static int read_result(struct bench_results *results, const json_object *object, struct bench_result **ret)
{
	const char *group = json_get_text(object, "group"), *name = json_get_text(object, "name");
	const char *unit = json_get_text(object, "unit"), *left_out = json_get_text(object, "left_out");
	int r;

	if (!group || !*group || strchr(group, '/') || !name || !*name || (!unit && !left_out))
		return -EBADMSG;
	*ret = bench_results_make(results, group, name);
	if (!*ret)
		return -ENOMEM;
	if ((*ret)->unit && unit && strcmp((*ret)->unit, unit) != 0)
		return -EBADMSG;
	r = parse_better(object, &(*ret)->better);
	if (r == 0 && unit)
		r = set_text(&(*ret)->unit, unit);
	if (r == 0 && left_out)
		r = set_text(&(*ret)->left_out, left_out);
	return r;
}

/* Two values in one round are an error, because only one can count. */
static int read_value(struct bench_results *results, const json_object *object, size_t round)
{
	struct bench_result *result;
	double value;
	int r;

	r = read_result(results, object, &result);
	if (r < 0 || !json_get_text(object, "unit"))
		return r;
	if (round == 0 || !json_get_double(object, "value", &value) || !isfinite(value) ||
	    isfinite(result->values[round - 1]))
		return -EBADMSG;
	result->values[round - 1] = value;
	return 0;
}

static int read_line(struct bench_results *results, const char *line, size_t *round)
{
	_cleanup_json_ json_object *object = NULL;
	const char *fact, *value;
	u64 number;
	int r;

	r = json_parse(line, strlen(line), DEPTH, &object);
	if (r < 0)
		return r;
	if (json_get_u64(object, "round", &number)) {
		if (number == 0 || number > BENCH_ROUNDS_MAX)
			return -EBADMSG;
		*round = (size_t)number;
		if (*round > results->n_rounds)
			results->n_rounds = *round;
		return 0;
	}
	fact = json_get_text(object, "fact");
	value = json_get_text(object, "value");
	if (fact)
		return value ? add_fact(results, fact, value) : -EBADMSG;
	return read_value(results, object, *round);
}

int bench_results_read_lines(FILE *file, struct bench_results *ret, size_t *ret_line)
{
	_cleanup_free_ char *line = NULL;
	size_t size = 0, round = 0;
	int r;

	*ret = (struct bench_results){0};
	for (*ret_line = 1; getline(&line, &size, file) >= 0; ++*ret_line) {
		r = read_line(ret, line, &round);
		if (r < 0)
			return r;
	}
	return ferror(file) ? -EIO : 0;
}

static int parse_result(struct bench_results *results, const json_object *object)
{
	const json_object *values = json_get_array(object, "values");
	struct bench_result *result;
	int r;

	r = read_result(results, object, &result);
	if (r < 0)
		return r;
	if (!result->unit)
		return 0;
	if (!values || json_object_array_length(values) != results->n_rounds)
		return -EBADMSG;
	for (size_t i = 0; i < results->n_rounds; i++) {
		json_object *value = json_object_array_get_idx(values, i);

		if (!value)
			continue;
		if (!json_object_is_type(value, json_type_double) &&
		    !json_object_is_type(value, json_type_int))
			return -EBADMSG;
		result->values[i] = json_object_get_double(value);
	}
	return 0;
}

int bench_results_parse(const char *text, size_t length, struct bench_results *ret)
{
	_cleanup_json_ json_object *root = NULL;
	const json_object *facts, *results;
	u64 rounds;
	int r;

	*ret = (struct bench_results){0};
	r = json_parse(text, length, DEPTH, &root);
	if (r < 0)
		return r;
	facts = json_get_object(root, "facts");
	results = json_get_array(root, "results");
	if (!facts || !results || !json_get_u64(root, "rounds", &rounds) || rounds > BENCH_ROUNDS_MAX)
		return -EBADMSG;
	ret->n_rounds = (size_t)rounds;
	json_object_object_foreach (facts, name, value) {
		if (!json_object_is_type(value, json_type_string))
			return -EBADMSG;
		r = add_fact(ret, name, json_object_get_string(value));
		if (r < 0)
			return r;
	}
	for (size_t i = 0; i < json_object_array_length(results); i++) {
		r = parse_result(ret, json_object_array_get_idx(results, i));
		if (r < 0)
			return r;
	}
	return 0;
}

struct bench_spread bench_result_spread(const struct bench_results *results,
					const struct bench_result *result)
{
	return bench_spread_of(result->values, results->n_rounds, result->better);
}

static json_object *number(double value)
{
	/* Six digits: no measurement here is more precise. */
	char text[32];

	if (!isfinite(value))
		return NULL;
	(void)snprintf(text, sizeof(text), "%.6g", value);
	return json_object_new_double_s(value, text);
}

static void add_text(json_object *object, const char *key, const char *text)
{
	(void)json_object_object_add(object, key, json_object_new_string(text));
}

static json_object *result_json(const struct bench_results *results, const struct bench_result *result)
{
	json_object *ret = json_object_new_object(), *values = json_object_new_array();
	struct bench_spread spread = bench_result_spread(results, result);

	add_text(ret, "group", result->group);
	add_text(ret, "name", result->name);
	if (result->left_out)
		add_text(ret, "left_out", result->left_out);
	if (!result->unit) {
		json_object_put(values);
		return ret;
	}
	add_text(ret, "unit", result->unit);
	add_text(ret, "better", better_words[result->better]);
	(void)json_object_object_add(ret, "median", number(spread.median));
	(void)json_object_object_add(ret, "low", number(spread.low));
	(void)json_object_object_add(ret, "high", number(spread.high));
	for (size_t i = 0; i < results->n_rounds; i++)
		(void)json_object_array_add(values, number(result->values[i]));
	(void)json_object_object_add(ret, "values", values);
	return ret;
}

json_object *bench_results_json(const struct bench_results *results)
{
	json_object *ret = json_object_new_object(), *facts = json_object_new_object();
	json_object *all = json_object_new_array();

	for (size_t i = 0; i < results->n_facts; i++)
		add_text(facts, results->facts[i].name, results->facts[i].value);
	for (size_t i = 0; i < results->n_results; i++)
		(void)json_object_array_add(all, result_json(results, &results->results[i]));
	(void)json_object_object_add(ret, "rounds", json_object_new_int64((int64_t)results->n_rounds));
	(void)json_object_object_add(ret, "facts", facts);
	(void)json_object_object_add(ret, "results", all);
	return ret;
}

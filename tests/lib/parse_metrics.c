// SPDX-License-Identifier: GPL-2.0
#include "parse_metrics.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "base/cleanup.h"

#define NAME_MAX_LENGTH   128
#define FAMILIES_MAX      128
#define LABELS_MAX        16
#define LABELS_MAX_LENGTH 16384
#define LINE_MAX_LENGTH   20000

struct labels {
	char names[LABELS_MAX][NAME_MAX_LENGTH];
	size_t n;
	char le[64];                  /* "": there is none */
	char rest[LABELS_MAX_LENGTH]; /* all labels except le */
};

struct parser {
	bool openmetrics;
	struct metrics *metrics;
	struct labels labels;                         /* of the current sample */
	char families[FAMILIES_MAX][NAME_MAX_LENGTH]; /* all so far; the last is the current one */
	size_t n_families;
	char type[32];  /* of the current family; "" before its TYPE */
	size_t samples; /* in the current family */
	/* The current histogram. */
	char histogram[LABELS_MAX_LENGTH]; /* its labels without le */
	double last_edge, last_count;
	bool in_histogram, has_infinity, has_sum;
};

static bool ends_with(const char *text, const char *end)
{
	size_t length = strlen(text);

	return length >= strlen(end) && strcmp(text + length - strlen(end), end) == 0;
}

static size_t name_length(const char *text)
{
	size_t length = 0;

	while (isalnum((unsigned char)text[length]) || text[length] == '_')
		length++;
	return isdigit((unsigned char)text[0]) ? 0 : length;
}

static const char *current(const struct parser *parser)
{
	return parser->n_families ? parser->families[parser->n_families - 1] : "";
}

static const char *end_histogram(struct parser *parser)
{
	bool open = parser->in_histogram;

	parser->in_histogram = false;
	return open ? "a histogram without its _count" : NULL;
}

static const char *parse_help(struct parser *parser, const char *line)
{
	size_t length = name_length(line);
	const char *mistake = end_histogram(parser);

	if (mistake)
		return mistake;
	if (length == 0 || length >= NAME_MAX_LENGTH || line[length] != ' ' || !line[length + 1])
		return "HELP without name or text";
	if (parser->n_families && (!parser->type[0] || !parser->samples))
		return "the family before has no TYPE or no samples";
	for (size_t i = 0; i < parser->n_families; i++)
		if (strlen(parser->families[i]) == length && !strncmp(parser->families[i], line, length))
			return "the family was there before";
	if (parser->n_families == FAMILIES_MAX)
		return "too many families";
	(void)snprintf(parser->families[parser->n_families++], NAME_MAX_LENGTH, "%.*s", (int)length, line);
	parser->type[0] = '\0';
	parser->samples = 0;
	return NULL;
}

static const char *parse_type(struct parser *parser, const char *line)
{
	static const char *const types[] = {"counter", "gauge", "histogram", "summary", "info"};
	size_t length = name_length(line);

	if (strlen(current(parser)) != length || strncmp(current(parser), line, length) != 0 ||
	    line[length] != ' ')
		return "TYPE does not follow its HELP";
	if (parser->type[0])
		return "a second TYPE";
	for (size_t i = 0; i < ARRAY_SIZE(types); i++)
		if (strcmp(line + length + 1, types[i]) == 0)
			(void)snprintf(parser->type, sizeof(parser->type), "%s", types[i]);
	if (!parser->type[0] || (!strcmp(parser->type, "info") && !parser->openmetrics))
		return "a TYPE that does not exist";
	if (strcmp(parser->type, "counter") == 0 &&
	    ends_with(current(parser), "_total") == parser->openmetrics)
		return "a counter's family, wrongly with or without _total";
	if (strcmp(parser->type, "info") == 0 && ends_with(current(parser), "_info"))
		return "an info's family with _info";
	return NULL;
}

/* Returns the part of `name` after the family's name, or NULL if the name does not belong to the family. */
static const char *suffix_of(const struct parser *parser, const char *name)
{
	const char *family = current(parser);

	return strncmp(name, family, strlen(family)) == 0 ? name + strlen(family) : NULL;
}

static bool goes_with_type(const struct parser *parser, const char *suffix)
{
	if (strcmp(parser->type, "counter") == 0)
		return strcmp(suffix, parser->openmetrics ? "_total" : "") == 0;
	if (strcmp(parser->type, "histogram") == 0)
		return !strcmp(suffix, "_bucket") || !strcmp(suffix, "_sum") || !strcmp(suffix, "_count");
	if (strcmp(parser->type, "summary") == 0)
		return !strcmp(suffix, "_sum") || !strcmp(suffix, "_count");
	return strcmp(suffix, strcmp(parser->type, "info") == 0 ? "_info" : "") == 0;
}

/* Reads the labels from the byte after the opening brace on. `*ret_end` is the byte after the closing one. */
static const char *parse_labels(const char *at, struct labels *labels, const char **ret_end)
{
	mbstate_t state = {0};

	while (*at != '}') {
		size_t length = name_length(at);
		const char *start = at;
		const char *value;

		if (labels->n && at[-1] != ',')
			return "labels without a comma between them";
		if (length == 0 || length >= NAME_MAX_LENGTH || at[length] != '=' || at[length + 1] != '"' ||
		    labels->n == LABELS_MAX)
			return "a bad label";
		(void)snprintf(labels->names[labels->n], NAME_MAX_LENGTH, "%.*s", (int)length, at);
		for (size_t i = 0; i < labels->n; i++)
			if (strcmp(labels->names[i], labels->names[labels->n]) == 0)
				return "a label that is there twice";
		at += length + 2;
		for (value = at; *at != '"'; at++) {
			if (!*at)
				return "a label's value without end";
			if (*at == '\\' && !strchr("\\\"n", *++at))
				return "an escape that does not exist";
		}
		if (strcmp(labels->names[labels->n], "le") == 0)
			(void)snprintf(labels->le, sizeof(labels->le), "%.*s", (int)(at - value), value);
		else
			(void)snprintf(labels->rest + strlen(labels->rest),
				       LABELS_MAX_LENGTH - strlen(labels->rest), "%.*s,",
				       (int)(at + 1 - start), start);
		for (const char *c = value; c < at;) {
			size_t bytes = mbrlen(c, (size_t)(at - c), &state);

			if (bytes == 0 || bytes > (size_t)(at - c))
				return "a label that is not UTF-8";
			c += bytes;
		}
		labels->n++;
		at++;
		if (*at == ',')
			at++;
	}
	*ret_end = at + 1;
	return at[-1] == ',' ? "a comma before the brace" : NULL;
}

static const char *check_histogram(struct parser *parser, const char *suffix, const struct labels *labels,
				   double value)
{
	char *end;
	double edge;

	if (!parser->in_histogram) {
		parser->in_histogram = true;
		(void)snprintf(parser->histogram, sizeof(parser->histogram), "%s", labels->rest);
		parser->last_edge = parser->last_count = -1;
		parser->has_infinity = parser->has_sum = false;
	} else if (strcmp(parser->histogram, labels->rest) != 0)
		return "a histogram's samples are not in one piece";
	if (strcmp(suffix, "_bucket") == 0) {
		edge = strtod(labels->le, &end);
		if (!labels->le[0] || *end || edge <= parser->last_edge || parser->has_infinity)
			return "a bucket without an le above the one before";
		if (strcmp(labels->le, "+Inf") != 0 && !strchr(labels->le, '.'))
			return "an le that is not an OpenMetrics float";
		if (value < parser->last_count)
			return "a bucket below the one before";
		parser->last_edge = edge;
		parser->last_count = value;
		parser->has_infinity = strcmp(labels->le, "+Inf") == 0;
		return NULL;
	}
	if (labels->le[0] || !parser->has_infinity)
		return "a sum or count before the buckets end";
	if (strcmp(suffix, "_sum") == 0) {
		parser->has_sum = true;
		return NULL;
	}
	if (!parser->has_sum || value != parser->last_count)
		return "a count without a sum, or not that of +Inf";
	parser->in_histogram = false;
	return NULL;
}

static const char *add(struct parser *parser, const char *line, size_t length, const char *value)
{
	struct metrics *metrics = parser->metrics;
	struct parsed_metric *list = reallocarray(metrics->list, metrics->n + 1, sizeof(*list));
	struct parsed_metric *metric;

	if (!list)
		return "no memory";
	metrics->list = list;
	metric = &list[metrics->n++];
	metric->series = strndup(line, length);
	metric->value = strdup(value);
	if (!metric->series || !metric->value)
		return "no memory";
	for (size_t i = 0; i + 1 < metrics->n; i++)
		if (strcmp(list[i].series, metric->series) == 0)
			return "a series that is there twice";
	parser->samples++;
	return NULL;
}

static const char *parse_sample(struct parser *parser, const char *line)
{
	size_t length = name_length(line);
	char name[NAME_MAX_LENGTH];
	struct labels *labels = &parser->labels;
	const char *at = line + length;
	const char *mistake, *suffix;
	char *end;
	double value;

	memset(labels, 0, sizeof(*labels));
	if (length == 0 || length >= sizeof(name))
		return "no name";
	(void)snprintf(name, sizeof(name), "%.*s", (int)length, line);
	suffix = suffix_of(parser, name);
	if (!parser->type[0] || !suffix || !goes_with_type(parser, suffix))
		return "a name that is not of the family before it";
	if (*at == '{') {
		mistake = parse_labels(at + 1, labels, &at);
		if (mistake)
			return mistake;
	}
	if (*at != ' ' || !at[1] || isspace((unsigned char)at[1]))
		return "no value";
	value = strtod(at + 1, &end);
	if (*end || value != value)
		return "a value that is not a number";
	if (strcmp(parser->type, "gauge") != 0 && value < 0)
		return "a negative counter";
	if (strcmp(parser->type, "histogram") == 0) {
		mistake = check_histogram(parser, suffix, labels, value);
		if (mistake)
			return mistake;
	} else if (labels->le[0])
		return "an le outside of a histogram";
	return add(parser, line, (size_t)(at - line), at + 1);
}

static const char *parse_line(struct parser *parser, const char *line)
{
	if (strncmp(line, "# HELP ", 7) == 0)
		return parse_help(parser, line + 7);
	if (strncmp(line, "# TYPE ", 7) == 0)
		return parse_type(parser, line + 7);
	if (line[0] == '#' || line[0] == '\0')
		return "a line that is neither HELP, TYPE nor sample";
	return parse_sample(parser, line);
}

const char *metrics_parse(const char *text, bool openmetrics, struct metrics *ret, char mistake[256])
{
	struct parser parser = {.openmetrics = openmetrics, .metrics = ret};
	const char *what = NULL;
	char line[LINE_MAX_LENGTH];
	bool ended = false;
	size_t number = 0;

	*ret = (struct metrics){0};
	while (!what && *text) {
		size_t length = strcspn(text, "\n");

		number++;
		if (text[length] != '\n' || length >= sizeof(line)) {
			what = "a line without end";
			break;
		}
		memcpy(line, text, length);
		line[length] = '\0';
		text += length + 1;
		if (ended)
			what = "something behind the end";
		else if (openmetrics && strcmp(line, "# EOF") == 0) {
			what = end_histogram(&parser);
			ended = true;
		} else
			what = parse_line(&parser, line);
	}
	if (!what && openmetrics && !ended)
		what = "no # EOF";
	if (!what && !openmetrics)
		what = end_histogram(&parser);
	if (!what)
		return NULL;
	(void)snprintf(mistake, 256, "line %zu: %s", number, what);
	return mistake;
}

void metrics_free(struct metrics *metrics)
{
	for (size_t i = 0; i < metrics->n; i++) {
		free(metrics->list[i].series);
		free(metrics->list[i].value);
	}
	free(metrics->list);
	*metrics = (struct metrics){0};
}

const char *metrics_value(const struct metrics *metrics, const char *series)
{
	for (size_t i = 0; i < metrics->n; i++)
		if (strcmp(metrics->list[i].series, series) == 0)
			return metrics->list[i].value;
	return NULL;
}

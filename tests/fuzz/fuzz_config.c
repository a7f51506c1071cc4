// SPDX-License-Identifier: GPL-2.0
/*
 * Any bytes as a configuration file. Whatever the input is, each value must stay within the range of its key:
 * a mistake does not change the value.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "config/config.h"
#include "config/config_file.h"
#include "config/config_keys.h"
#include "config/config_rules.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_numbers(const struct config *config)
{
	const struct config_key *keys;
	size_t n;

	keys = config_keys(&n);
	for (size_t i = 0; i < n; i++) {
		u64 value;

		if (keys[i].type != CONFIG_KEY_NUMBER && keys[i].type != CONFIG_KEY_DURATION)
			continue;
		memcpy(&value, (const char *)config + keys[i].offset, sizeof(value));
		if ((value < keys[i].min || value > keys[i].max) &&
		    !(keys[i].has_auto && value == keys[i].auto_value))
			abort();
	}
}

/* Checks the values of a rule that its decisions depend on. */
static void check_rule(const struct config *config, const struct rule *rule)
{
	const struct limits limits = rule_limits(rule, rule->threshold);
	char metric[METRIC_TEXT_MAX];
	struct metric again;

	metric_format(&rule->metric, metric);
	if (config_rule_name_problem(rule->name) || rule->n_patterns == 0 || metric_parse(metric, &again) < 0)
		abort();
	if (!(rule->threshold > 0) || !(rule->clear > 0) || !(limits.threshold > 0) || !(limits.clear > 0))
		abort();
	if (rule->below ? limits.clear < limits.threshold : limits.clear > limits.threshold)
		abort();
	if (rule->min_samples < rule_needs_samples(rule) || rule->window_ns < config->interval_ns)
		abort();
	if (!(rule->confidence >= 0.5) || !(rule->confidence <= 0.9999) || !rule->actions || !*rule->severity)
		abort();
	(void)rule_matches(rule, "/system.slice/nginx.service");
	(void)rule_mean_cap(rule, &limits);
}

static void check_rules(const struct config *config)
{
	struct rule *copies;

	for (size_t i = 0; i < config->n_rules; i++)
		check_rule(config, &config->rules[i]);
	if (rules_copy(config->rules, config->n_rules, &copies) < 0)
		return;
	for (size_t i = 0; i < config->n_rules; i++)
		if (rule_fingerprint(&copies[i]) != rule_fingerprint(&config->rules[i]))
			abort();
	(void)rules_free(copies, config->n_rules);
}

/* A byte 0xff, which no file may contain, starts a second file. It may override values of the first file. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *second = size ? memchr(data, 0xff, size) : NULL;
	size_t first_size = second ? (size_t)(second - data) : size;
	_cleanup_(config_mistakes_clear) struct config_mistakes mistakes = {0};
	_cleanup_(config_freep) struct config *config = NULL;
	unsigned int lines = 1;

	if (config_new(&config) < 0)
		return 0;
	for (size_t i = 0; i < size; i++)
		lines += data[i] == '\n';
	if (config_file_parse("fuzz", (const char *)data, first_size, config, &mistakes) < 0)
		abort();
	if (second && config_file_parse("fuzz2", (const char *)second + 1, size - first_size - 1, config,
					&mistakes) < 0)
		abort();
	if (config_rules_finish(config, &mistakes) < 0)
		abort();
	check_rules(config);
	check_numbers(config);
	(void)config_exports(config, "/system.slice/nginx.service");
	(void)config_exports(config, "comm:kworker/0:1");
	for (size_t i = 0; i < mistakes.n; i++)
		if (mistakes.list[i].line < 1 || mistakes.list[i].line > lines ||
		    strpbrk(mistakes.list[i].message, "\n\r\x1b"))
			abort();
	return 0;
}

// SPDX-License-Identifier: GPL-2.0
#include "config/config_rules.h"

#include <errno.h>
#include <string.h>

#include "policy/nanoseconds.h"

struct config_rules {
	struct config_rule_draft **drafts;
	size_t n;
	struct config_rule_draft *refused; /* the last refused draft */
	char **files;                      /* the last one is being read */
	unsigned int n_files;
};

static struct config_rule_draft *draft_free(struct config_rule_draft *draft)
{
	if (!draft)
		return NULL;
	for (size_t i = 0; i < RULE_KEYS; i++)
		free(draft->keys[i].text);
	for (size_t i = 0; i < draft->rule.n_patterns; i++)
		free(draft->rule.patterns[i]);
	free(draft->rule.patterns);
	free(draft);
	return NULL;
}

DEFINE_CLEANUP(struct config_rule_draft *, draft_free)

struct config_rules *config_rules_free(struct config_rules *rules)
{
	if (!rules)
		return NULL;
	for (size_t i = 0; i < rules->n; i++)
		(void)draft_free(rules->drafts[i]);
	for (unsigned int i = 0; i < rules->n_files; i++)
		free(rules->files[i]);
	(void)draft_free(rules->refused);
	free(rules->drafts);
	free(rules->files);
	free(rules);
	return NULL;
}

int config_rules_file(struct config *config, const char *file)
{
	struct config_rules *rules = config->reading;
	char **files;

	if (!rules)
		rules = config->reading = calloc(1, sizeof(*rules));
	if (!rules)
		return -ENOMEM;
	files = reallocarray(rules->files, rules->n_files + 1, sizeof(*files));
	if (!files)
		return -ENOMEM;
	rules->files = files;
	files[rules->n_files] = strdup(file);
	if (!files[rules->n_files])
		return -ENOMEM;
	rules->n_files++;
	return 0;
}

static struct config_place place_of(const struct config_rules *rules, unsigned int line)
{
	return (struct config_place){.file = rules->files[rules->n_files - 1], .line = line};
}

/* Makes a draft with the defaults. `rules` owns it. */
static int new_draft(struct config_rules *rules, const char *name, bool refused,
		     struct config_rule_draft **ret)
{
	_cleanup_(draft_freep) struct config_rule_draft *draft = calloc(1, sizeof(*draft));
	struct config_rule_draft **drafts;

	if (!draft)
		return -ENOMEM;
	for (unsigned int key = 0; key < RULE_KEYS; key++) {
		_cleanup_free_ char *problem = NULL;
		int r = config_rule_key_set(key, &draft->rule, "", &problem);

		if (r < 0)
			return r;
	}
	if (refused) {
		(void)draft_free(rules->refused);
		*ret = rules->refused = TAKE_PTR(draft);
		return 0;
	}
	(void)snprintf(draft->rule.name, sizeof(draft->rule.name), "%s", name);
	drafts = reallocarray(rules->drafts, rules->n + 1, sizeof(*drafts));
	if (!drafts)
		return -ENOMEM;
	rules->drafts = drafts;
	*ret = drafts[rules->n++] = TAKE_PTR(draft);
	return 0;
}

static struct config_rule_draft *find_draft(const struct config_rules *rules, const char *name)
{
	for (size_t i = 0; i < rules->n; i++)
		if (strcmp(rules->drafts[i]->rule.name, name) == 0)
			return rules->drafts[i];
	return NULL;
}

int config_rules_header(struct config *config, const char *name, unsigned int line,
			struct config_mistakes *mistakes, struct config_rule_draft **ret)
{
	struct config_rules *rules = config->reading;
	const struct config_place place = place_of(rules, line);
	const char *problem = config_rule_name_problem(name);
	struct config_rule_draft *draft = find_draft(rules, name);
	bool refused = true;
	int r = 0;

	if (problem)
		r = config_mistakes_add(mistakes, place.file, line, "[rule%s%s]: %s", *name ? " " : "", name,
					problem);
	else if (draft && draft->file_number == rules->n_files)
		r = config_mistakes_add(
			mistakes, place.file, line,
			"[rule %s] is already in line %u; put all keys there, or use another name", name,
			draft->header.line);
	else if (!draft && rules->n == CONFIG_RULES_MAX)
		r = config_mistakes_add(mistakes, place.file, line,
					"[rule %s]: there are more than %d rules; remove some", name,
					CONFIG_RULES_MAX);
	else
		refused = false;
	if (r < 0)
		return r;
	if (!draft || refused)
		r = new_draft(rules, name, refused, &draft);
	if (r < 0)
		return r;
	draft->header = place;
	draft->file_number = rules->n_files;
	*ret = draft;
	return 0;
}

int config_rules_key(struct config *config, struct config_rule_draft *draft, enum config_rule_key key,
		     const char *text, unsigned int line, struct config_mistakes *mistakes)
{
	const struct config_rules *rules = config->reading;
	_cleanup_free_ char *problem = NULL;
	_cleanup_free_ char *copy = NULL;
	int r;

	if (draft->keys[key].file_number == rules->n_files)
		return config_mistakes_add(mistakes, rules->files[rules->n_files - 1], line,
					   "%s is already set in line %u; keep one of the two",
					   config_rule_keys[key].name, draft->keys[key].place.line);
	copy = strdup(text);
	if (!copy)
		return -ENOMEM;
	free(draft->keys[key].text);
	draft->keys[key].text = TAKE_PTR(copy);
	draft->keys[key].file_number = rules->n_files;
	draft->keys[key].place = place_of(rules, line);

	r = config_rule_key_set(key, &draft->rule, text, &problem);
	if (r < 0 && r != -EINVAL)
		return r;
	draft->keys[key].given = r < 0   ? CONFIG_GIVEN_MISTAKE
				 : *text ? CONFIG_GIVEN_VALUE
					 : CONFIG_GIVEN_DEFAULT;
	return r < 0 ? config_mistakes_add(mistakes, draft->keys[key].place.file, line, "%s", problem) : 0;
}

bool config_rules_have_times(const struct config *config)
{
	static const enum config_rule_key keys[] = {RULE_KEY_ABOVE, RULE_KEY_BELOW, RULE_KEY_CLEAR};
	const struct config_rules *rules = config->reading;

	for (size_t i = 0; rules && i < rules->n; i++)
		for (size_t j = 0; j < ARRAY_SIZE(keys); j++)
			if (rules->drafts[i]->keys[keys[j]].text &&
			    nanoseconds_is_time(rules->drafts[i]->keys[keys[j]].text))
				return true;
	return false;
}

int config_rules_finish(struct config *config, struct config_mistakes *mistakes)
{
	struct config_rules *drafts = config->reading;
	struct rule *rules;
	size_t n = 0;

	if (!drafts)
		return 0;
	rules = calloc(drafts->n + 1, sizeof(*rules));
	if (!rules)
		return -ENOMEM;
	for (size_t i = 0; i < drafts->n; i++) {
		struct config_rule_draft *draft = drafts->drafts[i];
		int r = config_rule_check(draft, config, mistakes);

		if (r < 0) {
			(void)rules_free(rules, n);
			return r;
		}
		if (r == 0)
			continue;
		rules[n++] = draft->rule;
		draft->rule.patterns = NULL;
		draft->rule.n_patterns = 0;
	}
	(void)rules_free(config->rules, config->n_rules);
	config->rules = rules;
	config->n_rules = n;
	config->reading = config_rules_free(drafts);
	return 0;
}

static const struct rule *find_rule(const struct config *config, const char *name)
{
	for (size_t i = 0; i < config->n_rules; i++)
		if (strcmp(config->rules[i].name, name) == 0)
			return &config->rules[i];
	return NULL;
}

static bool same_rule(const struct rule *a, const struct rule *b)
{
	return rule_same_decision(a, b) && strcmp(a->severity, b->severity) == 0 &&
	       a->dry_run == b->dry_run && a->actions == b->actions && a->zoom_ns == b->zoom_ns &&
	       a->hot_ns == b->hot_ns;
}

static int add_change(char **lines, size_t *n, const char *name, const char *what)
{
	if (asprintf(&lines[*n], "rule %s %s", name, what) < 0) {
		lines[*n] = NULL;
		return -ENOMEM;
	}
	(*n)++;
	return 0;
}

int config_rule_changes(const struct config *running, const struct config *loaded, char ***ret)
{
	char **lines = calloc(running->n_rules + loaded->n_rules + 1, sizeof(*lines));
	size_t n = 0;
	int r = 0;

	if (!lines)
		return -ENOMEM;
	for (size_t i = 0; i < loaded->n_rules && r == 0; i++) {
		const struct rule *rule = &loaded->rules[i];
		const struct rule *before = find_rule(running, rule->name);

		if (!before)
			r = add_change(lines, &n, rule->name, "added");
		else if (!same_rule(before, rule))
			r = add_change(lines, &n, rule->name, "changed");
	}
	for (size_t i = 0; i < running->n_rules && r == 0; i++)
		if (!find_rule(loaded, running->rules[i].name))
			r = add_change(lines, &n, running->rules[i].name, "removed");
	if (r < 0) {
		config_rule_changes_free(lines);
		return r;
	}
	*ret = lines;
	return (int)n;
}

void config_rule_changes_free(char **changes)
{
	for (size_t i = 0; changes && changes[i]; i++)
		free(changes[i]);
	free(changes);
}

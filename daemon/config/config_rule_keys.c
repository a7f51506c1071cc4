// SPDX-License-Identifier: GPL-2.0
#include "config/config_rule_keys.h"

#include <errno.h>
#include <string.h>

#include "base/number.h"
#include "base/suggest.h"
#include "config/config_words.h"
#include "policy/nanoseconds.h"

#define BLANKS " \t"

#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define DIGITS  "0123456789"

#define NSEC_PER_DAY (86400 * NSEC_PER_SEC)

#define CONFIDENCE_MIN 0.5
#define CONFIDENCE_MAX 0.9999

const struct config_key config_rule_keys[] = {
	[RULE_KEY_CGROUP] = {"rule", "cgroup", CONFIG_KEY_RULE, .default_text = "",
			     .meaning = "cgroups that are judged"},
	[RULE_KEY_EVENT] = {"rule", "event", CONFIG_KEY_RULE, .default_text = "loads",
			    .meaning = "samples that the metric is computed from"},
	[RULE_KEY_METRIC] = {"rule", "metric", CONFIG_KEY_RULE, .default_text = "",
			     .meaning = "value that is judged"},
	[RULE_KEY_ABOVE] = {"rule", "above", CONFIG_KEY_RULE, .default_text = "",
			    .meaning = "fires when the metric is above this value"},
	[RULE_KEY_BELOW] = {"rule", "below", CONFIG_KEY_RULE, .default_text = "",
			    .meaning = "fires when the metric is below this value"},
	[RULE_KEY_CLEAR] = {"rule", "clear", CONFIG_KEY_RULE, .default_text = "",
			    .meaning = "resolves when the metric is on the good side of this value"},
	[RULE_KEY_WINDOW] = {"rule", "window", CONFIG_KEY_DURATION, .default_text = "30s",
			     .min = NSEC_PER_SEC, .max = 3600 * NSEC_PER_SEC,
			     .meaning = "time over which the metric is computed"},
	[RULE_KEY_FOR] = {"rule", "for", CONFIG_KEY_DURATION, .default_text = "60s", .min = 0,
			  .max = NSEC_PER_DAY, .meaning = "time for which the breach must be proven"},
	[RULE_KEY_BASELINE] = {"rule", "baseline", CONFIG_KEY_DURATION, .default_text = "1h",
			       .min = 60 * NSEC_PER_SEC, .max = 30 * NSEC_PER_DAY,
			       .meaning = "half-life of the baseline of a ratio"},
	[RULE_KEY_MIN_SAMPLES] = {"rule", "min-samples", CONFIG_KEY_NUMBER, .default_text = "500", .min = 0,
				  .max = 1000000000,
				  .meaning = "samples that a window must have to be judged"},
	[RULE_KEY_CONFIDENCE] = {"rule", "confidence", CONFIG_KEY_RULE, .default_text = "95%",
				 .meaning = "confidence that a bound must have"},
	[RULE_KEY_SEVERITY] = {"rule", "severity", CONFIG_KEY_RULE, .default_text = "warning",
			       .meaning = "label of the alert"},
	[RULE_KEY_SUBTREE] = {"rule", "subtree", CONFIG_KEY_YES_NO, .default_text = "no",
			      .meaning = "whether a cgroup is judged together with all cgroups below it"},
	[RULE_KEY_DRY_RUN] = {"rule", "dry-run", CONFIG_KEY_YES_NO, .default_text = "no",
			      .meaning = "whether the actions are only logged, not taken"},
	[RULE_KEY_TRUST_OWNER] =
		{"rule", "trust-owner", CONFIG_KEY_YES_NO, .default_text = "no",
		 .meaning = "whether preferences on directories that root does not own are obeyed"},
	[RULE_KEY_ACTION] = {"rule", "action", CONFIG_KEY_RULE, .default_text = "log",
			     .meaning = "actions when the rule fires and resolves"},
};

_Static_assert(ARRAY_SIZE(config_rule_keys) == RULE_KEYS, "every key is in the table");
_Static_assert(RULE_KEYS <= CONFIG_KEYS_MAX, "lists of keys are CONFIG_KEYS_MAX long");

static int set_cgroup(const struct config_key *key, struct rule *rule, const char *text, char **ret_problem)
{
	struct config_patterns patterns = {.list = rule->patterns, .n = rule->n_patterns};
	const struct config_key as_patterns = {.name = key->name, .type = CONFIG_KEY_PATTERNS};
	int r = config_key_set_field(&as_patterns, &patterns, text, ret_problem);

	if (r < 0)
		return r;
	rule->patterns = patterns.list;
	rule->n_patterns = patterns.n;
	return 0;
}

static int set_event(const struct config_key *key, struct rule *rule, const char *text, char **ret_problem)
{
	/* Off-core responses are counted, not sampled, so no number of samples can prove a breach. */
	static const enum event_role roles[] = {EVENT_LOADS,  EVENT_STORES, EVENT_INSTRUCTIONS,
						EVENT_CYCLES, EVENT_STALLS, EVENT_MISSES};
	const char *words[ARRAY_SIZE(roles)];

	for (size_t i = 0; i < ARRAY_SIZE(roles); i++) {
		words[i] = event_role_name(roles[i]);
		if (strcmp(text, words[i]) == 0) {
			rule->event = roles[i];
			return 0;
		}
	}
	if (strcmp(text, event_role_name(EVENT_OFFCORE)) == 0)
		return config_refuse(
			ret_problem,
			"%s = %s: these events are counted, not sampled, so a rule on them can never fire; use loads, stores, instructions, cycles, stalls or misses (%s)",
			key->name, text, key->meaning);
	return config_words_refuse(key, text, words, ARRAY_SIZE(words), ret_problem);
}

static int refuse_metric(const struct config_key *key, const char *text, char **ret_problem)
{
	static const char ratio[] = "ratio:";
	const char *word = strncmp(text, ratio, strlen(ratio)) == 0 ? text + strlen(ratio) : text;
	_cleanup_free_ char *list = NULL;
	const char *near;
	size_t n = 0;

	while (metric_words[n])
		n++;
	near = suggest_nearest(word, metric_words, n);
	list = config_words_join(metric_words, n);
	if (!list)
		return -ENOMEM;
	return config_refuse(
		ret_problem,
		"%s = %s: unknown value; %s%s%s%sxpected one of %s, also with ratio: before it (%s)",
		key->name, text, near ? "did you mean " : "", near && word != text ? ratio : "",
		near ? near : "", near ? "? E" : "e", list, key->meaning);
}

static int set_metric(const struct config_key *key, struct rule *rule, const char *text, char **ret_problem)
{
	if (!*text) {
		rule->metric = (struct metric){0};
		return 0;
	}
	return metric_parse(text, &rule->metric) < 0 ? refuse_metric(key, text, ret_problem) : 0;
}

/* Checks the syntax of above, below or clear. */
static int check_threshold(const struct config_key *key, const char *text, char **ret_problem)
{
	double value;

	if (!*text || decimal_parse(text, &value) == 0 || byte_rate_parse(text, &value) == 0 ||
	    nanoseconds_is_time(text))
		return 0;
	return config_refuse(
		ret_problem,
		"%s = %s: expected a number such as 900 or 0.3, for a share also a percentage such as 30%%, for a latency also a time such as 100ns or 1.5us, or for traffic also bytes a second such as 5GB/s (%s)",
		key->name, text, key->meaning);
}

static int set_confidence(const struct config_key *key, struct rule *rule, const char *text,
			  char **ret_problem)
{
	double value;

	if (decimal_parse(text, &value) < 0 || value < CONFIDENCE_MIN || value > CONFIDENCE_MAX)
		return config_key_refuse_value(key, text, "50% to 99.99%, or 0.5 to 0.9999", ret_problem);
	rule->confidence = value;
	return 0;
}

static int set_severity(const struct config_key *key, struct rule *rule, const char *text, char **ret_problem)
{
	const size_t length = strlen(text);

	if (length >= RULE_SEVERITY_MAX || !strchr(LETTERS, *text) ||
	    strspn(text, LETTERS DIGITS "_-") != length)
		return config_key_refuse_value(
			key, text,
			"one word of at most 31 letters, digits, - and _ that begins with a letter",
			ret_problem);
	memcpy(rule->severity, text, length + 1);
	return 0;
}

struct action_word {
	const char *word;
	enum rule_action action;
	u64 max_ns; /* of the duration after the word; 0: the word takes no duration */
};

static const struct action_word action_words[] = {
	{"log", RULE_LOG, 0},
	{"unit", RULE_UNIT, 0},
	{"zoom", RULE_ZOOM, RULE_ZOOM_NS_MAX},
	{"hot", RULE_HOT, RULE_HOT_NS_MAX},
};

/* The forms of an action, for messages. */
static const char *const action_forms[] = {"log", "unit", "zoom:DURATION", "hot:DURATION"};

/* `word`: the part of the action before its colon. */
static const struct action_word *find_action(const char *word)
{
	for (size_t i = 0; i < ARRAY_SIZE(action_words); i++)
		if (strcmp(action_words[i].word, word) == 0)
			return &action_words[i];
	return NULL;
}

static int refuse_duration(const struct config_key *key, const struct action_word *word, char **ret_problem)
{
	char most[NUMBER_TEXT_MAX];

	return config_refuse(ret_problem, "%s: %s needs a duration from 1s to %s, such as %s:30s (%s)",
			     key->name, word->word, duration_format(word->max_ns, most), word->word,
			     key->meaning);
}

/* The members of a rule that its actions set. */
struct actions {
	unsigned mask;
	u64 zoom_ns, hot_ns;
};

/* Adds one word of the value, such as "log" or "zoom:30s". */
static int add_action(const struct config_key *key, char *text, struct actions *actions, char **ret_problem)
{
	char *duration = strchr(text, ':');
	const struct action_word *word;
	u64 ns = 0;

	if (duration)
		*duration++ = '\0';
	word = find_action(text);
	if (!word || (duration && !word->max_ns)) {
		if (duration)
			duration[-1] = ':';
		return config_words_refuse(key, text, action_forms, ARRAY_SIZE(action_forms), ret_problem);
	}
	if (actions->mask & word->action)
		return config_refuse(ret_problem, "%s: %s is given twice; remove one (%s)", key->name,
				     word->word, key->meaning);
	if (word->max_ns && (!duration || duration_parse(duration, RULE_ZOOM_NS_MIN, word->max_ns, &ns) < 0))
		return refuse_duration(key, word, ret_problem);
	actions->mask |= word->action;
	if (word->action == RULE_ZOOM)
		actions->zoom_ns = ns;
	if (word->action == RULE_HOT)
		actions->hot_ns = ns;
	return 0;
}

static int set_action(const struct config_key *key, struct rule *rule, const char *text, char **ret_problem)
{
	_cleanup_free_ char *words = strdup(text);
	struct actions actions = {0};
	char *rest = words;
	char *word;
	int r;

	if (!words)
		return -ENOMEM;
	while ((word = strsep(&rest, BLANKS))) {
		if (!*word)
			continue;
		r = add_action(key, word, &actions, ret_problem);
		if (r < 0)
			return r;
	}
	rule->actions = actions.mask;
	rule->zoom_ns = actions.zoom_ns;
	rule->hot_ns = actions.hot_ns;
	return 0;
}

int config_rule_key_set(enum config_rule_key key, struct rule *rule, const char *text, char **ret_problem)
{
	const struct config_key *entry = &config_rule_keys[key];
	const char *value = *text ? text : entry->default_text;

	switch (key) {
	case RULE_KEY_CGROUP:
		return set_cgroup(entry, rule, value, ret_problem);
	case RULE_KEY_EVENT:
		return set_event(entry, rule, value, ret_problem);
	case RULE_KEY_METRIC:
		return set_metric(entry, rule, value, ret_problem);
	case RULE_KEY_ABOVE:
	case RULE_KEY_BELOW:
	case RULE_KEY_CLEAR:
		return check_threshold(entry, value, ret_problem);
	case RULE_KEY_WINDOW:
		return config_key_set_field(entry, &rule->window_ns, value, ret_problem);
	case RULE_KEY_FOR:
		return config_key_set_field(entry, &rule->for_ns, value, ret_problem);
	case RULE_KEY_BASELINE:
		return config_key_set_field(entry, &rule->baseline_ns, value, ret_problem);
	case RULE_KEY_MIN_SAMPLES:
		return config_key_set_field(entry, &rule->min_samples, value, ret_problem);
	case RULE_KEY_CONFIDENCE:
		return set_confidence(entry, rule, value, ret_problem);
	case RULE_KEY_SEVERITY:
		return set_severity(entry, rule, value, ret_problem);
	case RULE_KEY_SUBTREE:
		return config_key_set_field(entry, &rule->subtree, value, ret_problem);
	case RULE_KEY_DRY_RUN:
		return config_key_set_field(entry, &rule->dry_run, value, ret_problem);
	case RULE_KEY_TRUST_OWNER:
		return config_key_set_field(entry, &rule->trust_owner, value, ret_problem);
	case RULE_KEY_ACTION:
		return set_action(entry, rule, value, ret_problem);
	case RULE_KEYS:
		break;
	}
	return -EINVAL;
}

const char *config_rule_name_problem(const char *name)
{
	if (!*name)
		return "a rule needs a name; write [rule NAME]";
	if (strspn(name, LETTERS DIGITS "-_.") != strlen(name))
		return "a rule's name can have only letters, digits, '-', '_' and '.'; use another name";
	if (strlen(name) >= RULE_NAME_MAX)
		return "a rule's name has at most 63 characters; use a shorter name";
	return NULL;
}

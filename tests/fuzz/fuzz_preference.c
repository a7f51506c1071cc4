// SPDX-License-Identifier: GPL-2.0
/*
 * Any bytes as the extended attributes of a cgroup's directory with any owner. Byte 0 selects the owner and
 * the rule, and byte 0xff ends the first attribute. An attribute may switch a rule off or change its
 * threshold only if it names the rule (or has "*", to switch it off), and the owner is root or trusted by the
 * rule. The new threshold must be above 0 and finite.
 */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "policy/preference.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool holds)
{
	if (!holds)
		abort();
}

static void check_effect(const struct preference *preference, const struct rule *rule)
{
	struct preference_effect effect;

	preference_apply(preference, rule, &effect);
	if (!preference->owner_is_root && !rule->trust_owner)
		check(!effect.ignored && !effect.has_threshold && !effect.malformed);
	else
		check(!effect.untrusted);
	check(!effect.ignored || (preference->ignore && (strstr(preference->ignore, rule->name) ||
							 strchr(preference->ignore, '*'))));
	check(!effect.has_threshold || !effect.malformed);
	if (effect.has_threshold)
		check(strstr(preference->threshold, rule->name) && isfinite(effect.threshold) &&
		      effect.threshold > 0);
	else
		check(effect.threshold == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const metrics[] = {"p99", "mean", "share:local_dram", "share:hitm", "rate"};
	struct rule rule = {.name = "db"};
	struct preference preference = {0};
	_cleanup_free_ char *ignore = NULL, *threshold = NULL;
	const uint8_t *end;

	if (size == 0)
		return 0;
	preference.owner_is_root = data[0] & 1;
	rule.trust_owner = data[0] & 2;
	if (metric_parse(metrics[(data[0] >> 2) % ARRAY_SIZE(metrics)], &rule.metric) < 0)
		return 0;
	data++, size--;
	end = size ? memchr(data, 0xff, size) : NULL;
	ignore = strndup((const char *)data, end ? (size_t)(end - data) : size);
	threshold = end ? strndup((const char *)end + 1, size - (size_t)(end - data) - 1) : NULL;
	preference.ignore = ignore;
	preference.threshold = threshold;
	check_effect(&preference, &rule);
	return 0;
}

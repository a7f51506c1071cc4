// SPDX-License-Identifier: GPL-2.0
/* Latencies in nanoseconds: limits of rules, and texts. */
#include <criterion/criterion.h>
#include <errno.h>
#include <math.h>

#include "policy/nanoseconds.h"
#include "policy/preference.h"

#define GHZ 1e9

static const struct metric p99 = {.kind = METRIC_QUANTILE, .quantile = 0.99};
static const struct metric mean = {.kind = METRIC_MEAN};
static const struct metric ratio = {.kind = METRIC_MEAN, .ratio = true};
static const struct metric rate = {.kind = METRIC_RATE};

static void expect_cycles(const struct metric *metric, const char *text, double hz, double cycles)
{
	double value = -1;
	bool time = false;

	cr_expect_eq(nanoseconds_parse_threshold(metric, text, hz, &value, &time), 0, "%s", text);
	cr_expect_float_eq(value, cycles, 0, "%s: %g", text, value);
	cr_expect(time, "%s", text);
}

static void expect_refused(const struct metric *metric, const char *text, double hz, int error)
{
	double value;
	bool time;

	cr_expect_eq(nanoseconds_parse_threshold(metric, text, hz, &value, &time), error, "%s", text);
}

Test(nanoseconds, a_time_is_converted_to_cycles)
{
	expect_cycles(&p99, "100ns", 2.6 * GHZ, 260);
	expect_cycles(&p99, "1.5us", 2.6 * GHZ, 3900);
	expect_cycles(&mean, "0.5us", 2 * GHZ, 1000);
	expect_cycles(&p99, "80ns", 2.596 * GHZ, 207.68);
	expect_cycles(&p99, "0.5ns", 3 * GHZ, 1.5);
}

Test(nanoseconds, a_number_without_unit_is_cycles)
{
	double value;
	bool time = true;

	cr_expect_eq(nanoseconds_parse_threshold(&p99, "900", 0, &value, &time), 0);
	cr_expect_float_eq(value, 900, 0);
	cr_expect_not(time);
}

Test(nanoseconds, a_time_needs_a_frequency)
{
	expect_refused(&p99, "100ns", 0, -ENODATA);
}

Test(nanoseconds, a_time_has_the_range_of_the_metric)
{
	expect_cycles(&p99, "1048.576us", GHZ, 1048576);
	expect_refused(&p99, "1048.577us", GHZ, -EINVAL);
	expect_refused(&p99, "0.9ns", GHZ, -EINVAL);
	expect_refused(&mean, "1ns", GHZ, -EINVAL);
	expect_refused(&p99, "999999999999999us", GHZ, -EINVAL);
}

Test(nanoseconds, other_texts_are_not_times)
{
	static const char *const texts[] = {"ns",    "100 ns", "100n", "100ms", "-1ns",
					    "1e2ns", "10%ns",  ".5us", "5.us",  ""};

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		cr_expect_not(nanoseconds_is_time(texts[i]), "%s", texts[i]);
		expect_refused(&p99, texts[i], GHZ, -EINVAL);
	}
	cr_expect(nanoseconds_is_time("1.5us"));
}

Test(nanoseconds, only_latencies_have_times)
{
	expect_refused(&ratio, "100ns", GHZ, -EINVAL);
	expect_refused(&rate, "100ns", GHZ, -EINVAL);
}

Test(nanoseconds, a_preference_may_be_a_time)
{
	const struct rule rule = {.name = "slow", .metric = p99, .nominal_hz = 2.6 * GHZ};
	const struct rule unknown = {.name = "slow", .metric = p99};
	const struct preference preference = {.owner_is_root = true, .threshold = "slow=200ns"};
	struct preference_effect effect;

	preference_apply(&preference, &rule, &effect);
	cr_expect(effect.has_threshold);
	cr_expect_float_eq(effect.threshold, 520, 0);
	preference_apply(&preference, &unknown, &effect);
	cr_expect_not(effect.has_threshold);
	cr_expect(effect.malformed);
}

Test(nanoseconds, without_a_frequency_converted_texts_are_empty)
{
	char text[NANOSECONDS_TEXT_MAX];

	nanoseconds_beside(&p99, 912.5, 2.6 * GHZ, text);
	cr_expect_str_eq(text, " (351 ns)");
	nanoseconds_first(&p99, 912.5, 2.6 * GHZ, text);
	cr_expect_str_eq(text, " (about 351 ns at 2.6 GHz, the nominal frequency)");
	nanoseconds_beside(&p99, 912.5, 0, text);
	cr_expect_str_eq(text, "");
	nanoseconds_first(&ratio, 912.5, GHZ, text);
	cr_expect_str_eq(text, "");
	nanoseconds_beside(&rate, 912.5, GHZ, text);
	cr_expect_str_eq(text, "");
	nanoseconds_beside(&p99, INFINITY, GHZ, text);
	cr_expect_str_eq(text, "");
	nanoseconds_limit(207.68, 2.596 * GHZ, text);
	cr_expect_str_eq(text, "80 ns (207.7 cycles at 2.596 GHz, the nominal frequency)");
	nanoseconds_limit(3900, 2.6 * GHZ, text);
	cr_expect_str_eq(text, "1.5 us (3,900 cycles at 2.6 GHz, the nominal frequency)");
}

/* A recording has no frequency, so texts use that at which the rule's limits were converted. */
Test(nanoseconds, the_frequency_of_the_event_precedes_that_of_the_rule)
{
	struct rule rule = {.metric = p99, .nominal_hz = 2.6 * GHZ, .nanoseconds = true};
	struct alert alert = {.rule = &rule, .nominal_hz = 2 * GHZ};

	cr_expect_float_eq(nanoseconds_hz(&alert), 2 * GHZ, 0);
	alert.nominal_hz = 0;
	cr_expect_float_eq(nanoseconds_hz(&alert), 2.6 * GHZ, 0);
	rule.nanoseconds = false;
	cr_expect_float_eq(nanoseconds_hz(&alert), 0, 0);
}

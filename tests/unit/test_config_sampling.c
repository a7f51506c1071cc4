// SPDX-License-Identifier: GPL-2.0
/* The keys of [sampling] that say what is sampled, how often, and where. */
#include <criterion/criterion.h>
#include <string.h>

#include "base/cleanup.h"
#include "config/config.h"
#include "config/config_file.h"
#include "origin/event.h"

static struct config *config;
static struct config_mistakes mistakes;

static void begin(void)
{
	cr_assert_eq(config_new(&config), 0);
}

static void end(void)
{
	config = config_free(config);
	config_mistakes_clear(&mistakes);
}

TestSuite(config_sampling, .init = begin, .fini = end);

/*
 * Returns the only mistake of `[sampling]\nLINE` without its place, or "" if there is none. Also checks the
 * place.
 */
static const char *mistake_of(const char *line)
{
	char text[256];

	(void)snprintf(text, sizeof(text), "[sampling]\n%s\n", line);
	config_mistakes_clear(&mistakes);
	cr_assert_eq(config_file_parse("x.conf", text, strlen(text), config, &mistakes), 0);
	cr_assert_leq(mistakes.n, 1);
	if (mistakes.n == 0)
		return "";
	cr_expect_str_eq(mistakes.list[0].file, "x.conf");
	cr_expect_eq(mistakes.list[0].line, 2);
	return mistakes.list[0].message;
}

static void expect_cpus(const char *expected)
{
	_cleanup_free_ char *text = cpu_list_format(&config->cpus);

	cr_expect_str_eq(text, expected);
}

Test(config_sampling, the_sampling_section_has_its_defaults)
{
	cr_expect_eq(config->events, CONFIG_EVENTS_AUTO);
	cr_expect_eq(config_roles(config), 1U << EVENT_LOADS | 1U << EVENT_INSTRUCTIONS | 1U << EVENT_CYCLES |
						   1U << EVENT_STALLS | 1U << EVENT_MISSES);
	cr_expect_eq(config->periods.accesses, 0, "the PMU's own");
	cr_expect_eq(config->periods.instructions, 0, "the PMU's own");
	cr_expect_eq(config->periods.cycles, 0, "the PMU's own");
	cr_expect_eq(config->periods.stalls, 0, "the PMU's own");
	cr_expect_eq(config->periods.misses, 0, "the PMU's own");
	expect_cpus("");
	cr_expect_not(config->isolated, "the kernel was told to keep them quiet");
}

Test(config_sampling, any_set_of_events)
{
	static const struct {
		const char *line;
		unsigned int events;
	} sets[] = {
		{"events = loads", 1U << EVENT_LOADS},
		{"events = stores", 1U << EVENT_STORES},
		{"events = instructions", 1U << EVENT_INSTRUCTIONS},
		{"events = offcore", 1U << EVENT_OFFCORE},
		{"events = stores loads", 1U << EVENT_LOADS | 1U << EVENT_STORES},
		{"events = loads\t stores instructions  offcore", (1U << EVENT_CYCLES) - 1},
		{"events = misses cycles stalls",
		 1U << EVENT_CYCLES | 1U << EVENT_STALLS | 1U << EVENT_MISSES},
		{"events = auto", CONFIG_EVENTS_AUTO},
		{"events =", CONFIG_EVENTS_AUTO},
	};

	for (size_t i = 0; i < ARRAY_SIZE(sets); i++) {
		cr_expect_str_eq(mistake_of(sets[i].line), "", "%s", sets[i].line);
		cr_expect_eq(config->events, sets[i].events, "%s", sets[i].line);
	}
}

Test(config_sampling, unknown_or_repeated_events_are_refused)
{
	cr_expect_str_eq(
		mistake_of("events = loads stroes"),
		"events = stroes: unknown value; did you mean stores? Expected one of auto, loads, stores, instructions, offcore, cycles, stalls, misses (events to sample)");
	cr_expect_str_eq(
		mistake_of("events = loads, stores"),
		"events = loads,: unknown value; did you mean loads? Expected one of auto, loads, stores, instructions, offcore, cycles, stalls, misses (events to sample)");
	cr_expect_str_eq(
		mistake_of("events = branches"),
		"events = branches: unknown value; expected one of auto, loads, stores, instructions, offcore, cycles, stalls, misses (events to sample)");
	cr_expect_str_eq(mistake_of("events = stores loads stores"),
			 "events: stores is given twice; remove one (events to sample)");
	cr_expect_str_eq(mistake_of("events = auto auto"),
			 "events: auto is given twice; remove one (events to sample)");
	cr_expect_str_eq(
		mistake_of("events = auto stores"),
		"events = auto stores: auto cannot be combined with other events; remove it, or the others (events to sample)");
	cr_expect_eq(config->events, CONFIG_EVENTS_AUTO, "a mistake changes nothing");
}

Test(config_sampling, budgets_are_read_and_bare_fractions_refused)
{
	static const char wrong[] =
		"expected off, or a percentage from 0.01% to 100% (share of each CPU's time that sampling may cost)";
	static const struct {
		const char *line;
		double budget;
	} right[] = {
		{"budget = 0.5%", 0.005}, {"budget = 2%", 0.02}, {"budget = 0.01%", 0.0001},
		{"budget = 100%", 1},     {"budget = off", 0},   {"budget =", 0.005},
	};
	static const char *const refused[] = {"budget = 0",    "budget = 0.009%", "budget = 5",
					      "budget = 101%", "budget = -0.5%",  "budget = no",
					      "budget = nan",  "budget = 0.5 %"};

	for (size_t i = 0; i < ARRAY_SIZE(right); i++) {
		cr_expect_str_eq(mistake_of(right[i].line), "");
		cr_expect_float_eq(config->budget, right[i].budget, 1e-15, "%s", right[i].line);
	}
	for (size_t i = 0; i < ARRAY_SIZE(refused); i++)
		cr_expect(strstr(mistake_of(refused[i]), wrong), "%s: %s", refused[i],
			  mistake_of(refused[i]));
	cr_expect_str_eq(
		mistake_of("budget = 0.5"),
		"budget = 0.5: without % this has two meanings: write 0.5% if you mean 0.5 percent, or 50% if you mean the fraction (share of each CPU's time that sampling may cost)");
	/* 0.005% is below the minimum, so it cannot be meant. */
	cr_expect_str_eq(
		mistake_of("budget = 0.005"),
		"budget = 0.005: expected off, or a percentage from 0.01% to 100%, such as 0.5% for this fraction (share of each CPU's time that sampling may cost)");
	cr_expect(strstr(mistake_of("budget = 0.005%"), wrong));
	cr_expect(strstr(mistake_of("budget = 0.01"), "write 0.01% if you mean 0.01 percent, or 1% if"));
	cr_expect(strstr(mistake_of("budget = 1"), "write 1% if you mean 1 percent, or 100% if"));
}

Test(config_sampling, periods_are_read_and_checked)
{
	cr_expect_str_eq(mistake_of("instructions-period = 2000003"), "");
	cr_expect_eq(config->periods.instructions, 2000003);
	cr_expect_eq(config->periods.accesses, 0, "the other events' stays");
	cr_expect_str_eq(mistake_of("instructions-period = 1000"), "");
	cr_expect_str_eq(mistake_of("instructions-period = 2147483647"), "");
	cr_expect_str_eq(mistake_of("instructions-period = auto"), "");
	cr_expect_eq(config->periods.instructions, 0);
	cr_expect_str_eq(
		mistake_of("instructions-period = 999"),
		"instructions-period = 999: expected auto or a whole number from 1000 to 2147483647 (instructions from one sample to the next)");
	cr_expect(strstr(mistake_of("instructions-period = 2147483648"), "expected auto or a whole number"));
	cr_expect(strstr(mistake_of("period = 0"), "expected auto or a whole number"));
}

Test(config_sampling, each_count_has_its_own_period)
{
	cr_expect_str_eq(mistake_of("cycles-period = 1000\nstalls-period = 2147483647\nmisses-period = 100"),
			 "");
	cr_expect_eq(config->periods.cycles, 1000);
	cr_expect_eq(config->periods.stalls, 2147483647);
	cr_expect_eq(config->periods.misses, 100);
	cr_expect_eq(config->periods.accesses, 0, "the other events' stays");
	cr_expect_str_eq(mistake_of("cycles-period = auto\nstalls-period =\nmisses-period = auto"), "");
	cr_expect_eq(config->periods.cycles, 0);
	cr_expect_eq(config->periods.stalls, 0);
	cr_expect_eq(config->periods.misses, 0);
	cr_expect_str_eq(
		mistake_of("cycles-period = 999"),
		"cycles-period = 999: expected auto or a whole number from 1000 to 2147483647 (cycles from one sample to the next)");
	cr_expect_str_eq(
		mistake_of("stalls-period = 999"),
		"stalls-period = 999: expected auto or a whole number from 1000 to 2147483647 (stalled cycles from one sample to the next)");
	cr_expect_str_eq(
		mistake_of("misses-period = 99"),
		"misses-period = 99: expected auto or a whole number from 100 to 2147483647 (cache misses from one sample to the next)");
}

Test(config_sampling, cpu_lists_are_read)
{
	cr_expect_str_eq(mistake_of("cpus = 0-3,8"), "");
	expect_cpus("0-3,8");
	cr_expect_str_eq(mistake_of("cpus = 8191"), "");
	expect_cpus("8191");
	cr_expect_str_eq(mistake_of("cpus = all"), "");
	expect_cpus("");
	cr_expect_str_eq(mistake_of("cpus = 5"), "");
	cr_expect_str_eq(mistake_of("cpus ="), "");
	expect_cpus("");
	cr_expect_str_eq(mistake_of("leave-counters = 8"), "");
	cr_expect_str_eq(mistake_of("leave-counters = 0"), "");
	cr_expect_str_eq(
		mistake_of("leave-counters = 9"),
		"leave-counters = 9: expected a whole number from 0 to 8 (general-purpose counters of each CPU that pebsd leaves to others)");
	cr_expect_str_eq(mistake_of("isolated = no"), "");
	cr_expect_not(config->isolated);
	cr_expect(strstr(mistake_of("isolated = 2-3"), "expected yes or no"));
}

Test(config_sampling, invalid_cpu_lists_are_refused)
{
	static const char *const lines[] = {"cpus = 3-1", "cpus = 0 1", "cpus = 0, 1", "cpus = none",
					    "cpus = ,",   "cpus = 0-",  "cpus = -1",   "cpus = 0x3",
					    "cpus = 1;2", "cpus = ALL"};

	cr_expect_str_eq(mistake_of("cpus = 2"), "");
	for (size_t i = 0; i < ARRAY_SIZE(lines); i++)
		cr_expect(
			strstr(mistake_of(lines[i]),
			       "expected all, or numbers and ranges separated by commas without blanks, such as 0-3,8 (CPUs that are sampled)"),
			"%s: %s", lines[i], mistake_of(lines[i]));
	cr_expect_str_eq(
		mistake_of("cpus = 0-8192"),
		"cpus = 0-8192: the highest possible CPU number is 8191; expected all or a list such as 0-3,8 (CPUs that are sampled)");
	expect_cpus("2");
}

Test(config_sampling, periods_apply_with_a_reload_and_cpus_with_a_restart)
{
	_cleanup_(config_freep) struct config *running = NULL;
	const char *names[CONFIG_KEYS_MAX];

	cr_assert_eq(config_new(&running), 0);
	cr_expect_str_eq(
		mistake_of("budget = 2%\nperiod = 2003\ninstructions-period = 100003\ncycles-period = 3001\n"
			   "stalls-period = 4001\nmisses-period = 101\ncpus = 0\nisolated = yes\n"
			   "events = stores"),
		"");
	cr_expect_eq(config_reload_keys(running, config, names), 6);
	cr_expect_str_eq(names[0], "budget");
	cr_expect_str_eq(names[1], "period");
	cr_expect_str_eq(names[2], "instructions-period");
	cr_expect_str_eq(names[3], "cycles-period");
	cr_expect_str_eq(names[4], "stalls-period");
	cr_expect_str_eq(names[5], "misses-period");
	cr_expect_eq(config_restart_keys(running, config, names), 3);
	config_reload(running, config);
	cr_expect_float_eq(running->budget, 0.02, 1e-15);
	cr_expect_eq(running->periods.accesses, 2003);
	cr_expect_eq(running->periods.instructions, 100003);
	cr_expect_eq(running->periods.cycles, 3001);
	cr_expect_eq(running->periods.stalls, 4001);
	cr_expect_eq(running->periods.misses, 101);
	cr_expect_eq(cpu_list_count(&running->cpus), 0, "in force is what was at the start");
}

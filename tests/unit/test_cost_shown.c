// SPDX-License-Identifier: GPL-2.0
/* The cost of sampling, shown as JSON, text and metrics. */
#include <criterion/criterion.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/json_get.h"
#include "example_snapshot.h"
#include "expect_metrics.h"
#include "export/json/json.h"
#include "export/prometheus/exposition.h"
#include "export/prometheus/prometheus_cost.h"
#include "format/format.h"
#include "formatted.h"

static const struct format_style wide = {.width = 200};
static char *const labels[] = {"event=\"loads\",pmu=\"cpu_core\"", "event=\"loads\",pmu=\"cpu_atom\""};

static struct snapshot *snapshot;

/*
 * Everything is known about the first event. The second is not governed, and only its program's time is
 * known.
 */
static void setup(void)
{
	snapshot = example_perf();
	snapshot->events[0].cost = (struct snapshot_cost){
		.ratio = {true, 0.00371},
		.budget = {true, 0.005},
		.interrupt_ns = {true, 1234.5},
		.dense = {true, 1100, 25000},
		.sparse = {true, 2900.25, 100},
		.program_ns = {true, 42.25},
		.state = "over budget",
		.changes =
			{[GOVERNOR_OVER_BUDGET] = 3, [GOVERNOR_UNDER_BUDGET] = 5, [GOVERNOR_THROTTLED] = 1},
	};
	snapshot->events[1].cost = (struct snapshot_cost){.program_ns = {true, 55}};
}

TestSuite(cost_shown, .init = setup);

static const char *cost_json(const char *key)
{
	static json_object *status;

	json_object_put(status);
	status = json_status(snapshot);
	return json_object_to_json_string_ext(
		json_get_object(json_get_object(json_get_object(status, "events"), key), "cost"),
		JSON_C_TO_STRING_PLAIN);
}

Test(cost_shown, json_has_the_cost)
{
	cr_expect_str_eq(cost_json("loads:cpu_core"),
			 "{\"ratio\":0.003710,\"budget\":0.005000,\"interrupt_ns\":1234.5,"
			 "\"dense_interrupt\":{\"ns\":1100.0,\"per_second\":25000.0},"
			 "\"sparse_interrupt\":{\"ns\":2900.2,\"per_second\":100.0},\"program_ns\":42.2,"
			 "\"state\":\"over budget\",\"period_changes\":9}");
	cr_expect_str_eq(cost_json("loads:cpu_atom"), "{\"program_ns\":55.0,\"period_changes\":0}");
	snapshot->events[1].cost = (struct snapshot_cost){0};
	cr_expect_str_eq(cost_json("loads:cpu_atom"), "null");
}

static char *text_of(void)
{
	_cleanup_json_ json_object *status = json_status(snapshot);

	return FORMATTED(format_status(out, status, NULL, &wide));
}

Test(cost_shown, text_has_the_cost)
{
	_cleanup_free_ char *text = text_of();

	formatted_expect(
		text,
		"             cost: 0.37% of the time of the CPU with the most samples, budget 0.50%: over budget; a sample takes 1,235 ns for the interrupt and 42 ns for the BPF program\n");
	formatted_expect(
		text,
		"             an interrupt takes 1,100 ns at 25,000 samples a second, and 2,900 ns at 100 (measured)\n");
	formatted_expect(
		text,
		"             the cost does not include what samples take from the other thread of a core, pebsd's own time, or exits to a hypervisor\n");
	formatted_expect(text, "             automatic changes of the period since the start: 9\n");
	formatted_expect(text, "             cost: unknown; a sample takes 55 ns for the BPF program\n");
	/* A period that the user set has no budget. */
	snapshot->events[1].cost.state = "fixed";
	free(text);
	text = text_of();
	formatted_expect(
		text,
		"             cost: unknown, budget none: fixed; a sample takes 55 ns for the BPF program\n");
}

/* The time of an interrupt at a low sampling rate could not be measured. */
Test(cost_shown, without_sparse_timings_the_cost_is_a_lower_bound)
{
	_cleanup_free_ char *text = NULL;

	snapshot->events[0].cost.sparse = (struct snapshot_interrupt){0};
	text = text_of();
	formatted_expect(
		text,
		"cost: at least 0.37% of the time of the CPU with the most samples, budget 0.50%: over budget; a sample takes 1,235 ns for the interrupt and 42 ns for the BPF program\n");
	formatted_expect_not(text, "an interrupt was timed");
	cr_expect_null(strstr(cost_json("loads:cpu_core"), "sparse_interrupt"));
}

Test(cost_shown, text_has_the_known_part_of_the_cost)
{
	_cleanup_free_ char *text = NULL;
	_cleanup_free_ char *none = NULL;

	snapshot->events[0].cost = (struct snapshot_cost){.ratio = {true, 0.00001},
							  .sparse = {true, 2900, 100},
							  .budget = {true, 0.005},
							  .state = "steady"};
	snapshot->events[0].cost.changes[GOVERNOR_RATE_LOWERED] = 1;
	text = text_of();
	formatted_expect(text,
			 "cost: <0.01% of the time of the CPU with the most samples, budget 0.50%: steady\n");
	formatted_expect(text, "automatic changes of the period since the start: 1\n");
	snapshot->events[0].cost = snapshot->events[1].cost = (struct snapshot_cost){0};
	none = text_of();
	formatted_expect_not(none, "cost");
}

Test(cost_shown, metrics_have_the_cost)
{
	_cleanup_free_ char *text = NULL;
	struct exposition out;
	size_t length;

	(void)exposition_begin(&out, false);
	prometheus_cost(&out, snapshot, labels);
	cr_assert_eq(exposition_end(&out, &text, &length), 0);
	metrics_read(text, false);
	metrics_expect("pebsd_cost_ratio{event=\"loads\",pmu=\"cpu_core\"}", "0.00371");
	metrics_expect("pebsd_cost_ratio{event=\"loads\",pmu=\"cpu_atom\"}", NULL);
	metrics_expect("pebsd_cost_budget_ratio{event=\"loads\",pmu=\"cpu_core\"}", "0.005");
	metrics_expect("pebsd_cost_budget_ratio{event=\"loads\",pmu=\"cpu_atom\"}", NULL);
	metrics_expect("pebsd_sample_cost_seconds{event=\"loads\",pmu=\"cpu_core\",part=\"interrupt\"}",
		       "1.2345e-06");
	metrics_expect("pebsd_sample_cost_seconds{event=\"loads\",pmu=\"cpu_core\",part=\"program\"}",
		       "4.225e-08");
	metrics_expect("pebsd_sample_cost_seconds{event=\"loads\",pmu=\"cpu_atom\",part=\"program\"}",
		       "5.5e-08");
	metrics_expect("pebsd_sample_cost_seconds{event=\"loads\",pmu=\"cpu_atom\",part=\"interrupt\"}",
		       NULL);
	metrics_expect("pebsd_interrupt_cost_seconds{event=\"loads\",pmu=\"cpu_core\",samples=\"dense\"}",
		       "1.1e-06");
	metrics_expect("pebsd_interrupt_cost_seconds{event=\"loads\",pmu=\"cpu_core\",samples=\"sparse\"}",
		       "2.90025e-06");
	metrics_expect("pebsd_interrupt_cost_seconds{event=\"loads\",pmu=\"cpu_atom\",samples=\"sparse\"}",
		       NULL);
	metrics_expect("pebsd_period_changes_total{event=\"loads\",pmu=\"cpu_core\",reason=\"over_budget\"}",
		       "3");
	metrics_expect("pebsd_period_changes_total{event=\"loads\",pmu=\"cpu_core\",reason=\"under_budget\"}",
		       "5");
	metrics_expect("pebsd_period_changes_total{event=\"loads\",pmu=\"cpu_core\",reason=\"throttled\"}",
		       "1");
	metrics_expect("pebsd_period_changes_total{event=\"loads\",pmu=\"cpu_core\",reason=\"rate_lowered\"}",
		       "0");
	metrics_expect("pebsd_period_changes_total{event=\"loads\",pmu=\"cpu_atom\",reason=\"throttled\"}",
		       NULL);
	cr_expect_eq(metrics_count(""), 11);
}

/* Returns the first line of status after the label. The caller frees it. */
static char *state_of(json_object *status)
{
	_cleanup_free_ char *text = FORMATTED(format_status(out, status, NULL, &wide));

	cr_assert_eq(strncmp(text, "      State: ", 13), 0, "%s", text);
	return strndup(text + 13, strcspn(text, "\n") - 13);
}

static void expect_state(const char *status, const char *expected)
{
	_cleanup_json_ json_object *object = json_tokener_parse(status);
	_cleanup_free_ char *state = NULL;

	cr_assert_not_null(object, "%s", status);
	state = state_of(object);
	cr_expect_str_eq(state, expected);
}

#define SAMPLES(lost, without) \
	"\"samples\":{\"seen\":1000,\"unattributed\":" without ",\"lost\":{\"malformed\":" lost "}}"
#define EVENT(pmu, cpus, ratio, budget) \
	"{\"pmu\":\"" pmu "\",\"cpus\":\"" cpus "\",\"cost\":{\"ratio\":" ratio ",\"budget\":" budget "}}"

Test(cost_shown, the_first_line_of_status_is_the_verdict)
{
	expect_state("{\"origin\":\"perf\",\"events\":{\"loads\":" EVENT(
			     "cpu", "0-63", "0.003",
			     "0.004") ",\"cycles\":" EVENT("cpu", "0-63", "0.0002",
							   "0.001") "}," SAMPLES("0", "0") "}",
		     "sampling loads and cycles on 64 CPUs, cost 0.32% of 0.50%, nothing lost");
	expect_state(
		"{\"origin\":\"perf\",\"events\":{\"loads\":" EVENT(
			"cpu", "2", "0.003", "0.004") "}," SAMPLES("250", "5") ",\"alerts_firing\":2}",
		"sampling loads on 1 CPU, cost 0.30% of 0.40%, 20.0% of the samples lost, 0.5% without a slot, 2 alerts firing");
	expect_state("{\"origin\":\"perf\",\"events\":{}}", "no event is sampled");
	expect_state("{\"origin\":\"perf\"}", "not known");
	expect_state("{\"origin\":\"model\",\"events\":{\"loads\":{\"pmu\":\"x\",\"cpus\":\"0-6\"}}}",
		     "modelling loads on 7 CPUs");
}

/* Each PMU of a hybrid CPU has the whole budget on its own CPUs. */
Test(cost_shown, the_verdict_has_the_cost_of_the_costliest_pmu)
{
	expect_state("{\"origin\":\"perf\",\"events\":{\"loads:cpu_core\":" EVENT(
			     "cpu_core", "0-3", "0.001",
			     "0.005") ",\"loads:cpu_atom\":" EVENT("cpu_atom", "4-7", "0.002", "0.005") "}}",
		     "sampling loads on 8 CPUs, cost 0.20% of 0.50%");
}

Test(cost_shown, the_verdict_lacks_a_cost_that_is_known_in_part)
{
	expect_state(
		"{\"origin\":\"perf\",\"events\":{\"loads\":" EVENT(
			"cpu", "0", "0.001",
			"0.004") ",\"cycles\":{\"pmu\":\"cpu\",\"cpus\":\"0\",\"cost\":{\"budget\":0.001}}}}",
		"sampling loads and cycles on 1 CPU");
}

Test(cost_shown, pause_and_replay_have_their_own_verdict)
{
	expect_state("{\"origin\":\"perf\",\"paused\":true,\"events\":{\"loads\":{}}}",
		     "paused until `pebsctl resume`");
	expect_state("{\"paused\":true,\"paused_until\":\"2026-11-21T06:00:00Z\",\"alerts_firing\":1}",
		     "paused until Sat 2026-11-21 06:00:00 UTC, 1 alert firing");
	expect_state("{\"origin\":\"replay\",\"replay_done\":false,\"events\":{\"loads\":{}}}",
		     "reading the replay");
	expect_state("{\"origin\":\"replay\",\"replay_done\":true}", "all records of the replay were read");
}

Test(cost_shown, the_verdict_is_coloured_as_in_systemctl)
{
	static const char *const cases[][2] = {
		{"{\"events\":{\"loads\":{}}}", "      State: \033[32msampling\033[0m loads\n"},
		{"{\"events\":{\"loads\":{}},\"alerts_firing\":1}",
		 "      State: \033[32msampling\033[0m loads, \033[31m1 alert firing\033[0m\n"},
		{"{\"events\":{}}", "      State: \033[31mno event is sampled\033[0m\n"},
		{"{\"paused\":true}", "      State: \033[33mpaused until `pebsctl resume`\033[0m\n"},
	};
	const struct format_style coloured = {.colour = true};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_json_ json_object *status = json_tokener_parse(cases[i][0]);
		_cleanup_free_ char *text = FORMATTED(format_status(out, status, NULL, &coloured));

		cr_expect_eq(strncmp(text, cases[i][1], strlen(cases[i][1])), 0, "%s", text);
	}
}

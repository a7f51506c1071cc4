// SPDX-License-Identifier: GPL-2.0
/* Alerts as metrics: the choice of alerts that have a series, and the bounds of a scrape. */
#include <criterion/criterion.h>
#include <locale.h>
#include <string.h>

#include "base/cleanup.h"
#include "example_rules.h"
#include "example_snapshot.h"
#include "export/prometheus/prometheus.h"
#include "parse_metrics.h"

enum { SLOW_DB, REMOTE, WORSE, STARVED };

static struct alert in_state(size_t rule, const char *cgroup, enum alert_state state)
{
	struct alert alert = example_alert(rule, cgroup);

	alert.decision.state = state;
	return alert;
}

/* Reads both formats with the strict reader. Returns the result of the text format. */
static struct metrics read_all(const struct prometheus_alerts *alerts)
{
	struct metrics metrics = {0};

	(void)setlocale(LC_CTYPE, "C.UTF-8");
	for (int openmetrics = 1; openmetrics >= 0; openmetrics--) {
		const struct prometheus_options options = {.openmetrics = openmetrics, .alerts = alerts};
		_cleanup_free_ char *text = NULL;
		char mistake[256];
		size_t length;

		metrics_free(&metrics);
		cr_assert_eq(prometheus_render(example_perf(), NULL, 0, &options, NULL, &text, &length), 0);
		cr_assert_null(metrics_parse(text, openmetrics, &metrics, mistake), "%s in\n%s", mistake,
			       text);
	}
	return metrics;
}

static void expect(const struct metrics *metrics, const char *series, const char *value)
{
	const char *found = metrics_value(metrics, series);

	if (!value)
		cr_expect_null(found, "%s is there", series);
	else
		cr_expect_str_eq(found ? found : "(nothing)", value, "%s is %s, not %s", series,
				 found ? found : "not there", value);
}

/* Returns the number of series of a family. */
static size_t count(const struct metrics *metrics, const char *family)
{
	size_t n = 0;

	for (size_t i = 0; i < metrics->n; i++)
		if (strncmp(metrics->list[i].series, family, strlen(family)) == 0)
			n++;
	return n;
}

#define ALERT(rule, cgroup, severity) \
	"pebsd_alert{rule=\"" rule "\",cgroup=\"" cgroup "\",severity=\"" severity "\"}"

Test(prometheus_alerts, pending_is_0_and_firing_1)
{
	struct alert list[] = {
		in_state(SLOW_DB, "/firing", ALERT_FIRING),     in_state(SLOW_DB, "/pending", ALERT_PENDING),
		in_state(SLOW_DB, "/resolved", ALERT_RESOLVED), in_state(SLOW_DB, "/fine", ALERT_INACTIVE),
		in_state(WORSE, "/firing", ALERT_PENDING),      in_state(REMOTE, "/firing", ALERT_FIRING),
		in_state(STARVED, "/unknown", ALERT_FIRING),
	};
	const struct prometheus_alerts alerts = {.list = list, .n = ARRAY_SIZE(list), .n_rules = 4};
	struct metrics metrics;

	list[6].decision.unknown = UNKNOWN_SOURCE;
	metrics = read_all(&alerts);
	expect(&metrics, ALERT("slow-db", "/firing", "critical"), "1");
	expect(&metrics, ALERT("slow-db", "/pending", "critical"), "0");
	expect(&metrics, ALERT("worse", "/firing", "warning"), "0");
	expect(&metrics, ALERT("starved", "/unknown", "info"), "1");
	cr_expect_eq(count(&metrics, "pebsd_alert{"), 4, "resolved, inactive ones and dry runs have none");
	expect(&metrics, "pebsd_rules", "4");
	expect(&metrics, "pebsd_alerts_unlisted", "0");
	metrics_free(&metrics);
}

/* The series has the larger value, whichever comes first. */
Test(prometheus_alerts, events_of_one_cgroup_share_a_series)
{
	for (int firing = 0; firing < 3; firing++) {
		struct alert list[] = {
			in_state(SLOW_DB, "/db", ALERT_PENDING),
			in_state(SLOW_DB, "/other", ALERT_PENDING),
			in_state(SLOW_DB, "/db", ALERT_PENDING),
		};
		const struct prometheus_alerts alerts = {.list = list, .n = ARRAY_SIZE(list)};
		struct metrics metrics;

		list[2].event_key = "loads:cpu_atom";
		if (firing)
			list[firing == 1 ? 0 : 2].decision.state = ALERT_FIRING;
		metrics = read_all(&alerts);
		expect(&metrics, ALERT("slow-db", "/db", "critical"), firing ? "1" : "0");
		expect(&metrics, ALERT("slow-db", "/other", "critical"), "0");
		cr_expect_eq(count(&metrics, "pebsd_alert{"), 2);
		metrics_free(&metrics);
	}
}

Test(prometheus_alerts, names_of_any_bytes_are_escaped)
{
	struct alert list[] = {in_state(SLOW_DB, "/a\"b\\c\nd\xff", ALERT_FIRING)};
	const struct prometheus_alerts alerts = {.list = list, .n = 1};
	struct metrics metrics = read_all(&alerts);

	expect(&metrics,
	       ALERT("slow-db",
		     "/a\\\"b\\\\c\\nd\xef\xbf\xbd"
		     "ff",
		     "critical"),
	       "1");
	metrics_free(&metrics);
}

Test(prometheus_alerts, each_action_and_result_has_a_series_from_the_start)
{
	struct prometheus_alerts alerts = {0};
	struct metrics metrics;

	alerts.actions[ACT_UNIT][ACT_FAILED] = 3;
	alerts.actions[ACT_LOG][ACT_DONE] = 12;
	metrics = read_all(&alerts);
	expect(&metrics, "pebsd_alert_actions_total{action=\"log\",result=\"done\"}", "12");
	expect(&metrics, "pebsd_alert_actions_total{action=\"log\",result=\"failed\"}", "0");
	expect(&metrics, "pebsd_alert_actions_total{action=\"log\",result=\"limited\"}", "0");
	expect(&metrics, "pebsd_alert_actions_total{action=\"unit\",result=\"done\"}", "0");
	expect(&metrics, "pebsd_alert_actions_total{action=\"unit\",result=\"failed\"}", "3");
	expect(&metrics, "pebsd_alert_actions_total{action=\"unit\",result=\"limited\"}", "0");
	expect(&metrics, "pebsd_alert_actions_total{action=\"zoom\",result=\"done\"}", "0");
	expect(&metrics, "pebsd_alert_actions_total{action=\"hot\",result=\"failed\"}", "0");
	expect(&metrics, "pebsd_rules", "0");
	metrics_free(&metrics);
}

Test(prometheus_alerts, without_policy_there_are_no_alert_metrics)
{
	struct metrics metrics = read_all(NULL);

	cr_expect_eq(count(&metrics, "pebsd_alert"), 0);
	cr_expect_eq(count(&metrics, "pebsd_rules"), 0);
	metrics_free(&metrics);
}

#define MANY (PROMETHEUS_ALERTS_MAX + 5)

/* Beyond the limit, the latest pending alerts are dropped first. The order of the list does not matter. */
Test(prometheus_alerts, a_scrape_is_bounded)
{
	static struct alert list[MANY];
	static char cgroups[MANY][16];
	const struct prometheus_alerts alerts = {.list = list, .n = MANY};

	for (int reversed = 0; reversed < 2; reversed++) {
		struct metrics metrics;

		for (size_t i = 0; i < MANY; i++) {
			size_t place = reversed ? MANY - 1 - i : i;

			(void)snprintf(cgroups[i], sizeof(cgroups[i]), "/%zu", i);
			list[place] = in_state(SLOW_DB, cgroups[i], ALERT_PENDING);
			list[place].since = (struct timespec){.tv_sec = 1000, .tv_nsec = (long)i};
			if (i == MANY - 1) /* the last one, but it fires */
				list[place].decision.state = ALERT_FIRING;
		}
		metrics = read_all(&alerts);
		cr_expect_eq(count(&metrics, "pebsd_alert{"), PROMETHEUS_ALERTS_MAX);
		expect(&metrics, "pebsd_alerts_unlisted", "5");
		expect(&metrics, ALERT("slow-db", "/1004", "critical"), "1");
		expect(&metrics, ALERT("slow-db", "/0", "critical"), "0");
		expect(&metrics, ALERT("slow-db", "/998", "critical"), "0");
		expect(&metrics, ALERT("slow-db", "/999", "critical"), NULL);
		expect(&metrics, ALERT("slow-db", "/1003", "critical"), NULL);
		metrics_free(&metrics);
	}
}

/* Checks the text with Prometheus's own tool. */
Test(prometheus_alerts, promtool_accepts_the_metrics)
{
	struct alert list[] = {in_state(SLOW_DB, "/db", ALERT_FIRING), in_state(WORSE, "/db", ALERT_PENDING)};
	const struct prometheus_alerts alerts = {.list = list, .n = ARRAY_SIZE(list), .n_rules = 2};
	const struct prometheus_options options = {.alerts = &alerts};
	_cleanup_free_ char *text = NULL;
	size_t length;
	FILE *promtool;

	if (system("command -v promtool >/dev/null") != 0)
		cr_skip("needs promtool (package prometheus)");
	cr_assert_eq(prometheus_render(example_perf(), NULL, 0, &options, NULL, &text, &length), 0);
	/* promtool reports to standard error. It also fails for remarks that are not errors. */
	promtool = popen("promtool check metrics", "w");
	cr_assert_not_null(promtool);
	cr_expect_eq(fwrite(text, 1, length, promtool), length);
	cr_expect_eq(pclose(promtool), 0);
}

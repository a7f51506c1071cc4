// SPDX-License-Identifier: GPL-2.0
/* Alerts as metrics: the choice of alerts that have a series, and the bounds of a scrape. */
#include <criterion/criterion.h>

#include "base/cleanup.h"
#include "example_rules.h"
#include "example_snapshot.h"
#include "expect_metrics.h"
#include "export/prometheus/prometheus.h"

enum { SLOW_DB, REMOTE, WORSE, STARVED };

static struct alert in_state(size_t rule, const char *cgroup, enum alert_state state)
{
	struct alert alert = example_alert(rule, cgroup);

	alert.decision.state = state;
	return alert;
}

/* Reads both formats, the text format last. */
static void read_all(const struct prometheus_alerts *alerts)
{
	for (int openmetrics = 1; openmetrics >= 0; openmetrics--) {
		const struct prometheus_options options = {.openmetrics = openmetrics, .alerts = alerts};
		_cleanup_free_ char *text = NULL;
		size_t length;

		cr_assert_eq(prometheus_render(example_perf(), NULL, 0, &options, NULL, &text, &length), 0);
		metrics_read(text, openmetrics);
	}
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

	list[6].decision.unknown = UNKNOWN_SOURCE;
	read_all(&alerts);
	metrics_expect(ALERT("slow-db", "/firing", "critical"), "1");
	metrics_expect(ALERT("slow-db", "/pending", "critical"), "0");
	metrics_expect(ALERT("worse", "/firing", "warning"), "0");
	metrics_expect(ALERT("starved", "/unknown", "info"), "1");
	cr_expect_eq(metrics_count("pebsd_alert{"), 4, "resolved, inactive ones and dry runs have none");
	metrics_expect("pebsd_rules", "4");
	metrics_expect("pebsd_alerts_unlisted", "0");
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

		list[2].event_key = "loads:cpu_atom";
		if (firing)
			list[firing == 1 ? 0 : 2].decision.state = ALERT_FIRING;
		read_all(&alerts);
		metrics_expect(ALERT("slow-db", "/db", "critical"), firing ? "1" : "0");
		metrics_expect(ALERT("slow-db", "/other", "critical"), "0");
		cr_expect_eq(metrics_count("pebsd_alert{"), 2);
	}
}

Test(prometheus_alerts, names_of_any_bytes_are_escaped)
{
	struct alert list[] = {in_state(SLOW_DB, "/a\"b\\c\nd\xff", ALERT_FIRING)};
	const struct prometheus_alerts alerts = {.list = list, .n = 1};

	read_all(&alerts);
	metrics_expect(ALERT("slow-db",
			     "/a\\\"b\\\\c\\nd\xef\xbf\xbd"
			     "ff",
			     "critical"),
		       "1");
}

Test(prometheus_alerts, each_action_and_result_has_a_series_from_the_start)
{
	struct prometheus_alerts alerts = {0};

	alerts.actions[ACT_UNIT][ACT_FAILED] = 3;
	alerts.actions[ACT_LOG][ACT_DONE] = 12;
	read_all(&alerts);
	metrics_expect("pebsd_alert_actions_total{action=\"log\",result=\"done\"}", "12");
	metrics_expect("pebsd_alert_actions_total{action=\"log\",result=\"failed\"}", "0");
	metrics_expect("pebsd_alert_actions_total{action=\"log\",result=\"limited\"}", "0");
	metrics_expect("pebsd_alert_actions_total{action=\"unit\",result=\"done\"}", "0");
	metrics_expect("pebsd_alert_actions_total{action=\"unit\",result=\"failed\"}", "3");
	metrics_expect("pebsd_alert_actions_total{action=\"unit\",result=\"limited\"}", "0");
	metrics_expect("pebsd_alert_actions_total{action=\"zoom\",result=\"done\"}", "0");
	metrics_expect("pebsd_alert_actions_total{action=\"hot\",result=\"failed\"}", "0");
	metrics_expect("pebsd_rules", "0");
}

Test(prometheus_alerts, without_policy_there_are_no_alert_metrics)
{
	read_all(NULL);
	cr_expect_eq(metrics_count("pebsd_alert"), 0);
	cr_expect_eq(metrics_count("pebsd_rules"), 0);
}

#define MANY (PROMETHEUS_ALERTS_MAX + 5)

/* Beyond the limit, the latest pending alerts are dropped first. The order of the list does not matter. */
Test(prometheus_alerts, a_scrape_is_bounded)
{
	static struct alert list[MANY];
	static char cgroups[MANY][16];
	const struct prometheus_alerts alerts = {.list = list, .n = MANY};

	for (int reversed = 0; reversed < 2; reversed++) {
		for (size_t i = 0; i < MANY; i++) {
			size_t place = reversed ? MANY - 1 - i : i;

			(void)snprintf(cgroups[i], sizeof(cgroups[i]), "/%zu", i);
			list[place] = in_state(SLOW_DB, cgroups[i], ALERT_PENDING);
			list[place].since = (struct timespec){.tv_sec = 1000, .tv_nsec = (long)i};
			if (i == MANY - 1) /* the last one, but it fires */
				list[place].decision.state = ALERT_FIRING;
		}
		read_all(&alerts);
		cr_expect_eq(metrics_count("pebsd_alert{"), PROMETHEUS_ALERTS_MAX);
		metrics_expect("pebsd_alerts_unlisted", "5");
		metrics_expect(ALERT("slow-db", "/1004", "critical"), "1");
		metrics_expect(ALERT("slow-db", "/0", "critical"), "0");
		metrics_expect(ALERT("slow-db", "/998", "critical"), "0");
		metrics_expect(ALERT("slow-db", "/999", "critical"), NULL);
		metrics_expect(ALERT("slow-db", "/1003", "critical"), NULL);
	}
}

Test(prometheus_alerts, promtool_accepts_the_metrics)
{
	struct alert list[] = {in_state(SLOW_DB, "/db", ALERT_FIRING), in_state(WORSE, "/db", ALERT_PENDING)};
	const struct prometheus_alerts alerts = {.list = list, .n = ARRAY_SIZE(list), .n_rules = 2};
	const struct prometheus_options options = {.alerts = &alerts};
	_cleanup_free_ char *text = NULL;
	size_t length;

	cr_assert_eq(prometheus_render(example_perf(), NULL, 0, &options, NULL, &text, &length), 0);
	metrics_expect_accepted(text);
}

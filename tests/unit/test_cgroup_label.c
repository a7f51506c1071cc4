// SPDX-License-Identifier: GPL-2.0
/*
 * The labels of a cgroup, besides its path, in each output. Metrics have the labels that are configured, and
 * JSON has all of them. Neither has any if nothing is known.
 */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/json_get.h"
#include "expect_metrics.h"
#include "export/json/json.h"
#include "export/prometheus/cgroup_label.h"
#include "export/prometheus/prometheus.h"

#define BIT(label) (1U << CONTAINER_LABEL_##label)

#define POD   "/kubepods/burstable/pod1/2"
#define QUOTE "/lxc.payload.a"

static const struct container *find(void *userdata, const char *path)
{
	static const struct container pod = {.text = {[CONTAINER_LABEL_RUNTIME] = "containerd",
						      [CONTAINER_LABEL_NAMESPACE] = "shop",
						      [CONTAINER_LABEL_POD] = "cart-0",
						      [CONTAINER_LABEL_CONTAINER] = "app"}};
	static const struct container quote = {
		.text = {[CONTAINER_LABEL_RUNTIME] = "lxc", [CONTAINER_LABEL_CONTAINER] = "a\"b\\c\nd\xff"}};

	(void)userdata;
	if (strcmp(path, POD) == 0)
		return &pod;
	return strcmp(path, QUOTE) == 0 ? &quote : NULL;
}

static const struct container_lookup lookup = {.find = find};

static void expect(const struct container_lookup *containers, unsigned int labels, const char *path,
		   const char *wanted)
{
	const struct cgroup_label_request request = {.containers = containers, .labels = labels};
	_cleanup_free_ char *text = NULL;

	cr_assert_eq(cgroup_label(&request, path, &text), 0);
	cr_expect_str_eq(text, wanted);
}

Test(cgroup_label, only_requested_and_known_labels_are_written)
{
	expect(NULL, ~0U, POD, "cgroup=\"" POD "\"");
	expect(&lookup, 0, POD, "cgroup=\"" POD "\"");
	expect(&lookup, BIT(POD) | BIT(UNIT), POD, "cgroup=\"" POD "\",pod=\"cart-0\"");
	expect(&lookup, ~0U, POD,
	       "cgroup=\"" POD
	       "\",runtime=\"containerd\",namespace=\"shop\",pod=\"cart-0\",container=\"app\"");
	expect(&lookup, ~0U, "other", "cgroup=\"other\"");
	/* Values are escaped like those of all labels, and bytes that are not UTF-8 are made visible. */
	expect(&lookup, BIT(CONTAINER), QUOTE,
	       "cgroup=\"" QUOTE "\",container=\"a\\\"b\\\\c\\nd\xef\xbf\xbd"
	       "ff\"");
}

static struct counters counters;

static struct snapshot snapshot_with(struct snapshot_cgroup *cgroups, size_t n)
{
	struct snapshot snapshot = {.origin = "perf",
				    .n_events = 1,
				    .cgroups = cgroups,
				    .n_cgroups = n,
				    .containers = &lookup,
				    .slots = 16};

	snapshot.events[0].event = (struct event){.role = EVENT_LOADS, .pmu = "cpu"};
	snapshot.events[0].event.settings.has_source = true;
	(void)stpcpy(snapshot.events[0].key, "loads");
	counters.samples[0] = 7;
	counters.weight[0] = 7;
	return snapshot;
}

#define LABELLED "cgroup=\"" POD "\",namespace=\"shop\",pod=\"cart-0\""

Test(cgroup_label, all_metrics_that_have_a_cgroup_have_them)
{
	struct snapshot_cgroup cgroups[] = {{.path = POD, .guest_not_sampled = true}};
	struct snapshot snapshot = snapshot_with(cgroups, ARRAY_SIZE(cgroups));
	struct series series = {.path = (char *)POD, .counters = {&counters}};
	struct series other = {.path = (char *)"other", .counters = {&counters}};
	const struct series *const list[] = {&series, &other};
	struct rule rule = {.name = "slow", .severity = "warning"};
	struct alert alert = {.rule = &rule, .cgroup = (char *)POD, .decision.state = ALERT_FIRING};
	const struct prometheus_alerts alerts = {.list = &alert, .n = 1};

	for (int openmetrics = 0; openmetrics <= 1; openmetrics++) {
		const struct prometheus_options options = {
			.openmetrics = openmetrics, .labels = BIT(NAMESPACE) | BIT(POD), .alerts = &alerts};
		_cleanup_free_ char *text = NULL;
		size_t length;

		cr_assert_eq(
			prometheus_render(&snapshot, list, ARRAY_SIZE(list), &options, NULL, &text, &length),
			0);
		metrics_read(text, openmetrics);
		metrics_expect("pebsd_weighted_samples_total{" LABELLED ",event=\"loads\",pmu=\"cpu\"}", "7");
		metrics_expect("pebsd_guest_not_sampled{" LABELLED "}", "1");
		metrics_expect("pebsd_alert{rule=\"slow\"," LABELLED ",severity=\"warning\"}", "1");
		metrics_expect("pebsd_weighted_samples_total{cgroup=\"other\",event=\"loads\",pmu=\"cpu\"}",
			       "7");
	}
}

static const char *label_of(json_object *cgroup, const char *name)
{
	const char *text = json_get_text(json_get_object(cgroup, "labels"), name);

	return text ? text : "";
}

Test(cgroup_label, json_has_all_known_labels)
{
	struct snapshot_cgroup cgroups[] = {{.path = POD, .counters = {&counters}},
					    {.path = QUOTE, .counters = {&counters}},
					    {.path = "other", .counters = {&counters}}};
	const struct snapshot snapshot = snapshot_with(cgroups, ARRAY_SIZE(cgroups));
	_cleanup_json_ json_object *top = json_top(&snapshot);
	_cleanup_json_ json_object *show = json_cgroup(&snapshot, 0, NULL);
	_cleanup_json_ json_object *none = json_cgroup_without_samples(&snapshot, POD, 9, true);
	json_object *list = json_get_array(top, "cgroups");

	cr_expect_str_eq(label_of(json_object_array_get_idx(list, 0), "pod"), "cart-0");
	cr_expect_str_eq(label_of(json_object_array_get_idx(list, 0), "runtime"), "containerd");
	cr_expect_str_eq(label_of(json_object_array_get_idx(list, 0), "unit"), "");
	cr_expect_str_eq(label_of(json_object_array_get_idx(list, 1), "container"), "a\"b\\c\nd\xef\xbf\xbd"
										    "ff");
	cr_expect_null(json_get(json_object_array_get_idx(list, 2), "labels"));
	cr_expect_str_eq(label_of(show, "container"), "app");
	cr_expect_str_eq(label_of(none, "namespace"), "shop");
}

// SPDX-License-Identifier: GPL-2.0
/* The frequencies of CPUs, and latencies in nanoseconds, as JSON and text. */
#include <criterion/criterion.h>

#include "base/cleanup.h"
#include "base/json_get.h"
#include "example_snapshot.h"
#include "export/json/json.h"
#include "format/format.h"
#include "formatted.h"

static const struct format_style wide = {.width = 200};

static struct snapshot *snapshot;

/* A P core with a nominal frequency and an event of cycles, and an E core of which nothing is known. */
static void setup(void)
{
	snapshot = example_several();
	snapshot->nominal_hz = (struct maybe_double){true, 3.2e9};
	snapshot->events[0].event.nominal_hz = 3.2e9;
	snapshot->events[2].event.role = EVENT_CYCLES;
	snapshot->events[2].event.nominal_hz = 3.2e9;
	snapshot->events[2].frequency_hz = (struct maybe_double){true, 4731250000.6};
}

TestSuite(frequency_shown, .init = setup);

static void expect_frequency(json_object *object, const char *key, u64 expected)
{
	u64 value = 0;

	cr_expect_eq(json_get_u64(object, key, &value), expected != 0, "%s", key);
	cr_expect_eq(value, expected, "%s is %llu", key, (unsigned long long)value);
}

Test(frequency_shown, json_has_the_frequency)
{
	_cleanup_json_ json_object *status = json_status(snapshot);
	json_object *events = json_get_object(status, "events");

	expect_frequency(status, "nominal_frequency", 3200000000);
	expect_frequency(json_get_object(events, "loads:cpu_core"), "nominal_frequency", 3200000000);
	expect_frequency(json_get_object(events, "loads:cpu_core"), "frequency", 0);
	expect_frequency(json_get_object(events, "loads:cpu_atom"), "nominal_frequency", 0);
	expect_frequency(json_get_object(events, "stores"), "frequency", 4731250000);
}

static char *status_text(void)
{
	_cleanup_json_ json_object *status = json_status(snapshot);

	return FORMATTED(format_status(out, status, NULL, &wide));
}

Test(frequency_shown, the_status_shows_the_frequency)
{
	_cleanup_free_ char *text = status_text();
	_cleanup_free_ char *less = NULL;

	formatted_expect(text,
			 "             100 cycles are about 31.2 ns at 3.2 GHz, the nominal frequency\n");
	formatted_expect(
		text,
		"             its CPUs run at 4.731 GHz while they are busy; their nominal frequency is 3.2 GHz\n");
	snapshot->events[0].event.nominal_hz = snapshot->events[2].event.nominal_hz = 0;
	less = status_text();
	formatted_expect(less, "             its CPUs run at 4.731 GHz while they are busy\n");
	formatted_expect_not(less, "100 cycles");
}

Test(frequency_shown, a_cgroup_has_the_frequency)
{
	_cleanup_json_ json_object *status = NULL, *cgroup = NULL;
	_cleanup_free_ char *text = NULL, *less = NULL;

	snapshot = example_perf();
	snapshot->events[0].event.nominal_hz = 2.5e9;
	status = json_status(snapshot);
	cgroup = json_cgroup(snapshot, 0, NULL);
	text = FORMATTED(format_cgroup(out, status, cgroup, NULL, &wide));
	formatted_expect(text, "             100 cycles are about 40 ns at 2.5 GHz, the nominal frequency\n");
	formatted_expect(text, "             about mean ");
	json_object_object_del(json_get_object(json_get_object(status, "events"), snapshot->events[0].key),
			       "nominal_frequency");
	less = FORMATTED(format_cgroup(out, status, cgroup, NULL, &wide));
	formatted_expect_not(less, "about mean");
}

// SPDX-License-Identifier: GPL-2.0
#include <criterion/criterion.h>
#include <errno.h>
#include <limits.h>
#include <string.h>

#include "base/json_get.h"
#include "example_snapshot.h"
#include "export/json/json.h"
#include "export/json/per_thousand.h"
#include "formatted.h"
#include "heap.h"
#include "varlink/varlink.h"

/*
 * Every flag with the value 0. A flag that has samples comes after it with its own value: the parser takes the last of
 * two members with the same name.
 */
#define FLAG_0(name, ...) ",'" #name "':0"
#define FLAGS_0           ACCESS_FLAGS(FLAG_0)

/* The same for stores with a TLB result. */
#define STORES_FLAG_KNOWN_WITH_TLB(name)     FLAG_0(name)
#define STORES_FLAG_KNOWN_OF_LOADS(name)     ""
#define STORE_FLAG_0(name, bits, known, ...) STORES_##known(name)
#define STORE_FLAGS_0                        ACCESS_FLAGS(STORE_FLAG_0)

#define KSTALED                                                                                        \
	"'pmu':'cpu','ldlat':64,'latency_kind':'use','samples':13,'latency':{'sum':1613,'mean':124.1," \
	"'p50':{'value':118.7,'low':112,'high':120},'p90':{'value':155.2,'low':144,'high':160,"        \
	"'few':true},'p95':{'value':165.6,'low':160,'high':176,'few':true},'p99':{'value':173.9,"      \
	"'low':160,'high':176,'few':true},'p999':{'value':175.8,'low':160,'high':176,'few':true}},"

Test(json, top_of_a_replay_is_written_in_full)
{
	struct snapshot *snapshot = example_replay();

	snapshot->n_cgroups = 1; /* the second cgroup has the same form */
	expect_json(json_top(snapshot),
		    "{'version':1,'origin':'replay','since':'2026-11-21T06:00:00Z','window_s':null,"
		    "'samples':{'seen':14,'attributed':14,'unattributed':0,'lost':{},"
		    "'unsampled_seconds':{}},'total':{'events':{'loads':{'pmu':'cpu','ldlat':64,"
		    "'latency_kind':'use','samples':14,'latency':{'sum':1725,'mean':123.2,"
		    "'p50':{'value':117.3,'low':112,'high':120},'p90':{'value':153.6,'low':144,"
		    "'high':160,'few':true},'p95':{'value':164.8,'low':160,'high':176,'few':true},"
		    "'p99':{'value':173.8,'low':160,'high':176,'few':true},'p999':{'value':175.8,"
		    "'low':160,'high':176,'few':true}},'sources':{'l1':{'samples':4,'latency_sum':412},"
		    "'l2':{'samples':1,'latency_sum':77},'lfb':{'samples':5,'latency_sum':729},"
		    "'l3':{'samples':4,'latency_sum':507}},'snoop':{'none':14},'tlb':{'hit':13,"
		    "'miss':1}" FLAGS_0 ",'locked':2}}},'cgroups':[{'cgroup':'comm:kstaled','id':0,"
		    "'events':{'loads':{" KSTALED
		    "'sources':{'l1':{'samples':3,'latency_sum':300},'l2':{'samples':1,"
		    "'latency_sum':77},'lfb':{'samples':5,'latency_sum':729},'l3':{'samples':4,"
		    "'latency_sum':507}},'snoop':{'none':13},'tlb':{'hit':12,'miss':1}" FLAGS_0
		    ",'locked':2}}}]}");
}

Test(json, cgroup_adds_its_histograms)
{
	expect_json(json_cgroup(example_replay(), 0, NULL),
		    "{'version':1,'origin':'replay','since':'2026-11-21T06:00:00Z','window_s':null,"
		    "'cgroup':'comm:kstaled','id':0,'alive':true,'events':{'loads':{" KSTALED
		    "'histogram':[{'le':80,'samples':1},{'le':104,'samples':3},{'le':120,'samples':3},"
		    "{'le':144,'samples':4},{'le':160,'samples':1},{'le':176,'samples':1}],"
		    "'sources':{'l1':{'samples':3,'latency_sum':300,'histogram':[{'le':128,"
		    "'samples':3}]},'l2':{'samples':1,'latency_sum':77,'histogram':[{'le':128,"
		    "'samples':1}]},'lfb':{'samples':5,'latency_sum':729,'histogram':[{'le':256,"
		    "'samples':5}]},'l3':{'samples':4,'latency_sum':507,'histogram':[{'le':128,"
		    "'samples':3},{'le':256,'samples':1}]}},'snoop':{'none':13},'tlb':{'hit':12,"
		    "'miss':1}" FLAGS_0 ",'locked':2}}}");
}

Test(json, a_cgroup_without_samples_has_no_event)
{
	expect_json(json_cgroup_without_samples(example_replay(), "/idle", 7, false),
		    "{'version':1,'origin':'replay','since':'2026-11-21T06:00:00Z','window_s':null,"
		    "'cgroup':'/idle','id':7,'alive':false,'events':{}}");
}

Test(json, cgroups_without_a_slot_are_counted)
{
	static char first[] = "/new.slice/a.service", second[] = "/new.slice/b.service";
	static char *paths[] = {first, second};
	static const struct no_slot no_slot = {.paths = paths, .n = 2};
	struct snapshot *snapshot = example_perf();
	_cleanup_json_ json_object *status = NULL, *top = NULL, *cgroup = NULL, *other = NULL;
	json_object *member;

	snapshot->without_slot = 3;
	snapshot->no_slot = &no_slot;
	status = json_status(snapshot);
	top = json_top(snapshot);
	cgroup = json_cgroup_without_samples(snapshot, "/new.slice/b.service", 0, true);
	other = json_cgroup_without_samples(snapshot, "/idle", 7, true);
	cr_assert(json_object_object_get_ex(cgroup, "no_slot", &member));
	cr_expect(json_object_get_boolean(member));
	cr_expect_not(json_object_object_get_ex(other, "no_slot", &member));
	cr_assert(json_object_object_get_ex(top, "without_slot", &member));
	cr_expect_eq(json_object_get_int(member), 3);
	cr_assert(json_object_object_get_ex(status, "without_slot", &member));
	cr_expect_eq(json_object_get_int(member), 3);
	cr_assert(json_object_object_get_ex(status, "no_slot", &member));
	cr_assert_eq(json_object_array_length(member), 2);
	cr_expect_str_eq(json_object_get_string(json_object_array_get_idx(member, 1)), second);
}

Test(json, names_of_cgroups_do_not_make_status_too_large_for_a_reply)
{
	static char path[PATH_MAX];
	static char *paths[100];
	static const char *hot[65];
	static const struct no_slot no_slot = {.paths = paths, .n = 100};
	static const struct detail_counts detail = {.hot = hot, .hot_max = 64};
	struct snapshot *snapshot = example_perf();
	_cleanup_json_ json_object *status = NULL;
	size_t length;

	/* JSON writes this byte as six bytes. */
	memset(path, '\1', sizeof(path) - 1);
	for (size_t i = 0; i < 100; i++)
		paths[i] = path;
	for (size_t i = 0; i < 64; i++)
		hot[i] = path;
	snapshot->no_slot = &no_slot;
	snapshot->detail = &detail;
	status = json_status(snapshot);
	(void)json_object_to_json_string_length(
		status, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE, &length);
	cr_expect_lt(length, VARLINK_REPLY_MAX * 3 / 4);
}

Test(json, the_status_of_a_live_machine_is_written_in_full)
{
	expect_json(json_status(example_perf()),
		    "{'version':1,'origin':'perf','since':'2026-11-21T06:00:00Z',"
		    "'taken':'2026-11-21T06:01:00Z','paused':false,"
		    "'events':{'loads:cpu_core':{'role':'loads','pmu':'cpu_core','period':1009,"
		    "'ldlat':30,'latency_kind':'cache','measures':['latency','source'],'cpus':'0-3',"
		    "'running_ratio':0.975,'throttles':63,'rearmed':2,'samples':{'seen':102,"
		    "'attributed':100,'unattributed':2,'lost':{'malformed':0,'unexplained':3},"
		    "'unsampled_seconds':{'throttled':0.25,'multiplexed':1.5}},'per_cpu':[{'cpu':0,"
		    "'online':true,'in_error':false,'expected':70,'seen':69,'running_ratio':1.0,"
		    "'throttled_seconds':0.25},{'cpu':1,'online':true,'in_error':false,'expected':35,"
		    "'running_ratio':0.9,'throttled_seconds':0.0},{'cpu':2,'online':true,"
		    "'in_error':true,'expected':0},{'cpu':3,'online':true,'in_error':true,"
		    "'expected':0}]},'loads:cpu_atom':{'role':'loads','pmu':'cpu_atom','period':2003,"
		    "'ldlat':30,'latency_kind':'cache','measures':['latency','source'],'cpus':'4-7',"
		    "'samples':{'seen':1,'attributed':1,'unattributed':0,'lost':{'malformed':1},"
		    "'unsampled_seconds':{'multiplexed':0.0}}}},'samples':{'seen':103,'attributed':101,"
		    "'unattributed':2,'lost':{'malformed':1},'unsampled_seconds':{'multiplexed':1.5}},"
		    "'cgroups_alive':57,'slots':512,'slots_free':454,'slots_limit':4096,'stripes':4,"
		    "'births_without_slot':3,'slots_missing':true,'without_slot':0,'no_slot':[],"
		    "'map_bytes':10485760,'map_bytes_max':67108864,'memory':{'maps':10485760,"
		    "'anonymous':3565158,'anonymous_peak':11744051},'interval_s':1.0,"
		    "'collection_s':0.000412,'config':{'reloaded':false,'time':'2026-11-21T05:59:59Z',"
		    "'files':['/etc/pebsd/pebsd.conf','/etc/pebsd/pebsd.conf.d/a.conf',"
		    "'/etc/pebsd/pebsd.conf.d/b.conf']},"
		    "'notes':['cpu_atom: no counter was free on CPU 4']}");
}

/* The sum is known only if all its parts are. */
Test(json, throttled_time_of_all_events_is_added_up)
{
	struct snapshot *snapshot = example_perf();
	json_object *unsampled;
	double seconds;

	snapshot->events[1].throttled_seconds = (struct maybe_double){.known = true, .value = 0.5};
	{
		_cleanup_json_ json_object *top = json_top(snapshot);

		unsampled = json_get_object(json_get_object(top, "samples"), "unsampled_seconds");
		cr_assert(json_get_double(unsampled, "throttled", &seconds));
		cr_expect_float_eq(seconds, 0.75, 1e-9);
	}
	snapshot->events[1].throttled_seconds.known = false;
	{
		_cleanup_json_ json_object *top = json_top(snapshot);

		unsampled = json_get_object(json_get_object(top, "samples"), "unsampled_seconds");
		cr_expect_not(json_get_double(unsampled, "throttled", &seconds));
	}
}

Test(json, unknown_values_are_absent)
{
	struct snapshot *snapshot = example_perf();
	struct snapshot_event *event = &snapshot->events[0];
	struct counters *counters = &event->total;

	memset(counters, 0, sizeof(*counters));
	counters->samples[SOURCE_UNKNOWN] = 5;
	event->event = (struct event){.role = EVENT_STORES};
	(void)snprintf(event->key, sizeof(event->key), "stores");
	snapshot->n_events = 1;
	snapshot->n_cgroups = 0;
	snapshot->window_seconds = (struct maybe_double){.known = true, .value = 10};
	event->unattributed = 0;
	event->lost_unexplained.known = false;
	event->multiplexed_seconds.known = false;
	event->throttled_seconds.known = false;
	snapshot->notes = NULL;
	expect_json(json_top(snapshot),
		    "{'version':1,'origin':'perf','since':'2026-11-21T06:00:00Z','window_s':10.0,"
		    "'samples':{'seen':5,'attributed':5,'unattributed':0,'lost':{'malformed':0},"
		    "'unsampled_seconds':{}},'total':{'events':{'stores':{'samples':5}}},"
		    "'cgroups':[]}");
}

Test(json, weights_are_there_when_known_and_whole)
{
	struct snapshot *snapshot = example_perf();
	_cleanup_json_ json_object *top = json_top(snapshot);
	json_object *first = json_object_array_get_idx(json_get_array(top, "cgroups"), 0);
	json_object *event = json_get_object(json_get_object(first, "events"), "loads:cpu_core");
	_cleanup_json_ json_object *saturated = NULL;
	json_object *weighted;
	u64 value;

	weighted = json_get_object(event, "weighted");
	cr_assert(json_get_u64(weighted, "samples", &value));
	cr_expect_eq(value, 10090);
	cr_assert(json_get_u64(weighted, "latency_sum", &value));
	cr_expect_eq(value, 4036000);

	snapshot->events[0].total.weighted_latency[SOURCE_L1] = ~0ULL;
	saturated = json_top(snapshot);
	event = json_get_object(json_get_object(json_get_object(saturated, "total"), "events"),
				"loads:cpu_core");
	weighted = json_get_object(event, "weighted");
	cr_expect(json_get_u64(weighted, "samples", &value));
	cr_expect_not(json_get_u64(weighted, "latency_sum", &value), "a sum at its end is not known");
}

Test(json, integers_are_exact)
{
	struct snapshot *snapshot = example_perf();
	_cleanup_json_ json_object *top = NULL;

	snapshot->events[0].total.latency_sum[SOURCE_L1] = 18446744073709551557ULL;
	snapshot->cgroups[0].id = 9007199254740993ULL;
	top = json_top(snapshot);
	cr_expect_not_null(strstr(json_object_to_json_string_ext(top, JSON_C_TO_STRING_PLAIN),
				  "\"latency_sum\":18446744073709551557"));
	cr_expect_not_null(strstr(json_object_to_json_string_ext(top, JSON_C_TO_STRING_PLAIN),
				  "\"id\":9007199254740993"));
}

Test(json, the_overflow_bucket_has_no_upper_bound)
{
	struct snapshot *snapshot = example_perf();
	_cleanup_json_ json_object *top = json_top(snapshot);
	json_object *events = json_get_object(json_get_object(top, "total"), "events");
	json_object *latency = json_get_object(json_get_object(events, "loads:cpu_core"), "latency");
	u64 low, high;

	cr_assert(json_get_u64(json_get_object(latency, "p999"), "low", &low));
	cr_assert(json_get_u64(json_get_object(latency, "p999"), "high", &high));
	cr_expect_eq(low, 1048576);
	cr_expect_eq(high, 4294967295);
}

Test(json, a_latency_has_its_number_of_samples)
{
	struct snapshot *snapshot = example_replay();
	struct counters *counters = (struct counters *)snapshot->cgroups[0].counters[0];
	_cleanup_json_ json_object *top = NULL;
	json_object *events, *latency;
	u64 samples;
	double mean;

	counters->samples[SOURCE_L1] += 7;
	top = json_top(snapshot);
	events = json_get_object(json_object_array_get_idx(json_get_array(top, "cgroups"), 0), "events");
	cr_assert(json_get_u64(json_get_object(events, "loads"), "samples", &samples));
	cr_expect_eq(samples, 20);
	latency = json_get_object(json_get_object(events, "loads"), "latency");
	cr_assert(json_get_u64(latency, "samples", &samples));
	cr_expect_eq(samples, 13);
	cr_assert(json_get_double(latency, "mean", &mean));
	cr_expect_float_eq(mean, 124.1, 0.05);
}

Test(json, instruction_latency_is_written_if_reported)
{
	struct snapshot *snapshot = example_perf();
	_cleanup_json_ json_object *top = NULL;
	json_object *events, *latency;
	u64 sum;

	snapshot->events[0].total.instruction_latency[3] = 2;
	snapshot->events[0].total.instruction_latency_sum = 230;
	top = json_top(snapshot);
	events = json_get_object(json_get_object(top, "total"), "events");
	latency = json_get_object(json_get_object(events, "loads:cpu_core"), "instruction_latency");
	cr_assert(json_get_u64(latency, "sum", &sum));
	cr_expect_eq(sum, 230);
	cr_expect_null(json_get_object(json_get_object(events, "loads:cpu_atom"), "instruction_latency"));
}

Test(json, chosen_cgroups_keep_their_order)
{
	static const size_t chosen[] = {1, 0};
	_cleanup_json_ json_object *top = example_top(example_perf(), chosen, 2);
	_cleanup_json_ json_object *none = example_top(example_perf(), NULL, 0);
	json_object *list = json_get_array(top, "cgroups");

	cr_assert_eq(json_object_array_length(list), 2);
	cr_expect_str_eq(json_get_text(json_object_array_get_idx(list, 0), "cgroup"), "/");
	cr_expect_str_eq(json_get_text(json_object_array_get_idx(list, 1), "cgroup"),
			 "/system.slice/db.service");
	cr_expect_eq(json_object_array_length(json_get_array(none, "cgroups")), 0);
}

/*
 * Names that are not UTF-8: a command that was cut within a character, the name that a recording has for its
 * PMU, and a path in a note.
 */
Test(json, names_of_any_bytes_are_valid_json)
{
	struct snapshot *snapshot = example_replay();
	static const char *const notes[] = {"cannot read /tmp/\xff", NULL};
	json_object *printed[3] = {NULL};
	json_object *top[3];

	snapshot->cgroups[0].path = "comm:caf\xc3";
	(void)strcpy(snapshot->events[0].event.pmu, "cpu\xfe");
	(void)strcpy(snapshot->events[0].key, "loads:cpu\xfe");
	snapshot->notes = notes;
	top[0] = json_top(snapshot);
	top[1] = json_status(snapshot);
	top[2] = json_cgroup(snapshot, 0, NULL);
	for (size_t i = 0; i < ARRAY_SIZE(top); i++) {
		const char *text = json_object_to_json_string(top[i]);

		cr_expect_eq(json_parse(text, strlen(text), 32, &printed[i]), 0, "%s", text);
		json_object_put(top[i]);
	}
	cr_expect_str_eq(json_get_text(printed[2], "cgroup"), "comm:caf\xef\xbf\xbd"
							      "c3");
	cr_expect_not_null(json_get(json_get(printed[2], "events"), "loads:cpu\xef\xbf\xbd"
								    "fe"));
	cr_expect_str_eq(json_object_get_string(json_object_array_get_idx(json_get(printed[1], "notes"), 0)),
			 "cannot read /tmp/\xef\xbf\xbd"
			 "ff");
	for (size_t i = 0; i < ARRAY_SIZE(printed); i++)
		json_object_put(printed[i]);
}

Test(json, notes_are_written_if_any)
{
	_cleanup_json_ json_object *noted = json_top(example_perf());
	_cleanup_json_ json_object *plain = json_top(example_replay());
	json_object *notes = json_get_array(noted, "notes");

	cr_assert_eq(json_object_array_length(notes), 1);
	cr_expect_str_eq(json_object_get_string(json_object_array_get_idx(notes, 0)),
			 "cpu_atom: no counter was free on CPU 4");
	cr_expect_null(json_get_array(plain, "notes"));
}

static json_object *event_of(json_object *holder, const char *key)
{
	return json_get_object(json_get_object(holder, "events"), key);
}

static void expect_text(const json_object *object, const char *expected)
{
	cr_expect_str_eq(json_object_to_json_string_ext((json_object *)object, JSON_C_TO_STRING_PLAIN),
			 expected);
}

/* A value that the event does not measure is absent, not 0. */
Test(json, events_without_latency_or_source_omit_them)
{
	_cleanup_json_ json_object *top = json_top(example_several());
	json_object *total = json_get_object(top, "total");
	_cleanup_json_ json_object *stores = json_object_get(event_of(total, "stores"));
	_cleanup_json_ json_object *instructions = json_object_get(event_of(total, "instructions"));

	expect_json(TAKE_PTR(stores),
		    "{'pmu':'cpu_core','samples':50,'weighted':{'samples':250150},"
		    "'sources':{'l1':{'samples':40},'unknown':{'samples':10}},'snoop':{'na':50},"
		    "'tlb':{'hit':40,'miss':10}" STORE_FLAGS_0 ",'locked':4}");
	expect_json(TAKE_PTR(instructions),
		    "{'pmu':'cpu_core','samples':620,'weighted':{'samples':1240001860}}");
}

Test(json, each_flag_has_a_member_with_its_own_count)
{
	struct snapshot *snapshot = example_several();
	struct counters *total = &snapshot->events[0].total;
	_cleanup_json_ json_object *top = NULL;
	json_object *loads;

	for (u32 i = 0; i < FLAG_COUNT; i++)
		total->flags[i] = 7 + i;
	top = json_top(snapshot);
	loads = event_of(json_get_object(top, "total"), "loads:cpu_core");
#define MEMBER_IS(name, ...) cr_expect_eq(json_object_get_uint64(json_get(loads, #name)), total->name, #name);
	ACCESS_FLAGS(MEMBER_IS)
}

/* Haswell's stores have no translation, so no flag that is known with it. No store has a flag of loads. */
Test(json, fields_that_drivers_do_not_set_for_stores_are_absent)
{
	struct snapshot *snapshot = example_several();
	struct counters *total = &snapshot->events[2].total;
	_cleanup_json_ json_object *top = NULL;
	json_object *stores, *loads;

	memset(total->tlb, 0, sizeof(total->tlb));
	total->tlb[TLB_NA] = 50;
	memset(total->flags, 0, sizeof(total->flags));
	top = json_top(snapshot);
	stores = event_of(json_get_object(top, "total"), "stores");
	loads = event_of(json_get_object(top, "total"), "loads:cpu_core");
#define OF_LOADS_ONLY(name, ...)                        \
	cr_expect_null(json_get(stores, #name), #name); \
	cr_expect_not_null(json_get(loads, #name), #name);
	ACCESS_FLAGS(OF_LOADS_ONLY)
}

Test(json, the_status_relates_several_events)
{
	struct snapshot *snapshot = example_several();
	_cleanup_json_ json_object *status = json_status(snapshot);
	_cleanup_json_ json_object *paused = NULL;
	json_object *samples;

	expect_text(json_get(event_of(status, "loads:cpu_core"), "takes_turns_with"), "[\"stores\"]");
	expect_text(json_get(event_of(status, "stores"), "takes_turns_with"), "[\"loads:cpu_core\"]");
	cr_expect_null(json_get(event_of(status, "loads:cpu_atom"), "takes_turns_with"),
		       "another PMU's counters are its own");
	cr_expect_null(json_get(event_of(status, "instructions"), "takes_turns_with"));
	expect_text(json_get(event_of(status, "instructions"), "measures"), "[\"code_address\"]");
	cr_expect_null(json_get(status, "paused_until"));
	cr_expect_null(json_get(json_get_object(status, "samples"), "filtered"), "no event filters");
	cr_expect_null(json_get(json_get(json_get(status, "samples"), "unsampled_seconds"), "paused"));

	snapshot->paused = true;
	snapshot->paused_until.tv_sec = 1795241400;
	for (size_t i = 0; i < snapshot->n_events; i++)
		snapshot->events[i].paused_seconds = (struct maybe_double){true, 1.5};
	snapshot->events[1].filtered = (struct maybe_u64){true, 35};
	paused = json_status(snapshot);
	expect_text(json_get(paused, "paused"), "true");
	expect_text(json_get(paused, "paused_until"), "\"2026-11-21T06:10:00Z\"");
	samples = json_get_object(paused, "samples");
	expect_text(json_get(samples, "filtered"), "35");
	expect_text(json_get(json_get_object(samples, "unsampled_seconds"), "paused"), "6.000000");
	samples = json_get_object(event_of(paused, "loads:cpu_atom"), "samples");
	expect_text(json_get(samples, "filtered"), "35");
	expect_text(json_get(samples, "seen"), "10");
	samples = json_get_object(event_of(paused, "stores"), "samples");
	cr_expect_null(json_get(samples, "filtered"), "this one does not filter");
}

Test(json, filtered_samples_are_counted_by_cpu)
{
	struct snapshot *snapshot = example_perf();
	_cleanup_json_ json_object *status = NULL;
	json_object *cpus;

	((struct snapshot_cpu *)snapshot->events[0].per_cpu)[1].filtered = (struct maybe_u64){true, 4};
	status = json_status(snapshot);
	cpus = json_get_array(event_of(status, "loads:cpu_core"), "per_cpu");
	cr_expect_null(json_get(json_object_array_get_idx(cpus, 0), "filtered"));
	expect_text(json_get(json_object_array_get_idx(cpus, 1), "filtered"), "4");
}

Test(json, a_virtual_machine_is_marked)
{
	_cleanup_json_ json_object *top = json_top(example_several());
	_cleanup_json_ json_object *detail = json_cgroup(example_several(), 1, NULL);
	json_object *cgroups = json_get_array(top, "cgroups");

	cr_expect_null(json_get(json_object_array_get_idx(cgroups, 0), "guest_not_sampled"));
	expect_text(json_get(json_object_array_get_idx(cgroups, 1), "guest_not_sampled"), "true");
	expect_text(json_get(detail, "guest_not_sampled"), "true");
}

/* Both events must be of one PMU and counted for the same time. */
Test(json, counting_events_have_no_accesses_per_instruction)
{
	struct snapshot *snapshot = example_counts();
	const struct counters *const *counters = snapshot->cgroups[0].counters;
	double ratio;

	for (size_t i = 1; i < snapshot->n_events; i++)
		cr_expect_not(per_thousand_instructions(snapshot, counters, i, &ratio), "event %zu", i);
	cr_assert(per_thousand_instructions(snapshot, counters, 0, &ratio));
	cr_expect_float_eq(ratio, 1000.0 * 40 * 1009 / (400.0 * 100000000), 1e-9);
	snapshot->events[2].running_ratio.value = 0.5;
	cr_expect_not(per_thousand_instructions(snapshot, counters, 0, &ratio), "instructions took turns");
}

Test(json, accesses_per_thousand_instructions_are_computed)
{
	struct snapshot *snapshot = example_several();
	const struct counters *const *counters = snapshot->cgroups[0].counters;
	double ratio;

	cr_expect_not(per_thousand_instructions(snapshot, counters, 0, &ratio),
		      "loads were counted for 62.5 %% of the time, instructions always");
	snapshot->events[0].running_ratio.value = 0.995;
	cr_assert(per_thousand_instructions(snapshot, counters, 0, &ratio));
	cr_expect_float_eq(ratio, 1000.0 * 40 * 1009 / (200.0 * 2000003), 1e-9);
	snapshot->events[0].running_ratio.known = false;
	cr_expect(per_thousand_instructions(snapshot, counters, 0, &ratio), "a recording does not tell");
	cr_expect_not(per_thousand_instructions(snapshot, counters, 1, &ratio), "cpu_atom's are not sampled");
	cr_expect_not(per_thousand_instructions(snapshot, counters, 3, &ratio), "of themselves");
	snapshot->events[2].running_ratio.value = 1;
	cr_assert(per_thousand_instructions(snapshot, counters, 2, &ratio));
	cr_expect_float_eq(ratio, 1000.0 * 40 * 5003 / (200.0 * 2000003), 1e-9);
	snapshot->cgroups[0].counters[3] = NULL;
	cr_expect_not(per_thousand_instructions(snapshot, counters, 2, &ratio), "no instruction was sampled");
	{
		_cleanup_json_ json_object *top = json_top(snapshot);
		json_object *cgroups = json_get_array(top, "cgroups");

		cr_expect_null(json_get(event_of(json_object_array_get_idx(cgroups, 0), "stores"),
					"per_thousand_instructions"));
		/* 10 x 5003 stores per 400 x 2000003 instructions */
		expect_text(json_get(event_of(json_object_array_get_idx(cgroups, 2), "stores"),
				     "per_thousand_instructions"),
			    "0.062537");
		expect_text(json_get(event_of(json_get_object(top, "total"), "stores"),
				     "per_thousand_instructions"),
			    "0.201734");
	}
}

Test(json, the_status_has_the_opener)
{
	struct snapshot *snapshot = example_perf();
	_cleanup_json_ json_object *unknown = NULL;
	_cleanup_json_ json_object *opener = NULL;

	snapshot->opened_by = "opener";
	opener = json_status(snapshot);
	cr_expect_str_eq(json_get_text(opener, "opened_by"), "opener");
	snapshot->opened_by = NULL;
	unknown = json_status(snapshot);
	cr_expect_null(json_get_text(unknown, "opened_by"));
}

Test(json, status_has_the_other_users_of_the_counters)
{
	struct counter_users users = {
		.watchdog = COUNTER_WATCHDOG_RAW,
		.n = 1,
		.users = {{.pid = 4711, .events = 12, .name = "perf"}},
		.more = 2,
	};
	struct snapshot *snapshot = example_perf();
	_cleanup_json_ json_object *status = NULL;
	_cleanup_json_ json_object *hidden = NULL;

	snapshot->counter_users = &users;
	status = json_status(snapshot);
	expect_text(
		json_get(status, "counter_users"),
		"{\"nmi_watchdog\":\"raw\",\"processes\":[{\"pid\":4711,\"name\":\"perf\",\"events\":12}],"
		"\"more_processes\":2,\"complete\":true,\"guest_pmu\":false}");
	users = (struct counter_users){.hidden = true, .kvm_pmu = true};
	hidden = json_status(snapshot);
	expect_text(json_get(hidden, "counter_users"),
		    "{\"processes\":[],\"complete\":false,\"guest_pmu\":true}");
}

Test(json, status_has_the_caches_that_stripes_are_divided_by)
{
	struct snapshot *snapshot = example_perf();
	_cleanup_json_ json_object *alone = json_status(snapshot);
	_cleanup_json_ json_object *shared = NULL;
	_cleanup_json_ json_object *unknown = NULL;
	u64 value;

	cr_expect_not(json_get_u64(alone, "stripe_caches", &value), "no CPU shares a stripe");
	snapshot->stripe_caches = 12;
	shared = json_status(snapshot);
	cr_assert(json_get_u64(shared, "stripe_caches", &value));
	cr_expect_eq(value, 12);
	snapshot->anonymous_bytes.known = snapshot->anonymous_peak_bytes.known = false;
	unknown = json_status(snapshot);
	cr_assert(json_get_u64(json_get_object(unknown, "memory"), "maps", &value));
	cr_expect_eq(value, 10485760);
	cr_expect_not(json_get_u64(json_get_object(unknown, "memory"), "anonymous", &value));
	cr_expect_not(json_get_u64(json_get_object(unknown, "memory"), "anonymous_peak", &value));
}

/* Collects the text as it is written. */
struct written {
	char text[1 << 16];
	size_t length;
	size_t calls;
	size_t fail_at; /* the call that fails; 0: none */
};

static int write_to(const char *text, size_t length, void *userdata)
{
	struct written *written = userdata;

	if (++written->calls == written->fail_at)
		return -EPIPE;
	cr_assert_lt(written->length + length, sizeof(written->text));
	memcpy(written->text + written->length, text, length);
	written->length += length;
	written->text[written->length] = 0;
	return 0;
}

/* Expects the text of `whole`, and that a failed write ends it. Takes ownership of `whole`. */
static void expect_written(const struct snapshot *snapshot, const size_t *cgroups, size_t n, int flags,
			   json_object *whole)
{
	struct written *written = calloc(1, sizeof(*written));
	size_t calls;

	cr_assert_not_null(whole);
	cr_assert_eq(json_write_top(snapshot, cgroups, n, NULL, flags, write_to, written), 0);
	cr_expect_str_eq(written->text, json_object_to_json_string_ext(whole, flags));
	calls = written->calls;
	for (size_t call = 1; call <= calls; call++) {
		*written = (struct written){.fail_at = call};
		cr_expect_eq(json_write_top(snapshot, cgroups, n, NULL, flags, write_to, written), -EPIPE);
		cr_expect_eq(written->calls, call, "nothing is written after a failure");
	}
	json_object_put(whole);
	free(written);
}

/* Returns json_top() with only these cgroups. */
static json_object *chosen_of(const struct snapshot *snapshot, const size_t *cgroups, size_t n)
{
	json_object *top = json_top(snapshot), *chosen = json_object_new_array();
	json_object *all = json_get_array(top, "cgroups");

	for (size_t i = 0; i < n; i++)
		(void)json_object_array_add(chosen,
					    json_object_get(json_object_array_get_idx(all, cgroups[i])));
	/* The member keeps its place. */
	(void)json_object_object_add(top, "cgroups", chosen);
	return top;
}

Test(json, text_that_is_written_piece_by_piece_is_the_same)
{
	static const int flags[] = {JSON_C_TO_STRING_PLAIN,
				    JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE};
	struct snapshot *const examples[] = {example_perf(), example_replay(), example_several()};
	static const char *const notes[] = {"one/two", "three", NULL};
	static const size_t chosen[] = {1, 0};

	for (size_t i = 0; i < ARRAY_SIZE(examples); i++) {
		for (size_t j = 0; j < ARRAY_SIZE(flags); j++) {
			expect_written(examples[i], NULL, examples[i]->n_cgroups, flags[j],
				       json_top(examples[i]));
			expect_written(examples[i], chosen, 2, flags[j], chosen_of(examples[i], chosen, 2));
			expect_written(examples[i], chosen, 0, flags[j], chosen_of(examples[i], chosen, 0));
		}
		examples[i]->notes = notes;
		expect_written(examples[i], chosen, 1, flags[0], chosen_of(examples[i], chosen, 1));
	}
}

struct heap_watch {
	size_t before, most;
};

static int watch_heap(const char *text, size_t length, void *userdata)
{
	struct heap_watch *watch = userdata;
	size_t now = heap_bytes();

	(void)text;
	(void)length;
	if (now > watch->before && now - watch->before > watch->most)
		watch->most = now - watch->before;
	return 0;
}

/* The JSON objects of a thousand cgroups would take about 20 MB. */
Test(json, text_of_many_cgroups_takes_the_memory_of_one)
{
	struct snapshot *snapshot = example_perf();
	static size_t chosen[1000];
	struct heap_watch watch = {.before = heap_bytes()};

	cr_assert_eq(json_write_top(snapshot, chosen, ARRAY_SIZE(chosen), NULL, JSON_C_TO_STRING_PLAIN,
				    watch_heap, &watch),
		     0);
	cr_expect_lt(watch.most, 256 << 10);
}

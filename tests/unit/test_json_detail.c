// SPDX-License-Identifier: GPL-2.0
/* Zooms and hot tables as JSON. */
#include <criterion/criterion.h>
#include <string.h>

#include "base/json_get.h"
#include "example_snapshot.h"
#include "export/json/json.h"
#include "export/json/json_hot.h"
#include "export/json/json_writer.h"
#include "export/json/json_zoom.h"
#include "heap.h"
#include "profile/hidden_names.h"

#define KERNEL_NAMED   0xffffffff81000010ULL
#define KERNEL_UNNAMED 0xffffffff81999999ULL
#define KERNEL_OTHER   0xffffffff81888888ULL

static void expect_json(json_object *object, const char *expected)
{
	_cleanup_json_ json_object *owned = object;

	cr_assert_not_null(object);
	cr_expect_str_eq(json_object_to_json_string_ext(object, JSON_C_TO_STRING_PLAIN |
									JSON_C_TO_STRING_NOSLASHESCAPE),
			 expected);
}

/*
 * The symbols: work() of a program at 0x401136, an inlined function at 0x401200, a variable at 0x404040,
 * copy_user() of the kernel, and a kernel address without a name.
 */
static const struct symbol *find(void *userdata, const struct symbol_query *query)
{
	static struct symbol_frame work = {
		.name = (char *)"work", .file = (char *)"/src/a.c", .line = 12, .offset = 6};
	static struct symbol_frame inlined[] = {
		{.name = (char *)"load_row", .file = (char *)"/src/a.h", .line = 3, .inlined = true},
		{.name = (char *)"work", .line = 14, .offset = 208}};
	static struct symbol_frame copy = {
		.name = (char *)"copy_user", .file = (char *)"lib/copy.c", .line = 9, .offset = 16};
	static struct symbol_frame counters = {.name = (char *)"counters", .offset = 64};
	static const struct symbol symbols[] = {
		{.region = SYMBOL_FILE, .module = (char *)"/usr/bin/x", .n_frames = 1, .frames = &work},
		{.region = SYMBOL_FILE, .module = (char *)"/usr/bin/x", .n_frames = 2, .frames = inlined},
		{.region = SYMBOL_KERNEL, .n_frames = 1, .frames = &copy},
		{.region = SYMBOL_KERNEL, .module = (char *)"nf", .address = 0x999},
		{.region = SYMBOL_FILE, .module = (char *)"/usr/bin/x", .n_frames = 1, .frames = &counters},
	};
	unsigned int *asked = userdata;

	(*asked)++;
	switch (query->address) {
	case 0x401136:
		return &symbols[0];
	case 0x401200:
		return &symbols[1];
	case KERNEL_NAMED:
		return &symbols[2];
	case KERNEL_UNNAMED:
		return &symbols[3];
	case 0x404040:
		return &symbols[4];
	default:
		return NULL;
	}
}

static json_object *hot_of(const struct hot_places *code, const struct hot_places *lines,
			   bool kernel_addresses, u64 limit)
{
	static unsigned int asked;
	const struct json_hot_event events[EVENTS_MAX] = {[0] = {.places = {code, lines}}};
	const struct json_hot hot = {
		.path = "/batch",
		.id = 9,
		.choice = {.since_ns = 90 * NSEC_PER_SEC, .until_ns = 700 * NSEC_PER_SEC},
		.events = events,
		.names = {.find = find, .userdata = &asked},
		.limit = limit,
		.kernel_addresses = kernel_addresses,
		.now_ns = 102 * NSEC_PER_SEC,
		.now = {.tv_sec = 1795240812},
	};

	return json_hot(example_several(), &hot);
}

#define HOT_HEAD                                                                                    \
	"{\"version\":1,\"origin\":\"perf\",\"since\":\"2026-11-21T06:00:00Z\",\"cgroup\":\"/"      \
	"batch\",\"id\":9,\"chosen\":{\"by\":\"request\",\"since\":\"2026-11-21T06:00:00Z\",\"for_" \
	"s\":12.000,\"until\":\"2026-11-21T06:10:10Z\"},\"events\":{\"loads:cpu_core\":{"           \
	"\"pmu\":\"cpu_core\","

static struct hot_place code[] = {
	{.address = 0x401136, .weight = 500, .weight_error = 20, .samples = 50, .samples_error = 2, .pid = 7},
	{.address = KERNEL_NAMED, .weight = 200, .weight_error = 250, .samples = 20, .samples_error = 1},
	{.address = KERNEL_UNNAMED, .weight = 60, .samples = 6},
	{.address = KERNEL_OTHER, .weight = 55, .weight_error = 5, .samples = 5},
	{.address = 0x401200, .weight = 40, .samples = 4, .pid = 7},
	{.address = 0x7f0000001000, .weight = 10, .samples = 1},
};
static const struct hot_places latency = {.kind = HOT_CODE,
					  .latency = true,
					  .weight = 1000,
					  .samples = 100,
					  .absent_weight = 9,
					  .absent_samples = 3,
					  .n = ARRAY_SIZE(code),
					  .places = code};

#define WORK                                                                                           \
	"{\"name\":\"work\",\"module\":\"/usr/bin/x\",\"offset\":6,\"file\":\"/src/a.c\",\"line\":12," \
	"\"address\":\"0x401136\",\"pid\":7,\"latency\":{\"low\":480,\"high\":500},"                   \
	"\"share\":{\"low\":0.480000,\"high\":0.500000},\"samples\":{\"low\":48,\"high\":50}}"
#define LOAD_ROW                                                                                         \
	"{\"name\":\"load_row\",\"module\":\"/usr/bin/x\",\"file\":\"/src/a.h\",\"line\":3,\"address\":" \
	"\"0x401200\",\"pid\":7,\"latency\":{\"low\":40,\"high\":40},\"share\":{\"low\":0.040000,"       \
	"\"high\":0.040000},\"samples\":{\"low\":4,\"high\":4}}"
#define STRANGER                                                                                       \
	"{\"name\":\"[unknown]\",\"address\":\"0x7f0000001000\",\"latency\":{\"low\":10,\"high\":10}," \
	"\"share\":{\"low\":0.010000,\"high\":0.010000},\"samples\":{\"low\":1,\"high\":1}}"
#define TAIL "],\"absent\":{\"code\":{\"latency\":9,\"samples\":3}}}},\"unnamed\":1}"

/* More places than fit on a page, each with as little text as possible. */
Test(json_hot, a_page_takes_no_more_memory_than_its_bound)
{
	static struct hot_place places[65536];
	const struct hot_places many = {
		.kind = HOT_CODE, .latency = true, .n = ARRAY_SIZE(places), .places = places};
	size_t before, bytes;
	json_object *object;

	for (size_t i = 0; i < ARRAY_SIZE(places); i++)
		places[i] = (struct hot_place){.address = 1 + i, .weight = 1, .samples = 1};
	json_object_put(hot_of(&many, NULL, true, 1));
	before = heap_bytes();
	object = hot_of(&many, NULL, true, ~0ULL);
	cr_assert_not_null(object);
	bytes = heap_bytes() - before;
	cr_expect_leq(bytes, JSON_PAGE_TREE_BYTES, "%zu", bytes);
#ifndef __SANITIZE_ADDRESS__ /* the sanitizer's allocator counts nothing */
	cr_expect_gt(bytes, JSON_PAGE_TREE_BYTES / 2, "the page is full: %zu", bytes);
#endif
	json_object_put(object);
}

Test(json_hot, root_sees_code_by_latency)
{
	expect_json(hot_of(&latency, NULL, true, ~0ULL), HOT_HEAD
		    "\"weight\":\"latency\",\"latency\":1000,\"samples\":100,\"code\":[" WORK
		    ",{\"name\":\"copy_user\",\"offset\":16,\"file\":\"lib/copy.c\",\"line\":9,\"address\":"
		    "\"0xffffffff81000010\",\"latency\":{\"low\":0,\"high\":200},\"share\":{\"low\":0.000000,"
		    "\"high\":0.200000},\"samples\":{\"low\":19,\"high\":20}},"
		    "{\"name\":\"[kernel] nf\",\"module\":\"nf\",\"address\":\"0xffffffff81999999\","
		    "\"latency\":{\"low\":60,\"high\":60},\"share\":{\"low\":0.060000,\"high\":0.060000},"
		    "\"samples\":{\"low\":6,\"high\":6}},"
		    "{\"name\":\"[unknown]\",\"address\":\"0xffffffff81888888\",\"latency\":{\"low\":50,"
		    "\"high\":55},\"share\":{\"low\":0.050000,\"high\":0.055000},\"samples\":{\"low\":5,"
		    "\"high\":5}}," LOAD_ROW "," STRANGER TAIL);
}

/* A kernel function appears with its name alone. All unnamed kernel addresses are one item with their sum. */
Test(json_hot, the_kernels_addresses_are_hidden_from_others)
{
	_cleanup_json_ json_object *hidden = hot_of(&latency, NULL, false, ~0ULL);
	const char *text = json_object_to_json_string(hidden);

	cr_expect_null(strstr(text, "0xffff"));
	cr_expect_null(strstr(text, "999"));
	cr_expect_null(strstr(text, "copy.c"));
	expect_json(
		hot_of(&latency, NULL, false, ~0ULL), HOT_HEAD
		"\"weight\":\"latency\",\"latency\":1000,\"samples\":100,\"code\":[" WORK
		",{\"name\":\"copy_user\",\"latency\":{\"low\":0,\"high\":200},\"share\":{\"low\":0.000000,"
		"\"high\":0.200000},\"samples\":{\"low\":19,\"high\":20}},"
		"{\"name\":\"[kernel]\",\"latency\":{\"low\":110,\"high\":115},\"share\":{\"low\":0.110000,"
		"\"high\":0.115000},\"samples\":{\"low\":11,\"high\":11}}," LOAD_ROW "," STRANGER
		"],\"absent\":{\"code\":{\"latency\":9,\"samples\":3}}}},\"unnamed\":1}");
}

/*
 * `absent` is an upper bound for each item that is not listed. These include items that the limit leaves out,
 * which may be heavier than every item that the tables do not have.
 */
Test(json_hot, the_requested_number_of_places_is_written)
{
	expect_json(hot_of(&latency, NULL, false, 1),
		    HOT_HEAD "\"weight\":\"latency\",\"latency\":1000,\"samples\":100,\"code\":[" WORK
			     "],\"absent\":{\"code\":{\"latency\":200,\"samples\":20,\"left_out\":4}}}},"
			     "\"unnamed\":0}");
	expect_json(hot_of(&latency, NULL, false, 0),
		    HOT_HEAD "\"weight\":\"latency\",\"latency\":1000,\"samples\":100,\"code\":["
			     "],\"absent\":{\"code\":{\"latency\":500,\"samples\":50,\"left_out\":5}}}},"
			     "\"unnamed\":0}");
}

/* Without latency, no latency appears, and shares are of samples. */
Test(json_hot, lines_are_ordered_by_samples)
{
	struct hot_place lines[] = {
		{.address = 0x404040,
		 .weight = 30,
		 .samples = 30,
		 .hitm = 4,
		 .hitm_cpus = 2,
		 .cpus = 3,
		 .pid = 7},
		{.address = KERNEL_UNNAMED,
		 .weight = 9,
		 .weight_error = 1,
		 .samples = 9,
		 .samples_error = 1,
		 .hitm = 1,
		 .hitm_cpus = 1,
		 .cpus = 1},
	};
	struct hot_places places = {.kind = HOT_LINES,
				    .cpus_known = true,
				    .weight = 40,
				    .samples = 40,
				    .absent_samples = 2,
				    .n = 2,
				    .places = lines};

	expect_json(hot_of(NULL, &places, false, ~0ULL), HOT_HEAD
		    "\"weight\":\"samples\",\"samples\":40,\"lines\":["
		    "{\"address\":\"0x404040\",\"object\":\"counters\",\"pid\":7,\"share\":{\"low\":0.750000,"
		    "\"high\":0.750000},\"samples\":{\"low\":30,\"high\":30},\"hitm\":4,\"hitm_cpus\":2,"
		    "\"cpus\":3},"
		    "{\"object\":\"[kernel]\",\"share\":{\"low\":0.200000,\"high\":0.225000},\"samples\":{"
		    "\"low\":8,\"high\":9},\"hitm\":1,\"hitm_cpus\":1,\"cpus\":1}],"
		    "\"absent\":{\"lines\":{\"samples\":2}}}},\"unnamed\":0}");

	/* Samples of the model or of a recording have no known CPU. */
	places.cpus_known = false;
	places.n = 1;
	expect_json(hot_of(NULL, &places, false, ~0ULL), HOT_HEAD
		    "\"weight\":\"samples\",\"samples\":40,\"lines\":["
		    "{\"address\":\"0x404040\",\"object\":\"counters\",\"pid\":7,\"share\":{\"low\":0.750000,"
		    "\"high\":0.750000},\"samples\":{\"low\":30,\"high\":30},\"hitm\":4}],"
		    "\"absent\":{\"lines\":{\"samples\":2}}}},\"unnamed\":0}");
}

Test(json_hot, shares_are_rounded_outwards)
{
	struct hot_place thirds[] = {{.address = 0x401136, .weight = 2, .weight_error = 1, .samples = 2}};
	const struct hot_places places = {
		.kind = HOT_CODE, .weight = 3, .samples = 3, .n = 1, .places = thirds};
	_cleanup_json_ json_object *object = hot_of(&places, NULL, true, ~0ULL);

	cr_expect(strstr(json_object_to_json_string_ext(object, JSON_C_TO_STRING_PLAIN),
			 "\"share\":{\"low\":0.333333,\"high\":0.666667}"));
}

Test(json_hot, without_samples_the_list_is_empty)
{
	const struct hot_places places = {.kind = HOT_CODE, .latency = true};

	expect_json(hot_of(&places, NULL, true, ~0ULL),
		    HOT_HEAD "\"weight\":\"latency\",\"latency\":0,\"samples\":0,\"code\":[],"
			     "\"absent\":{\"code\":{\"latency\":0,\"samples\":0}}}},\"unnamed\":0}");
}

Test(hidden_names, kernel_addresses_are_shown_only_by_name)
{
	unsigned int asked = 0;
	const struct profile_names of = {.find = find, .userdata = &asked};
	struct hidden_names hidden;
	struct profile_names names = hidden_names(&hidden, &of);
	const struct symbol *symbol;

	symbol = names.find(names.userdata, &(struct symbol_query){.address = KERNEL_NAMED});
	cr_assert_not_null(symbol);
	cr_expect_str_eq(symbol->frames[0].name, "copy_user");
	cr_expect_null(symbol->frames[0].file);
	cr_expect_eq(symbol->frames[0].offset, 0);
	cr_expect_eq(symbol->address, 0);
	symbol = names.find(names.userdata, &(struct symbol_query){.address = KERNEL_UNNAMED});
	cr_expect_eq(symbol->n_frames, 0);
	cr_expect_eq(symbol->region, SYMBOL_KERNEL);
	cr_expect_null(symbol->module);
	cr_expect_eq(symbol->address, 0);
	cr_expect_null(names.find(names.userdata, &(struct symbol_query){.address = KERNEL_OTHER}));
	symbol = names.find(names.userdata, &(struct symbol_query){.address = 0x401136});
	cr_expect_eq(symbol->frames[0].offset, 6);
	cr_expect_eq(asked, 4);
}

static struct zoom zoom = {.id = 17,
			   .state = ZOOM_DONE,
			   .seconds = 30,
			   .reason = (char *)"rule slow-db, alert 3",
			   .note = (char *)"the always-on event loads of cpu is paused for it",
			   .period = 10007};
static struct zoom_about about = {
	.cgroup = (char *)"/batch",
	.began_ns = 100 * NSEC_PER_SEC,
	.ended_ns = 112250 * NSEC_PER_MSEC,
	.began_real_ns = 1795240800 * NSEC_PER_SEC,
	.rate = 1000,
	.n_events = 1,
	.events = {{.role = EVENT_LOADS, .pmu = "cpu", .settings = {.has_latency = true}}},
	.counts = {.seen = 130,
		   .limited = 20,
		   .lost = 3,
		   .malformed = 1,
		   .throttles = 2,
		   .enabled_ns = 200,
		   .running_ns = 196},
	.dropped = 4,
	.origin = "perf",
};
static struct json_zoom state = {
	.zoom = &zoom,
	.about = &about,
	.totals = {.samples = 107, .latency = 20000, .dropped = 2, .user_stacks = 90, .early = 9},
	.bytes = 5000,
	.now_ns = 130 * NSEC_PER_SEC,
};

#define SAMPLES \
	"\"samples\":{\"taken\":107,\"seen\":130,\"limited\":20,\"lost\":3,\"dropped\":4,\"malformed\":1}"
#define DONE                                                                                          \
	"{\"zoom\":17,\"cgroup\":\"/batch\",\"state\":\"done\",\"began\":\"2026-11-21T06:00:00Z\","   \
	"\"seconds\":30.000,\"ran_s\":12.250,\"reason\":\"rule slow-db, alert 3\",\"note\":"          \
	"\"the always-on event loads of cpu is paused for it\",\"rate\":1000,\"events\":[\"loads\"]," \
	"\"latency\":true,\"period\":10007," SAMPLES ",\"throttles\":2,\"running_ratio\":0.980000,"   \
	"\"latency_sum\":20000,\"stacks\":{\"by\":\"frame pointers\",\"user\":90,\"early\":9},"       \
	"\"memory\":5000}"

Test(json_zoom, a_finished_zoom_has_its_state)
{
	expect_json(json_zoom(&state), DONE);
}

/* An unknown value is absent. */
Test(json_zoom, a_running_zoom_without_latency_has_its_state)
{
	zoom.state = ZOOM_RUNNING;
	zoom.note = NULL;
	zoom.period = 0;
	about.ended_ns = 0;
	about.lbr = true;
	about.events[0].settings.has_latency = false;
	about.counts.enabled_ns = about.counts.running_ns = 0;
	expect_json(
		json_zoom(&state),
		"{\"zoom\":17,\"cgroup\":\"/batch\",\"state\":\"running\",\"began\":\"2026-11-21T06:00:00Z\","
		"\"until\":\"2026-11-21T06:00:30Z\",\"seconds\":30.000,\"ran_s\":30.000,\"reason\":"
		"\"rule slow-db, alert 3\",\"rate\":1000,\"events\":[\"loads\"],\"latency\":false," SAMPLES
		",\"throttles\":2,\"stacks\":{\"by\":\"lbr\",\"user\":90,\"early\":9},\"memory\":5000}");
}

static struct report_function functions[] = {
	{.name = (char *)"load_row",
	 .module = (char *)"/usr/bin/x",
	 .file = (char *)"/src/a.h",
	 .line = 3,
	 .samples = 70,
	 .latency = 15000,
	 .total_samples = 71,
	 .total_latency = 15500,
	 .sources = {[SOURCE_L1] = 20, [SOURCE_REMOTE_CACHE] = 50}},
	{.name = (char *)"[unknown]", .samples = 1, .latency = 2, .total_samples = 1, .total_latency = 2},
};
static struct report_object objects[] = {{.name = (char *)"[heap]",
					  .region = SYMBOL_HEAP,
					  .samples = 60,
					  .latency = 9000,
					  .hitm = 8,
					  .sources = {[SOURCE_L3] = 60}}};
static struct report_access accesses[] = {
	{.offset = 8,
	 .function = (char *)"load_row",
	 .file = (char *)"/src/a.h",
	 .line = 3,
	 .samples = 30,
	 .hitm = 5,
	 .latency = 6000,
	 .stores = 10,
	 .cpus = 2},
};
static struct report_line lines[] = {
	{.address = 0x404040,
	 .pid = 7,
	 .object = (char *)"counters (in /usr/bin/x)+0x40",
	 .samples = 40,
	 .latency = 8000,
	 .hitm = 8,
	 .cpus = 3,
	 .hitm_cpus = 2,
	 .false_sharing = true,
	 .n_accesses = 1,
	 .accesses = accesses},
	{.address = 0xffffffff82000040,
	 .object = (char *)"jiffies+0x40",
	 .samples = 2,
	 .latency = 300,
	 .hitm = 2,
	 .cpus = 2,
	 .hitm_cpus = 2},
	{.address = 0x7f0000000040, .object = (char *)"[anon]+0x40", .samples = 1, .latency = 9, .cpus = 1},
};
static struct report_node nodes[] = {
	{.node = -1, .samples = 1, .latency = 9, .pages = 1},
	{.node = 1, .samples = 40, .latency = 8000, .remote = 30, .pages = 2},
};

#define FUNCTIONS                                                                                           \
	"\"functions\":[{\"name\":\"load_row\",\"module\":\"/usr/bin/x\",\"file\":\"/src/a.h\",\"line\":3," \
	"\"samples\":70,\"latency\":15000,\"total_samples\":71,\"total_latency\":15500,\"sources\":{"       \
	"\"l1\":20,\"remote_cache\":50}},{\"name\":\"[unknown]\",\"samples\":1,\"latency\":2,"              \
	"\"total_samples\":1,\"total_latency\":2,\"sources\":{}}],"
#define OBJECTS                                                                                             \
	"\"objects\":[{\"name\":\"[heap]\",\"region\":\"heap\",\"samples\":60,\"latency\":9000,\"hitm\":8," \
	"\"sources\":{\"l3\":60}}],"
#define FALSE_SHARING                                                                                      \
	"{\"address\":\"0x404040\",\"pid\":7,\"object\":\"counters (in /usr/bin/x)+0x40\",\"samples\":40," \
	"\"latency\":8000,\"hitm\":8,\"cpus\":3,\"hitm_cpus\":2,\"sharing\":\"false\",\"accesses\":["      \
	"{\"offset\":8,\"function\":\"load_row\",\"file\":\"/src/a.h\",\"line\":3,\"samples\":30,"         \
	"\"stores\":10,\"hitm\":5,\"latency\":6000,\"cpus\":2}]},"
#define ANONYMOUS                                                                                 \
	"{\"address\":\"0x7f0000000040\",\"object\":\"[anon]+0x40\",\"samples\":1,\"latency\":9," \
	"\"hitm\":0,\"cpus\":1,\"hitm_cpus\":0,\"accesses\":[]}],"
#define JIFFIES                                                                                     \
	"\"samples\":2,\"latency\":300,\"hitm\":2,\"cpus\":2,\"hitm_cpus\":2,\"sharing\":\"true\"," \
	"\"accesses\":[]},"
#define NODES                                                                                           \
	"\"nodes\":[{\"samples\":1,\"latency\":9,\"remote\":0,\"pages\":1},{\"node\":1,\"samples\":40," \
	"\"latency\":8000,\"remote\":30,\"pages\":2}],"

static const struct profile_report report = {.n_functions = ARRAY_SIZE(functions),
					     .n_objects = ARRAY_SIZE(objects),
					     .n_lines = ARRAY_SIZE(lines),
					     .n_nodes = ARRAY_SIZE(nodes),
					     .functions = functions,
					     .objects = objects,
					     .lines = lines,
					     .nodes = nodes,
					     .unnamed = 2};

Test(json_zoom, root_gets_the_whole_report)
{
	state.kernel_addresses = true;
	expect_json(json_zoom_report(&state, &report),
		    "{\"version\":1,\"origin\":\"perf\",\"zoom\":" DONE "," FUNCTIONS OBJECTS
		    "\"lines\":[" FALSE_SHARING
		    "{\"address\":\"0xffffffff82000040\",\"object\":\"jiffies+0x40\"," JIFFIES ANONYMOUS NODES
		    "\"unnamed\":2}");
}

Test(json_zoom, others_get_a_report_without_kernel_addresses)
{
	state.kernel_addresses = false;
	expect_json(json_zoom_report(&state, &report),
		    "{\"version\":1,\"origin\":\"perf\",\"zoom\":" DONE "," FUNCTIONS OBJECTS
		    "\"lines\":[" FALSE_SHARING "{\"object\":\"jiffies\"," JIFFIES ANONYMOUS NODES
		    "\"unnamed\":2}");
}

Test(json_zoom, a_report_without_latency_and_nodes_omits_them)
{
	const struct profile_report found = {.n_functions = 1,
					     .functions = functions,
					     .n_objects = 1,
					     .objects = objects,
					     .n_lines = 1,
					     .lines = lines};
	_cleanup_json_ json_object *object = NULL;
	const char *text;

	about.events[0].settings.has_latency = false;
	object = json_zoom_report(&state, &found);
	text = json_object_to_json_string(object);
	cr_expect_null(strstr(text, "\"nodes\""));
	cr_expect_null(strstr(text, "latency_sum"));
	cr_expect_null(strstr(text, "total_latency"));
	cr_expect_null(strstr(text, "\"latency\":1"));
	cr_expect_null(strstr(text, "\"latency\":6"));
	cr_expect_null(strstr(text, "\"latency\":8"));
	cr_expect_null(strstr(text, "\"latency\":9"));
}

Test(json_status, the_status_lists_zooms_and_hot_tables)
{
	static const char *const hot[] = {"/a", "/b\xff", NULL};
	const struct detail_counts detail = {.zooms_running = 1,
					     .zooms_held = 3,
					     .zoom_bytes = 4000,
					     .hot = hot,
					     .hot_max = 8,
					     .symbols = {9, 8, 2, 1, 3, 1, 700, 300}};
	struct snapshot *snapshot = example_perf();
	_cleanup_json_ json_object *status = json_status(snapshot);
	_cleanup_json_ json_object *with = NULL;

	cr_expect_null(json_get(status, "detail"), "there is none");
	snapshot->detail = &detail;
	with = json_status(snapshot);
	expect_json(
		json_object_get(json_get(with, "detail")),
		"{\"zooms_running\":1,\"zooms_held\":3,\"zoom_bytes\":4000,\"hot\":[\"/a\",\"/b\xef\xbf\xbd"
		"ff\"],\"hot_max\":8,\"symbols\":{\"asked\":9,\"answered\":8,\"unknown\":2,\"lost\":1,"
		"\"late\":3,\"starts\":1,\"bytes\":700,\"own_bytes\":300}}");
}

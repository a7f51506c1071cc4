// SPDX-License-Identifier: GPL-2.0
/* Zooms, hot tables and profiles on the control socket, and the clients that may get them. */
#include <criterion/criterion.h>
#include <errno.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/json_get.h"
#include "control_fixture.h"
#include "example_snapshot.h"
#include "export/control/control.h"
#include "export/control/control_interface.h"
#include "export/profile/profile_pieces.h"
#include "fake_zooms.h"
#include "varlink_peer.h"

struct backend {
	int snapshot_error;
	bool replay_done;
	int choose_error;
	int places_error;
	double seconds; /* seconds of the last choice */
	unsigned int chosen;
	bool configured;
	bool is_chosen;
	bool of_no_process; /* hot places in user space have no process */
	unsigned int named;
	const char *const *hot;
	size_t n_places; /* 0: two in each list */
	const struct no_slot *no_slot;
};

static struct backend backend;

static int fd; /* a client's connection */

static int snapshot(void *userdata, const struct maybe_double *window_seconds, const struct snapshot **ret)
{
	const struct backend *state = userdata;
	static struct detail_counts detail;
	struct snapshot *example = example_several();

	(void)window_seconds;
	detail.hot = state->hot;
	example->detail = &detail;
	example->replay_done = state->replay_done;
	example->no_slot = state->no_slot;
	*ret = example;
	return state->snapshot_error;
}

static int hot_choose(void *userdata, const char *path, double seconds)
{
	struct backend *state = userdata;

	if (state->choose_error)
		return state->choose_error;
	cr_expect_str_eq(path, "/batch");
	state->chosen++;
	state->seconds = seconds;
	state->is_chosen = true;
	return 0;
}

static bool hot_choice(void *userdata, const char *path, struct hot_choice *ret)
{
	const struct backend *state = userdata;

	(void)path;
	*ret = (struct hot_choice){.configured = state->configured, .since_ns = 1, .until_ns = 2};
	return state->is_chosen || state->configured;
}

/* Loads of cpu_core have hot code and lines, instructions only code, and the other events nothing. */
static int hot_places(void *userdata, const char *path, unsigned number, enum hot_kind kind,
		      struct hot_places *ret)
{
	const struct backend *state = userdata;

	cr_expect_str_eq(path, "/batch");
	if (state->places_error)
		return state->places_error;
	if (number != 0 && (number != 3 || kind != HOT_CODE))
		return -EOPNOTSUPP;
	*ret = (struct hot_places){.kind = kind, .latency = number == 0, .weight = 10, .samples = 10, .n = 2};
	if (state->n_places)
		ret->n = state->n_places;
	ret->places = calloc(ret->n, sizeof(*ret->places));
	for (size_t i = 2; i < ret->n; i++)
		ret->places[i] =
			(struct hot_place){.address = 0x500000 + 64 * i, .weight = 1, .samples = 1, .pid = 5};
	ret->places[0] = (struct hot_place){.address = 0xffffffff81000000, .weight = 6, .samples = 6};
	ret->places[1] = (struct hot_place){
		.address = 0x401000, .weight = 3, .samples = 3, .pid = state->of_no_process ? 0 : 5};
	return 0;
}

static struct zooms *zooms(void *userdata)
{
	return userdata;
}

static struct symbols *symbols(void *userdata)
{
	return userdata;
}

/* Names for addresses that the origin itself knows. */
static const struct symbol *name(void *userdata, const struct symbol_query *query)
{
	static char module[] = "model:batch";
	static const struct symbol symbol = {.region = SYMBOL_FILE, .module = module};
	struct backend *state = userdata;

	cr_expect_eq(query->pid, 0);
	state->named++;
	return query->kind == SYMBOL_CODE ? &symbol : NULL;
}

static void start(void)
{
	const struct control_backend callbacks = {
		.snapshot = snapshot,
		.hot_choose = hot_choose,
		.hot_choice = hot_choice,
		.hot_places = hot_places,
		.zooms = zooms,
		.symbols = symbols,
		.name = name,
		.userdata = &backend,
	};

	control_fixture_start(&callbacks, NULL);
	fd = peer_connect(socket_path);
}

static void stop(void)
{
	(void)close(fd);
	control_fixture_stop();
	fake_zooms_reset();
}

TestSuite(control_detail, .init = start, .fini = stop);

static void expect_invalid(const char *method, const char *parameters, const char *name)
{
	_cleanup_free_ char *text = NULL;

	cr_assert_gt(asprintf(&text, "%s(%s)", method, parameters), 0);
	expect_invalid_reply(call_with(fd, method, parameters), text, name);
}

/* Expects the error `name`, with `text` as a part of its parameters. */
static void expect_error(const char *method, const char *parameters, const char *name, const char *text)
{
	_cleanup_json_ json_object *reply = call_with(fd, method, parameters);
	const char *of =
		json_object_to_json_string_ext(json_get(reply, "parameters"), JSON_C_TO_STRING_NOSLASHESCAPE);

	cr_assert_not_null(json_get_text(reply, "error"), "%s(%s) was taken", method, parameters);
	cr_expect_str_eq(json_get_text(reply, "error"), name);
	cr_expect(strstr(of, text), "%s is not in %s", text, of);
}

static u64 number_of(const json_object *object, const char *key)
{
	u64 value = ~0ULL;

	cr_expect(json_get_u64(object, key, &value), "%s", key);
	return value;
}

Test(control_detail, every_method_and_error_is_described)
{
	static const char *const lines[] = {
		"\nmethod Zoom(",     "\nmethod EndZoom(",      "\nmethod GetZoom(",
		"\nmethod GetZooms(", "\nmethod GetHot(",       "\nmethod GetProfile(",
		"\nerror Busy (",     "\nerror NoSuchCgroup (", "\nerror NotMeasured ("};

	for (size_t i = 0; i < ARRAY_SIZE(lines); i++)
		cr_expect_not_null(strstr(control_interface_description, lines[i]), "%s", lines[i]);
}

Test(control_detail, parameters_out_of_range_are_named)
{
	expect_invalid("Zoom", "", "cgroup");
	expect_invalid("Zoom", "\"cgroup\":7", "cgroup");
	expect_invalid("Zoom", "\"cgroup\":\"/a\",\"seconds\":0", "seconds");
	expect_invalid("Zoom", "\"cgroup\":\"/a\",\"seconds\":3600.5", "seconds");
	expect_invalid("Zoom", "\"cgroup\":\"/a\",\"seconds\":\"30\"", "seconds");
	expect_invalid("Zoom", "\"cgroup\":\"/a\",\"rate\":0", "rate");
	expect_invalid("Zoom", "\"cgroup\":\"/a\",\"rate\":20001", "rate");
	expect_invalid("Zoom", "\"cgroup\":\"/a\",\"rate\":-1", "rate");
	expect_invalid("Zoom", "\"cgroup\":\"/a\",\"for\":1", "for");
	expect_invalid("EndZoom", "", "zoom");
	expect_invalid("EndZoom", "\"zoom\":-3", "zoom");
	expect_invalid("GetZoom", "", "cgroup");
	expect_invalid("GetZoom", "\"cgroup\":\"/a\",\"zoom\":1", "zoom");
	expect_invalid("GetZoom", "\"zoom\":\"1\"", "zoom");
	expect_invalid("GetZoom", "\"zoom\":1,\"limit\":10001", "limit");
	expect_invalid("GetZooms", "\"limit\":1", "limit");
	expect_invalid("GetHot", "", "cgroup");
	expect_invalid("GetHot", "\"cgroup\":\"/\",\"limit\":-1", "limit");
	expect_invalid("GetHot", "\"cgroup\":\"/\",\"seconds\":1e999", "seconds");
	expect_invalid("GetHot", "\"cgroup\":\"/\",\"x\":1", "x");
	expect_invalid("GetProfile", "\"zoom\":1", "format");
	expect_invalid("GetProfile", "\"zoom\":1,\"format\":\"svg\"", "format");
	expect_invalid("GetProfile", "\"format\":\"pprof\"", "cgroup");
	expect_invalid("GetProfile", "\"zoom\":1,\"format\":\"pprof\",\"offset\":1.5", "offset");
	cr_expect_eq(fake_zooms.begun, 0);
	cr_expect_eq(backend.chosen, 0);
}

Test(control_detail, a_zoom_starts_and_can_be_prolonged)
{
	if (getuid() != 0)
		cr_skip("needs root");
	peer_expect(event, fd, "{\"method\":\"io.pebsd.Zoom\",\"parameters\":{\"cgroup\":\"/batch\"}}",
		    "{\"parameters\":{\"version\":1,\"origin\":\"perf\",\"zoom\":1,\"cgroup\":\"/batch\","
		    "\"until\":\"2026-11-21T06:00:30Z\",\"name\":\"batch\"}}");
	cr_expect_str_eq(fake_zooms.path, "/batch");
	cr_expect_eq(fake_zooms.request.seconds, 30);
	cr_expect_eq(fake_zooms.request.rate, 0);
	peer_expect(event, fd,
		    "{\"method\":\"io.pebsd.Zoom\",\"parameters\":{\"cgroup\":\"/batch\",\"seconds\":90.5,"
		    "\"rate\":20000}}",
		    "{\"parameters\":{\"version\":1,\"origin\":\"perf\",\"zoom\":1,\"cgroup\":\"/batch\","
		    "\"until\":\"2026-11-21T06:01:30Z\",\"name\":\"batch\"}}");
	cr_expect_eq(fake_zooms.request.rate, 20000);
	peer_expect(event, fd, "{\"method\":\"io.pebsd.EndZoom\",\"parameters\":{\"zoom\":1}}",
		    "{\"parameters\":{\"ended\":true}}");
	peer_expect(event, fd, "{\"method\":\"io.pebsd.EndZoom\",\"parameters\":{\"zoom\":1}}",
		    "{\"parameters\":{\"ended\":false}}");
}

/* A cgroup can be zoomed even if it had no samples so far, but not if it is outside the tree. */
Test(control_detail, the_cgroup_of_a_zoom_is_checked)
{
	_cleanup_json_ json_object *reply = call_with(fd, "Zoom", "\"cgroup\":\"/not/sampled\"");

	cr_expect_str_eq(fake_zooms.path, "/not/sampled");
	expect_error("Zoom", "\"cgroup\":\"/../etc\"", "io.pebsd.NoSuchCgroup", "/../etc");
	expect_error("Zoom", "\"cgroup\":\"batch\"", "io.pebsd.NoSuchCgroup", "batch");
	cr_expect_eq(fake_zooms.begun, 1);
	fake_zooms.begin_error = -ENOENT;
	expect_error("Zoom", "\"cgroup\":\"/gone\"", "io.pebsd.NoSuchCgroup", "/gone");
}

Test(control_detail, a_refused_zoom_has_a_reason)
{
	fake_zooms.begin_error = -EBUSY;
	fake_zooms.begin_message = "4 zooms are running";
	expect_error("Zoom", "\"cgroup\":\"/batch\"", "io.pebsd.Busy", "4 zooms are running");
	fake_zooms.begin_error = -EOPNOTSUPP;
	fake_zooms.begin_message = "the origin is replay, which has no tasks";
	expect_error("Zoom", "\"cgroup\":\"/batch\"", "io.pebsd.NotMeasured", "which has no tasks");
	fake_zooms.begin_error = -EMFILE;
	fake_zooms.begin_message = NULL;
	expect_error("Zoom", "\"cgroup\":\"/batch\"", "io.pebsd.NotMeasured", "Too many open files");
}

Test(control_detail, a_zoom_is_found_by_number_and_by_cgroup)
{
	_cleanup_json_ json_object *by_number = NULL;
	_cleanup_json_ json_object *newest = NULL;
	_cleanup_json_ json_object *shown = NULL;

	(void)fake_zooms_hold("/batch", ZOOM_DONE);
	(void)fake_zooms_hold("/batch", ZOOM_NAMING);
	(void)fake_zooms_hold("/\xff", ZOOM_DONE);
	by_number = call_with(fd, "GetZoom", "\"zoom\":1");
	cr_expect_str_eq(json_get_text(json_get(by_number, "zoom"), "state"), "done");
	cr_expect_eq(fake_zooms.settings.functions, 50);
	cr_expect_eq(fake_zooms.settings.n_ranges, 1);
	cr_expect_eq(fake_zooms.settings.n_cpus, 2);
	newest = call_with(fd, "GetZoom", "\"cgroup\":\"/batch\",\"limit\":7");
	cr_expect_eq(number_of(json_get(newest, "zoom"), "zoom"), 2);
	cr_expect_str_eq(json_get_text(json_get(newest, "zoom"), "state"), "naming");
	cr_expect_eq(fake_zooms.settings.lines, 7);
	shown = call_with(fd, "GetZoom",
			  "\"cgroup\":\"/\xef\xbf\xbd"
			  "ff\"");
	cr_expect_eq(number_of(json_get(shown, "zoom"), "zoom"), 3);
}

Test(control_detail, without_a_zoom_there_is_an_error)
{
	expect_error("GetZoom", "\"zoom\":5", "io.pebsd.NotMeasured", "no zoom with this number");
	expect_error("GetZoom", "\"cgroup\":\"/batch\"", "io.pebsd.NotMeasured",
		     "there is no zoom of this cgroup");
	expect_error("GetZoom", "\"cgroup\":\"/no\"", "io.pebsd.NoSuchCgroup", "/no");
	expect_error("GetProfile", "\"zoom\":5,\"format\":\"folded\"", "io.pebsd.NotMeasured",
		     "no zoom with this number");
	backend.snapshot_error = -ENODATA;
	expect_error("GetZoom", "\"cgroup\":\"/batch\"", "io.pebsd.NotMeasured",
		     "nothing has been collected");
}

Test(control_detail, items_of_a_zoom_beyond_the_reply_are_counted)
{
	enum { N = 10000 };
	_cleanup_free_ struct report_function *functions = calloc(N, sizeof(*functions));
	_cleanup_free_ struct report_object *objects = calloc(N, sizeof(*objects));
	_cleanup_free_ struct report_line *lines = calloc(N, sizeof(*lines));
	_cleanup_json_ json_object *reply = NULL;
	json_object *left_out;

	cr_assert(functions && objects && lines);
	for (size_t i = 0; i < N; i++) {
		functions[i] = (struct report_function){.name = (char *)"std::vector<int>::push_back(int&&)"};
		objects[i] = (struct report_object){.name = (char *)"[heap]", .region = SYMBOL_HEAP};
		lines[i] = (struct report_line){.address = 64 * i, .object = (char *)"[heap]"};
	}
	(void)fake_zooms_hold("/batch", ZOOM_DONE);
	fake_zooms.report = (struct profile_report){.n_functions = N,
						    .functions = functions,
						    .n_objects = 10,
						    .objects = objects,
						    .n_lines = N,
						    .lines = lines};
	reply = call_with(fd, "GetZoom", "\"cgroup\":\"/batch\",\"limit\":10000");
	cr_assert_null(json_get(reply, "error"), "%s", json_object_to_json_string(reply));
	left_out = json_get(reply, "left_out");
	cr_expect_eq(number_of(left_out, "functions") +
			     json_object_array_length(json_get_array(reply, "functions")),
		     N);
	cr_expect_eq(number_of(left_out, "lines") + json_object_array_length(json_get_array(reply, "lines")),
		     N);
	cr_expect_gt(json_object_array_length(json_get_array(reply, "lines")), 1000);
	cr_expect_eq(json_object_array_length(json_get_array(reply, "objects")), 10);
	cr_expect_null(json_get(left_out, "objects"));
}

Test(control_detail, zooms_are_listed_newest_first)
{
	_cleanup_json_ json_object *reply = NULL;
	json_object *list;

	peer_expect(event, fd, "{\"method\":\"io.pebsd.GetZooms\"}", "{\"parameters\":{\"zooms\":[]}}");
	(void)fake_zooms_hold("/a", ZOOM_DONE);
	(void)fake_zooms_hold("/b", ZOOM_RUNNING);
	reply = call_with(fd, "GetZooms", "");
	list = json_get_array(reply, "zooms");
	cr_assert_eq(json_object_array_length(list), 2);
	cr_expect_str_eq(json_get_text(json_object_array_get_idx(list, 0), "cgroup"), "/b");
	cr_expect_str_eq(json_get_text(json_object_array_get_idx(list, 0), "until"), "2026-11-21T06:00:30Z");
	cr_expect_null(json_get(json_object_array_get_idx(list, 1), "until"));
}

Test(control_detail, a_request_chooses_the_cgroup_for_hot_places)
{
	_cleanup_json_ json_object *reply = call_with(fd, "GetHot", "\"cgroup\":\"/batch\",\"limit\":1");
	json_object *events = json_get(reply, "events");

	cr_expect_eq(backend.seconds, 600);
	cr_expect_str_eq(json_get_text(json_get(reply, "chosen"), "by"), "request");
	cr_expect_eq(json_object_object_length(events), 2);
	cr_expect_eq(json_object_array_length(json_get_array(json_get(events, "loads:cpu_core"), "lines")),
		     1);
	cr_expect_null(json_get(json_get(events, "instructions"), "lines"));
	cr_expect_str_eq(json_get_text(json_get(events, "instructions"), "weight"), "samples");
	cr_expect_eq(number_of(reply, "id"), 9);
	cr_expect_eq(number_of(reply, "unnamed"), 3, "the kernel's addresses are asked for");
	json_object_put(call_with(fd, "GetHot", "\"cgroup\":\"/batch\",\"seconds\":5"));
	cr_expect_eq(backend.seconds, 5);
	cr_expect_eq(backend.chosen, 2, "it is prolonged");
}

/*
 * The tables of a large machine have more hot places than one reply can hold. Each list has a fair share of
 * the reply, and the reply has the number of places that are left out of each list.
 */
Test(control_detail, hot_places_beyond_the_reply_are_counted)
{
	_cleanup_json_ json_object *reply = NULL, *limited = NULL;
	json_object *loads, *instructions;
	u64 code, lines;

	backend.n_places = 100000;
	reply = call_with(fd, "GetHot", "\"cgroup\":\"/batch\"");
	cr_assert_null(json_get(reply, "error"), "%s", json_object_to_json_string(reply));
	loads = json_get(json_get(reply, "events"), "loads:cpu_core");
	instructions = json_get(json_get(reply, "events"), "instructions");
	code = json_object_array_length(json_get_array(loads, "code"));
	lines = json_object_array_length(json_get_array(loads, "lines"));
	cr_expect_gt(code, 1000);
	cr_expect_gt(lines, 1000);
	cr_expect_gt(json_object_array_length(json_get_array(instructions, "code")), 1000);
	cr_expect_eq(code + number_of(json_get(json_get(loads, "absent"), "code"), "left_out"), 100000);
	cr_expect_eq(lines + number_of(json_get(json_get(loads, "absent"), "lines"), "left_out"), 100000);
	cr_expect_eq(number_of(json_get(json_get(loads, "absent"), "lines"), "samples"), 1);

	limited = call_with(fd, "GetHot", "\"cgroup\":\"/batch\",\"limit\":7");
	loads = json_get(json_get(limited, "events"), "loads:cpu_core");
	cr_expect_eq(json_object_array_length(json_get_array(loads, "lines")), 7);
	cr_expect_eq(number_of(json_get(json_get(loads, "absent"), "lines"), "left_out"), 99993);
}

/* The origin answers at once. Therefore the reply does not wait for names. */
Test(control_detail, hot_places_of_no_process_are_named_by_the_origin)
{
	_cleanup_json_ json_object *reply = NULL;
	json_object *loads;

	backend.of_no_process = true;
	reply = call_with(fd, "GetHot", "\"cgroup\":\"/batch\"");
	loads = json_get(json_get(reply, "events"), "loads:cpu_core");
	cr_expect_str_eq(json_get_text(json_object_array_get_idx(json_get_array(loads, "code"), 1), "module"),
			 "model:batch");
	cr_expect_null(json_get(json_object_array_get_idx(json_get_array(loads, "lines"), 1), "object"));
	cr_expect_eq(backend.named, 3);
	cr_expect_eq(number_of(reply, "unnamed"), 3, "the kernel's addresses alone");
	json_object_put(TAKE_PTR(reply));
	backend.of_no_process = false;
	reply = call_with(fd, "GetHot", "\"cgroup\":\"/batch\"");
	cr_expect_eq(backend.named, 3, "a process' are the symbolizer's");
}

Test(control_detail, configured_hot_places_stay_configured)
{
	_cleanup_json_ json_object *reply = NULL;

	backend.configured = true;
	reply = call_with(fd, "GetHot", "\"cgroup\":\"/batch\"");
	cr_expect_str_eq(json_get_text(json_get(reply, "chosen"), "by"), "configuration");
	cr_expect_eq(backend.chosen, 0);
}

Test(control_detail, after_a_replay_an_unchosen_cgroup_has_no_hot_places)
{
	_cleanup_json_ json_object *reply = NULL;

	backend.replay_done = true;
	expect_error(
		"GetHot", "\"cgroup\":\"/batch\"", "io.pebsd.NotMeasured",
		"the recording was read to its end, and hot tables hold only samples that are read after their cgroup was chosen");
	cr_expect_eq(backend.chosen, 0);
	backend.configured = true;
	reply = call_with(fd, "GetHot", "\"cgroup\":\"/batch\"");
	cr_expect_str_eq(json_get_text(json_get(reply, "chosen"), "by"), "configuration");
}

Test(control_detail, missing_hot_places_have_a_reason)
{
	static const char *const taken[] = {"/a", "/b", NULL};
	char *many[40];

	backend.choose_error = -ENOSPC;
	expect_error("GetHot", "\"cgroup\":\"/batch\"", "io.pebsd.NotMeasured",
		     "all hot tables are in use; wait");
	backend.hot = taken;
	expect_error("GetHot", "\"cgroup\":\"/batch\"", "io.pebsd.NotMeasured",
		     "all hot tables are in use (by /a, /b); wait until one is free, or raise `hot-max`");
	for (size_t i = 0; i + 1 < ARRAY_SIZE(many); i++)
		cr_assert_gt(asprintf(&many[i], "/system.slice/a-rather-long-name-%zu.service", i), 0);
	many[ARRAY_SIZE(many) - 1] = NULL;
	backend.hot = (const char *const *)many;
	expect_error("GetHot", "\"cgroup\":\"/batch\"", "io.pebsd.NotMeasured",
		     ", ...); wait until one is free");
	for (size_t i = 0; i < ARRAY_SIZE(many); i++)
		free(many[i]);
	backend.hot = NULL;
	backend.choose_error = -EOPNOTSUPP;
	expect_error("GetHot", "\"cgroup\":\"/batch\"", "io.pebsd.NotMeasured", "there are no hot tables");
	backend.choose_error = -ENOENT;
	expect_error("GetHot", "\"cgroup\":\"/none\"", "io.pebsd.NoSuchCgroup", "/none");
	backend.choose_error = 0;
	backend.places_error = -ENODATA;
	expect_error("GetHot", "\"cgroup\":\"/batch\"", "io.pebsd.NotMeasured", "ended; ask again");
	backend.places_error = -ENOENT;
	expect_error("GetHot", "\"cgroup\":\"/batch\"", "io.pebsd.NoSuchCgroup", "/batch");
}

/* The cgroup exists, so the error NoSuchCgroup would be false. A zoom needs no slot. */
Test(control_detail, a_cgroup_without_a_slot_has_no_hot_places_and_can_be_zoomed)
{
	static char *paths[] = {(char *)"/new\xff.service"};
	static const struct no_slot no_slot = {.paths = paths, .n = 1};
	static const char name[] = "\"cgroup\":\"/new\xef\xbf\xbd"
				   "ff.service\"";
	_cleanup_json_ json_object *begun = NULL;

	backend.no_slot = &no_slot;
	backend.choose_error = -ENOENT;
	expect_error("GetHot", name, "io.pebsd.NotMeasured", "has no slot");
	expect_error("GetHot", name, "io.pebsd.NotMeasured", "\"no_slot\":true");
	expect_error("GetHot", "\"cgroup\":\"/none\"", "io.pebsd.NoSuchCgroup", "/none");
	expect_error("GetZoom", name, "io.pebsd.NotMeasured", "there is no zoom of this cgroup");
	begun = call_with(fd, "Zoom", name);
	cr_expect_null(json_get(begun, "error"), "%s", json_object_to_json_string(begun));
	cr_expect_str_eq(fake_zooms.path, "/new\xff.service");
}

Test(control_detail, a_profile_is_sent_in_pieces)
{
	_cleanup_json_ json_object *first = NULL;
	_cleanup_json_ json_object *second = NULL;

	(void)fake_zooms_hold("/batch", ZOOM_DONE);
	fake_zooms.output_size = PROFILE_PIECE_BYTES + 2;
	first = call_with(fd, "GetProfile", "\"cgroup\":\"/batch\",\"format\":\"pprof\"");
	cr_expect_eq(number_of(first, "size"), PROFILE_PIECE_BYTES + 2);
	cr_expect_eq(number_of(first, "offset"), 0);
	cr_expect_eq(number_of(first, "next"), PROFILE_PIECE_BYTES);
	cr_expect_str_eq(json_get_text(first, "state"), "done");
	cr_expect_str_eq(json_get_text(first, "format"), "pprof");
	cr_expect_eq(strncmp(json_get_text(first, "data"), "AAECAwQF", 8), 0);
	cr_expect_eq(strlen(json_get_text(first, "data")), (PROFILE_PIECE_BYTES + 2UL) / 3 * 4);
	second = call_with(fd, "GetProfile", "\"zoom\":1,\"format\":\"pprof\",\"offset\":524288");
	cr_expect_null(json_get(second, "next"));
	cr_expect_str_eq(json_get_text(second, "data"), "AAE=");
	cr_expect_eq(fake_zooms.outputs, 1, "the second piece is of the same file");
	expect_invalid("GetProfile", "\"zoom\":1,\"format\":\"pprof\",\"offset\":524290", "offset");
	expect_error("GetProfile", "\"zoom\":1,\"format\":\"folded\",\"offset\":1", "io.pebsd.NotMeasured",
		     "fetch it again from its beginning");
}

static struct profile_pieces held_pieces;
static size_t held_most;

static size_t bytes_of(const struct profile_pieces *pieces)
{
	size_t bytes = 0;

	for (size_t i = 0; i < PROFILE_PIECES_KEPT; i++)
		bytes += pieces->files[i].size;
	return bytes;
}

static void note_held(void)
{
	const size_t bytes = bytes_of(&held_pieces);

	held_most = bytes > held_most ? bytes : held_most;
}

/* A file of 100 MiB stands for one of 1 GiB. */
Test(control_detail, a_large_file_is_freed_before_another_one_is_made)
{
	static const enum zoom_format formats[] = {ZOOM_PPROF, ZOOM_FOLDED};
	const struct profile_pieces_file *last;

	(void)fake_zooms_hold("/batch", ZOOM_DONE);
	fake_zooms.output_size = 100UL << 20;
	fake_zooms.on_output = note_held;
	for (size_t i = 0; i < 2; i++)
		cr_assert_eq(profile_pieces_get(&held_pieces, NULL, &fake_zooms.zooms[0], formats[i], true, 0,
						&last),
			     0);
	cr_expect_leq(held_most, PROFILE_PIECES_BYTES, "%zu bytes", held_most);
	profile_pieces_clear(&held_pieces);
}

/*
 * PROFILE_PIECES_BYTES has room for two files of 30 MiB. The newest file does not count, so at most three are
 * held. The limit covers all zooms and formats together.
 */
Test(control_detail, profile_files_stay_within_the_documented_memory)
{
	static const enum zoom_format formats[] = {ZOOM_PPROF, ZOOM_FOLDED, ZOOM_FOLDED_LATENCY};
	const size_t size = 30UL << 20;
	struct profile_pieces pieces = {0};
	size_t most = 0;

	for (size_t i = 0; i < FAKE_ZOOMS_MAX; i++)
		(void)fake_zooms_hold("/batch", ZOOM_DONE);
	fake_zooms.output_size = size;
	for (size_t i = 0; i < 12; i++) {
		const struct zoom *zoom = &fake_zooms.zooms[i % FAKE_ZOOMS_MAX];
		const struct profile_pieces_file *last;
		size_t bytes;

		cr_assert_eq(profile_pieces_get(&pieces, NULL, zoom, formats[i % 2], true, 0, &last), 0);
		bytes = bytes_of(&pieces);
		cr_expect_eq(last->size, size);
		cr_expect_leq(bytes, PROFILE_PIECES_BYTES + size, "%zu", bytes);
		most = bytes > most ? bytes : most;
	}
	cr_expect_eq(most, 3 * size, "%zu: the bound is not reached", most);
	profile_pieces_clear(&pieces);
}

Test(control_detail, a_zoom_without_samples_has_an_empty_profile)
{
	(void)fake_zooms_hold("/batch", ZOOM_DONE);
	peer_expect(event, fd,
		    "{\"method\":\"io.pebsd.GetProfile\",\"parameters\":{\"zoom\":1,\"format\":\"folded\"}}",
		    "{\"parameters\":{\"zoom\":1,\"state\":\"done\",\"format\":\"folded\",\"size\":0,"
		    "\"offset\":0,\"data\":\"\"}}");
}

Test(control_detail, a_missing_profile_has_a_reason)
{
	struct zoom *zoom = fake_zooms_hold("/batch", ZOOM_RUNNING);

	expect_error("GetProfile", "\"zoom\":1,\"format\":\"pprof\"", "io.pebsd.Busy",
		     "2026-11-21T06:00:30Z");
	zoom->state = ZOOM_NAMING;
	expect_error("GetProfile", "\"zoom\":1,\"format\":\"pprof\"", "io.pebsd.Busy",
		     "still being looked up");
	zoom->state = ZOOM_DONE;
	fake_zooms.output_error = -E2BIG;
	expect_error("GetProfile", "\"zoom\":1,\"format\":\"folded\"", "io.pebsd.NotMeasured", "too large");
	zoom_recording_about(zoom->recording)->events[0].settings.has_latency = false;
	expect_error("GetProfile", "\"zoom\":1,\"format\":\"folded-latency\"", "io.pebsd.NotMeasured",
		     "have no latency");
}

/*
 * The PROFILE_PIECES_KEPT files that were fetched last are kept, so fetching one file does not make another
 * file again.
 */
Test(control_detail, several_files_can_be_fetched_at_the_same_time)
{
	static const char *const formats[] = {"pprof", "folded", "folded-latency"};

	(void)fake_zooms_hold("/a", ZOOM_DONE);
	(void)fake_zooms_hold("/b", ZOOM_DONE);
	fake_zooms.output_size = 10;
	for (int zoom = 1; zoom <= 2; zoom++)
		for (size_t i = 0; i < ARRAY_SIZE(formats); i++) {
			char text[64];

			(void)snprintf(text, sizeof(text), "\"zoom\":%d,\"format\":\"%s\"", zoom, formats[i]);
			json_object_put(call_with(fd, "GetProfile", text));
			json_object_put(call_with(fd, "GetProfile", text));
		}
	cr_expect_eq(fake_zooms.outputs, 6);
	expect_error("GetProfile", "\"zoom\":1,\"format\":\"pprof\",\"offset\":1", "io.pebsd.NotMeasured",
		     "fetch it again");
	json_object_put(call_with(fd, "GetProfile", "\"zoom\":2,\"format\":\"pprof\",\"offset\":1"));
	cr_expect_eq(fake_zooms.outputs, 6);
}

/* Calls as a user without further groups. The caller frees the answer. */
static char *call_with_as(uid_t user, const char *method, const char *parameters)
{
	_cleanup_free_ char *text = NULL;

	cr_assert_gt(asprintf(&text, "{\"method\":\"io.pebsd.%s\",\"parameters\":{%s}}", method, parameters),
		     0);
	return call_as(user, 0, text);
}

Test(control_detail, each_method_is_refused_without_permission)
{
	static const struct {
		const char *method, *parameters;
	} calls[] = {
		{"Zoom", "\"cgroup\":\"/batch\""},   {"EndZoom", "\"zoom\":1"},
		{"GetZoom", "\"zoom\":1"},           {"GetZooms", ""},
		{"GetHot", "\"cgroup\":\"/batch\""}, {"GetProfile", "\"zoom\":1,\"format\":\"folded\""},
	};

	if (getuid() != 0)
		cr_skip("needs root to become someone else");
	(void)fake_zooms_hold("/batch", ZOOM_RUNNING);
	for (size_t i = 0; i < ARRAY_SIZE(calls); i++) {
		_cleanup_free_ char *answer = call_with_as(65534, calls[i].method, calls[i].parameters);

		cr_expect_str_eq(
			answer,
			"{\"error\":\"org.varlink.service.PermissionDenied\",\"parameters\":{\"permitted\":\"root alone (`detail` in [control] can permit a user or group)\"}}",
			"%s", calls[i].method);
	}
	cr_expect_eq(fake_zooms.begun + fake_zooms.ended + backend.chosen, 0);
}

static const struct symbol *kernel_function(const struct symbol_query *query)
{
	static struct symbol_frame frame = {.name = (char *)"copy_user", .offset = 0x777};
	static const struct symbol symbol = {
		.region = SYMBOL_KERNEL, .n_frames = 1, .frames = &frame, .address = 0xffffffff81000010};

	return SYMBOL_IS_KERNEL(query->address) ? &symbol : NULL;
}

/*
 * A user that `detail` names may use zooms and hot tables, but sees no address of the kernel. perf.data has
 * many such addresses, so only root may fetch it.
 */
Test(control_detail, a_user_named_by_detail_sees_no_kernel_address)
{
	const struct passwd *user = getpwnam("daemon");

	if (getuid() != 0 || !user)
		cr_skip("needs root and a user 'daemon'");
	control_permit(control, "daemon");
	fake_zooms.symbol = kernel_function;
	(void)fake_zooms_hold("/batch", ZOOM_DONE);
	{
		_cleanup_free_ char *hot = call_with_as(user->pw_uid, "GetHot", "\"cgroup\":\"/batch\"");
		_cleanup_free_ char *zoom = call_with_as(user->pw_uid, "GetZoom", "\"zoom\":1");
		_cleanup_free_ char *profile =
			call_with_as(user->pw_uid, "GetProfile", "\"zoom\":1,\"format\":\"pprof\"");
		_cleanup_free_ char *data =
			call_with_as(user->pw_uid, "GetProfile", "\"zoom\":1,\"format\":\"perf.data\"");

		cr_expect(strstr(hot, "copy_user"), "%s", hot);
		cr_expect_null(strstr(hot, "0xffff"), "%s", hot);
		cr_expect(strstr(zoom, "\"state\":\"done\""), "%s", zoom);
		cr_expect_str_eq(fake_zooms.kernel_name, "copy_user");
		cr_expect(strstr(profile, "\"size\":0"), "%s", profile);
		cr_expect_not(fake_zooms.kernel_names, "a location has an address");
		cr_expect_str_eq(data, "{\"error\":\"org.varlink.service.PermissionDenied\",\"parameters\":"
				       "{\"permitted\":\"root alone\"}}");
	}
	/* The file for root is made separately, with addresses. */
	json_object_put(call_with(fd, "GetProfile", "\"zoom\":1,\"format\":\"pprof\""));
	cr_expect(fake_zooms.kernel_names);
}

Test(control_detail, root_can_fetch_perf_data)
{
	_cleanup_json_ json_object *reply = NULL;

	if (getuid() != 0)
		cr_skip("root alone may have it");
	(void)fake_zooms_hold("/batch", ZOOM_DONE);
	reply = call_with(fd, "GetProfile", "\"zoom\":1,\"format\":\"perf.data\"");
	cr_assert_not_null(json_get_text(reply, "data"));
	/* "PERFILE2" in Base64 */
	cr_expect_eq(strncmp(json_get_text(reply, "data"), "UEVSRklMRT", 10), 0);
}

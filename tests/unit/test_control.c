// SPDX-License-Identifier: GPL-2.0
#include <criterion/criterion.h>
#include <errno.h>
#include <grp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "base/json_get.h"
#include "control_fixture.h"
#include "example_snapshot.h"
#include "export/control/control.h"
#include "export/control/control_call.h"
#include "export/control/control_interface.h"
#include "varlink/varlink.h"
#include "varlink_peer.h"

struct backend {
	int snapshot_error;
	int reload_error;
	const char *reload_line;
	int reloads;
	const char *path;           /* path of the second cgroup; NULL: unchanged */
	struct maybe_double window; /* window of the last call */
	int snapshots, releases;
	struct snapshot_cgroup *many; /* if not NULL, replaces the cgroups by these `n_many` */
	size_t n_many;
	size_t reads; /* of counters of a cgroup in `many` */
	const struct no_slot *no_slot;
	time_t taken; /* 0: unchanged */
};

static struct backend backend;

static int fd; /* a client's connection */

static bool read_one(const struct snapshot_cgroup *cgroup, unsigned number, struct counters *ret)
{
	(void)cgroup;
	if (number > 0)
		return false;
	backend.reads++;
	memset(ret, 0, sizeof(*ret));
	example_add(ret, 1, SOURCE_L3, 100, 1009, SNOOP_NONE, TLB_L1_HIT);
	return true;
}

/*
 * Returns a snapshot. If the caller asks for a window, the snapshot has only its first cgroup, as if / was
 * quiet.
 */
static int snapshot(void *userdata, const struct maybe_double *window_seconds, const struct snapshot **ret)
{
	struct backend *state = userdata;
	struct snapshot *example = example_perf();

	state->window = *window_seconds;
	state->snapshots++;
	if (state->snapshot_error)
		return state->snapshot_error;
	if (state->path)
		example->cgroups[1].path = state->path;
	if (state->many) {
		example->cgroups = state->many;
		example->n_cgroups = state->n_many;
		example->make_counters = read_one;
	}
	example->no_slot = state->no_slot;
	if (state->taken)
		example->taken.tv_sec = state->taken;
	example->window_seconds = *window_seconds;
	if (window_seconds->known)
		example->n_cgroups = 1;
	*ret = example;
	return 0;
}

static void release(void *userdata)
{
	((struct backend *)userdata)->releases++;
}

static int reload(void *userdata, char ***ret_lines)
{
	struct backend *state = userdata;

	state->reloads++;
	if (state->reload_line) {
		*ret_lines = calloc(2, sizeof(char *));
		(*ret_lines)[0] = strdup(state->reload_line);
	}
	return state->reload_error;
}

static const struct control_backend callbacks = {
	.snapshot = snapshot, .release = release, .reload = reload, .userdata = &backend};

/* Opens the socket again, or a second one. */
static int open_control(const char *group, char **ret_message)
{
	return control_new(event, socket_path, group, &callbacks, &control, ret_message);
}

static void start(void)
{
	control_fixture_start(&callbacks, NULL);
	fd = peer_connect(socket_path);
}

/* Some tests leave a file at the path. */
static void stop(void)
{
	(void)close(fd);
	control = control_free(control);
	(void)unlink(socket_path);
	control_fixture_stop();
}

TestSuite(control, .init = start, .fini = stop);

static void expect_invalid(const char *text, const char *parameter)
{
	expect_invalid_reply(call(fd, text), text, parameter);
}

static const char *cgroup_of(json_object *top, size_t index)
{
	return json_get_text(json_object_array_get_idx(json_get_array(top, "cgroups"), index), "cgroup");
}

Test(control, the_status_has_the_figures)
{
	_cleanup_json_ json_object *status = call(fd, "{\"method\":\"io.pebsd.GetStatus\"}");
	u64 slots;

	cr_expect_str_eq(json_get_text(status, "origin"), "perf");
	cr_expect(json_get_u64(status, "slots", &slots) && slots == 512);
	expect_invalid("{\"method\":\"io.pebsd.GetStatus\",\"parameters\":{\"x\":null}}", "x");
}

Test(control, before_the_first_collection_requests_are_not_measured)
{
	backend.snapshot_error = -ENODATA;
	peer_expect(event, fd, "{\"method\":\"io.pebsd.GetTop\"}",
		    "{\"error\":\"io.pebsd.NotMeasured\",\"parameters\":{\"what\":\"samples\","
		    "\"reason\":\"nothing has been collected yet; try again in a few seconds\"}}");
}

Test(control, top_with_window_order_and_limit)
{
	_cleanup_json_ json_object *all = call(fd, "{\"method\":\"io.pebsd.GetTop\"}");
	_cleanup_json_ json_object *sorted = NULL;
	_cleanup_json_ json_object *limited = NULL;
	_cleanup_json_ json_object *window = NULL;
	double seconds;

	cr_expect_not(backend.window.known);
	cr_expect_eq(json_object_array_length(json_get_array(all, "cgroups")), 2);
	cr_expect_str_eq(cgroup_of(all, 0), "/system.slice/db.service");

	sorted = call(fd, "{\"method\":\"io.pebsd.GetTop\",\"parameters\":{\"sort\":\"samples\","
			  "\"window_s\":null,\"limit\":null}}");
	cr_expect_str_eq(cgroup_of(sorted, 0), "/");
	cr_expect_str_eq(cgroup_of(sorted, 1), "/system.slice/db.service");

	limited = call(fd,
		       "{\"method\":\"io.pebsd.GetTop\",\"parameters\":{\"sort\":\"share:l1\",\"limit\":1}}");
	cr_expect_eq(json_object_array_length(json_get_array(limited, "cgroups")), 1);
	cr_expect_str_eq(cgroup_of(limited, 0), "/");

	window = call(fd, "{\"method\":\"io.pebsd.GetTop\",\"parameters\":{\"window_s\":10}}");
	cr_expect(backend.window.known && backend.window.value == 10);
	cr_expect(json_get_double(window, "window_s", &seconds) && seconds == 10);
	cr_expect_eq(backend.snapshots, 8, "each answer also reads the names of all cgroups");
	cr_expect_eq(backend.releases, 4, "no answer holds a snapshot's memory");
}

/* Makes `n` cgroups with paths of 4,000 bytes, close to PATH_MAX. */
static void make_many(size_t n)
{
	struct snapshot *example = example_perf();

	backend.many = calloc(n, sizeof(*backend.many));
	backend.n_many = n;
	for (size_t i = 0; i < n; i++) {
		char *path = malloc(4001);

		memset(path, 'x', 4000);
		path[4000] = '\0';
		(void)snprintf(path, 16, "/%06zu", i);
		path[strlen(path)] = 'x';
		backend.many[i] = example->cgroups[1];
		backend.many[i].path = path;
	}
}

static void free_many(void)
{
	for (size_t i = 0; i < backend.n_many; i++)
		free((char *)backend.many[i].path);
	free(backend.many);
	backend.many = NULL;
}

Test(control, a_long_list_comes_in_pages_that_fit_a_reply)
{
	enum { MANY = 2500 };
	bool seen[MANY] = {false};
	size_t n = 0, pages = 0;
	u64 next = 0;

	make_many(MANY);
	do {
		_cleanup_json_ json_object *page = NULL;
		_cleanup_free_ char *reply = NULL;
		char text[128];

		(void)snprintf(text, sizeof(text),
			       "{\"method\":\"io.pebsd.GetTop\",\"parameters\":{\"offset\":%llu}}",
			       (unsigned long long)next);
		peer_call(event, fd, text);
		reply = peer_receive(event, fd, NULL);
		cr_assert_not_null(reply);
		cr_assert_lt(strlen(reply), VARLINK_REPLY_MAX, "%zu bytes", strlen(reply));
		cr_assert_eq(json_parse(reply, strlen(reply), 32, &page), 0);
		pages++;
		for (size_t i = 0;
		     i < json_object_array_length(json_get_array(json_get(page, "parameters"), "cgroups"));
		     i++) {
			size_t number = strtoul(cgroup_of(json_get(page, "parameters"), i) + 1, NULL, 10);

			cr_assert(number < MANY && !seen[number]);
			seen[number] = true;
			n++;
		}
		cr_expect_not_null(json_get_text(json_get(page, "parameters"), "taken"));
		if (!json_get_u64(json_get(page, "parameters"), "next", &next))
			next = 0;
	} while (next);
	cr_expect_eq(n, MANY);
	cr_expect_gt(pages, 10);
	free_many();
}

Test(control, top_of_subtrees_some_cgroups_and_one_event)
{
	_cleanup_json_ json_object *sums =
		call(fd, "{\"method\":\"io.pebsd.GetTop\",\"parameters\":{\"depth\":1,\"limit\":1}}");
	_cleanup_json_ json_object *filtered = NULL;
	_cleanup_json_ json_object *of_atom = NULL;
	_cleanup_json_ json_object *subtree = NULL;
	u64 count;

	cr_expect_str_eq(cgroup_of(sums, 0), "/");
	cr_expect(json_get_u64(sums, "matching", &count) && count == 2, "/ and /system.slice");
	cr_expect(json_get_u64(json_object_array_get_idx(json_get_array(sums, "cgroups"), 0), "subtree",
			       &count) &&
		  count == 2);

	json_object_put(sums);
	sums = call(fd,
		    "{\"method\":\"io.pebsd.GetTop\",\"parameters\":{\"depth\":1,\"offset\":1,\"limit\":5}}");
	cr_expect_eq(json_object_array_length(json_get_array(sums, "cgroups")), 1);
	cr_expect_str_eq(cgroup_of(sums, 0), "/system.slice");
	json_object_put(sums);
	sums = call(fd, "{\"method\":\"io.pebsd.GetTop\",\"parameters\":{\"offset\":9}}");
	cr_expect_eq(json_object_array_length(json_get_array(sums, "cgroups")), 0);
	cr_expect(json_get_u64(sums, "matching", &count) && count == 2);

	filtered = call(fd, "{\"method\":\"io.pebsd.GetTop\",\"parameters\":{\"filter\":\"db*ice\"}}");
	cr_expect_eq(json_object_array_length(json_get_array(filtered, "cgroups")), 1);
	cr_expect_str_eq(cgroup_of(filtered, 0), "/system.slice/db.service");

	of_atom = call(fd, "{\"method\":\"io.pebsd.GetTop\",\"parameters\":{\"event\":"
			   "\"loads:cpu_atom\",\"sort\":\"samples\"}}");
	cr_expect(json_get_u64(of_atom, "matching", &count) && count == 1);
	cr_expect_str_eq(cgroup_of(of_atom, 0), "/system.slice/db.service");

	subtree = call(fd, "{\"method\":\"io.pebsd.GetCgroup\",\"parameters\":{\"cgroup\":"
			   "\"/system.slice\",\"subtree\":true,\"window_s\":10}}");
	cr_expect_str_eq(json_get_text(subtree, "cgroup"), "/system.slice");
	cr_expect(json_get_u64(subtree, "subtree", &count) && count == 1);
	cr_expect_not_null(json_get_object(json_get_object(subtree, "events"), "loads:cpu_core"));
}

static json_object *find(const char *name)
{
	char text[256];

	(void)snprintf(text, sizeof(text),
		       "{\"method\":\"io.pebsd.FindCgroups\",\"parameters\":{\"name\":\"%s\"}}", name);
	return call(fd, text);
}

static const char *found(const json_object *reply, size_t i)
{
	return json_object_get_string(json_object_array_get_idx(json_get_array(reply, "cgroups"), i));
}

Test(control, a_cgroup_is_found_by_a_unique_end_of_its_path)
{
	static struct snapshot_cgroup many[] = {
		{.path = "/a/db.service"},  {.path = "/b/web.service"}, {.path = "/b/web.service/inner"},
		{.path = "/c/web.service"}, {.path = "/c/web"},         {.path = "web"},
	};
	static const struct {
		const char *name, *first, *second;
		size_t n;
	} cases[] = {
		{"db", "/a/db.service", NULL, 1},
		{"b/web", "/b/web.service", NULL, 1},
		{"inner", "/b/web.service/inner", NULL, 1},
		{"web.service", "/b/web.service", "/c/web.service", 2},
		{"web", "web", NULL, 1}, /* exactly the path: others do not count */
		{"a", "/a", NULL, 1},    /* no cgroup with samples, but the name of one above */
		{"web.service/inner", "/b/web.service/inner", NULL, 1},
		{"web/inner", "/b/web.service/inner", NULL, 1}, /* the name that replies show */
		{"c/web.service", "/c/web.service", NULL, 1},
		{"e", NULL, NULL, 0},
	};

	backend.many = many;
	backend.n_many = ARRAY_SIZE(many);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_json_ json_object *reply = find(cases[i].name);

		cr_assert_eq(json_object_array_length(json_get_array(reply, "cgroups")), cases[i].n, "%s: %s",
			     cases[i].name, json_object_to_json_string(reply));
		if (cases[i].first)
			cr_expect_str_eq(found(reply, 0), cases[i].first);
		if (cases[i].second)
			cr_expect_str_eq(found(reply, 1), cases[i].second);
		cr_expect_null(json_get(reply, "more"));
	}
	expect_invalid("{\"method\":\"io.pebsd.FindCgroups\",\"parameters\":{\"name\":\"\"}}", "name");
	expect_invalid("{\"method\":\"io.pebsd.FindCgroups\",\"parameters\":{\"cgroup\":\"a\"}}", "cgroup");
}

static const char *name_of(const json_object *reply, const char *list, size_t i)
{
	json_object *item = json_object_array_get_idx(json_get_array(reply, list), i);

	return json_object_is_type(item, json_type_string) ? json_object_get_string(item)
							   : json_get_text(item, "name");
}

/* Every name in a reply finds its cgroup. */
Test(control, replies_have_short_names_that_find_the_cgroup)
{
	static struct snapshot_cgroup many[] = {
		{.path = "/a/db.service"},
		{.path = "/b/worker"},
		{.path = "/c/worker"},
		{.path = "/c/\xff"},
	};
	static const char *const names[] = {"db", "b/worker", "c/worker",
					    "\xef\xbf\xbd"
					    "ff"};
	_cleanup_json_ json_object *top = NULL, *window = NULL, *several = NULL, *cgroup = NULL;

	backend.many = many;
	backend.n_many = ARRAY_SIZE(many);
	top = call(fd, "{\"method\":\"io.pebsd.GetTop\",\"parameters\":{\"sort\":\"samples\"}}");
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		_cleanup_json_ json_object *reply = find(names[i]);

		cr_expect_str_eq(name_of(top, "cgroups", i), names[i]);
		cr_assert_eq(json_object_array_length(json_get_array(reply, "cgroups")), 1, "%s", names[i]);
		cr_expect_str_eq(found(reply, 0), cgroup_of(top, i));
		cr_expect_str_eq(name_of(reply, "names", 0), names[i]);
	}
	several = find("worker");
	cr_assert_eq(json_object_array_length(json_get_array(several, "names")), 2);
	cr_expect_str_eq(name_of(several, "names", 1), "c/worker");
	/* Names are those among all cgroups, also in a window in which one of them has samples. */
	window = call(fd, "{\"method\":\"io.pebsd.GetTop\",\"parameters\":{\"window_s\":10}}");
	cr_expect_str_eq(name_of(window, "cgroups", 0), "db");
	cgroup = call(fd, "{\"method\":\"io.pebsd.GetCgroup\",\"parameters\":{\"cgroup\":\"/b/worker\"}}");
	cr_expect_str_eq(json_get_text(cgroup, "name"), "b/worker");
}

Test(control, a_cgroup_represents_its_descendants_of_the_same_name)
{
	static struct snapshot_cgroup many[] = {
		{.path = "/pods/p/x/app"}, {.path = "/pods/p/app/app"}, {.path = "/pods/p/app"}};
	_cleanup_json_ json_object *reply = NULL;

	backend.many = many;
	backend.n_many = ARRAY_SIZE(many);
	reply = find("app");
	cr_assert_eq(json_object_array_length(json_get_array(reply, "cgroups")), 2);
	cr_expect_str_eq(found(reply, 0), "/pods/p/x/app");
	cr_expect_str_eq(found(reply, 1), "/pods/p/app");
}

Test(control, a_misspelt_cgroup_gets_the_nearest_one)
{
	_cleanup_json_ json_object *reply = find("bd.service");

	cr_expect_eq(json_object_array_length(json_get_array(reply, "cgroups")), 0);
	cr_expect_str_eq(json_get_text(reply, "nearest"), "/system.slice/db.service");
	cr_expect_str_eq(json_get_text(reply, "nearest_name"), "db");
	json_object_put(reply);
	reply = find("serv");
	cr_expect_str_eq(json_get_text(reply, "nearest_name"), "db", "the start of a name, or a part of one");
	json_object_put(reply);
	reply = find("nothing-like-it");
	cr_expect_null(json_get(reply, "nearest"));
}

Test(control, a_reply_has_at_most_16_cgroups_of_a_name)
{
	static struct snapshot_cgroup many[40];
	static char paths[40][16];
	_cleanup_json_ json_object *reply = NULL;
	bool more = false;

	for (size_t i = 0; i < ARRAY_SIZE(many); i++) {
		(void)snprintf(paths[i], sizeof(paths[i]), "/%zu/x", i);
		many[i] = (struct snapshot_cgroup){.path = paths[i]};
	}
	backend.many = many;
	backend.n_many = ARRAY_SIZE(many);
	reply = find("x");
	cr_expect_eq(json_object_array_length(json_get_array(reply, "cgroups")), 16);
	cr_expect(json_get_bool(reply, "more", &more) && more);
}

/*
 * Makes `n` cgroups without counters of their own. Their paths have `names` names, and begin with `same`
 * equal ones.
 */
static void make_nested(size_t n, size_t names, size_t same)
{
	backend.many = calloc(n, sizeof(*backend.many));
	backend.n_many = n;
	cr_assert_not_null(backend.many);
	for (size_t i = 0; i < n; i++) {
		char *path = malloc(8 * names + 1);

		cr_assert_not_null(path);
		for (size_t name = 0; name < names; name++)
			(void)snprintf(path + 8 * name, 9, "/%07zu", name < same ? 0 : i % 10000000);
		backend.many[i] = (struct snapshot_cgroup){.path = path, .id = 1 + i, .alive = true};
	}
}

/* All cgroups lie at the end of one chain, so that each of its sums has all of them. */
Test(control, nested_sums_come_in_replies_of_bounded_work)
{
	enum { MANY = 500, LEVELS = 99 };
	size_t n = 0, replies = 0;
	u64 next = 0, matching;

	make_nested(MANY, LEVELS, LEVELS - 1);
	do {
		_cleanup_json_ json_object *page = NULL;
		char text[160];

		backend.reads = 0;
		(void)snprintf(
			text, sizeof(text),
			"{\"method\":\"io.pebsd.GetTop\",\"parameters\":{\"depth\":99,\"sort\":\"p99\",\"offset\":%llu}}",
			(unsigned long long)next);
		page = call(fd, text);
		n += json_object_array_length(json_get_array(page, "cgroups"));
		cr_expect(json_get_u64(page, "matching", &matching) && matching == LEVELS + MANY);
		/*
		 * Every cgroup is read once for the order. Then sums are read up to the limit, and the
		 * last sum may exceed it.
		 */
		cr_expect_leq(backend.reads, 20000 + 2UL * MANY, "%zu", backend.reads);
		replies++;
		if (!json_get_u64(page, "next", &next))
			next = 0;
	} while (next);
	cr_expect_eq(n, LEVELS + MANY, "%zu", n);
	cr_expect_leq(replies, 2 + LEVELS * MANY / 20000, "%zu", replies);
	free_many();
}

Test(control, many_nested_sums_come_in_replies_of_four_times_their_work)
{
	enum { MANY = 8000 };
	_cleanup_json_ json_object *page = NULL;
	u64 next = 0;

	make_nested(MANY, 9, 8);
	backend.reads = 0;
	page = call(fd, "{\"method\":\"io.pebsd.GetTop\",\"parameters\":{\"depth\":99,\"sort\":\"p99\"}}");
	cr_expect_eq(json_object_array_length(json_get_array(page, "cgroups")), 4);
	cr_expect(json_get_u64(page, "next", &next) && next == 4);
	cr_expect_leq(backend.reads, 5UL * MANY, "%zu", backend.reads);
	free_many();
}

Test(control, a_few_nested_cgroups_come_in_one_reply)
{
	_cleanup_json_ json_object *page = NULL;
	u64 next;

	make_nested(20, 9, 8);
	page = call(fd, "{\"method\":\"io.pebsd.GetTop\",\"parameters\":{\"depth\":99}}");
	cr_expect_eq(json_object_array_length(json_get_array(page, "cgroups")), 9 + 20);
	cr_expect_not(json_get_u64(page, "next", &next));
	free_many();
}

Test(control, sums_that_need_too_much_memory_are_refused)
{
	_cleanup_json_ json_object *sums = NULL;

	make_nested(3000, 99, 0);
	peer_expect(event, fd, "{\"method\":\"io.pebsd.GetTop\",\"parameters\":{\"depth\":99}}",
		    "{\"error\":\"io.pebsd.NotMeasured\",\"parameters\":{\"what\":\"depth\",\"reason\":"
		    "\"the sums to this depth take too much memory; use a smaller depth\"}}");
	cr_expect_eq(backend.reads, 0);
	cr_expect_eq(backend.releases, 1, "no answer holds a snapshot's memory");
	sums = call(fd, "{\"method\":\"io.pebsd.GetTop\",\"parameters\":{\"depth\":9,\"limit\":1}}");
	cr_expect_str_eq(cgroup_of(sums, 0), "/");
	free_many();
}

Test(control, parameters_out_of_range_are_named)
{
	_cleanup_free_ char *long_filter = NULL;

	expect_invalid("{\"method\":\"io.pebsd.GetTop\",\"parameters\":{\"window_s\":0}}", "window_s");
	expect_invalid("{\"method\":\"io.pebsd.GetTop\",\"parameters\":{\"window_s\":-1.5}}", "window_s");
	expect_invalid("{\"method\":\"io.pebsd.GetTop\",\"parameters\":{\"window_s\":1e999}}", "window_s");
	expect_invalid("{\"method\":\"io.pebsd.GetTop\",\"parameters\":{\"window_s\":\"10\"}}", "window_s");
	expect_invalid("{\"method\":\"io.pebsd.GetTop\",\"parameters\":{\"sort\":\"rate\"}}", "sort");
	expect_invalid("{\"method\":\"io.pebsd.GetTop\",\"parameters\":{\"sort\":1}}", "sort");
	expect_invalid("{\"method\":\"io.pebsd.GetTop\",\"parameters\":{\"limit\":-1}}", "limit");
	expect_invalid("{\"method\":\"io.pebsd.GetTop\",\"parameters\":{\"limit\":1.5}}", "limit");
	expect_invalid("{\"method\":\"io.pebsd.GetTop\",\"parameters\":{\"window\":1}}", "window");
	expect_invalid("{\"method\":\"io.pebsd.GetTop\",\"parameters\":{\"depth\":-1}}", "depth");
	expect_invalid("{\"method\":\"io.pebsd.GetTop\",\"parameters\":{\"depth\":100}}", "depth");
	expect_invalid("{\"method\":\"io.pebsd.GetTop\",\"parameters\":{\"depth\":18446744073709551615}}",
		       "depth");
	expect_invalid("{\"method\":\"io.pebsd.GetTop\",\"parameters\":{\"offset\":-1}}", "offset");
	expect_invalid("{\"method\":\"io.pebsd.GetTop\",\"parameters\":{\"event\":\"load\"}}", "event");
	expect_invalid("{\"method\":\"io.pebsd.GetTop\",\"parameters\":{\"filter\":1}}", "filter");
	expect_invalid("{\"method\":\"io.pebsd.GetTop\",\"parameters\":{\"trend\":0}}", "trend");
	expect_invalid("{\"method\":\"io.pebsd.GetTop\",\"parameters\":{\"trend\":3601}}", "trend");
	expect_invalid("{\"method\":\"io.pebsd.GetTop\",\"parameters\":{\"trend_s\":60}}", "trend");
	expect_invalid("{\"method\":\"io.pebsd.GetTop\",\"parameters\":{\"trend\":9,\"trend_s\":0.5}}",
		       "trend");
	cr_assert_geq(asprintf(&long_filter,
			       "{\"method\":\"io.pebsd.GetTop\",\"parameters\":{\"filter\":\"%0252d\"}}", 1),
		      0);
	expect_invalid(long_filter, "filter");
	expect_invalid("{\"method\":\"io.pebsd.GetCgroup\",\"parameters\":{\"cgroup\":\"/\","
		       "\"subtree\":1}}",
		       "subtree");
	expect_invalid("{\"method\":\"io.pebsd.GetCgroup\"}", "cgroup");
	expect_invalid("{\"method\":\"io.pebsd.GetCgroup\",\"parameters\":{\"cgroup\":[\"/\"]}}", "cgroup");
	expect_invalid("{\"method\":\"io.pebsd.GetCgroup\",\"parameters\":{\"cgroup\":\"/\\u0000\"}}",
		       "cgroup");
	expect_invalid("{\"method\":\"io.pebsd.Reload\",\"parameters\":{\"now\":true}}", "now");
	cr_expect_eq(backend.reloads, 0);
}

Test(control, a_cgroup_has_its_figures)
{
	_cleanup_json_ json_object *busy = NULL;
	_cleanup_json_ json_object *quiet = NULL;
	json_object *events;
	u64 id = 0;

	busy = call(fd, "{\"method\":\"io.pebsd.GetCgroup\",\"parameters\":{\"cgroup\":\"/\"}}");
	events = json_get_object(busy, "events");
	cr_expect_not_null(json_get_array(json_get_object(events, "loads:cpu_core"), "histogram"));

	quiet = call(
		fd, "{\"method\":\"io.pebsd.GetCgroup\",\"parameters\":{\"cgroup\":\"/\",\"window_s\":2.5}}");
	cr_expect_str_eq(json_get_text(quiet, "cgroup"), "/");
	cr_expect(json_get_u64(quiet, "id", &id) && id == 1, "it is known, though quiet");
	cr_expect_eq(json_object_object_length(json_get_object(quiet, "events")), 0);

	peer_expect(event, fd, "{\"method\":\"io.pebsd.GetCgroup\",\"parameters\":{\"cgroup\":\"/no\"}}",
		    "{\"error\":\"io.pebsd.NoSuchCgroup\",\"parameters\":{\"cgroup\":\"/no\"}}");
}

/* A sum says how many of its cgroups have no slot. A sum of nothing but such cgroups is not an error. */
Test(control, a_subtree_counts_its_cgroups_without_a_slot)
{
	static char *paths[] = {(char *)"/batch/a", (char *)"/batch2", (char *)"/new.slice/x",
				(char *)"/new.slice/y"};
	static const struct no_slot no_slot = {.paths = paths, .n = 4};
	static const struct {
		const char *parameters, *name;
		u64 sampled, without;
	} cases[] = {
		{"\"cgroup\":\"/batch\"", "/batch", 0, 1},
		{"\"cgroup\":\"/\"", "/", 2, 4},
		{"\"cgroup\":\"/new.slice\"", "/new.slice", 0, 2},
		{"\"window_s\":2.5,\"cgroup\":\"/new.slice\"", "/new.slice", 0, 2},
		{"\"cgroup\":\"/new.slice/x\"", "/new.slice/x", 0, 1},
	};

	backend.no_slot = &no_slot;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_free_ char *text = NULL;
		_cleanup_json_ json_object *got = NULL;
		u64 sampled = 0, without = 0;

		cr_assert_gt(
			asprintf(&text,
				 "{\"method\":\"io.pebsd.GetCgroup\",\"parameters\":{%s,\"subtree\":true}}",
				 cases[i].parameters),
			0);
		got = call(fd, text);
		cr_assert_not_null(json_get_text(got, "cgroup"), "%s", json_object_to_json_string(got));
		cr_expect_str_eq(json_get_text(got, "cgroup"), cases[i].name);
		(void)json_get_u64(got, "subtree", &sampled);
		(void)json_get_u64(got, "subtree_without_slot", &without);
		cr_expect_eq(sampled, cases[i].sampled, "%s", cases[i].parameters);
		cr_expect_eq(without, cases[i].without, "%s", cases[i].parameters);
	}
	peer_expect(
		event, fd,
		"{\"method\":\"io.pebsd.GetCgroup\",\"parameters\":{\"cgroup\":\"/new\",\"subtree\":true}}",
		"{\"error\":\"io.pebsd.NoSuchCgroup\",\"parameters\":{\"cgroup\":\"/new\"}}");
}

/* A client can ask with the name as it is shown, even in a window without samples of the cgroup. */
Test(control, a_cgroup_whose_name_is_not_utf8)
{
	static const char *const asked[] = {"\"cgroup\":\"/r2\xef\xbf\xbd"
					    "ff\"",
					    "\"window_s\":2.5,\"cgroup\":\"/r2\xef\xbf\xbd"
					    "ff\""};
	_cleanup_json_ json_object *top = NULL;

	backend.path = "/r2\xff";
	top = call(fd, "{\"method\":\"io.pebsd.GetTop\"}");
	cr_expect_str_eq(cgroup_of(top, 1), "/r2\xef\xbf\xbd"
					    "ff");
	for (size_t i = 0; i < ARRAY_SIZE(asked); i++) {
		_cleanup_free_ char *text = NULL;
		_cleanup_json_ json_object *got = NULL;

		cr_assert_gt(
			asprintf(&text, "{\"method\":\"io.pebsd.GetCgroup\",\"parameters\":{%s}}", asked[i]),
			0);
		got = call(fd, text);
		cr_assert_not_null(json_get_text(got, "cgroup"), "%s", json_object_to_json_string(got));
		cr_expect_str_eq(json_get_text(got, "cgroup"), "/r2\xef\xbf\xbd"
							       "ff");
	}
}

Test(control, every_method_is_described)
{
	static const char *const names[] = {"GetStatus", "GetTop", "GetCgroup", "Reload", "Watch"};
	_cleanup_json_ json_object *reply = NULL;
	const char *description;

	reply = call(fd, "{\"method\":\"org.varlink.service.GetInterfaceDescription\","
			 "\"parameters\":{\"interface\":\"" CONTROL_INTERFACE "\"}}");
	description = json_get_text(reply, "description");
	cr_assert_not_null(description);
	cr_expect_not_null(strstr(description, "\ninterface io.pebsd\n"));
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		char line[64];

		(void)snprintf(line, sizeof(line), "\nmethod %s(", names[i]);
		cr_expect_not_null(strstr(description, line), "%s", names[i]);
	}
}

Test(control, reload_by_root)
{
	if (getuid() != 0)
		cr_skip("only root may reload");
	backend.reload_line = "interval: taken over at the next start";
	peer_expect(event, fd, "{\"method\":\"io.pebsd.Reload\"}",
		    "{\"parameters\":{\"remarks\":[\"interval: taken over at the next start\"],"
		    "\"config\":{\"reloaded\":false,\"time\":\"2026-11-21T05:59:59Z\",\"files\":["
		    "\"/etc/pebsd/pebsd.conf\",\"/etc/pebsd/pebsd.conf.d/a.conf\",\"/etc/pebsd/pebsd.conf.d/"
		    "b.conf\"]}}}");

	backend.reload_error = -EINVAL;
	backend.reload_line = "pebsd.conf:3: unknown key";
	peer_expect(event, fd, "{\"method\":\"io.pebsd.Reload\"}",
		    "{\"error\":\"io.pebsd.ConfigInvalid\",\"parameters\":{\"mistakes\":"
		    "[\"pebsd.conf:3: unknown key\"]}}");

	backend.reload_error = -EACCES;
	backend.reload_line = NULL;
	peer_expect(event, fd, "{\"method\":\"io.pebsd.Reload\"}",
		    "{\"error\":\"io.pebsd.ConfigInvalid\",\"parameters\":{\"mistakes\":"
		    "[\"Permission denied\"]}}");
	cr_expect_eq(backend.reloads, 3);
}

Test(control, reload_by_others_is_refused)
{
	_cleanup_free_ char *answer = call_as(65534, 0, "{\"method\":\"io.pebsd.Reload\"}");

	cr_expect_str_eq(answer, "{\"error\":\"org.varlink.service.PermissionDenied\",\"parameters\":"
				 "{\"permitted\":\"root alone\"}}");
	cr_expect_eq(backend.reloads, 0);
}

Test(control, watchers_get_each_item)
{
	_cleanup_close_ int first = peer_connect(socket_path);
	_cleanup_close_ int second = peer_connect(socket_path);
	json_object *fields = json_object_new_object();

	peer_expect(event, first, "{\"method\":\"io.pebsd.Watch\"}",
		    "{\"error\":\"org.varlink.service.ExpectedMore\"}");
	control_publish(control, "reload", "nobody hears this", json_object_new_object());
	peer_call(event, first, "{\"method\":\"io.pebsd.Watch\",\"more\":true}");
	peer_call(event, second, "{\"method\":\"io.pebsd.Watch\",\"more\":true,\"parameters\":{}}");
	peer_settle(event);
	json_object_object_add(fields, "cgroup", json_object_new_string("/a"));
	control_publish(control, "born", "cgroup /a", fields);
	control_publish(control, "loss", "3 samples", NULL);

	for (int i = 0; i < 2; i++) {
		for (int j = 0; j < 2; j++) {
			_cleanup_free_ char *got = peer_receive(event, i ? second : first, NULL);
			_cleanup_json_ json_object *message = NULL;
			json_object *item;
			bool more = false;

			cr_assert_not_null(got);
			cr_assert_eq(json_parse(got, strlen(got), 8, &message), 0);
			item = json_get_object(message, "parameters");
			cr_expect(json_get_bool(message, "continues", &more) && more);
			cr_expect_str_eq(json_get_text(item, "event"), j ? "loss" : "born");
			cr_expect_str_eq(json_get_text(item, "text"), j ? "3 samples" : "cgroup /a");
			cr_expect_eq(strlen(json_get_text(item, "time")), strlen("2026-11-21T06:00:00Z"));
			if (!j) {
				cr_expect_str_eq(json_get_text(item, "cgroup"), "/a");
				cr_expect_str_eq(json_get_text(item, "name"), "a");
			}
		}
	}
}

/* A watcher learns the short name that other replies have. */
Test(control, watchers_get_names_without_regard_to_removed_cgroups)
{
	static const struct {
		const char *kind, *path, *name;
	} items[] = {
		{"born", "/x/worker", "x/worker"},
		{"gone", "/old/db.service", "db"},
		{"born", "/new/db.service", "db"},
	};
	static struct snapshot_cgroup many[] = {{.path = "/b/worker", .alive = true},
						{.path = "/old/db.service", .alive = true}};

	backend.many = many;
	backend.n_many = ARRAY_SIZE(many);
	peer_call(event, fd, "{\"method\":\"io.pebsd.Watch\",\"more\":true}");
	peer_settle(event);
	for (size_t i = 0; i < ARRAY_SIZE(items); i++) {
		json_object *fields = json_object_new_object();
		_cleanup_json_ json_object *message = NULL;
		_cleanup_free_ char *got = NULL;

		json_object_object_add(fields, "cgroup", json_object_new_string(items[i].path));
		control_publish(control, items[i].kind, "text", fields);
		got = peer_receive(event, fd, NULL);
		cr_assert_not_null(got);
		cr_assert_eq(json_parse(got, strlen(got), 8, &message), 0);
		cr_expect_str_eq(json_get_text(json_get(message, "parameters"), "name"), items[i].name, "%zu",
				 i);
	}
}

Test(control, names_are_rebuilt_after_20_s_or_2_s_if_maybe_too_long)
{
	static const struct {
		time_t now;
		bool longer, for_reply, old;
	} rows[] = {
		{1000, false, true, false},  {1019, false, true, false}, {1020, false, true, true},
		{1001, true, true, false},   {1002, true, true, true},   {1019, true, false, false},
		{1020, true, false, true},   {999, false, true, true},   {999, false, false, true},
		{1019, false, false, false},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct control_names names = {.made = 1000, .longer = rows[i].longer};

		cr_expect_eq(control_names_old(&names, rows[i].now, rows[i].for_reply), rows[i].old, "%zu",
			     i);
	}
}

/* Expects that the names are made again, or not, after a collection at that time. */
static void expect_made_again(time_t taken, int expected, const char *what)
{
	backend.taken = taken;
	backend.snapshots = 0;
	control_collected(control);
	cr_expect_eq(backend.snapshots, expected, "%s", what);
}

Test(control, names_for_watchers_are_rebuilt_if_old_or_the_clock_was_set_back)
{
	const time_t now = time(NULL);

	expect_made_again(now - 60, 0, "nobody watches");
	peer_call(event, fd, "{\"method\":\"io.pebsd.Watch\",\"more\":true}");
	peer_settle(event);
	expect_made_again(now + 3600, 1, "60 s old");
	expect_made_again(now, 1, "made an hour from now");
	expect_made_again(now, 0, "just made");
}

Test(control, watchers_get_names_of_any_bytes)
{
	json_object *fields = json_object_new_object();
	_cleanup_free_ char *got = NULL;
	_cleanup_json_ json_object *message = NULL;

	peer_call(event, fd, "{\"method\":\"io.pebsd.Watch\",\"more\":true}");
	peer_settle(event);
	json_object_object_add(fields, "cgroup", json_object_new_string("/\xff"));
	json_object_object_add(fields, "id", json_object_new_uint64(7));
	control_publish(control, "born", "born /\xff", fields);
	got = peer_receive(event, fd, NULL);
	cr_assert_not_null(got);
	cr_assert_eq(json_parse(got, strlen(got), 8, &message), 0, "%s", got);
	cr_expect_str_eq(json_get_text(json_get(message, "parameters"), "cgroup"), "/\xef\xbf\xbd"
										   "ff");
	cr_expect_str_eq(json_get_text(json_get(message, "parameters"), "text"), "born /\xef\xbf\xbd"
										 "ff");
}

Test(control, the_socket_of_a_running_daemon_is_not_replaced)
{
	_cleanup_free_ char *message = NULL;
	struct control *mine = control;

	cr_expect_eq(open_control(NULL, &message), -EADDRINUSE);
	cr_expect_not_null(strstr(message, "another daemon listens on the control socket"));
	cr_expect_not_null(strstr(message, socket_path));
	control = mine;

	peer_expect(event, fd, "{\"method\":\"io.pebsd.Nothing\"}",
		    "{\"error\":\"org.varlink.service.MethodNotFound\","
		    "\"parameters\":{\"method\":\"io.pebsd.Nothing\"}}");
}

Test(control, a_stale_socket_is_replaced_and_ours_is_removed)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	_cleanup_close_ int stale = socket(AF_UNIX, SOCK_STREAM, 0);
	_cleanup_free_ char *message = NULL;

	control = control_free(control);
	cr_expect_eq(access(socket_path, F_OK), -1, "the socket is left behind");

	(void)stpcpy(address.sun_path, socket_path);
	cr_assert_eq(bind(stale, (struct sockaddr *)&address, sizeof(address)), 0);
	cr_assert_eq(open_control(NULL, &message), 0, "%s", message);

	/* Another process created a socket of this name in the meantime, so it must not be removed. */
	cr_assert_eq(unlink(socket_path), 0);
	_cleanup_close_ int theirs = socket(AF_UNIX, SOCK_STREAM, 0);

	cr_assert_eq(bind(theirs, (struct sockaddr *)&address, sizeof(address)), 0);
	control = control_free(control);
	cr_expect_eq(access(socket_path, F_OK), 0);
}

Test(control, a_file_at_the_socket_path_is_kept)
{
	_cleanup_free_ char *message = NULL;
	FILE *file;

	control = control_free(control);
	file = fopen(socket_path, "w");
	cr_assert_not_null(file);
	(void)fclose(file);
	cr_expect_eq(open_control(NULL, &message), -EEXIST);
	cr_expect_not_null(strstr(message, "is not a socket"));
	cr_expect_eq(access(socket_path, F_OK), 0);
}

Test(control, an_impossible_socket_path_is_explained)
{
	_cleanup_free_ char *message = NULL;

	control = control_free(control);
	memset(socket_path, 'a', sizeof(socket_path) - 1);
	cr_expect_eq(open_control(NULL, &message), -ENAMETOOLONG);
	cr_expect_not_null(strstr(message, "1 to 107 bytes"));
}

static mode_t mode_with(const char *group, gid_t *ret_gid)
{
	_cleanup_free_ char *message = NULL;
	struct stat st;

	control = control_free(control);
	cr_assert_eq(open_control(group, &message), 0, "%s", message);
	cr_assert_eq(stat(socket_path, &st), 0);
	*ret_gid = st.st_gid;
	return st.st_mode & 07777;
}

Test(control, the_group_can_use_the_socket)
{
	const struct group *group = getgrnam("daemon");
	gid_t gid;

	if (getuid() != 0 || !group)
		cr_skip("needs root and a group 'daemon'");
	cr_expect_eq(mode_with(NULL, &gid), 0600);
	cr_expect_eq(mode_with("no-such-group", &gid), 0600);
	cr_expect_eq(mode_with("daemon", &gid), 0660);
	cr_expect_eq(gid, group->gr_gid);
}

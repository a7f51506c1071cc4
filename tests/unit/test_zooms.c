// SPDX-License-Identifier: GPL-2.0
#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/monotonic.h"
#include "detail/zooms.h"

/* A source of samples. A drain returns `n` samples and `n_exits` ends of processes, and leaves both at 0. */
struct fake_source {
	struct zoom_source source; /* must be first */
	struct perf_event_attr attr;
	struct event event;
	size_t n, n_exits;
	struct zoom_counts counts;
	bool gone;
};

static struct {
	unsigned opened, closed;
	u32 rate;
	char path[64];
	int refuses;
	u64 stopped_ns;
	struct fake_source *last;
} origin;

static struct {
	unsigned processes, asked;
	bool silent; /* no answer comes */
	struct symbol symbol;
} names;

static struct {
	unsigned began, over;
	u64 id;
} reported;

static struct fake_source *fake_of(const struct zoom_source *source)
{
	return (struct fake_source *)source;
}

static int drain(struct zoom_source *source,
		 int (*callback)(void *userdata, const struct zoom_record *record), void *userdata)
{
	struct fake_source *fake = fake_of(source);
	u64 callers[] = {0x2000, 0x3000};
	int r = 0;

	for (; fake->n > 0 && r == 0; fake->n--) {
		struct zoom_record record = {
			.kind = ZOOM_RECORD_SAMPLE,
			.time_ns = 5,
			.pid = (u32)getpid(),
			.tid = (u32)getpid(),
			.sample = {.time_ns = 5,
				   .pid = (u32)getpid(),
				   .tid = (u32)getpid(),
				   .of = {.code_address = 0x1000,
					  .address = 0x7000,
					  .latency = 100,
					  .fields = SAMPLE_CODE_ADDRESS | SAMPLE_ADDRESS | SAMPLE_LATENCY},
				   .user = callers,
				   .n_user = ARRAY_SIZE(callers)},
		};

		r = callback(userdata, &record);
		fake->counts.seen++;
	}
	for (; fake->n_exits > 0 && r == 0; fake->n_exits--) {
		struct zoom_record record = {.kind = ZOOM_RECORD_EXITED, .time_ns = 6, .pid = 12, .tid = 12};

		r = callback(userdata, &record);
	}
	return r;
}

static void stop(struct zoom_source *source)
{
	(void)source;
	origin.stopped_ns = monotonic_ns();
}

static void counts(struct zoom_source *source, struct zoom_counts *ret)
{
	*ret = fake_of(source)->counts;
}

static void describe(const struct zoom_source *source, struct zoom_about *ret)
{
	ret->cgroup_id = 4711;
	ret->physical = true;
	ret->n_events = 1;
	ret->events[0] = fake_of(source)->event;
	ret->attrs[0] = fake_of(source)->attr;
}

static bool gone(const struct zoom_source *source)
{
	return fake_of(source)->gone;
}

static u64 bytes(const struct zoom_source *source)
{
	(void)source;
	return 4096;
}

static const struct zoom_source_methods methods = {
	.drain = drain, .stop = stop, .counts = counts, .describe = describe, .gone = gone, .bytes = bytes};

/* These replace the functions of symbols/symbols.c. */
int symbols_process(struct symbols *symbols, u32 pid)
{
	(void)symbols;
	cr_expect_eq(pid, (u32)getpid());
	names.processes++;
	return 0;
}

int symbols_mapped(struct symbols *symbols, const struct symbol_mapping *mapping)
{
	(void)symbols;
	(void)mapping;
	return 0;
}

int symbols_executed(struct symbols *symbols, u32 pid)
{
	(void)symbols;
	(void)pid;
	return 0;
}

int symbols_forked(struct symbols *symbols, u32 pid, u32 parent)
{
	(void)symbols;
	(void)pid;
	(void)parent;
	return 0;
}

u64 symbols_kernel_start(const struct symbols *symbols)
{
	(void)symbols;
	return 0;
}

const struct symbol *symbols_find(struct symbols *symbols, const struct symbol_query *query)
{
	(void)symbols;
	(void)query;
	names.asked++;
	return names.silent ? NULL : &names.symbol;
}

static int open_events(void *userdata, const char *path, u32 rate, struct zoom_source **ret, char **ret_note,
		       char **ret_message)
{
	(void)userdata;
	*ret_note = NULL;
	*ret_message = NULL;
	if (origin.refuses) {
		*ret_message = strdup("no counter");
		return origin.refuses;
	}
	origin.last = calloc(1, sizeof(*origin.last));
	cr_assert_not_null(origin.last);
	origin.last->source.methods = &methods;
	origin.last->event.settings.has_latency = 1;
	origin.last->event.period = 1000;
	origin.last->n = 10;
	*ret = &origin.last->source;
	origin.opened++;
	origin.rate = rate;
	(void)snprintf(origin.path, sizeof(origin.path), "%s", path);
	*ret_note = strdup("loads pauses");
	return 0;
}

static void close_events(void *userdata, struct zoom_source *source)
{
	(void)userdata;
	origin.closed++;
	free(fake_of(source));
}

static void changed(void *userdata, const struct zoom *zoom, bool over)
{
	cr_expect_eq(userdata, &reported);
	reported.id = zoom->id;
	reported.began += !over;
	reported.over += over;
}

static sd_event *event;
static struct zooms *zooms;
static char *message;

static struct zooms *open_zooms(bool tasks)
{
	struct zooms_settings settings = {.event = event, .changed = changed, .userdata = &reported};
	struct zooms *ret;

	settings.origin.name = tasks ? "perf" : "replay";
	if (tasks) {
		settings.origin.open = open_events;
		settings.origin.close = close_events;
	}
	cr_assert_eq(zooms_new(&settings, &ret), 0);
	return ret;
}

static void setup(void)
{
	cr_assert_geq(sd_event_new(&event), 0);
	zooms = open_zooms(true);
}

static void teardown(void)
{
	zooms_free(zooms);
	cr_expect_eq(origin.opened, origin.closed);
	sd_event_unref(event);
	free(message);
}

TestSuite(zooms, .init = setup, .fini = teardown);

static u64 begin(const char *path, double seconds, int expected)
{
	const struct zoom_request request = {.path = path, .seconds = seconds, .reason = "asked for"};
	u64 id = 0;

	free(message);
	cr_assert_eq(zooms_begin(zooms, &request, &id, &message), expected, "%s", message);
	return id;
}

static void run_until(u64 id, enum zoom_state state)
{
	while (zooms_get(zooms, id)->state != state)
		cr_assert_geq(sd_event_run(event, UINT64_MAX), 0);
}

Test(zooms, a_zoom_takes_samples_and_ends_by_itself)
{
	u64 id = begin("/a", 0.3, 0);
	const struct zoom *zoom = zooms_find(zooms, "/a");
	const struct zoom_about *about;
	struct profile_totals totals;

	cr_assert_not_null(zoom);
	cr_expect_eq(zoom->id, id);
	cr_expect_eq(zoom->state, ZOOM_RUNNING);
	cr_expect_str_eq(zoom->reason, "asked for");
	cr_expect_str_eq(zoom->note, "loads pauses");
	cr_expect_eq(zoom->period, 1000);
	cr_expect_eq(origin.rate, ZOOM_RATE_DEFAULT);
	cr_expect_str_eq(origin.path, "/a");
	run_until(id, ZOOM_DONE);
	zoom = zooms_get(zooms, id);
	about = zoom_recording_about_const(zoom->recording);
	profile_totals(zoom->profile, &totals);
	cr_expect_eq(totals.samples, 10);
	cr_expect_eq(totals.latency, 1000);
	cr_expect_eq(zoom_recording_samples(zoom->recording), 10);
	cr_expect_eq(about->counts.seen, 10);
	cr_expect_geq(about->ended_ns - about->began_ns, 300 * NSEC_PER_MSEC);
	cr_expect_geq(about->ended_ns, origin.stopped_ns, "the recording ends after its events stop");
	cr_expect_eq(origin.closed, 1);
	cr_expect_eq(reported.began, 1);
	cr_expect_eq(reported.over, 1);
	cr_expect_eq(names.processes, 1, "a process is announced only once");
	cr_expect_geq(names.asked, 3);
}

Test(zooms, a_running_zoom_of_the_cgroup_is_prolonged)
{
	u64 id = begin("/a", 100, 0);

	cr_expect_eq(begin("/a", 200, 0), id);
	cr_expect_geq(zooms_get(zooms, id)->seconds, 199);
	cr_expect_eq(begin("/a", 1, 0), id);
	cr_expect_geq(zooms_get(zooms, id)->seconds, 199, "it is not cut short");
	cr_expect_eq(origin.opened, 1);
	cr_expect_neq(begin("/b", 1, 0), id);
}

static bool ended_because_its_cgroup_was_removed(u64 id)
{
	const struct zoom *zoom = zooms_get(zooms, id);

	cr_expect_neq(zoom->state, ZOOM_RUNNING);
	return strcmp(zoom->note, "loads pauses; the cgroup was removed, which ended the zoom") == 0;
}

Test(zooms, a_zoom_ends_with_its_cgroup)
{
	u64 id = begin("/a", 100, 0);

	origin.last->gone = true;
	run_until(id, ZOOM_DONE);
	cr_expect(ended_because_its_cgroup_was_removed(id));
	cr_expect_eq(origin.closed, 1);
	cr_expect_eq(reported.over, 1);
}

/* A restarted service has the same path, but is a different cgroup. */
Test(zooms, a_zoom_of_a_removed_cgroup_is_not_used_for_a_new_one)
{
	u64 id = begin("/a", 100, 0), next;

	origin.last->gone = true;
	next = begin("/a", 100, 0);
	cr_expect_neq(next, id);
	cr_expect_eq(zooms_get(zooms, next)->state, ZOOM_RUNNING);
	cr_expect(ended_because_its_cgroup_was_removed(id));
	cr_expect_eq(zooms_find(zooms, "/a")->id, next);
}

static int count_kinds(void *userdata, const struct zoom_record *record)
{
	unsigned *kinds = userdata;

	kinds[record->kind]++;
	cr_expect(record->kind != ZOOM_RECORD_MAPPED || record->pid == (u32)getpid());
	return 0;
}

Test(zooms, a_zoom_has_the_records_of_cgroup_and_processes)
{
	unsigned kinds[ZOOM_RECORD_OTHER + 1] = {0};
	u64 id = begin("/a", 100, 0);
	const struct zoom *zoom = zooms_get(zooms, id);

	origin.last->n_exits = 3;
	cr_assert(zooms_end(zooms, id));
	run_until(id, ZOOM_DONE);
	cr_expect_eq(zoom_recording_about_const(zoom->recording)->cgroup_id, 4711);
	cr_assert_eq(zoom_recording_each(zoom->recording, count_kinds, kinds), 0);
	cr_expect_eq(kinds[ZOOM_RECORD_SAMPLE], 10);
	cr_expect_eq(kinds[ZOOM_RECORD_NAMED], 1);
	cr_expect_gt(kinds[ZOOM_RECORD_MAPPED], 2);
	cr_expect_eq(kinds[ZOOM_RECORD_EXITED], 3);
}

Test(zooms, the_number_of_running_zooms_is_limited)
{
	char path[] = "/a";
	u64 first = 0;

	for (unsigned i = 0; i < ZOOMS_RUNNING_MAX; i++, path[1]++) {
		u64 id = begin(path, 100, 0);

		first = first ? first : id;
	}
	begin("/z", 100, -EBUSY);
	cr_expect_not_null(strstr(message, "4 zooms are running"), "%s", message);
	cr_expect(zooms_end(zooms, first));
	cr_expect_not(zooms_end(zooms, first), "it has ended");
	begin("/z", 100, 0);
}

Test(zooms, the_oldest_finished_zoom_is_evicted)
{
	u64 first = begin("/first", 100, 0), running = begin("/running", 100, 0);
	struct zooms_counts counts;

	cr_assert(zooms_end(zooms, first));
	for (unsigned i = 0; i < ZOOMS_KEPT_MAX; i++)
		cr_assert(zooms_end(zooms, begin("/more", 100, 0)));
	cr_expect_null(zooms_get(zooms, first));
	cr_expect_not_null(zooms_get(zooms, running));
	zooms_get_counts(zooms, &counts);
	cr_expect_eq(counts.held, ZOOMS_KEPT_MAX);
	cr_expect_eq(counts.running, 1);
	cr_expect_eq(counts.taken, 10ULL * (ZOOMS_KEPT_MAX + 2), "samples of dropped zooms are counted");
	cr_expect_gt(counts.bytes, 0);
	cr_expect_eq(zooms_nth(zooms, ZOOMS_KEPT_MAX - 1)->id, running);
	cr_expect_null(zooms_nth(zooms, ZOOMS_KEPT_MAX));
}

static bool has_mappings(u64 id)
{
	unsigned kinds[ZOOM_RECORD_OTHER + 1] = {0};

	cr_assert_eq(zoom_recording_each(zooms_get(zooms, id)->recording, count_kinds, kinds), 0);
	return kinds[ZOOM_RECORD_MAPPED] > 0;
}

Test(zooms, a_zoom_waits_for_names)
{
	u64 id;

	names.silent = true;
	id = begin("/a", 100, 0);
	zooms_end_all(zooms);
	/* Once the process is read, the zoom waits only for names. */
	while (!has_mappings(id))
		cr_assert_geq(sd_event_run(event, UINT64_MAX), 0);
	cr_expect_eq(zooms_get(zooms, id)->state, ZOOM_NAMING);
	names.silent = false;
	run_until(id, ZOOM_DONE);
}

static const struct symbol *name_address(void *userdata, const struct symbol_query *query)
{
	static struct symbol_frame frame = {.name = (char *)"modelled"};
	static const struct symbol symbol = {.region = SYMBOL_FILE, .n_frames = 1, .frames = &frame};

	(void)userdata;
	return query->address == 0x1000 ? &symbol : NULL;
}

/* Such an origin names an address at once or never, and its processes are not those of this machine. */
Test(zooms, an_origin_that_names_its_addresses_asks_no_symbolizer)
{
	struct zooms_settings settings = {.event = event,
					  .origin = {.name = "model",
						     .open = open_events,
						     .close = close_events,
						     .name_address = name_address}};
	const struct zoom *zoom;
	_cleanup_(profile_report_done) struct profile_report report;
	u64 id;

	zooms_free(zooms);
	cr_assert_eq(zooms_new(&settings, &zooms), 0);
	names.silent = true;
	id = begin("model:shop", 60, 0);
	cr_assert(zooms_end(zooms, id));
	zoom = zooms_get(zooms, id);
	cr_expect_eq(zoom->state, ZOOM_DONE);
	cr_expect_eq(names.asked, 0);
	cr_expect_eq(names.processes, 0);
	cr_assert_eq(profile_report(zoom->profile, &zoom->names, &(struct report_settings){.functions = 1},
				    &report),
		     0);
	cr_assert_eq(report.n_functions, 1);
	cr_expect_str_eq(report.functions[0].name, "modelled");
	cr_expect_eq(report.functions[0].samples, 10);
}

Test(zooms, a_zoom_of_an_origin_without_tasks_is_refused)
{
	zooms_free(zooms);
	zooms = open_zooms(false);
	begin("/a", 1, -EOPNOTSUPP);
	cr_expect_not_null(strstr(message, "the origin is replay, which has no running tasks"), "%s",
			   message);
}

Test(zooms, a_refusal_of_the_origin_is_returned)
{
	origin.refuses = -ENOENT;
	begin("/a", 1, -ENOENT);
	cr_expect_str_eq(message, "no counter");
	cr_expect_null(zooms_find(zooms, "/a"));
	cr_expect_eq(reported.began, 0);
}

Test(zooms, requests_out_of_range_are_refused)
{
	struct zoom_request request = {.path = "/a", .seconds = 1, .rate = ZOOM_RATE_MAX + 1, .reason = ""};
	char *said;
	u64 id;

	begin("/a", 0, -EINVAL);
	begin("/a", -1, -EINVAL);
	begin("/a", ZOOM_SECONDS_MAX + 1, -EINVAL);
	begin("/a", 0.0 / 0.0, -EINVAL);
	cr_expect_eq(zooms_begin(zooms, &request, &id, &said), -EINVAL);
}

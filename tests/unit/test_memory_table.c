// SPDX-License-Identifier: GPL-2.0
/*
 * The table in MEMORY of pebsd(8): each bound is that of the program, the sum is right, and MemoryMax= of the
 * unit is large enough.
 */
#include <criterion/criterion.h>

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "cgroup/names.h"
#include "collect/no_slot.h"
#include "collect/totals.h"
#include "containers/container_confine.h"
#include "containers/containers.h"
#include "detail/zooms.h"
#include "engine/growth.h"
#include "export/json/json_writer.h"
#include "export/profile/profile_pieces.h"
#include "history/answers.h"
#include "history/keeper/keeper_confine.h"
#include "history/shared/history_pane.h"
#include "http/http_sockets.h"
#include "http/server/http_cache.h"
#include "http/server/http_confine.h"
#include "http/shared/http_places.h"
#include "http/shared/http_wire.h"
#include "kernel/kernel.h"
#include "kernel/map_size.h"
#include "origin/perf/perf_mmap.h"
#include "pebsd/records.h"
#include "policy/policy_internal.h"
#include "profile/perf_data_write.h"
#include "series/series.h"
#include "snapshot/snapshot_view.h"
#include "state/state_layout.h"
#include "symbols/symbols.h"
#include "symbols/symbols_queue.h"
#include "varlink/varlink.h"
#include "varlink/varlink_budget.h"
#include "varlink/varlink_message.h"
#include "window/trend.h"
#include "zoom/zoom_events.h"

#define KIB 1024ULL
#define MIB (1024 * KIB)
#define GIB (1024 * MIB)

/*
 * Rings of the largest machine that the table is for. A CPU samples at most one event of each role, except
 * off-core responses, which have no ring. Loads may have a leader, which has a ring too. The rings of cycles, stalls
 * and misses, which only count, do not grow.
 */
#define RING_CPUS   256
#define RING_PAGE   (4 * KIB)
#define ZOOM_BYTES  (ZOOM_RINGS_BYTES + RING_CPUS * RING_PAGE)
#define RINGS_BYTES (RING_PAGE * (4 * (1 + PERF_MMAP_DATA_PAGES_MAX) + 3 * (1 + PERF_MMAP_COUNT_PAGES_MAX)))
_Static_assert(EVENT_ROLES == 7, "loads, their leader, stores and instructions; cycles, stalls and misses");

/* The comments name the files that test the bounds below them. */
static const struct row {
	const char *what;
	u64 n, bytes;
	bool left_out; /* of the sum: included in another row, or not charged to the unit's cgroup */
} rows[] = {
	/* test_varlink.c: clients that do not read replies, and as many that do not read what they subscribed to */
	{"Calls on the control socket", VARLINK_CONNECTIONS_MAX, VARLINK_MESSAGE_MAX, false},
	{"Replies of one user", 1, VARLINK_USER_BYTES, true},
	{"Replies of all users", 1, VARLINK_ALL_BYTES, false},
	{"The kernel's buffers of those", VARLINK_CONNECTIONS_MAX, VARLINK_KERNEL_BYTES, false},
	/* test_json_detail.c */
	{"A reply while it is made", 1, JSON_PAGE_TREE_BYTES, false},
	/* test_snapshot_view.c */
	{"The rows of a reply with sums or a filter", 1, VIEW_BYTES, false},
	/* test_http_worker.c, and test_http_crowd.c with 1,000 clients */
	{"The process that speaks HTTP", 1, HTTP_CONFINE_DATA, false},
	/* test_http_crowd.c */
	{"The kernel's buffers of HTTP", HTTP_PLACES_ROOM, HTTP_SOCKETS_KERNEL_BYTES, false},
	/* test_http_cache.c */
	{"Metrics that slow clients are sent", 1, HTTP_CACHE_BYTES_MAX, false},
	/* test_http_profile.c */
	{"Profiles that HTTP clients are sent", HTTP_PROFILES_HELD_MAX, HTTP_PROFILE_BYTES_MAX, false},
	/* test_http_views.c */
	{"Views that HTTP clients are sent", HTTP_VIEWS_HELD_MAX, HTTP_VIEW_BYTES_MAX, false},
	/* test_zoom_recording.c and test_profile.c; number of zooms: test_zooms.c */
	{"Samples of zooms", ZOOMS_KEPT_MAX, ZOOM_RECORDING_BYTES, false},
	{"Profiles of zooms", ZOOMS_KEPT_MAX, PROFILE_BYTES_MAX, false},
	/* test_zoom_ring.c; their number: test_zooms.c. Each ring has one more page. */
	{"Rings of running zooms", ZOOMS_RUNNING_MAX, ZOOM_BYTES, true},
	/* test_perf_cost.c has the formula. No test lets a ring grow to its maximum. */
	{"Rings of the sampled events", RING_CPUS, RINGS_BYTES, true},
	/* test_control_detail.c */
	{"Files made of zooms", 1, PROFILE_PIECES_BYTES, false},
	/* test_perf_data_write.c */
	{"The file made last", 1, PERF_DATA_BYTES_MAX, false},
	/* test_symbols.c */
	{"Names of addresses", 1, SYMBOLS_KEPT_BYTES_MAX, false},
	/* test_symbols_cache.c */
	{"Questions for names", 1, SYMBOLS_QUEUE_BYTES_MAX, false},
	/* test_containers.c */
	{"The process that reads containers' names", 1, CONTAINER_CONFINE_DATA, false},
	{"Containers' names", 1, CONTAINERS_BYTES_MAX, false},
	/* test_panes.c, test_history.c: one that is added up, one that is sent, and those that wait */
	{"Panes of the history", 3, HISTORY_PANE_BYTES_MAX, false},
	/* test_answers.c */
	{"Answers about the past", 1, ANSWERS_BYTES_MAX, false},
	/* test_history_keeper.c */
	{"The process that keeps the history", 1, KEEPER_CONFINE_DATA, false},
	/* test_policy.c */
	{"Rules' windows", 1, POLICY_BYTES, false},
	/* test_alerts_saved.c */
	{"Alerts of removed cgroups", POLICY_RESOLVED_MAX, POLICY_RESOLVED_BYTES, false},
	/* test_trend.c */
	{"Trends", 1, TREND_BYTES, false},
	/* test_totals.c */
	{"Counts of removed cgroups", 1, TOTALS_UNHELD_BYTES, false},
	/* test_series.c */
	{"Costs of cgroups without a series", 1, SERIES_WAITING_BYTES, false},
	/* test_no_slot.c */
	{"Cgroups without a slot", 1, NO_SLOT_BYTES, false},
	/* test_names.c */
	{"Names during a walk of the cgroups", KERNEL_SLOTS_MAX, NAMES_EACH_BYTES, false},
};

/*
 * Other memory: the maps of cgroups at their greatest size; the daemon's counts and the paths of 10,000 cgroups
 * that have the default events (test_names.c tests the length of a path, bench/memory.c the counts); the daemon itself;
 * the state that is saved for the next process. The totals have a copy of each path, and so has the table of series.
 */
#define PATHS_BYTES   (2 * ((10000ULL * PATH_MAX + MIB - 1) / MIB * MIB))
#define CGROUPS_BYTES (GROWTH_MEMORY_MAX + 72 * MIB + PATHS_BYTES)
#define DAEMON_BYTES  (10 * MIB)
#define SAVED_BYTES   ((u64)STATE_CHUNKS_MAX * STATE_CHUNK_BYTES)

static char *read_file(const char *path)
{
	FILE *file = fopen(path, "re");
	char *text = calloc(1, 1 << 20);

	if (!file)
		cr_skip_test("%s is not there: run it where the source is", path);
	cr_assert_not_null(text);
	(void)!fread(text, 1, (1 << 20) - 1, file);
	(void)fclose(file);
	return text;
}

static u64 unit_bytes(const char *unit)
{
	return strncmp(unit, "GiB", 3) == 0 ? GIB : strncmp(unit, "MiB", 3) == 0 ? MIB : KIB;
}

/* Reads the next number, which may have commas between thousands. */
static u64 next_number(char **at)
{
	u64 n = strtoull(*at, at, 10);

	while (**at == ',')
		n = n * 1000 + strtoull(*at + 1, at, 10);
	return n;
}

/* Reads "8 x 32 MiB", "1,024 x 16 KiB" or "64 MiB". */
static u64 read_bytes(const char *text)
{
	char *end = (char *)text;
	u64 n = next_number(&end);

	if (strncmp(end, " x ", 3) == 0) {
		end += 3;
		n *= next_number(&end);
	}
	return n * unit_bytes(end + strspn(end, " "));
}

static u64 sum_of_rows(void)
{
	u64 sum = 0;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		sum += rows[i].left_out ? 0 : rows[i].n * rows[i].bytes;
	return sum;
}

Test(memory_table, each_documented_bound_equals_that_of_the_program)
{
	_cleanup_free_ char *manual = read_file("daemon/man/pebsd.8");
	const char *line = strstr(manual, ".TS\nl r.\n\\fBWhat\\fP");

	cr_assert_not_null(line);
	line = strstr(line, "\n_\n") + 3;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		size_t length = strlen(rows[i].what);

		cr_assert(strncmp(line, rows[i].what, length) == 0 && line[length] == '\t',
			  "%s is not where it is expected: %.60s", rows[i].what, line);
		cr_expect_eq(read_bytes(line + length + 1), rows[i].n * rows[i].bytes, "%s: %llu bytes",
			     rows[i].what, (unsigned long long)(rows[i].n * rows[i].bytes));
		line = strchr(line, '\n') + 1;
	}
	cr_expect(strncmp(line, ".TE\n", 4) == 0, "another row: %.60s", line);
}

/* pebsd(8) gives these sizes: of the state of a rule for a cgroup and event, and of an alert in a list. */
Test(memory_table, sizes_in_the_remarks_are_right)
{
	cr_expect_leq(sizeof(struct extra), 240, "%zu", sizeof(struct extra));
	cr_expect_leq(sizeof(struct alert), 288, "%zu", sizeof(struct alert));
}

/* MEMORY states what an event takes in each stripe of a slot: a record and its dirty byte. */
Test(memory_table, documented_sizes_of_records_are_those_of_the_structs)
{
	_cleanup_free_ char *manual = read_file("daemon/man/pebsd.8");
	char *at = strstr(manual, "In each stripe it takes another ");

	cr_assert_not_null(at);
	at += strlen("In each stripe it takes another ");
	cr_expect_eq(next_number(&at), sizeof(struct latency_record) + 1, "an event with latency: %zu bytes",
		     sizeof(struct latency_record) + 1);
	cr_assert(strncmp(at, " bytes for an event with latency and ", 37) == 0, "%.60s", at);
	at += 37;
	cr_expect_eq(next_number(&at), sizeof(struct plain_record) + 1, "an event without latency: %zu bytes",
		     sizeof(struct plain_record) + 1);
	cr_expect(strncmp(at, " bytes for one without.\n", 24) == 0, "%.60s", at);
}

/* Reads the number of MiB after the words `before`, such as "The sum is ". Returns bytes. */
static u64 said(const char *manual, const char *before)
{
	const char *at = strstr(manual, before);

	cr_assert_not_null(at, "%s", before);
	at += strlen(before);
	if (strchr(at, ',') == at + strspn(at, "0123456789")) {
		u64 thousands = strtoull(at, NULL, 10);

		return (thousands * 1000 + strtoull(strchr(at, ',') + 1, NULL, 10)) * MIB;
	}
	return strtoull(at, NULL, 10) * MIB;
}

Test(memory_table, the_unit_has_room_for_their_sum)
{
	_cleanup_free_ char *manual = read_file("daemon/man/pebsd.8");
	_cleanup_free_ char *unit = read_file("units/pebsd.service");
	const u64 sum = sum_of_rows(), all = sum + CGROUPS_BYTES + DAEMON_BYTES + SAVED_BYTES;
	const char *most = strstr(unit, "\nMemoryMax=");

	cr_expect_eq(said(manual, "The sum is "), (sum + MIB - 1) / MIB * MIB, "%g MiB",
		     (double)sum / (double)MIB);
	cr_expect_eq(said(manual, "next process it is "), (all + MIB - 1) / MIB * MIB, "%g MiB",
		     (double)all / (double)MIB);
	cr_assert_not_null(most);
	most += strlen("\nMemoryMax=");
	cr_expect_eq(most[strspn(most, "0123456789")], 'G');
	cr_expect_geq(strtoull(most, NULL, 10) * GIB, all);
	cr_expect_lt((strtoull(most, NULL, 10) - 1) * GIB, all, "and not for more than that");
}

/* Reads the number of MiB in the next column of the table. */
static void expect_size(char **at, const struct map_size_case *maps, u64 cgroups, const char *column)
{
	const u64 mib = (map_size(maps) + MIB - 1) / MIB;

	cr_expect_eq(next_number(at), mib, "%u CPUs, %llu cgroups, %s: %llu MiB", maps->cpus,
		     (unsigned long long)cgroups, column, (unsigned long long)mib);
}

Test(memory_table, each_documented_map_size_equals_the_formula)
{
	_cleanup_free_ char *manual = read_file("daemon/man/pebsd.8");
	char *at = strstr(manual, "\n.TS\nr r r r r r.\n");
	int rows_read = 0;

	cr_assert_not_null(at);
	at = strchr(strstr(at, "\n_\n") + 1, '\n') + 1;
	for (; strncmp(at, ".TE\n", 4) != 0; rows_read++, at++) {
		struct map_size_case maps = {.stripes = 16, .with_latency = 1, .page_size = 4096};
		u64 cgroups;

		maps.cpus = (u32)next_number(&at);
		cgroups = next_number(&at);
		/* A third of the slots are free, as after the maps have grown. */
		maps.slots = (u32)((1 + cgroups + cgroups / 2 + SLOT_BLOCK - 1) / SLOT_BLOCK * SLOT_BLOCK);
		maps.slots_max = maps.slots;
		expect_size(&at, &maps, cgroups, "loads");
		maps.without = 4;
		expect_size(&at, &maps, cgroups, "default");
		maps.without = 5;
		expect_size(&at, &maps, cgroups, "with stores");
		maps.offcore_cpus = maps.cpus;
		expect_size(&at, &maps, cgroups, "off-core");
		cr_assert_eq(*at, '\n');
	}
	cr_expect_eq(rows_read, 6);
}

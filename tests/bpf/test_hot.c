// SPDX-License-Identifier: GPL-2.0
/*
 * Hot tables in the running kernel. Tables get samples from the program `inject`, are chosen, released and
 * reused, and are compared with the same code in plain C. Software events also fill tables, through the
 * perf_event program: these events have an instruction address and, for page faults, a data address.
 */
#include <criterion/criterion.h>

#include <errno.h>
#include <linux/bpf.h>
#include <linux/filter.h>
#include <linux/perf_event.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/monotonic.h"
#include "cgroup_fixture.h"
#include "counting.h"
#include "hot_write.h"
#include "random_numbers.h"
#include "software_event.h"

#define LATENCY    0 /* an event with all fields */
#define PLAIN      1 /* an event with code addresses only */
#define NOTHING    2
#define HITM       (5ULL | (u64)SNOOP_BIT_HITM << 19)
#define REST_US    (KERNEL_REST_NS / NSEC_PER_USEC + 1000)
#define FOREVER_NS UINT64_MAX

static struct counting counting;

static void open_counting_of(u32 hot_max, bool hardware, u64 memory_max)
{
	struct kernel_settings settings = counting_settings(false);

	settings.n_events = 3;
	settings.events[LATENCY] = (struct event_settings){
		.has_latency = 1, .has_source = 1, .has_address = 1, .has_code_address = 1};
	settings.events[PLAIN] = (struct event_settings){.has_code_address = 1};
	settings.events[NOTHING] = (struct event_settings){.has_source = 1};
	settings.births = settings.hardware = hardware;
	settings.hot_max = hot_max;
	settings.memory_max = memory_max;
	counting_open(&counting, &settings, 0);
}

static void open_counting(u32 hot_max, bool hardware)
{
	open_counting_of(hot_max, hardware, 0);
}

static u32 name_and_adopt(u64 id, const char *path)
{
	int slot;

	cr_assert_eq(names_add_path(counting.names, id, path), 0);
	slot = kernel_adopt(counting.kernel, id, 0, path);
	cr_assert_gt(slot, 0);
	collect_adopted(counting.collect, (u32)slot, path, monotonic_ns());
	return (u32)slot;
}

static int choose(const char *path)
{
	return collect_hot_choose(counting.collect, path, FOREVER_NS, monotonic_ns());
}

static void inject(const struct sample *samples, size_t n)
{
	cr_assert_eq(kernel_inject(counting.kernel, samples, n), 0);
}

static struct sample sample_at(u64 cgroup_id, u64 code, u64 data, u64 latency)
{
	return (struct sample){.cgroup_id = cgroup_id,
			       .code_address = code,
			       .address = data,
			       .latency = latency,
			       .data_source = HITM,
			       .period = 1000,
			       .event = LATENCY,
			       .fields = SAMPLE_CODE_ADDRESS | SAMPLE_ADDRESS | SAMPLE_LATENCY |
					 SAMPLE_DATA_SOURCE};
}

static void inject_at(u64 cgroup_id, u64 code, u64 data, u64 latency)
{
	const struct sample sample = sample_at(cgroup_id, code, data, latency);

	inject(&sample, 1);
}

static struct hot_places places_of(const char *path, unsigned event, enum hot_kind kind)
{
	struct hot_places places;
	int r = collect_hot_places(counting.collect, path, event, kind, &places);

	cr_assert_eq(r, 0, "%s: %s", path, strerror(-r));
	return places;
}

static u64 samples_in(const char *path, enum hot_kind kind)
{
	struct hot_places places = places_of(path, LATENCY, kind);
	u64 samples = places.samples;

	hot_places_done(&places);
	return samples;
}

static int failure_of(const char *path, unsigned event, enum hot_kind kind)
{
	struct hot_places places;
	int r = collect_hot_places(counting.collect, path, event, kind, &places);

	if (r == 0)
		hot_places_done(&places);
	return r;
}

static bool is_clear(u32 choice)
{
	for (unsigned event = 0; event < 3; event++) {
		const u8 *bytes = (const u8 *)kernel_hot_table(counting.kernel, choice, event, 0);

		for (size_t i = 0; bytes && i < sizeof(struct hot_table); i++)
			if (bytes[i])
				return false;
	}
	return true;
}

/* A random sample. Some samples lack fields, and there are more different addresses than counters. */
static struct sample any_sample(u64 *random)
{
	u64 draw = xorshift(random);
	struct sample sample = sample_at(
		draw & 1 ? 7 : 8, 0x401000 + 4 * ((draw >> 8 & 0xfff) >> (draw >> 20 & 7)),
		0x7f0000000000 + 8 * ((draw >> 24 & 0xffff) >> (draw >> 40 & 7)), draw >> 44 & 0x3ff);

	sample.event = draw >> 54 & 1 ? LATENCY : PLAIN;
	if (draw >> 55 & 1)
		sample.data_source = 0;
	if ((draw >> 56 & 7) == 0)
		sample.fields &= (u16)~SAMPLE_LATENCY;
	if ((draw >> 56 & 7) == 1)
		sample.fields &= (u16)~SAMPLE_ADDRESS;
	if ((draw >> 56 & 7) == 2)
		sample.fields &= (u16)~SAMPLE_CODE_ADDRESS;
	if ((draw >> 56 & 7) == 3)
		sample.fields &= (u16)~SAMPLE_DATA_SOURCE;
	if (sample.event == PLAIN)
		sample.fields &= SAMPLE_CODE_ADDRESS | SAMPLE_DATA_SOURCE;
	return sample;
}

static void count_native(struct hot_table tables[2], const struct sample *sample, u64 seed)
{
	struct hot_sample one = {
		.weight = sample->event == PLAIN            ? 1
			  : sample->fields & SAMPLE_LATENCY ? sample->latency
							    : 0,
		.hitm = sample->fields & SAMPLE_DATA_SOURCE && sample->data_source,
	};

	if (sample->fields & SAMPLE_CODE_ADDRESS) {
		one.item = hot_code_item(sample->code_address);
		hot_add(&tables[sample->event].kinds[HOT_CODE], seed, &one);
	}
	if (sample->fields & SAMPLE_ADDRESS) {
		one.item = hot_line_item(sample->address);
		hot_add(&tables[sample->event].kinds[HOT_LINES], seed, &one);
	}
}

Test(hot, bpf_tables_equal_those_of_plain_c)
{
	static struct hot_table native[2];
	static struct sample samples[INJECT_MAX];
	u64 random = XORSHIFT_SEED, seven = 0;

	open_counting(2, false);
	(void)name_and_adopt(7, "seven");
	(void)name_and_adopt(8, "eight");
	counting_collect(&counting);
	cr_assert_eq(choose("seven"), 0);
	for (size_t batch = 0; batch < 40; batch++) {
		for (size_t i = 0; i < INJECT_MAX; i++) {
			samples[i] = any_sample(&random);
			if (samples[i].cgroup_id != 7)
				continue;
			count_native(native, &samples[i], kernel_hot_seed(counting.kernel));
			seven++;
		}
		inject(samples, INJECT_MAX);
	}
	cr_expect_gt(seven, 10000);
	cr_expect_gt(native[LATENCY].kinds[HOT_LINES].sets[0].passed_weight, 0, "counters were short");
	for (unsigned event = LATENCY; event <= PLAIN; event++)
		cr_expect_eq(memcmp(kernel_hot_table(counting.kernel, 0, event, 0), &native[event],
				    sizeof(native[event])),
			     0, "event %u", event);
	cr_expect(is_clear(1), "of who is not chosen nothing is kept");
	counting_collect(&counting);
	cr_expect_eq(counting_samples(&counting, "seven", LATENCY) +
			     counting_samples(&counting, "seven", PLAIN),
		     seven);
	counting_close(&counting);
}

/* On a large machine tables would be most of the memory. They take none before a cgroup is chosen. */
Test(hot, a_table_is_allocated_for_the_first_chosen_cgroup)
{
	const u64 page = (u64)sysconf(_SC_PAGESIZE);
	/* One table for each of the 3 events. There are none per CPU, because only the test adds samples. */
	const u64 one = (3 * sizeof(struct hot_table) + page - 1) / page * page;
	u64 none, now;

	open_counting(3, false);
	(void)name_and_adopt(7, "seven");
	(void)name_and_adopt(8, "eight");
	counting_collect(&counting);
	none = kernel_map_bytes(counting.kernel);
	for (u32 choice = 0; choice < 3; choice++)
		cr_expect_null(kernel_hot_table(counting.kernel, choice, LATENCY, 0));
	cr_assert_eq(choose("seven"), 0);
	cr_expect_eq(kernel_map_bytes(counting.kernel), none + one);
	now = monotonic_ns();
	cr_assert_eq(collect_hot_choose(counting.collect, "eight", now + NSEC_PER_MSEC, now), 0);
	cr_expect_eq(kernel_map_bytes(counting.kernel), none + 2 * one);
	inject_at(8, 0x401000, 0x1000, 100);
	cr_expect_eq(samples_in("eight", HOT_CODE), 1);
	/* Free tables are reused before others are made. */
	(void)usleep(2000);
	counting_collect(&counting);
	(void)usleep(REST_US);
	cr_assert_eq(choose("eight"), 0);
	cr_expect_eq(samples_in("eight", HOT_CODE), 0);
	cr_expect_eq(kernel_map_bytes(counting.kernel), none + 2 * one);
	cr_expect_null(kernel_hot_table(counting.kernel, 2, LATENCY, 0));
	counting_close(&counting);
}

/* Slots grow until the memory limit is reached, and all tables can still be made. */
Test(hot, slots_leave_room_for_the_maximum_of_tables)
{
	const u64 memory_max = 16ULL << 20;
	char path[16];
	u32 limit;

	open_counting_of(0, false, memory_max);
	limit = kernel_slots_limit(counting.kernel);
	counting_close(&counting);
	open_counting_of(HOT_MAX, false, memory_max);
	cr_assert_lt(kernel_slots_limit(counting.kernel), limit);
	limit = kernel_slots_limit(counting.kernel);
	cr_assert_gt(limit, SLOT_BLOCK);
	cr_assert_gt(kernel_grow(counting.kernel, SLOTS_MAX), 0);
	cr_expect_eq(kernel_slots(counting.kernel), limit);
	for (u32 i = 1; i <= HOT_MAX; i++) {
		(void)snprintf(path, sizeof(path), "c%u", i);
		(void)name_and_adopt(i, path);
	}
	counting_collect(&counting);
	for (u32 i = 1; i <= HOT_MAX; i++) {
		(void)snprintf(path, sizeof(path), "c%u", i);
		cr_assert_eq(choose(path), 0, "%s", path);
	}
	cr_expect_eq(kernel_slots_limit(counting.kernel), limit);
	cr_expect_leq(kernel_map_bytes(counting.kernel), memory_max);
	counting_close(&counting);
}

Test(hot, added_slots_can_have_tables_like_the_first_slots)
{
	u32 slot;

	open_counting_of(2, false, 16ULL << 20);
	(void)name_and_adopt(7, "early");
	for (u64 id = 1000; kernel_slots_free(counting.kernel) > 0; id++)
		cr_assert_gt(kernel_adopt(counting.kernel, id, 0, "other"), 0);
	counting_collect(&counting);
	cr_assert_eq(choose("early"), 0);
	cr_assert_gt(kernel_grow(counting.kernel, 2 * SLOT_BLOCK), 0);
	slot = name_and_adopt(8, "late");
	cr_assert_geq(slot, SLOT_BLOCK);
	counting_collect(&counting);
	cr_assert_eq(choose("late"), 0);
	inject_at(7, 0x401000, 0x1000, 100);
	inject_at(8, 0x401000, 0x1000, 100);
	inject_at(8, 0x401000, 0x1000, 100);
	cr_expect_eq(samples_in("early", HOT_CODE), 1);
	cr_expect_eq(samples_in("late", HOT_CODE), 2);
	counting_collect(&counting);
	cr_expect_eq(counting_samples(&counting, "late", LATENCY), 2);
	counting_close(&counting);
}

static bool begins_with(const char *path, void *userdata)
{
	return strncmp(path, userdata, strlen(userdata)) == 0;
}

/* Makes bpf(BPF_MAP_CREATE) fail from now on. */
static void lose_maps(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_bpf, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, BPF_MAP_CREATE, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOMEM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog program = {.len = sizeof(code) / sizeof(code[0]), .filter = code};

	cr_assert_eq(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
	cr_assert_eq(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program), 0);
}

Test(hot, a_cgroup_whose_table_cannot_be_allocated_is_still_sampled)
{
	open_counting(2, false);
	(void)name_and_adopt(7, "seven");
	(void)name_and_adopt(8, "eight");
	counting_collect(&counting);
	cr_assert_eq(choose("seven"), 0);
	lose_maps();
	cr_expect_eq(choose("eight"), -ENOMEM);
	cr_expect_str_eq(hot_choices_nth(collect_hot(counting.collect), 0), "seven");
	cr_expect_null(hot_choices_nth(collect_hot(counting.collect), 1));
	inject_at(7, 0x401000, 0x1000, 100);
	inject_at(8, 0x401000, 0x1000, 100);
	counting_collect(&counting);
	cr_expect_eq(samples_in("seven", HOT_CODE), 1);
	cr_expect_eq(failure_of("eight", LATENCY, HOT_CODE), -ENODATA);
	cr_expect_eq(counting_samples(&counting, "eight", LATENCY), 1);
	/* A configured choice fails in the same way, and the failure is logged. */
	collect_set_hot(counting.collect, begins_with, (char[]){"e"});
	counting_collect(&counting);
	cr_expect_null(hot_choices_nth(collect_hot(counting.collect), 1));
	counting_close(&counting);
}

Test(hot, a_place_has_its_counts_and_each_failure_its_error)
{
	struct hot_choice how;
	struct hot_places places;

	open_counting(2, false);
	(void)name_and_adopt(7, "seven");
	counting_collect(&counting);
	inject_at(7, 0x401000, 0x1000, 100);
	cr_expect_eq(failure_of("seven", LATENCY, HOT_CODE), -ENODATA);
	cr_expect_eq(failure_of("nobody", LATENCY, HOT_CODE), -ENOENT);
	cr_expect_eq(choose("nobody"), -ENOENT);
	cr_expect_not(hot_choices_find(collect_hot(counting.collect), "seven", &how));
	cr_assert_eq(choose("seven"), 0);
	inject_at(7, 0x401000, 0x1008, 300);
	inject_at(7, 0x401004, 0x1030, 50);
	inject_at(9, 0x401000, 0x1000, 999); /* no slot */
	places = places_of("seven", LATENCY, HOT_LINES);
	cr_expect(places.latency);
	cr_expect_eq(places.weight, 350, "what came before is not in it");
	cr_assert_eq(places.n, 1);
	cr_expect_eq(places.places[0].address, 0x1000);
	cr_expect_eq(places.places[0].samples, 2);
	cr_expect_eq(places.places[0].hitm, 2);
	cr_expect_not(places.cpus_known, "samples that are handed over are of no CPU");
	cr_expect_eq(places.places[0].hitm_cpus, 0);
	cr_expect_eq(places.places[0].pid, 0, "nobody told");
	hot_places_done(&places);
	places = places_of("seven", LATENCY, HOT_CODE);
	cr_assert_eq(places.n, 2);
	cr_expect_eq(places.places[0].address, 0x401000);
	cr_expect_eq(places.places[0].weight, 300);
	hot_places_done(&places);
	places = places_of("seven", PLAIN, HOT_CODE);
	cr_expect_not(places.latency);
	cr_expect_eq(places.n, 0);
	hot_places_done(&places);
	cr_expect_eq(failure_of("seven", PLAIN, HOT_LINES), -EOPNOTSUPP);
	cr_expect_eq(failure_of("seven", NOTHING, HOT_CODE), -EOPNOTSUPP);
	cr_expect_eq(failure_of("seven", 3, HOT_CODE), -EOPNOTSUPP);
	cr_expect(hot_choices_find(collect_hot(counting.collect), "seven", &how));
	cr_expect_eq(how.until_ns, FOREVER_NS);
	cr_expect_not(how.configured);
	cr_expect_leq(how.since_ns, monotonic_ns());
	counting_close(&counting);
}

/* An invalid event number must not lead to another event's table. */
Test(hot, event_numbers_out_of_range_are_ignored)
{
	struct sample sample = sample_at(7, 0x401000, 0x1000, 100);

	open_counting(2, false);
	(void)name_and_adopt(7, "seven");
	counting_collect(&counting);
	cr_assert_eq(choose("seven"), 0);
	sample.event = 3;
	inject(&sample, 1);
	cr_expect(is_clear(0));
	cr_expect(is_clear(1));
	counting_close(&counting);
}

/* Released tables rest, are cleared and then pass to another cgroup. */
Test(hot, tables_are_chosen_released_and_chosen_again)
{
	const struct hot_choices *chosen;
	u64 now;

	open_counting(1, false);
	(void)name_and_adopt(7, "seven");
	(void)name_and_adopt(8, "eight");
	counting_collect(&counting);
	chosen = collect_hot(counting.collect);
	cr_expect_null(hot_choices_nth(chosen, 0));
	now = monotonic_ns();
	cr_assert_eq(collect_hot_choose(counting.collect, "seven", now + NSEC_PER_MSEC, now), 0);
	cr_expect_str_eq(hot_choices_nth(chosen, 0), "seven");
	cr_expect_null(hot_choices_nth(chosen, 1));
	cr_expect_eq(choose("eight"), -ENOSPC);
	inject_at(7, 0x401000, 0x1000, 100);
	cr_expect_eq(samples_in("seven", HOT_CODE), 1);
	(void)usleep(2000);
	cr_expect_eq(samples_in("seven", HOT_CODE), 1, "until a collection");
	now = monotonic_ns();
	cr_assert_eq(collect_run(counting.collect, now), 0);
	cr_expect_null(hot_choices_nth(chosen, 0));
	cr_expect_eq(failure_of("seven", LATENCY, HOT_CODE), -ENODATA);
	cr_expect_eq(collect_hot_choose(counting.collect, "eight", FOREVER_NS, now), -ENOSPC,
		     "somebody may still write to it");
	cr_expect_not(is_clear(0));
	inject_at(7, 0x401000, 0x1000, 100);
	(void)usleep(REST_US);
	cr_assert_eq(choose("eight"), 0);
	cr_expect(is_clear(0));
	inject_at(7, 0x401000, 0x1000, 100);
	inject_at(8, 0x402000, 0x2000, 100);
	cr_expect_eq(samples_in("eight", HOT_CODE), 1);
	cr_assert_eq(choose("eight"), 0, "again, which changes nothing");
	cr_expect_eq(samples_in("eight", HOT_CODE), 1);
	counting_close(&counting);
}

/* The slot's next owner gets neither the tables nor their contents. */
Test(hot, a_reused_slot_loses_its_hot_table)
{
	u32 slot;

	open_counting(2, false);
	slot = name_and_adopt(7, "seven");
	counting_collect(&counting);
	cr_assert_eq(choose("seven"), 0);
	inject_at(7, 0x401000, 0x1000, 100);
	cr_assert_eq(kernel_mark_dead(counting.kernel, 7), 0);
	cr_expect_eq(samples_in("seven", HOT_CODE), 1);
	for (int i = 0; i < 100 && kernel_owner(counting.kernel, slot)->state != SLOT_FREE; i++) {
		(void)usleep(10000);
		counting_collect(&counting);
	}
	cr_expect_eq(failure_of("seven", LATENCY, HOT_CODE), -ENOENT);
	cr_expect_null(hot_choices_nth(collect_hot(counting.collect), 0));
	/* Slots that were never used are handed out first. */
	for (u64 id = 100; name_and_adopt(id, "next") != slot; id++)
		cr_assert_lt(id, 599);
	for (u64 id = 100; id < 600; id++)
		inject_at(id, 0x402000, 0x2000, 100);
	counting_collect(&counting);
	cr_expect_eq(failure_of("next", LATENCY, HOT_CODE), -ENODATA);
	(void)usleep(REST_US);
	counting_collect(&counting);
	cr_expect(is_clear(0));
	counting_close(&counting);
}

/*
 * Configured cgroups are chosen from their first sample until a reload. One of them is also requested before
 * the reload.
 */
Test(hot, configured_cgroups_have_hot_tables_from_their_first_sample)
{
	struct hot_choice how;
	static char first[] = "a", second[] = "b";

	open_counting(2, false);
	collect_set_hot(counting.collect, begins_with, first);
	(void)name_and_adopt(7, "a1");
	inject_at(7, 0x401000, 0x1000, 100);
	(void)name_and_adopt(8, "b1");
	(void)name_and_adopt(9, "a2");
	(void)name_and_adopt(10, "a3"); /* no tables are left */
	inject_at(9, 0x401000, 0x1000, 100);
	counting_collect(&counting);
	cr_expect_eq(samples_in("a1", HOT_CODE), 1);
	cr_expect_eq(samples_in("a2", HOT_LINES), 1);
	cr_expect_eq(failure_of("a3", LATENCY, HOT_CODE), -ENODATA);
	cr_expect_eq(failure_of("b1", LATENCY, HOT_CODE), -ENODATA);
	cr_expect_eq(choose("b1"), -ENOSPC);
	/* A request for a cgroup that is already configured outlives the configuration. */
	cr_assert_eq(choose("a2"), 0);
	cr_assert(hot_choices_find(collect_hot(counting.collect), "a2", &how));
	cr_expect(how.configured);
	cr_expect_eq(how.until_ns, 0);
	collect_set_hot(counting.collect, begins_with, second);
	counting_collect(&counting);
	cr_expect_eq(failure_of("a1", LATENCY, HOT_CODE), -ENODATA);
	cr_expect_eq(samples_in("a2", HOT_CODE), 1);
	cr_assert(hot_choices_find(collect_hot(counting.collect), "a2", &how));
	cr_expect_not(how.configured);
	cr_expect_eq(how.until_ns, FOREVER_NS);
	(void)usleep(REST_US);
	counting_collect(&counting);
	inject_at(8, 0x401000, 0x1000, 100);
	cr_expect_eq(samples_in("b1", HOT_CODE), 1, "as soon as there were tables");
	counting_close(&counting);
}

Test(hot, without_tables_no_cgroup_can_be_chosen)
{
	open_counting(0, false);
	collect_set_hot(counting.collect, begins_with, (char[]){""});
	(void)name_and_adopt(7, "seven");
	counting_collect(&counting);
	cr_expect_eq(choose("seven"), -EOPNOTSUPP);
	inject_at(7, 0x401000, 0x1000, 100);
	counting_collect(&counting);
	cr_expect_eq(counting_samples(&counting, "seven", LATENCY), 1);
	cr_expect_eq(failure_of("seven", LATENCY, HOT_CODE), -ENODATA);
	counting_close(&counting);
}

static void setup_fixture(void)
{
	cgroup_fixture_setup();
}

static void teardown_fixture(void)
{
	counting_close(&counting);
	cgroup_fixture_teardown();
}

TestSuite(hot_program, .init = setup_fixture, .fini = teardown_fixture);

/* Makes a cgroup of this name and collects once. Returns its path, which the caller frees. */
static char *make_noticed(const char *name)
{
	char *path;

	cr_assert_gt(kernel_adopt(counting.kernel, 1, 0, ""), 0);
	cr_assert_gt(kernel_adopt(counting.kernel, cgroup_fixture_id(), 1, cgroup_fixture.path + 1), 0);
	cgroup_fixture_make(name);
	cr_assert_geq(asprintf(&path, "%s/%s", cgroup_fixture.path, name), 0);
	counting_collect(&counting);
	return path;
}

static volatile u64 turns;

static void __attribute__((noinline)) turn(u64 n)
{
	for (u64 i = 0; i < n; i++)
		turns = turns + i;
}

static void __attribute__((noinline)) turn_end(void)
{
	turns = 0;
}

static int spin(void *userdata)
{
	turn(*(const u64 *)userdata);
	turn_end();
	return 0;
}

/* A loop of a few instructions is found at its address. */
Test(hot_program, a_timer_finds_the_loop)
{
	static const u64 n = 600000000;
	_cleanup_free_ char *path = NULL;
	struct hot_places places;
	struct cgroup_child child;
	_cleanup_close_ int fd = -1;
	u64 begin = (u64)(uintptr_t)turn, within = 0;

	open_counting(2, true);
	path = make_noticed("spinner");
	cr_assert_eq(choose(path), 0);
	child = cgroup_fixture_child("spinner", spin, (void *)&n);
	fd = software_event_open(&(struct software_event){.config = PERF_COUNT_SW_CPU_CLOCK,
							  .period = NSEC_PER_MSEC,
							  .pid = child.pid,
							  .cpu = -1},
				 kernel_program_fd(counting.kernel, PLAIN));
	software_event_enable(fd);
	cgroup_fixture_go(&child);
	counting_collect(&counting);
	places = places_of(path, PLAIN, HOT_CODE);
	for (size_t i = 0; i < places.n; i++)
		if (places.places[i].address >= begin && places.places[i].address < begin + 64) {
			within += places.places[i].samples;
			cr_expect_eq(places.places[i].pid, (u32)child.pid);
		}
	printf("%llu of %llu samples of 1 ms are in the loop\n", (unsigned long long)within,
	       (unsigned long long)places.samples);
	cr_expect_gt(places.samples, 50);
	cr_expect_eq(places.samples, counting_samples(&counting, path, PLAIN));
	cr_expect_eq(places.weight, places.samples);
	cr_expect_gt(10 * within, 8 * places.samples);
	hot_places_done(&places);
	cgroup_fixture_remove("spinner");
}

#define PAGES 40
#define PAGE  4096UL

static volatile bool *faults_end; /* shared with the child */

static int fault_on(void *userdata)
{
	(void)userdata;
	while (!*faults_end) {
		u8 *pages =
			mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		for (size_t i = 0; i < PAGES; i++)
			*(volatile u8 *)(pages + i * PAGE) = 1;
		(void)munmap(pages, PAGES * PAGE);
	}
	return 0;
}

/* Waits until there are more faults than `before`. The child may get no CPU for long. */
static void await_faults(int fd, u64 before)
{
	for (unsigned i = 0; i < 60000 && software_event_count(fd) <= before; i++)
		(void)usleep(1000);
	(void)usleep(50000);
}

/*
 * A cgroup that never rests loses no sample while its tables are made. After that, the tables get every
 * sample.
 */
Test(hot_program, no_sample_is_lost_while_tables_are_made)
{
	_cleanup_free_ char *path = NULL;
	_cleanup_close_ int fd = -1;
	struct cgroup_child child;
	u64 before, seen, after;

	faults_end = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	cr_assert_neq((const void *)faults_end, MAP_FAILED);
	open_counting(2, true);
	path = make_noticed("worker");
	child = cgroup_fixture_child("worker", fault_on, NULL);
	fd = software_event_open(&(struct software_event){.config = PERF_COUNT_SW_PAGE_FAULTS,
							  .period = 1,
							  .sample_type = PERF_SAMPLE_ADDR,
							  .pid = child.pid,
							  .cpu = -1},
				 kernel_program_fd(counting.kernel, LATENCY));
	software_event_enable(fd);
	cgroup_fixture_start(&child);
	await_faults(fd, 0);
	before = software_event_count(fd);
	cr_assert_eq(choose(path), 0);
	after = software_event_count(fd);
	await_faults(fd, after);
	*faults_end = true;
	cgroup_fixture_wait(&child);
	counting_collect(&counting);
	cr_expect_gt(before, 0);
	cr_expect_gt(software_event_count(fd), after, "it went on");
	cr_expect_eq(counting_samples(&counting, path, LATENCY), software_event_count(fd));
	seen = samples_in(path, HOT_LINES);
	cr_expect_geq(seen, software_event_count(fd) - after, "from the moment on that it is chosen");
	cr_expect_leq(seen, software_event_count(fd) - before);
	cgroup_fixture_remove("worker");
	(void)munmap((void *)faults_end, PAGE);
}

static u8 *touched; /* shared with the child, which faults there */

static int touch_each(void *userdata)
{
	(void)userdata;
	for (size_t i = 0; i < PAGES; i++)
		*(volatile u8 *)(touched + i * PAGE + 130) = 1;
	return 0;
}

/*
 * A page fault has a data address and an instruction address. Neither is kept for a cgroup that is not
 * chosen.
 */
Test(hot_program, page_faults_are_found_at_their_addresses)
{
	for (int chosen = 0; chosen < 2; chosen++) {
		_cleanup_free_ char *path = NULL;
		struct cgroup_child child;
		_cleanup_close_ int fd = -1;
		struct hot_places places;
		u64 found = 0, begin;

		touched =
			mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		cr_assert_neq(touched, MAP_FAILED);
		begin = (u64)(uintptr_t)touched;
		(void)madvise(touched, PAGES * PAGE, MADV_NOHUGEPAGE);
		if (chosen)
			counting_close(&counting);
		open_counting(2, true);
		path = make_noticed("worker");
		if (chosen)
			cr_assert_eq(choose(path), 0);
		child = cgroup_fixture_child("worker", touch_each, NULL);
		fd = software_event_open(&(struct software_event){.config = PERF_COUNT_SW_PAGE_FAULTS,
								  .period = 1,
								  .sample_type = PERF_SAMPLE_ADDR,
								  .pid = child.pid,
								  .cpu = -1},
					 kernel_program_fd(counting.kernel, LATENCY));
		software_event_enable(fd);
		cgroup_fixture_go(&child);
		counting_collect(&counting);
		cr_expect_geq(counting_samples(&counting, path, LATENCY), PAGES);
		cgroup_fixture_remove("worker");
		(void)munmap(touched, PAGES * PAGE);
		if (!chosen) {
			cr_expect_eq(failure_of(path, LATENCY, HOT_LINES), -ENODATA);
			continue;
		}
		places = places_of(path, LATENCY, HOT_LINES);
		cr_expect_eq(places.samples, counting_samples(&counting, path, LATENCY));
		cr_expect_eq(places.weight, 0, "a fault has no latency");
		for (size_t i = 0; i < places.n; i++) {
			if (places.places[i].address < begin ||
			    places.places[i].address >= begin + PAGES * PAGE)
				continue;
			cr_expect_eq(places.places[i].address % PAGE, 128);
			cr_expect_eq(places.places[i].pid, (u32)child.pid);
			found++;
		}
		cr_expect_eq(found, PAGES);
		hot_places_done(&places);
		places = places_of(path, LATENCY, HOT_CODE);
		cr_expect_eq(places.samples, counting_samples(&counting, path, LATENCY));
		cr_expect_gt(places.n, 0);
		hot_places_done(&places);
	}
}

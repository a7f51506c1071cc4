// SPDX-License-Identifier: GPL-2.0
/* Hot tables compared with exact counts: the code that BPF runs, and the functions that read its tables. */
#include <criterion/criterion.h>

#include <pthread.h>
#include <stdio.h>

#include "base/cleanup.h"
#include "hot_exact.h"
#include "hot_write.h"
#include "origin/model/computer.h"
#include "random_numbers.h"

/* Most streams use at most this many CPUs. */
#define CPUS 4

static struct hot_exact exact;

static int compare_with(const void *a, const void *b, void *userdata)
{
	int (*const *compare)(const void *, const void *) = userdata;

	return (*compare)(a, b);
}

/*
 * C does not promise that qsort() keeps the order of equal elements. This one reverses it: the C library's own
 * function, which keeps it here, gets the elements in reverse order.
 */
/* NOLINTNEXTLINE(readability-inconsistent-declaration-parameter-name): those of the header are reserved */
void qsort(void *elements, size_t n, size_t size, int (*compare)(const void *, const void *))
{
	char *low = elements, *high = low + n * size;

	for (size_t i = 0; i < n / 2; i++) {
		high -= size;
		for (size_t j = 0; j < size; j++) {
			const char byte = low[j];

			low[j] = high[j];
			high[j] = byte;
		}
		low += size;
	}
	qsort_r(elements, n, size, compare_with, &compare);
}

static void done(void)
{
	hot_exact_done(&exact);
}

TestSuite(hot, .fini = done);

static struct hot_places read_all(void)
{
	const struct hot_table *tables[HOT_EXACT_CPUS];
	struct hot_places places;

	for (u32 cpu = 0; cpu < exact.cpus; cpu++)
		tables[cpu] = &exact.tables[cpu];
	cr_assert_eq(hot_places_read(tables, exact.cpus, exact.cpus, exact.kind, true, &places), 0);
	return places;
}

Test(hot, few_items_are_counted_exactly)
{
	_cleanup_(hot_places_done) struct hot_places places;

	hot_exact_begin(&exact, HOT_CODE, 3, 1);
	for (u32 i = 0; i < 300; i++)
		hot_exact_add(&exact, i % 3, 0x401000 + 4 * (i % 10), 7, 0);
	hot_exact_add(&exact, 0, 0x40100c, 5000, 0);
	places = read_all();
	cr_expect_eq(places.weight, 300 * 7 + 5000);
	cr_expect_eq(places.samples, 301);
	cr_expect_eq(places.absent_weight, 0);
	cr_expect_eq(places.absent_samples, 0);
	cr_assert_eq(places.n, 10);
	cr_expect_eq(places.places[0].address, 0x40100c);
	cr_expect_eq(places.places[0].weight, 30 * 7 + 5000);
	cr_expect_eq(places.places[0].samples, 31);
	cr_expect_eq(places.places[0].cpus, 3);
	cr_expect_eq(places.places[0].hitm_cpus, 0);
	for (size_t i = 0; i < places.n; i++) {
		cr_expect_eq(places.places[i].weight_error, 0);
		cr_expect_eq(places.places[i].samples_error, 0);
	}
}

/*
 * The 64 bytes of a line are counted together. Address 0 means that a sample has no address. The other
 * addresses of the line at 0 are valid.
 */
Test(hot, lines_take_their_bytes_together)
{
	_cleanup_(hot_places_done) struct hot_places places;

	hot_exact_begin(&exact, HOT_LINES, 2, 5);
	hot_exact_add(&exact, 0, 0x1000, 100, 1);
	hot_exact_add(&exact, 0, 0x103f, 100, 0);
	hot_exact_add(&exact, 1, 0x1020, 100, 1);
	hot_exact_add(&exact, 1, 0x1040, 50, 0);
	hot_exact_add(&exact, 1, 0x08, 10, 0);
	hot_exact_add(&exact, 1, 0, 1000, 0);
	places = read_all();
	cr_assert_eq(places.n, 3);
	cr_expect_eq(places.weight, 360);
	cr_expect_eq(places.places[0].address, 0x1000);
	cr_expect_eq(places.places[0].weight, 300);
	cr_expect_eq(places.places[0].hitm, 2);
	cr_expect_eq(places.places[0].hitm_cpus, 2);
	cr_expect_eq(places.places[0].cpus, 2);
	cr_expect_eq(places.places[0].pid, 101);
	cr_expect_eq(places.places[1].address, 0x1040);
	cr_expect_eq(places.places[1].hitm_cpus, 0);
	cr_expect_eq(places.places[2].address, 0);
}

/* Two cgroups that had the same path have two tables on each CPU. */
Test(hot, two_tables_of_a_cpu_count_as_one_cpu)
{
	const struct hot_table *tables[4];
	_cleanup_(hot_places_done) struct hot_places places;

	hot_exact_begin(&exact, HOT_LINES, 4, 5);
	hot_exact_add(&exact, 0, 0x1000, 100, 1);
	hot_exact_add(&exact, 1, 0x1000, 100, 1);
	hot_exact_add(&exact, 2, 0x1000, 100, 0);
	hot_exact_add(&exact, 3, 0x1000, 100, 0);
	for (u32 i = 0; i < 4; i++)
		tables[i] = &exact.tables[i];
	cr_assert_eq(hot_places_read(tables, 4, 2, HOT_LINES, true, &places), 0);
	cr_expect(places.cpus_known);
	cr_assert_eq(places.n, 1);
	cr_expect_eq(places.places[0].hitm, 2);
	cr_expect_eq(places.places[0].cpus, 2);
	cr_expect_eq(places.places[0].hitm_cpus, 1);
}

Test(hot, the_cpu_of_samples_can_be_unknown)
{
	const struct hot_table *table = exact.tables;
	_cleanup_(hot_places_done) struct hot_places places;

	hot_exact_begin(&exact, HOT_LINES, 1, 5);
	hot_exact_add(&exact, 0, 0x1000, 100, 1);
	cr_assert_eq(hot_places_read(&table, 1, 0, HOT_LINES, true, &places), 0);
	cr_expect_not(places.cpus_known);
	cr_assert_eq(places.n, 1);
	cr_expect_eq(places.places[0].hitm, 1);
	cr_expect_eq(places.places[0].cpus, 0);
	cr_expect_eq(places.places[0].hitm_cpus, 0);
}

/* The ways of a set are read in ascending order. */
Test(hot, of_an_evicted_and_returned_item_the_later_counter_counts)
{
	static struct hot_table table;
	struct hot_set *set = &table.kinds[HOT_LINES].sets[0];
	const struct hot_table *tables = &table;
	_cleanup_(hot_places_done) struct hot_places places;

	for (u32 way = 0; way < HOT_WAYS; way++) {
		set->counters[way] =
			(struct hot_counter){.item = hot_line_item(0x1000), .samples = 10 + way, .turn = 1};
		set->ranks[way] = HOT_RANK(100ULL + way, way);
	}
	set->samples = set->weight = 1000;
	cr_assert_eq(hot_places_read(&tables, 1, 1, HOT_LINES, true, &places), 0);
	cr_assert_eq(places.n, 1);
	cr_expect_eq(places.places[0].samples, 10 + HOT_WAYS - 1);
	cr_expect_eq(places.places[0].weight, 100 + HOT_WAYS - 1);
}

/* Latency decides which items stay: many items without latency do not evict a few with a high latency. */
Test(hot, without_latency_only_samples_are_counted)
{
	struct hot_recall recall = {0};

	hot_exact_begin(&exact, HOT_LINES, 1, 99);
	for (u64 i = 1; i <= 8; i++)
		hot_exact_add(&exact, 0, i << 20, 1000, 0);
	for (u64 i = 0; i < 20000; i++)
		hot_exact_add(&exact, 0, (i % 5000) << 6, 0, 0);
	hot_exact_check(&exact, "floods without latency", &recall);
	cr_expect_eq(recall.heavy, 8);
	cr_expect_eq(recall.found, 8);
}

/* A stream as services have it: few hot addresses and a long tail. */
Test(hot, skewed_streams_keep_their_bounds)
{
	struct hot_recall recall = {0};

	for (u64 round = 1; round <= 40; round++) {
		u64 random = round;

		hot_exact_begin(&exact, (enum hot_kind)(round % 2), 1 + (u32)(round % CPUS),
				splitmix(&random));
		for (u32 i = 0; i < 20000; i++) {
			u64 draw = splitmix(&random);
			u64 item = (draw & 0xfff) >> (draw >> 12 & 0xf);

			hot_exact_add(&exact, (u32)(draw >> 50) % exact.cpus, 0x7f0000400000ULL + 64 * item,
				      draw >> 54 & 0xff, draw >> 62 & 1);
		}
		hot_exact_check(&exact, "skewed", &recall);
	}
	cr_expect_gt(recall.heavy, 0);
	cr_expect_eq(recall.found, recall.heavy);
}

/*
 * Log2 of the distances between the items of an adversary: code, lines, pages, tables whose size is a power of
 * two, and addresses that differ only in the highest bytes.
 */
static const u32 strides[] = {1, 4, 6, 12, 21, 30, 39, 47};

struct stream {
	u64 random;
	u32 stride;
	u32 heavies;
	u64 each; /* weight of a heavy item: just above 1/HOT_EXACT_K of all */
	u64 rest; /* weight that is left for other items */
	u64 unit; /* weight of a sample */
	u32 next; /* number of the next item that comes only once */
	u32 cpus;
	bool pinned; /* each heavy item stays on one CPU; the others do not */
};

static u64 address_of(const struct stream *stream, u64 item)
{
	return 0x10000000000ULL + (item << stream->stride);
}

static void add_item(struct stream *stream, u64 item, u64 weight)
{
	u32 cpu = stream->pinned && item < stream->heavies ? (u32)item % stream->cpus
							   : (u32)splitmix(&stream->random) % stream->cpus;

	hot_exact_add(&exact, cpu, address_of(stream, item), weight, 0);
}

static void add_heavy(struct stream *stream, u32 heavy, u64 weight)
{
	for (; weight > stream->unit; weight -= stream->unit)
		add_item(stream, heavy, stream->unit);
	add_item(stream, heavy, weight);
}

/*
 * Adds new items of weight `of` each, up to `weight` in total. A remainder is left out, so that the total is
 * never too high.
 */
static void add_churn(struct stream *stream, u64 weight, u64 of)
{
	if (weight > stream->rest)
		weight = stream->rest;
	for (; weight >= of; weight -= of, stream->rest -= of)
		add_item(stream, stream->heavies + stream->next++, of);
}

enum order {
	HEAVY_FIRST, /* heavy items come first, and then a flood evicts them */
	CHURN_FIRST, /* heavy items come late and inherit the errors of the items that they replace */
	INTERLEAVED, /* a flood between any two heavy items */
	ROUNDS,      /* heavy items take turns with small portions, and churn between them */
	SHUFFLED,
	DEAR_CHURN,    /* few other items, each nearly as heavy */
	FREE_CHURN,    /* a flood without latency before the one with latency, and one at the end */
	ONE_SAMPLE,    /* all of an item's weight in one sample, then a flood */
	GROWING_CHURN, /* each new item is just heavier than the one before, to stay above the least counter */
	ORDERS
};

static void add_free_churn(struct stream *stream)
{
	for (u32 i = 0; i < 5000; i++)
		add_item(stream, stream->heavies + stream->next++, 0);
}

static void shuffled(struct stream *stream)
{
	u64 all = stream->heavies * stream->each + stream->rest, left = all;

	while (left > 0) {
		u64 draw = splitmix(&stream->random) % all;

		left = left > stream->unit ? left - stream->unit : 0;
		if (draw < stream->rest)
			add_churn(stream, stream->unit, stream->unit);
		else
			add_item(stream, (draw - stream->rest) / stream->each % stream->heavies,
				 stream->unit);
	}
}

static void play(struct stream *stream, enum order order)
{
	u64 unit = stream->unit, portion = stream->rest / (stream->heavies + 1);

	switch (order) {
	case CHURN_FIRST:
		add_churn(stream, stream->rest, unit);
		break;
	case INTERLEAVED:
		for (u32 i = 0; i < stream->heavies; i++) {
			add_heavy(stream, i, stream->each);
			add_churn(stream, portion, unit);
		}
		add_churn(stream, stream->rest, unit);
		return;
	case ROUNDS:
		for (u64 given = 0; given < stream->each; given += 16 * unit) {
			for (u32 i = 0; i < stream->heavies; i++)
				add_heavy(stream, i,
					  stream->each - given < 16 * unit ? stream->each - given
									   : 16 * unit);
			add_churn(stream, 16 * stream->rest * unit / stream->each + unit, unit);
		}
		return;
	case SHUFFLED:
		shuffled(stream);
		return;
	case ONE_SAMPLE:
		stream->unit = stream->each;
		break;
	default:
		break;
	}
	for (u32 i = 0; i < stream->heavies; i++)
		add_heavy(stream, i, stream->each);
	if (order == DEAR_CHURN)
		add_churn(stream, stream->rest, stream->each - stream->each / 32);
	if (order == FREE_CHURN)
		add_free_churn(stream);
	for (u64 of = unit; order == GROWING_CHURN && of <= stream->rest; of += unit)
		add_churn(stream, of, of);
	add_churn(stream, stream->rest, unit);
	if (order == FREE_CHURN)
		add_free_churn(stream);
}

static struct stream adversary(u64 number)
{
	struct stream stream = {.random = number * 0x2545f4914f6cdd1dULL};
	u64 draw = splitmix(&stream.random);

	stream.stride = strides[draw % ARRAY_SIZE(strides)];
	/* Half of the streams have the greatest possible number of heavy items, which fills the sets most. */
	stream.heavies = draw >> 8 & 1 ? 31 : 1 + (u32)(draw >> 9) % 31;
	stream.unit = 1 + (draw >> 20) % 300;
	stream.each = stream.unit * (60 + (draw >> 30) % 100);
	/* The total weight is less than HOT_EXACT_K times a heavy item. */
	stream.rest = (HOT_EXACT_K - stream.heavies) * stream.each - 1;
	stream.cpus = draw >> 40 & 1 ? 1 : 1 + (u32)(draw >> 41) % CPUS;
	stream.pinned = draw >> 50 & 1;
	return stream;
}

/* The adversary knows everything but the seed. */
Test(hot, adversarial_streams_hide_nothing_above_a_32nd)
{
	struct hot_recall recall = {0};
	u64 samples = 0, spoilt = 0;

	for (u64 number = 1; number <= 1000; number++) {
		struct stream stream = adversary(number);
		struct hot_recall one = {0};
		char what[96];

		hot_exact_begin(&exact, (enum hot_kind)(stream.stride >= 6 && number % 2), stream.cpus,
				splitmix(&stream.random));
		play(&stream, (enum order)(number % ORDERS));
		samples += exact.n;
		(void)snprintf(what, sizeof(what), "stream %llu: order %llu, stride 2^%u, %u heavy, %u CPUs",
			       (unsigned long long)number, (unsigned long long)(number % ORDERS),
			       stream.stride, stream.heavies, stream.cpus);
		hot_exact_check(&exact, what, &one);
		/* A shuffled stream draws its samples at random, so a heavy item may end up too light. */
		if (number % ORDERS != SHUFFLED)
			cr_assert_eq(one.heavy, stream.heavies, "%s: %llu", what,
				     (unsigned long long)one.heavy);
		recall.heavy += one.heavy;
		recall.found += one.found;
		if (one.found < one.heavy) {
			spoilt++;
			printf("%s: %llu lost\n", what, (unsigned long long)(one.heavy - one.found));
		}
	}
	printf("1,000 streams, %llu samples: %llu of %llu heavy items found, %llu streams lost some\n",
	       (unsigned long long)samples, (unsigned long long)recall.found,
	       (unsigned long long)recall.heavy, (unsigned long long)spoilt);
	cr_expect_gt(recall.heavy, 15000);
	cr_expect_geq(1000 * recall.found, 999 * recall.heavy);
}

/*
 * The adversary knows the seed and fills one set. Many items of this set are lost, and the bounds must allow
 * for them.
 */
Test(hot, streams_aimed_at_one_set_keep_their_bounds)
{
	struct hot_recall recall = {0};

	for (u64 round = 1; round <= 60; round++) {
		u64 random = round, chosen[200], seed = splitmix(&random);
		u32 n = 0;

		hot_exact_begin(&exact, HOT_CODE, 1 + (u32)(round % CPUS), seed);
		for (u64 address = 0x401000; n < ARRAY_SIZE(chosen); address += 4)
			if (HOT_HASH_SET(hot_hash(hot_code_item(address), seed)) == 3)
				chosen[n++] = address;
		for (u32 i = 0; i < 5000; i++) {
			u64 draw = splitmix(&random);
			u64 item = round % 3 == 0   ? i % n
				   : round % 3 == 1 ? draw % n
						    : (draw % 4 ? i / 500 : draw >> 8) % n;

			hot_exact_add(&exact, (u32)(draw >> 50) % exact.cpus, chosen[item],
				      round % 2 ? 1 : draw >> 60, 0);
		}
		hot_exact_check(&exact, "aimed", &recall);
	}
}

/* Items must spread over the sets, whatever the distance between their addresses is. */
Test(hot, items_are_spread_over_the_sets)
{
	for (size_t i = 0; i < ARRAY_SIZE(strides); i++) {
		u64 random = i;

		for (u32 round = 0; round < 20; round++) {
			u64 seed = splitmix(&random);
			u32 items[HOT_SETS] = {0};

			for (u64 item = 0; item < 100ULL * HOT_SETS; item++)
				items[HOT_HASH_SET(
					hot_hash((0x10000000000ULL + (item << strides[i])) | 1, seed))]++;
			for (u32 set = 0; set < HOT_SETS; set++)
				cr_expect(items[set] > 20 && items[set] < 250,
					  "stride 2^%u: a set has %u of 100 on average", strides[i],
					  items[set]);
		}
	}
}

static u32 way_of(const struct hot_set *set, u64 item)
{
	for (u32 way = 0; way < HOT_WAYS; way++)
		if (set->counters[way].item == item)
			return way;
	return HOT_WAYS;
}

/*
 * A counter increments its `turn` for each new item, so that a reader notices even the return of an earlier
 * item.
 */
Test(hot, a_counter_counts_the_items_that_it_had)
{
	const struct hot_set *set;
	u32 way;

	hot_exact_begin(&exact, HOT_CODE, 1, 7);
	hot_exact_add(&exact, 0, 0x1000, 1, 0);
	set = &exact.tables[0].kinds[HOT_CODE].sets[HOT_HASH_SET(hot_hash(0x1000, 7))];
	way = way_of(set, 0x1000);
	cr_assert_lt(way, HOT_WAYS);
	cr_expect_eq(set->counters[way].turn, 1);
	hot_exact_add(&exact, 0, 0x1000, 1, 0);
	cr_expect_eq(set->counters[way].turn, 1);
	for (u64 address = 0x2000; way_of(set, 0x1000) < HOT_WAYS; address += 16)
		hot_exact_add(&exact, 0, address, 2, 0);
	cr_expect_eq(set->counters[way].turn, 2);
}

/*
 * Each way is found, even if another way with the same tag comes before it. The way of least weight is found
 * at any place.
 */
Test(hot, every_way_of_a_set_is_found)
{
	for (u64 round = 0; round < 1000; round++) {
		u64 random = round;
		struct hot_set set = {0};
		u64 items[HOT_WAYS];
		u64 tags[HOT_WAYS];

		for (u32 way = 0; way < HOT_WAYS; way++) {
			items[way] = splitmix(&random) | 1;
			/* In most rounds there are so few different tags that some ways share one. */
			tags[way] = splitmix(&random) % (1 + round % 256);
			set.counters[way].item = items[way];
			set.ranks[way] = HOT_RANK(1000 + splitmix(&random) % 5, way);
			hot_tag(&set, way, tags[way]);
		}
		for (u32 way = 0; way < HOT_WAYS; way++) {
			u32 least;

			cr_assert_eq(hot_find(&set, items[way], tags[way]), way);
			cr_assert_eq(hot_find(&set, 2, tags[way]), HOT_WAYS);
			least = hot_least(&set);
			for (u32 other = 0; other < HOT_WAYS; other++)
				cr_assert_leq(HOT_RANK_WEIGHT(set.ranks[least]),
					      HOT_RANK_WEIGHT(set.ranks[other]));
			set.ranks[least] += HOT_RANK(splitmix(&random) % 50, 0);
		}
	}
}

#define WRITTEN 3000000

/*
 * A writer whose items contain their pids. 20 pids stay, and more others come and go than there are counters.
 */
static void *write_all(void *userdata)
{
	struct hot_table *table = userdata;
	u64 random = 1;

	for (u32 i = 0; i < WRITTEN; i++) {
		u64 draw = splitmix(&random);
		u32 pid = 1 + (draw & 1 ? (u32)(draw >> 8) % 20 : (u32)(draw >> 8) % 5000);
		const struct hot_sample sample = {.item = (u64)pid << 4, .weight = 1, .pid = pid};

		hot_add(&table->kinds[HOT_CODE], 5, &sample);
	}
	return NULL;
}

/* At any moment, an item has its own pid and possible bounds. */
Test(hot, a_reader_sees_no_torn_item)
{
	const struct hot_table *tables[] = {&exact.tables[0]};
	u64 samples = 0, reads = 0, torn = 0, impossible = 0, backward = 0;
	pthread_t writer;

	hot_exact_begin(&exact, HOT_CODE, 1, 5);
	cr_assert_eq(pthread_create(&writer, NULL, write_all, &exact.tables[0]), 0);
	while (samples < WRITTEN) {
		struct hot_places places;

		cr_assert_eq(hot_places_read(tables, 1, 1, HOT_CODE, false, &places), 0);
		backward += places.samples < samples;
		samples = places.samples;
		for (size_t i = 0; i < places.n; i++) {
			const struct hot_place *place = &places.places[i];

			torn += place->address != (u64)place->pid << 4;
			impossible += place->weight_error > place->weight ||
				      place->samples_error > place->samples || place->weight > places.weight;
		}
		hot_places_done(&places);
		reads++;
	}
	cr_assert_eq(pthread_join(writer, NULL), 0);
	printf("read %llu times while %d samples were written\n", (unsigned long long)reads, WRITTEN);
	cr_expect_eq(torn, 0, "%llu of another's pid", (unsigned long long)torn);
	cr_expect_eq(impossible, 0);
	cr_expect_eq(backward, 0);
}

/* The samples of the model, separated by workload. */
struct streams {
	u64 first_id;
	struct hot_exact lines[16];
	struct hot_exact code[16];
	size_t n;
};

static void take(void *userdata, const struct sample *sample)
{
	struct streams *streams = userdata;
	size_t i = (size_t)(sample->cgroup_id - streams->first_id);

	cr_assert_lt(i, streams->n);
	hot_exact_add(&streams->lines[i], (u32)(sample->period + sample->latency) % 2, sample->address,
		      sample->latency, 0);
	hot_exact_add(&streams->code[i], (u32)(sample->period + sample->latency) % 2, sample->code_address,
		      sample->latency, 0);
}

Test(hot, workloads_of_the_model_hide_nothing)
{
	static struct streams streams;
	const struct computer_settings settings = {.machine = machine_find("skylake"),
						   .seed = 3,
						   .workloads = (1U << WORKLOAD_COUNT) - 1,
						   .ldlat = 30,
						   .period = 10};
	_cleanup_(computer_freep) struct computer *computer = NULL;
	struct hot_recall lines = {0}, code = {0};

	cr_assert_eq(computer_new(&settings, &computer), 0);
	streams.n = computer_cgroups(computer);
	cr_assert_leq(streams.n, ARRAY_SIZE(streams.lines));
	for (size_t i = 0; i < streams.n; i++) {
		char name[COMPUTER_NAME_MAX];
		u64 id = computer_cgroup(computer, i, name);

		if (i == 0)
			streams.first_id = id;
		cr_assert_eq(id, streams.first_id + i);
		hot_exact_begin(&streams.lines[i], HOT_LINES, 2, 1000 + i);
		hot_exact_begin(&streams.code[i], HOT_CODE, 2, 2000 + i);
	}
	cr_assert_eq(computer_run(computer, 10 * NSEC_PER_SEC, take, &streams), 0);
	for (size_t i = 0; i < streams.n; i++) {
		char name[COMPUTER_NAME_MAX];
		size_t samples = streams.lines[i].n;

		(void)computer_cgroup(computer, i, name);
		cr_expect_gt(samples, 1000, "%s", name);
		hot_exact_check(&streams.lines[i], name, &lines);
		hot_exact_check(&streams.code[i], name, &code);
		printf("%-24s %6zu samples of %6zu lines, %3zu instructions\n", name, samples,
		       streams.lines[i].n, streams.code[i].n);
		hot_exact_done(&streams.lines[i]);
		hot_exact_done(&streams.code[i]);
	}
	printf("lines above a 32nd: %llu of %llu, instructions: %llu of %llu\n",
	       (unsigned long long)lines.found, (unsigned long long)lines.heavy,
	       (unsigned long long)code.found, (unsigned long long)code.heavy);
	cr_expect_gt(lines.heavy, 0);
	cr_expect_eq(lines.found, lines.heavy);
	cr_expect_gt(code.heavy, 0);
	cr_expect_eq(code.found, code.heavy);
}

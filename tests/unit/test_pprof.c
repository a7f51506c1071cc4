// SPDX-License-Identifier: GPL-2.0
#include <criterion/criterion.h>
#include <string.h>
#define ZLIB_CONST /* input buffers are const */
#include <zlib.h>

#include "base/cleanup.h"
#include "pprof.pb-c.h"
#include "profile/pprof.h"
#include "profile_fixture.h"

static const char *const comments[] = {"limited: 3", NULL};
static const struct profile_about about = {.cgroup = "/a",
					   .origin = "perf",
					   .began_real_ns = 1700000000000000000ULL,
					   .duration_ns = 30000000000ULL,
					   .period = 1009,
					   .event = "loads",
					   .comments = comments,
					   .kernel_names = true};

static struct profile *profile_of(bool latency, u64 from, u64 to, bool backwards)
{
	struct profile *profile;
	u64 stack[16];

	cr_assert_eq(profile_new(latency, &profile), 0);
	cr_assert_eq(profile_name(profile, 100, 100, "main-thread"), 0);
	cr_assert_eq(profile_name(profile, 100, 101, "worker"), 0);
	for (u64 i = from; i < to; i++) {
		struct zoom_sample sample =
			profile_fixture_random(backwards ? to - 1 - (i - from) : i, stack);

		cr_assert_eq(profile_add(profile, &sample), 0);
	}
	return profile;
}

static Pebsd__Pprof__Profile *unpack(const u8 *bytes, size_t size)
{
	static u8 plain[8U << 20];
	z_stream stream = {
		.next_in = bytes, .avail_in = (uInt)size, .next_out = plain, .avail_out = sizeof(plain)};
	Pebsd__Pprof__Profile *profile;

	cr_assert_eq(inflateInit2(&stream, 16 + MAX_WBITS), Z_OK);
	cr_assert_eq(inflate(&stream, Z_FINISH), Z_STREAM_END);
	profile = pebsd__pprof__profile__unpack(NULL, stream.total_out, plain);
	(void)inflateEnd(&stream);
	cr_assert_not_null(profile);
	return profile;
}

static Pebsd__Pprof__Profile *written(const struct profile *profile, const struct profile_about *of)
{
	_cleanup_free_ u8 *bytes = NULL;
	struct profile_fixture_names fixture;
	size_t size;

	profile_fixture_names_init(&fixture);
	cr_assert_eq(pprof_write(profile, &fixture.names, of, &bytes, &size), 0);
	return unpack(bytes, size);
}

static const char *text(const Pebsd__Pprof__Profile *pprof, int64_t i)
{
	cr_assert(i >= 0 && (size_t)i < pprof->n_string_table);
	return pprof->string_table[i];
}

/* Expects that each number refers to something, and that no id is used twice. */
static void expect_whole(const Pebsd__Pprof__Profile *pprof)
{
	cr_assert_str_eq(pprof->string_table[0], "");
	for (size_t i = 0; i < pprof->n_location; i++) {
		cr_assert_eq(pprof->location[i]->id, i + 1);
		cr_assert_leq(pprof->location[i]->mapping_id, pprof->n_mapping);
		cr_assert_gt(pprof->location[i]->n_line, 0);
		for (size_t j = 0; j < pprof->location[i]->n_line; j++) {
			uint64_t id = pprof->location[i]->line[j]->function_id;

			cr_assert(id > 0 && id <= pprof->n_function);
		}
		if (pprof->location[i]->mapping_id)
			cr_assert_lt(pprof->location[i]->address,
				     pprof->mapping[pprof->location[i]->mapping_id - 1]->memory_limit);
	}
	for (size_t i = 0; i < pprof->n_function; i++) {
		cr_assert_eq(pprof->function[i]->id, i + 1);
		cr_assert_str_neq(text(pprof, pprof->function[i]->name), "");
		(void)text(pprof, pprof->function[i]->filename);
	}
	for (size_t i = 0; i < pprof->n_sample; i++) {
		cr_assert_eq(pprof->sample[i]->n_value, pprof->n_sample_type);
		cr_assert_gt(pprof->sample[i]->n_location_id, 0);
		for (size_t j = 0; j < pprof->sample[i]->n_location_id; j++)
			cr_assert(pprof->sample[i]->location_id[j] > 0 &&
				  pprof->sample[i]->location_id[j] <= pprof->n_location);
	}
}

static u64 sum(const Pebsd__Pprof__Profile *pprof, size_t value)
{
	u64 total = 0;

	for (size_t i = 0; i < pprof->n_sample; i++)
		total += (u64)pprof->sample[i]->value[value];
	return total;
}

Test(pprof, inlined_and_unnamed_frames_are_written)
{
	const u64 user[] = {AT_UNNAMED + 1, AT_START + 1};
	struct zoom_sample sample = profile_fixture_sample(AT_INNER, AT_HEAP, 77);
	_cleanup_(profile_freep) struct profile *profile = profile_of(true, 0, 0, false);
	Pebsd__Pprof__Profile *pprof;
	const Pebsd__Pprof__Location *at;
	const Pebsd__Pprof__Mapping *mapping;

	sample.user = user;
	sample.n_user = 2;
	cr_assert_eq(profile_add(profile, &sample), 0);
	pprof = written(profile, &about);
	expect_whole(pprof);
	cr_assert_eq(pprof->n_sample_type, 2);
	cr_expect_str_eq(text(pprof, pprof->sample_type[0]->type), "samples");
	cr_expect_str_eq(text(pprof, pprof->sample_type[0]->unit), "count");
	cr_expect_str_eq(text(pprof, pprof->sample_type[1]->type), "latency");
	cr_expect_str_eq(text(pprof, pprof->sample_type[1]->unit), "cycles");
	cr_expect_str_eq(text(pprof, pprof->default_sample_type), "latency");
	cr_expect_eq(pprof->time_nanos, 1700000000000000000);
	cr_expect_eq(pprof->duration_nanos, 30000000000);
	cr_expect_eq(pprof->period, 1009);
	cr_expect_str_eq(text(pprof, pprof->period_type->type), "loads");
	cr_expect_str_eq(text(pprof, pprof->comment[0]), "cgroup: /a");
	cr_expect_str_eq(text(pprof, pprof->comment[pprof->n_comment - 1]), "limited: 3");
	cr_assert_eq(pprof->n_sample, 1);
	cr_expect_eq(pprof->sample[0]->value[0], 1);
	cr_expect_eq(pprof->sample[0]->value[1], 77);
	cr_assert_eq(pprof->sample[0]->n_label, 2);
	cr_expect_str_eq(text(pprof, pprof->sample[0]->label[0]->key), "thread");
	cr_expect_str_eq(text(pprof, pprof->sample[0]->label[0]->str), "main-thread");
	cr_expect_str_eq(text(pprof, pprof->sample[0]->label[1]->key), "source");
	cr_expect_str_eq(text(pprof, pprof->sample[0]->label[1]->str), "l1");

	cr_assert_eq(pprof->sample[0]->n_location_id, 3);
	at = pprof->location[pprof->sample[0]->location_id[0] - 1];
	cr_expect_eq(at->address, AT_INNER - 0x400000, "the module's address, not the process'");
	cr_assert_eq(at->n_line, 2);
	cr_expect_str_eq(text(pprof, pprof->function[at->line[0]->function_id - 1]->name), "inner");
	cr_expect_str_eq(text(pprof, pprof->function[at->line[0]->function_id - 1]->filename), "work.c");
	cr_expect_eq(at->line[0]->line, 90);
	cr_expect_str_eq(text(pprof, pprof->function[at->line[1]->function_id - 1]->name), "work");
	mapping = pprof->mapping[at->mapping_id - 1];
	cr_expect_str_eq(text(pprof, mapping->filename), PROGRAM);
	cr_expect_str_eq(text(pprof, mapping->build_id), "ab01");
	at = pprof->location[pprof->sample[0]->location_id[1] - 1];
	cr_expect_str_eq(text(pprof, pprof->function[at->line[0]->function_id - 1]->name),
			 "[unknown] " PROGRAM "+0x8000");
	pebsd__pprof__profile__free_unpacked(pprof, NULL);
}

Test(pprof, without_kernel_names_the_kernel_is_one_frame)
{
	const u64 user[] = {AT_MAIN + 1, AT_START + 1}, kernel[] = {AT_FAULT + 0x10, AT_FAULT + 0x20};
	struct zoom_sample sample = profile_fixture_sample(AT_FAULT, AT_HEAP, 1);
	_cleanup_(profile_freep) struct profile *profile = profile_of(true, 0, 0, false);
	struct profile_about no_kernel = about;
	Pebsd__Pprof__Profile *pprof;

	sample.user = user;
	sample.n_user = 2;
	sample.kernel = kernel;
	sample.n_kernel = 2;
	cr_assert_eq(profile_add(profile, &sample), 0);
	pprof = written(profile, &about);
	cr_expect_eq(pprof->sample[0]->n_location_id, 5);
	for (size_t i = 0; i < pprof->n_location; i++)
		cr_expect_lt(pprof->location[i]->address, 0x400000);
	pebsd__pprof__profile__free_unpacked(pprof, NULL);

	no_kernel.kernel_names = false;
	pprof = written(profile, &no_kernel);
	expect_whole(pprof);
	cr_expect_eq(pprof->sample[0]->n_location_id, 3);
	for (size_t i = 0; i < pprof->n_string_table; i++)
		cr_expect_null(strstr(pprof->string_table[i], "fault"));
	pebsd__pprof__profile__free_unpacked(pprof, NULL);
}

Test(pprof, without_latency_the_profile_has_only_samples)
{
	_cleanup_(profile_freep) struct profile *profile = profile_of(false, 0, 50, false);
	Pebsd__Pprof__Profile *pprof = written(profile, &about);

	expect_whole(pprof);
	cr_assert_eq(pprof->n_sample_type, 1);
	cr_expect_str_eq(text(pprof, pprof->default_sample_type), "samples");
	cr_expect_eq(sum(pprof, 0), 50);
	pebsd__pprof__profile__free_unpacked(pprof, NULL);
}

/* Sums the numbers of folded lines, and checks their form. */
static u64 sum_folded(char *folded)
{
	u64 total = 0;
	const char *before = "";

	for (char *save, *line = strtok_r(folded, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		char *end, *space = strrchr(line, ' ');

		cr_assert_not_null(space);
		total += strtoull(space + 1, &end, 10);
		cr_assert(*end == '\0' && end > space + 1);
		*space = '\0';
		cr_assert_lt(strcmp(before, line), 0, "%s is there twice, or out of order", line);
		before = line;
	}
	return total;
}

static u64 folded_total(const struct profile *profile, bool latency)
{
	_cleanup_free_ char *folded = NULL;
	struct profile_fixture_names fixture;
	size_t size;

	profile_fixture_names_init(&fixture);
	cr_assert_eq(folded_write(profile, &fixture.names, &about, latency, &folded, &size), 0);
	return sum_folded(folded);
}

Test(folded, folded_stacks_start_with_the_outermost_frame)
{
	_cleanup_free_ char *folded = NULL;
	const u64 user[] = {AT_INNER + 1, AT_MAIN + 1, AT_START + 1},
		  other[] = {AT_INNER + 2, AT_MAIN + 2, AT_START + 9};
	struct zoom_sample sample = profile_fixture_sample(AT_LOAD_ROW, AT_HEAP, 20);
	_cleanup_(profile_freep) struct profile *profile = profile_of(true, 0, 0, false);
	struct profile_fixture_names fixture;
	size_t size;

	profile_fixture_names_init(&fixture);
	sample.user = user;
	sample.n_user = 3;
	cr_assert_eq(profile_add(profile, &sample), 0);
	sample.user = other; /* other addresses in the same functions */
	cr_assert_eq(profile_add(profile, &sample), 0);
	sample.n_user = 0;
	sample.of.latency = 0;
	cr_assert_eq(profile_add(profile, &sample), 0);
	cr_assert_eq(folded_write(profile, &fixture.names, &about, false, &folded, &size), 0);
	cr_expect_str_eq(folded, "_start;main;work;inner;load:row 2\nload:row 1\n");
	cr_expect_eq(size, strlen(folded));
	free(TAKE_PTR(folded));
	cr_assert_eq(folded_write(profile, &fixture.names, &about, true, &folded, &size), 0);
	cr_expect_str_eq(folded, "_start;main;work;inner;load:row 40\n");
}

Test(folded, an_empty_profile_is_an_empty_text)
{
	_cleanup_free_ char *folded = NULL;
	_cleanup_(profile_freep) struct profile *profile = profile_of(true, 0, 0, false);
	size_t size;

	cr_assert_eq(folded_write(profile, NULL, &about, false, &folded, &size), 0);
	cr_expect_str_eq(folded, "");
}

Test(pprof, samples_add_up_to_the_profile_in_any_order)
{
	for (u64 seed = 0; seed < 8; seed++) {
		struct profile *profile = profile_of(true, seed * 1000, seed * 1000 + 1000, false);
		struct profile *other = profile_of(true, seed * 1000, seed * 1000 + 1000, true);
		_cleanup_free_ u8 *one = NULL, *two = NULL;
		size_t one_size, two_size;
		struct profile_totals totals;
		struct profile_fixture_names fixture;
		Pebsd__Pprof__Profile *pprof;

		profile_fixture_names_init(&fixture);
		profile_totals(profile, &totals);
		cr_assert_eq(pprof_write(profile, &fixture.names, &about, &one, &one_size), 0);
		cr_assert_eq(pprof_write(other, &fixture.names, &about, &two, &two_size), 0);
		cr_assert(one_size == two_size && memcmp(one, two, one_size) == 0);
		pprof = unpack(one, one_size);
		expect_whole(pprof);
		cr_assert_eq(sum(pprof, 0), totals.samples);
		cr_assert_eq(sum(pprof, 1), totals.latency);
		cr_assert_eq(folded_total(profile, false), totals.samples);
		cr_assert_eq(folded_total(profile, true), totals.latency);
		pebsd__pprof__profile__free_unpacked(pprof, NULL);
		profile_free(profile);
		profile_free(other);
	}
}

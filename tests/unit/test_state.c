// SPDX-License-Identifier: GPL-2.0
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "state/state.h"
#include "state/state_bytes.h"

#define RECORDS 7
#define KIND    3

static struct state *new_state(void)
{
	struct state *state = NULL;

	cr_assert_eq(state_new(RECORDS, &state), 0);
	return state;
}

/* Inherits the state as the next process does, from the descriptor alone. */
static struct state *taken_over(struct state *state)
{
	struct state *next = NULL;
	const char *wrong;

	cr_assert_eq(state_inherit(state_fd(state), RECORDS, &next, &wrong), 0, "%s", wrong ? wrong : "");
	return next;
}

static void put_text(struct state *state, struct state_ref *ref, u64 key, const char *text)
{
	state_put(state, ref, KIND, key, text, strlen(text));
}

static const char *text_of(const struct state *state, u64 key)
{
	static char text[STATE_RECORD_MAX + 1];
	const struct state_record *record = state_find(state, KIND, key);

	if (!record)
		return "none";
	memcpy(text, record->bytes, record->length);
	text[record->length] = '\0';
	return text;
}

Test(state, without_a_commit_nothing_is_restored)
{
	_cleanup_(state_freep) struct state *state = new_state();
	struct state_ref ref = {0};
	struct state *next = NULL;
	const char *wrong;

	cr_assert_eq(state_inherit(state_fd(state), RECORDS, &next, &wrong), -ENODATA);
	put_text(state, &ref, 1, "one");
	cr_assert_eq(state_inherit(state_fd(state), RECORDS, &next, &wrong), -ENODATA);
}

Test(state, committed_records_are_restored)
{
	_cleanup_(state_freep) struct state *state = new_state();
	_cleanup_(state_freep) struct state *next = NULL;
	struct state_ref one = {0}, two = {0};
	size_t n;

	put_text(state, &two, 2, "two");
	put_text(state, &one, 1, "one");
	cr_assert_eq(state_commit(state), 0);
	next = taken_over(state);
	cr_assert_str_eq(text_of(next, 1), "one");
	cr_assert_str_eq(text_of(next, 2), "two");
	cr_assert_eq(state_records(next, KIND, &n)[0].key, 1);
	cr_assert_eq(n, 2);
	cr_assert_not(state_records(next, KIND + 1, &n) && n);
}

Test(state, uncommitted_records_are_not_restored)
{
	_cleanup_(state_freep) struct state *state = new_state();
	_cleanup_(state_freep) struct state *next = NULL;
	struct state_ref one = {0}, two = {0}, three = {0};

	put_text(state, &one, 1, "one");
	put_text(state, &two, 2, "two");
	(void)state_commit(state);
	put_text(state, &one, 1, "another");
	put_text(state, &one, 1, "and one more");
	put_text(state, &three, 3, "three");
	state_remove(state, &two);
	next = taken_over(state);
	cr_assert_str_eq(text_of(next, 1), "one");
	cr_assert_str_eq(text_of(next, 2), "two");
	cr_assert_str_eq(text_of(next, 3), "none");
}

Test(state, a_removed_record_can_be_added_again)
{
	_cleanup_(state_freep) struct state *state = new_state();
	_cleanup_(state_freep) struct state *next = NULL, *after = NULL;
	struct state_ref one = {0}, two = {0};

	put_text(state, &one, 1, "one");
	put_text(state, &two, 2, "two");
	(void)state_commit(state);
	state_remove(state, &one);
	state_remove(state, &two);
	put_text(state, &two, 2, "two again");
	(void)state_commit(state);
	next = taken_over(state);
	cr_assert_str_eq(text_of(next, 1), "none");
	cr_assert_str_eq(text_of(next, 2), "two again");
	state_take(next, state_find(next, KIND, 2), &two);
	state_settle(next);
	state_remove(next, &two);
	(void)state_commit(next);
	after = taken_over(next);
	cr_assert_str_eq(text_of(after, 2), "none");
}

Test(state, unclaimed_records_are_dropped_by_the_next_commit)
{
	_cleanup_(state_freep) struct state *state = new_state();
	_cleanup_(state_freep) struct state *next = NULL, *after = NULL;
	struct state_ref one = {0}, two = {0}, taken;

	put_text(state, &one, 1, "one");
	put_text(state, &two, 2, "two");
	(void)state_commit(state);
	next = taken_over(state);
	state_take(next, state_find(next, KIND, 2), &taken);
	state_settle(next);
	(void)state_commit(next);
	after = taken_over(next);
	cr_assert_str_eq(text_of(after, 1), "none");
	cr_assert_str_eq(text_of(after, 2), "two");
}

Test(state, freed_space_is_reused)
{
	_cleanup_(state_freep) struct state *state = new_state();
	struct state_ref refs[100] = {0};
	char text[1000];
	size_t bytes = 0;

	for (unsigned round = 0; round < 1000; round++) {
		for (unsigned i = 0; i < 100; i++) {
			memset(text, 'a' + (int)(round % 20), sizeof(text));
			state_put(state, &refs[i], KIND, i, text, 1 + (round * 7 + i * 13) % sizeof(text));
		}
		cr_assert_eq(state_commit(state), 0);
		if (round == 500)
			bytes = state_bytes(state);
	}
	cr_assert_eq(state_bytes(state), bytes);
	cr_assert_lt(bytes, (size_t)4 << 20);
}

Test(state, records_of_every_length_are_restored)
{
	_cleanup_(state_freep) struct state *state = new_state();
	_cleanup_(state_freep) struct state *next = NULL;
	static u8 bytes[STATE_RECORD_MAX + 1];
	static struct state_ref refs[STATE_RECORD_MAX + 1];
	size_t n;

	memset(bytes, 0xa5, sizeof(bytes));
	for (u32 length = 0; length <= STATE_RECORD_MAX; length += length < 3000 ? 1 : 997)
		state_put(state, &refs[length], KIND, length, bytes, length);
	state_put(state, &refs[1], KIND, STATE_RECORD_MAX, bytes, STATE_RECORD_MAX);
	cr_assert_eq(state_commit(state), 0);
	next = taken_over(state);
	for (const struct state_record *record = state_records(next, KIND, &n); n > 0; record++, n--) {
		cr_assert_eq(record->length, record->key);
		cr_assert_eq(memcmp(record->bytes, bytes, record->length), 0);
	}
}

Test(state, a_too_long_record_is_dropped_and_reported_once)
{
	_cleanup_(state_freep) struct state *state = new_state();
	static u8 bytes[STATE_RECORD_MAX + 1];
	struct state_ref one = {0}, two = {0};
	struct state *next = NULL;
	const char *wrong;

	put_text(state, &one, 1, "one");
	cr_assert_eq(state_commit(state), 0);
	state_put(state, &two, KIND, 2, bytes, sizeof(bytes));
	cr_assert_not(state_saves(state));
	cr_assert_eq(state_commit(state), -E2BIG);
	put_text(state, &one, 1, "another");
	cr_assert_eq(state_commit(state), 0);
	cr_assert_eq(state_inherit(state_fd(state), RECORDS, &next, &wrong), -EBADMSG);
	state_clear(state);
	cr_assert(state_saves(state));
	one = (struct state_ref){0};
	put_text(state, &one, 1, "one");
	cr_assert_eq(state_commit(state), 0);
	next = taken_over(state);
	cr_assert_str_eq(text_of(next, 1), "one");
	state_free(next);
}

Test(state, another_layout_is_refused)
{
	_cleanup_(state_freep) struct state *state = new_state();
	struct state *next = NULL;
	const char *wrong = NULL;

	(void)state_commit(state);
	cr_assert_eq(state_inherit(state_fd(state), RECORDS + 1, &next, &wrong), -EBADMSG);
	cr_assert_str_eq(wrong, "another version of pebsd saved the state");
}

Test(state, other_descriptors_are_refused)
{
	_cleanup_close_ int plain = memfd_create("plain", MFD_CLOEXEC);
	_cleanup_close_ int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	_cleanup_close_ int sealed = memfd_create("sealed", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	struct state *next = NULL;
	const char *wrong = NULL;

	cr_assert_eq(ftruncate(plain, 1 << 20), 0);
	cr_assert_eq(state_inherit(plain, RECORDS, &next, &wrong), -EBADMSG);
	cr_assert_eq(state_inherit(null, RECORDS, &next, &wrong), -EBADMSG);
	cr_assert_eq(fcntl(sealed, F_ADD_SEALS, F_SEAL_SHRINK), 0);
	cr_assert_eq(state_inherit(sealed, RECORDS, &next, &wrong), -EBADMSG);
	cr_assert_eq(ftruncate(sealed, 1 << 20), 0);
	cr_assert_eq(state_inherit(sealed, RECORDS, &next, &wrong), -EBADMSG);
	cr_assert_str_eq(wrong, "the saved state was not written by pebsd");
}

/*
 * Each byte of the header and of the first 20 units is damaged in turn. state_inherit() accepts or refuses the
 * state, but must not crash.
 */
Test(state, damage_is_survived)
{
	_cleanup_(state_freep) struct state *state = new_state();
	struct state_ref refs[20] = {0};
	u8 *memory;

	for (unsigned i = 0; i < 20; i++)
		put_text(state, &refs[i], i, "some text that is a record");
	(void)state_commit(state);
	memory = mmap(NULL, state_bytes(state), PROT_READ | PROT_WRITE, MAP_SHARED, state_fd(state), 0);
	cr_assert_neq(memory, MAP_FAILED);
	for (size_t at = 0; at < STATE_HEADER_BYTES + (size_t)20 * STATE_UNIT; at++) {
		u8 saved[STATE_HEADER_BYTES + 20 * STATE_UNIT];
		struct state *next = NULL;
		const char *wrong;

		memcpy(saved, memory, sizeof(saved));
		memory[at] ^= 0xff;
		if (state_inherit(state_fd(state), RECORDS, &next, &wrong) == 0)
			state_settle(next);
		state_free(next);
		memcpy(memory, saved, sizeof(saved));
	}
	(void)munmap(memory, state_bytes(state));
}

Test(state, without_a_state_nothing_is_kept)
{
	struct state_ref ref = {0};
	size_t n;

	put_text(NULL, &ref, 1, "one");
	state_remove(NULL, &ref);
	cr_assert_eq(state_commit(NULL), 0);
	cr_assert_not(state_saves(NULL));
	cr_assert_not(state_find(NULL, KIND, 1));
	cr_assert_not(state_records(NULL, KIND, &n));
	state_settle(NULL);
	state_clear(NULL);
	cr_assert_eq(state_fd(NULL), -1);
}

/* A child that counts in many records. After each commit, all of them have the same number. */
static void count_for_ever(struct state *state)
{
	enum { N = 50 };
	struct state_ref refs[N] = {0}, coming = {0};
	char text[400];

	for (u64 number = 1;; number++) {
		for (unsigned i = 0; i < N; i++) {
			int length = snprintf(text, sizeof(text), "%llu%*s", (unsigned long long)number,
					      (int)((number * 31 + (u64)i * 17) % 300), "");

			state_put(state, &refs[i], KIND, i, text, (size_t)length);
		}
		/* This record exists only for odd numbers. */
		if (number % 2)
			put_text(state, &coming, N, "here");
		else
			state_remove(state, &coming);
		if (state_commit(state) < 0)
			_exit(1);
	}
}

static u64 checked_number(struct state *state)
{
	_cleanup_(state_freep) struct state *next = taken_over(state);
	const struct state_record *records;
	u64 number;
	size_t n;

	records = state_records(next, KIND, &n);
	number = strtoull(text_of(next, 0), NULL, 10);
	cr_assert_eq(n, 50 + number % 2);
	for (size_t i = 0; i < 50; i++)
		cr_assert_eq(strtoull(text_of(next, i), NULL, 10), number);
	(void)records;
	return number;
}

Test(state, after_a_kill_a_commit_is_complete_or_absent)
{
	_cleanup_(state_freep) struct state *state = new_state();
	struct state_ref refs[50] = {0};
	u64 highest = 0;

	for (unsigned i = 0; i < 50; i++)
		put_text(state, &refs[i], i, "0");
	(void)state_commit(state);
	for (unsigned round = 0; round < 200; round++) {
		_cleanup_(state_freep) struct state *left = new_state();
		pid_t child = fork();
		int status;
		u64 number;

		if (child == 0)
			count_for_ever(left);
		usleep(500 + round * 23 % 1000);
		(void)kill(child, SIGKILL);
		(void)waitpid(child, &status, 0);
		cr_assert(WIFSIGNALED(status));
		{
			struct state *probe = NULL;
			const char *wrong;

			if (state_inherit(state_fd(left), RECORDS, &probe, &wrong) == -ENODATA)
				continue;
			state_free(probe);
		}
		number = checked_number(left);
		/* To inherit it again gives the same result. */
		cr_assert_eq(checked_number(left), number);
		highest = number > highest ? number : highest;
	}
	cr_assert_gt(highest, 1);
}

Test(state_bytes, numbers_are_read_back_and_invalid_ones_refused)
{
	static const u64 numbers[] = {0, 1, 127, 128, 1ULL << 32, 1ULL << 63, ~0ULL};
	static const u8 bad[] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02};
	u8 room[8 * VARINT_MAX];
	struct state_writer writer = {.to = room};
	struct state_reader reader;

	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
		state_put_number(&writer, numbers[i]);
	reader = (struct state_reader){.from = room, .end = writer.to};
	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
		cr_assert_eq(state_get_number(&reader), numbers[i]);
	cr_assert(state_read_whole(&reader));
	cr_assert_eq(state_get_number(&reader), 0);
	cr_assert(reader.bad);
	reader = (struct state_reader){.from = bad, .end = bad + sizeof(bad)};
	(void)state_get_number(&reader);
	cr_assert(reader.bad);
	reader = (struct state_reader){.from = bad, .end = bad + 1};
	(void)state_get_number(&reader);
	cr_assert(reader.bad);
}

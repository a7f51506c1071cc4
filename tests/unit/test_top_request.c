// SPDX-License-Identifier: GPL-2.0
#include <criterion/criterion.h>
#include <errno.h>

#include "base/json_get.h"
#include "ctl/top/top_request.h"

/* A daemon with rows 0 to `rows` - 1, of which one reply has at most `most`. */
struct fake {
	u64 rows, most;
	int calls, fails_at, moves_at; /* numbers of calls, from 1; 0: none */
};

static int answer(void *userdata, json_object *parameters, json_object **ret)
{
	_cleanup_json_ json_object *asked = parameters;
	json_object *reply = json_object_new_object(), *list = json_object_new_array();
	struct fake *fake = userdata;
	u64 offset = 0, limit = ~0ULL, row;

	cr_assert_not_null(asked);
	if (++fake->calls == fake->fails_at) {
		json_object_put(reply);
		json_object_put(list);
		return -ECONNRESET;
	}
	(void)json_get_u64(asked, "offset", &offset);
	(void)json_get_u64(asked, "limit", &limit);
	for (row = offset; row < fake->rows && row - offset < limit && row - offset < fake->most; row++) {
		json_object *value = json_object_new_object();

		json_object_object_add(value, "id", json_object_new_uint64(row));
		json_object_array_add(list, value);
	}
	json_object_object_add(reply, "cgroups", list);
	if (row < fake->rows && row - offset < limit)
		json_object_object_add(reply, "next", json_object_new_uint64(row));
	json_object_object_add(
		reply, "taken",
		json_object_new_string(fake->moves_at && fake->calls >= fake->moves_at ? "b" : "a"));
	*ret = reply;
	return 0;
}

/* Expects rows `first` to `first` + `n` - 1, each once. */
static void expect_rows(json_object *top, u64 first, size_t n)
{
	json_object *rows = json_get_array(top, "cgroups");

	cr_assert_not_null(rows);
	cr_expect_eq(json_object_array_length(rows), n, "%zu", json_object_array_length(rows));
	for (size_t i = 0; i < json_object_array_length(rows); i++) {
		u64 id;

		cr_expect(json_get_u64(json_object_array_get_idx(rows, i), "id", &id) && id == first + i);
	}
}

Test(top_request, rows_of_several_replies_are_joined)
{
	static const struct {
		struct fake fake;
		u64 offset, limit;
		size_t rows;
		int calls;
	} cases[] = {
		{{.rows = 100, .most = 100}, 0, 60, 60, 1},
		{{.rows = 100, .most = 7}, 0, 60, 60, 9},
		{{.rows = 100, .most = 1}, 20, 5, 5, 5},
		{{.rows = 10, .most = 4}, 3, 60, 7, 2},
		{{.rows = 0, .most = 4}, 0, 60, 0, 1},
		/* Nothing can be said about rows of another moment. */
		{{.rows = 100, .most = 7, .moves_at = 3}, 0, 60, 14, 3},
		/* A daemon that sends no row must not be asked forever. */
		{{.rows = 100, .most = 0}, 0, 60, 0, 1},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct top_request request = {
			.has_limit = true, .limit = cases[i].limit, .offset = cases[i].offset};
		_cleanup_json_ json_object *top = NULL;
		struct fake fake = cases[i].fake;

		cr_assert_eq(top_request_rows(&request, answer, &fake, &top), 0, "%zu", i);
		expect_rows(top, cases[i].offset, cases[i].rows);
		cr_expect_eq(fake.calls, cases[i].calls, "%zu: %d", i, fake.calls);
	}
}

Test(top_request, without_a_limit_all_rows_are_fetched)
{
	struct fake fake = {.rows = 100, .most = 30};
	_cleanup_json_ json_object *top = NULL;

	cr_assert_eq(top_request_rows(&(struct top_request){0}, answer, &fake, &top), 0);
	expect_rows(top, 0, 100);
}

Test(top_request, a_failed_call_is_the_result)
{
	for (int call = 1; call <= 3; call++) {
		struct fake fake = {.rows = 100, .most = 30, .fails_at = call};
		json_object *top = NULL;

		cr_expect_eq(top_request_rows(&(struct top_request){0}, answer, &fake, &top), -ECONNRESET);
		cr_expect_null(top);
	}
}

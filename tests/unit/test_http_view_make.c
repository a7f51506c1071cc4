// SPDX-License-Identifier: GPL-2.0
/* Why the history cannot answer a view. The functions of the history are those below. */
#include <criterion/criterion.h>

#include <errno.h>

#include "base/cleanup.h"
#include "http/http_view_make.h"

static int error;

int history_past(struct history *history, const struct history_query *query, const struct past **ret)
{
	(void)history;
	(void)query;
	(void)ret;
	return error;
}

int history_alerts(struct history *history, u64 since_us, u64 until_us, const char *cgroup, const char *rule,
		   const char **ret_json)
{
	(void)history;
	(void)since_us;
	(void)until_us;
	(void)cgroup;
	(void)rule;
	(void)ret_json;
	return error;
}

void history_describe(const struct history *history, struct history_state *ret)
{
	(void)history;
	*ret = (struct history_state){.on = true};
}

Test(http_view_make, failures_of_the_history_have_a_reason)
{
	static const struct {
		int error, refused;
		const char *reason;
	} failures[] = {
		{-ENODATA, -ENOENT, "Nothing is stored yet. The first figures are stored after 10 seconds."},
		{-E2BIG, -EINVAL, "The answer is too large. Ask for a shorter time or for one cgroup."},
		{-ETIME, -EBUSY,
		 "Reading the history takes more than 5 seconds. Ask for a shorter time or for one cgroup, or try again later."},
		{-ETIMEDOUT, -EBUSY, "The history did not answer in time. Try again later."},
		{-EUSERS, -EBUSY, "Too many requests for the history are waiting. Try again later."},
		{-EBUSY, -EBUSY, "Another program has locked the history. End it, or try again."},
	};
	static const enum http_view_kind kinds[] = {HTTP_VIEW_TIMELINE, HTTP_VIEW_RANGE, HTTP_VIEW_ALERTS};
	const struct http_view_sources sources = {.history = (struct history *)&error};

	for (size_t i = 0; i < ARRAY_SIZE(failures); i++)
		for (size_t j = 0; j < ARRAY_SIZE(kinds); j++) {
			const struct http_view view = {.kind = kinds[j], .since = 1, .until = 601, .bins = 6};
			_cleanup_free_ char *text = NULL, *message = NULL;
			size_t length;

			error = failures[i].error;
			cr_expect_eq(http_view_make(&sources, &view, &text, &length, &message),
				     failures[i].refused, "%s", failures[i].reason);
			cr_assert_not_null(message, "%s", failures[i].reason);
			cr_expect_str_eq(message, failures[i].reason);
		}
}

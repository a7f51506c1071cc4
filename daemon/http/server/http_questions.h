// SPDX-License-Identifier: GPL-2.0
/*
 * Requests that wait for an answer of pebsd's: each question is on its way once, and answers all whose
 * request came before it was asked. Pure but for the line.
 */
#ifndef PEBSD_HTTP_QUESTIONS_H
#define PEBSD_HTTP_QUESTIONS_H

#include <stdbool.h>
#include <sys/queue.h>

#include "http/shared/http_wire.h"

/* A form by its number, and the health. */
#define HTTP_QUESTION_HEALTH HTTP_FORMS
#define HTTP_QUESTION_KINDS  (HTTP_FORMS + 1)

struct http_requester {
	TAILQ_ENTRY(http_requester) entry;
	u32 kind;
	u64 since_ns;
	bool covered; /* the question that is under way was asked after its request */
};

TAILQ_HEAD(http_requesters, http_requester);

struct http_questions {
	int line;
	bool under_way[HTTP_QUESTION_KINDS];
	struct http_requesters requesters; /* the oldest first */
};

void http_questions_init(struct http_questions *questions, int line);

/* `requester` is the caller's, zeroed but for its place. `had`: the generation that is had of a form. 0 or
 * -errno, and then it does not wait. */
int http_questions_ask(struct http_questions *questions, struct http_requester *requester, u32 kind, u64 had,
		       u64 now_ns);

/* It waits no more. */
void http_questions_drop(struct http_questions *questions, struct http_requester *requester);

/* The answer of a kind came: takes those whom it answers out, into `ret`. Whoever came since is asked for
 * anew: -errno where that fails. -EBADMSG: nothing of the kind was asked. */
int http_questions_answered(struct http_questions *questions, u32 kind, u64 had, struct http_requesters *ret);

#endif

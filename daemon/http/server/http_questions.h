// SPDX-License-Identifier: GPL-2.0
/*
 * Requests that wait for an answer from pebsd. Each kind of question is asked only once at a time. Its answer
 * serves all requests that came before the question was sent. Pure, except for sending on `channel`.
 */
#ifndef PEBSD_HTTP_QUESTIONS_H
#define PEBSD_HTTP_QUESTIONS_H

#include <stdbool.h>
#include <sys/queue.h>

#include "http/shared/http_wire.h"

/* The kinds of questions: one for each form, by its number, and one for the health. */
#define HTTP_QUESTION_HEALTH HTTP_FORMS
#define HTTP_QUESTION_KINDS  (HTTP_FORMS + 1)

struct http_requester {
	TAILQ_ENTRY(http_requester) entry;
	u32 kind;
	u64 since_ns;
	bool covered; /* the question to the daemon was sent after the request came */
};

TAILQ_HEAD(http_requesters, http_requester);

struct http_questions {
	int channel;
	bool under_way[HTTP_QUESTION_KINDS];
	struct http_requesters requesters; /* oldest first */
};

void http_questions_init(struct http_questions *questions, int channel);

/*
 * Asks a question for `requester`, which the caller owns and has zeroed. `had`: the generation of the body
 * that is here already. Returns 0 or -errno; on error the requester does not wait.
 */
int http_questions_ask(struct http_questions *questions, struct http_requester *requester, u32 kind, u64 had,
		       u64 now_ns);

/* Removes a requester that waits. */
void http_questions_drop(struct http_questions *questions, struct http_requester *requester);

/*
 * The answer of a kind came: moves the requesters that it serves to `ret`. If other requests of this kind
 * came after the question was sent, asks again. Returns 0, or -errno if that fails. Returns -EBADMSG if no
 * such question was asked.
 */
int http_questions_answered(struct http_questions *questions, u32 kind, u64 had, struct http_requesters *ret);

#endif

// SPDX-License-Identifier: GPL-2.0
#include "http/server/http_questions.h"

#include <errno.h>
#include <stddef.h>

#include "http/shared/http_channel.h"

void http_questions_init(struct http_questions *questions, int channel)
{
	*questions = (struct http_questions){.channel = channel};
	TAILQ_INIT(&questions->requesters);
}

static int send_question(struct http_questions *questions, u32 kind, u64 had)
{
	struct http_message question = {.type = HTTP_ASK_HEALTH};
	struct http_requester *requester;
	int r;

	if (kind != HTTP_QUESTION_HEALTH)
		question = (struct http_message){.type = HTTP_ASK_BODY, .form = kind, .value = had};
	r = http_channel_send(questions->channel, &question, -1);
	if (r < 0)
		return r;
	questions->under_way[kind] = true;
	TAILQ_FOREACH (requester, &questions->requesters, entry)
		if (requester->kind == kind)
			requester->covered = true;
	return 0;
}

int http_questions_ask(struct http_questions *questions, struct http_requester *requester, u32 kind, u64 had,
		       u64 now_ns)
{
	int r;

	requester->kind = kind;
	requester->since_ns = now_ns;
	requester->covered = false;
	TAILQ_INSERT_TAIL(&questions->requesters, requester, entry);
	if (questions->under_way[kind])
		return 0;
	r = send_question(questions, kind, had);
	if (r < 0)
		TAILQ_REMOVE(&questions->requesters, requester, entry);
	return r;
}

void http_questions_drop(struct http_questions *questions, struct http_requester *requester)
{
	TAILQ_REMOVE(&questions->requesters, requester, entry);
}

int http_questions_answered(struct http_questions *questions, u32 kind, u64 had, struct http_requesters *ret)
{
	struct http_requester *requester, *next;
	bool others = false;

	TAILQ_INIT(ret);
	if (!questions->under_way[kind])
		return -EBADMSG;
	questions->under_way[kind] = false;
	for (requester = TAILQ_FIRST(&questions->requesters); requester; requester = next) {
		next = TAILQ_NEXT(requester, entry);
		if (requester->kind != kind)
			continue;
		if (!requester->covered) {
			others = true;
			continue;
		}
		TAILQ_REMOVE(&questions->requesters, requester, entry);
		TAILQ_INSERT_TAIL(ret, requester, entry);
	}
	return others ? send_question(questions, kind, had) : 0;
}

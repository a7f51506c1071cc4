// SPDX-License-Identifier: GPL-2.0
#include "http/server/http_questions.h"

#include <errno.h>
#include <sys/param.h>

#include "http/shared/http_line.h"

void http_questions_init(struct http_questions *questions, int line)
{
	*questions = (struct http_questions){.line = line};
	TAILQ_INIT(&questions->askers);
}

static int send_question(struct http_questions *questions, u32 kind, u64 had)
{
	struct http_message question = {.type = HTTP_ASK_HEALTH};
	struct http_asker *asker;
	int r;

	if (kind != HTTP_QUESTION_HEALTH)
		question = (struct http_message){.type = HTTP_ASK_BODY, .form = kind, .value = had};
	r = http_line_send(questions->line, &question, -1);
	if (r < 0)
		return r;
	questions->under_way[kind] = true;
	TAILQ_FOREACH (asker, &questions->askers, entry)
		if (asker->kind == kind)
			asker->covered = true;
	return 0;
}

int http_questions_ask(struct http_questions *questions, struct http_asker *asker, u32 kind, u64 had,
		       u64 now_ns)
{
	int r;

	asker->kind = kind;
	asker->since_ns = now_ns;
	asker->covered = false;
	TAILQ_INSERT_TAIL(&questions->askers, asker, entry);
	if (questions->under_way[kind])
		return 0;
	r = send_question(questions, kind, had);
	if (r < 0)
		TAILQ_REMOVE(&questions->askers, asker, entry);
	return r;
}

void http_questions_drop(struct http_questions *questions, struct http_asker *asker)
{
	TAILQ_REMOVE(&questions->askers, asker, entry);
}

int http_questions_answered(struct http_questions *questions, u32 kind, u64 had, struct http_askers *ret)
{
	struct http_asker *asker, *next;
	bool others = false;

	TAILQ_INIT(ret);
	if (!questions->under_way[kind])
		return -EBADMSG;
	questions->under_way[kind] = false;
	for (asker = TAILQ_FIRST(&questions->askers); asker; asker = next) {
		next = TAILQ_NEXT(asker, entry);
		if (asker->kind != kind)
			continue;
		if (!asker->covered) {
			others = true;
			continue;
		}
		TAILQ_REMOVE(&questions->askers, asker, entry);
		TAILQ_INSERT_TAIL(ret, asker, entry);
	}
	return others ? send_question(questions, kind, had) : 0;
}

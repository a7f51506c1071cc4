// SPDX-License-Identifier: GPL-2.0
#include "pipeline.h"

static struct pipeline_mark *mark_at(struct pipeline *pipeline, u32 index)
{
	return &pipeline->marks[(pipeline->first + index) % PIPELINE_MARKS];
}

static void add_mark(struct pipeline *pipeline)
{
	*mark_at(pipeline, pipeline->count++) =
		(struct pipeline_mark){pipeline->instruction, pipeline->retired};
}

void pipeline_open(struct pipeline *pipeline, u64 now)
{
	*pipeline = (struct pipeline){.entered = now, .retired = now};
	add_mark(pipeline);
}

/*
 * `number` instructions enter. The last one finds a place when the one before it by PIPELINE_WINDOW has retired. Of the
 * marks, only the last one up to that instruction is needed, and later ones. There are at most PIPELINE_WINDOW + 1 of
 * them, because each is another instruction.
 */
static void enter(struct pipeline *pipeline, u64 number)
{
	const struct pipeline_mark *mark;
	u64 leaving, free;

	pipeline->instruction += number;
	pipeline->entered += number;
	if (pipeline->instruction < PIPELINE_WINDOW)
		return;
	leaving = pipeline->instruction - PIPELINE_WINDOW;
	while (pipeline->count > 1 && mark_at(pipeline, 1)->instruction <= leaving) {
		pipeline->first = (pipeline->first + 1) % PIPELINE_MARKS;
		pipeline->count--;
	}
	mark = mark_at(pipeline, 0);
	free = mark->retired + (leaving - mark->instruction);
	if (pipeline->entered < free)
		pipeline->entered = free;
}

void pipeline_pass(struct pipeline *pipeline, u64 instructions)
{
	enter(pipeline, instructions);
	pipeline->retired += instructions;
}

u64 pipeline_enter(struct pipeline *pipeline, u64 known)
{
	enter(pipeline, 1);
	return pipeline->entered > known ? pipeline->entered : known;
}

u64 pipeline_retire(struct pipeline *pipeline, u64 done)
{
	u64 next = pipeline->retired + 1;

	pipeline->retired = done > next ? done : next;
	if (done > next)
		add_mark(pipeline);
	return pipeline->retired - next;
}

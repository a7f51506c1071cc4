// SPDX-License-Identifier: GPL-2.0
#include "sampling/pause_saved.h"

#include <time.h>

/* The contents of the part HANDOVER_PAUSE. */
struct pause_copy {
	u32 paused;
	u32 ends;
	u64 until_ns; /* CLOCK_BOOTTIME, like the timer in pause.c: time in suspend counts as paused */
};

struct pause_part {
	u32 current;
	u32 reserved;
	struct pause_copy copies[2];
};

static u64 boot_ns(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_BOOTTIME, &now);
	return (u64)now.tv_sec * NSEC_PER_SEC + (u64)now.tv_nsec;
}

static struct pause_part *own_part(struct handover *handover)
{
	void *part = NULL;

	return handover && handover_part(handover, HANDOVER_PAUSE, sizeof(struct pause_part), &part) == 0
		       ? part
		       : NULL;
}

bool pause_inherited(struct handover *handover, struct maybe_double *ret_seconds)
{
	const struct pause_part *before =
		handover ? handover_before(handover, HANDOVER_PAUSE, sizeof(struct pause_part)) : NULL;
	struct pause_part *own = own_part(handover);
	struct pause_copy copy;
	u64 now = boot_ns();

	*ret_seconds = (struct maybe_double){0};
	if (!own)
		return false;
	copy = own->copies[own->current & 1];
	if (!copy.paused && before && before != own) {
		copy = before->copies[before->current & 1];
		handover_commit_copy(&own->current, own->copies, &copy, sizeof(copy));
	}
	if (!copy.paused || (copy.ends && copy.until_ns <= now))
		return false;
	if (copy.ends)
		*ret_seconds = (struct maybe_double){
			.known = true, .value = (double)(copy.until_ns - now) / (double)NSEC_PER_SEC};
	return true;
}

void pause_save(struct handover *handover, bool paused, const struct maybe_double *seconds)
{
	struct pause_part *own = own_part(handover);
	struct pause_copy copy = {.paused = paused};

	if (!own)
		return;
	if (paused && seconds->known) {
		copy.ends = 1;
		copy.until_ns = boot_ns() + (u64)(seconds->value * (double)NSEC_PER_SEC);
	}
	handover_commit_copy(&own->current, own->copies, &copy, sizeof(copy));
}

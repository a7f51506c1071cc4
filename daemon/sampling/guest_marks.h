// SPDX-License-Identifier: GPL-2.0
/*
 * Marks the cgroups that hold virtual machines: what a guest loads is never sampled, so that such a cgroup's
 * figures are those of its host side alone. Looks now and then, for what that costs: it grows with the
 * threads of the system, each a third of a microsecond where it was measured (Linux 6.18, 5,000 threads).
 */
#ifndef PEBSD_GUEST_MARKS_H
#define PEBSD_GUEST_MARKS_H

#include "engine/engine.h"
#include "kernel/guests.h"

/* As long as nothing was born; and after a birth, so that a machine has begun to run. */
#define GUEST_MARKS_IDLE_NS  (30 * NSEC_PER_SEC)
#define GUEST_MARKS_BIRTH_NS (3 * NSEC_PER_SEC)

/* At most one part in so many of the time goes into looking. */
#define GUEST_MARKS_SHARE 1000

struct guest_marks {
	struct guests *guests; /* NULL: it cannot be found out */
	u64 looked_ns;         /* CLOCK_MONOTONIC, when; 0: never */
	u64 took_ns;           /* how long that took */
	u64 births;            /* cgroups born until then */
	bool failed;           /* told of already */
	bool found;            /* told of already */
};

/*
 * Whether guests are left out of what is sampled or counted. Of AMD's IBS, whose events alone filter
 * operations, nothing can be left out (perf_ibs_init, arch/x86/events/amd/ibs.c, Linux 6.1): a mark would say
 * what is not so. Pure.
 */
bool guest_marks_wanted(const struct event *events, size_t n, bool offcore);

/* Where it cannot be found out, that is told, and nothing is ever marked. */
void guest_marks_open(struct guest_marks *ret);
void guest_marks_done(struct guest_marks *marks);

/* Looks if it is time, and has the engine mark what was found. */
void guest_marks_tick(struct guest_marks *marks, struct engine *engine);

/* Whether it is time: `births` so far. Pure. */
bool guest_marks_due(const struct guest_marks *marks, u64 now_ns, u64 births);

#endif

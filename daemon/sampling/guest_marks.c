// SPDX-License-Identifier: GPL-2.0
#include "sampling/guest_marks.h"

#include <string.h>
#include <time.h>

#include "base/log.h"
#include "base/monotonic.h"

bool guest_marks_wanted(const struct event *events, size_t n, bool offcore)
{
	for (size_t i = 0; i < n; i++)
		if (!events[i].settings.operations)
			return true;
	return offcore;
}

void guest_marks_open(struct guest_marks *ret)
{
	_cleanup_free_ char *message = NULL;
	int r;

	*ret = (struct guest_marks){0};
	r = guests_open(false, &ret->guests, &message);
	if (r < 0)
		log_notice("cannot mark cgroups with virtual machines, so any cgroup may contain one: %s",
			   message ? message : strerror(-r));
}

void guest_marks_done(struct guest_marks *marks)
{
	marks->guests = guests_free(marks->guests);
}

bool guest_marks_due(const struct guest_marks *marks, u64 now_ns, u64 births)
{
	u64 since = now_ns - marks->looked_ns;
	u64 wanted = births > marks->births ? GUEST_MARKS_BIRTH_NS : GUEST_MARKS_IDLE_NS;

	if (marks->looked_ns == 0)
		return true;
	return since >= wanted && since >= marks->took_ns * GUEST_MARKS_SHARE;
}

/* Logs a failure when it begins, and the first time that virtual machines are found. */
static void log_result(struct guest_marks *marks, int error, size_t n)
{
	if (error < 0 && !marks->failed)
		(void)log_warning(
			error,
			"cannot search for cgroups with virtual machines, so new ones are not marked; pebsd tries again");
	marks->failed = error < 0;
	if (n > 0 && !marks->found)
		log_notice("virtual machines run in %zu cgroup%s: their guests are not sampled, "
			   "and these cgroups are marked accordingly",
			   n, n == 1 ? "" : "s");
	marks->found = marks->found || n > 0;
}

void guest_marks_tick(struct guest_marks *marks, struct engine *engine)
{
	_cleanup_free_ u64 *ids = NULL;
	u64 births = kernel_slot_counters(engine_kernel(engine)).births;
	u64 now = monotonic_ns();
	size_t n = 0;
	int r;

	if (!marks->guests || !guest_marks_due(marks, now, births))
		return;
	r = guests_find(marks->guests, &ids, &n);
	log_result(marks, r, n);
	/*
	 * Marks stay after a virtual machine is gone, because it was running while its cgroup's counters
	 * grew.
	 */
	if (r == 0)
		engine_mark_guests(engine, TAKE_PTR(ids), n);
	marks->looked_ns = now;
	marks->took_ns = monotonic_ns() - now;
	marks->births = births;
}

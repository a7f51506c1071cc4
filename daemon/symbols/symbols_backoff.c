// SPDX-License-Identifier: GPL-2.0
#include "symbols/symbols_backoff.h"

bool symbols_backoff_may_start(const struct symbols_backoff *backoff, u64 now_ns)
{
	u64 oldest = backoff->starts[backoff->next];

	return oldest == 0 || now_ns - oldest >= SYMBOLS_BACKOFF_SPAN_NS;
}

void symbols_backoff_started(struct symbols_backoff *backoff, u64 now_ns)
{
	backoff->starts[backoff->next] = now_ns;
	backoff->next = (backoff->next + 1) % SYMBOLS_BACKOFF_STARTS;
}

void symbols_backoff_add(struct symbols_backoff *backoff, u32 pid, u64 now_ns)
{
	unsigned int at = 0;

	for (unsigned int i = 0; i < SYMBOLS_BACKOFF_PIDS; i++) {
		if (backoff->pids[i].failures && backoff->pids[i].pid == pid) {
			if (now_ns - backoff->pids[i].last_ns > SYMBOLS_BACKOFF_KEPT_NS)
				backoff->pids[i].failures = 0;
			backoff->pids[i].failures++;
			backoff->pids[i].last_ns = now_ns;
			return;
		}
		if (backoff->pids[i].last_ns < backoff->pids[at].last_ns)
			at = i;
	}
	backoff->pids[at].pid = pid;
	backoff->pids[at].failures = 1;
	backoff->pids[at].last_ns = now_ns;
}

bool symbols_backoff_is_barred(const struct symbols_backoff *backoff, u32 pid, u64 now_ns)
{
	for (unsigned int i = 0; i < SYMBOLS_BACKOFF_PIDS; i++)
		if (backoff->pids[i].pid == pid && backoff->pids[i].failures >= SYMBOLS_BACKOFF_FAILURES)
			return now_ns - backoff->pids[i].last_ns <= SYMBOLS_BACKOFF_KEPT_NS;
	return false;
}

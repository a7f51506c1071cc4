// SPDX-License-Identifier: GPL-2.0
#include "symbols/symbols_blame.h"

bool symbols_blame_may_start(const struct symbols_blame *blame, u64 now_ns)
{
	u64 oldest = blame->starts[blame->next];

	return oldest == 0 || now_ns - oldest >= SYMBOLS_BLAME_SPAN_NS;
}

void symbols_blame_started(struct symbols_blame *blame, u64 now_ns)
{
	blame->starts[blame->next] = now_ns;
	blame->next = (blame->next + 1) % SYMBOLS_BLAME_STARTS;
}

void symbols_blame_add(struct symbols_blame *blame, u32 pid, u64 now_ns)
{
	unsigned int at = 0;

	for (unsigned int i = 0; i < SYMBOLS_BLAME_PIDS; i++) {
		if (blame->pids[i].failures && blame->pids[i].pid == pid) {
			if (now_ns - blame->pids[i].last_ns > SYMBOLS_BLAME_KEPT_NS)
				blame->pids[i].failures = 0;
			blame->pids[i].failures++;
			blame->pids[i].last_ns = now_ns;
			return;
		}
		if (blame->pids[i].last_ns < blame->pids[at].last_ns)
			at = i;
	}
	blame->pids[at].pid = pid;
	blame->pids[at].failures = 1;
	blame->pids[at].last_ns = now_ns;
}

bool symbols_blame_is_barred(const struct symbols_blame *blame, u32 pid, u64 now_ns)
{
	for (unsigned int i = 0; i < SYMBOLS_BLAME_PIDS; i++)
		if (blame->pids[i].pid == pid && blame->pids[i].failures >= SYMBOLS_BLAME_FAILURES)
			return now_ns - blame->pids[i].last_ns <= SYMBOLS_BLAME_KEPT_NS;
	return false;
}

// SPDX-License-Identifier: GPL-2.0
#include "policy/decide.h"

#include "base/cleanup.h"

static void enter(struct decision *decision, enum alert_state state, u64 now_ns)
{
	decision->state = state;
	decision->since_ns = now_ns;
	decision->held_ns = 0;
}

static void fire_when_held(const struct rule *rule, struct decision *decision, u64 now_ns)
{
	if (decision->held_ns >= rule->for_ns)
		enter(decision, ALERT_FIRING, now_ns);
}

static void judge_known(const struct rule *rule, const struct finding *finding, struct decision *decision)
{
	bool breach = finding->verdict == VERDICT_BREACH;

	decision->at_ns = finding->now_ns;
	switch (decision->state) {
	case ALERT_INACTIVE:
	case ALERT_RESOLVED:
		if (breach) {
			enter(decision, ALERT_PENDING, finding->now_ns);
			fire_when_held(rule, decision, finding->now_ns);
		}
		break;
	case ALERT_PENDING:
		if (!breach) {
			enter(decision, ALERT_INACTIVE, finding->now_ns);
		} else {
			decision->held_ns += finding->elapsed_ns;
			fire_when_held(rule, decision, finding->now_ns);
		}
		break;
	case ALERT_FIRING:
		if (finding->verdict == VERDICT_CLEAR)
			enter(decision, ALERT_RESOLVED, finding->now_ns);
		break;
	}
}

bool decide(const struct rule *rule, const struct finding *finding, struct decision *decision,
	    enum alert_state *ret_from)
{
	enum alert_state from = decision->state;

	*ret_from = from;
	decision->unknown = finding->unknown;
	if (finding->unknown == UNKNOWN_NOT)
		judge_known(rule, finding, decision);
	/* This depends on time alone, so it also applies while the verdict is unknown. */
	if (decision->state == ALERT_RESOLVED && finding->now_ns > decision->since_ns &&
	    finding->now_ns - decision->since_ns >= DECIDE_RESOLVED_NS)
		enter(decision, ALERT_INACTIVE, finding->now_ns);
	return decision->state != from;
}

const char *alert_state_word(enum alert_state state)
{
	static const char *const words[] = {"inactive", "pending", "firing", "resolved"};

	return words[state];
}

const char *unknown_reason_word(enum unknown_reason reason)
{
	static const char *const words[] = {
		[UNKNOWN_NOT] = "known",
		[UNKNOWN_WINDOW] = "window",
		[UNKNOWN_SAMPLES] = "samples",
		[UNKNOWN_SOURCE] = "source",
		[UNKNOWN_MULTIPLEXED] = "multiplexed",
		[UNKNOWN_LOST] = "lost",
		[UNKNOWN_BASELINE] = "baseline",
		[UNKNOWN_BURSTS] = "bursts",
		[UNKNOWN_FREQUENCY] = "frequency",
		[UNKNOWN_NO_SLOT] = "no_slot",
		[UNKNOWN_SUBTREE_NO_SLOT] = "subtree_no_slot",
		[UNKNOWN_NOT_MEASURED] = "not_measured",
	};

	return words[reason];
}

const char *unknown_reason_text(enum unknown_reason reason)
{
	static const char *const texts[] = {
		[UNKNOWN_NOT] = "known",
		[UNKNOWN_WINDOW] = "the window is not covered yet",
		[UNKNOWN_SAMPLES] = "too few samples",
		[UNKNOWN_SOURCE] = "not sampled for a tenth of the window or more",
		[UNKNOWN_MULTIPLEXED] = "the counter ran for less than a quarter of the time",
		[UNKNOWN_LOST] = "more than a tenth of the samples were lost",
		[UNKNOWN_BASELINE] = "the baseline has too few samples, or covers too little time, so far",
		[UNKNOWN_BURSTS] = "the samples came in bursts, and the window has too few bursts",
		[UNKNOWN_FREQUENCY] = "the running frequency of the CPUs is not known",
		[UNKNOWN_NO_SLOT] = "the cgroup has no slot",
		[UNKNOWN_SUBTREE_NO_SLOT] = "cgroups of the subtree have no slot, or had none in the window",
		[UNKNOWN_NOT_MEASURED] = "not measured here",
	};

	return texts[reason];
}

const char *alert_end_word(enum alert_end end)
{
	static const char *const words[] = {"clear", "gone", "rule", "ignored"};

	return words[end];
}

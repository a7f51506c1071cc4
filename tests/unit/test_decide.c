// SPDX-License-Identifier: GPL-2.0
#include <criterion/criterion.h>

#include "base/cleanup.h"
#include "policy/alert.h"
#include "policy/decide.h"

#define S NSEC_PER_SEC

/* A finding of a collection that covers a second, applied to a decision. `for_s`: the rule's `for` in seconds. */
struct step {
	const char *name;
	u64 for_s;
	struct decision before;
	struct finding finding;
	struct decision after;
};

static const struct step steps[] = {
	{"nothing proven: inactive",
	 60,
	 {ALERT_INACTIVE, UNKNOWN_NOT, 9 * S, 1 * S, 0},
	 {UNKNOWN_NOT, VERDICT_BETWEEN, 10 * S, S},
	 {ALERT_INACTIVE, UNKNOWN_NOT, 10 * S, 1 * S, 0}},
	{"clear: inactive",
	 60,
	 {ALERT_INACTIVE, UNKNOWN_SAMPLES, 0, 1 * S, 0},
	 {UNKNOWN_NOT, VERDICT_CLEAR, 10 * S, S},
	 {ALERT_INACTIVE, UNKNOWN_NOT, 10 * S, 1 * S, 0}},
	{"a breach: pending, and its time begins here",
	 60,
	 {ALERT_INACTIVE, UNKNOWN_NOT, 9 * S, 1 * S, 0},
	 {UNKNOWN_NOT, VERDICT_BREACH, 10 * S, S},
	 {ALERT_PENDING, UNKNOWN_NOT, 10 * S, 10 * S, 0}},
	{"for 0: a breach fires at once",
	 0,
	 {ALERT_INACTIVE, UNKNOWN_NOT, 9 * S, 1 * S, 0},
	 {UNKNOWN_NOT, VERDICT_BREACH, 10 * S, S},
	 {ALERT_FIRING, UNKNOWN_NOT, 10 * S, 10 * S, 0}},
	{"unknown: inactive, though it looks like a breach",
	 0,
	 {ALERT_INACTIVE, UNKNOWN_NOT, 9 * S, 1 * S, 0},
	 {UNKNOWN_SAMPLES, VERDICT_BREACH, 10 * S, S},
	 {ALERT_INACTIVE, UNKNOWN_SAMPLES, 9 * S, 1 * S, 0}},

	{"pending: a breach counts on",
	 60,
	 {ALERT_PENDING, UNKNOWN_NOT, 9 * S, 5 * S, 4 * S},
	 {UNKNOWN_NOT, VERDICT_BREACH, 10 * S, S},
	 {ALERT_PENDING, UNKNOWN_NOT, 10 * S, 5 * S, 5 * S}},
	{"pending: one short of `for`",
	 60,
	 {ALERT_PENDING, UNKNOWN_NOT, 69 * S, 10 * S, 58 * S},
	 {UNKNOWN_NOT, VERDICT_BREACH, 70 * S, S},
	 {ALERT_PENDING, UNKNOWN_NOT, 70 * S, 10 * S, 59 * S}},
	{"pending: `for` is over",
	 60,
	 {ALERT_PENDING, UNKNOWN_NOT, 69 * S, 10 * S, 59 * S},
	 {UNKNOWN_NOT, VERDICT_BREACH, 70 * S, S},
	 {ALERT_FIRING, UNKNOWN_NOT, 70 * S, 70 * S, 0}},
	{"pending: not proven any more",
	 60,
	 {ALERT_PENDING, UNKNOWN_NOT, 9 * S, 5 * S, 4 * S},
	 {UNKNOWN_NOT, VERDICT_BETWEEN, 10 * S, S},
	 {ALERT_INACTIVE, UNKNOWN_NOT, 10 * S, 10 * S, 0}},
	{"pending: clear",
	 60,
	 {ALERT_PENDING, UNKNOWN_NOT, 9 * S, 5 * S, 4 * S},
	 {UNKNOWN_NOT, VERDICT_CLEAR, 10 * S, S},
	 {ALERT_INACTIVE, UNKNOWN_NOT, 10 * S, 10 * S, 0}},
	{"pending: unknown is neither for nor against",
	 60,
	 {ALERT_PENDING, UNKNOWN_NOT, 9 * S, 5 * S, 59 * S},
	 {UNKNOWN_SOURCE, VERDICT_BETWEEN, 10 * S, S},
	 {ALERT_PENDING, UNKNOWN_SOURCE, 9 * S, 5 * S, 59 * S}},
	{"pending: after the unknown its time goes on, without the gap",
	 60,
	 {ALERT_PENDING, UNKNOWN_SOURCE, 9 * S, 5 * S, 4 * S},
	 {UNKNOWN_NOT, VERDICT_BREACH, 30 * S, S},
	 {ALERT_PENDING, UNKNOWN_NOT, 30 * S, 5 * S, 5 * S}},

	{"firing: a breach goes on",
	 60,
	 {ALERT_FIRING, UNKNOWN_NOT, 9 * S, 5 * S, 0},
	 {UNKNOWN_NOT, VERDICT_BREACH, 10 * S, S},
	 {ALERT_FIRING, UNKNOWN_NOT, 10 * S, 5 * S, 0}},
	{"firing: between does not resolve",
	 60,
	 {ALERT_FIRING, UNKNOWN_NOT, 9 * S, 5 * S, 0},
	 {UNKNOWN_NOT, VERDICT_BETWEEN, 10 * S, S},
	 {ALERT_FIRING, UNKNOWN_NOT, 10 * S, 5 * S, 0}},
	{"firing: unknown does not resolve",
	 60,
	 {ALERT_FIRING, UNKNOWN_NOT, 9 * S, 5 * S, 0},
	 {UNKNOWN_LOST, VERDICT_CLEAR, 10 * S, S},
	 {ALERT_FIRING, UNKNOWN_LOST, 9 * S, 5 * S, 0}},
	{"firing: clear does",
	 60,
	 {ALERT_FIRING, UNKNOWN_NOT, 9 * S, 5 * S, 0},
	 {UNKNOWN_NOT, VERDICT_CLEAR, 10 * S, S},
	 {ALERT_RESOLVED, UNKNOWN_NOT, 10 * S, 10 * S, 0}},

	{"resolved: stays",
	 60,
	 {ALERT_RESOLVED, UNKNOWN_NOT, 9 * S, 5 * S, 0},
	 {UNKNOWN_NOT, VERDICT_CLEAR, 10 * S, S},
	 {ALERT_RESOLVED, UNKNOWN_NOT, 10 * S, 5 * S, 0}},
	{"resolved: pending again",
	 60,
	 {ALERT_RESOLVED, UNKNOWN_NOT, 9 * S, 5 * S, 0},
	 {UNKNOWN_NOT, VERDICT_BREACH, 10 * S, S},
	 {ALERT_PENDING, UNKNOWN_NOT, 10 * S, 10 * S, 0}},
	{"resolved: fires again with for 0",
	 0,
	 {ALERT_RESOLVED, UNKNOWN_NOT, 9 * S, 5 * S, 0},
	 {UNKNOWN_NOT, VERDICT_BREACH, 10 * S, S},
	 {ALERT_FIRING, UNKNOWN_NOT, 10 * S, 10 * S, 0}},
	{"resolved: not yet an hour",
	 60,
	 {ALERT_RESOLVED, UNKNOWN_NOT, 9 * S, 5 * S, 0},
	 {UNKNOWN_NOT, VERDICT_BETWEEN, 3604 * S, S},
	 {ALERT_RESOLVED, UNKNOWN_NOT, 3604 * S, 5 * S, 0}},
	{"resolved: after an hour inactive",
	 60,
	 {ALERT_RESOLVED, UNKNOWN_NOT, 9 * S, 5 * S, 0},
	 {UNKNOWN_NOT, VERDICT_BETWEEN, 3605 * S, S},
	 {ALERT_INACTIVE, UNKNOWN_NOT, 3605 * S, 3605 * S, 0}},
	{"resolved: the hour passes in the unknown, too",
	 60,
	 {ALERT_RESOLVED, UNKNOWN_NOT, 9 * S, 5 * S, 0},
	 {UNKNOWN_SAMPLES, VERDICT_BETWEEN, 3605 * S, S},
	 {ALERT_INACTIVE, UNKNOWN_SAMPLES, 9 * S, 3605 * S, 0}},
};

Test(decide, an_alert_that_fires_again_is_not_forgotten)
{
	cr_expect(transition_forgets(&(struct transition){.from = ALERT_RESOLVED, .to = ALERT_INACTIVE}));
	cr_expect_not(transition_forgets(&(struct transition){.from = ALERT_RESOLVED, .to = ALERT_FIRING}));
	cr_expect_not(transition_forgets(&(struct transition){.from = ALERT_RESOLVED, .to = ALERT_PENDING}));
	cr_expect_not(transition_forgets(&(struct transition){.from = ALERT_PENDING, .to = ALERT_INACTIVE}));
}

Test(decide, each_transition_is_decided)
{
	for (size_t i = 0; i < ARRAY_SIZE(steps); i++) {
		const struct step *step = &steps[i];
		const struct rule rule = {.for_ns = step->for_s * S};
		struct decision decision = step->before;
		enum alert_state from = 99;
		bool changed = decide(&rule, &step->finding, &decision, &from);

		cr_expect_eq(decision.state, step->after.state, "%s: state %d", step->name, decision.state);
		cr_expect_eq(decision.unknown, step->after.unknown, "%s: unknown %d", step->name,
			     decision.unknown);
		cr_expect_eq(decision.at_ns, step->after.at_ns, "%s: at", step->name);
		cr_expect_eq(decision.since_ns, step->after.since_ns, "%s: since", step->name);
		cr_expect_eq(decision.held_ns, step->after.held_ns, "%s: held", step->name);
		cr_expect_eq(changed, step->before.state != step->after.state, "%s: changed", step->name);
		cr_expect_eq(from, step->before.state, "%s: from", step->name);
	}
}

Test(decide, states_have_words)
{
	cr_expect_str_eq(alert_state_word(ALERT_INACTIVE), "inactive");
	cr_expect_str_eq(alert_state_word(ALERT_RESOLVED), "resolved");
	cr_expect_str_eq(unknown_reason_word(UNKNOWN_WINDOW), "window");
	cr_expect_str_eq(unknown_reason_word(UNKNOWN_BURSTS), "bursts");
	cr_expect_str_eq(unknown_reason_word(UNKNOWN_FREQUENCY), "frequency");
	cr_expect_str_eq(unknown_reason_text(UNKNOWN_FREQUENCY),
			 "the running frequency of the CPUs is not known");
	cr_expect_str_eq(unknown_reason_word(UNKNOWN_NO_SLOT), "no_slot");
	cr_expect_str_eq(unknown_reason_word(UNKNOWN_NOT_MEASURED), "not_measured");
	cr_expect_str_eq(unknown_reason_text(UNKNOWN_SAMPLES), "too few samples");
	cr_expect_str_eq(alert_end_word(ALERT_END_IGNORED), "ignored");
}

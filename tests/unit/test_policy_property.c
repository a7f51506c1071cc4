// SPDX-License-Identifier: GPL-2.0
/*
 * Random series from a seed. Each transition must rest on evidence that this test computes from the samples
 * by sums of binomial probabilities. No transition that is due may be missing.
 */
#include <criterion/criterion.h>
#include <math.h>

#include "estimate/bursts.h"
#include "policy_fixture.h"
#include "random_numbers.h"

#define PATHS   6
#define SECONDS 400
#define WINDOW  10
#define FOR     5
#define MIN     20
#define SEEDS   12
#define RULES   3
#define CERTAIN 1e-9 /* tolerance for rounding between two ways to compute the same number */

static char *everything[] = {"/**"};

static u64 next_random(u64 *state)
{
	return xorshift(state) >> 11;
}

/* The slow and fast samples of one second. */
struct raw {
	u64 slow;
	u64 fast;
};

static struct raw came[PATHS][SECONDS];

/* Phases of random length, each with its own rate and share. Some phases have no samples. */
static void make_series(u64 seed)
{
	u64 state = seed * 0x9e3779b97f4a7c15ULL + 1;

	for (unsigned p = 0; p < PATHS; p++) {
		u64 left = 0;
		u64 most = 0;
		u64 slow_of_100 = 0;

		for (unsigned s = 0; s < SECONDS; s++, left--) {
			u64 n;

			if (!left) {
				left = 1 + next_random(&state) % 50;
				most = next_random(&state) % 5 ? 2 + next_random(&state) % 40 : 0;
				slow_of_100 = next_random(&state) % 101;
			}
			n = most ? next_random(&state) % most : 0;
			came[p][s] = (struct raw){0};
			for (u64 i = 0; i < n; i++) {
				if (next_random(&state) % 100 < slow_of_100)
					came[p][s].slow++;
				else
					came[p][s].fast++;
			}
		}
	}
}

/*
 * A share, its mirror, and the same rule as a quantile: p50 is above 100 cycles if more than half of the
 * samples are slow.
 */
static void make_rules(struct rule rules[RULES])
{
	rules[0] = fixture_rule("share", everything);
	rules[1] = fixture_rule("mirror", everything);
	rules[1].metric.source = SOURCE_L1;
	rules[1].below = true;
	rules[1].threshold = 0.5;
	rules[1].clear = 0.6;
	rules[2] = fixture_rule("quantile", everything);
	rules[2].metric = (struct metric){.kind = METRIC_QUANTILE, .quantile = 0.5};
	rules[2].threshold = 100;
	rules[2].clear = 90;
	for (unsigned i = 0; i < RULES; i++)
		cr_assert(rules[i].window_ns == WINDOW * NSEC_PER_SEC &&
			  rules[i].for_ns == FOR * NSEC_PER_SEC && rules[i].min_samples == MIN);
}

/* The probability of at least k of n, each with the probability p. */
static double at_least(u64 k, u64 n, double p)
{
	double sum = 0;

	for (u64 i = k; i <= n; i++)
		sum += exp(lgamma((double)n + 1) - lgamma((double)i + 1) - lgamma((double)(n - i) + 1) +
			   (double)i * log(p) + (double)(n - i) * log1p(-p));
	return sum;
}

/* The effect of bursts in a window. Seconds before the path's first sample are left out. */
static double burstiness(unsigned path, unsigned second)
{
	struct burst_series series = {.of_samples = true};
	double slow = 0, n = 0;
	bool began = false;

	for (unsigned s = 0; s <= second; s++) {
		double here = (double)(came[path][s].slow + came[path][s].fast);

		began = began || here > 0;
		if (!began || s + WINDOW <= second)
			continue;
		series.parts[series.n++] = (struct burst_part){here, (double)came[path][s].slow};
		n += here;
		slow += (double)came[path][s].slow;
	}
	series.variance = n > 0 ? slow * (n - slow) / n : 0;
	return bursts_effect(&series, 0.95);
}

struct proof {
	bool known;
	bool even;     /* the samples look independent, so their evidence counts in full */
	double breach; /* probability of at least this many slow samples if the value is at its threshold */
	double clear;  /* probability of at least this many fast samples if the value is at `clear` */
};

/* In all three rules, slow samples count towards a breach. */
static struct proof prove(unsigned rule, unsigned path, unsigned second)
{
	struct raw sum = {0};
	struct proof proof = {0};
	u64 n;

	for (unsigned s = second + 1 < WINDOW ? 0 : second + 1 - WINDOW; s <= second; s++) {
		sum.slow += came[path][s].slow;
		sum.fast += came[path][s].fast;
	}
	n = sum.slow + sum.fast;
	proof.known = second + 1 >= WINDOW && n >= MIN;
	if (!proof.known)
		return proof;
	proof.even = burstiness(path, second) <= 1;
	proof.breach = at_least(sum.slow, n, 0.5);
	proof.clear = at_least(sum.fast, n, rule == 2 ? 0.5 : 0.6);
	return proof;
}

struct seen {
	enum alert_state state;
	unsigned pending;  /* second when it became pending */
	unsigned resolved; /* second when it was last resolved; 0: never */
	unsigned proven;   /* number of seconds in a row with a proven breach */
};

static void follow(const struct transition *transition, unsigned rule, unsigned path, unsigned second,
		   struct seen *seen)
{
	struct proof proof = prove(rule, path, second);

	cr_assert_eq(transition->from, seen->state);
	cr_assert(proof.known, "what is unknown changes nothing");
	switch (transition->to) {
	case ALERT_PENDING:
		cr_assert_leq(proof.breach, 0.05 + CERTAIN);
		seen->pending = second;
		break;
	case ALERT_FIRING:
		cr_assert_eq(seen->state, ALERT_PENDING);
		cr_assert_geq(second, seen->pending + FOR);
		for (unsigned s = seen->pending; s <= second; s++) {
			proof = prove(rule, path, s);
			cr_assert(!proof.known || proof.breach <= 0.05 + CERTAIN, "second %u of %u", s,
				  second);
		}
		cr_assert(!seen->resolved || second >= seen->resolved + FOR);
		break;
	case ALERT_RESOLVED:
		cr_assert_eq(seen->state, ALERT_FIRING);
		cr_assert_leq(proof.clear, 0.05 + CERTAIN);
		seen->resolved = second;
		break;
	case ALERT_INACTIVE:
		cr_assert_eq(seen->state, ALERT_PENDING);
		cr_assert(!proof.even || proof.breach >= 0.05 - CERTAIN);
		break;
	}
	seen->state = transition->to;
}

static void miss_nothing(unsigned rule, unsigned path, unsigned second, struct seen *seen)
{
	struct proof proof = prove(rule, path, second);

	seen->proven = proof.known && proof.even && proof.breach <= 0.05 - CERTAIN ? seen->proven + 1 : 0;
	if (seen->proven > FOR)
		cr_assert_eq(seen->state, ALERT_FIRING, "rule %u, path %u, second %u", rule, path, second);
	if (proof.known && proof.even && proof.clear <= 0.05 - CERTAIN)
		cr_assert_neq(seen->state, ALERT_FIRING, "rule %u, path %u, second %u", rule, path, second);
}

static void name_path(unsigned path, char ret[16])
{
	(void)snprintf(ret, 16, "/path-%u", path);
}

/*
 * Puts the cgroups in ascending order if `step` is 1. If `step` is 5, the order changes from second to
 * second.
 */
static void collect(struct policy_fixture *fixture, unsigned second, unsigned step)
{
	fixture_begin(fixture);
	for (unsigned i = 0; i < PATHS; i++) {
		unsigned path = (second * (step - 1) + i * step) % PATHS;
		char name[16];

		name_path(path, name);
		if (came[path][second].slow || came[path][second].fast)
			fixture_put(fixture, name, came[path][second].slow, came[path][second].fast);
	}
	cr_assert_eq(fixture_tick(fixture), 0);
}

Test(policy_property, every_transition_has_evidence_and_none_is_missed)
{
	unsigned fired = 0;
	unsigned resolved = 0;

	for (u64 seed = 1; seed <= SEEDS; seed++) {
		struct seen seen[RULES][PATHS] = {0};
		struct rule rules[RULES];
		struct policy_fixture fixture;

		make_series(seed);
		make_rules(rules);
		fixture_new(&fixture, rules, RULES);
		for (unsigned s = 0; s < SECONDS; s++) {
			collect(&fixture, s, 1);
			for (size_t i = 0; i < fixture.n; i++) {
				const struct transition *transition = &fixture.transitions[i];
				size_t number;
				const struct rule *first = policy_rules(fixture.policy, &number);
				unsigned rule = (unsigned)(transition->alert.rule - first);
				unsigned path = (unsigned)(transition->alert.cgroup[6] - '0');

				follow(transition, rule, path, s, &seen[rule][path]);
				fired += transition->to == ALERT_FIRING;
				resolved += transition->to == ALERT_RESOLVED;
			}
			for (unsigned r = 0; r < RULES; r++)
				for (unsigned p = 0; p < PATHS; p++)
					miss_nothing(r, p, s, &seen[r][p]);
		}
		fixture_free(&fixture);
	}
	cr_expect_gt(fired, 100, "the series are such that something happens: %u", fired);
	cr_expect_gt(resolved, 100, "%u", resolved);
}

Test(policy_property, the_order_of_cgroups_changes_nothing)
{
	for (u64 seed = 1; seed <= SEEDS; seed++) {
		struct rule rules[RULES];
		struct policy_fixture one;
		struct policy_fixture other;

		make_series(seed);
		make_rules(rules);
		rules[1].subtree = true;
		fixture_new(&one, rules, RULES);
		fixture_new(&other, rules, RULES);
		for (unsigned s = 0; s < SECONDS; s++) {
			collect(&one, s, 1);
			collect(&other, s, 5);
			cr_assert_eq(one.n, other.n);
			for (size_t i = 0; i < one.n; i++) {
				const struct transition *a = &one.transitions[i];
				const struct transition *b = &other.transitions[i];

				cr_assert_eq(a->from, b->from);
				cr_assert_eq(a->to, b->to);
				cr_assert_eq(a->alert.number, b->alert.number);
				cr_assert_str_eq(a->alert.rule->name, b->alert.rule->name);
				cr_assert_str_eq(a->alert.cgroup, b->alert.cgroup);
				cr_assert_eq(a->alert.estimate.value, b->alert.estimate.value);
			}
		}
		fixture_free(&one);
		fixture_free(&other);
	}
}

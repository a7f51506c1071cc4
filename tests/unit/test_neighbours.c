// SPDX-License-Identifier: GPL-2.0
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "base/cleanup.h"
#include "model/random.h"
#include "neighbour_fixture.h"
#include "neighbours/pairing.h"

#define BINS 120

static struct scene scene;

static double noise(struct random *random)
{
	return (double)random_below(random, 1000) / 1000;
}

/* Twelve bursts of three bins each, without a regular distance. */
static bool is_burst(size_t bin)
{
	static const size_t begins[] = {3, 9, 19, 24, 38, 45, 51, 66, 70, 83, 97, 110};

	for (size_t i = 0; i < ARRAY_SIZE(begins); i++)
		if (bin >= begins[i] && bin < begins[i] + 3)
			return true;
	return false;
}

/*
 * A victim with the index 0 and five other cgroups. Each has its own noise, and the victim is slow in the
 * bursts.
 */
#define CGROUPS 6
struct scene {
	double traffic[CGROUPS][BINS];
	double latency[BINS];
	double error[BINS];
	struct neighbour_series series[CGROUPS];
};

static void scene_make(void)
{
	struct random random;

	random_seed(&random, 7, 0);
	for (size_t i = 0; i < BINS; i++) {
		for (size_t c = 0; c < CGROUPS; c++)
			scene.traffic[c][i] = 1000 + 100 * noise(&random);
		scene.latency[i] = (is_burst(i) ? 400 : 200) + 20 * noise(&random);
		scene.error[i] = 6;
	}
	for (size_t c = 0; c < CGROUPS; c++)
		scene.series[c] = (struct neighbour_series){.traffic = scene.traffic[c]};
	scene.series[0].latency = scene.latency;
	scene.series[0].error = scene.error;
}

/* Adds bursts to this cgroup, `lag` bins before those in which the victim is slow. */
static void make_culprit(size_t cgroup, size_t lag)
{
	for (size_t i = 0; i + lag < BINS; i++)
		if (is_burst(i + lag))
			scene.traffic[cgroup][i] += 3000;
}

static void scene_rank(struct neighbours *ret)
{
	cr_assert_eq(neighbours_rank(&scene.series[0], scene.series + 1, CGROUPS - 1, BINS, ret), 0);
}

static const struct neighbour *find(const struct neighbours *found, size_t index)
{
	for (size_t i = 0; i < found->n; i++)
		if (found->list[i].index == index)
			return &found->list[i];
	return NULL;
}

static size_t count_named(const struct neighbours *found)
{
	size_t n = 0;

	for (size_t i = 0; i < found->n; i++)
		n += found->list[i].named;
	return n;
}

static void neighbours_close(const struct neighbours *found)
{
	free(found->list);
}

TestSuite(neighbours, .init = scene_make);

Test(neighbours, the_cgroup_whose_traffic_bursts_is_named)
{
	_cleanup_(neighbours_close) struct neighbours found;

	make_culprit(3, 0);
	scene_rank(&found);
	cr_expect_eq(found.verdict, NEIGHBOURS_NAMED);
	cr_expect_eq(found.bins, BINS);
	cr_assert_eq(found.n, CGROUPS - 1);
	cr_expect_eq(found.list[0].index, 2);
	cr_expect(found.list[0].named);
	cr_expect_eq(count_named(&found), 1);
	cr_expect_eq(found.list[0].lag, 0);
	cr_expect_eq(found.list[0].n, BINS);
	cr_expect_gt(found.list[0].strength, 0.95);
	cr_expect_geq(found.list[0].needed, NEIGHBOURS_STRENGTH_MIN);
	/*
	 * The slowest quarter of the bins lies within the 36 bins of bursts, and the fastest half outside of
	 * them.
	 */
	cr_expect(found.list[0].traffic_slow > 4000 && found.list[0].traffic_slow < 4100);
	cr_expect(found.list[0].traffic_fast > 1000 && found.list[0].traffic_fast < 1100);
	cr_expect(found.latency_slow > 400 && found.latency_slow < 420);
	cr_expect(found.latency_fast > 200 && found.latency_fast < 215);
	for (size_t i = 1; i < found.n; i++)
		cr_expect_leq(found.list[i].strength, found.list[i - 1].strength);
}

Test(neighbours, traffic_can_precede_the_latency)
{
	for (size_t lag = 1; lag <= NEIGHBOURS_LAG_MAX; lag++) {
		_cleanup_(neighbours_close) struct neighbours found;
		scene_make();
		make_culprit(5, lag);
		scene_rank(&found);
		cr_expect_eq(found.list[0].index, 4);
		cr_expect(found.list[0].named);
		cr_expect_eq(found.list[0].lag, (int)lag);
		cr_expect_eq(found.list[0].n, BINS - lag);
		cr_expect_gt(found.list[0].traffic_slow, 4000);
	}
}

/* Traffic that follows the latency is not its cause. */
Test(neighbours, traffic_that_follows_the_latency_is_not_a_cause)
{
	_cleanup_(neighbours_close) struct neighbours found;

	for (size_t i = 4; i < BINS; i++)
		if (is_burst(i - 4))
			scene.traffic[2][i] += 3000;
	scene_rank(&found);
	cr_expect_eq(found.verdict, NEIGHBOURS_NOBODY);
	cr_expect_eq(count_named(&found), 0);
}

Test(neighbours, two_culprits_at_different_times_are_both_named)
{
	_cleanup_(neighbours_close) struct neighbours found;

	for (size_t i = 0; i < BINS; i++)
		if (is_burst(i))
			scene.traffic[i / 10 % 2 ? 1 : 4][i] += 3000;
	scene_rank(&found);
	cr_expect_eq(found.verdict, NEIGHBOURS_NAMED);
	cr_expect_eq(count_named(&found), 2);
	cr_expect(find(&found, 0)->named && find(&found, 3)->named);
}

/* If all cgroups have more load at once, none of them is the cause. */
Test(neighbours, a_load_of_all_cgroups_names_no_neighbour)
{
	_cleanup_(neighbours_close) struct neighbours found;

	for (size_t c = 1; c < CGROUPS; c++)
		make_culprit(c, 0);
	scene_rank(&found);
	cr_expect_eq(found.verdict, NEIGHBOURS_NOBODY);
	cr_expect_eq(count_named(&found), 0);
}

Test(neighbours, bursts_of_the_cgroup_itself_name_no_neighbour)
{
	_cleanup_(neighbours_close) struct neighbours found;

	make_culprit(0, 0);
	scene_rank(&found);
	cr_expect_eq(found.verdict, NEIGHBOURS_SELF);
	cr_expect_gt(found.self_strength, 0.95);
	cr_expect_eq(count_named(&found), 0);
	cr_expect_eq(found.n, CGROUPS - 1, "shown nevertheless");
}

/* Another cgroup bursts in the same bins as the victim, but with random height. It must not be named. */
Test(neighbours, a_cgroup_that_follows_the_victim_is_not_named)
{
	_cleanup_(neighbours_close) struct neighbours found;
	struct random random;

	random_seed(&random, 3, 0);
	make_culprit(0, 0);
	for (size_t i = 0; i < BINS; i++)
		scene.traffic[2][i] += is_burst(i) ? 2000 * noise(&random) : 0;
	scene_rank(&found);
	cr_expect_eq(found.verdict, NEIGHBOURS_SELF);
	cr_expect_eq(count_named(&found), 0);
}

/* If the victim's own traffic explains most of its latency, no other cgroup is named for the rest. */
Test(neighbours, if_the_victim_explains_its_latency_no_neighbour_is_named)
{
	_cleanup_(neighbours_close) struct neighbours found;

	make_culprit(0, 0);
	for (size_t i = 0; i < BINS; i++)
		if (is_burst((i + 6) % BINS)) {
			scene.traffic[3][i] += 3000;
			scene.latency[i] += 40;
		}
	scene_rank(&found);
	cr_expect_eq(found.verdict, NEIGHBOURS_SELF);
	cr_expect_eq(found.list[0].index, 2);
	cr_expect_gt(found.list[0].strength, found.list[0].needed);
	cr_expect_lt(found.list[0].strength, found.self_strength);
	cr_expect_eq(count_named(&found), 0);
}

/*
 * Another cgroup agrees equally well, but 40 bins earlier. So chance alone can do it, and more strength is
 * needed.
 */
Test(neighbours, agreement_at_another_time_raises_the_required_strength)
{
	_cleanup_(neighbours_close) struct neighbours plain = {0}, raised = {0};

	make_culprit(3, 0);
	scene_rank(&plain);
	cr_expect_lt(find(&plain, 2)->needed, 0.8);
	for (size_t i = 0; i < BINS; i++)
		if (is_burst((i + 40) % BINS))
			scene.traffic[1][i] += 3000;
	scene_rank(&raised);
	cr_expect_gt(find(&raised, 2)->needed, 0.9);
}

/* Many bins make a weak relation certain, but it still explains little. */
Test(neighbours, a_weak_relation_is_not_named_even_if_certain)
{
	enum { MANY = 2000 };
	static double latency[MANY], traffic[2][MANY];
	const struct neighbour_series victim = {.traffic = traffic[0], .latency = latency};
	const struct neighbour_series other = {.traffic = traffic[1]};
	_cleanup_(neighbours_close) struct neighbours found = {0};
	struct random random;

	random_seed(&random, 11, 0);
	for (size_t i = 0; i < MANY; i++) {
		traffic[0][i] = noise(&random);
		traffic[1][i] = 10 * noise(&random);
		latency[i] = 100 + 100 * noise(&random) + 4 * traffic[1][i];
	}
	cr_assert_eq(neighbours_rank(&victim, &other, 1, MANY, &found), 0);
	cr_expect_eq(found.verdict, NEIGHBOURS_NOBODY);
	cr_expect_eq(found.list[0].needed, NEIGHBOURS_STRENGTH_MIN);
	cr_expect_gt(found.list[0].strength, 0.3);
	cr_expect_not(found.list[0].named);
}

/* A victim that waits has less traffic. That must not clear the culprit. */
Test(neighbours, a_victim_whose_traffic_falls_is_not_its_own_cause)
{
	_cleanup_(neighbours_close) struct neighbours found;

	make_culprit(3, 0);
	for (size_t c = 0; c < CGROUPS; c++)
		for (size_t i = 0; c != 3 && i < BINS; i++)
			scene.traffic[c][i] *= is_burst(i) ? 0.5 : 1;
	scene_rank(&found);
	cr_expect_eq(found.verdict, NEIGHBOURS_NAMED);
	cr_expect_eq(count_named(&found), 1);
	cr_expect(find(&found, 2)->named);
	cr_expect_lt(found.self_strength, 0);
}

Test(neighbours, too_few_bins_yield_the_verdict_thin)
{
	struct neighbours found;

	make_culprit(3, 0);
	for (size_t i = NEIGHBOURS_BINS_MIN - 1; i < BINS; i++)
		scene.latency[i] = NAN;
	scene_rank(&found);
	cr_expect_eq(found.verdict, NEIGHBOURS_THIN);
	cr_expect_eq(found.bins, NEIGHBOURS_BINS_MIN - 1);
	cr_expect_eq(found.n, 0);
	cr_expect_null(found.list);
	cr_assert_eq(neighbours_rank(&scene.series[0], scene.series + 1, CGROUPS - 1, 0, &found), 0);
	cr_expect_eq(found.verdict, NEIGHBOURS_THIN);
}

/* A single episode may be a coincidence, however well it agrees. */
Test(neighbours, one_episode_is_not_evidence)
{
	_cleanup_(neighbours_close) struct neighbours found;

	for (size_t i = 0; i < BINS; i++) {
		bool late = i >= BINS / 2;

		scene.latency[i] = (late ? 400 : 200) + (double)(i % 7);
		scene.traffic[3][i] += late ? 3000 : 0;
	}
	scene_rank(&found);
	cr_expect_eq(found.verdict, NEIGHBOURS_EPISODE, "not that the evidence is enough");
	cr_expect_eq(found.list[0].index, 2);
	cr_expect_gt(found.list[0].strength, 0.9);
	cr_expect_eq(found.list[0].needed, 1);
	/* Noise is not an episode: what it would need says nothing about the strongest. */
	cr_assert_gt(found.n, 1U);
	cr_expect_lt(found.list[1].needed, 1);
}

Test(neighbours, a_nearly_constant_latency_is_steady)
{
	struct neighbours found;

	make_culprit(3, 0);
	scene.series[0].error = NULL;
	for (size_t i = 0; i < BINS; i++)
		scene.latency[i] = is_burst(i) ? 215 : 200;
	scene_rank(&found);
	cr_expect_eq(found.verdict, NEIGHBOURS_STEADY);
	cr_expect_eq(found.n, 0);
	for (size_t i = 0; i < BINS; i++)
		scene.latency[i] = 200;
	scene_rank(&found);
	cr_expect_eq(found.verdict, NEIGHBOURS_STEADY);
	cr_expect_eq(found.latency_slow, 200);
	cr_expect_eq(found.latency_fast, 200);
}

/* The latency moves no more than the scatter of its samples explains. */
Test(neighbours, a_latency_within_its_noise_is_steady)
{
	_cleanup_(neighbours_close) struct neighbours found = {0};

	make_culprit(3, 0);
	for (size_t i = 0; i < BINS; i++)
		scene.error[i] = 90;
	scene_rank(&found);
	cr_expect_eq(found.verdict, NEIGHBOURS_STEADY);
	/* A series without errors is taken to have no scatter. */
	scene.series[0].error = NULL;
	scene_rank(&found);
	cr_expect_eq(found.verdict, NEIGHBOURS_NAMED);
}

/* A few extreme bins, in latency or traffic, neither hide a culprit nor make one. */
Test(neighbours, extreme_bins_do_not_decide)
{
	_cleanup_(neighbours_close) struct neighbours hidden = {0}, made = {0};

	make_culprit(3, 0);
	scene.latency[32] = 1e6;
	scene.traffic[3][60] = 1e5;
	scene_rank(&hidden);
	cr_expect_eq(hidden.verdict, NEIGHBOURS_NAMED);
	cr_expect_eq(hidden.list[0].index, 2);

	scene_make();
	scene.latency[32] = scene.latency[80] = 1e6;
	scene.traffic[3][32] = scene.traffic[3][80] = 1e5;
	scene_rank(&made);
	cr_expect_eq(made.verdict, NEIGHBOURS_NOBODY);
}

/* Compared with everyone's traffic, this rise is too small to slow anybody down. */
Test(neighbours, a_negligible_rise_names_no_neighbour)
{
	_cleanup_(neighbours_close) struct neighbours found;

	for (size_t i = 0; i < BINS; i++)
		scene.traffic[3][i] = is_burst(i) ? 20 : 1;
	scene_rank(&found);
	cr_expect_eq(found.list[0].index, 2);
	cr_expect_gt(found.list[0].strength, found.list[0].needed);
	cr_expect_not(found.list[0].named);
	cr_expect_eq(found.verdict, NEIGHBOURS_NOBODY);
}

Test(neighbours, a_cgroup_that_cannot_be_judged_is_not_listed)
{
	_cleanup_(neighbours_close) struct neighbours found;

	make_culprit(3, 0);
	for (size_t i = 0; i < BINS; i++) {
		scene.traffic[1][i] = 500;                      /* constant */
		scene.traffic[2][i] = is_burst(i) ? NAN : 1000; /* constant if known */
		scene.traffic[4][i] = i < 20 ? scene.traffic[4][i] : NAN;
		if (i % 10 == 0)
			scene.traffic[5][i] = NAN;
	}
	scene_rank(&found);
	cr_expect_eq(found.n, 2);
	cr_expect(find(&found, 2)->named);
	cr_expect_not_null(find(&found, 4));
	cr_expect(find(&found, 4)->n >= BINS - 14 && find(&found, 4)->n <= BINS - 12);
}

Test(neighbours, gaps_in_the_latency_are_left_out)
{
	_cleanup_(neighbours_close) struct neighbours found;

	make_culprit(3, 0);
	for (size_t i = 0; i < BINS; i += 3)
		scene.latency[i] = NAN;
	scene_rank(&found);
	cr_expect_eq(found.bins, BINS - BINS / 3);
	cr_expect_eq(found.list[0].index, 2);
	cr_expect_eq(found.list[0].n, BINS - BINS / 3);
	cr_expect(found.list[0].named);
}

/* Equal cgroups keep the order in which they were given. That order changes nothing else. */
Test(neighbours, the_order_of_candidates_does_not_change_the_result)
{
	_cleanup_(neighbours_close) struct neighbours found = {0}, turned = {0};
	struct neighbour_series reverse[CGROUPS - 1];

	make_culprit(3, 0);
	memcpy(scene.traffic[5], scene.traffic[1], sizeof(scene.traffic[1]));
	scene_rank(&found);
	cr_assert_eq(found.n, CGROUPS - 1);
	cr_expect_eq(find(&found, 4), find(&found, 0) + 1);
	cr_expect_eq(find(&found, 4)->strength, find(&found, 0)->strength);

	for (size_t i = 0; i < CGROUPS - 1; i++)
		reverse[i] = scene.series[CGROUPS - 1 - i];
	cr_assert_eq(neighbours_rank(&scene.series[0], reverse, CGROUPS - 1, BINS, &turned), 0);
	cr_expect_eq(turned.verdict, found.verdict);
	for (size_t i = 0; i < CGROUPS - 1; i++) {
		const struct neighbour *here = find(&found, i), *there = find(&turned, CGROUPS - 2 - i);

		cr_expect_float_eq(here->strength, there->strength, 1e-9);
		cr_expect_float_eq(here->needed, there->needed, 1e-9);
		cr_expect_eq(here->named, there->named);
	}
}

Test(neighbours, without_candidates_no_neighbour_is_named)
{
	_cleanup_(neighbours_close) struct neighbours found = {0};

	cr_assert_eq(neighbours_rank(&scene.series[0], NULL, 0, BINS, &found), 0);
	cr_expect_eq(found.verdict, NEIGHBOURS_NOBODY);
	cr_expect_eq(found.n, 0);
	free(found.list);
	make_culprit(0, 0);
	cr_assert_eq(neighbours_rank(&scene.series[0], NULL, 0, BINS, &found), 0);
	cr_expect_eq(found.verdict, NEIGHBOURS_SELF);
}

/*
 * Winsorizing and the line over time, checked by hand: of 20 values, the lowest and the highest one are
 * replaced.
 */
Test(neighbours, prepared_series_have_mean_0_and_variance_1)
{
	double line[20], steps[20], ret[20], sum = 0, squares = 0;

	for (size_t i = 0; i < 20; i++) {
		line[i] = 5 + 2 * (double)i;
		steps[i] = i % 2 ? 3 : 1;
	}
	cr_expect_eq(pairing_prepare(steps, 20, ret), 1);
	for (size_t i = 0; i < 20; i++) {
		sum += ret[i];
		squares += ret[i] * ret[i];
	}
	cr_expect_float_eq(sum, 0, 1e-9);
	cr_expect_float_eq(squares / 20, 1, 1e-9);
	/*
	 * Removing the line over time from a straight line leaves only the effect of its two replaced ends.
	 */
	cr_expect_eq(pairing_prepare(line, 20, ret), 1);
	cr_expect_float_eq(ret[9] + ret[10], 0, 1e-9);
	for (size_t i = 0; i < 20; i++)
		line[i] = i == 7 ? 100 : 5;
	cr_expect_eq(pairing_prepare(line, 20, ret), 0);
	for (size_t i = 0; i < 20; i++)
		line[i] = NAN;
	cr_expect_eq(pairing_prepare(line, 20, ret), 0);
}

/*
 * Checks partial correlations against the textbook formula. With r(latency, traffic) = 0.6, r(latency, own) =
 * 0.5 and r(own, traffic) = 0.4 the result is (0.6 - 0.5 x 0.4) / sqrt((1 - 0.25) (1 - 0.16)) = 0.50395.
 */
Test(neighbours, the_victims_own_traffic_is_partialled_out)
{
	/* Mixtures of orthogonal columns, each with mean 0 and variance 1. */
	static const double base[3][8] = {
		{1, -1, 1, -1, 1, -1, 1, -1}, {1, 1, -1, -1, 1, 1, -1, -1}, {1, 1, 1, 1, -1, -1, -1, -1}};
	const double rest = 0.4 / sqrt(0.75); /* (0.6 - 0.5 x 0.4) / sqrt(1 - 0.25) */
	double own[8], latency[8], traffic[8];
	struct pairing pairing = {.n = 8, .latency = latency, .traffic = traffic};
	size_t n;

	for (size_t i = 0; i < 8; i++) {
		own[i] = base[0][i];
		latency[i] = 0.5 * base[0][i] + sqrt(0.75) * base[1][i];
		traffic[i] = 0.4 * base[0][i] + rest * base[1][i] + sqrt(1 - 0.16 - rest * rest) * base[2][i];
	}
	cr_expect_float_eq(pairing_strength(&pairing, 0, 0, &n), 0.6, 1e-9);
	cr_expect_eq(n, 8);
	for (size_t i = 0; i < 8; i++)
		traffic[i] += 5;
	cr_expect_float_eq(pairing_strength(&pairing, 0, 0, &n), 0.6, 1e-9, "the mean is of no matter");
	pairing.own = own;
	cr_expect_float_eq(pairing_strength(&pairing, 0, 0, NULL), 0.50395, 1e-5);
	/* The series `own` has the same effect as the traffic of the rest. */
	pairing.own = NULL;
	pairing.rest = own;
	cr_expect_float_eq(pairing_strength(&pairing, 0, 0, NULL), 0.50395, 1e-5);
	/* Traffic that falls when the latency rises is not subtracted. */
	for (size_t i = 0; i < 8; i++)
		own[i] = -own[i];
	cr_expect_float_eq(pairing_strength(&pairing, 0, 0, NULL), 0.6, 1e-9);
}

/* Each combination of controls, lag and rotation; with and without unknown bins of the victim. */
Test(neighbours, the_fast_strength_of_a_rotation_equals_the_slow_one)
{
	double latency[31], own[31], traffic[31], rest[31];

	for (size_t i = 0; i < 31; i++) {
		latency[i] = sin(0.9 * (double)i) + 0.1 * (double)(i % 4);
		own[i] = cos(0.9 * (double)i) + 0.3 * latency[i];
		traffic[i] = (double)(i * i % 13) + latency[i];
		rest[i] = (double)(i * i % 7) - own[i];
	}
	for (unsigned kind = 0; kind < 8; kind++) {
		const struct pairing pairing = {.n = 31,
						.latency = latency,
						.own = kind & 1 ? own : NULL,
						.traffic = traffic,
						.rest = kind & 2 ? rest : NULL};
		struct pairing_rotated rotated;

		latency[5] = kind & 4 ? NAN : 1;
		own[30] = kind & 4 ? NAN : -1;
		cr_assert_eq(pairing_rotated(&pairing, &rotated), 0);
		for (size_t lag = 0; lag < 3; lag++) {
			struct pairing_sums sums = pairing_sums(traffic, pairing.rest, 31 - lag);

			for (size_t rotation = 0; rotation < 31; rotation++) {
				double slow = pairing_strength(&pairing, lag, rotation, NULL);
				struct pairing_shift at;

				pairing_shift(&rotated, lag, rotation, &at);
				cr_expect_float_eq(pairing_shift_strength(&at, traffic, pairing.rest, &sums),
						   slow, 1e-12, "kind %u, lag %zu, rotation %zu", kind, lag,
						   rotation);
				cr_expect(fabs(slow) > 1e-6, "kind %u, lag %zu, rotation %zu", kind, lag,
					  rotation);
			}
		}
		pairing_rotated_done(&rotated);
	}
}

/* For white noise, all bins are independent: tanh(z / sqrt(n - 4)), where z of 0.01 / 3 is 2.713. */
Test(neighbours, the_required_strength_exceeds_chance)
{
	double latency[400], traffic[400];
	struct pairing pairing = {.n = 400, .latency = latency, .traffic = traffic};
	double white, slow;

	for (size_t i = 0; i < 400; i++) {
		/*
		 * The products of the two autocorrelations sum to less than 0, so all bins count as
		 * independent.
		 */
		latency[i] = i % 2 ? 1 : -1;
		traffic[i] = i / 4 % 2 ? 1 : -1;
	}
	white = pairing_chance(&pairing, 400, 0.01, 3);
	cr_expect_float_eq(white, tanh(2.713 / sqrt(396)), 1e-3);
	for (size_t i = 0; i < 400; i++)
		latency[i] = traffic[i];
	slow = pairing_chance(&pairing, 400, 0.01, 3);
	cr_expect_gt(slow, 2 * white, "what repeats itself proves less");
	cr_expect_eq(pairing_chance(&pairing, 4, 0.01, 3), 1);
}

#define SEEDS 40

/*
 * Ranks the neighbours in SEEDS simulations of one story. Counts in how many the culprit is first, in how many it
 * is named, and in how many another cgroup is named.
 */
static void rank_story(const struct neighbour_loads *loads, enum neighbour_story story, unsigned *ret_first,
		       unsigned *ret_named, unsigned *ret_innocent, unsigned *ret_verdicts)
{
	*ret_first = *ret_named = *ret_innocent = 0;
	for (unsigned seed = 1; seed <= SEEDS; seed++) {
		_cleanup_(neighbours_close) struct neighbours found;
		struct neighbour_fixture fixture;
		bool innocent = false;

		neighbour_fixture_make(loads, story, seed, &fixture);
		cr_assert_eq(neighbours_rank(&fixture.series[0], fixture.series + 1,
					     NEIGHBOUR_FIXTURE_CGROUPS - 1, NEIGHBOUR_FIXTURE_BINS, &found),
			     0);
		ret_verdicts[found.verdict]++;
		for (size_t i = 0; i < found.n; i++) {
			bool culprit = found.list[i].index + 1 == fixture.culprit;

			*ret_first += culprit && i == 0;
			*ret_named += culprit && found.list[i].named;
			innocent = innocent || (!culprit && found.list[i].named);
		}
		*ret_innocent += innocent;
	}
}

/* `make bench-neighbours` prints the rates over more worlds. */
Test(neighbours, random_scenes_name_the_right_neighbour)
{
	_cleanup_(neighbour_loads_free) struct neighbour_loads *loads = NULL;

	cr_assert_eq(neighbour_loads_new(&loads), 0);
	for (unsigned story = 0; story < STORY_COUNT; story++) {
		const char *text = neighbour_story_texts[story];
		unsigned verdicts[NEIGHBOURS_EPISODE + 1] = {0};
		unsigned first, named, innocent;

		rank_story(loads, story, &first, &named, &innocent, verdicts);
		cr_expect_leq(innocent, SEEDS / 20, "%s: %u", text, innocent);
		if (neighbour_story_has_culprit(story)) {
			cr_expect_geq(first, SEEDS - SEEDS / 10, "%s: %u", text, first);
			cr_expect_geq(named, SEEDS - SEEDS / 10, "%s: %u", text, named);
		}
		if (story == STORY_OWN || story == STORY_FOLLOWED)
			cr_expect_geq(verdicts[NEIGHBOURS_SELF], SEEDS - SEEDS / 10, "%s", text);
		if (story == STORY_STEADY)
			cr_expect_geq(verdicts[NEIGHBOURS_STEADY], SEEDS - SEEDS / 10, "%s", text);
	}
}

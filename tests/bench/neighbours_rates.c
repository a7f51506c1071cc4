// SPDX-License-Identifier: GPL-2.0
/*
 * Counts how often the right neighbour is named, and how often a wrong one: SEEDS simulations of each story
 * (neighbour_fixture.h). Usage: neighbours_rates [SEEDS [FIRST]]: FIRST is the first seed. The limit for chance
 * in the method was tuned with the seeds up to 1,000. Other seeds therefore show more.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/cleanup.h"
#include "neighbour_fixture.h"

#define SEEDS 200

struct rates {
	unsigned first;    /* the culprit is first in the list */
	unsigned named;    /* the culprit is named */
	unsigned innocent; /* another cgroup is named */
	unsigned verdicts[NEIGHBOURS_EPISODE + 1];
	unsigned listed; /* worlds whose list has the culprit, or any entry; the sums below are over these */
	double strength; /* of the culprit, or of the first entry */
	double needed;
};

static void count(const struct neighbour_fixture *fixture, const struct neighbours *found,
		  struct rates *rates)
{
	bool innocent = false;

	rates->verdicts[found->verdict]++;
	for (size_t i = 0; i < found->n; i++) {
		const struct neighbour *one = &found->list[i];
		bool culprit = fixture->culprit && one->index + 1 == fixture->culprit;

		if (culprit || (!fixture->culprit && i == 0)) {
			rates->listed++;
			rates->strength += one->strength;
			rates->needed += one->needed;
		}
		rates->first += culprit && i == 0;
		rates->named += culprit && one->named;
		innocent = innocent || (!culprit && one->named);
	}
	rates->innocent += innocent;
}

static double seconds_of(const struct timespec *time)
{
	return (double)time->tv_sec + (double)time->tv_nsec / 1e9;
}

static int print_result(const struct neighbour_loads *loads, enum neighbour_story story, unsigned seeds,
			unsigned first)
{
	struct timespec begin, end;
	struct rates rates = {0};
	double taken = 0;

	for (unsigned seed = first; seed < first + seeds; seed++) {
		struct neighbour_fixture fixture;
		struct neighbours found;

		neighbour_fixture_make(loads, story, seed, &fixture);
		(void)clock_gettime(CLOCK_MONOTONIC, &begin);
		if (neighbours_rank(&fixture.series[0], fixture.series + 1, NEIGHBOUR_FIXTURE_CGROUPS - 1,
				    NEIGHBOUR_FIXTURE_BINS, &found) < 0)
			return -1;
		(void)clock_gettime(CLOCK_MONOTONIC, &end);
		taken += seconds_of(&end) - seconds_of(&begin);
		count(&fixture, &found, &rates);
		free(found.list);
	}
	printf("%s\n", neighbour_story_texts[story]);
	if (neighbour_story_has_culprit(story))
		printf("  culprit first %.1f %%, named %.1f %%; ", 100.0 * rates.first / seeds,
		       100.0 * rates.named / seeds);
	else
		printf("  ");
	printf("an innocent named %.1f %%; verdicts: named %u, self %u, nobody %u, thin %u, steady %u, episode %u\n",
	       100.0 * rates.innocent / seeds, rates.verdicts[NEIGHBOURS_NAMED],
	       rates.verdicts[NEIGHBOURS_SELF], rates.verdicts[NEIGHBOURS_NOBODY],
	       rates.verdicts[NEIGHBOURS_THIN], rates.verdicts[NEIGHBOURS_STEADY],
	       rates.verdicts[NEIGHBOURS_EPISODE]);
	printf("  mean strength of %s %.2f, needed %.2f; %.1f ms a ranking\n",
	       neighbour_story_has_culprit(story) ? "the culprit" : "the first",
	       rates.strength / fmax(1, rates.listed), rates.needed / fmax(1, rates.listed),
	       1e3 * taken / seeds);
	return 0;
}

int main(int argc, char **argv)
{
	_cleanup_(neighbour_loads_free) struct neighbour_loads *loads = NULL;
	unsigned seeds = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : SEEDS;
	unsigned first = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 1;

	if (seeds == 0 || neighbour_loads_new(&loads) < 0) {
		(void)fprintf(stderr, "usage: %s [SEEDS [FIRST]]\n", argv[0]);
		return 1;
	}
	printf("%u simulations of each kind, %d cgroups, %d bins\n", seeds, NEIGHBOUR_FIXTURE_CGROUPS,
	       NEIGHBOUR_FIXTURE_BINS);
	for (unsigned story = 0; story < STORY_COUNT; story++)
		if (print_result(loads, story, seeds, first) < 0)
			return 1;
	return 0;
}

// SPDX-License-Identifier: GPL-2.0
/*
 * Tests how policy handles samples that come in bursts: how often a bound is wrong, how often a rule fires
 * without a cause, with one service and with 200, and how soon it finds a real change. Everything goes through
 * policy's own interface and is seeded.
 *   bursts coverage [WINDOWS [LONGEST]]   bounds over windows of 30 s; exit 1 if a promised one is wrong too often
 *   bursts alarms [DAYS [LONGEST]]        false alarms at 0.7 of the threshold; exit 1 if more than one a month
 *   bursts away [DAYS [LONGEST]]          the same for rules on the other side of the figure, which nothing promises
 *   bursts services [HOURS]               false alarms of 200 services together
 *   bursts steps [RUNS]                   delay and power
 * LONGEST leaves out longer bursts, in seconds.
 *
 * All bursts of a service have the same length and take a tenth of the time. The gaps between them are
 * exponential, or for a few services all equal. Services have one of three shapes:
 *   mixed   samples come steadily; in a burst 60 % of them are slow, between bursts 5 %
 *   idle    samples come only in bursts; in a fifth of the bursts 60 % of them are slow, in the others 5 %
 *   dips    the opposite of mixed: in a burst come half as many samples, of which 5 % are slow, between bursts 60 %
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define MATHLIB_STANDALONE 1
#include <Rmath.h>

#include "in_packed.h"
#include "model/random.h"
#include "policy/policy.h"

#define POOL        4096 /* latencies to draw from */
#define PERIOD      10007
#define DUTY        0.1 /* share of the time that is in bursts */
#define WINDOW      30  /* collections of 1 s; like FOR and MIN_SAMPLES, the default of rules */
#define LONG_WINDOW 300
#define FOR         60
#define MIN_SAMPLES 500
#define AT_LOW_RATE 0.7
#define HOUR        3600
#define DAY         86400
#define MONTH       (30 * DAY)
/* In percent: 5 and 8, and three standard deviations of 5,000 windows. */
#define WRONG_MOST      6
#define AWAY_WRONG_MOST 9
#define SHORT_BURST     0.1 /* with this length a window has 30 bursts on average */
#define COUNT(array)    (sizeof(array) / sizeof((array)[0]))

static const double lengths[] = {0, 0.02, 0.1, 0.3, 1, 2,
				 3, 5,    10,  20,  30}; /* of a burst, in s; 0: no bursts */

static unsigned n_lengths = COUNT(lengths); /* of services of each kind; fewer if LONGEST is given */

enum shape { MIXED, IDLE, DIPS, SHAPES };

/* Rates are factors of the mean rate. The mean of `rate_in` and `rate_out` over the time is 1. */
static const struct {
	const char *word;
	double rate_in, rate_out; /* in bursts and between them */
	double slow_in, slow_out; /* a sample's chance to be slow */
	double bursts; /* share of the bursts to which `slow_in` applies; in others it is `slow_out` */
} shapes[] = {
	[MIXED] = {"mixed", 1, 1, 0.6, 0.05, 1},
	[IDLE] = {"idle", 1 / DUTY, 0, 0.6, 0.05, 0.2},
	[DIPS] = {"dips", 0.5 / (1 - 0.5 * DUTY), 1 / (1 - 0.5 * DUTY), 0.05, 0.6, 1},
};

enum kind { SHARE, QUANTILE, MEAN, RATE, KINDS };
static const char *const kind_words[] = {"share", "p90", "mean", "rate"};

static char everything[] = "/**";
static u32 fast_pool[POOL], slow_pool[POOL];

struct service {
	char path[32];
	enum shape shape;
	double length;
	bool is_periodic; /* all gaps have the same length */
	double rate;      /* mean number of samples per second */
	double scale;     /* factor of the chance to be slow */
	bool in_burst;
	bool is_usual; /* the shape's `slow_in` does not apply to this burst */
	double left;   /* seconds left of the burst or the gap */
	struct random random;
	unsigned fired_at;
	u64 fires;
};

/* The true values of a service, to which its samples converge. */
struct truth {
	double share;
	double mean;
	double rate; /* weighted */
};

static double draw_even(struct random *random)
{
	return ((double)(random_next(random) >> 11) + 0.5) * 0x1p-53;
}

static unsigned draw_count(struct random *random, double mean)
{
	double left = mean;
	unsigned n = 0;

	if (mean > 200) {
		double even = draw_even(random);

		return (unsigned)fmax(0, floor(mean + sqrt(mean) * qnorm(even, 0, 1, true, false) + 0.5));
	}
	for (;; n++) {
		left += log(draw_even(random));
		if (left < 0)
			return n;
	}
}

static void fill_pools(void)
{
	for (unsigned i = 0; i < POOL; i++) {
		double z = qnorm((i + 0.5) / POOL, 0, 1, true, false);

		fast_pool[i] = (u32)lround(30 * exp(0.5 * z));
		slow_pool[i] = (u32)lround(300 * exp(0.6 * z));
	}
}

static double chance_in(const struct service *service)
{
	return fmin(1, shapes[service->shape].slow_in * service->scale);
}

static double chance_out(const struct service *service)
{
	return fmin(1, shapes[service->shape].slow_out * service->scale);
}

static double share_of(const struct service *service)
{
	double in = DUTY * shapes[service->shape].rate_in * shapes[service->shape].bursts;

	return in * chance_in(service) + (1 - in) * chance_out(service);
}

static struct truth truth_of(const struct service *service)
{
	struct truth truth = {.share = share_of(service), .rate = service->rate * PERIOD};
	double fast = 0, slow = 0;

	for (unsigned i = 0; i < POOL; i++) {
		fast += fast_pool[i];
		slow += slow_pool[i];
	}
	truth.mean = (truth.share * slow + (1 - truth.share) * fast) / POOL;
	return truth;
}

static double chance_at_most(const struct truth *truth, u32 cycles)
{
	double fast = 0, slow = 0;

	for (unsigned i = 0; i < POOL; i++) {
		fast += fast_pool[i] <= cycles;
		slow += slow_pool[i] <= cycles;
	}
	return (truth->share * slow + (1 - truth->share) * fast) / POOL;
}

/* The mean with each latency counted as at most `cap` cycles. */
static double mean_up_to(const struct truth *truth, u32 cap)
{
	double fast = 0, slow = 0;

	for (unsigned i = 0; i < POOL; i++) {
		fast += fast_pool[i] < cap ? fast_pool[i] : cap;
		slow += slow_pool[i] < cap ? slow_pool[i] : cap;
	}
	return (truth->share * slow + (1 - truth->share) * fast) / POOL;
}

/* Returns the first edge of a bucket that is at or above the p90. */
static u32 edge_at_p90(const struct truth *truth)
{
	u32 bucket = 0;

	while (chance_at_most(truth, histogram_fine_upper(bucket)) < 0.9)
		bucket++;
	return histogram_fine_upper(bucket);
}

static void service_open(struct service *service, enum shape shape, double length, double rate,
			 unsigned number)
{
	*service = (struct service){.shape = shape, .length = length, .rate = rate, .scale = 1};
	(void)snprintf(service->path, sizeof(service->path), "/%s-%u", shapes[shape].word, number);
	random_seed(&service->random, 1 + number, (u64)(length * 1000) + 1000000ULL * shape);
	/* Starts somewhere within a gap. */
	if (length > 0)
		service->left = -log(draw_even(&service->random)) * length * (1 - DUTY) / DUTY;
}

static double draw_gap(struct service *service)
{
	double mean = service->length * (1 - DUTY) / DUTY;

	return service->is_periodic ? mean : -log(draw_even(&service->random)) * mean;
}

static void turn(struct service *service)
{
	service->in_burst = !service->in_burst;
	service->left = service->in_burst ? service->length : draw_gap(service);
	if (service->in_burst)
		service->is_usual = draw_even(&service->random) >= shapes[service->shape].bursts;
}

static void draw_samples(struct service *service, double mean, double slow, struct counters *ret)
{
	unsigned n = draw_count(&service->random, mean);
	u32 bound = (u32)(slow * 65536);

	for (unsigned i = 0; i < n; i++) {
		u64 dice = random_next(&service->random);
		bool is_slow = (dice & 0xffff) < bound;
		u32 cycles = (is_slow ? slow_pool : fast_pool)[(dice >> 16) % POOL];
		unsigned source = is_slow ? SOURCE_LOCAL_DRAM : SOURCE_L3;

		ret->latency[histogram_fine_index(cycles)]++;
		ret->samples[source]++;
		ret->latency_sum[source] += cycles;
		ret->weight[source] += PERIOD;
	}
}

/* Draws the samples of one second. */
static void draw_second(struct service *service, struct counters *ret)
{
	double left = 1;

	memset(ret, 0, sizeof(*ret));
	if (service->length <= 0) {
		draw_samples(service, service->rate, share_of(service), ret);
		return;
	}
	while (left > 0) {
		double now = fmin(left, service->left);
		double rate = service->rate * (service->in_burst ? shapes[service->shape].rate_in
								 : shapes[service->shape].rate_out);
		bool is_in = service->in_burst && !service->is_usual;

		draw_samples(service, rate * now, is_in ? chance_in(service) : chance_out(service), ret);
		left -= now;
		service->left -= now;
		if (service->left <= 0)
			turn(service);
	}
}

struct rules {
	struct rule list[64];
	char *pattern[64];
	size_t n;
};

static struct rule *rule_add(struct rules *rules, enum kind kind, char *pattern, double threshold)
{
	static const char *const metrics[] = {"share:local_dram", "p90", "mean", "rate"};
	struct rule *rule = &rules->list[rules->n];

	rules->pattern[rules->n] = pattern;
	*rule = (struct rule){.patterns = &rules->pattern[rules->n],
			      .n_patterns = 1,
			      .event = EVENT_LOADS,
			      .threshold = threshold,
			      .clear = 0.9 * threshold,
			      .window_ns = WINDOW * NSEC_PER_SEC,
			      .for_ns = FOR * NSEC_PER_SEC,
			      .min_samples = kind == RATE ? 0 : MIN_SAMPLES,
			      .confidence = 0.95};
	(void)snprintf(rule->name, sizeof(rule->name), "%s-%zu", kind_words[kind], rules->n);
	if (metric_parse(metrics[kind], &rule->metric) < 0)
		abort();
	rules->n++;
	return rule;
}

static int policy_open(const struct rules *rules, struct policy **ret)
{
	const struct event event = {
		.role = EVENT_LOADS, .period = PERIOD, .settings = {.has_latency = 1, .has_source = 1}};

	return policy_new(&(struct policy_settings){.rules = rules->list,
						    .n_rules = rules->n,
						    .events = &event,
						    .n_events = 1,
						    .next_number = 1,
						    .max_bytes = POLICY_BYTES},
			  ret);
}

static int step(struct policy *policy, struct service *services, size_t n, unsigned tick,
		const struct transition **ret, size_t *ret_n)
{
	struct sliding_time time[EVENTS_MAX] = {{.elapsed_ns = NSEC_PER_SEC}};
	const struct timespec now = {.tv_sec = tick + 1};

	policy_begin(policy, (tick + 1) * NSEC_PER_SEC, &now, time);
	for (size_t i = 0; i < n; i++) {
		struct counters counters;
		struct in_packed room;

		draw_second(&services[i], &counters);
		if (counters_samples(&counters))
			policy_put(policy, (u32)i + 2, services[i].path, in_packed(&room, 0, &counters), 1);
	}
	return policy_tick(policy, ret, ret_n);
}

/* How often each bound was wrong, of all windows. `unknown`: there were no bounds. */
struct cell {
	u64 windows, unknown, low_wrong, high_wrong;
};

static bool explain_bounds(const struct policy *policy, const struct rule *rule, const char *path,
			   struct bounds *ret)
{
	_cleanup_free_ struct alert *alerts = NULL;
	size_t n;

	if (policy_explain(policy, rule->name, path, &alerts, &n) < 0 || n != 1)
		return false;
	*ret = alerts[0].estimate.bounds;
	return alerts[0].decision.unknown == UNKNOWN_NOT && alerts[0].estimate.known &&
	       alerts[0].estimate.worth;
}

static double percent(u64 part, u64 whole)
{
	return whole ? 100 * (double)part / (double)whole : 0;
}

/*
 * The bounds that are tested: those of each metric, with one rule for each bound, and those of its ratio to two
 * baselines. The two bounds of a rule are the same with `above` and with `below`, but a baseline is not: it is
 * frozen while its rule is pending or firing.
 */
static const struct {
	const char *title;
	u64 half_life_s; /* 0: not a ratio */
	bool has_above, has_below;
} tables[] = {
	{"The metric itself: the lower bound of a rule with `above`, and the upper one of a rule with `below`",
	 0, true, true},
	{"Its ratio to a baseline with a half-life of 1 h (the default), of a rule with `above`", 3600, true,
	 false},
	{"Its ratio to a baseline with a half-life of 1 min (the shortest), of a rule with `below`", 60,
	 false, true},
};
#define TABLES COUNT(tables)

enum gaps { EXPONENTIAL, INSIDE, ACROSS };

static const char *const gaps_words[] = {
	[EXPONENTIAL] = "exponential",
	[INSIDE] = "equal", /* each burst begins with a collection */
	[ACROSS] =
		"equal, between", /* each burst has one half in one collection, the other in the next one */
};

struct row {
	enum shape shape;
	double rate;
	double length;
	enum gaps gaps;
	struct cell cells[TABLES][KINDS];
};

struct rows {
	struct row list[SHAPES * (2 * COUNT(lengths) + 4)];
	size_t n;
};

/* The rules of one figure: a lower bound above `truth.low` is wrong, and an upper one below `truth.high`. */
struct tested {
	const struct rule *above, *below; /* the same for a ratio */
	struct bounds truth;
};

static void look(const struct policy *policy, const struct tested *tested, const char *path,
		 struct cell *cell)
{
	struct bounds for_above, for_below;
	bool known = explain_bounds(policy, tested->above, path, &for_above);

	known = explain_bounds(policy, tested->below, path, &for_below) && known;
	cell->windows++;
	cell->unknown += !known;
	cell->low_wrong += known && for_above.low > tested->truth.low;
	cell->high_wrong += known && for_below.high < tested->truth.high;
}

static struct rule *add_below(struct rules *rules, enum kind kind, double threshold)
{
	struct rule *rule = rule_add(rules, kind, everything, threshold);

	rule->below = true;
	rule->clear = threshold / 0.9;
	return rule;
}

static void add_metric(struct rules *rules, enum kind kind, const struct truth *truth, struct tested *ret)
{
	u32 edge = edge_at_p90(truth);
	const double at[KINDS] = {truth->share, edge, truth->mean, truth->rate};
	struct rule *above = rule_add(rules, kind, everything, at[kind]);
	struct rule *below = add_below(rules, kind, at[kind]);
	struct limits limits = rule_limits(below, below->threshold);

	*ret = (struct tested){above, below, {at[kind], at[kind]}};
	if (kind == MEAN)
		ret->truth.high = mean_up_to(truth, rule_mean_cap(below, &limits));
	if (kind != QUANTILE)
		return;
	/* The true quantile is the edge of a bucket, so widening bounds to edges cannot hide an error. */
	above->metric.quantile = below->metric.quantile = chance_at_most(truth, edge);
	/* The quantile lies above its lower bound, so a bound that equals it is already wrong. */
	ret->truth.low = edge - 0.5;
}

static void add_ratio(struct rules *rules, enum kind kind, const struct truth *truth, size_t table,
		      struct tested *ret)
{
	struct rule *rule = tables[table].has_above ? rule_add(rules, kind, everything, 1 / AT_LOW_RATE)
						    : add_below(rules, kind, AT_LOW_RATE);

	rule->metric.ratio = true;
	rule->baseline_ns = tables[table].half_life_s * NSEC_PER_SEC;
	if (kind == QUANTILE)
		rule->metric.quantile = chance_at_most(truth, edge_at_p90(truth));
	/* A quantile lies above its lower bound: the lower bound of a ratio of 1 is below 1, the upper one above 1. */
	*ret = (struct tested){rule, rule, {1 - 1e-9, 1 + 1e-9}};
}

static void service_open_row(struct service *service, const struct row *row, unsigned number)
{
	service_open(service, row->shape, row->length, row->rate, number);
	if (row->gaps == EXPONENTIAL)
		return;
	service->is_periodic = true;
	service->left = row->gaps == INSIDE ? 1 : 1 - row->length / 2;
}

/* Measures `n` rows of one shape and rate. */
static int coverage_of(struct row *list, size_t n, unsigned windows)
{
	static struct service services[2 * COUNT(lengths)];
	_cleanup_(policy_freep) struct policy *policy = NULL;
	struct tested tested[TABLES][KINDS];
	struct rules rules = {0};
	struct truth truth;

	for (unsigned i = 0; i < n; i++)
		service_open_row(&services[i], &list[i], i);
	truth = truth_of(&services[0]);
	for (size_t table = 0; table < TABLES; table++)
		for (unsigned kind = 0; kind < KINDS; kind++)
			if (tables[table].half_life_s)
				add_ratio(&rules, kind, &truth, table, &tested[table][kind]);
			else
				add_metric(&rules, kind, &truth, &tested[table][kind]);
	if (policy_open(&rules, &policy) < 0)
		return -1;
	for (unsigned tick = 0; tick < windows * WINDOW; tick++) {
		const struct transition *transitions;
		size_t n_transitions;

		if (step(policy, services, n, tick, &transitions, &n_transitions) < 0)
			return -1;
		for (unsigned i = 0; tick % WINDOW == WINDOW - 1 && i < n; i++)
			for (size_t table = 0; table < TABLES; table++)
				for (unsigned kind = 0; kind < KINDS; kind++)
					look(policy, &tested[table][kind], services[i].path,
					     &list[i].cells[table][kind]);
	}
	return 0;
}

static void add_row(struct rows *rows, enum shape shape, double rate, double length, enum gaps gaps)
{
	rows->list[rows->n++] = (struct row){.shape = shape, .rate = rate, .length = length, .gaps = gaps};
}

/* Measures all rows of a shape, those of one rate together. */
static int coverage_of_shape(struct rows *rows, enum shape shape, unsigned windows)
{
	static const double rates[] = {50, 100, 200};

	for (unsigned r = 0; r < COUNT(rates); r++) {
		const double rate = rates[r];
		const size_t begin = rows->n;

		for (unsigned i = 0; rate != 100 && i < n_lengths; i++)
			add_row(rows, shape, rate, lengths[i], EXPONENTIAL);
		for (enum gaps gaps = INSIDE; rate > 50 && gaps <= ACROSS; gaps++)
			add_row(rows, shape, rate, rate > 100 ? 0.1 : 1, gaps);
		if (coverage_of(&rows->list[begin], rows->n - begin, windows) < 0)
			return -1;
	}
	return 0;
}

/*
 * How often a bound may be wrong, in percent. Bursts raise a figure, lower it, or do neither. The bound on their side
 * is promised: the lower one if they raise the figure. A window without a burst cannot know about bursts, so the
 * other bound is promised only if every window has many bursts, or the same number of them, and less exactly.
 */
static double wrong_most(const struct row *row, enum kind kind, bool low)
{
	double bursts = shapes[row->shape].slow_in - shapes[row->shape].slow_out;

	if (kind == RATE)
		bursts = shapes[row->shape].rate_in - shapes[row->shape].rate_out;
	if (low ? bursts >= 0 : bursts <= 0)
		return WRONG_MOST;
	return row->length <= SHORT_BURST || row->gaps != EXPONENTIAL ? AWAY_WRONG_MOST : INFINITY;
}

static bool print_row(const struct row *row, size_t table)
{
	bool failed = false;

	(void)printf("%-6s %6g/s %6gs %-14s", shapes[row->shape].word, row->rate, row->length,
		     row->length > 0 ? gaps_words[row->gaps] : "");
	for (unsigned kind = 0; kind < KINDS; kind++) {
		const struct cell *cell = &row->cells[table][kind];
		double low = percent(cell->low_wrong, cell->windows);
		double high = percent(cell->high_wrong, cell->windows);

		(void)printf(" | %5.1f %5.1f %5.1f", low, high, percent(cell->unknown, cell->windows));
		failed = failed || low > wrong_most(row, kind, true) || high > wrong_most(row, kind, false);
	}
	(void)printf("%s\n", failed ? "  FAILED" : "");
	return failed;
}

static int coverage(unsigned windows)
{
	static struct rows rows;
	bool failed = false;

	(void)printf(
		"Bounds over %u windows of 30 s, 95 %% each: in how many percent of all windows the lower one was wrong, the upper one was,\n"
		"and the answer was unknown. A burst's length; a tenth of the time is in bursts.\n",
		windows);
	for (unsigned shape = 0; shape < SHAPES; shape++)
		if (coverage_of_shape(&rows, shape, windows) < 0)
			return -1;
	for (size_t table = 0; table < TABLES; table++) {
		(void)printf("\n%s\n%-6s %8s %7s %-14s | %-17s | %-17s | %-17s | %-17s\n",
			     tables[table].title, "shape", "samples", "burst", "gaps", "share", "p90", "mean",
			     "rate");
		for (size_t i = 0; i < rows.n; i++)
			failed = print_row(&rows.list[i], table) || failed;
	}
	if (failed)
		(void)printf(
			"FAILED: a bound was wrong in more than %d %% of the windows, or one away from the bursts in more than %d %%\n",
			WRONG_MOST, AWAY_WRONG_MOST);
	return failed;
}

static struct service *find(struct service *services, size_t n, const char *path)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(services[i].path, path) == 0)
			return &services[i];
	abort();
}

/* The thresholds of rules on these services, if the true figures are at AT_LOW_RATE of them. */
static void add_alarms(struct rules *rules, const struct truth *truth, bool below)
{
	const double at[KINDS] = {truth->share, edge_at_p90(truth), truth->mean, truth->rate};

	for (unsigned kind = 0; kind < KINDS; kind++)
		if (below)
			(void)add_below(rules, kind, at[kind] * AT_LOW_RATE);
		else
			(void)rule_add(rules, kind, everything, at[kind] / AT_LOW_RATE);
}

/* Sets *ret_most to the largest number in a cell, if that is larger. */
static int alarms_of(enum shape shape, bool below, unsigned window, unsigned days, double *ret_most)
{
	static struct service services[COUNT(lengths)];
	_cleanup_(policy_freep) struct policy *policy = NULL;
	u64 fires[COUNT(lengths)][KINDS] = {0};
	struct rules rules = {0};
	struct truth truth;

	for (unsigned i = 0; i < n_lengths; i++)
		service_open(&services[i], shape, lengths[i], 100, i);
	truth = truth_of(&services[0]);
	add_alarms(&rules, &truth, below);
	for (size_t i = 0; i < rules.n; i++)
		rules.list[i].window_ns = window * NSEC_PER_SEC;
	if (policy_open(&rules, &policy) < 0)
		return -1;
	for (unsigned tick = 0; tick < days * DAY; tick++) {
		const struct transition *transitions;
		size_t n;

		if (step(policy, services, n_lengths, tick, &transitions, &n) < 0)
			return -1;
		for (size_t i = 0; i < n; i++)
			if (transitions[i].to == ALERT_FIRING)
				for (unsigned kind = 0; kind < KINDS; kind++)
					if (!strcmp(transitions[i].alert.rule->name, rules.list[kind].name))
						fires[find(services, n_lengths, transitions[i].alert.cgroup) -
						      services][kind]++;
	}
	for (unsigned i = 0; i < n_lengths; i++) {
		(void)printf("%-6s %-5s %5us %6gs", shapes[shape].word, below ? "below" : "above", window,
			     lengths[i]);
		for (unsigned kind = 0; kind < KINDS; kind++) {
			double a_month = (double)fires[i][kind] * MONTH / DAY / days;

			(void)printf(" %10.1f", a_month);
			*ret_most = fmax(*ret_most, a_month);
		}
		(void)printf("\n");
	}
	return fflush(stdout);
}

static void print_alarms_head(unsigned days)
{
	(void)printf(
		"False alarms a service and month, the true figure at %g of the threshold (a rule with `below`: the threshold at %g of the figure), all else but the window as by default; 100 samples a second; of %u days.\n\n"
		"%-6s %-5s %6s %7s %10s %10s %10s %10s\n",
		AT_LOW_RATE, AT_LOW_RATE, days, "shape", "rule", "window", "burst", "share", "p90", "mean",
		"rate");
}

/* Rules that fire on the side of the bursts. */
static int alarms(unsigned days)
{
	double most = 0;

	print_alarms_head(days);
	if (alarms_of(MIXED, false, WINDOW, days, &most) < 0 ||
	    alarms_of(IDLE, false, WINDOW, days, &most) < 0 || alarms_of(DIPS, true, WINDOW, days, &most) < 0)
		return -1;
	if (most > 1)
		(void)printf("FAILED: more than one false alarm a service and month\n");
	return most > 1;
}

/* Rules that fire on the other side, where a window between two bursts differs from the usual. */
static int away(unsigned days)
{
	double most = 0;

	print_alarms_head(days);
	for (unsigned window = WINDOW; window <= LONG_WINDOW; window += LONG_WINDOW - WINDOW)
		if (alarms_of(MIXED, true, window, days, &most) < 0 ||
		    alarms_of(IDLE, true, window, days, &most) < 0 ||
		    alarms_of(DIPS, false, window, days, &most) < 0)
			return -1;
	return 0;
}

/* 200 services of the same kind, under rules with three thresholds and three confidences. */
static int services(unsigned hours)
{
	static const double confidences[] = {0.95, 0.99, 0.999};
	static const double at[] = {AT_LOW_RATE, 0.9, 1};
	static const double of_services[] = {0, 1, 5};
	static struct service many[200];

	(void)printf(
		"False alarms a day of 200 services together (share; 100 samples a second; of %u hours), by where the true figure\nis and by the rule's confidence.\n\n%6s",
		hours, "burst");
	for (unsigned a = 0; a < COUNT(at); a++)
		for (unsigned c = 0; c < COUNT(confidences); c++)
			(void)printf("  %.1fT %4.1f%%", at[a], 100 * confidences[c]);
	(void)printf("\n");
	for (unsigned l = 0; l < COUNT(of_services); l++) {
		_cleanup_(policy_freep) struct policy *policy = NULL;
		u64 fires[COUNT(at) * COUNT(confidences)] = {0};
		struct rules rules = {0};

		for (unsigned i = 0; i < COUNT(many); i++)
			service_open(&many[i], MIXED, of_services[l], 100, i);
		for (unsigned a = 0; a < COUNT(at); a++)
			for (unsigned c = 0; c < COUNT(confidences); c++)
				rule_add(&rules, SHARE, everything, truth_of(&many[0]).share / at[a])
					->confidence = confidences[c];
		if (policy_open(&rules, &policy) < 0)
			return -1;
		for (unsigned tick = 0; tick < hours * HOUR; tick++) {
			const struct transition *transitions;
			size_t n;

			if (step(policy, many, COUNT(many), tick, &transitions, &n) < 0)
				return -1;
			for (size_t i = 0; i < n; i++)
				if (transitions[i].to == ALERT_FIRING)
					for (size_t r = 0; r < rules.n; r++)
						fires[r] += !strcmp(transitions[i].alert.rule->name,
								    rules.list[r].name);
		}
		(void)printf("%5gs", of_services[l]);
		for (size_t r = 0; r < rules.n; r++)
			(void)printf(" %11.1f", (double)fires[r] * DAY / HOUR / hours);
		(void)printf("\n");
		(void)fflush(stdout);
	}
	return 0;
}

static int compare(const void *a, const void *b)
{
	const unsigned *left = a, *right = b;

	return *left < *right ? -1 : *left > *right;
}

#define STEP_AT   400 /* the longest window is full by then */
#define STEP_S    900
#define STEP_FROM 0.4 /* factor of the chance to be slow; leaves room for a rise */

static int steps_of(enum kind kind, double length, double to, unsigned window, unsigned runs)
{
	_cleanup_free_ struct service *list = calloc(runs, sizeof(*list));
	_cleanup_free_ unsigned *delays = calloc(runs, sizeof(*delays));
	_cleanup_(policy_freep) struct policy *policy = NULL;
	struct rules rules = {0};
	struct truth truth;
	unsigned soon = 0;
	struct rule *rule;

	if (!list || !delays)
		return -1;
	for (unsigned i = 0; i < runs; i++)
		service_open(&list[i], MIXED, length, 100, i);
	for (unsigned i = 0; i < runs; i++)
		list[i].scale = STEP_FROM;
	truth = truth_of(&list[0]);
	rule = rule_add(&rules, kind, everything, kind == SHARE ? truth.share / 0.8 : truth.mean / 0.8);
	rule->window_ns = window * NSEC_PER_SEC;
	if (policy_open(&rules, &policy) < 0)
		return -1;
	for (unsigned tick = 0; tick < STEP_AT + STEP_S; tick++) {
		const struct transition *transitions;
		size_t n;

		for (unsigned i = 0; tick == STEP_AT && i < runs; i++)
			list[i].scale = STEP_FROM * to / 0.8;
		if (step(policy, list, runs, tick, &transitions, &n) < 0)
			return -1;
		for (size_t i = 0; i < n; i++)
			if (transitions[i].to == ALERT_FIRING && tick >= STEP_AT) {
				struct service *service = find(list, runs, transitions[i].alert.cgroup);

				if (service->fires++ == 0)
					service->fired_at = tick - STEP_AT;
			}
	}
	for (unsigned i = 0; i < runs; i++) {
		delays[i] = list[i].fires ? list[i].fired_at : STEP_S;
		soon += delays[i] <= FOR + WINDOW;
	}
	qsort(delays, runs, sizeof(*delays), compare);
	(void)printf("  %5.1f%% %4us %4us", percent(soon, runs), delays[runs / 2], delays[runs * 95 / 100]);
	return fflush(stdout);
}

static int steps(unsigned runs)
{
	static const double of_lengths[] = {0, 0.1, 1, 5};
	static const double to[] = {1.2, 1.5, 3};
	static const unsigned windows[] = {WINDOW, LONG_WINDOW};

	(void)printf(
		"A step of a share from 0.8 to N times the threshold, 100 samples a second, %u runs: how many fire within 90 s\nof the step; the median of the delay, and what 95 %% stay below (%us: not "
		"in that time).\n\n%6s %6s",
		runs, STEP_S, "window", "burst");
	for (unsigned i = 0; i < COUNT(to); i++)
		(void)printf("  %17.1fT", to[i]);
	(void)printf("\n");
	for (unsigned w = 0; w < COUNT(windows); w++)
		for (unsigned l = 0; l < COUNT(of_lengths); l++) {
			(void)printf("%5us %5gs", windows[w], of_lengths[l]);
			for (unsigned i = 0; i < COUNT(to); i++)
				if (steps_of(SHARE, of_lengths[l], to[i], windows[w], runs) < 0)
					return -1;
			(void)printf("\n");
		}
	return 0;
}

int main(int argc, char *argv[])
{
	static const struct {
		const char *word;
		int (*run)(unsigned amount);
		unsigned amount;
	} parts[] = {{"coverage", coverage, 5000},
		     {"alarms", alarms, 30},
		     {"away", away, 7},
		     {"services", services, 24},
		     {"steps", steps, 200}};
	unsigned long amount = argc > 2 ? strtoul(argv[2], NULL, 10) : 0;
	double longest = argc > 3 ? strtod(argv[3], NULL) : INFINITY;

	while (n_lengths > 1 && lengths[n_lengths - 1] > longest)
		n_lengths--;
	fill_pools();
	for (unsigned i = 0; argc >= 2 && argc <= 4 && i < COUNT(parts); i++)
		if (strcmp(argv[1], parts[i].word) == 0) {
			int r = parts[i].run(amount ? (unsigned)amount : parts[i].amount);

			if (r < 0)
				(void)fprintf(stderr, "policy failed\n");
			return r != 0;
		}
	(void)fprintf(stderr, "usage: bursts coverage|alarms|away|services|steps [AMOUNT [LONGEST]]\n");
	return 2;
}

// SPDX-License-Identifier: GPL-2.0
#include "neighbours/traffic.h"

#include <errno.h>
#include <math.h>

#include "pebsd/data_source.h"
#include "pebsd/histogram.h"
#include "window/waits.h"

#define SHARED_SOURCES                                                                     \
	(1U << SOURCE_L3 | 1U << SOURCE_L4 | 1U << SOURCE_MSC | 1U << SOURCE_LOCAL_CACHE | \
	 1U << SOURCE_REMOTE_CACHE | 1U << SOURCE_LOCAL_DRAM | 1U << SOURCE_REMOTE_DRAM |  \
	 1U << SOURCE_PMEM | 1U << SOURCE_CXL)

/* The mean latency of one bin and event. */
struct mean {
	u64 n;
	double latency;
	double error;
};

struct filling {
	const struct traffic_settings *settings;
	struct traffic *traffic;
	size_t points_room;
	u64 bin_length_ns; /* of the open bin */
	size_t bin_points; /* index of the first point of the open bin */
	size_t bins_room;
	struct bin {
		u64 length_ns;
		struct mean means[EVENTS_MAX];
	} * bins;
	u64 latencies[EVENTS_MAX];
	double factors[EVENTS_MAX]; /* of `misses`, for the present collection */
	struct counters *counters;  /* of the entry in the open bin, by event */
};

static void filling_close(const struct filling *filling)
{
	free(filling->bins);
	free(filling->counters);
}

struct traffic *traffic_free(struct traffic *traffic)
{
	if (!traffic)
		return NULL;
	free(traffic->latency);
	free(traffic->error);
	free(traffic->points);
	free(traffic);
	return NULL;
}

static double middle(u32 bucket)
{
	return ((double)histogram_fine_lower(bucket) + (double)histogram_fine_upper(bucket)) / 2;
}

/* The mean is exact. Its error is computed from the middles of the buckets. */
static struct mean mean_of(const struct counters *counters)
{
	struct mean mean = {.n = counters_latency_samples(counters)};
	double n = (double)mean.n, sum = 0, squares = 0;

	mean.latency = (double)counters_latency_sum(counters) / n;
	for (u32 bucket = 0; bucket < FINE_BUCKETS; bucket++) {
		sum += (double)counters->latency[bucket] * middle(bucket);
		squares += (double)counters->latency[bucket] * middle(bucket) * middle(bucket);
	}
	mean.error = sqrt(fmax(0, squares / n - sum / n * sum / n) / (n - 1));
	return mean;
}

static int close_bin(struct filling *filling)
{
	struct traffic *traffic = filling->traffic;
	struct bin *bin;

	if (traffic->n == filling->bins_room) {
		size_t room = 2 * filling->bins_room + 128;
		struct bin *grown = reallocarray(filling->bins, room, sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		filling->bins = grown;
		filling->bins_room = room;
	}
	bin = &filling->bins[traffic->n++];
	*bin = (struct bin){.length_ns = filling->bin_length_ns};
	for (unsigned event = 0; event < EVENTS_MAX; event++) {
		if (!(filling->settings->latency_events >> event & 1))
			continue;
		bin->means[event] = mean_of(&filling->counters[event]);
		filling->latencies[event] += bin->means[event].n;
		filling->counters[event] = (struct counters){0};
	}
	for (size_t i = filling->bin_points; i < traffic->n_points; i++)
		traffic->points[i].traffic /= (double)bin->length_ns / (double)NSEC_PER_SEC;
	filling->bin_points = traffic->n_points;
	traffic->covered_ns += filling->bin_length_ns;
	filling->bin_length_ns = 0;
	return 0;
}

static double factor_of(const struct readings *readings, unsigned event, u64 begin_ns, u64 end_ns)
{
	struct reading before, now;

	if (!readings)
		return 1;
	before = readings_at(readings, event, begin_ns);
	now = readings_at(readings, event, end_ns);
	return reading_scale(&now, &before);
}

/* Ends a bin at the collection closest to the wanted length. */
static int begin_collection(u64 begin_ns, u64 end_ns, void *userdata)
{
	struct filling *filling = userdata;
	u64 length_ns = end_ns - begin_ns;
	int r = 0;

	for (u32 left = filling->settings->misses; left; left &= left - 1) {
		unsigned event = (unsigned)__builtin_ctz(left);

		filling->factors[event] = factor_of(filling->settings->readings, event, begin_ns, end_ns);
	}
	if (filling->bin_length_ns && filling->bin_length_ns + length_ns / 2 > filling->settings->bin_ns)
		r = close_bin(filling);
	filling->bin_length_ns += length_ns;
	return r;
}

static int add_point(struct filling *filling, u32 entry, double weight)
{
	struct traffic *traffic = filling->traffic;

	if (traffic->n_points == filling->points_room) {
		size_t room = 2 * filling->points_room + 1024;
		struct traffic_point *grown = reallocarray(traffic->points, room, sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		traffic->points = grown;
		filling->points_room = room;
	}
	traffic->points[traffic->n_points++] =
		(struct traffic_point){.entry = entry, .bin = (u32)traffic->n, .traffic = weight};
	return 0;
}

static int take_counters(u32 entry, unsigned event, const struct counters *counters, void *userdata)
{
	struct filling *filling = userdata;
	double weight = 0, samples = 0;

	if (entry == filling->settings->entry && filling->settings->latency_events >> event & 1)
		counters_add(&filling->counters[event], counters);
	if (filling->settings->misses >> event & 1) {
		weight = (double)counters_weight(counters) * filling->factors[event] * WAIT_LINE_BYTES;
		return weight > 0 ? add_point(filling, entry, weight) : 0;
	}
	if (!(filling->settings->events >> event & 1))
		return 0;
	for (unsigned source = 0; source < SOURCE_COUNT; source++) {
		if (!(SHARED_SOURCES >> source & 1))
			continue;
		weight += (double)counters->weight[source];
		samples += (double)counters->samples[source];
	}
	/* A recording may lack periods; then it lacks them for all samples. */
	if (weight <= 0)
		weight = samples;
	return weight > 0 ? add_point(filling, entry, weight) : 0;
}

static int compare_points(const void *a, const void *b)
{
	const struct traffic_point *left = a, *right = b;

	if (left->entry != right->entry)
		return left->entry < right->entry ? -1 : 1;
	return (left->bin > right->bin) - (left->bin < right->bin);
}

/* Drops the points of an open bin, and merges those of several collections in one bin. */
static void order_points(struct filling *filling)
{
	struct traffic *traffic = filling->traffic;
	size_t kept = 0;

	traffic->n_points = filling->bin_points;
	if (traffic->n_points > 0)
		qsort(traffic->points, traffic->n_points, sizeof(*traffic->points), compare_points);
	for (size_t i = 0; i < traffic->n_points; i++) {
		struct traffic_point *last = kept ? &traffic->points[kept - 1] : NULL;

		if (last && compare_points(last, &traffic->points[i]) == 0)
			last->traffic += traffic->points[i].traffic;
		else
			traffic->points[kept++] = traffic->points[i];
	}
	traffic->n_points = kept;
}

static int take_latencies(struct filling *filling)
{
	const struct traffic_settings *settings = filling->settings;
	struct traffic *traffic = filling->traffic;
	unsigned most = (unsigned)__builtin_ctz(settings->latency_events);

	for (unsigned event = 0; event < EVENTS_MAX; event++)
		if (filling->latencies[event] > filling->latencies[most])
			most = event;
	traffic->event = most;
	traffic->latency = calloc(traffic->n + 1, sizeof(*traffic->latency));
	traffic->error = calloc(traffic->n + 1, sizeof(*traffic->error));
	if (!traffic->latency || !traffic->error)
		return -ENOMEM;
	for (size_t i = 0; i < traffic->n; i++) {
		const struct bin *bin = &filling->bins[i];
		const struct mean *mean = &bin->means[most];
		bool known = mean->n >= settings->samples_min && bin->length_ns / 2 <= settings->bin_ns;

		traffic->latency[i] = known ? mean->latency : NAN;
		traffic->error[i] = known ? mean->error : NAN;
	}
	return 0;
}

int traffic_new(const struct window *window, const struct traffic_settings *settings, struct traffic **ret)
{
	_cleanup_(traffic_freep) struct traffic *traffic = calloc(1, sizeof(*traffic));
	_cleanup_(filling_close) struct filling filling = {.settings = settings, .traffic = traffic};
	int r;

	filling.counters = calloc(EVENTS_MAX, sizeof(*filling.counters));
	if (!traffic || !filling.counters)
		return -ENOMEM;
	r = window_walk(window, settings->span_ns,
			&(struct window_visitor){.collection = begin_collection,
						 .counters = take_counters,
						 .userdata = &filling});
	if (r < 0)
		return r;
	if (filling.bin_length_ns > 0 && filling.bin_length_ns >= settings->bin_ns / 2)
		r = close_bin(&filling);
	if (r < 0)
		return r;
	order_points(&filling);
	r = take_latencies(&filling);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(traffic);
	return 0;
}

// SPDX-License-Identifier: GPL-2.0
#include "sampling/sampling_frequency.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/monotonic.h"
#include "base/text_file.h"
#include "govern/frequency.h"

#define STAT_PATH "/proc/stat"

#define READ_NS      (10 * NSEC_PER_SEC)
#define READ_LAST_NS (1 * NSEC_PER_SEC)

/* On a machine that is idle for this long, the last known frequency no longer says anything. */
#define KNOWN_NS (300 * NSEC_PER_SEC)

/* Weight of a new frequency in the moving average. */
#define NEW_PART 0.5

struct measured {
	struct frequency_look base; /* the span begins here; at_ns 0: none yet */
	struct frequency_times *times;
	struct cpu_counts *counts;
	u64 period;   /* the longest period since then */
	u64 known_ns; /* time of the last result */
};

struct sampling_frequency {
	struct snapshot *head;
	struct perf_event_set *const *sets;
	size_t n_sets;
	u64 read_ns; /* time of the last reading; 0: none */
	struct frequency_times *times;
	size_t n_times;
	bool fresh; /* `times` was read in this collection */
	struct measured events[EVENTS_MAX];
};

static bool counts_cycles(const struct sampling_frequency *frequency, size_t i)
{
	return perf_event(frequency->sets[i])->role == EVENT_CYCLES;
}

int sampling_frequency_new(struct snapshot *head, struct perf_event_set *const *sets, size_t n_sets,
			   struct sampling_frequency **ret)
{
	struct sampling_frequency *frequency;
	bool any = false;

	*ret = NULL;
	for (size_t i = 0; i < n_sets; i++)
		any = any || perf_event(sets[i])->role == EVENT_CYCLES;
	if (!any)
		return 0;
	frequency = calloc(1, sizeof(*frequency));
	if (!frequency)
		return -ENOMEM;
	frequency->head = head;
	frequency->sets = sets;
	frequency->n_sets = n_sets;
	*ret = frequency;
	return 0;
}

struct sampling_frequency *sampling_frequency_free(struct sampling_frequency *frequency)
{
	if (!frequency)
		return NULL;
	for (size_t i = 0; i < EVENTS_MAX; i++) {
		free(frequency->events[i].times);
		free(frequency->events[i].counts);
	}
	free(frequency->times);
	free(frequency);
	return NULL;
}

void sampling_frequency_read(struct sampling_frequency *frequency, bool last)
{
	const u64 now_ns = monotonic_ns();
	_cleanup_free_ char *text = NULL;
	struct frequency_times *times;
	size_t n;

	if (!frequency || frequency->head->paused ||
	    (frequency->read_ns != 0 && now_ns - frequency->read_ns < (last ? READ_LAST_NS : READ_NS)))
		return;
	frequency->read_ns = now_ns;
	if (text_file_read(STAT_PATH, &text) < 0 || frequency_times_parse(text, &times, &n) < 0)
		return;
	free(frequency->times);
	frequency->times = times;
	frequency->n_times = n;
	frequency->fresh = true;
}

/* Begins a new span. Without memory there is no span until the next reading. */
static void begin(struct measured *measured, const struct frequency_look *look, u64 period)
{
	struct frequency_times *times = malloc((look->n_times + 1) * sizeof(*times));
	struct cpu_counts *counts = malloc((look->n_counts + 1) * sizeof(*counts));

	free(measured->times);
	free(measured->counts);
	measured->times = times;
	measured->counts = counts;
	measured->base = (struct frequency_look){0};
	if (!times || !counts)
		return;
	memcpy(times, look->times, look->n_times * sizeof(*times));
	memcpy(counts, look->counts, look->n_counts * sizeof(*counts));
	measured->base = *look;
	measured->base.times = times;
	measured->base.counts = counts;
	measured->period = period;
}

static void measure(struct sampling_frequency *frequency, size_t i, u64 now_ns)
{
	struct maybe_double *known = &frequency->head->events[i].frequency_hz;
	struct measured *measured = &frequency->events[i];
	const u64 period = perf_event(frequency->sets[i])->period;
	struct frequency_look now = {
		.at_ns = now_ns, .times = frequency->times, .n_times = frequency->n_times};
	enum frequency_result result = FREQUENCY_NOTHING;
	double hz = 0;

	now.counts = perf_count_cpus(frequency->sets[i], &now.n_counts);
	if (period > measured->period)
		measured->period = period;
	if (measured->base.at_ns != 0)
		result = frequency_of(&measured->base, &now, measured->period, sysconf(_SC_CLK_TCK), &hz);
	if (result == FREQUENCY_KNOWN) {
		known->value = known->known ? known->value + (hz - known->value) * NEW_PART : hz;
		known->known = true;
		measured->known_ns = now_ns;
	} else if (now_ns - measured->known_ns >= KNOWN_NS) {
		*known = (struct maybe_double){0};
	}
	if (result != FREQUENCY_TOO_LITTLE || now_ns - measured->base.at_ns >= KNOWN_NS)
		begin(measured, &now, period);
}

void sampling_frequency_counted(struct sampling_frequency *frequency)
{
	if (!frequency || !frequency->fresh)
		return;
	frequency->fresh = false;
	for (size_t i = 0; i < frequency->n_sets; i++)
		if (counts_cycles(frequency, i))
			measure(frequency, i, frequency->read_ns);
}

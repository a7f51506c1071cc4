// SPDX-License-Identifier: GPL-2.0
#include "sampling/sampling_govern.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/log.h"
#include "base/monotonic.h"
#include "base/text.h"
#include "base/text_file.h"
#include "govern/calibrate.h"
#include "govern/governor.h"
#include "govern/inputs.h"

#define PERCENT_PATH "/proc/sys/kernel/perf_cpu_time_max_percent"

/* The number of changes that are logged at once. After that, one is logged per LOG_NS. */
#define LOG_BURST 3
#define LOG_NS    (60 * NSEC_PER_SEC)

/* The reason why samples are few is logged at most once per LOG_HELD_NS. */
#define LOG_HELD_NS (600 * NSEC_PER_SEC)

/* Number of timed runs that give a useful mean, and the weight of a new mean in the moving average. */
#define RUNS_LEAST 8
#define NEW_PART   0.25

struct governed {
	bool fixed;
	u64 usual_period; /* from the plan of the PMU; 0: not known, because the user set the period */
	u64 least_period; /* least period that the kernel accepted; 0: as planned */
	/* State at the last step. */
	size_t n_before;
	struct cpu_counts *before;
	double per_second; /* samples on the busiest CPU, when last known */
	struct kernel_body_time body;
	u64 body_cpus;
	/* Logged changes. */
	unsigned burst;
	u64 logged_ns;
	u64 unlogged;
	u64 held_logged_ns; /* 0: never */
};

struct sampling_govern {
	struct sampling_govern_settings settings;
	double budget;
	struct governor *governor;
	struct calibration *calibration; /* NULL: not running */
	unsigned calibrations_failed;    /* in a row, each with an event whose result is unknown */
	u64 calibrate_ns;                /* earliest time of the next one; UINT64_MAX: none */
	struct calibrate_result interrupts[EVENTS_MAX];
	u64 percent; /* kernel.perf_cpu_time_max_percent; 0: unknown */
	u64 stepped_ns;
	unsigned steps;
	struct governed events[EVENTS_MAX];
};

static u64 read_percent(void)
{
	_cleanup_free_ char *text = NULL;

	return text_file_read(PERCENT_PATH, &text) < 0 ? 0 : strtoull(text, NULL, 10);
}

int sampling_govern_new(const struct sampling_govern_settings *settings, struct sampling_govern **ret)
{
	_cleanup_(sampling_govern_freep) struct sampling_govern *govern = calloc(1, sizeof(*govern));
	const struct event_spec *specs[EVENTS_MAX] = {0};
	struct governor_settings wanted = {
		.budget = settings->config->budget,
		.n_events = settings->n_sets,
	};
	int r;

	if (!govern)
		return -ENOMEM;
	govern->settings = *settings;
	govern->budget = settings->config->budget;
	govern->percent = read_percent();
	govern->stepped_ns = monotonic_ns();
	for (size_t i = 0; i < settings->n_sets; i++) {
		specs[i] = perf_spec(settings->sets[i]);
		wanted.count[i] = event_is_count(&specs[i]->event);
	}
	govern_classes(specs, settings->n_sets, wanted.class_of);
	r = governor_new(&wanted, &govern->governor);
	if (r < 0)
		return r;
	sampling_govern_periods_set(govern, &settings->config->periods);
	*ret = TAKE_PTR(govern);
	return 0;
}

struct sampling_govern *sampling_govern_free(struct sampling_govern *govern)
{
	if (!govern)
		return NULL;
	calibration_free(govern->calibration);
	governor_free(govern->governor);
	for (size_t i = 0; i < EVENTS_MAX; i++)
		free(govern->events[i].before);
	free(govern);
	return NULL;
}

void sampling_govern_set_budget(struct sampling_govern *govern, double budget)
{
	if (governor_set_budget(govern->governor, budget) == 0)
		govern->budget = budget;
}

void sampling_govern_keeps(const struct sampling_govern *govern, const struct event_periods *periods,
			   bool ret[static EVENTS_MAX])
{
	for (size_t i = 0; i < govern->settings.n_sets; i++)
		ret[i] = govern->budget > 0 && !govern->events[i].fixed &&
			 event_period_of(periods, perf_event(govern->settings.sets[i])->role) ==
				 CONFIG_PERIOD_AUTO;
}

void sampling_govern_periods_set(struct sampling_govern *govern, const struct event_periods *periods)
{
	for (size_t i = 0; i < govern->settings.n_sets; i++) {
		const struct event_spec *spec = perf_spec(govern->settings.sets[i]);
		struct governed *event = &govern->events[i];
		const bool fixed = event_period_of(periods, spec->event.role) != CONFIG_PERIOD_AUTO;

		if (!fixed && (event->usual_period == 0 || event->fixed))
			event->usual_period = spec->event.period;
		if (fixed != event->fixed)
			governor_forget(govern->governor, i);
		event->fixed = fixed;
	}
}

/*
 * Updates the mean time of the sampling program on the event's CPUs if enough runs were timed since the last
 * update. All events of a CPU share one clock.
 */
static void time_program(struct sampling_govern *govern, size_t i)
{
	struct governed *event = &govern->events[i];
	struct maybe_double *known = &govern->settings.head->events[i].cost.program_ns;
	struct kernel_body_time sum = {0};
	const struct cpu_counts *cpus;
	double mean;
	size_t n;

	cpus = perf_count_cpus(govern->settings.sets[i], &n);
	for (size_t cpu = 0; cpu < n; cpu++) {
		struct kernel_body_time one = kernel_body_time(govern->settings.kernel, (u32)cpus[cpu].cpu);

		sum.timed += one.timed;
		sum.timed_ns += one.timed_ns;
	}
	if (n != event->body_cpus) {
		/*
		 * A new CPU's clock includes runs from before this interval, so this interval yields no mean.
		 */
		event->body_cpus = n;
		event->body = sum;
		return;
	}
	if (sum.timed < event->body.timed + RUNS_LEAST)
		return;
	mean = (double)(sum.timed_ns - event->body.timed_ns) / (double)(sum.timed - event->body.timed);
	event->body = sum;
	known->value = known->known ? known->value + (mean - known->value) * NEW_PART : mean;
	known->known = true;
}

static void keep_counts(struct governed *event, const struct cpu_counts *now, size_t n)
{
	struct cpu_counts *before = n > event->n_before || !event->before
					    ? reallocarray(event->before, n ? n : 1, sizeof(*before))
					    : event->before;

	/* Without the previous counts, the rates of the next interval are unknown. */
	if (!before) {
		event->n_before = 0;
		return;
	}
	event->before = before;
	event->n_before = n;
	if (n > 0)
		memcpy(before, now, n * sizeof(*before));
}

/*
 * Returns the cost of a sample of the event. `bound_ns` stands for the cost of an interrupt until it is
 * measured. If the cost of sparse samples is unknown, all samples count as dense ones, which is the least
 * that they can cost.
 */
static struct sample_cost sample_cost_of(const struct sampling_govern *govern, size_t i, double bound_ns)
{
	const struct maybe_double *program_ns = &govern->settings.head->events[i].cost.program_ns;
	const struct calibrate_timing *dense = &govern->interrupts[i].dense;
	const struct calibrate_timing *sparse = &govern->interrupts[i].sparse;

	return (struct sample_cost){
		.program_ns = program_ns->known ? program_ns->value : 0,
		.dense_ns = dense->known ? dense->ns : bound_ns,
		.dense_per_second = dense->known ? dense->per_second : 0,
		.sparse_ns = sparse->known ? sparse->ns : 0,
		.sparse_per_second = sparse->known ? sparse->per_second : 0,
	};
}

static void read_input(struct sampling_govern *govern, size_t i, double seconds, u64 max_rate,
		       struct governor_input *ret)
{
	const struct event_spec *spec = perf_spec(govern->settings.sets[i]);
	struct governed *event = &govern->events[i];
	const struct cpu_counts *now;
	size_t n;

	time_program(govern, i);
	now = perf_count_cpus(govern->settings.sets[i], &n);
	*ret = (struct governor_input){.fixed = event->fixed, .period = spec->event.period};
	govern_busiest(seconds, event->before, event->n_before, now, n, ret);
	govern_bounds(spec, event->usual_period ? event->usual_period : spec->event.period, ret);
	if (event->least_period > ret->least_period)
		ret->least_period = event->least_period;
	ret->sample = sample_cost_of(govern, i, calibrate_bound_ns(max_rate, govern->percent));
	if (ret->known)
		event->per_second = ret->events_per_second / (double)ret->period;
	keep_counts(event, now, n);
}

static struct snapshot_interrupt shown_timing(const struct calibrate_timing *timing)
{
	return (struct snapshot_interrupt){timing->known, timing->ns, timing->per_second};
}

static void show(struct sampling_govern *govern, size_t i, const struct governor_input *input,
		 const struct governor_output *output)
{
	const struct calibrate_result *interrupt = &govern->interrupts[i];
	struct snapshot_cost *cost = &govern->settings.head->events[i].cost;
	const bool known = interrupt->dense.known;
	const bool measured = output->measured && known && cost->program_ns.known;

	cost->interrupt_ns = (struct maybe_double){
		known, known ? sample_cost_interrupt_ns(&input->sample, govern->events[i].per_second) : 0};
	cost->dense = shown_timing(&interrupt->dense);
	cost->sparse = shown_timing(&interrupt->sparse);
	cost->ratio = (struct maybe_double){measured, measured ? output->cost : 0};
	/* An event with a fixed period has no budget. */
	cost->budget = (struct maybe_double){output->budget > 0, output->budget};
	cost->state = govern->budget > 0 ? governor_state(input, output) : NULL;
}

/* Returns whether another message about the event may be logged now. */
static bool may_log(struct governed *event, u64 now_ns)
{
	const u64 earned = (now_ns - event->logged_ns) / LOG_NS;

	if (event->logged_ns == 0 || earned >= LOG_BURST)
		event->burst = LOG_BURST;
	else if (earned > 0 && event->burst < LOG_BURST)
		event->burst += (unsigned)earned;
	if (event->burst == 0) {
		event->unlogged++;
		return false;
	}
	event->burst--;
	event->logged_ns = now_ns;
	return true;
}

static void log_change(struct sampling_govern *govern, size_t i, u64 before,
		       const struct governor_output *output)
{
	const char *key = govern->settings.head->events[i].key;
	struct governed *event = &govern->events[i];
	char more[96] = "";

	if (!may_log(event, monotonic_ns()))
		return;
	if (event->unlogged)
		(void)snprintf(more, sizeof(more), "; earlier changes that were not logged: %llu",
			       (unsigned long long)event->unlogged);
	event->unlogged = 0;
	log_notice("the governor: the period of %s is now %llu (was %llu): %s%s", key,
		   (unsigned long long)output->period, (unsigned long long)before,
		   governor_reason_name(output->reason), more);
}

/*
 * Notes the reason why the kernel keeps samples few, as long as it does so. In an interval with a change the
 * reason may be unknown, so the note stays as it is.
 */
static void note_held(struct sampling_govern *govern, size_t i, const struct governor_input *input,
		      const struct governor_output *output, u64 max_rate)
{
	const char *key = govern->settings.head->events[i].key;
	struct governed *event = &govern->events[i];
	const u64 now_ns = monotonic_ns();
	char *text;

	if (output->reason != GOVERNOR_STEADY)
		return;
	text = governor_note(key, input, output, max_rate);
	if (perf_notes_set(govern->settings.notes, PERF_NOTE_OF(i, PERF_NOTE_HELD), text) != PERF_NOTE_CAME ||
	    (event->held_logged_ns > 0 && now_ns - event->held_logged_ns < LOG_HELD_NS))
		return;
	event->held_logged_ns = now_ns;
	log_notice("the governor: %s", text);
}

static void apply(struct sampling_govern *govern, size_t i, const struct governor_output *output)
{
	struct snapshot_event *shown = &govern->settings.head->events[i];
	struct perf_event_set *set = govern->settings.sets[i];
	struct governed *event = &govern->events[i];
	const u64 before = perf_event(set)->period;
	_cleanup_free_ char *message = NULL;
	int r;

	if (output->period == before)
		return;
	r = perf_set_period(set, output->period, &message);
	if (r < 0) {
		/*
		 * One CPU has a minimum period that the plan does not know. From now on, the present period
		 * is the minimum.
		 */
		if (output->period < before)
			event->least_period = before;
		if (may_log(event, monotonic_ns()))
			(void)log_warning(0, "the governor: %s", message ? message : strerror(-r));
		return;
	}
	shown->event.period = output->period;
	shown->cost.changes[output->reason]++;
	log_change(govern, i, before, output);
}

static char *unknown_interrupt(const char *key, const struct calibrate_result *interrupt,
			       double retry_seconds)
{
	char again[TEXT_TIME_MAX + 32] = "pebsd does not try again", time[TEXT_TIME_MAX];
	struct timespec at;
	char *text;

	/* The note is shown until the retry, so it gives the time of day of the retry. */
	if (retry_seconds > 0) {
		(void)clock_gettime(CLOCK_REALTIME, &at);
		at.tv_sec += (time_t)retry_seconds;
		text_time(&at, time);
		(void)snprintf(again, sizeof(again), "pebsd tries again at %s", time);
	}
	if (interrupt->dense.known) {
		if (asprintf(
			    &text,
			    "cannot measure how long an interrupt of %s takes when samples are rare: %s; %s; without this measurement, pebsd assumes the time of frequent samples, so the reported cost is a lower bound, and sampling may exceed the budget",
			    key, interrupt->sparse.reason, again) < 0)
			return NULL;
		return text;
	}
	if (asprintf(
		    &text,
		    "cannot measure how long an interrupt of %s takes: %s; %s; without this measurement, the budget assumes the longest time that the kernel allows (kernel.perf_event_max_sample_rate, kernel.perf_cpu_time_max_percent), and the cost of sampling is not shown",
		    key, interrupt->dense.reason, again) < 0)
		return NULL;
	return text;
}

static bool is_known(const struct calibrate_result *interrupt)
{
	return interrupt->dense.known && interrupt->sparse.known;
}

/*
 * Notes an unknown result in the status until it is known, and logs either outcome. `retry_seconds`: 0 if
 * there is no retry.
 */
static void log_interrupt(struct sampling_govern *govern, size_t i, double retry_seconds)
{
	const size_t note = PERF_NOTE_OF(i, PERF_NOTE_INTERRUPT);
	const struct calibrate_result *interrupt = &govern->interrupts[i];
	const char *key = govern->settings.head->events[i].key;
	char *text;

	if (is_known(interrupt)) {
		(void)perf_notes_set(govern->settings.notes, note, NULL);
		log_info("an interrupt of %s takes %.0f ns at %.0f samples per second and %.0f ns at "
			 "%.0f, without pebsd's BPF program",
			 key, interrupt->dense.ns, interrupt->dense.per_second, interrupt->sparse.ns,
			 interrupt->sparse.per_second);
		return;
	}
	text = unknown_interrupt(key, interrupt, retry_seconds);
	if (!text)
		return;
	log_notice("%s", text);
	(void)perf_notes_set(govern->settings.notes, note, text);
}

/*
 * Takes the results. Reports those that were unknown before, and schedules a retry for those that are unknown
 * now.
 */
static void calibrated(struct sampling_govern *govern,
		       const struct calibrate_result results[static EVENTS_MAX])
{
	const size_t n = govern->settings.n_sets;
	bool failed = false;
	double seconds = 0;

	for (size_t i = 0; i < n; i++)
		failed |= !is_known(&results[i]);
	if (failed)
		seconds = calibrate_retry_seconds(++govern->calibrations_failed);
	govern->calibrate_ns =
		seconds > 0 ? monotonic_ns() + (u64)(seconds * (double)NSEC_PER_SEC) : UINT64_MAX;
	for (size_t i = 0; i < n; i++) {
		const bool was_known = is_known(&govern->interrupts[i]);

		govern->interrupts[i] = results[i];
		if (!was_known)
			log_interrupt(govern, i, seconds);
	}
}

static void begin_calibration(struct sampling_govern *govern, u64 max_rate)
{
	const struct sampling_govern_settings *settings = &govern->settings;
	const struct event_spec *specs[EVENTS_MAX] = {0};
	struct calibrate_result results[EVENTS_MAX];
	char reason[CALIBRATE_REASON_MAX];
	const struct calibrate_program program = {.fd = kernel_empty_program_fd(settings->kernel),
						  .runs = kernel_empty_program_runs(settings->kernel)};
	int r = program.fd;

	for (size_t i = 0; i < settings->n_sets; i++)
		specs[i] = perf_spec(settings->sets[i]);
	if (program.fd >= 0)
		r = calibration_new(specs, settings->n_sets, govern->interrupts, &program, max_rate,
				    &govern->calibration);
	if (r >= 0)
		return;
	(void)snprintf(reason, sizeof(reason), "the measurement could not start: %.100s", strerror(-r));
	memcpy(results, govern->interrupts, sizeof(results));
	for (size_t i = 0; i < settings->n_sets; i++)
		calibrate_refuse(&results[i], reason);
	calibrated(govern, results);
}

/*
 * Begins the calibration after the first whole interval, when samples come, and takes its results when it has
 * ended.
 */
static void calibrate(struct sampling_govern *govern, u64 max_rate)
{
	struct calibrate_result results[EVENTS_MAX] = {0};
	const struct calibrate_result *found;

	/* The calibration would take counters that the pause left to other tools. */
	if (govern->settings.head->paused)
		return;
	if (!govern->calibration) {
		if (govern->budget > 0 && govern->steps > 0 && govern->settings.n_sets > 0 &&
		    monotonic_ns() >= govern->calibrate_ns)
			begin_calibration(govern, max_rate);
		return;
	}
	found = calibration_results(govern->calibration);
	if (!found)
		return;
	memcpy(results, found, govern->settings.n_sets * sizeof(*found));
	govern->calibration = calibration_free(govern->calibration);
	calibrated(govern, results);
}

/* A calibration that was running begins again after the pause, since its time has come already. */
void sampling_govern_pause(struct sampling_govern *govern)
{
	if (govern)
		govern->calibration = calibration_free(govern->calibration);
}

void sampling_govern_counted(struct sampling_govern *govern, u64 max_rate)
{
	const struct sampling_govern_settings *settings = &govern->settings;
	const u64 now_ns = monotonic_ns();
	const double seconds = (double)(now_ns - govern->stepped_ns) / (double)NSEC_PER_SEC;
	struct governor_input inputs[EVENTS_MAX] = {0};
	struct governor_output outputs[EVENTS_MAX] = {0};

	if (seconds < settings->head->interval_seconds / 2)
		return;
	govern->stepped_ns = now_ns;
	calibrate(govern, max_rate);
	govern->steps++;
	for (size_t i = 0; i < settings->n_sets; i++)
		read_input(govern, i, seconds, max_rate, &inputs[i]);
	governor_step(govern->governor, seconds, max_rate, inputs, outputs);
	for (size_t i = 0; i < settings->n_sets; i++) {
		show(govern, i, &inputs[i], &outputs[i]);
		note_held(govern, i, &inputs[i], &outputs[i], max_rate);
		apply(govern, i, &outputs[i]);
	}
}

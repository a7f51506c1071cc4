// SPDX-License-Identifier: GPL-2.0
/*
 * What the interrupt of a sample costs on this machine, without our program: memory work is timed with and
 * without interrupts of an event of the same PMU and precision, opened for the working thread alone, whose
 * program only counts its runs. The difference is the interrupt: the record, the handler, and the call of an
 * empty program. It is timed at two rates, as it takes several times as long where the caches have forgotten
 * the handler (govern/sample_cost.h):
 *
 * dense:  the same work is done with and without the event, round by round, at up to a quarter of
 *         kernel.perf_event_max_sample_rate. The difference of the thread's CPU time, by the samples that
 *         came, has all that an interrupt does, what it displaced included.
 * sparse: CALIBRATE_SPARSE_PER_SECOND samples come in a second of the work, which is done in pieces of some
 *         10 us. A piece in which the program ran is held against those before it. Between two samples the
 *         work passes several times through more lines than second level caches hold, and now and then runs
 *         through as much code as first level caches hold, with thousands of branches. What an interrupt
 *         displaces and is fetched again after the piece is not in this figure.
 *
 * The thread's event is pinned. The kernel then gives counters to pinned events of the CPU first, which
 * sample for pebsd, then to this one, and last to events that take turns (ctx_resched() in
 * kernel/events/core.c, Linux 6.1 to 7.3). So sampling never stands still for a timing, and off-core counters
 * make room for it: on one CPU, while a half of a round runs. Their times enabled and running account for
 * that. Taking them away, or timing before they are opened, would stop them on every CPU, and would have to
 * be done again for each retry and for counters that outlived the process before.
 *
 * It runs on a thread of its own, for half a second an event; nobody waits for it. If rounds do not agree, or
 * no counter is left, the result is unknown, and `reason` says why. It is then tried again later:
 * calibrate_retry_seconds().
 */
#ifndef PEBSD_CALIBRATE_H
#define PEBSD_CALIBRATE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/cleanup.h"
#include "origin/pmu/pmu.h"

#define CALIBRATE_ROUNDS     16
#define CALIBRATE_ROUNDS_MAX 32 /* twice as many, if the first ones do not tell */
#define CALIBRATE_REASON_MAX 200

/* At some hundred samples a second and fewer an interrupt takes no longer: at one in 5 ms to 50 ms it took the
 * same, at one in 1 ms less (debug exceptions of a virtual machine that has no PMU, Linux 6.18). */
#define CALIBRATE_SPARSE_PER_SECOND 100.0

/* One round: the same work with and without samples, and as much of it in every round. */
struct calibrate_round {
	double with_ns;
	double without_ns;
	double samples; /* that came with it */
};

/* What an interrupt takes at one rate. */
struct calibrate_timing {
	bool known;
	double ns;
	double per_second;                 /* samples in a second of the work */
	char reason[CALIBRATE_REASON_MAX]; /* why it is not known; a part of a sentence */
};

struct calibrate_result {
	struct calibrate_timing dense;
	struct calibrate_timing sparse; /* not known where `dense` is not */
};

/* The program of the event: where it counts its runs, and nothing else. */
struct calibrate_program {
	int fd;
	const u64 *runs; /* written by the kernel */
};

/*
 * What the rounds say: the median of what a sample cost in each. Whatever interrupts a round (a hypervisor
 * that takes the CPU, a system management interrupt) can only make it longer. So a round is thrown away if
 * one of its halves took more than one and a half times the lower quartile of these halves. The result is
 * unknown if fewer than half of CALIBRATE_ROUNDS had samples or are left; and of those left, if the cost is
 * not positive in three of four, or if half of them are further from the median than its half. Takes
 * CALIBRATE_ROUNDS_MAX rounds at most. The rate is that of the halves with samples. Pure.
 */
void calibrate_judge(const struct calibrate_round *rounds, size_t n, struct calibrate_timing *ret);

/* Says of all that is not known that it is not for that reason. Pure. */
void calibrate_refuse(struct calibrate_result *result, const char *reason);

/* How long after it failed for the `failed`th time it is tried again, in seconds; 0: no more. Pure. */
double calibrate_retry_seconds(unsigned failed);

/*
 * What an interrupt takes at most, on average, for the kernel not to lower its limit: `percent`
 * (kernel.perf_cpu_time_max_percent) of the time from one sample to the next at `max_rate`
 * (kernel.perf_event_max_sample_rate); perf_sample_event_took(), kernel/events/core.c, Linux 6.1 to 7.3. For
 * steering where nothing was measured, never to be shown. 2,500 ns, as with the kernel's own defaults, where
 * either is not known or the kernel minds neither (0 or 100 percent); 1,000 to 25,000 in any case. Pure.
 */
double calibrate_bound_ns(u64 max_rate, u64 percent);

/* The work: does `units` of it, each of which makes some of the event's events. */
typedef void (*calibrate_work)(void *userdata, u64 units);

/*
 * One event, on the calling thread and with its work. `max_rate` as above, of which a quarter is used. Looks
 * at `*stop` between rounds. What `result` knows already is not measured again.
 */
void calibrate_measure(const struct pmu_opening *opening, const struct calibrate_program *program,
		       u64 max_rate, calibrate_work work, void *userdata, const bool *stop,
		       struct calibrate_result *result);

struct calibration;

/*
 * Begins, for so many events, on a thread of its own. Events of one PMU, precise ones all or none, are
 * measured once; an event that one counter alone can hold, or that finds no counter, goes by another one's.
 * What is known in `before` (NULL: nothing) is not measured again. The program is the caller's, and stays
 * until the calibration is freed. 0 or -errno.
 */
int calibration_new(const struct pmu_opening *const *openings, size_t n,
		    const struct calibrate_result *before, const struct calibrate_program *program,
		    u64 max_rate, struct calibration **ret);

/* The result of each event, in their order; NULL as long as it runs. The calibration's. */
const struct calibrate_result *calibration_results(const struct calibration *calibration);

/* Ends it, within some milliseconds, whether it is done or not. */
struct calibration *calibration_free(struct calibration *calibration);
DEFINE_CLEANUP(struct calibration *, calibration_free)

#endif

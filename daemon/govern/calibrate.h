// SPDX-License-Identifier: GPL-2.0
/*
 * Measures the cost of a sample's interrupt on this machine, without pebsd's program. Memory work is timed
 * with and without interrupts of an event of the same PMU and precision. The event is opened only for the
 * thread that does the work, and its program only counts its runs. The difference is the cost of the
 * interrupt: the record, the handler, and the call of an empty program. The cost is measured at two rates,
 * because an interrupt takes several times as long when its handler is no longer in the caches
 * (govern/sample_cost.h):
 *
 * - dense: the same work is done with and without the event, round by round, at up to a quarter of
 *   kernel.perf_event_max_sample_rate. The difference of the thread's CPU time, divided by the samples that
 *   came, contains all that an interrupt does, including the effect of what it displaced from the caches.
 * - sparse: CALIBRATE_SPARSE_PER_SECOND samples come in a second of the work, which is done in pieces of
 *   about 10 us. A piece in which the program ran is compared with those before it. Between two samples the
 *   work passes several times through more lines than most second level caches hold. From time to time it also
 *   runs through as much code as first level caches hold, with thousands of branches. This result excludes
 *   what an interrupt displaces and the work fetches again after the piece.
 *
 * The thread's event is pinned. The kernel then gives counters first to pinned events of the CPU, which
 * sample for pebsd, then to this one, and last to events that share counters by multiplexing (ctx_resched()
 * in kernel/events/core.c, Linux 6.1 to 7.3). So sampling never stands still for a timing. Off-core counters
 * give way to the thread's event, on one CPU and for half a round at a time. Their enabled and running times
 * account for that. To close them for each calibration, or to open them only after it, would be worse: they
 * would stop on every CPU, again for each retry, and also if they are inherited from the previous process.
 *
 * The calibration runs on a thread of its own, for half a second for each event; nobody waits for it. If
 * rounds do not agree, or no counter is left, the result is unknown, and `reason` says why. The calibration
 * is then retried: calibrate_retry_seconds().
 */
#ifndef PEBSD_CALIBRATE_H
#define PEBSD_CALIBRATE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/cleanup.h"
#include "origin/pmu/pmu.h"

#define CALIBRATE_ROUNDS     16
#define CALIBRATE_ROUNDS_MAX 32 /* limit if the first CALIBRATE_ROUNDS give no result */
#define CALIBRATE_REASON_MAX 200

/*
 * At a few hundred samples a second and fewer, an interrupt takes no longer than at this rate. It took the
 * same time at one sample in 5 ms as at one in 50 ms, and less at one in 1 ms (measured with debug exceptions
 * in a virtual machine without a PMU, Linux 6.18).
 */
#define CALIBRATE_SPARSE_PER_SECOND 100.0

/*
 * One round: the time of an amount of work with samples and without. The amount is the same in every round.
 */
struct calibrate_round {
	double with_ns;
	double without_ns;
	double samples; /* during the work with samples */
};

/* The cost of an interrupt at one rate. */
struct calibrate_timing {
	bool known;
	double ns;
	double per_second;                 /* samples in a second of the work */
	char reason[CALIBRATE_REASON_MAX]; /* the reason why the cost is unknown; a part of a sentence */
};

struct calibrate_result {
	struct calibrate_timing dense;
	struct calibrate_timing sparse; /* unknown if `dense` is unknown */
};

/* The program of the event, which only counts its runs. */
struct calibrate_program {
	int fd;
	const u64 *runs; /* written by the kernel */
};

/*
 * Computes the result of the rounds: the median of the cost of a sample in each round. An interruption (a
 * hypervisor that takes the CPU, a system management interrupt) can only make a round longer. A round is
 * therefore dropped if one of its halves took more than one and a half times the lower quartile of these
 * halves. The result is unknown in these cases:
 * - fewer than half of CALIBRATE_ROUNDS had samples or are left;
 * - the cost is positive in fewer than three of four rounds that are left;
 * - half of the rounds that are left are further from the median than half of the median.
 *
 * Uses at most CALIBRATE_ROUNDS_MAX rounds. The rate is that of the halves with samples. Pure: no clock.
 */
void calibrate_judge(const struct calibrate_round *rounds, size_t n, struct calibrate_timing *ret);

/* Sets `reason` for each timing that is unknown. Pure: no system call. */
void calibrate_refuse(struct calibrate_result *result, const char *reason);

/*
 * Returns the seconds until a retry after the calibration failed for the `failed`th time in a row; 0: no
 * retry. Pure: no clock.
 */
double calibrate_retry_seconds(unsigned failed);

/*
 * Returns the most that an interrupt may take on average before the kernel lowers its limit. This is
 * `percent` (kernel.perf_cpu_time_max_percent) of the time from one sample to the next at `max_rate`
 * (kernel.perf_event_max_sample_rate); perf_sample_event_took(), kernel/events/core.c, Linux 6.1 to 7.3. It
 * steers the governor when nothing was measured and is never shown. If either value is unknown, or if the
 * kernel does not check the time (0 or 100 percent), it is 2,500 ns, as with the kernel's defaults. It is
 * always between 1,000 and 25,000 ns. Pure: no system call.
 */
double calibrate_bound_ns(u64 max_rate, u64 percent);

/* Does `units` of the work. Each unit causes some events of the kind that is measured. */
typedef void (*calibrate_work)(void *userdata, u64 units);

/*
 * Measures one event with its work, on the calling thread. `max_rate` is as for calibrate_bound_ns(); at most
 * a quarter of it is used. Checks `*stop` between rounds. Timings that `result` already knows are not
 * measured again.
 */
void calibrate_measure(const struct event_spec *spec, const struct calibrate_program *program, u64 max_rate,
		       calibrate_work work, void *userdata, const bool *stop,
		       struct calibrate_result *result);

struct calibration;

/*
 * Begins to measure `n` events on a thread of its own. Two events of one PMU share one measurement if both
 * are precise or neither is. Events that only one counter can hold come last and are not measured: they only
 * get a result that another event has and that they can share. An event that found no counter takes such a
 * result from an event that was measured later. Timings that `before` knows (NULL: none) are not measured
 * again. The caller owns the program, which must stay open until the calibration is freed. Returns 0 or
 * -errno.
 */
int calibration_new(const struct event_spec *const *specs, size_t n, const struct calibrate_result *before,
		    const struct calibrate_program *program, u64 max_rate, struct calibration **ret);

/*
 * Returns the result of each event, in the order of `specs`, or NULL while the calibration runs. The
 * calibration owns the results.
 */
const struct calibrate_result *calibration_results(const struct calibration *calibration);

/* Ends the calibration, usually within some milliseconds, even if it has no result yet. */
struct calibration *calibration_free(struct calibration *calibration);
DEFINE_CLEANUP(struct calibration *, calibration_free)

#endif

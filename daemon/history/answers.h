// SPDX-License-Identifier: GPL-2.0
/*
 * Questions about the past, and a cache of their answers: a client that waits asks the same question again until the
 * answer is there. Bounded in number and memory. No system call but munmap(2).
 */
#ifndef PEBSD_ANSWERS_H
#define PEBSD_ANSWERS_H

#include "history/past.h"
#include "history/shared/history_wire.h"

#define ANSWERS_MAX          16
#define ANSWERS_BYTES_MAX    (48UL << 20)        /* of all of them */
#define ANSWERS_KEEP_NS      (15 * NSEC_PER_SEC) /* after the last use */
#define ANSWERS_FAIL_KEEP_NS (2 * NSEC_PER_SEC)  /* after an error other than -E2BIG came */

/* Bins of a question that leaves their number to pebsd: enough for a trend and for bounds (estimate/bursts.h). */
#define ANSWERS_BINS 60

/*
 * A question about all cgroups and more than ANSWERS_SHORT_S seconds has fewer bins: the cgroups of all its bins
 * together are about this many. With fewer bins, the keeper reads longer spans: with 1,000 cgroups, one bin of a day is
 * read from about 40 spans, and 7 bins from 170.
 */
#define ANSWERS_CGROUPS 1000
#define ANSWERS_SHORT_S 3600

struct answers;

/* Asks the keeper: keeper_channel_ask(). */
typedef int (*answers_ask)(void *userdata, const struct history_query *query, u32 *ret_number);

/* Returns 0 or -ENOMEM. Free it with answers_free(). */
int answers_new(answers_ask ask, void *userdata, struct answers **ret);
struct answers *answers_free(struct answers *answers);
DEFINE_CLEANUP(struct answers *, answers_free)

/*
 * Reports the number of cgroups of a new pane. The panes of the past are expected to have as many cgroups as the
 * largest recent pane or answer about all cgroups. If panes get smaller, this number decreases over hours, because the
 * past may have more cgroups than the present. At the start, this many are expected:
 */
#define ANSWERS_CGROUPS_ASSUMED 250
void answers_cgroups(struct answers *answers, size_t n);

/*
 * Finds the answer, or asks. `bins` of the query 0: ANSWERS_BINS or one for each pane, fewer for a long time of all
 * cgroups, and fewer again if the answer would be too large. `newest_us` is the end of the last pane that was sent: a
 * range that reaches up to now ends there. An answer about a range that ends later is asked for again after the next
 * pane.
 * `now_ns`: CLOCK_MONOTONIC at which this turn of the event loop began, the same in all calls of a turn. An answer that
 * was used in this turn stays.
 *
 * Returns 0; -EAGAIN: asked, ask again after answers_take(); -EUSERS: too many questions wait; -ENODATA, -EBUSY,
 * -E2BIG, -ETIMEDOUT or another -errno. The answer belongs to `answers`, and is valid until the next call of
 * answers_tick() or answers_take().
 */
int answers_past(struct answers *answers, const struct history_query *query, u64 newest_us, u64 now_ns,
		 const struct past **ret);
int answers_alerts(struct answers *answers, const struct history_query *query, u64 newest_us, u64 now_ns,
		   const char **ret_json);

/*
 * Takes the answer to a question: `error` 0 or -errno, and the block, which is unmapped by this module. Returns true if
 * the question is answered, false if it was asked again with fewer bins.
 */
bool answers_take(struct answers *answers, u32 number, int error, struct history_block *block, u64 now_ns);

/* Drops answers that nobody used for long. Call it from time to time. */
void answers_tick(struct answers *answers, u64 now_ns);

/* Returns true if there are answers or questions. */
bool answers_any(const struct answers *answers);

/* Memory of the answers as the keeper sent them. */
size_t answers_bytes(const struct answers *answers);

#endif

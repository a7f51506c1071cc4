// SPDX-License-Identifier: GPL-2.0
#include "core.h"

#include <linux/cgroup.h>
#include <linux/jhash.h>
#include <linux/timekeeping.h>
#include <linux/vmalloc.h>

#include "books.h"
#include "compat.h"
#include "kernel_symbols.h"
#include "parameters.h"
#include "sample.h"

#define EVENT_AND_UMASK 0xffffU

unsigned int books_size(void)
{
	return (unsigned int)roundup_pow_of_two(clamp_t(unsigned int, parameters.books, 64, 1U << 16));
}

int books_open(struct core_books *books)
{
	books->books = vzalloc(array_size(books_size(), sizeof(*books->books)));
	return books->books ? 0 : -ENOMEM;
}

void books_close(struct core_books *books)
{
	vfree(books->books);
	books->books = NULL;
}

void books_reset(struct core_books *books)
{
	struct book *kept = books->books;

	memset(kept, 0, array_size(books_size(), sizeof(*kept)));
	memset(books, 0, sizeof(*books));
	books->books = kept;
}

u32 books_event_code(const struct perf_event *event)
{
	return (u32)(event->hw.config & EVENT_AND_UMASK) | (event->cgrp ? BOOKS_OF_CGROUP : 0);
}

/* IBS leaves these bits of its configuration 0: they tell the operation. */
static u32 event_code(const struct perf_event *event, const struct sample_figures *figures)
{
	return books_event_code(event) | (figures ? figures->operation : 0);
}

static struct book_event *books_event(struct core_books *books, const struct perf_event *event,
				      const struct sample_figures *figures)
{
	u32 code = event_code(event, figures);

	for (int i = 0; i < BOOKS_EVENTS; i++) {
		struct book_event *of = &books->events[i];

		if (of->used && of->event == code)
			return of;
		if (of->used)
			continue;
		of->event = code;
		smp_store_release(&of->used, true);
		return of;
	}
	books->events_full++;
	return NULL;
}

u64 books_current_cgroup(void)
{
	u64 id;

	rcu_read_lock();
	id = cgroup_id(task_dfl_cgroup(current));
	rcu_read_unlock();
	return id;
}

/* The current task's; NULL where the table is full. */
static struct book *books_find(struct core_books *books, const struct perf_event *event,
			       const struct sample_figures *figures)
{
	unsigned int mask = books_size() - 1;
	struct book_key key = {.cgroup = books_current_cgroup(),
			       .pid = (u32)task_pid_nr(current),
			       .event = event_code(event, figures)};
	unsigned int at;

	memcpy(key.comm, current->comm, sizeof(key.comm));
	key.comm[sizeof(key.comm) - 1] = '\0';
	/* What follows the end of a name is what a longer one left. */
	for (size_t length = strlen(key.comm); length < sizeof(key.comm); length++)
		key.comm[length] = '\0';
	at = jhash(&key.cgroup, sizeof(key.cgroup), key.pid ^ key.event) & mask;
	for (unsigned int tries = 0; tries <= mask; tries++, at = (at + 1) & mask) {
		struct book *book = &books->books[at];

		if (!book->used) {
			book->key = key;
			smp_store_release(&book->used, true);
			return book;
		}
		if (book->key.cgroup == key.cgroup && book->key.pid == key.pid &&
		    book->key.event == key.event && memcmp(book->key.comm, key.comm, sizeof(key.comm)) == 0)
			return book;
	}
	return NULL;
}

static void add_figures(struct book_sums *sums, const struct sample_figures *figures)
{
	sums->latency += figures->latency;
	sums->latency_true += figures->latency_true;
	sums->instruction_latency += figures->instruction_latency;
	if (!figures->has_source)
		return;
	sums->source_samples[figures->source.source & (SOURCE_SLOTS - 1)]++;
	sums->source_latency[figures->source.source & (SOURCE_SLOTS - 1)] += figures->latency;
	sums->snoop[figures->source.snoop & (SNOOP_SLOTS - 1)]++;
	sums->tlb[figures->source.tlb & (TLB_SLOTS - 1)]++;
	sums->locked += figures->source.locked;
	sums->blocked += figures->source.blocked;
}

void books_sample(struct core_books *books, const struct perf_event *event, bool overflow,
		  const struct sample_figures *figures)
{
	struct book_event *of = books_event(books, event, figures);
	struct book *book = books_find(books, event, figures);

	if (of && overflow)
		of->overflow++;
	else if (of)
		of->ring++;
	if (!book) {
		books->full++;
		return;
	}
	if (!overflow) {
		book->ring_samples++;
		book->ring_latency += figures ? figures->latency : 0;
		return;
	}
	book->overflow.samples++;
	book->overflow.period += event->hw.last_period;
	book->overflow.guarded += *this_cpu_ptr(kernel_symbols.bpf_prog_active) != 0;
	if (figures)
		add_figures(&book->overflow, figures);
}

void books_collisions(struct core_books *books, const struct perf_event *event, u64 collisions)
{
	struct book_event *of = books_event(books, event, NULL);

	if (of)
		of->collisions += collisions;
}

void books_cut(struct core_books *books, const struct perf_event *event)
{
	struct book_event *of = books_event(books, event, NULL);

	if (of)
		of->cut++;
}

u64 books_clock(void)
{
	return ktime_get_mono_fast_ns();
}

void books_throttled(struct core_books *books, const struct perf_event *event, u64 overflow_at)
{
	struct book_event *of = books_event(books, event, NULL);

	if (!of || of->throttled_since)
		return;
	of->throttles++;
	of->throttled_since = DRIVER_STOPS_THROTTLED ? overflow_at : of->stopped_at;
	if (DRIVER_STOPS_THROTTLED)
		of->throttle_slack_ns += books_clock() - overflow_at;
}

void books_core_stopped(struct core_books *books, const struct perf_event *event)
{
	struct book_event *of;

	if (DRIVER_STOPS_THROTTLED || event->hw.interrupts != INTERRUPTS_THROTTLED)
		return;
	of = books_event(books, event, NULL);
	if (of && !of->throttled_since)
		of->stopped_at = books_clock();
}

u64 books_take_throttle(struct core_books *books, const struct perf_event *event)
{
	struct book_event *of = books_event(books, event, NULL);
	u64 since = of ? of->throttled_since : 0;

	if (since)
		of->throttled_since = 0;
	return since;
}

void books_throttle_over(struct core_books *books, const struct perf_event *event, u64 since, u64 from)
{
	struct book_event *of = since ? books_event(books, event, NULL) : NULL;
	u64 now = books_clock();

	if (!of)
		return;
	of->throttled_ns += now - since;
	of->throttle_slack_ns += now - max(from, since);
}

void books_started(struct core_books *books, const struct perf_event *event)
{
	books_throttle_over(books, event, books_take_throttle(books, event), books_clock());
}

void books_stopped(struct core_books *books, const struct perf_event *event)
{
	books_started(books, event);
}

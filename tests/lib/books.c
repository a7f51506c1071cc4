// SPDX-License-Identifier: GPL-2.0
#include "books.h"

#include <criterion/criterion.h>

#include <string.h>
#include <time.h>

#include "some_stripes.h"

struct kernel_settings books_settings(bool has_latency)
{
	return (struct kernel_settings){
		.slots = 256,
		.stripes = machine_stripes(),
		.n_events = 1,
		.events[0] = {.has_latency = has_latency,
			      .has_source = 1,
			      .has_address = 1,
			      .weight_struct = 1},
	};
}

void books_open(struct books *books, const struct kernel_settings *settings, u64 grace_ns)
{
	_cleanup_free_ char *message = NULL;
	int r = kernel_open(settings, &books->kernel, &message);

	cr_assert_eq(r, 0, "%s", message ? message : strerror(-r));
	cr_assert_eq(names_new(KERNEL_SLOTS_MAX, &books->names), 0);
	cr_assert_eq(ledger_new(&books->ledger), 0);
	cr_assert_eq(collect_new(
			     &(struct collect_settings){
				     .kernel = books->kernel,
				     .names = books->names,
				     .ledger = books->ledger,
				     .names_from_slots = settings->births,
				     .grace_ns = grace_ns,
			     },
			     &books->collect),
		     0);
}

void books_close(struct books *books)
{
	collect_free(books->collect);
	ledger_free(books->ledger);
	names_free(books->names);
	kernel_free(books->kernel);
}

void books_collect(struct books *books)
{
	struct timespec now;

	cr_assert_eq(clock_gettime(CLOCK_MONOTONIC, &now), 0);
	cr_assert_eq(collect_run(books->collect, (u64)now.tv_sec * NSEC_PER_SEC + (u64)now.tv_nsec), 0);
}

static u64 samples_of(const struct ledger_entry *entry, unsigned event)
{
	struct counters counters = {0};

	if (entry)
		ledger_total(entry, event, &counters);
	return counters_samples(&counters);
}

struct counters books_counters(const struct books *books, const char *path, unsigned event)
{
	const struct ledger_entry *entry = ledger_find(books->ledger, path);
	struct counters counters;

	cr_assert_not_null(entry, "nothing was counted for %s", path);
	ledger_total(entry, event, &counters);
	return counters;
}

u64 books_samples(const struct books *books, const char *path, unsigned event)
{
	return samples_of(ledger_find(books->ledger, path), event);
}

u64 books_unattributed(const struct books *books, unsigned event)
{
	return samples_of(ledger_unattributed(books->ledger), event);
}

struct rejected_record books_rejected(const struct books *books, unsigned event)
{
	struct rejected_record sum = {0};

	for (u32 stripe = 0; stripe < kernel_stripes(books->kernel); stripe++) {
		struct rejected_record rejected = kernel_rejected(books->kernel, event, stripe);

		sum.malformed += rejected.malformed;
		sum.filtered += rejected.filtered;
	}
	return sum;
}

// SPDX-License-Identifier: GPL-2.0
/* A memory system by itself, with a clock, for tests. */
#ifndef PEBSD_TESTS_MEMORY_FIXTURE_H
#define PEBSD_TESTS_MEMORY_FIXTURE_H

#include "model/machine.h"
#include "model/memory.h"

#define LINE       64ULL
#define SMALL_PAGE 4096ULL
#define LARGE_PAGE (2ULL << 20)
#define LONG       100000 /* cycles after which everything in flight has arrived */

struct memory_fixture {
	const struct memory_shape *shape;
	struct memory *memory;
	u64 now;
};

/* A test has one at a time. */
extern struct memory_fixture bench;

/* Opens an empty memory system with the machine's shape. memory_fixture_close() is the .fini of test suites. */
void memory_fixture_open(const char *machine);
void memory_fixture_close(void);

/* Makes the access at the current time. */
struct retired memory_fixture_access(struct access access);

/* A load and a store in a large page: after the first access to the page, TLBs have no influence. */
struct retired memory_fixture_load(u64 address);
struct retired memory_fixture_store(u64 address);

/* A load long after all others. */
struct retired memory_fixture_later(u64 address);

/* Loads `lines` lines from `address` on, each long after the one before. */
void memory_fixture_lines(u64 address, u64 lines, u64 stride);

/*
 * Expects `load` to find its line at the place `at`, and the other cores to answer `found`. Evaluates to
 * `load`.
 */
#define expect_found(load, at, found)                                                                  \
	({                                                                                             \
		struct retired _load = (load);                                                         \
		cr_expect(_load.place == (at) && _load.snoop == (found), "place %u, snoop %u instead", \
			  _load.place, _load.snoop);                                                   \
		_load;                                                                                 \
	})

#endif

// SPDX-License-Identifier: GPL-2.0
/* A PEBS unit with its own memory for the DS save area and a buffer, for tests. */
#ifndef PEBSD_TESTS_PEBS_FIXTURE_H
#define PEBSD_TESTS_PEBS_FIXTURE_H

#include "model/pebs.h"

#define FIXTURE_AREA    0x100000ULL
#define FIXTURE_BUFFER  (FIXTURE_AREA + 0x1000)
#define FIXTURE_BYTES   0x8000
#define FIXTURE_RECORDS 8

/* Event select bits of a counter that counts in user space. */
#define COUNTING (EVTSEL_USR | EVTSEL_ENABLE)

/* Instructions, some of which access memory. */
#define INSTRUCTION                \
	((const struct retired){   \
		.ip = 0x1000,      \
		.next_ip = 0x1004, \
		.tsc = 100,        \
	})
#define LOAD(cycles)                                         \
	((const struct retired){.ip = 0x2000,                \
				.next_ip = 0x2004,           \
				.tsc = 100,                  \
				.address = 0x7f0000001000,   \
				.operation = OPERATION_LOAD, \
				.latency = (cycles),         \
				.instruction_latency = (cycles)})
#define STORE                                 \
	((const struct retired){              \
		.ip = 0x3000,                 \
		.next_ip = 0x3004,            \
		.tsc = 100,                   \
		.address = 0x7f0000002000,    \
		.operation = OPERATION_STORE, \
	})

struct pebs_fixture {
	struct pebs_unit unit;
	u8 bytes[FIXTURE_BYTES];
};

/* A test has one at a time. */
extern struct pebs_fixture fixture;

/*
 * Opens a unit of the machine without skid, which tags every load. Its buffer holds FIXTURE_RECORDS records, and
 * reaches the threshold when it is full.
 */
void pebs_fixture_open(const char *machine);

/*
 * Sets the maximum and the threshold to this many records after the base of the buffer, and the index to the
 * base.
 */
void pebs_fixture_buffer(u32 records, u32 threshold);

/* Read the DS save area, or write it back. */
struct ds_area pebs_fixture_area(void);
void pebs_fixture_set_area(const struct ds_area *area);

/* Sets the reset field of a counter: the number of events until the next overflow. */
void pebs_fixture_reset(u32 counter, u64 events);

/* Write or read a register. Both fail the test if the unit refuses. */
void pebs_fixture_write(u32 msr, u64 value);
u64 pebs_fixture_read(u32 msr);

/* Programs a general-purpose counter that overflows with the `events`-th event from now. */
void pebs_fixture_program(u32 counter, u64 select, u64 events);

/* Enables PEBS for the counters in `pebs`, then counting in all of `counting`: masks as in the two registers. */
void pebs_fixture_enable(u64 pebs, u64 counting);

/* Opens a unit of the machine whose counter 0 counts, has PEBS, and overflows with the `events`-th event. */
void pebs_fixture_start(const char *machine, u64 select, u64 events);

/* Retires an instruction `times` times. Returns the number of pending interrupts. */
u32 pebs_fixture_retire(struct retired retired, u32 times);

/* Return the number of records in the buffer, and one of them. */
u32 pebs_fixture_records(void);
struct record pebs_fixture_record(u32 index);

/* Takes the next interrupt. Fails the test if there is none. */
struct interrupt pebs_fixture_interrupt(void);

#endif

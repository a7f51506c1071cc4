// SPDX-License-Identifier: GPL-2.0
#include <criterion/criterion.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "zoom/zoom_reader.h"

struct reported {
	unsigned names, mappings, others, of_test;
	int result; /* result of the next call */
	char name[64];
};

static int report(void *userdata, const struct zoom_record *record)
{
	struct reported *reported = userdata;

	cr_expect_eq(record->pid, (u32)getpid());
	cr_expect_eq(record->time_ns, 0, "when it was mapped is not known");
	if (record->kind == ZOOM_RECORD_NAMED) {
		reported->names++;
		cr_expect_not(record->named.executed);
		(void)snprintf(reported->name, sizeof(reported->name), "%s", record->named.name);
	} else if (record->kind == ZOOM_RECORD_MAPPED) {
		u64 here = (u64)(uintptr_t)report;

		reported->mappings++;
		cr_expect(record->mapped.protection & PROT_EXEC);
		if (here >= record->mapped.start && here - record->mapped.start < record->mapped.size) {
			reported->of_test++;
			cr_expect_not_null(strstr(record->mapped.path, "test_zoom_process"));
			cr_expect_neq(record->mapped.inode, 0);
		}
	} else {
		reported->others++;
	}
	return reported->result;
}

static int look(u32 pid, struct reported *reported)
{
	struct zoom_process process;
	int r;

	zoom_process_read(pid, &(struct zoom_process_socket){0}, &process);
	r = zoom_process_report(&process, report, reported);
	zoom_process_done(&process);
	return r;
}

Test(zoom_process, a_process_has_its_name_and_executable_mappings)
{
	struct reported reported = {0};

	cr_assert_eq(prctl(PR_SET_NAME, "a name; here"), 0);
	cr_assert_eq(look((u32)getpid(), &reported), 0);
	cr_expect_eq(reported.names, 1);
	cr_expect_str_eq(reported.name, "a name; here");
	cr_expect_gt(reported.mappings, 3, "the program, libc, its loader and more");
	cr_expect_eq(reported.of_test, 1);
	cr_expect_eq(reported.others, 0);
}

Test(zoom_process, the_number_of_mappings_is_bounded)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct reported reported = {0};
	int fd = memfd_create("many", MFD_CLOEXEC);

	cr_assert_geq(fd, 0);
	cr_assert_eq(ftruncate(fd, (off_t)page), 0);
	for (unsigned i = 0; i < 2 * ZOOM_PROCESS_MAPPINGS_MAX; i++)
		cr_assert_neq(mmap(NULL, page, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0), MAP_FAILED);
	cr_assert_eq(look((u32)getpid(), &reported), 0);
	cr_expect_eq(reported.mappings, ZOOM_PROCESS_MAPPINGS_MAX);
	(void)close(fd);
}

Test(zoom_process, an_ended_process_has_no_records)
{
	struct reported reported = {0};

	cr_expect_eq(look(0x7fffffff, &reported), 0);
	cr_expect_eq(reported.names + reported.mappings, 0);
}

Test(zoom_process, an_error_of_the_callback_stops_the_reading)
{
	struct reported reported = {.result = -ENOMEM};

	cr_expect_eq(look((u32)getpid(), &reported), -ENOMEM);
	cr_expect_eq(reported.names, 1);
	cr_expect_eq(reported.mappings, 0);
}

Test(zoom_process, a_reader_reads_processes_in_order)
{
	_cleanup_(zoom_reader_freep) struct zoom_reader *reader = NULL;
	u64 zoom = 0;

	cr_assert_eq(zoom_reader_new(NULL, &reader), 0);
	for (u64 i = 1; i <= 50; i++)
		cr_assert_eq(zoom_reader_ask(reader, i, i % 2 ? (u32)getpid() : 0x7fffffff), 0);
	for (u64 i = 1; i <= 50; i++) {
		struct reported reported = {0};
		struct zoom_process process;

		while (!zoom_reader_fetch(reader, &zoom, &process))
			(void)usleep(1000);
		cr_expect_eq(zoom, i);
		if (i % 2)
			cr_expect_eq(zoom_process_report(&process, report, &reported), 0);
		else
			cr_expect_eq(process.pid, 0x7fffffff);
		cr_expect_eq(reported.of_test, i % 2);
		zoom_process_done(&process);
	}
	cr_expect_not(zoom_reader_fetch(reader, &zoom, &(struct zoom_process){0}));
}

/* Processes that were asked for but not fetched are freed with the reader. */
Test(zoom_process, the_number_of_queued_processes_is_bounded)
{
	_cleanup_(zoom_reader_freep) struct zoom_reader *reader = NULL;

	cr_assert_eq(zoom_reader_new(NULL, &reader), 0);
	for (unsigned i = 0; i < ZOOM_READER_MAX; i++)
		cr_assert_eq(zoom_reader_ask(reader, 1, 0x7fffffff), 0);
	cr_expect_eq(zoom_reader_ask(reader, 1, 1), -ENOSPC);
}

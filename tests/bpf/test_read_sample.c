// SPDX-License-Identifier: GPL-2.0
/* Reads each field of a real perf_sample_data, in both ways of reading. */
#include <criterion/criterion.h>

#include <linux/perf_event.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "pebsd/data_source.h"
#include "pebsd/sample.h"
#include "software_event.h"

#include "last_sample.skel.h" /* uses the types above */

static const struct event_settings measures_all = {
	.has_latency = 1, .has_source = 1, .has_address = 1, .weight_struct = 1};

/* Samples one page fault of this process. Returns the address that faulted. */
static u64 fault(struct last_sample_bpf **skeleton, const struct event_settings *event, u64 sample_type,
		 bool read_by_probe)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *memory = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int fd;

	cr_assert_neq(memory, MAP_FAILED);
	*skeleton = last_sample_bpf__open();
	cr_assert_not_null(*skeleton);
	(*skeleton)->rodata->read_by_probe = read_by_probe;
	memcpy((void *)&(*skeleton)->rodata->event, event, sizeof(*event));
	cr_assert_eq(last_sample_bpf__load(*skeleton), 0);
	fd = software_event_open(&(struct software_event){.config = PERF_COUNT_SW_PAGE_FAULTS,
							  .period = 1,
							  .sample_type = sample_type,
							  .cpu = -1},
				 bpf_program__fd((*skeleton)->progs.keep_sample));
	software_event_enable(fd);
	*(volatile char *)(memory + 123) = 1;
	software_event_disable(fd);
	(void)close(fd);
	cr_assert_geq((*skeleton)->bss->runs, 1);
	return (u64)(uintptr_t)(memory + 123);
}

static void fields_are_as_the_kernel_filled_them(bool read_by_probe)
{
	struct last_sample_bpf *skeleton;
	u64 address =
		fault(&skeleton, &measures_all,
		      PERF_SAMPLE_ADDR | PERF_SAMPLE_WEIGHT_STRUCT | PERF_SAMPLE_DATA_SRC, read_by_probe);
	const struct sample *last = (const struct sample *)&skeleton->bss->last;

	cr_expect_neq(last->cgroup_id, 0);
	cr_expect_eq(last->cgroup_id, skeleton->bss->helper_cgroup_id);
	cr_expect_eq(last->address, address, "%#llx, not %#llx", (unsigned long long)last->address,
		     (unsigned long long)address);
	/* Requested fields that the event does not have are filled in by the kernel with "nothing known". */
	cr_expect_eq(last->fields & (SAMPLE_LATENCY | SAMPLE_INSTRUCTION_LATENCY), 0);
	cr_expect_eq(last->latency, 0);
	cr_expect_eq(data_source_source(last->data_source), SOURCE_UNKNOWN);
	cr_expect_eq(data_source_snoop(last->data_source), SNOOP_NA);
	last_sample_bpf__destroy(skeleton);
}

Test(read_sample, a_sample_is_read_by_cast)
{
	fields_are_as_the_kernel_filled_them(false);
}

Test(read_sample, a_sample_is_read_by_probe)
{
	fields_are_as_the_kernel_filled_them(true);
}

Test(read_sample, unmeasured_fields_are_left_out)
{
	static const struct event_settings measures_nothing = {0};
	struct last_sample_bpf *skeleton;

	(void)fault(&skeleton, &measures_nothing,
		    PERF_SAMPLE_ADDR | PERF_SAMPLE_WEIGHT_STRUCT | PERF_SAMPLE_DATA_SRC, false);
	cr_expect_eq(skeleton->bss->last.fields, 0);
	cr_expect_eq(skeleton->bss->last.data_source, 0);
	last_sample_bpf__destroy(skeleton);
}

Test(read_sample, unrequested_fields_are_left_out)
{
	struct last_sample_bpf *skeleton;

	(void)fault(&skeleton, &measures_all, 0, true);
	cr_expect_eq(skeleton->bss->last.fields, 0);
	cr_expect_eq(skeleton->bss->last.latency, 0);
	cr_expect_eq(skeleton->bss->last.data_source, 0);
	last_sample_bpf__destroy(skeleton);
}

// SPDX-License-Identifier: GPL-2.0
#include "origin/replay/perf_data_sample.h"

#include <errno.h>
#include <string.h>

#include "origin/replay/bytes.h"

/* A word of counters for each branch (Linux 6.8), which the headers of Linux 6.1 do not have. */
#define BRANCH_COUNTERS (1U << 19)
#define BRANCH_SIZE     24

#define KNOWN_FIELDS ((u64)PERF_SAMPLE_MAX - 1)
#define TRAILER_FIELDS                                                                                   \
	(PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU | \
	 PERF_SAMPLE_IDENTIFIER)

static unsigned int count_bits(u64 bits)
{
	return (unsigned int)__builtin_popcountll(bits);
}

static void skip_read(struct bytes *bytes, u64 format)
{
	unsigned int times =
		count_bits(format & (PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING));
	unsigned int words = 1 + count_bits(format & (PERF_FORMAT_ID | PERF_FORMAT_LOST));
	u64 n = 1;

	if (format & PERF_FORMAT_GROUP)
		n = bytes_u64(bytes);
	bytes_skip(bytes, times, sizeof(u64));
	bytes_skip(bytes, n, words * sizeof(u64));
}

static void skip_branches(struct bytes *bytes, u64 branch_type, bool hw_index_even_if_empty)
{
	u64 n = bytes_u64(bytes);

	if ((branch_type & PERF_SAMPLE_BRANCH_HW_INDEX) && (n || hw_index_even_if_empty))
		bytes_skip(bytes, 1, sizeof(u64));
	bytes_skip(bytes, n, BRANCH_SIZE);
	if (branch_type & BRANCH_COUNTERS)
		bytes_skip(bytes, n, sizeof(u64));
}

static void skip_registers(struct bytes *bytes, u64 mask)
{
	if (bytes_u64(bytes) != PERF_SAMPLE_REGS_ABI_NONE)
		bytes_skip(bytes, count_bits(mask), sizeof(u64));
}

static void skip_stack(struct bytes *bytes)
{
	u64 size = bytes_u64(bytes);

	if (!size)
		return;
	bytes_skip(bytes, size, 1);
	bytes_skip(bytes, 1, sizeof(u64)); /* the number of bytes that were filled in */
}

static void skip_before_weight(struct bytes *bytes, const struct perf_event_attr *attr,
			       bool hw_index_even_if_empty)
{
	u64 type = attr->sample_type;

	if (type & PERF_SAMPLE_READ)
		skip_read(bytes, attr->read_format);
	if (type & PERF_SAMPLE_CALLCHAIN)
		bytes_skip(bytes, bytes_u64(bytes), sizeof(u64));
	if (type & PERF_SAMPLE_RAW)
		bytes_skip(bytes, bytes_u32(bytes), 1);
	if (type & PERF_SAMPLE_BRANCH_STACK)
		skip_branches(bytes, attr->branch_sample_type, hw_index_even_if_empty);
	if (type & PERF_SAMPLE_REGS_USER)
		skip_registers(bytes, attr->sample_regs_user);
	if (type & PERF_SAMPLE_STACK_USER)
		skip_stack(bytes);
}

static int decode(const struct perf_event_attr *attr, const u8 *body, size_t size,
		  bool hw_index_even_if_empty, struct perf_data_sample *ret)
{
	struct bytes bytes = {.at = body, .left = size};
	u64 type = attr->sample_type;

	*ret = (struct perf_data_sample){.sample_type = type};
	if (type & PERF_SAMPLE_IDENTIFIER)
		bytes_skip(&bytes, 1, sizeof(u64));
	if (type & PERF_SAMPLE_IP)
		ret->code_address = bytes_u64(&bytes);
	if (type & PERF_SAMPLE_TID) {
		ret->pid = bytes_u32(&bytes);
		ret->tid = bytes_u32(&bytes);
	}
	if (type & PERF_SAMPLE_TIME)
		ret->time = bytes_u64(&bytes);
	if (type & PERF_SAMPLE_ADDR)
		ret->address = bytes_u64(&bytes);
	bytes_skip(&bytes, count_bits(type & (PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU)),
		   sizeof(u64));
	if (type & PERF_SAMPLE_PERIOD)
		ret->period = bytes_u64(&bytes);
	skip_before_weight(&bytes, attr, hw_index_even_if_empty);
	if (type & PERF_SAMPLE_WEIGHT_TYPE)
		ret->weight = bytes_u64(&bytes);
	if (type & PERF_SAMPLE_DATA_SRC)
		ret->data_source = bytes_u64(&bytes);
	if (type & PERF_SAMPLE_TRANSACTION)
		bytes_skip(&bytes, 1, sizeof(u64));
	if (type & PERF_SAMPLE_REGS_INTR)
		skip_registers(&bytes, attr->sample_regs_intr);
	if (type & PERF_SAMPLE_PHYS_ADDR)
		bytes_skip(&bytes, 1, sizeof(u64));
	if (type & PERF_SAMPLE_CGROUP)
		ret->cgroup_id = bytes_u64(&bytes);
	bytes_skip(&bytes, count_bits(type & (PERF_SAMPLE_DATA_PAGE_SIZE | PERF_SAMPLE_CODE_PAGE_SIZE)),
		   sizeof(u64));
	if (type & PERF_SAMPLE_AUX)
		bytes_skip(&bytes, bytes_u64(&bytes), 1);

	/* Fields that a newer kernel added come after those that are decoded here. */
	if (bytes.overrun || (bytes.left && !(type & ~KNOWN_FIELDS)))
		return -EBADMSG;
	return 0;
}

static bool same(const struct perf_data_sample *a, const struct perf_data_sample *b)
{
	return a->weight == b->weight && a->data_source == b->data_source && a->cgroup_id == b->cgroup_id;
}

int perf_data_sample_decode(const struct perf_event_attr *attr, const u8 *body, size_t size,
			    struct perf_data_sample *ret)
{
	struct perf_data_sample other;
	int r = decode(attr, body, size, true, ret);

	if (!(attr->sample_type & PERF_SAMPLE_BRANCH_STACK) ||
	    !(attr->branch_sample_type & PERF_SAMPLE_BRANCH_HW_INDEX))
		return r;
	/*
	 * The kernel omits the index if the sample has no branch stack, but includes it if the stack is
	 * empty. In both cases the number of branches is 0. The length of the record tells the cases apart,
	 * unless there are fields at the end whose length is not known.
	 */
	if (r < 0)
		return decode(attr, body, size, false, ret);
	if ((attr->sample_type & ~KNOWN_FIELDS) && decode(attr, body, size, false, &other) == 0 &&
	    !same(ret, &other))
		return -ENOTUNIQ;
	return 0;
}

int perf_data_sample_id_word(u64 sample_type)
{
	if (sample_type & PERF_SAMPLE_IDENTIFIER)
		return 0;
	if (!(sample_type & PERF_SAMPLE_ID))
		return -1;
	return (int)count_bits(sample_type &
			       (PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR));
}

unsigned int perf_data_trailer_id_word(u64 sample_type)
{
	if (sample_type & PERF_SAMPLE_IDENTIFIER)
		return 1;
	if (!(sample_type & PERF_SAMPLE_ID))
		return 0;
	return 1 + count_bits(sample_type & (PERF_SAMPLE_CPU | PERF_SAMPLE_STREAM_ID));
}

bool perf_data_trailer_time(const struct perf_event_attr *attr, const u8 *body, size_t size, u64 *ret)
{
	size_t trailer = count_bits(attr->sample_type & TRAILER_FIELDS) * sizeof(u64);
	size_t before = attr->sample_type & PERF_SAMPLE_TID ? sizeof(u64) : 0;

	if (!attr->sample_id_all || !(attr->sample_type & PERF_SAMPLE_TIME) || size < trailer)
		return false;
	memcpy(ret, body + size - trailer + before, sizeof(*ret));
	return true;
}

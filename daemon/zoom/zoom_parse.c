// SPDX-License-Identifier: GPL-2.0
/*
 * The layouts follow perf_output_sample(), __perf_event__output_id_sample(), perf_event_mmap_output() and
 * similar functions in kernel/events/core.c, and the comments in include/uapi/linux/perf_event.h (Linux 6.1,
 * 6.12 and 7.3).
 */
#include "zoom/zoom_parse.h"

#include <errno.h>
#include <string.h>

/* The part of a record that is not parsed yet. */
struct cursor {
	const u8 *at;
	const u8 *end;
	bool short_of; /* the record ended before all its fields */
};

static u64 take_u64(struct cursor *cursor)
{
	u64 value;

	if ((size_t)(cursor->end - cursor->at) < sizeof(value)) {
		cursor->short_of = true;
		cursor->at = cursor->end;
		return 0;
	}
	memcpy(&value, cursor->at, sizeof(value));
	cursor->at += sizeof(value);
	return value;
}

/* The first and the second 32-bit half, in memory order. */
static void take_u32s(struct cursor *cursor, u32 *ret_first, u32 *ret_second)
{
	u64 both = take_u64(cursor);
	u32 halves[2];

	memcpy(halves, &both, sizeof(halves));
	*ret_first = halves[0];
	*ret_second = halves[1];
}

/* Returns the position of the next `n` words of `word` bytes, or NULL if the record has fewer. */
static const u8 *take_words(struct cursor *cursor, u64 n, size_t word)
{
	const u8 *words = cursor->at;

	if (n > (size_t)(cursor->end - cursor->at) / word) {
		cursor->short_of = true;
		cursor->at = cursor->end;
		return NULL;
	}
	cursor->at += n * word;
	return words;
}

static bool of_kernel(const struct perf_event_header *header, u64 address)
{
	switch (header->misc & PERF_RECORD_MISC_CPUMODE_MASK) {
	case PERF_RECORD_MISC_KERNEL:
	case PERF_RECORD_MISC_HYPERVISOR:
	case PERF_RECORD_MISC_GUEST_KERNEL:
		return true;
	case PERF_RECORD_MISC_USER:
	case PERF_RECORD_MISC_GUEST_USER:
		return false;
	default:
		return address >> 63;
	}
}

/*
 * Splits the chain into kernel and user frames. The kernel unwinds from the registers of the interrupt, but
 * PEBS itself reports the sampled instruction. The two addresses are mostly the same, but the interrupt may
 * come a little later. The first entry of the chain stands for the sampled instruction and is skipped.
 *
 * The interrupt may hit the other mode, after a system call or a return from one. For a sample in user mode,
 * the kernel frames are then dropped. For a sample in the kernel, no entry stands for the sampled
 * instruction.
 *
 * The user frames come last (get_perf_callchain() in kernel/events/callchain.c, Linux 6.12), and the process chooses
 * them: it may write a mark into its stack. Marks among them end the chain.
 */
static void split_chain(const u8 *chain, u64 n, bool in_kernel, struct zoom_stacks *stacks,
			struct zoom_sample *sample)
{
	enum { NONE, KERNEL, USER } half = NONE;
	bool first = true;

	for (u64 i = 0; i < n; i++) {
		u64 address;

		memcpy(&address, chain + i * sizeof(address), sizeof(address));
		if (address >= (u64)PERF_CONTEXT_MAX) {
			if (half == USER)
				break;
			half = address == (u64)PERF_CONTEXT_KERNEL ? KERNEL
			       : address == (u64)PERF_CONTEXT_USER ? USER
								   : NONE;
			first = true;
			continue;
		}
		if (first && half == (in_kernel ? KERNEL : USER)) {
			first = false;
			continue;
		}
		first = false;
		if (half == KERNEL && in_kernel && sample->n_kernel < ZOOM_STACK_MAX)
			stacks->kernel[sample->n_kernel++] = address;
		if (half == USER && sample->n_user < ZOOM_STACK_MAX)
			stacks->user[sample->n_user++] = address;
	}
	sample->kernel = stacks->kernel;
	sample->user = stacks->user;
}

bool zoom_parse_lbr(const struct perf_branch_entry *entries, size_t n, bool in_kernel, u64 *user,
		    size_t *n_user)
{
	size_t kept = in_kernel && *n_user > 0 ? 1 : 0;
	size_t calls = 0;

	/*
	 * Entries are sorted from the newest to the oldest, and an unused entry reads as 0. The valid ones
	 * end at the first unused one.
	 */
	while (calls < n && entries[calls].from)
		calls++;
	if (calls > ZOOM_STACK_MAX - kept)
		calls = ZOOM_STACK_MAX - kept;
	/*
	 * A sample in the kernel without a user frame does not say where the kernel was entered, so there is no
	 * innermost frame whose callers the calls could be. They may be those of another task.
	 */
	if ((in_kernel && !kept) || kept + calls <= *n_user)
		return false;
	for (size_t i = 0; i < calls; i++)
		user[kept + i] = entries[i].from + 1;
	*n_user = kept + calls;
	return true;
}

static void take_branches(const struct perf_event_attr *attr, struct cursor *cursor, bool in_kernel,
			  struct zoom_stacks *stacks, struct zoom_sample *sample)
{
	struct perf_branch_entry entries[ZOOM_STACK_MAX];
	const u8 *raw;
	u64 n = take_u64(cursor);

	if (n > 0 && (attr->branch_sample_type & PERF_SAMPLE_BRANCH_HW_INDEX))
		(void)take_u64(cursor);
	raw = take_words(cursor, n, sizeof(*entries));
	if (!raw || !(attr->branch_sample_type & PERF_SAMPLE_BRANCH_CALL_STACK))
		return;
	if (n > ZOOM_STACK_MAX)
		n = ZOOM_STACK_MAX;
	memcpy(entries, raw, n * sizeof(*entries));
	sample->user_of_lbr = zoom_parse_lbr(entries, n, in_kernel, stacks->user, &sample->n_user);
}

/*
 * Selects fields as bpf/read_sample.h does. In a ring, a field that no driver filled in is 0 or PERF_MEM_NA.
 */
static void select_fields(const struct event_settings *event, u64 weight, u64 source, u64 address,
			  struct sample *ret)
{
	if (event->has_latency) {
		ret->latency = event->weight_struct ? (u32)weight : weight;
		if (ret->latency)
			ret->fields |= SAMPLE_LATENCY;
		if (event->has_instruction_latency) {
			ret->instruction_latency = (u16)(weight >> 32);
			if (ret->instruction_latency)
				ret->fields |= SAMPLE_INSTRUCTION_LATENCY;
		}
	}
	if (event->has_source && source && source != ZOOM_SOURCE_NA) {
		ret->data_source = source;
		ret->fields |= SAMPLE_DATA_SOURCE;
	}
	if (event->has_address && address) {
		ret->address = address;
		ret->fields |= SAMPLE_ADDRESS;
	}
	if (ret->code_address)
		ret->fields |= SAMPLE_CODE_ADDRESS;
}

/* A record with any other field is refused, because the parser does not know the field's length. */
#define KNOWN                                                                                                \
	(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR |   \
	 PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD |                     \
	 PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_BRANCH_STACK | PERF_SAMPLE_WEIGHT_TYPE | PERF_SAMPLE_DATA_SRC | \
	 PERF_SAMPLE_PHYS_ADDR | PERF_SAMPLE_CGROUP)

static void parse_sample(const struct perf_event_attr *attr, const struct event *event,
			 const struct perf_event_header *header, struct cursor *cursor,
			 struct zoom_stacks *stacks, struct zoom_record *ret)
{
	const u64 type = attr->sample_type;
	struct zoom_sample *sample = &ret->sample;
	u64 address = 0, weight = 0, source = 0;
	bool in_kernel;
	u32 unused;

	ret->kind = ZOOM_RECORD_SAMPLE;
	cursor->short_of = type & ~(u64)KNOWN;
	if (type & PERF_SAMPLE_IDENTIFIER)
		(void)take_u64(cursor);
	if (type & PERF_SAMPLE_IP)
		sample->of.code_address = take_u64(cursor);
	if (type & PERF_SAMPLE_TID)
		take_u32s(cursor, &ret->pid, &ret->tid);
	if (type & PERF_SAMPLE_TIME)
		ret->time_ns = take_u64(cursor);
	if (type & PERF_SAMPLE_ADDR)
		address = take_u64(cursor);
	if (type & PERF_SAMPLE_ID)
		(void)take_u64(cursor);
	if (type & PERF_SAMPLE_STREAM_ID)
		(void)take_u64(cursor);
	if (type & PERF_SAMPLE_CPU)
		take_u32s(cursor, &sample->cpu, &unused);
	if (type & PERF_SAMPLE_PERIOD)
		sample->of.period = take_u64(cursor);
	in_kernel = of_kernel(header, sample->of.code_address);
	if (type & PERF_SAMPLE_CALLCHAIN) {
		u64 n = take_u64(cursor);
		const u8 *chain = take_words(cursor, n, sizeof(u64));

		if (chain)
			split_chain(chain, n, in_kernel, stacks, sample);
	}
	if (type & PERF_SAMPLE_BRANCH_STACK)
		take_branches(attr, cursor, in_kernel, stacks, sample);
	if (type & PERF_SAMPLE_WEIGHT_TYPE)
		weight = take_u64(cursor);
	if (type & PERF_SAMPLE_DATA_SRC)
		source = take_u64(cursor);
	if (type & PERF_SAMPLE_PHYS_ADDR)
		sample->physical = take_u64(cursor);
	if (type & PERF_SAMPLE_CGROUP)
		sample->of.cgroup_id = take_u64(cursor);
	select_fields(&event->settings, weight, source, address, &sample->of);
	sample->time_ns = ret->time_ns;
	sample->pid = ret->pid;
	sample->tid = ret->tid;
}

/* Parses the trailer that sample_id_all requests, and ends the record before it. */
static void take_trailer(const struct perf_event_attr *attr, struct cursor *cursor, struct zoom_record *ret)
{
	const u64 type = attr->sample_type;
	const u64 words = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID |
			  PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER;
	size_t bytes = (size_t)__builtin_popcountll(type & words) * sizeof(u64);
	struct cursor trailer = {.end = cursor->end};

	if (!attr->sample_id_all)
		return;
	if ((size_t)(cursor->end - cursor->at) < bytes) {
		cursor->short_of = true;
		return;
	}
	cursor->end -= bytes;
	trailer.at = cursor->end;
	if (type & PERF_SAMPLE_TID)
		take_u32s(&trailer, &ret->pid, &ret->tid);
	if (type & PERF_SAMPLE_TIME)
		ret->time_ns = take_u64(&trailer);
}

/* Returns the rest of the record as a string, or NULL if it is not terminated. */
static const char *take_text(struct cursor *cursor)
{
	const u8 *text = cursor->at;

	if (!memchr(text, '\0', (size_t)(cursor->end - cursor->at))) {
		cursor->short_of = true;
		return NULL;
	}
	cursor->at = cursor->end;
	return (const char *)text;
}

static void take_build_id(const u8 bytes[static 24], struct zoom_record *ret)
{
	u8 size = bytes[0];

	if (size > sizeof(ret->mapped.build_id))
		size = sizeof(ret->mapped.build_id);
	ret->mapped.build_id_size = size;
	memcpy(ret->mapped.build_id, bytes + 4, size);
}

static void parse_mapped(const struct perf_event_header *header, struct cursor *cursor,
			 struct zoom_record *ret)
{
	const u8 *file;
	u32 flags;

	ret->kind = ZOOM_RECORD_MAPPED;
	take_u32s(cursor, &ret->pid, &ret->tid);
	ret->mapped.start = take_u64(cursor);
	ret->mapped.size = take_u64(cursor);
	ret->mapped.offset = take_u64(cursor);
	file = take_words(cursor, 3, sizeof(u64));
	take_u32s(cursor, &ret->mapped.protection, &flags);
	ret->mapped.path = take_text(cursor);
	if (!file)
		return;
	if (header->misc & PERF_RECORD_MISC_MMAP_BUILD_ID) {
		take_build_id(file, ret);
		return;
	}
	memcpy(&ret->mapped.major, file, sizeof(u32));
	memcpy(&ret->mapped.minor, file + sizeof(u32), sizeof(u32));
	memcpy(&ret->mapped.inode, file + sizeof(u64), sizeof(u64));
}

static void parse_named(const struct perf_event_header *header, struct cursor *cursor,
			struct zoom_record *ret)
{
	ret->kind = ZOOM_RECORD_NAMED;
	take_u32s(cursor, &ret->pid, &ret->tid);
	ret->named.executed = header->misc & PERF_RECORD_MISC_COMM_EXEC;
	ret->named.name = take_text(cursor);
}

static void parse_task(enum zoom_record_kind kind, struct cursor *cursor, struct zoom_record *ret)
{
	ret->kind = kind;
	take_u32s(cursor, &ret->pid, &ret->forked.parent_pid);
	take_u32s(cursor, &ret->tid, &ret->forked.parent_tid);
	ret->time_ns = take_u64(cursor);
}

static void parse_lost(bool with_id, struct cursor *cursor, struct zoom_record *ret)
{
	ret->kind = ZOOM_RECORD_LOST;
	if (with_id)
		(void)take_u64(cursor);
	ret->lost = take_u64(cursor);
}

static void parse_throttled(struct cursor *cursor, struct zoom_record *ret)
{
	u64 time = take_u64(cursor);

	(void)take_u64(cursor);
	(void)take_u64(cursor);
	ret->kind = ZOOM_RECORD_THROTTLED;
	ret->time_ns = time;
}

int zoom_parse(const struct perf_event_attr *attr, const struct event *event, const u8 *record, size_t size,
	       struct zoom_stacks *stacks, struct zoom_record *ret)
{
	struct perf_event_header header;
	struct cursor cursor;

	*ret = (struct zoom_record){.kind = ZOOM_RECORD_OTHER};
	if (size < sizeof(header))
		return -EBADMSG;
	memcpy(&header, record, sizeof(header));
	if (header.size != size)
		return -EBADMSG;
	cursor = (struct cursor){.at = record + sizeof(header), .end = record + size};
	if (header.type != PERF_RECORD_SAMPLE)
		take_trailer(attr, &cursor, ret);
	switch (header.type) {
	case PERF_RECORD_SAMPLE:
		parse_sample(attr, event, &header, &cursor, stacks, ret);
		break;
	case PERF_RECORD_MMAP2:
		parse_mapped(&header, &cursor, ret);
		break;
	case PERF_RECORD_COMM:
		parse_named(&header, &cursor, ret);
		break;
	case PERF_RECORD_FORK:
		parse_task(ZOOM_RECORD_FORKED, &cursor, ret);
		break;
	case PERF_RECORD_EXIT:
		parse_task(ZOOM_RECORD_EXITED, &cursor, ret);
		break;
	case PERF_RECORD_LOST:
		parse_lost(true, &cursor, ret);
		break;
	case PERF_RECORD_LOST_SAMPLES:
		parse_lost(false, &cursor, ret);
		break;
	case PERF_RECORD_THROTTLE:
		parse_throttled(&cursor, ret);
		break;
	default:
		break;
	}
	return cursor.short_of ? -EBADMSG : 0;
}

int zoom_parse_id(const u8 *record, size_t size, u64 *ret)
{
	struct perf_event_header header;

	if (size < sizeof(header) + sizeof(*ret))
		return -EBADMSG;
	memcpy(&header, record, sizeof(header));
	if (header.size != size)
		return -EBADMSG;
	memcpy(ret,
	       header.type == PERF_RECORD_SAMPLE ? record + sizeof(header) : record + size - sizeof(*ret),
	       sizeof(*ret));
	return 0;
}

// SPDX-License-Identifier: GPL-2.0
#include "origin/replay/perf_data_head.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "origin/replay/perf_data_fail.h"

/* Sizes in bytes of a file header without and with the feature bits, of a pipe's header, and of a section. */
#define FILE_HEADER_MIN  72
#define FILE_HEADER_SIZE 104
#define PIPE_HEADER_SIZE 16
#define SECTION_SIZE     16

/*
 * Size of the attributes and ids before the data of a file. Limits what a hostile header can make pebsd read.
 */
#define HEAD_MAX    (16U << 20)
#define FEATURE_MAX (16U << 20)

#define MAGIC_2         0x32454c4946524550ULL /* "PERFILE2" */
#define MAGIC_1         0x454c494646524550ULL /* "PERFFILE", perf before 3.4 */
#define MAGIC_2_SWAPPED 0x50455246494c4532ULL

struct section {
	u64 offset;
	u64 size;
};

struct file_header {
	u64 magic;
	u64 size;
	u64 attr_size;
	struct section attrs;
	struct section data;
	struct section event_types;
	u64 features[PERF_DATA_FEATURES / 64];
};

_Static_assert(sizeof(struct file_header) == FILE_HEADER_SIZE, "perf's struct perf_file_header");

/* The context of the functions below: arguments of the caller, and the results. */
struct reading {
	struct perf_data_input *input;
	struct perf_data_events *events;
	struct perf_data_head head;
	char **message;
};

static int check_magic(struct reading *reading, u64 magic, u64 size)
{
	bool swapped_size = size == __builtin_bswap64(PIPE_HEADER_SIZE) ||
			    size == __builtin_bswap64(FILE_HEADER_SIZE) ||
			    size == __builtin_bswap64(FILE_HEADER_MIN);

	if (magic == MAGIC_2_SWAPPED || (magic == MAGIC_1 && swapped_size))
		return perf_data_fail(
			reading->message, -EBADMSG,
			"was recorded on a machine with the other byte order; replay it on a machine with "
			"that byte order");
	if (magic != MAGIC_2 && magic != MAGIC_1)
		return perf_data_fail(reading->message, -EBADMSG,
				      "is not a perf.data recording: it does not begin with PERFILE2; "
				      "create one with perf mem record");
	if (size != PIPE_HEADER_SIZE && size != FILE_HEADER_SIZE && size != FILE_HEADER_MIN)
		return perf_data_fail(reading->message, -EBADMSG,
				      "has a header of %" PRIu64 " bytes, which perf never writes; copy "
				      "it again, or record it again",
				      size);
	return 0;
}

/* Reads `section` into memory that the caller frees. Returns 1, 0 if the recording ends early, or -errno. */
static int load_section(const struct reading *reading, const struct section *section, u8 **ret)
{
	_cleanup_free_ u8 *bytes = NULL;
	int r;

	/* Check this before allocating memory. */
	if (reading->input->seekable &&
	    (section->size > reading->input->size || section->offset > reading->input->size - section->size))
		return 0;
	bytes = malloc(section->size ? section->size : 1);
	if (!bytes)
		return -ENOMEM;
	r = perf_data_input_copy(reading->input, section->offset, bytes, section->size);
	if (r > 0)
		*ret = TAKE_PTR(bytes);
	return r;
}

/* Turns a result of load_section() or of the functions for events into 0, or -errno with a message. */
static int check_head(struct reading *reading, int r)
{
	if (r > 0)
		return 0;
	if (r == 0)
		return perf_data_fail(reading->message, -EBADMSG,
				      "ends within its header, at byte %" PRIu64 ": none of its samples "
				      "can be read; copy the whole file again, or record it again",
				      perf_data_input_seen(reading->input));
	if (r == -EBADMSG)
		return perf_data_fail(reading->message, r,
				      "has an impossible list of events in its header; copy it again, or "
				      "record it again");
	if (r == -ESPIPE)
		return perf_data_fail(reading->message, -EBADMSG,
				      "has its list of events at a position that a pipe cannot reach; "
				      "give replay the file itself");
	return perf_data_fail_to_read(reading->message, r);
}

static int read_attr(struct reading *reading, const u8 *entry, size_t attr_size)
{
	_cleanup_free_ u8 *ids = NULL;
	struct section section;
	int r;

	memcpy(&section, entry + attr_size, sizeof(section));
	if (section.size / sizeof(u64) > PERF_DATA_IDS_MAX)
		return -EBADMSG;
	r = load_section(reading, &section, &ids);
	if (r <= 0)
		return r;
	r = perf_data_events_add(reading->events, entry, attr_size, ids, section.size / sizeof(u64));
	return r < 0 ? r : 1;
}

static int read_attrs(struct reading *reading, const struct file_header *header)
{
	_cleanup_free_ u8 *attrs = NULL;
	int r;

	if (header->attr_size < PERF_DATA_ATTR_MIN + SECTION_SIZE ||
	    header->attr_size > PERF_DATA_ATTR_MAX + SECTION_SIZE || header->attrs.size > HEAD_MAX)
		return -EBADMSG;
	r = load_section(reading, &header->attrs, &attrs);
	for (u64 at = 0; r > 0 && header->attrs.size - at >= header->attr_size; at += header->attr_size)
		r = read_attr(reading, attrs + at, header->attr_size - SECTION_SIZE);
	return r;
}

static bool is_read(unsigned int feature)
{
	switch (feature) {
	case PERF_DATA_FEATURE_HOSTNAME:
	case PERF_DATA_FEATURE_OSRELEASE:
	case PERF_DATA_FEATURE_CPUDESC:
	case PERF_DATA_FEATURE_CPUID:
	case PERF_DATA_FEATURE_EVENT_DESC:
	case PERF_DATA_FEATURE_PMU_MAPPINGS:
	case PERF_DATA_FEATURE_CLOCK_DATA:
		return true;
	default:
		return false;
	}
}

/* Reads a section behind the data. Ignores a damaged one, because it contains only names. */
static int read_feature(struct reading *reading, unsigned int feature, const struct section *section)
{
	_cleanup_free_ u8 *bytes = NULL;
	int r;

	if (!is_read(feature))
		return section->size <= reading->input->size &&
		       section->offset <= reading->input->size - section->size;
	if (section->size > FEATURE_MAX)
		return 1;
	r = load_section(reading, section, &bytes);
	if (r <= 0)
		return r;
	r = perf_data_events_feature(reading->events, feature, bytes, section->size);
	return r == -ENOMEM ? r : 1;
}

/* After the data comes a table of sections, one for each feature bit that is set. */
static int read_features(struct reading *reading, const struct file_header *header)
{
	u64 at = reading->head.data_end;

	for (unsigned int feature = 0; feature < PERF_DATA_FEATURES; feature++) {
		struct section section;
		int r;

		if (!(header->features[feature / 64] >> (feature % 64) & 1))
			continue;
		r = perf_data_input_copy(reading->input, at, &section, sizeof(section));
		if (r > 0)
			r = read_feature(reading, feature, &section);
		if (r < 0)
			return perf_data_fail_to_read(reading->message, r);
		if (r == 0)
			reading->head.cut = true;
		if (r == 0)
			return 0;
		at += sizeof(section);
	}
	return 0;
}

static int read_file_head(struct reading *reading, u64 header_size)
{
	struct file_header header = {};
	const u8 *head;
	int r;

	r = perf_data_input_peek(reading->input, header_size, &head);
	if (r <= 0)
		return check_head(reading, r);
	memcpy(&header, head, header_size);
	if (header.data.offset < header_size || header.data.offset > HEAD_MAX ||
	    header.data.size > ~0ULL - header.data.offset)
		return perf_data_fail(reading->message, -EBADMSG,
				      "has an impossible position of its data in its header; copy it "
				      "again, or record it again");
	/* In a pipe, everything before the data must fit into the buffer. */
	r = perf_data_input_peek(reading->input, header.data.offset, &head);
	if (r > 0)
		r = read_attrs(reading, &header);
	r = check_head(reading, r);
	if (r < 0)
		return r;

	/* perf writes the size when it ends. If perf was killed, the size is 0. */
	reading->head.unfinished = header.data.size == 0;
	reading->head.bounded = !reading->head.unfinished;
	reading->head.data_end = header.data.offset + header.data.size;
	if (reading->head.bounded && reading->input->seekable) {
		r = read_features(reading, &header);
		if (r < 0)
			return r;
	}
	reading->head.data_start = header.data.offset;
	return 0;
}

int perf_data_head_read(struct perf_data_input *input, struct perf_data_events *events,
			struct perf_data_head *ret, char **message)
{
	struct reading reading = {.input = input, .events = events, .message = message};
	const u8 *head;
	u64 magic;
	u64 size;
	int r;

	r = perf_data_input_peek(input, PIPE_HEADER_SIZE, &head);
	if (r < 0)
		return perf_data_fail_to_read(message, r);
	if (r == 0 && (!input->size || (!input->seekable && input->end == input->start)))
		return perf_data_fail(message, -EBADMSG, "is empty; copy it again, or record it again");
	if (r == 0)
		return perf_data_fail(
			message, -EBADMSG,
			"is too short for a perf.data recording; copy it again, or record it again");
	memcpy(&magic, head, sizeof(magic));
	memcpy(&size, head + sizeof(magic), sizeof(size));
	r = check_magic(&reading, magic, size);
	if (r == 0 && size != PIPE_HEADER_SIZE)
		r = read_file_head(&reading, size);
	if (r < 0)
		return r;
	if (size == PIPE_HEADER_SIZE) {
		reading.head.pipe = true;
		reading.head.data_start = size;
	}
	*ret = reading.head;
	return 0;
}

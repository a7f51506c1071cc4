// SPDX-License-Identifier: GPL-2.0
#include "store/handover.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/param.h>
#include <sys/stat.h>

#include "base/log.h"

#define HANDOVER_MAGIC 0x736b6f6f6264736cULL

/* The header takes the first page, and each part begins at a page. */
#define PAGE_BYTES 4096UL

struct header {
	u64 magic;
	u32 layout;
	u32 committed;
	struct {
		u64 offset;
		u64 bytes; /* 0: there is no such part */
	} parts[HANDOVER_PARTS];
	u32 starts; /* number of processes that used the handover since the last handover_confirm() */
};

/* One memory, and the mappings of its header and parts. */
struct memory {
	int fd; /* -1: none */
	u32 number;
	u64 size;
	struct header *header;
	void *parts[HANDOVER_PARTS];
};

struct handover {
	struct store *store;
	struct memory before; /* memory of the previous process, in use here until handover_begin() */
	struct memory own;
	bool begun; /* by handover_begin(): `own` exists */
	bool gave_up;
	u32 last_number;
};

static size_t whole_pages(size_t bytes)
{
	return (bytes + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
}

static void memory_done(struct memory *memory)
{
	for (unsigned part = 0; part < HANDOVER_PARTS; part++)
		if (memory->parts[part])
			(void)munmap(memory->parts[part], whole_pages(memory->header->parts[part].bytes));
	if (memory->header)
		(void)munmap(memory->header, PAGE_BYTES);
	cleanup_close(&memory->fd);
	*memory = (struct memory){.fd = -1};
}

struct handover *handover_free(struct handover *handover)
{
	if (!handover)
		return NULL;
	memory_done(&handover->before);
	memory_done(&handover->own);
	free(handover);
	return NULL;
}

static void *map(int fd, size_t bytes, u64 offset)
{
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)offset);

	return memory == MAP_FAILED ? NULL : memory;
}

static bool is_whole(const struct memory *memory)
{
	const struct header *header = memory->header;

	if (header->magic != HANDOVER_MAGIC || header->layout != HANDOVER_LAYOUT || !header->committed)
		return false;
	for (unsigned part = 0; part < HANDOVER_PARTS; part++) {
		u64 offset = header->parts[part].offset, bytes = header->parts[part].bytes;

		if (bytes && (offset % PAGE_BYTES || offset < PAGE_BYTES || offset > memory->size ||
			      bytes > memory->size - offset))
			return false;
	}
	return true;
}

/*
 * Maps the header of a memory that the previous process left. The memory must be sealed against shrinking, so
 * that its mapping stays valid. Takes ownership of `fd`. Returns whether the memory is complete.
 */
static bool open_memory(int fd, u32 number, struct memory *ret)
{
	struct memory memory = {.fd = fd, .number = number};
	struct stat status;
	int seals = fcntl(fd, F_GET_SEALS);

	if (seals >= 0 && (seals & F_SEAL_SHRINK) && fstat(fd, &status) == 0 &&
	    (u64)status.st_size >= PAGE_BYTES) {
		memory.size = (u64)status.st_size;
		memory.header = map(fd, PAGE_BYTES, 0);
	}
	if (!memory.header || !is_whole(&memory)) {
		memory_done(&memory);
		return false;
	}
	*ret = memory;
	return true;
}

/* Counts this start. Returns false if the memory is given up instead. */
static bool count_start(struct handover *handover, struct memory *memory)
{
	if (memory->header->starts >= HANDOVER_STARTS_MAX) {
		(void)log_warning(
			0,
			"the last %u starts continued the counts of an earlier process, and each ended before its first collection: this start does not continue them, and all counters start from zero",
			memory->header->starts);
		handover->gave_up = true;
		memory_done(memory);
		return false;
	}
	__atomic_store_n(&memory->header->starts, memory->header->starts + 1, __ATOMIC_SEQ_CST);
	return true;
}

u32 handover_highest(const struct store *store, enum stored_kind kind, u32 below)
{
	const char *text;
	u32 highest = 0;

	for (size_t i = 0; (text = store_nth(store, i)); i++) {
		struct stored_name name;

		if (stored_name_parse(text, &name) && name.kind == kind && name.layout == HANDOVER_LAYOUT &&
		    name.n_numbers == 1 && !*name.label && name.numbers[0] > highest &&
		    name.numbers[0] < below)
			highest = name.numbers[0];
	}
	return highest;
}

/* Returns the highest of the last numbers of all stored names. */
static u32 last_number(const struct store *store)
{
	const char *text;
	u32 last = 0;

	for (size_t i = 0; (text = store_nth(store, i)); i++) {
		struct stored_name name;

		if (stored_name_parse(text, &name) && name.n_numbers > 0)
			last = MAX(last, name.numbers[name.n_numbers - 1]);
	}
	return last;
}

/* Finds the committed memory with the highest number. If that memory is given up, no older one is used. */
static void find_before(struct handover *handover)
{
	struct store *store = handover->store;

	for (u32 number = handover_highest(store, STORED_HANDOVER, UINT32_MAX); number;
	     number = handover_highest(store, STORED_HANDOVER, number)) {
		char text[STORED_NAME_MAX];
		int fd;

		handover_name(STORED_HANDOVER, "", 1, &number, text);
		fd = store_take(store, text);
		if (fd < 0)
			continue;
		if (handover->gave_up)
			cleanup_close(&fd);
		else if (open_memory(fd, number, &handover->before) &&
			 count_start(handover, &handover->before))
			return;
		(void)store_remove(store, text);
	}
}

int handover_open(struct store *store, struct handover **ret)
{
	struct handover *handover = calloc(1, sizeof(*handover));

	if (!handover)
		return -ENOMEM;
	handover->store = store;
	handover->before.fd = handover->own.fd = -1;
	handover->last_number = last_number(store);
	find_before(handover);
	*ret = handover;
	return 0;
}

bool handover_gave_up(const struct handover *handover)
{
	return handover->gave_up;
}

/* The memory whose parts this process writes. */
static struct memory *memory_in_use(struct handover *handover)
{
	return handover->begun ? &handover->own : &handover->before;
}

void handover_confirm(struct handover *handover)
{
	struct header *header = memory_in_use(handover)->header;

	if (header && header->starts)
		__atomic_store_n(&header->starts, 0, __ATOMIC_SEQ_CST);
}

static int map_part(struct memory *memory, enum handover_part part)
{
	if (!memory->parts[part])
		memory->parts[part] = map(memory->fd, whole_pages(memory->header->parts[part].bytes),
					  memory->header->parts[part].offset);
	return memory->parts[part] ? 0 : -ENOMEM;
}

bool handover_has_before(const struct handover *handover)
{
	return handover->before.header;
}

const void *handover_before(const struct handover *handover, enum handover_part part, size_t bytes)
{
	struct memory *before = (struct memory *)&handover->before;

	if (!before->header || bytes == 0 || before->header->parts[part].bytes != bytes ||
	    map_part(before, part) < 0)
		return NULL;
	return before->parts[part];
}

bool handover_fits(const struct handover *handover, enum handover_part part, size_t bytes)
{
	const struct header *header = handover->before.header;

	return header && (header->parts[part].bytes == 0 || header->parts[part].bytes == bytes);
}

int handover_begin(struct handover *handover)
{
	struct memory *own = &handover->own;
	int r;

	if (handover->begun)
		return 0;
	own->fd = memfd_create("pebsd-handover", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (own->fd < 0)
		return -errno;
	r = posix_fallocate(own->fd, 0, PAGE_BYTES);
	if (r > 0)
		return -r;
	if (fcntl(own->fd, F_ADD_SEALS, F_SEAL_SHRINK) < 0)
		return -errno;
	own->header = map(own->fd, PAGE_BYTES, 0);
	if (!own->header)
		return -ENOMEM;
	own->size = PAGE_BYTES;
	own->number = handover_number(handover);
	*own->header = (struct header){.magic = HANDOVER_MAGIC, .layout = HANDOVER_LAYOUT};
	handover->begun = true;
	return 0;
}

int handover_part(struct handover *handover, enum handover_part part, size_t bytes, void **ret)
{
	struct memory *memory = memory_in_use(handover);
	int r;

	if (!memory->header)
		return -EBADMSG;
	if (memory->header->parts[part].bytes == 0) {
		u64 offset = memory->size;

		/*
		 * Allocate the pages now: a lack of memory is an error here, but would be a SIGBUS at the
		 * first write.
		 */
		r = posix_fallocate(memory->fd, (off_t)offset, (off_t)whole_pages(bytes));
		if (r > 0)
			return -r;
		memory->size = offset + whole_pages(bytes);
		memory->header->parts[part].offset = offset;
		/* Set the size last: with it, the part exists. */
		__atomic_store_n(&memory->header->parts[part].bytes, bytes, __ATOMIC_SEQ_CST);
	}
	if (memory->header->parts[part].bytes != bytes)
		return -EBADMSG;
	r = map_part(memory, part);
	if (r == 0)
		*ret = memory->parts[part];
	return r;
}

int handover_commit(struct handover *handover)
{
	char name[STORED_NAME_MAX];
	int r;

	if (!handover->begun)
		return 0;
	handover_name(STORED_HANDOVER, "", 1, &handover->own.number, name);
	r = store_put(handover->store, name, handover->own.fd);
	if (r == 0)
		r = store_settle(handover->store);
	if (r < 0)
		return r;
	__atomic_store_n(&handover->own.header->committed, 1, __ATOMIC_SEQ_CST);
	if (handover->before.fd >= 0) {
		handover_name(STORED_HANDOVER, "", 1, &handover->before.number, name);
		memory_done(&handover->before);
		(void)store_remove(handover->store, name);
	}
	return 0;
}

struct store *handover_store(const struct handover *handover)
{
	return handover->store;
}

u32 handover_number(struct handover *handover)
{
	return ++handover->last_number;
}

void handover_name(enum stored_kind kind, const char *label, u32 n_numbers, const u32 *numbers,
		   char ret[STORED_NAME_MAX])
{
	struct stored_name name = {.kind = kind, .layout = HANDOVER_LAYOUT, .n_numbers = n_numbers};

	memcpy(name.label, label, strnlen(label, sizeof(name.label) - 1));
	memcpy(name.numbers, numbers, n_numbers * sizeof(*numbers));
	stored_name_format(&name, ret);
}

/* NOLINTNEXTLINE(readability-non-const-parameter): it is written */
void handover_commit_copy(u32 *current, void *copies, const void *with, size_t bytes)
{
	u32 other = !(*current & 1);

	memcpy((u8 *)copies + other * bytes, with, bytes);
	__atomic_store_n(current, other, __ATOMIC_SEQ_CST);
}

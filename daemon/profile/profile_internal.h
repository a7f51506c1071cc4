// SPDX-License-Identifier: GPL-2.0
/*
 * The internals of a profile, for the functions that evaluate it. The stacks form a tree. A node is an
 * address and its caller, so that stacks share their common part. A sample's stack is identified by its
 * innermost node. Tables refer to each other by number, and numbers never change.
 */
#ifndef PEBSD_PROFILE_INTERNAL_H
#define PEBSD_PROFILE_INTERNAL_H

#include "base/siphash.h"
#include "profile/profile.h"
#include "profile/profile_table.h"

/* The parts of PROFILE_BYTES_MAX that names and samples may take. */
#define PROFILE_NAMES_BYTES_MAX   (16U << 20)
#define PROFILE_SAMPLES_BYTES_MAX (PROFILE_BYTES_MAX - PROFILE_NAMES_BYTES_MAX)

/*
 * Maximum distinct thread names, which bounds the labels. Further threads are called PROFILE_OTHER_THREADS.
 */
#define PROFILE_THREAD_NAMES_MAX 512
#define PROFILE_OTHER_THREADS    "[other threads]"

#define NONE HASH_INDEX_NONE

/*
 * A process that executes another program counts as a new process, because its addresses change. Therefore
 * `pid` in nodes, accesses, places and ranges has a counter of the programs executed (the life) above the
 * process' number. The kernel keeps that number below 1 << PROFILE_PID_BITS (PID_MAX_LIMIT,
 * include/linux/threads.h).
 */
#define PROFILE_PID_BITS 22
#define PROFILE_LIVES    (1U << (32 - PROFILE_PID_BITS))

static inline u32 pid_number(u32 pid)
{
	return pid & ((1U << PROFILE_PID_BITS) - 1);
}

/* A node of the tree of stacks. Roots are processes: their `address` is the pid and their caller is NONE. */
struct node {
	u64 address;
	u32 caller;
	u32 pid;   /* of the node's root */
	u32 place; /* NONE: not looked up yet */
	u32 last;  /* the callee seen last, a guess that avoids a search; NONE: none yet */
	u8 kernel; /* in the kernel part of the stack */
	u8 exact;  /* a sampled instruction, not a return address */
	u8 root;
	u8 early; /* when last counted: the user stack up to here has no start (profile_stacks.h) */
};

/* The samples of one stack, thread name and source. */
struct cell {
	u32 node;
	u32 thread; /* a string; with CELL_THREAD, a thread that had no name yet */
	u8 source;
	u64 samples, latency;
};

#define CELL_THREAD 0x80000000U

/* The samples of one kind of access: the same addresses, process, CPU, source, HITM and store. */
struct access {
	u64 address, code, physical; /* physical 0: not known */
	u64 latency;
	u32 pid; /* 0 if data and (if known) code are the kernel's */
	u32 cpu;
	u32 samples;
	u32 data_place, code_place;
	u8 source, hitm, store;
	u8 has_code;
};

struct thread {
	u32 pid, tid;
	u32 first, now; /* names, strings: the first one and the present one; NONE: no name */
	u32 life;       /* of a process' first thread: programs that the process executed */
};

/* A function at a line of a file in a module. `name`, `module` and `file` are strings; NONE: not known. */
struct frame {
	u32 name, module, file, line;
	bool unnamed; /* `name` is not a function's name but says where the code is */
};

/* Frames that every table of names has. */
enum { FRAME_UNKNOWN, FRAME_KERNEL, FRAMES_FIXED };

/* A mapped file. `path` is a string. */
struct module {
	u32 path;
	u8 build_id[SYMBOL_BUILD_ID_MAX];
	u8 build_id_size;
};

/* An address to be named, in process `pid` (0: the kernel). */
struct place {
	u64 address;
	u64 at; /* address in the module (symbol.h); of a named variable: offset in it */
	u32 pid;
	u32 module; /* NONE: no module */
	u32 first;  /* index of the first frame in place_frames */
	u8 n;       /* number of frames; code with an answer has at least one */
	u8 kind, region;
	u8 start; /* programs or threads start in the outermost function of this place */
};

/* Memory in which all addresses have the same name: [heap], [stack], [anon]. */
struct range {
	u32 pid;
	u64 start, end;
	u64 at; /* value of `at` in struct place for the address `start` */
	u8 region;
	u32 module;
};

#define PROFILE_RANGES_MAX 4096

/* The names. A separate struct, because they are also filled in through a const profile. */
struct name_table {
	struct budget budget;
	struct siphash_key key;
	struct growing characters; /* char: strings, each terminated by 0 */
	struct growing strings;    /* u32: where each string begins in `characters` */
	struct hash_index string_index;
	struct growing modules;
	struct hash_index module_index;
	struct growing frames;
	struct hash_index frame_index;
	struct growing place_frames; /* u32 */
	struct growing places;
	struct hash_index place_index;
	struct growing open;   /* u32: places without an answer */
	struct growing ranges; /* sorted by pid and start */
	size_t nodes_seen, accesses_seen;
	size_t asks; /* data addresses that the next resolve may request */
	u64 early;
	bool early_counted; /* `early` is current: counted since the last resolve */
};

struct profile {
	bool has_latency;
	struct budget budget;
	struct siphash_key key;
	struct profile_totals totals;
	struct growing nodes;
	struct hash_index node_index;
	struct growing cells;
	struct hash_index cell_index;
	struct growing accesses;
	struct hash_index access_index;
	struct growing threads;
	struct hash_index thread_index;
	size_t n_thread_names;
	struct name_table *table;
};

static inline struct node *node_of(const struct profile *profile, u32 i)
{
	return &((struct node *)profile->nodes.list)[i];
}

static inline struct cell *cell_of(const struct profile *profile, size_t i)
{
	return &((struct cell *)profile->cells.list)[i];
}

static inline struct access *access_of(const struct profile *profile, size_t i)
{
	return &((struct access *)profile->accesses.list)[i];
}

static inline struct thread *thread_of(const struct profile *profile, u32 i)
{
	return &((struct thread *)profile->threads.list)[i];
}

static inline struct place *place_of(const struct name_table *table, u32 i)
{
	return &((struct place *)table->places.list)[i];
}

static inline struct frame *frame_of(const struct name_table *table, u32 i)
{
	return &((struct frame *)table->frames.list)[i];
}

static inline struct module *module_of(const struct name_table *table, u32 i)
{
	return &((struct module *)table->modules.list)[i];
}

/* Returns NULL for NONE. Valid until another string is added. */
static inline const char *string_of(const struct name_table *table, u32 i)
{
	return i == NONE ? NULL
			 : (const char *)table->characters.list + ((const u32 *)table->strings.list)[i];
}

int name_table_new(struct name_table **ret);
struct name_table *name_table_free(struct name_table *table);
u64 name_table_bytes(const struct name_table *table);

/* Finds or adds a string. Returns 0, -ENOSPC or -ENOMEM. */
int name_table_string(struct name_table *table, const char *text, u32 *ret);

/*
 * Finds the place of an address, or adds it to the list of open places. Returns the same as
 * name_table_string().
 */
int name_table_place(struct name_table *table, u32 pid, u64 address, enum symbol_kind kind, u32 *ret);

/* Stores the answer for a place. Returns the same as name_table_string(). On failure the place has no frames. */
int name_table_answer(struct name_table *table, u32 i, const struct symbol *symbol);

/* Marks all unanswered places of a process as unknown: their names can no longer be found out. */
void name_table_give_up(struct name_table *table, u32 pid);

/* Answers a data place from the known range around it. Returns whether there is such a range. */
bool name_table_answer_by_range(struct name_table *table, u32 i);

/* Returns the frames of a node, innermost first: always at least one. Valid until the table changes. */
size_t node_frames(const struct profile *profile, const struct node *node, const u32 **ret);

/* Same as profile_resolve(), for a const profile: names are stored in its table of names. */
size_t profile_resolve_const(const struct profile *profile, const struct profile_names *names);

/* Returns the name of a cell's thread as a string, or NONE if it has no known name. */
u32 cell_thread_string(const struct profile *profile, const struct cell *cell);

/*
 * Counts the samples whose user stack ends early, as of the last resolve. Walks the whole tree if they were
 * not counted since then.
 */
u64 count_early(const struct profile *profile);

#endif

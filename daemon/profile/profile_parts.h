// SPDX-License-Identifier: GPL-2.0
/*
 * The inside of a profile, for what is made of it. Stacks are a tree: a node is an address and its caller, so
 * that stacks share what they have in common; a sample's stack is named by its innermost node. What is in the
 * tables refers to the rest by number; numbers stay what they are.
 */
#ifndef PEBSD_PROFILE_PARTS_H
#define PEBSD_PROFILE_PARTS_H

#include "base/keyed_hash.h"
#include "profile/profile.h"
#include "profile/profile_table.h"

/* Of PROFILE_BYTES_MAX: what names may take, and samples. */
#define PROFILE_NAMES_BYTES_MAX   (16U << 20)
#define PROFILE_SAMPLES_BYTES_MAX (PROFILE_BYTES_MAX - PROFILE_NAMES_BYTES_MAX)

/* Names of threads that are told apart, so that labels stay few; more are called PROFILE_OTHER_THREADS. */
#define PROFILE_THREAD_NAMES_MAX 512
#define PROFILE_OTHER_THREADS    "[other threads]"

#define NONE HASH_INDEX_NONE

/*
 * A process that executes another program is another from then on, for its addresses are others: in the
 * tables `pid` is which one it is, above the process' number, which the kernel keeps below (PID_MAX_LIMIT,
 * include/linux/threads.h).
 */
#define PROFILE_PID_BITS 22
#define PROFILE_LIVES    (1U << (32 - PROFILE_PID_BITS))

static inline u32 pid_number(u32 pid)
{
	return pid & ((1U << PROFILE_PID_BITS) - 1);
}

/* A frame of the tree. Roots are processes: their `address` is the pid, and their caller NONE. */
struct node {
	u64 address;
	u32 caller;
	u32 pid;   /* of its root */
	u32 place; /* NONE: not entered yet */
	u32 last;  /* what it called when it was last seen: a guess that saves a search; NONE */
	u8 kernel; /* of the kernel's half of the stack */
	u8 exact;  /* an instruction, not a return address */
	u8 root;
	u8 early; /* as last counted: of a user frame, its outermost user frame is no start */
};

/* Samples of one stack, thread name and source. */
struct cell {
	u32 node;
	u32 thread; /* number of a string; or of a thread that had no name yet, with CELL_THREAD */
	u8 source;
	u64 samples, latency;
};

#define CELL_THREAD 0x80000000U

/* What accessed what, from where. */
struct access {
	u64 address, code, physical; /* physical 0: not known */
	u64 latency;
	u32 pid; /* 0 where code and data are the kernel's */
	u32 cpu;
	u32 samples;
	u32 data_place, code_place;
	u8 source, hitm, store;
	u8 has_code;
};

struct thread {
	u32 pid, tid;
	u32 first, now; /* names: strings; NONE */
	u32 life;       /* of the first thread: how often the process has executed another program */
};

/* A function at a line of a file, in a module: strings. `file` NONE: not known. */
struct frame {
	u32 name, module, file, line;
	bool unnamed; /* `name` is no name, but says where it is */
};

/* Frames that are always there. */
enum { FRAME_UNKNOWN, FRAME_KERNEL, FRAMES_FIXED };

/* A file that is mapped. `path` is a string. */
struct module {
	u32 path;
	u8 build_id[SYMBOL_BUILD_ID_MAX];
	u8 build_id_size;
};

enum place_state { PLACE_OPEN, PLACE_ANSWERED, PLACE_NO_ROOM };

/* An address that is to be named, of a process (0: of the kernel). */
struct place {
	u64 address;
	u64 at; /* in the module, bytes (symbol.h); of a named variable: in the variable */
	u32 pid;
	u32 module; /* NONE: none */
	u32 first;  /* of its frames in place_frames */
	u8 n;       /* how many; code has at least one once it is answered */
	u8 kind, region, state;
	u8 start; /* its outermost function is one that threads or programs start in */
};

/* Memory of which all addresses have the same name: [heap], [stack], [anon]. */
struct range {
	u32 pid;
	u64 start, end;
	u64 at; /* of `start`, in what struct place has as `at` */
	u8 region;
	u32 module;
};

#define PROFILE_RANGES_MAX 4096

/* Names, in a struct of their own: they are filled in while the profile is only looked at. */
struct book {
	struct budget budget;
	struct hash_key key;
	struct growing characters; /* char: strings, each ended by 0 */
	struct growing strings;    /* u32: where each begins */
	struct hash_index string_index;
	struct growing modules;
	struct hash_index module_index;
	struct growing frames;
	struct hash_index frame_index;
	struct growing place_frames; /* u32 */
	struct growing places;
	struct hash_index place_index;
	struct growing open;   /* u32: places without an answer */
	struct growing ranges; /* by pid, start */
	size_t nodes_seen, accesses_seen;
	size_t asks; /* that the next resolve may make for data */
	u64 early;
	bool early_counted; /* since the last resolve */
};

struct profile {
	bool has_latency;
	struct budget budget;
	struct hash_key key;
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
	struct book *book;
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

static inline struct place *place_of(const struct book *book, u32 i)
{
	return &((struct place *)book->places.list)[i];
}

static inline struct frame *frame_of(const struct book *book, u32 i)
{
	return &((struct frame *)book->frames.list)[i];
}

static inline struct module *module_of(const struct book *book, u32 i)
{
	return &((struct module *)book->modules.list)[i];
}

/* NULL for NONE. Valid until another string is entered. */
static inline const char *string_of(const struct book *book, u32 i)
{
	return i == NONE ? NULL : (const char *)book->characters.list + ((const u32 *)book->strings.list)[i];
}

int book_new(struct book **ret);
struct book *book_free(struct book *book);
u64 book_bytes(const struct book *book);

/* 0, -ENOSPC, -ENOMEM. */
int book_string(struct book *book, const char *text, u32 *ret);

/* The place of an address, entered as open where it is not there. As above. */
int book_place(struct book *book, u32 pid, u64 address, enum symbol_kind kind, u32 *ret);

/* What a place is, now that it is known. As above; the place is then PLACE_NO_ROOM. */
int book_answer(struct book *book, u32 i, const struct symbol *symbol);

/* Answers the places of a process that have no answer: nobody can tell any more what they were. */
void book_give_up(struct book *book, u32 pid);

/* Answers a place of data by what is known of the memory around it. Whether it could. */
bool book_answer_by_range(struct book *book, u32 i);

/* The frames of a node, innermost first: never none. Valid until the book changes. */
size_t node_frames(const struct profile *profile, const struct node *node, const u32 **ret);

/* profile_resolve() of a profile that is only looked at: names are kept in its book. */
size_t profile_resolve_held(const struct profile *profile, const struct profile_names *names);

/* The name of a cell's thread, a string; NONE: none is known. */
u32 cell_thread_string(const struct profile *profile, const struct cell *cell);

/* Samples whose user stack ends early, as of the last resolve. Walks over the whole tree where they were not
 * counted since. */
u64 count_early(const struct profile *profile);

#endif

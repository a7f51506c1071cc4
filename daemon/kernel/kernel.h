// SPDX-License-Identifier: GPL-2.0
/*
 * The kernel side, seen from user space: loads the BPF programs, maps their records, runs the syscall door.
 *
 * After kernel_open() no map system call is made any more but by kernel_grow() and kernel_hot_choose(): such a
 * call disables perf_event programs on its CPU and loses their samples without a trace (kernel/bpf/syscall.c,
 * bpf_disable_instrumentation, Linux 6.1 to 6.18). kernel_grow() writes an entry for each block and kind of map
 * when slots run short, and kernel_hot_choose() writes one when a choice is first used. Programs are disabled on
 * this CPU only while an entry is written.
 */
#ifndef PEBSD_KERNEL_H
#define PEBSD_KERNEL_H

#include <stdbool.h>
#include <stddef.h>

#include "base/cleanup.h"
#include "kernel/kept.h"
#include "kernel/stripes.h"
#include "pebsd/records.h"

struct kernel_settings {
	u32 slots; /* slots of the table at the start, `unattributed` among them; 2 to KERNEL_SLOTS_MAX */
	/*
	 * Slots are added (kernel_grow()) as long as the maps take no more than these bytes, and in no case more
	 * than the maps that are made at once have room for; also what the table begins with has to fit. Hot tables
	 * of `hot_max` cgroups are counted in from the start, though they are made later. 0: none are added.
	 */
	u64 memory_max;
	bool memory_auto; /* nobody asked for just that: maps of before that have room for fewer go on */
	const struct stripes *stripes; /* which CPU writes to which stripe; read by kernel_open() alone */
	bool births;                   /* follow cgroups of the running kernel as they are born and removed */
	bool hardware;                 /* load the perf_event programs of the events */
	u32 offcore_cpus;   /* count off-core responses on CPUs below this number; 0: none are counted */
	u32 hot_max;        /* cgroups that may be chosen for hot tables at a time; 0 to HOT_MAX */
	u32 timed_log2;     /* one run of 1 << this is timed on each CPU; 0: KERNEL_TIMED_LOG2 */
	bool read_by_probe; /* read samples as on a kernel before 6.2; for tests */
	struct handover *handover; /* what is made is stored for the next process; outlives the kernel side;
				      NULL: not */
	u64 measured;              /* which events they are: with others nothing is gone on with */
	bool adopt;                /* go on with what the process before stored, where it fits */
	size_t n_events;
	struct event_settings events[EVENTS_MAX]; /* `first_record` is set by kernel_open() */
};

#define KERNEL_SLOTS_MAX      SLOTS_MAX
#define KERNEL_TIMED_LOG2     6
#define KERNEL_TIMED_LOG2_MAX 31

struct kernel;
struct kernel_offcore;
struct handover;

/*
 * Loads and attaches. On success the caller owns `*ret` and frees it with kernel_free(). On failure returns
 * -errno (-EPERM and -EACCES: rights are missing; -ENOENT, -ESRCH, -EOPNOTSUPP: the kernel lacks something),
 * and
 * `*ret_message` says what, why and what to do; the caller frees it.
 */
int kernel_open(const struct kernel_settings *settings, struct kernel **ret, char **ret_message);
struct kernel *kernel_free(struct kernel *kernel);
DEFINE_CLEANUP(struct kernel *, kernel_free)

/* What became of what the process before left. */
enum kept kernel_kept(const struct kernel *kernel);

/* Of the programs: events whose programs were attached under another number have others. */
u32 kernel_epoch(const struct kernel *kernel);

/*
 * Slots that there are now, `unattributed` among them; that there can be, which is how far numbers of slots and
 * rows of marks reach; and as far as `memory_max` lets them grow, which may be less.
 */
u32 kernel_slots(const struct kernel *kernel);
u32 kernel_slots_max(const struct kernel *kernel);
u32 kernel_slots_limit(const struct kernel *kernel);

/* Slots that nobody has at the moment. */
u32 kernel_slots_free(const struct kernel *kernel);

/*
 * Adds slots, in blocks of SLOT_BLOCK, so that there are at least so many of them, or as many as the limit
 * allows. Samples come meanwhile, and nothing that is there is moved. Returns how many were added; -ENOMEM where
 * the kernel or the limit of this unit's memory has none for a single block; -errno.
 */
int kernel_grow(struct kernel *kernel, u32 slots);

/* The program of an event's door, for PERF_EVENT_IOC_SET_BPF. The kernel's; do not close. -ENOENT if not
 * loaded. */
int kernel_program_fd(const struct kernel *kernel, unsigned event);

/* Counts samples through the syscall door. All or none of a call of up to INJECT_MAX; returns 0 or -errno. */
int kernel_inject(struct kernel *kernel, const struct sample *samples, size_t n);

/* Gives a cgroup a slot, or finds the one it has. `name`: one component, cut at CGROUP_NAME_MAX - 1 bytes.
 * Returns the slot, -ENOSPC where none is free, -errno. */
int kernel_adopt(struct kernel *kernel, u64 cgroup_id, u64 parent_id, const char *name);

/* The steps of a slot's way back, see enum slot_request_kind. -ESTALE: it is no longer that generation's. */
int kernel_bury(struct kernel *kernel, u64 cgroup_id);
int kernel_retire(struct kernel *kernel, u32 slot, u32 generation);
int kernel_give(struct kernel *kernel, u32 slot, u32 generation);

/* What the kernel side counts, as it is now: shared memory, changing under the reader, owned by `kernel`. */
const struct slot_owner *kernel_owner(const struct kernel *kernel, u32 slot);
const struct latency_record *kernel_latency_record(const struct kernel *kernel, unsigned event, u32 stripe,
						   u32 slot);
const struct plain_record *kernel_plain_record(const struct kernel *kernel, unsigned event, u32 stripe,
					       u32 slot);
struct loss_record kernel_losses(const struct kernel *kernel, unsigned event, u32 stripe);

/* Stripes of a slot, as opened, and the stripe of a CPU. */
u32 kernel_stripes(const struct kernel *kernel);
u32 kernel_stripe_of(const struct kernel *kernel, u32 cpu);

/*
 * The marks of an event's stripe, of each slot one (records.h), and those of the owners: marks_row() bytes
 * of kernel_slots_max() each, aligned to MARKS_LINE. The reader clears: a store of 0, then a full fence, then it
 * reads what was marked. Shared memory, owned by `kernel`.
 */
u8 *kernel_marks(const struct kernel *kernel, unsigned event, u32 stripe);
u8 *kernel_owner_marks(const struct kernel *kernel);
u8 *kernel_offcore_marks(const struct kernel *kernel, u32 cpu); /* of what it counted; below `offcore_cpus` */

/* Sets the records of a slot to zero, of the events and stripes whose bits are set. The slot rests: it is
 * retired, since COLLECT_REST_NS at least, so that no program can find it. */
void kernel_clear_records(struct kernel *kernel, u32 slot, unsigned event, u32 stripes);

/* What a CPU's programs took, as timed in some of their runs; 0 runs where none was timed yet. */
struct kernel_body_time {
	u64 timed;    /* runs */
	u64 timed_ns; /* together */
};
struct kernel_body_time kernel_body_time(const struct kernel *kernel, u32 cpu);

/* A program that does nothing but count its runs, for PERF_EVENT_IOC_SET_BPF: what an interrupt costs without
 * ours. -ENOENT without `hardware`. The kernel's. */
int kernel_empty_program_fd(const struct kernel *kernel);

/* Its runs, which grow while one is read. The kernel's. */
const u64 *kernel_empty_program_runs(const struct kernel *kernel);

/*
 * Becomes readable when free slots run short: fewer than slots_spare() are left. -1 without `births`.
 * kernel_slots_told() takes what made it readable. The kernel's.
 */
int kernel_slots_short_fd(const struct kernel *kernel);
void kernel_slots_told(struct kernel *kernel);

/*
 * Hot tables (pebsd/hot.h): how many cgroups can have some at a time; 0 where none were asked for, or no
 * event has addresses. A chosen cgroup has a table for each event and possible CPU (kernel_hot_cpus()), or
 * only one for each event where samples come through kernel_inject() alone. They are made when a choice is
 * first used, and stay. kernel_hot_table(): NULL before that.
 */
u32 kernel_hot_max(const struct kernel *kernel);
u32 kernel_hot_cpus(const struct kernel *kernel);
const struct hot_table *kernel_hot_table(const struct kernel *kernel, u32 choice, unsigned event, u32 cpu);
u64 kernel_hot_seed(const struct kernel *kernel);

/*
 * From now on the samples of a slot go to the tables of `choice`, below kernel_hot_max(), that are clear and
 * nobody else's; or to none. The first use of a choice makes its tables, and waits for an RCU grace period, so
 * that no program still runs without knowing them. 0 or -errno, and then nothing is chosen. Programs that looked
 * before may go on for as long as COLLECT_REST_NS: only then may the tables be cleared, for another.
 */
int kernel_hot_choose(struct kernel *kernel, u32 slot, u32 choice);
void kernel_hot_release(struct kernel *kernel, u32 slot);
void kernel_hot_clear(struct kernel *kernel, u32 choice);

struct slot_counters kernel_slot_counters(const struct kernel *kernel);

/* The counting of off-core responses (kernel_offcore.h); NULL where there is none. The kernel's. */
struct kernel_offcore *kernel_offcore(const struct kernel *kernel);

/* As opened, `first_record` filled in. */
const struct kernel_settings *kernel_settings(const struct kernel *kernel);

/* Bytes of the maps that there are now, as map_size() has them. */
u64 kernel_map_bytes(const struct kernel *kernel);

/* The most memory of its own that the process had by the time the programs were loaded, which takes the
 * most: own_memory_peak(). 0: /proc does not tell. */
u64 kernel_start_peak(const struct kernel *kernel);

/* Instructions the verifier went through for a program, by its name in bpf/pebsd.bpf.c; -ENOENT, -errno. */
int kernel_verified_instructions(const struct kernel *kernel, const char *program, u32 *ret);

#endif

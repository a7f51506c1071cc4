// SPDX-License-Identifier: GPL-2.0
/*
 * The BPF side as user space sees it: loads the BPF programs, maps their records, and runs the syscall
 * programs.
 *
 * After kernel_open(), map system calls are made only by kernel_grow(), by kernel_hot_choose(), and by
 * placing or removing off-core counters (kernel_offcore.h). Such a call disables perf_event programs on its
 * CPU, and their samples are lost without a trace (kernel/bpf/syscall.c, bpf_disable_instrumentation, Linux
 * 6.1 to 6.18). kernel_grow() writes an entry for each block and kind of map when free slots run short.
 * kernel_hot_choose() writes an entry when a choice is first used. Programs are disabled on this CPU only
 * while an entry is written.
 */
#ifndef PEBSD_KERNEL_H
#define PEBSD_KERNEL_H

#include <stdbool.h>
#include <stddef.h>

#include "base/cleanup.h"
#include "kernel/inherited.h"
#include "kernel/stripes.h"
#include "pebsd/records.h"

/*
 * Where samples are accounted: by the BPF programs, or in this process, by the same functions (bpf/account.h) in
 * memory of the same layout. The process can account only samples that come through kernel_inject(), so it needs
 * neither `births`, `hardware` nor `offcore_cpus`.
 */
enum kernel_account {
	KERNEL_ACCOUNT_BPF,
	KERNEL_ACCOUNT_EITHER,     /* in this process if the kernel refuses BPF to it or lacks a feature */
	KERNEL_ACCOUNT_IN_PROCESS, /* without a call of bpf(2) */
};

struct kernel_settings {
	enum kernel_account account;
	u32 slots; /* slots at the start, including `unattributed`; 2 to KERNEL_SLOTS_MAX */
	/*
	 * Limit for the memory of the maps, in bytes; the slots at the start have to fit as well.
	 * kernel_grow() adds slots up to this limit, but never more than the maps that are made at the start
	 * have room for. The hot tables of `hot_max` cgroups count from the start, although they are made
	 * later. 0: the number of slots is fixed.
	 */
	u64 memory_max;
	bool memory_auto; /* `memory_max` is a default: inherited maps with fewer slots remain in use */
	const struct stripes *stripes; /* the stripe of each CPU; only kernel_open() reads this */
	bool births;                   /* follow the creation and removal of cgroups in this kernel */
	bool hardware;                 /* load the perf_event program of each event */
	u32 offcore_cpus;              /* count off-core responses on CPUs below this number; 0: off */
	u32 hot_max;                   /* cgroups that can have hot tables at the same time; 0 to HOT_MAX */
	u32 timed_log2;     /* each CPU times one program run in 1 << timed_log2; 0: KERNEL_TIMED_LOG2 */
	bool read_by_probe; /* read samples as on a kernel before 6.2; for tests */
	struct handover *handover; /* stores maps and links; outlives `kernel`; NULL: nothing is stored */
	u64 measured;              /* hash of the events; maps are inherited only if it is the same */
	bool inherit;              /* take over what the previous process stored, if it fits */
	size_t n_events;
	struct event_settings events[EVENTS_MAX]; /* kernel_open() sets `first_record` */
};

#define KERNEL_SLOTS_MAX      SLOTS_MAX
#define KERNEL_TIMED_LOG2     6
#define KERNEL_TIMED_LOG2_MAX 31

struct kernel;
struct kernel_offcore;
struct handover;

/*
 * Loads and attaches the programs. On success the caller owns `*ret` and frees it with kernel_free(). On
 * failure it returns -errno, and `*ret_message` says what failed, why, and what to do. The caller frees the
 * message. -EPERM and -EACCES mean that capabilities are missing. -EACCES can also mean that the verifier
 * rejected a program. -ENOENT, -ESRCH and -EOPNOTSUPP mean that the kernel lacks a feature.
 */
int kernel_open(const struct kernel_settings *settings, struct kernel **ret, char **ret_message);
struct kernel *kernel_free(struct kernel *kernel);
DEFINE_CLEANUP(struct kernel *, kernel_free)

/* Tells whether samples are accounted in this process. */
bool kernel_in_process(const struct kernel *kernel);

/* Tells whether the maps and programs of the previous process were taken over. */
enum inherited kernel_inherited(const struct kernel *kernel);

/*
 * The epoch of the programs, which grows each time they are replaced. A perf event that was attached in
 * another epoch has an old program.
 */
u32 kernel_epoch(const struct kernel *kernel);

/*
 * The number of slots, including `unattributed`: those that exist now, the maximum, and the limit that
 * `memory_max` sets at present. Slot numbers and rows of dirty bytes reach up to the maximum; the limit may be
 * lower.
 */
u32 kernel_slots(const struct kernel *kernel);
u32 kernel_slots_max(const struct kernel *kernel);
u32 kernel_slots_limit(const struct kernel *kernel);

/* Number of free slots. */
u32 kernel_slots_free(const struct kernel *kernel);

/*
 * Adds slots in blocks of SLOT_BLOCK, until there are at least `slots`, the limit is reached, or a block cannot
 * be made. Sampling continues meanwhile, and no existing record moves. Returns how many slots were added, or
 * -errno. -ENOMEM: the kernel, or the memory limit of pebsd's unit, does not allow a single block.
 */
int kernel_grow(struct kernel *kernel, u32 slots);

/*
 * Returns the descriptor of an event's program, for PERF_EVENT_IOC_SET_BPF. `kernel` owns it; do not close
 * it. -ENOENT if the program is not loaded.
 */
int kernel_program_fd(const struct kernel *kernel, unsigned event);

/*
 * Counts samples through the syscall program `inject`. Of each INJECT_MAX samples either all are counted or
 * none. Returns 0 or -errno.
 */
int kernel_inject(struct kernel *kernel, const struct sample *samples, size_t n);

/*
 * The time for which a retired slot, or a released hot table, rests. After it, all programs that may have found the
 * slot or the table have ended.
 */
#define KERNEL_REST_NS (100 * NSEC_PER_MSEC)

/*
 * Gives a cgroup a slot, or finds the slot that it has. `name` is one path component, truncated to
 * CGROUP_NAME_MAX - 1 bytes. Returns the slot, -ENOSPC if no slot is free, or -errno.
 */
int kernel_adopt(struct kernel *kernel, u64 cgroup_id, u64 parent_id, const char *name);

/*
 * The steps that reclaim a slot: mark dead, remove from the index, release; see enum slot_request_kind.
 * -ESTALE: the slot has another generation by now.
 */
int kernel_mark_dead(struct kernel *kernel, u64 cgroup_id);
int kernel_retire(struct kernel *kernel, u32 slot, u32 generation);
int kernel_release(struct kernel *kernel, u32 slot, u32 generation);

/*
 * The counters as they are now. The pointers refer to memory that the programs share and that changes while
 * it is read; `kernel` owns it. kernel_rejected() returns a copy.
 */
const struct slot_owner *kernel_owner(const struct kernel *kernel, u32 slot);
const struct latency_record *kernel_latency_record(const struct kernel *kernel, unsigned event, u32 stripe,
						   u32 slot);
const struct plain_record *kernel_plain_record(const struct kernel *kernel, unsigned event, u32 stripe,
					       u32 slot);
struct rejected_record kernel_rejected(const struct kernel *kernel, unsigned event, u32 stripe);

/* The number of stripes of a slot, fixed since the opening, and the stripe of a CPU. */
u32 kernel_stripes(const struct kernel *kernel);
u32 kernel_stripe_of(const struct kernel *kernel, u32 cpu);

/*
 * The dirty bytes of one stripe of an event, one for each slot (records.h), and those of the owners. Each row
 * has dirty_row() bytes for kernel_slots_max() slots and is aligned to DIRTY_LINE. The reader clears a dirty byte:
 * it stores 0, then executes a full fence, and then reads the dirty record. The memory is shared, and
 * `kernel` owns it.
 */
u8 *kernel_dirty(const struct kernel *kernel, unsigned event, u32 stripe);
u8 *kernel_owner_dirty(const struct kernel *kernel);
u8 *kernel_offcore_dirty(const struct kernel *kernel, u32 cpu); /* `cpu` below `offcore_cpus` */

/*
 * Clears a slot's records of `event` in the stripes whose bits are set in `stripes`. The slot must have been
 * retired for at least KERNEL_REST_NS, so that no program can find it.
 */
void kernel_clear_records(struct kernel *kernel, u32 slot, unsigned event, u32 stripes);

/* Time that the programs took on a CPU, measured in some of their runs. `timed` is 0 before the first one. */
struct kernel_body_time {
	u64 timed;    /* number of timed runs */
	u64 timed_ns; /* their total time */
};
struct kernel_body_time kernel_body_time(const struct kernel *kernel, u32 cpu);

/*
 * A program that only counts its runs, for PERF_EVENT_IOC_SET_BPF. With it, the cost of an interrupt is
 * measured without the sampling program. `kernel` owns the descriptor. -ENOENT without `hardware`.
 */
int kernel_empty_program_fd(const struct kernel *kernel);

/*
 * The number of runs of the program of kernel_empty_program_fd(), which grows while it is read. `kernel` owns
 * it.
 */
const u64 *kernel_empty_program_runs(const struct kernel *kernel);

/*
 * A descriptor that becomes readable when free slots run short: fewer than slots_spare() are left. `kernel`
 * owns it. -1 without `births`. kernel_slots_short_clear() acknowledges the notice and allows the next one.
 */
int kernel_slots_short_fd(const struct kernel *kernel);
void kernel_slots_short_clear(struct kernel *kernel);

/*
 * Hot tables (pebsd/hot.h). kernel_hot_max() is the number of cgroups that can have hot tables at the same
 * time: 0 if the settings ask for none, or if no event has addresses. A chosen cgroup has a table for each
 * event and possible CPU (kernel_hot_cpus()), or only for each event if samples come only through
 * kernel_inject(). The tables of a choice are made when the choice is first used, and are never freed. Before
 * that, kernel_hot_table() returns NULL.
 */
u32 kernel_hot_max(const struct kernel *kernel);
u32 kernel_hot_cpus(const struct kernel *kernel);
const struct hot_table *kernel_hot_table(const struct kernel *kernel, u32 choice, unsigned event, u32 cpu);
u64 kernel_hot_seed(const struct kernel *kernel);

/*
 * kernel_hot_choose() directs the samples of a slot to the tables of `choice`, which is below
 * kernel_hot_max(). These tables must be clear and unused by other slots. The first use of a choice makes its
 * tables, and waits for an RCU grace period so that no program still runs without knowing them. Returns 0, or
 * -errno with nothing chosen.
 *
 * kernel_hot_release() directs the samples of a slot to no table. A program that is already running may still
 * write for up to KERNEL_REST_NS. Only after that may kernel_hot_clear() clear the tables for another slot.
 */
int kernel_hot_choose(struct kernel *kernel, u32 slot, u32 choice);
void kernel_hot_release(struct kernel *kernel, u32 slot);
void kernel_hot_clear(struct kernel *kernel, u32 choice);

struct slot_counters kernel_slot_counters(const struct kernel *kernel);

/* The counting of off-core responses (kernel_offcore.h). `kernel` owns it. NULL if it is off. */
struct kernel_offcore *kernel_offcore(const struct kernel *kernel);

/* The settings of kernel_open(), with `first_record` filled in. */
const struct kernel_settings *kernel_settings(const struct kernel *kernel);

/* Bytes of the maps that exist now, as map_size() counts them. */
u64 kernel_map_bytes(const struct kernel *kernel);

/*
 * The highest own memory of the process (own_memory_peak()) up to the end of loading the programs, which
 * needs the most. 0: it could not be read from /proc.
 */
u64 kernel_start_peak(const struct kernel *kernel);

#endif

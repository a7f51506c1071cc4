// SPDX-License-Identifier: GPL-2.0
#include "books.h"

#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

#include "model/ibs_source.h"
#include "model/program.h"

#define BOOKS_MAX   65536U
#define TOUCHED_MAX 16384U
#define EVENTS_MAX  16U
#define PENDING_MAX 512U
#define COUNTED_MAX 1024U
#define SPENT_MAX   16384U
#define RECENT_MAX  32768U

/* The highest code of an operation of IBS, which is below that of any event. */
#define IBS_HIGHEST IBS_OPERATION_STORE

/*
 * Maximum number of instructions from the read of a counter in a task switch to the start of the next task: 1.6 ms of
 * the guest's time. If pebsd misses a switch within this time after a read, the books do not show it.
 */
#define SWITCH_MOST 200000U

/*
 * Bits in an event's code. OF_CGROUP: the event counts the tasks of one cgroup. OF_OTHERS: the event belongs to
 * another program, so it has no BPF program.
 */
#define OF_CGROUP 0x10000U
#define OF_OTHERS 0x20000U

#define WORD_(name, word) word,
static const char *const source_words[] = {SOURCES(WORD_)};
static const char *const snoop_words[] = {SNOOPS(WORD_)};
static const char *const tlb_words[] = {TLBS(WORD_)};
#undef WORD_

/* The values that the kernel passes on for a record. */
struct record_values {
	u64 latency, latency_true, instruction_latency;
	struct load_source source;
	bool has_source;
};

#define COUNT_OF_FLAG_(name) u64 name;

struct book {
	bool used;
	unsigned int cpu;
	u32 event;
	struct guest_task task;
	const char *pmu;

	u64 samples, period, latency, latency_true, instruction_latency, guarded;
	u64 sources[SOURCE_SLOTS], source_latency[SOURCE_SLOTS], snoops[SNOOP_SLOTS], tlbs[TLB_SLOTS];
	struct {
		LOAD_SOURCE_FLAGS(COUNT_OF_FLAG_)
	} flags;
};

struct touched {
	bool used;
	unsigned int cpu;
	u32 event, tid;
	u64 cgroup, ip, address;
	u64 samples, guarded, latency, hitm;
};

struct book_event {
	bool used;
	u32 event;
	u64 due, records, collisions;
	u64 period;
	/* Events that counters counted from an overflow until they were written: see books_went_on(). */
	u64 gone_on;
};

/* The count of an off-core response counter for a cgroup. */
struct counted {
	u64 cgroup, response, occurrences;
};

/* The count since a counter was read. */
struct unread {
	u64 cgroup, response, occurrences;
	u64 read_at; /* in instructions */
};

/*
 * A record that the driver has not taken yet. It belongs to the task that is running when the driver takes
 * it. Mostly that happens in the interrupt that the record raises, or in one that had just begun when the
 * record was made.
 */
struct pending {
	u32 code;
	bool plain; /* not a record: the interrupt of a counter without PEBS */
	unsigned int counter;
	struct record_values values;
	struct guest_task task; /* the task that was running when the record was made */
	u64 period, ip, address;
};

/* A sample that the kernel has, or that its guard kept from the program. */
struct recent {
	unsigned int cpu;
	u64 clock; /* of its CPU, in cycles, when the interrupt took the sample */
	bool guarded;
	struct pending of;
};

/* What a CPU did for a task. */
struct spent {
	bool used;
	unsigned int cpu;
	struct guest_task task;
	struct core_occurrences all, counting;
};

struct book_cpu {
	struct book_event events[EVENTS_MAX];
	struct pending pending[PENDING_MAX];
	unsigned int pending_count;
	struct guest_task interrupted; /* task that the last interrupt interrupted */
	bool guarded;                  /* the last interrupt found a running BPF program */
	struct unread unread[PEBS_GENERAL];
	u64 counts[BOOKS_COUNTS];
	u64 throttles;
	u64 full;
	struct core_occurrences done; /* at the last call of books_spend() */
};

struct books {
	FILE *log;
	u64 watched;
	struct book *books;
	struct touched *touched;
	u64 touched_full;
	struct counted counted[COUNTED_MAX];
	struct spent *spent;
	struct recent *recent; /* a ring */
	u64 recent_count;      /* of all since the last reset */
	struct book_cpu cpus[CACHES_CPUS];
};

struct books *books_open(FILE *log)
{
	struct books *books = calloc(1, sizeof(*books));

	if (!books)
		return NULL;
	books->books = calloc(BOOKS_MAX, sizeof(*books->books));
	books->touched = calloc(TOUCHED_MAX, sizeof(*books->touched));
	books->spent = calloc(SPENT_MAX, sizeof(*books->spent));
	books->recent = calloc(RECENT_MAX, sizeof(*books->recent));
	if (!books->books || !books->touched || !books->spent || !books->recent)
		return NULL;
	books->log = log;
	return books;
}

void books_watch(struct books *books, u64 cgroup)
{
	books->watched = cgroup;
}

/* -- the event of a record -- */

static u32 code_of(const struct core *core, unsigned int counter)
{
	/* Instructions, cycles, reference cycles and slots, as perf encodes them. */
	static const u32 fixed[] = {0xc0, 0x3c, 0x300, 0x400};

	if (core->amd)
		return (u32)ibs_operation(core->ibs.registers[IBS_OP_DATA3 - IBS_OP_CTL]);
	if (counter >= PEBS_FIXED_0)
		return fixed[(counter - PEBS_FIXED_0) & 3];
	return (u32)(core->unit.general[counter & 7].select & (EVTSEL_EVENT | EVTSEL_UMASK));
}

static const char *pmu_of(const struct core *core, u32 code)
{
	if (core->amd)
		return (code & 0xffff) <= IBS_HIGHEST ? "ibs_op" : "cpu";
	if (!core->first->companion)
		return "cpu";
	return core->machine == core->first ? "cpu_core" : "cpu_atom";
}

static struct book_event *event_of(struct book_cpu *cpu, u32 code)
{
	for (unsigned int i = 0; i < EVENTS_MAX; i++) {
		struct book_event *event = &cpu->events[i];

		if (!event->used)
			*event = (struct book_event){.used = true, .event = code};
		if (event->event == code)
			return event;
	}
	cpu->full++;
	return NULL;
}

/* -- what the driver derives from a record -- */

static struct record_values intel_record_values(const struct core *core, const struct core_record *record,
						u32 code, const struct guest_event *event,
						const struct guest_kernel *kernel)
{
	const struct machine *machine = core->machine;
	u64 latency = record->record.values[RECORD_LATENCY], source = record->record.values[RECORD_SOURCE];
	bool is_load = code == machine->load_latency_event, is_store = code == machine->store_event;
	bool split = machine->mechanisms & MECHANISM_LATENCY_SPLIT;
	bool whole = event->sample_type & PERF_SAMPLE_WEIGHT;
	struct record_values values = {0};

	if (is_load)
		load_source_decode(machine, source, &values.source);
	else if (is_store)
		store_source_decode(machine, source, &values.source);
	values.has_source = is_load || is_store;
	if (machine->format < RECORD_ADAPTIVE) {
		if (!is_load)
			return values;
		values.latency_true = latency;
		values.latency = whole ? latency : (u32)latency;
		return values;
	}
	if (!is_load && !(is_store && machine->mechanisms & MECHANISM_STORE_LATENCY))
		return values;
	values.latency_true = split ? latency >> 32 : latency;
	values.latency = values.latency_true;
	if (whole)
		return values;
	values.latency = kernel->latency_is_cut ? (u16)values.latency : (u32)values.latency;
	values.instruction_latency = split ? (u16)latency : 0;
	return values;
}

static struct record_values amd_record_values(const struct core *core, const struct core_record *record,
					      const struct guest_kernel *kernel)
{
	u64 data2 = record->ibs[IBS_OP_DATA2 - IBS_OP_CTL], data3 = record->ibs[IBS_OP_DATA3 - IBS_OP_CTL];
	struct record_values values = {0};
	u32 latency;

	if (ibs_operation(data3) == IBS_OPERATION_OTHER)
		return values;
	ibs_source_decode(core->amd, data2, data3,
			  kernel->ibs_names_levels ? IBS_DRIVER_6_12 : IBS_DRIVER_6_1, &values.source);
	values.has_source = true;
	if (!ibs_miss_latency(data3, &latency))
		return values;
	values.latency = values.latency_true = latency;
	/*
	 * pebsd asks for PERF_SAMPLE_WEIGHT_STRUCT, with which the driver also reports the latency from tag
	 * to retirement.
	 */
	values.instruction_latency =
		(u16)(record->ibs[IBS_OP_DATA - IBS_OP_CTL] >> IBS_DATA_TAG_TO_RETIRE_SHIFT);
	return values;
}

/* The maximum in IBS_OP_CTL is in units of 16, except for its upper bits. */
static u64 ibs_period(u64 control)
{
	return (control & IBS_CTL_MAXIMUM) << 4 | (control & IBS_CTL_MAXIMUM_UPPER);
}

/* -- entries -- */

static struct book *book_of(struct books *books, const struct core *core, u32 code,
			    const struct guest_task *task)
{
	u64 hash = (task->cgroup * 31 + task->pid) * 31 + code + core->cpu * 7919ULL;

	for (unsigned int tries = 0; tries < BOOKS_MAX; tries++) {
		struct book *book = &books->books[(hash + tries) % BOOKS_MAX];

		if (!book->used)
			*book = (struct book){.used = true,
					      .cpu = core->cpu,
					      .event = code,
					      .task = *task,
					      .pmu = pmu_of(core, code)};
		if (book->cpu == core->cpu && book->event == code && book->task.cgroup == task->cgroup &&
		    book->task.pid == task->pid && memcmp(book->task.comm, task->comm, GUEST_COMM) == 0)
			return book;
	}
	books->cpus[core->cpu].full++;
	return NULL;
}

static struct touched *touched_of(struct books *books, const struct core *core, u32 code,
				  const struct guest_task *task, u64 ip, u64 address)
{
	u64 hash = ((ip * 31 + address) * 31 + code) * 0x9e3779b97f4a7c15ULL >> 40;

	for (unsigned int tries = 0; tries < TOUCHED_MAX; tries++) {
		struct touched *one = &books->touched[(hash + tries) % TOUCHED_MAX];

		if (!one->used)
			*one = (struct touched){.used = true,
						.cpu = core->cpu,
						.event = code,
						.tid = task->pid,
						.cgroup = task->cgroup,
						.ip = ip,
						.address = address};
		if (one->cpu == core->cpu && one->event == code && one->tid == task->pid &&
		    one->cgroup == task->cgroup && one->ip == ip && one->address == address)
			return one;
	}
	books->touched_full++;
	return NULL;
}

static void add(struct book *book, const struct record_values *values, u64 period)
{
	book->samples++;
	book->period += period;
	book->latency += values->latency;
	book->latency_true += values->latency_true;
	book->instruction_latency += values->instruction_latency;
	if (!values->has_source)
		return;
	book->sources[values->source.source % SOURCE_SLOTS]++;
	book->source_latency[values->source.source % SOURCE_SLOTS] += values->latency;
	book->snoops[values->source.snoop % SNOOP_SLOTS]++;
	book->tlbs[values->source.tlb % TLB_SLOTS]++;
#define ADD_FLAG_(name) book->flags.name += values->source.name;
	LOAD_SOURCE_FLAGS(ADD_FLAG_)
}

static void keep_recent(struct books *books, const struct core *core, const struct pending *pending,
			const struct guest_task *of, bool guarded)
{
	struct recent *recent = &books->recent[books->recent_count++ % RECENT_MAX];

	*recent =
		(struct recent){.cpu = core->cpu, .clock = core->cycles, .guarded = guarded, .of = *pending};
	recent->of.task = *of;
}

/* Pending entries that enter_some() counts. */
enum entered {
	ENTER_RECORDS = 1 << 0,
	ENTER_SAMPLES = 1 << 1, /* of counters without PEBS */
	ENTER_TAKEN = 1 << 2,   /* samples of such counters that the driver has already taken */
};

static bool is_entered(const struct core *core, const struct pending *pending, u32 which)
{
	if (!pending->plain)
		return which & ENTER_RECORDS;
	return which & ENTER_SAMPLES || (which & ENTER_TAKEN && !core_sample_is_due(core, pending->counter));
}

/* Counts pending entries for `task`. NULL: counts each for the task that was running when it was made. */
static void enter_some(struct books *books, const struct core *core, const struct guest_task *task, u32 which)
{
	struct book_cpu *cpu = &books->cpus[core->cpu];
	bool guarded = task && cpu->guarded;
	unsigned int left = 0;

	for (unsigned int i = 0; i < cpu->pending_count; i++) {
		const struct pending *pending = &cpu->pending[i];
		const struct guest_task *of = task ? task : &pending->task;
		struct touched *touched = NULL;
		struct book *book;

		if (!is_entered(core, pending, which)) {
			cpu->pending[left++] = *pending;
			continue;
		}
		book = book_of(books, core, pending->code, of);
		if (book) {
			add(book, &pending->values, pending->period);
			book->guarded += guarded;
			keep_recent(books, core, pending, of, guarded);
		}
		/*
		 * The kernel enables an event of one cgroup while it is still switching to a task of that
		 * cgroup (perf_cgroup_switch() in kernel/events/core.c).
		 */
		if (books->watched && (books->watched == of->cgroup || pending->code & OF_CGROUP))
			touched = touched_of(books, core, pending->code, of, pending->ip, pending->address);
		if (!touched)
			continue;
		touched->samples++;
		touched->guarded += guarded;
		if (guarded)
			continue;
		touched->latency += pending->values.latency;
		touched->hitm += pending->values.has_source && pending->values.source.snoop == SNOOP_HITM;
	}
	cpu->pending_count = left;
}

/* Counts all pending entries, as enter_some() does. */
static void enter(struct books *books, const struct core *core, const struct guest_task *task)
{
	enter_some(books, core, task, ENTER_RECORDS | ENTER_SAMPLES);
}

static void put_log(FILE *log, const struct core *core, const struct core_record *record,
		    const struct pending *pending)
{
	fprintf(log,
		"{\"cpu\":%u,\"clock\":%lu,\"event\":\"0x%x\",\"cgroup\":%lu,\"pid\":%u,\"comm\":\"%s\","
		"\"ip\":\"0x%lx\",",
		core->cpu, core->cycles, pending->code, pending->task.cgroup, pending->task.pid,
		pending->task.comm, pending->ip);
	fprintf(log, "\"address\":\"0x%lx\",\"latency\":%lu,\"source\":\"%s\",\"place\":%u,\"snoop\":%u}\n",
		pending->address, pending->values.latency_true,
		pending->values.has_source ? source_words[pending->values.source.source] : "none",
		record->retired.place, record->retired.snoop);
}

static void hold(struct books *books, const struct core *core, const struct core_record *record, u32 code,
		 unsigned int counter, const struct guest_task *task, const struct guest_event *event,
		 const struct guest_kernel *kernel)
{
	struct book_cpu *cpu = &books->cpus[core->cpu];
	struct pending pending = {.code = code, .counter = counter, .task = *task, .period = event->period};

	if (core->amd) {
		pending.values = amd_record_values(core, record, kernel);
		pending.period = ibs_period(record->ibs[0]);
		pending.ip = record->ibs[IBS_OP_RIP - IBS_OP_CTL];
		pending.address = record->ibs[IBS_DC_LINEAR_ADDRESS - IBS_OP_CTL];
	} else {
		pending.values = intel_record_values(core, record, code & 0xffff, event, kernel);
		/* Before Haswell, a record contains only the address of the next instruction. */
		pending.ip =
			record->record.values[core->machine->format < RECORD_HASWELL ? RECORD_IP
										     : RECORD_EVENTING_IP];
		pending.address = record->record.values[RECORD_ADDRESS];
	}
	if (cpu->pending_count == PENDING_MAX)
		enter(books, core, NULL);
	cpu->pending[cpu->pending_count++] = pending;
	if (!kernel->known)
		enter(books, core, NULL);
	if (books->log)
		put_log(books->log, core, record, &pending);
}

/* Adds the occurrences since the last read to those of the cgroup. `full` says that there was no room for them. */
static void enter_unread(struct books *books, struct book_cpu *cpu, struct unread *unread)
{
	for (unsigned int i = 0; unread->occurrences && i < COUNTED_MAX; i++) {
		struct counted *one = &books->counted[i];

		if (!one->occurrences)
			*one = (struct counted){.cgroup = unread->cgroup, .response = unread->response};
		if (one->cgroup != unread->cgroup || one->response != unread->response)
			continue;
		one->occurrences += unread->occurrences;
		unread->occurrences = 0;
	}
	cpu->full += unread->occurrences != 0;
	unread->occurrences = 0;
}

void books_counted(struct books *books, const struct core *core, unsigned int counter, u64 occurrences,
		   u64 instructions, const struct guest_kernel *kernel, const struct guest_memory *memory)
{
	struct book_cpu *cpu = &books->cpus[core->cpu];
	struct unread *unread = &cpu->unread[counter % PEBS_GENERAL];
	const struct machine_event *event = &core->unit.general[counter % PEBS_GENERAL].program.event;
	u64 response = core->unit.offcore[event->offcore];
	u64 cgroup = guest_kernel_task(kernel, memory, core->cpu).cgroup;

	if (unread->response != response ||
	    (unread->cgroup != cgroup && instructions - unread->read_at > SWITCH_MOST))
		enter_unread(books, cpu, unread);
	unread->cgroup = cgroup;
	unread->response = response;
	unread->occurrences += occurrences;
}

void books_counter_read(struct books *books, const struct core *core, unsigned int counter, u64 instructions)
{
	struct book_cpu *cpu = &books->cpus[core->cpu];
	struct unread *unread = &cpu->unread[counter % PEBS_GENERAL];

	enter_unread(books, cpu, unread);
	unread->read_at = instructions;
}

void books_throttled(struct books *books, unsigned int cpu)
{
	books->cpus[cpu].throttles++;
}

static u32 owner_bits(const struct guest_event *event)
{
	return event->of_cgroup ? OF_CGROUP : event->other ? OF_OTHERS : 0;
}

void books_due(struct books *books, const struct core *core, const struct guest_kernel *kernel,
	       const struct guest_memory *memory, unsigned int counter)
{
	struct guest_event event = {0};
	struct book_event *of;

	if (!core->amd)
		event = guest_kernel_event(kernel, memory, core->cpu, counter);
	of = event_of(&books->cpus[core->cpu], code_of(core, counter) | owner_bits(&event));
	if (of)
		of->due++;
}

void books_sample(struct books *books, const struct core *core, const struct guest_kernel *kernel,
		  const struct guest_memory *memory, unsigned int counter)
{
	struct guest_event event = guest_kernel_event(kernel, memory, core->cpu, counter);
	struct book_cpu *cpu = &books->cpus[core->cpu];
	u32 code = core->amd ? core->amd_program[counter].event.code : code_of(core, counter);
	struct book_event *of;

	if (!kernel->known || event.other)
		return;
	code |= owner_bits(&event);
	of = event_of(cpu, code);
	if (of) {
		of->due++;
		of->records++;
	}
	if (cpu->pending_count == PENDING_MAX)
		enter(books, core, NULL);
	cpu->pending[cpu->pending_count++] =
		(struct pending){.code = code,
				 .plain = true,
				 .counter = counter,
				 .period = event.period,
				 .task = guest_kernel_task(kernel, memory, core->cpu)};
}

/* Returns the entry of a task, or NULL if all are used. */
static struct spent *spent_of(struct books *books, const struct core *core, const struct guest_task *task)
{
	u64 hash = (task->cgroup * 31 + task->pid) * 31 + core->cpu * 7919ULL;

	for (unsigned int tries = 0; tries < SPENT_MAX; tries++) {
		struct spent *one = &books->spent[(hash + tries) % SPENT_MAX];

		if (!one->used)
			*one = (struct spent){.used = true, .cpu = core->cpu, .task = *task};
		if (one->cpu == core->cpu && one->task.cgroup == task->cgroup && one->task.pid == task->pid &&
		    memcmp(one->task.comm, task->comm, GUEST_COMM) == 0)
			return one;
	}
	books->cpus[core->cpu].full++;
	return NULL;
}

static void add_occurrences(struct core_occurrences *sum, const struct core_occurrences *from,
			    const struct core_occurrences *to)
{
	sum->instructions += to->instructions - from->instructions;
	sum->cycles += to->cycles - from->cycles;
	sum->stalls += to->stalls - from->stalls;
	sum->misses += to->misses - from->misses;
}

void books_spend(struct books *books, const struct core *core, const struct core_occurrences *done,
		 const struct guest_kernel *kernel, const struct guest_memory *memory)
{
	struct book_cpu *cpu = &books->cpus[core->cpu];
	struct core_occurrences before = cpu->done;
	struct guest_task task;
	struct spent *spent;

	cpu->done = *done;
	if (!kernel->known || core->paused || done->instructions == before.instructions)
		return;
	task = guest_kernel_task(kernel, memory, core->cpu);
	spent = spent_of(books, core, &task);
	if (!spent)
		return;
	add_occurrences(&spent->all, &before, done);
	if (core_counts(core))
		add_occurrences(&spent->counting, &before, done);
}

void books_went_on(struct books *books, const struct core *core, const struct guest_kernel *kernel,
		   const struct guest_memory *memory, unsigned int counter, u64 count)
{
	struct guest_event event = guest_kernel_event(kernel, memory, core->cpu, counter);
	struct book_event *of;

	if (count + 1 < event.period)
		return;
	of = event_of(&books->cpus[core->cpu], code_of(core, counter) | owner_bits(&event));
	if (of) {
		of->period = event.period;
		/*
		 * With one event less than a period, the next period would be 1. x86_perf_event_set_period() then
		 * uses 2, so one event is outside any period.
		 */
		of->gone_on += count < event.period ? 1 : count;
	}
}

void books_record(struct books *books, const struct core *core, const struct core_record *record,
		  const struct guest_kernel *kernel, const struct guest_memory *memory)
{
	struct guest_task task = guest_kernel_task(kernel, memory, core->cpu);

	/*
	 * No other record is in the buffer, so the driver has taken the pending ones, during the last interrupt.
	 */
	if (record->first)
		enter_some(books, core, &books->cpus[core->cpu].interrupted, ENTER_RECORDS);
	for (u64 left = record->counters; left; left &= left - 1) {
		unsigned int counter = (unsigned int)__builtin_ctzll(left);
		struct guest_event event = {0};
		struct book_event *of;
		u32 code;

		if (!core->amd)
			event = guest_kernel_event(kernel, memory, core->cpu, counter);
		code = code_of(core, counter) | owner_bits(&event);
		of = event_of(&books->cpus[core->cpu], code);
		if (of && record->collision)
			of->collisions++;
		else if (of)
			of->records++;
		if (!record->collision)
			hold(books, core, record, code, counter, &task, &event, kernel);
	}
}

void books_interrupt(struct books *books, const struct core *core, const struct guest_kernel *kernel,
		     const struct guest_memory *memory)
{
	struct guest_task task = guest_kernel_task(kernel, memory, core->cpu);
	bool guarded = guest_kernel_in_bpf(kernel, memory, core->cpu);
	struct book_cpu *cpu = &books->cpus[core->cpu];

	cpu->interrupted = task;
	cpu->guarded = guarded;
	enter(books, core, &task);
}

void books_interrupt_end(struct books *books, const struct core *core)
{
	struct book_cpu *cpu = &books->cpus[core->cpu];

	/* The interrupt also took samples of counters that overflowed after it had begun. */
	if (cpu->pending_count)
		enter_some(books, core, &cpu->interrupted,
			   ENTER_TAKEN | (core_is_drained(core) ? ENTER_RECORDS : 0));
}

void books_count(struct books *books, unsigned int cpu, enum books_count count)
{
	books->cpus[cpu].counts[count]++;
}

void books_reset(struct books *books)
{
	memset(books->books, 0, BOOKS_MAX * sizeof(*books->books));
	memset(books->touched, 0, TOUCHED_MAX * sizeof(*books->touched));
	for (unsigned int i = 0; i < CACHES_CPUS; i++) {
		struct core_occurrences done = books->cpus[i].done;

		memset(&books->cpus[i], 0, sizeof(books->cpus[i]));
		books->cpus[i].done = done;
	}
	memset(books->spent, 0, SPENT_MAX * sizeof(*books->spent));
	memset(books->counted, 0, sizeof(books->counted));
	books->recent_count = 0;
	books->touched_full = 0;
}

/* -- JSON -- */

static void put_text(FILE *file, const char *text)
{
	fputc('"', file);
	for (; *text; text++) {
		if (*text == '"' || *text == '\\' || (u8)*text < 0x20 || (u8)*text >= 0x7f)
			fprintf(file, "\\u%04x", (u8)*text);
		else
			fputc(*text, file);
	}
	fputc('"', file);
}

static void put_counts(FILE *file, const char *name, const char *const *words, const u64 *counts, size_t n)
{
	const char *separator = "";

	fprintf(file, ",\"%s\":{", name);
	for (size_t i = 0; i < n; i++) {
		if (!counts[i])
			continue;
		fprintf(file, "%s\"%s\":%lu", separator, words[i], counts[i]);
		separator = ",";
	}
	fputc('}', file);
}

#define PUT(file, book, field) fprintf(file, ",\"" #field "\":%lu", (book)->field)

static void put_code(FILE *file, u32 code)
{
	fprintf(file, "\"%s0x%x\"",
		code & OF_CGROUP   ? "cgroup:"
		: code & OF_OTHERS ? "other:"
				   : "",
		code & 0xffff);
}

/* Each flag, also with the count 0: from the names, compare.jq knows which flags the books have. */
static void put_flags(FILE *file, const struct book *book)
{
	const char *separator = "";

	fputs(",\"flags\":{", file);
#define PUT_FLAG_(name)                                                    \
	fprintf(file, "%s\"" #name "\":%lu", separator, book->flags.name); \
	separator = ",";
	LOAD_SOURCE_FLAGS(PUT_FLAG_)
	fputc('}', file);
}

static void put_book(FILE *file, const struct book *book)
{
	fprintf(file, "{\"cpu\":%u,\"pmu\":\"%s\",\"event\":", book->cpu, book->pmu);
	put_code(file, book->event);
	fprintf(file, ",\"cgroup\":%lu,\"pid\":%u,\"comm\":", book->task.cgroup, book->task.pid);
	put_text(file, book->task.comm);
	PUT(file, book, samples);
	PUT(file, book, period);
	PUT(file, book, latency);
	PUT(file, book, latency_true);
	PUT(file, book, instruction_latency);
	PUT(file, book, guarded);
	put_flags(file, book);
	put_counts(file, "sources", source_words, book->sources, SOURCE_COUNT);
	put_counts(file, "source_latency", source_words, book->source_latency, SOURCE_COUNT);
	put_counts(file, "snoops", snoop_words, book->snoops, SNOOP_COUNT);
	put_counts(file, "tlbs", tlb_words, book->tlbs, TLB_COUNT);
	fputs("}\n", file);
}

static void put_recent(FILE *file, const struct recent *recent)
{
	const struct pending *of = &recent->of;

	fprintf(file, "{\"cpu\":%u,\"clock\":%lu,\"event\":", recent->cpu, recent->clock);
	put_code(file, of->code);
	fprintf(file, ",\"counter\":%u,\"cgroup\":%lu,\"pid\":%u,\"comm\":", of->counter, of->task.cgroup,
		of->task.pid);
	put_text(file, of->task.comm);
	fprintf(file, ",\"ip\":\"0x%lx\",\"address\":\"0x%lx\"", of->ip, of->address);
	PUT(file, of, period);
	PUT(file, &of->values, latency);
	if (of->values.has_source)
		fprintf(file, ",\"source\":\"%s\",\"snoop\":\"%s\"",
			source_words[of->values.source.source % SOURCE_SLOTS],
			snoop_words[of->values.source.snoop % SNOOP_SLOTS]);
	fprintf(file, ",\"guarded\":%s}\n", recent->guarded ? "true" : "false");
}

void books_print_records(const struct books *books, FILE *file)
{
	u64 first = books->recent_count > RECENT_MAX ? books->recent_count - RECENT_MAX : 0;

	if (first)
		fprintf(file, "{\"forgotten\":%lu}\n", first);
	for (u64 i = first; i < books->recent_count; i++)
		put_recent(file, &books->recent[i % RECENT_MAX]);
}

void books_print(const struct books *books, FILE *file)
{
	for (unsigned int i = 0; i < BOOKS_MAX; i++)
		if (books->books[i].used)
			put_book(file, &books->books[i]);
}

/*
 * Returns the number of whole periods that passed without an overflow, from `gone_on` and from the current value
 * of the counter.
 */
static u64 passed_over(const struct core *core, const struct book_event *of)
{
	u64 events = of->gone_on;

	for (unsigned int i = 0; events && i < PEBS_GENERAL; i++) {
		const struct pebs_counter *counter = &core->unit.general[i];
		u64 left = counter_highest(core->unit.machine) + 1 - counter->count;

		if (!(counter->select & EVTSEL_ENABLE) ||
		    code_of(core, i) != (of->event & ~(OF_CGROUP | OF_OTHERS)))
			continue;
		/* In the lower half of its range, the counter has overflowed, and counted `count` events since then. */
		if (left > counter->count)
			events += counter->count;
		else if (of->period > left)
			events += of->period - left;
	}
	return events ? events / of->period : 0;
}

void books_print_totals(const struct books *books, const struct core *cores, unsigned int cpus, FILE *file)
{
	for (unsigned int i = 0; i < cpus; i++) {
		const struct book_cpu *cpu = &books->cpus[i];
		const char *separator = "";

		fprintf(file, "{\"cpu\":%u,\"pmu\":\"%s\",\"not_written\":%lu", i, pmu_of(&cores[i], 0),
			(cores[i].amd ? 0 : cores[i].unit.not_written));
		fprintf(file, ",\"instructions\":%lu,\"cycles\":%lu", cores[i].instructions, cores[i].cycles);
		fprintf(file, ",\"sent\":%lu,\"latched\":%lu,\"dropped\":%lu", cpu->counts[BOOKS_SENT],
			cpu->counts[BOOKS_LATCHED], cpu->counts[BOOKS_DROPPED]);
		fprintf(file, ",\"throttles\":%lu,\"pending\":%u,\"full\":%lu,\"events\":{", cpu->throttles,
			cpu->pending_count, cpu->full);
		for (unsigned int j = 0; j < EVENTS_MAX && cpu->events[j].used; j++) {
			fputs(separator, file);
			put_code(file, cpu->events[j].event);
			fprintf(file, ":{\"overflow\":%lu,\"cut\":%lu,\"gone_on\":%lu,\"collisions\":%lu}",
				cpu->events[j].records,
				cpu->events[j].due - cpu->events[j].records +
					passed_over(&cores[i], &cpu->events[j]),
				cpu->events[j].gone_on, cpu->events[j].collisions);
			separator = ",";
		}
		fputs("}}\n", file);
	}
}

void books_print_touched(const struct books *books, FILE *file)
{
	for (unsigned int i = 0; i < TOUCHED_MAX; i++) {
		const struct touched *one = &books->touched[i];

		if (!one->used)
			continue;
		fprintf(file, "{\"cpu\":%u,\"event\":", one->cpu);
		put_code(file, one->event);
		fprintf(file, ",\"cgroup\":%lu,\"tid\":%u,\"ip\":\"0x%lx\",\"address\":\"0x%lx\"",
			one->cgroup, one->tid, one->ip, one->address);
		PUT(file, one, samples);
		PUT(file, one, guarded);
		PUT(file, one, latency);
		PUT(file, one, hitm);
		fputs("}\n", file);
	}
	if (books->touched_full)
		fprintf(file, "{\"full\":%lu}\n", books->touched_full);
}

static void put_occurrences(FILE *file, const struct core_occurrences *of)
{
	fprintf(file, "\"instructions\":%lu,\"cycles\":%lu,\"stalls\":%lu,\"misses\":%lu", of->instructions,
		of->cycles, of->stalls, of->misses);
}

void books_print_spent(const struct books *books, FILE *file)
{
	for (unsigned int i = 0; i < SPENT_MAX; i++) {
		const struct spent *one = &books->spent[i];

		if (!one->used)
			continue;
		fprintf(file, "{\"cpu\":%u,\"cgroup\":%lu,\"pid\":%u,\"comm\":", one->cpu, one->task.cgroup,
			one->task.pid);
		put_text(file, one->task.comm);
		fputc(',', file);
		put_occurrences(file, &one->all);
		fputs(",\"counting\":{", file);
		put_occurrences(file, &one->counting);
		fputs("}}\n", file);
	}
}

void books_print_counted(struct books *books, FILE *file)
{
	for (unsigned int i = 0; i < CACHES_CPUS; i++)
		for (unsigned int j = 0; j < PEBS_GENERAL; j++)
			enter_unread(books, &books->cpus[i], &books->cpus[i].unread[j]);
	for (unsigned int i = 0; i < COUNTED_MAX && books->counted[i].occurrences; i++)
		fprintf(file, "{\"cgroup\":%lu,\"extra\":\"0x%lx\",\"count\":%lu}\n",
			books->counted[i].cgroup, books->counted[i].response, books->counted[i].occurrences);
}

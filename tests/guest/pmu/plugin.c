// SPDX-License-Identifier: GPL-2.0
/*
 * A TCG plugin that gives each CPU of an unmodified QEMU a PMU (core.h). The kernel in the guest finds the
 * PMU by CPUID, and uses the driver that it has for such a machine.
 *
 *   machine=NAME    of daemon/model; "NAME-vm" for a virtual machine on it without PEBS and IBS; "generic-vm" for one
 *                   whose CPU model no driver knows; default skylake-server
 *   cpus=N          CPUs of the guest; default 1
 *   node-bytes=N    physical memory of each of two NUMA nodes; default one node
 *   icount=SHIFT    the shift of QEMU's option -icount shift=SHIFT, which is required; default 3
 *   log=FILE        a line for each record
 *
 * How it sees and changes what the guest does:
 * - CPUID, RDMSR: the instruction runs, and then its registers are replaced. QEMU returns 0 for an MSR that it
 *   does not know. WRMSR is seen before it runs; QEMU ignores writes of such MSRs. RDPMC, which QEMU does not
 *   implement, is skipped. A plugin cannot raise a general protection fault, so one that is due is reported on
 *   standard error.
 * - Instructions are counted inline, and a callback runs after the number that the PMU asked for.
 * - Loads and stores have callbacks in windows (windows.h) while a counter counts them. An access to a
 *   recently used line costs only some instructions.
 * - The PMU's interrupt is sent as an IPI of the CPU to itself, with the vector and mode of the local vector
 *   table's performance entry. An interrupt that comes while the entry is masked is held back. It is sent
 *   when the entry is unmasked, if it still has a cause. Dropping it would delay records, and sending it
 *   always makes Linux 7.3 log an NMI for an unknown reason.
 * - CPUID leaf "PEBS" gives the guest access to the books: tests/guest/pmu.c.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "books.h"
#include "core.h"
#include "guest_kernel.h"
#include "operands.h"
#include "qemu.h"
#include "windows.h"

#define EXPORTED __attribute__((visibility("default")))

EXPORTED int qemu_plugin_version = QEMU_PLUGIN_API;
EXPORTED int qemu_plugin_install(uint64_t id, const void *info, int argc, char **argv);

/* If a CPU's count of instructions in the scoreboard is at least this value, attend() is called. */
#define ATTENTION (1ULL << 40)
/*
 * Number of instructions between calls of attend(). While paused, attend() must notice the end of the pause.
 * Otherwise it must notice the beginning and the end of windows.
 */
#define ATTEND_PAUSED  10000U
#define ATTEND_CLOSED  20000U
#define ATTEND_WATCHED 4000U
/*
 * In a window, CPUs take turns after this number of instructions, and whenever a CPU has to wait for a line
 * that another CPU wrote. So shared lines change hands as if the CPUs ran at the same time. QEMU alone would
 * let each CPU run for some 200,000 instructions.
 */
#define ATTEND_TURN 500U
/* A slot of windows is 2^20 ns of the guest's time, about a millisecond. */
#define SLOT  20
#define NEVER (INT64_MAX / 2)

#define APIC          0xfee00000ULL
#define APIC_ICR      0x300U
#define APIC_LVT_PMI  0x340U
#define APIC_MASKED   (1U << 16)
#define APIC_MODE     0x7ffU /* vector and delivery mode */
#define APIC_ICR_SELF (1U << 18 | 1U << 14)

/*
 * AMD's extended local vectors, one of which IBS uses. QEMU's APIC does not have them, and reads them as 0. Linux
 * takes 0 as not masked, and thus as in use (eilvt_entry_is_changeable() in arch/x86/kernel/apic/apic.c). Linux
 * reads the APIC by MOV with this displacement.
 */
#define APIC_EXTENDED_START 0x500U
#define APIC_EXTENDED_END   0x540U
#define APIC_DISPLACEMENT   0xff5fd000U

#define COMMAND_LEAF 0x50454253U /* "PEBS" */
#define COMMAND_MAX  8192U

/*
 * Kernel modules and JIT-compiled BPF programs are in this range (MODULES_VADDR with address randomization
 * built in, arch/x86/include/asm/pgtable_64_types.h).
 */
#define KERNEL_START  0xffffffff80000000ULL
#define MODULES_START 0xffffffffc0000000ULL
#define MODULES_END   0xffffffffff000000ULL

/* The data of a memory callback: the instruction's offset in its page, and these properties of it. */
#define INSN_STRING     (1U << 12) /* has a repeat prefix: reported once per line */
#define INSN_LOCKED     (1U << 13)
#define INSN_SIZE_SHIFT 14
#define INSN_KERNEL     (1U << 18)
#define INSN_OPERANDS   19 /* OPERANDS_BITS from this bit on */

enum after { AFTER_NOTHING, AFTER_CPUID, AFTER_MSR, AFTER_MISC_ENABLE, AFTER_TSC, AFTER_COMMAND, AFTER_APIC };

/* Cost of sampling, in instructions: NMIs from entry to exit, and the driver and BPF programs within them. */
struct price {
	u64 nmis, nmi_instructions, driver_instructions, programs, program_instructions;
};

struct cpu {
	struct core *core;
	unsigned int index;
	struct recent_lines *recent;
	u32 *translation_flags;
	bool watched;                                     /* runs translations with callbacks for accesses */
	int64_t loads, stores, loads_given, stores_given; /* left until one must be reported */
	u64 executed_before; /* instructions that the scoreboard does not count, modulo 2^64 */
	u64 told_at;         /* count of instructions that the core knows about */
	bool held_back;      /* an interrupt waits until the vector table's entry is unmasked */
	enum after after;
	u32 leaf, subleaf;
	u64 value;
	unsigned int target; /* general register for AFTER_APIC */
	u32 icr;

	u64 nmi_from, program_from; /* counts of instructions; 0: not in one */
	u64 driver_from;
	struct price price;

	struct qemu_register *rip, *cs, *flags, *general[RETIRED_REGISTERS];
	GByteArray *bytes, *memory;
};

static const char *const general_names[RETIRED_REGISTERS] = {"rax", "rbx", "rcx", "rdx", "rsi", "rdi",
							     "rbp", "rsp", "r8",  "r9",  "r10", "r11",
							     "r12", "r13", "r14", "r15"};
enum { RAX, RBX, RCX, RDX, RSI, RDI, RBP, RSP, R8 };

/* QEMU loads this plugin once, and its callbacks get no pointer to a context. */
static struct {
	uint64_t id;
	const char *machine;
	unsigned int cpu_count;
	u64 node_bytes;
	unsigned int icount; /* the shift */
	unsigned int one_in; /* one slot in `one_in` is a window */
	bool exact;          /* instructions that move data between registers have callbacks */
	bool resetting;
	u64 tsc_offset;
	struct qemu_scoreboard *attention;
	struct qemu_scoreboard *driver;   /* instructions of the guest's driver */
	struct qemu_scoreboard *arriving; /* 1: the next block is the target of an indirect call */
	bool branches;                    /* calls and returns have callbacks */
	struct caches *caches;
	struct books *books;
	struct guest_kernel kernel;
	char *answer; /* answer to the last command */
	size_t answer_size;
	struct cpu cpus[CACHES_CPUS];
	struct core cores[CACHES_CPUS];
} plugin = {.machine = "skylake-server", .cpu_count = 1, .icount = 3};

/* -- the CPU -- */

static u64 *attention_of(const struct cpu *cpu)
{
	return qemu_plugin_scoreboard_find(plugin.attention, cpu->index);
}

static u64 driver_of(const struct cpu *cpu)
{
	return *(u64 *)qemu_plugin_scoreboard_find(plugin.driver, cpu->index);
}

/* Returns the number of instructions since the start. */
static u64 executed(const struct cpu *cpu)
{
	return cpu->executed_before + *attention_of(cpu);
}

/* Makes attend() run after this many instructions; 0: at the next block. */
static void attend_in(struct cpu *cpu, u64 instructions)
{
	u64 *attention = attention_of(cpu);

	cpu->executed_before += *attention - (ATTENTION - instructions);
	*attention = ATTENTION - instructions;
}

static u64 get(struct cpu *cpu, struct qemu_register *handle)
{
	u64 value = 0;

	g_byte_array_set_size(cpu->bytes, 0);
	if (handle && qemu_plugin_read_register(handle, cpu->bytes))
		memcpy(&value, cpu->bytes->data, cpu->bytes->len < 8 ? cpu->bytes->len : 8);
	return value;
}

static void set(struct cpu *cpu, struct qemu_register *handle, u64 value)
{
	g_byte_array_set_size(cpu->bytes, 0);
	g_byte_array_append(cpu->bytes, (const uint8_t *)&value, sizeof(value));
	if (!qemu_plugin_write_register(handle, cpu->bytes))
		fprintf(stderr, "pmu: a register cannot be written\n");
}

static int copy(void *owner, u64 address, void *buffer, u64 size, bool write)
{
	struct cpu *cpu = owner;

	if (!write) {
		if (!qemu_plugin_read_memory_vaddr(address, cpu->memory, size))
			return -EFAULT;
		memcpy(buffer, cpu->memory->data, size);
		return 0;
	}
	g_byte_array_set_size(cpu->memory, 0);
	g_byte_array_append(cpu->memory, buffer, (unsigned int)size);
	return qemu_plugin_write_memory_vaddr(address, cpu->memory) ? 0 : -EFAULT;
}

static int read_guest(void *owner, u64 address, void *buffer, u64 size)
{
	return copy(owner, address, buffer, size, false);
}

static struct guest_memory memory_of(struct cpu *cpu)
{
	return (struct guest_memory){.read = read_guest, .owner = cpu};
}

static void registers(void *owner, struct retired_registers *ret)
{
	struct cpu *cpu = owner;

	ret->flags = get(cpu, cpu->flags);
	for (unsigned int i = 0; i < RETIRED_REGISTERS; i++)
		ret->general[i] = get(cpu, cpu->general[i]);
}

/* A clock that advances like the guest's TSC while a CPU runs, but starts at another value. */
static u64 guest_clock(void)
{
	u64 sum = 0;

	for (unsigned int i = 0; i < plugin.cpu_count; i++)
		sum += executed(&plugin.cpus[i]);
	return sum << plugin.icount;
}

static struct core_moment moment_at(u64 ip, u64 next_ip)
{
	return (struct core_moment){
		.ip = ip, .next_ip = next_ip, .time_stamp = guest_clock() + plugin.tsc_offset};
}

/* -- the interrupt -- */

static u32 apic_read(struct cpu *cpu, unsigned int offset)
{
	u32 value = 0;

	if (qemu_plugin_read_memory_hwaddr(APIC + offset, cpu->memory, sizeof(value)))
		fprintf(stderr, "pmu: the local APIC cannot be read\n");
	else
		memcpy(&value, cpu->memory->data, sizeof(value));
	return value;
}

static void apic_write(struct cpu *cpu, unsigned int offset, u32 value)
{
	g_byte_array_set_size(cpu->memory, 0);
	g_byte_array_append(cpu->memory, (const uint8_t *)&value, sizeof(value));
	if (qemu_plugin_write_memory_hwaddr(APIC + offset, cpu->memory))
		fprintf(stderr, "pmu: the local APIC cannot be written\n");
}

static void send(struct qemu_cpu *unused, void *data)
{
	struct cpu *cpu = data;

	(void)unused;
	apic_write(cpu, APIC_ICR, cpu->icr);
}

static void interrupt(struct cpu *cpu)
{
	u32 entry = apic_read(cpu, APIC_LVT_PMI);

	/* IBS has a vector of its own, which QEMU's APIC lacks. The kernel configures it as an NMI. */
	if (plugin.cores[cpu->index].amd && (entry & APIC_MODE) == 0)
		entry = 4U << 8;
	cpu->held_back = entry & APIC_MASKED;
	if (cpu->held_back) {
		books_count(plugin.books, cpu->index, BOOKS_LATCHED);
		attend_in(cpu, 0);
		return;
	}
	books_count(plugin.books, cpu->index, BOOKS_SENT);
	branches_freeze(&cpu->core->branches);
	if (!plugin.cores[cpu->index].amd)
		apic_write(cpu, APIC_LVT_PMI, entry | APIC_MASKED);
	cpu->icr = APIC_ICR_SELF | (entry & APIC_MODE);
	/*
	 * With -icount, QEMU accepts an interrupt only between blocks ("Raised interrupt while not in I/O
	 * function").
	 */
	async_run_on_cpu(qemu_get_cpu((int)cpu->index), send, cpu);
}

/* -- reports to the core -- */

static void give(struct cpu *cpu)
{
	cpu->loads_given = cpu->loads = cpu->watched ? (int64_t)core_loads_left(cpu->core) : NEVER;
	cpu->stores_given = cpu->stores = cpu->watched ? (int64_t)core_stores_left(cpu->core) : NEVER;
}

/* Reports everything up to now, except for `singly` instructions that are reported separately. */
static void settle(struct cpu *cpu, const struct core_moment *moment, unsigned int singly)
{
	int64_t loads = cpu->loads_given - cpu->loads, stores = cpu->stores_given - cpu->stores;
	u64 now = executed(cpu), instructions = now > cpu->told_at ? now - cpu->told_at : 0;

	instructions = instructions > singly ? instructions - singly : 0;
	cpu->told_at += instructions;
	cpu->loads_given = cpu->loads;
	cpu->stores_given = cpu->stores;
	core_passed(cpu->core, moment, instructions, loads > 0 ? (u64)loads : 0,
		    stores > 0 ? (u64)stores : 0);
}

static void deliver(struct cpu *cpu)
{
	if (core_take_interrupt(cpu->core) && !cpu->held_back)
		interrupt(cpu);
}

static bool is_to_be_watched(const struct cpu *cpu)
{
	return core_wants_next_access(cpu->core) ||
	       (core_wants_accesses(cpu->core) && window_is_open(guest_clock(), SLOT, plugin.one_in));
}

static void schedule(struct cpu *cpu)
{
	u64 left = core_instructions_left(cpu->core), most = ATTENTION;

	if (cpu->core->paused)
		most = ATTEND_PAUSED;
	else if (core_wants_accesses(cpu->core))
		most = !cpu->watched ? ATTEND_CLOSED : plugin.cpu_count > 1 ? ATTEND_TURN : ATTEND_WATCHED;
	if (left > most)
		left = most;
	if (cpu->held_back || cpu->after != AFTER_NOTHING || cpu->watched != is_to_be_watched(cpu))
		left = 0;
	attend_in(cpu, left);
}

static void tick(struct cpu *cpu)
{
	u64 ip = get(cpu, cpu->rip);
	struct core_moment moment = moment_at(ip, ip);

	settle(cpu, &moment, 0);
	deliver(cpu);
	give(cpu);
}

static void recorded(void *owner, const struct core_record *record)
{
	struct cpu *cpu = owner;
	struct guest_memory memory = memory_of(cpu);

	books_record(plugin.books, cpu->core, record, &plugin.kernel, &memory);
}

static void overflowed(void *owner, unsigned int counter)
{
	struct cpu *cpu = owner;
	struct guest_memory memory = memory_of(cpu);

	books_due(plugin.books, cpu->core, &plugin.kernel, &memory, counter);
}

static void sampled(void *owner, unsigned int counter)
{
	struct cpu *cpu = owner;
	struct guest_memory memory = memory_of(cpu);

	books_sample(plugin.books, cpu->core, &plugin.kernel, &memory, counter);
}

static void went_on(void *owner, unsigned int counter, u64 count)
{
	struct cpu *cpu = owner;
	struct guest_memory memory = memory_of(cpu);

	books_went_on(plugin.books, cpu->core, &plugin.kernel, &memory, counter, count);
}

static void counted(void *owner, unsigned int counter, u64 occurrences)
{
	struct cpu *cpu = owner;
	struct guest_memory memory = memory_of(cpu);

	books_counted(plugin.books, cpu->core, counter, occurrences, executed(cpu), &plugin.kernel, &memory);
}

static void counter_read(void *owner, unsigned int counter)
{
	struct cpu *cpu = owner;

	books_counter_read(plugin.books, cpu->core, counter, executed(cpu));
}

/* What the CPU did since the last call belongs to the task that is running now, by its kernel's memory. */
static void spend(struct cpu *cpu)
{
	u64 now = executed(cpu);
	struct core_occurrences done =
		core_occurrences(cpu->core, now > cpu->told_at ? now - cpu->told_at : 0);
	struct guest_memory memory = memory_of(cpu);

	books_spend(plugin.books, cpu->core, &done, &plugin.kernel, &memory);
}

/* -- instructions that the plugin handles itself -- */

static void translate(struct qemu_tb *tb, void *unused);

static void was_reset(void *unused)
{
	(void)unused;
	plugin.resetting = false;
	qemu_plugin_register_vcpu_tb_trans_cb(plugin.id, translate, NULL);
}

/* Drops all translations, because the callbacks of a block are chosen when it is translated. */
static void translate_again(void)
{
	if (plugin.resetting)
		return;
	plugin.resetting = true;
	qemu_plugin_reset(plugin.id, was_reset, NULL);
}

static bool in_user_mode(struct cpu *cpu)
{
	return get(cpu, cpu->cs) & 3;
}

static void at_wrmsr(unsigned int index, void *unused)
{
	struct cpu *cpu = &plugin.cpus[index];
	u32 msr = (u32)get(cpu, cpu->general[RCX]);
	u64 value;

	(void)unused;
	if (!core_has_msr(cpu->core, msr) || in_user_mode(cpu))
		return;
	value = (u32)get(cpu, cpu->general[RAX]) | get(cpu, cpu->general[RDX]) << 32;
	tick(cpu);
	spend(cpu);
	if (core_write_msr(cpu->core, msr, value))
		fprintf(stderr, "pmu: cpu %u: a general protection fault is due: wrmsr %x %lx at %lx\n",
			index, msr, value, get(cpu, cpu->rip));
	deliver(cpu);
	give(cpu);
	schedule(cpu);
	if (branches_wanted(&cpu->core->branches) && !plugin.branches) {
		plugin.branches = true;
		translate_again();
	}
}

static void at_rdmsr(unsigned int index, void *unused)
{
	struct cpu *cpu = &plugin.cpus[index];
	u32 msr = (u32)get(cpu, cpu->general[RCX]);

	(void)unused;
	if (in_user_mode(cpu))
		return;
	if (msr == 0x1a0 && !cpu->core->amd) {
		cpu->after = AFTER_MISC_ENABLE;
	} else if (core_has_msr(cpu->core, msr)) {
		tick(cpu);
		if (core_read_msr(cpu->core, msr, &cpu->value))
			fprintf(stderr, "pmu: cpu %u: a general protection fault is due: rdmsr %x at %lx\n",
				index, msr, get(cpu, cpu->rip));
		cpu->after = AFTER_MSR;
	} else {
		return;
	}
	attend_in(cpu, 0);
}

static void at_rdpmc(unsigned int index, void *next)
{
	struct cpu *cpu = &plugin.cpus[index];
	u64 value;

	tick(cpu);
	if (core_read_counter(cpu->core, (u32)get(cpu, cpu->general[RCX]), &value))
		fprintf(stderr, "pmu: cpu %u: a general protection fault is due: rdpmc\n", index);
	set(cpu, cpu->general[RAX], (u32)value);
	set(cpu, cpu->general[RDX], value >> 32);
	qemu_plugin_set_pc((uint64_t)(uintptr_t)next);
}

static void at_rdtsc(unsigned int index, void *unused)
{
	(void)unused;
	plugin.cpus[index].after = AFTER_TSC;
	attend_in(&plugin.cpus[index], 0);
}

/* `data`: two register numbers as in an instruction: the register with the offset, and the target register. */
static void at_apic_read(unsigned int index, void *data)
{
	/* The order of register numbers in instructions: AX CX DX BX SP BP SI DI. */
	static const u8 order[] = {RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI};
	struct cpu *cpu = &plugin.cpus[index];
	u64 offset = get(cpu, cpu->general[order[(uintptr_t)data & 7]]);

	if (offset < APIC_EXTENDED_START || offset >= APIC_EXTENDED_END)
		return;
	cpu->target = order[(uintptr_t)data >> 3 & 7];
	cpu->after = AFTER_APIC;
	attend_in(cpu, 0);
}

static void at_new_address_space(unsigned int index, void *unused)
{
	(void)unused;
	caches_forget(plugin.caches, index);
}

/* -- commands of the PMU -- */

static void print_price(FILE *file)
{
	for (unsigned int i = 0; i < plugin.cpu_count; i++) {
		const struct price *price = &plugin.cpus[i].price;

		fprintf(file,
			"{\"cpu\":%u,\"nmis\":%lu,\"nmi_instructions\":%lu,\"driver_instructions\":%lu"
			",\"programs\":%lu,\"program_instructions\":%lu}\n",
			i, price->nmis, price->nmi_instructions, price->driver_instructions, price->programs,
			price->program_instructions);
	}
}

static void spend_all(void)
{
	for (unsigned int i = 0; i < plugin.cpu_count; i++)
		if (plugin.cpus[i].core)
			spend(&plugin.cpus[i]);
}

static void reset(void)
{
	spend_all();
	books_reset(plugin.books);
	for (unsigned int i = 0; i < plugin.cpu_count; i++) {
		plugin.cpus[i].price = (struct price){0};
		plugin.cores[i].unit.not_written = 0;
	}
}

/*
 * The cores first learn what their CPUs did until now. Otherwise the counters would miss up to ATTEND_CLOSED
 * instructions before a pause, and count up to ATTEND_PAUSED of the pause. No counter overflows here, because
 * attend() is called at the instruction at which one does.
 */
static void pause_all(bool paused)
{
	const struct core_moment moment = moment_at(0, 0);

	for (unsigned int i = 0; i < plugin.cpu_count; i++)
		if (plugin.cpus[i].core)
			settle(&plugin.cpus[i], &moment, 0);
	spend_all();
	for (unsigned int i = 0; i < plugin.cpu_count; i++)
		plugin.cores[i].paused = paused;
}

/* Pauses, and prints the CPUs on which a sample is now due without a record. */
static void pause_and_print(FILE *file)
{
	pause_all(true);
	for (unsigned int i = 0; i < plugin.cpu_count; i++)
		if (core_owes_record(&plugin.cores[i]))
			fprintf(file, "%u\n", i);
}

static void print_spent(FILE *file)
{
	spend_all();
	books_print_spent(plugin.books, file);
}

static void set_interval(u32 interval)
{
	for (unsigned int i = 0; i < plugin.cpu_count; i++)
		plugin.cores[i].tag_interval = interval;
}

/* Sees every access at all times, and lets misses overlap as far as the instructions allow. */
static void set_exact(bool exact)
{
	if (plugin.exact != exact)
		translate_again();
	plugin.exact = exact;
	for (unsigned int i = 0; i < plugin.cpu_count; i++)
		core_set_exact(&plugin.cores[i], exact);
	plugin.one_in = exact ? 1 : WINDOWS_DEFAULT;
}

static void as_usual(void)
{
	/* Branches are recorded again when an event asks for them. */
	if (plugin.branches)
		translate_again();
	plugin.branches = false;
	set_interval(CORE_TAG_INTERVAL);
	set_exact(false);
}

/* Runs a command of the guest. Returns 0, or ~0 if the command is unknown or wrong. */
static u64 command(char *text, FILE *file)
{
	char *argument = text + strcspn(text, " ");

	if (*argument)
		*argument++ = '\0';
	if (strcmp(text, "books") == 0)
		books_print(plugin.books, file);
	else if (strcmp(text, "records") == 0)
		books_print_records(plugin.books, file);
	else if (strcmp(text, "totals") == 0)
		books_print_totals(plugin.books, plugin.cores, plugin.cpu_count, file);
	else if (strcmp(text, "touched") == 0)
		books_print_touched(plugin.books, file);
	else if (strcmp(text, "counted") == 0)
		books_print_counted(plugin.books, file);
	else if (strcmp(text, "spent") == 0)
		print_spent(file);
	else if (strcmp(text, "price") == 0)
		print_price(file);
	else if (strcmp(text, "machine") == 0)
		fprintf(file, "%s\n", plugin.machine);
	else if (strcmp(text, "reset") == 0)
		reset();
	else if (strcmp(text, "pause") == 0)
		pause_and_print(file);
	else if (strcmp(text, "resume") == 0)
		pause_all(false);
	else if (strcmp(text, "watch") == 0)
		books_watch(plugin.books, strtoull(argument, NULL, 10));
	else if (strcmp(text, "interval") == 0 && strtoul(argument, NULL, 10) > 0)
		set_interval((u32)strtoul(argument, NULL, 10));
	else if (strcmp(text, "window") == 0 && strtoul(argument, NULL, 10) > 0)
		plugin.one_in = (unsigned int)strtoul(argument, NULL, 10);
	else if (strcmp(text, "exact") == 0)
		set_exact(true);
	else if (strcmp(text, "usual") == 0)
		as_usual();
	else if (strcmp(text, "kernel") != 0 || guest_kernel_parse(&plugin.kernel, argument))
		return ~0ULL;
	else
		translate_again(); /* adds callbacks such as at_nmi() */
	return 0;
}

/*
 * ECX 0: runs the command at RSI, of RDX bytes; RAX becomes the size of the answer. ECX 1: copies RDX bytes
 * of the answer, from offset R8 on, to RDI. RAX becomes ~0 on an error.
 */
static u64 run_command(struct cpu *cpu)
{
	u64 size = get(cpu, cpu->general[RDX]), from = get(cpu, cpu->general[R8]);
	char text[COMMAND_MAX + 1];
	u64 result;
	FILE *file;

	if (get(cpu, cpu->general[RCX]) & 1) {
		if (from > plugin.answer_size || size > plugin.answer_size - from)
			return ~0ULL;
		return copy(cpu, get(cpu, cpu->general[RDI]), plugin.answer + from, size, true) ? ~0ULL
												: size;
	}
	if (size > COMMAND_MAX || copy(cpu, get(cpu, cpu->general[RSI]), text, size, false))
		return ~0ULL;
	text[size] = '\0';
	free(plugin.answer);
	plugin.answer = NULL;
	plugin.answer_size = 0;
	file = open_memstream(&plugin.answer, &plugin.answer_size);
	if (!file)
		return ~0ULL;
	result = command(text, file);
	fclose(file);
	return result ? result : plugin.answer_size;
}

static void at_cpuid(unsigned int index, void *unused)
{
	struct cpu *cpu = &plugin.cpus[index];

	(void)unused;
	cpu->leaf = (u32)get(cpu, cpu->general[RAX]);
	cpu->subleaf = (u32)get(cpu, cpu->general[RCX]);
	cpu->after = AFTER_CPUID;
	if (cpu->leaf == COMMAND_LEAF) {
		tick(cpu);
		cpu->value = run_command(cpu);
		cpu->after = AFTER_COMMAND;
		give(cpu);
	}
	attend_in(cpu, 0);
}

static void replace_cpuid(struct cpu *cpu)
{
	struct qemu_register *places[] = {cpu->general[RAX], cpu->general[RBX], cpu->general[RCX],
					  cpu->general[RDX]};
	u32 values[4];

	for (int i = 0; i < 4; i++)
		values[i] = (u32)get(cpu, places[i]);
	if (!core_cpuid(cpu->core, cpu->leaf, cpu->subleaf, values))
		return;
	for (int i = 0; i < 4; i++)
		set(cpu, places[i], values[i]);
}

/* Runs after the instruction: replaces the values that it left in registers, or takes note of them. */
static void finish(struct cpu *cpu)
{
	enum after after = cpu->after;

	cpu->after = AFTER_NOTHING;
	switch (after) {
	case AFTER_NOTHING:
		return;
	case AFTER_CPUID:
		replace_cpuid(cpu);
		return;
	case AFTER_MSR:
		set(cpu, cpu->general[RAX], (u32)cpu->value);
		set(cpu, cpu->general[RDX], cpu->value >> 32);
		return;
	case AFTER_MISC_ENABLE: {
		u64 value = get(cpu, cpu->general[RAX]) & ~(1ULL << 11 | 1ULL << 12);

		/* Bit 7: performance monitoring is available; bit 11: no branch trace store; bit 12: no PEBS. */
		set(cpu, cpu->general[RAX],
		    value | 1U << 7 | 1U << 11 | (cpu->core->counters_only ? 1U << 12 : 0));
		return;
	}
	case AFTER_TSC:
		plugin.tsc_offset = ((u32)get(cpu, cpu->general[RAX]) | get(cpu, cpu->general[RDX]) << 32) -
				    guest_clock();
		return;
	case AFTER_APIC:
		set(cpu, cpu->general[cpu->target], APIC_MASKED);
		return;
	case AFTER_COMMAND:
		set(cpu, cpu->general[RAX], cpu->value);
		return;
	}
}

static void after_instruction(unsigned int index, void *unused)
{
	(void)unused;
	finish(&plugin.cpus[index]);
}

/* -- at the start of a block -- */

/* `data`: number of the block's instructions, which are counted already. */
static void attend(unsigned int index, void *data)
{
	struct cpu *cpu = &plugin.cpus[index];
	bool watched;

	finish(cpu);
	if (cpu->held_back && !(apic_read(cpu, APIC_LVT_PMI) & APIC_MASKED)) {
		cpu->held_back = false;
		/* The cause of the interrupt may have been acknowledged meanwhile. */
		if (core_interrupt_is_due(cpu->core))
			interrupt(cpu);
		else
			books_count(plugin.books, index, BOOKS_DROPPED);
	}
	tick(cpu);
	watched = is_to_be_watched(cpu);
	if (watched == cpu->watched) {
		schedule(cpu);
		if (watched && plugin.cpu_count > 1)
			cpu_exit(qemu_get_cpu((int)index));
		return;
	}
	/* Run the same block again, with its other translation. */
	cpu->watched = watched;
	window_switch(cpu->translation_flags, watched);
	cpu->executed_before -= (uintptr_t)data;
	give(cpu);
	schedule(cpu);
	qemu_plugin_set_pc(get(cpu, cpu->rip));
}

static void at_nmi(unsigned int index, void *unused)
{
	struct cpu *cpu = &plugin.cpus[index];
	struct guest_memory memory = memory_of(cpu);

	(void)unused;
	cpu->nmi_from = executed(cpu);
	cpu->driver_from = driver_of(cpu);
	cpu->program_from = 0;
	books_interrupt(plugin.books, cpu->core, &plugin.kernel, &memory);
}

/* perf_log_throttle(event, enable): the second argument is 0 when throttling begins. */
static void at_throttle(unsigned int index, void *unused)
{
	struct cpu *cpu = &plugin.cpus[index];

	(void)unused;
	if ((u32)get(cpu, cpu->general[RSI]) == 0)
		books_throttled(plugin.books, index);
}

static void at_nmi_end(unsigned int index, void *unused)
{
	struct cpu *cpu = &plugin.cpus[index];

	(void)unused;
	if (!cpu->nmi_from)
		return;
	cpu->price.nmis++;
	cpu->price.nmi_instructions += executed(cpu) - cpu->nmi_from;
	cpu->price.driver_instructions += driver_of(cpu) - cpu->driver_from;
	cpu->nmi_from = 0;
	books_interrupt_end(plugin.books, cpu->core);
}

/* __switch_to(), which makes another task the current one. */
static void at_switch(unsigned int index, void *unused)
{
	(void)unused;
	spend(&plugin.cpus[index]);
}

static void at_module_code(unsigned int index, void *unused)
{
	struct cpu *cpu = &plugin.cpus[index];

	(void)unused;
	if (cpu->nmi_from && !cpu->program_from)
		cpu->program_from = executed(cpu);
}

static void at_overflow_handler(unsigned int index, void *unused)
{
	struct cpu *cpu = &plugin.cpus[index];

	(void)unused;
	if (!cpu->program_from)
		return;
	cpu->price.programs++;
	cpu->price.program_instructions += executed(cpu) - cpu->program_from;
	cpu->program_from = 0;
}

/* -- loads and stores -- */

static struct caches_access access_of(uint32_t info, u64 address, uintptr_t insn, bool store)
{
	struct qemu_hwaddr *place = qemu_plugin_get_hwaddr(info, address);

	return (struct caches_access){
		.linear = address,
		.physical = place ? qemu_plugin_hwaddr_phys_addr(place) : address,
		.store = store,
		.locked = insn & INSN_LOCKED,
		.io = place && qemu_plugin_hwaddr_is_io(place),
	};
}

/* Returns the exact address of an instruction, given its offset in its page. */
static u64 address_of(struct cpu *cpu, u64 offset)
{
	u64 rip = get(cpu, cpu->rip), ip = (rip & ~0xfffULL) | offset;

	/* RIP may be the start of the block, and a block may continue in the next page. */
	return ip < rip ? ip + 0x1000 : ip;
}

/*
 * Returns the place of an instruction that makes an access. Reading registers is slow, so the place is only
 * approximate if that is enough.
 */
static struct core_moment access_moment(struct cpu *cpu, uintptr_t insn)
{
	u64 instructions = executed(cpu) > cpu->told_at ? executed(cpu) - cpu->told_at : 0;
	u64 ip = (insn & INSN_KERNEL ? KERNEL_START : 0) | (insn & 0xfff);

	if (core_may_record(cpu->core, instructions, (u64)(cpu->loads_given - cpu->loads),
			    (u64)(cpu->stores_given - cpu->stores))) {
		ip = address_of(cpu, insn & 0xfff);
	}
	return moment_at(ip, ip + (insn >> INSN_SIZE_SHIFT & 15));
}

static void let_others_run(struct cpu *cpu)
{
	if (cpu->core->took_line && plugin.cpu_count > 1)
		cpu_exit(qemu_get_cpu((int)cpu->index));
	cpu->core->took_line = false;
}

static __attribute__((noinline)) void note_access(struct cpu *cpu, uint32_t info, u64 address, uintptr_t insn,
						  bool store)
{
	struct caches_access access = access_of(info, address, insn, store);
	struct core_operands operands = operands_unpack(insn >> INSN_OPERANDS);
	struct core_moment moment = access_moment(cpu, insn);

	*(store ? &cpu->stores : &cpu->loads) += 1; /* this one is reported separately */
	settle(cpu, &moment, 1);
	core_access(cpu->core, &moment, &access, &operands);
	cpu->told_at++; /* an instruction may have several accesses, so told_at can exceed the executed count */
	deliver(cpu);
	give(cpu);
	let_others_run(cpu);
}

static __attribute__((noinline)) void miss(struct cpu *cpu, uint32_t info, u64 address, uintptr_t insn,
					   bool store)
{
	struct caches_access access = access_of(info, address, insn, store);
	struct core_operands operands = operands_unpack(insn >> INSN_OPERANDS);
	struct core_moment moment = {0};

	if (!core_wants_misses(cpu->core)) {
		core_missed(cpu->core, &moment, &access, &operands);
	} else {
		moment = access_moment(cpu, insn);
		settle(cpu, &moment, 1);
		core_missed(cpu->core, &moment, &access, &operands);
		cpu->told_at++;
		deliver(cpu);
	}
	let_others_run(cpu);
}

static inline void at_access(unsigned int index, uint32_t info, u64 address, void *data, bool store)
{
	struct cpu *cpu = &plugin.cpus[index];
	uintptr_t insn = (uintptr_t)data;

	if (insn & INSN_STRING && address & 63)
		return;
	if (__builtin_expect(--*(store ? &cpu->stores : &cpu->loads) <= 0, 0))
		note_access(cpu, info, address, insn, store);
	else if (cpu->core->exact || !caches_is_recent(cpu->recent, address, store))
		miss(cpu, info, address, insn, store);
}

static void at_load(unsigned int index, uint32_t info, uint64_t address, void *data)
{
	at_access(index, info, address, data, false);
}

static void at_store(unsigned int index, uint32_t info, uint64_t address, void *data)
{
	at_access(index, info, address, data, true);
}

/* `data`: the targets, and from FLOW_SOURCES on the sources. */
#define FLOW_SOURCES 16

static void at_compute(unsigned int index, void *data)
{
	struct cpu *cpu = &plugin.cpus[index];

	core_compute(cpu->core, (u16)(uintptr_t)data, (u16)((uintptr_t)data >> FLOW_SOURCES));
}

/* -- calls and returns -- */

/*
 * An instruction, packed into the data of a callback: its offset in its page, its size, its kind, and from
 * BRANCH_BY on the distance of a direct call's target from the end of the instruction.
 */
#define BRANCH_SIZE_SHIFT 12
#define BRANCH_RETURNS    (1ULL << 16)
#define BRANCH_DIRECT     (1ULL << 17)
#define BRANCH_BY         32

static u64 *arriving_of(unsigned int index)
{
	return qemu_plugin_scoreboard_find(plugin.arriving, index);
}

static void at_branch(unsigned int index, void *data)
{
	struct cpu *cpu = &plugin.cpus[index];
	u64 insn = (uintptr_t)data, from, end;

	if (!branches_wanted(&cpu->core->branches))
		return;
	from = address_of(cpu, insn & 0xfff);
	end = from + (insn >> BRANCH_SIZE_SHIFT & 15);
	if (insn & BRANCH_RETURNS) {
		branches_return(&cpu->core->branches, from);
		return;
	}
	if (branches_call(&cpu->core->branches, from, end + (u64)(int64_t)(int32_t)(insn >> BRANCH_BY)))
		*arriving_of(index) = !(insn & BRANCH_DIRECT);
}

static void at_arrival(unsigned int index, void *unused)
{
	struct cpu *cpu = &plugin.cpus[index];

	(void)unused;
	if (branches_arrived(&cpu->core->branches, get(cpu, cpu->rip)))
		*arriving_of(index) = 0;
}

/* -- translation -- */

struct decoded {
	uint8_t opcode[6];
	bool repeats, locked;
};

static bool is_prefix(uint8_t byte)
{
	return byte == 0x2e || byte == 0x3e || byte == 0x26 || byte == 0x36 ||
	       (byte >= 0x64 && byte <= 0x67) || byte == 0xf0 || byte == 0xf2 || byte == 0xf3 ||
	       (byte & 0xf0) == 0x40;
}

static struct decoded decode(const struct qemu_insn *insn)
{
	struct decoded decoded = {0};
	uint8_t bytes[16] = {0};
	size_t size = qemu_plugin_insn_data(insn, bytes, sizeof(bytes)), at = 0;

	for (; at + 1 < size && is_prefix(bytes[at]); at++) {
		decoded.repeats |= (bytes[at] & 0xfe) == 0xf2;
		decoded.locked |= bytes[at] == 0xf0;
	}
	for (size_t i = 0; i < sizeof(decoded.opcode) && at + i < size; i++)
		decoded.opcode[i] = bytes[at + i];
	/* XCHG with memory is locked even without a prefix. */
	decoded.locked |= decoded.opcode[0] == 0x86 || decoded.opcode[0] == 0x87;
	return decoded;
}

/* Returns true if finish() must be called after the instruction. */
static bool translate_own(struct qemu_insn *insn, const struct decoded *decoded, u64 next)
{
	if (decoded->opcode[0] == 0x0f) {
		switch (decoded->opcode[1]) {
		case 0xa2:
			qemu_plugin_register_vcpu_insn_exec_cb(insn, at_cpuid, QEMU_READ_REGISTERS, NULL);
			return true;
		case 0x32:
			qemu_plugin_register_vcpu_insn_exec_cb(insn, at_rdmsr, QEMU_READ_REGISTERS, NULL);
			return true;
		case 0x31:
			qemu_plugin_register_vcpu_insn_exec_cb(insn, at_rdtsc, QEMU_READ_REGISTERS, NULL);
			return true;
		case 0x30:
			qemu_plugin_register_vcpu_insn_exec_cb(insn, at_wrmsr, QEMU_READ_REGISTERS, NULL);
			return false;
		case 0x33:
			qemu_plugin_register_vcpu_insn_exec_cb(insn, at_rdpmc, QEMU_WRITE_REGISTERS_AND_PC,
							       (void *)(uintptr_t)next);
			return false;
		case 0x22:
			if ((decoded->opcode[2] >> 3 & 7) == 3)
				qemu_plugin_register_vcpu_insn_exec_cb(insn, at_new_address_space,
								       QEMU_NO_REGISTERS, NULL);
			return false;
		default:
			return false;
		}
	}
	/* MOV of 32 bits with a base register and a displacement. */
	if (plugin.cores[0].amd && decoded->opcode[0] == 0x8b && decoded->opcode[1] >> 6 == 2 &&
	    (decoded->opcode[1] & 7) != 4) {
		u32 displacement;

		memcpy(&displacement, decoded->opcode + 2, sizeof(displacement));
		if (displacement != APIC_DISPLACEMENT)
			return false;
		qemu_plugin_register_vcpu_insn_exec_cb(insn, at_apic_read, QEMU_READ_REGISTERS,
						       (void *)(uintptr_t)(decoded->opcode[1] & 63));
		return true;
	}
	return false;
}

static void translate_branch(struct qemu_insn *insn, const struct decoded *decoded)
{
	u64 data = (qemu_plugin_insn_vaddr(insn) & 0xfff) | qemu_plugin_insn_size(insn) << BRANCH_SIZE_SHIFT;
	u32 by;

	if (decoded->opcode[0] == 0xe8) {
		memcpy(&by, decoded->opcode + 1, sizeof(by));
		data |= BRANCH_DIRECT | (u64)by << BRANCH_BY;
	} else if (decoded->opcode[0] == 0xc3 || decoded->opcode[0] == 0xc2) {
		data |= BRANCH_RETURNS;
	} else if (decoded->opcode[0] != 0xff || (decoded->opcode[1] >> 3 & 7) != 2) {
		return;
	}
	qemu_plugin_register_vcpu_insn_exec_cb(insn, at_branch, QEMU_READ_REGISTERS, (void *)(uintptr_t)data);
}

static bool is_string(const struct decoded *decoded)
{
	return decoded->repeats && ((decoded->opcode[0] >= 0xa4 && decoded->opcode[0] <= 0xa7) ||
				    (decoded->opcode[0] >= 0xaa && decoded->opcode[0] <= 0xaf));
}

static void translate_accesses(struct qemu_insn *insn, const struct decoded *decoded)
{
	uint8_t bytes[16] = {0};
	size_t size = qemu_plugin_insn_data(insn, bytes, sizeof(bytes));
	uintptr_t data = (qemu_plugin_insn_vaddr(insn) & 0xfff) |
			 operands_pack(operands_of(bytes, size)) << INSN_OPERANDS |
			 qemu_plugin_insn_size(insn) << INSN_SIZE_SHIFT |
			 (is_string(decoded) ? INSN_STRING : 0) | (decoded->locked ? INSN_LOCKED : 0) |
			 (qemu_plugin_insn_vaddr(insn) >> 63 ? INSN_KERNEL : 0);

	qemu_plugin_register_vcpu_mem_cb(insn, at_load, QEMU_READ_REGISTERS, QEMU_LOADS, (void *)data);
	qemu_plugin_register_vcpu_mem_cb(insn, at_store, QEMU_READ_REGISTERS, QEMU_STORES, (void *)data);
}

static void translate_flow(struct qemu_insn *insn)
{
	uint8_t bytes[16] = {0};
	struct core_flow flow;

	if (!flow_of(bytes, qemu_plugin_insn_data(insn, bytes, sizeof(bytes)), &flow))
		return;
	qemu_plugin_register_vcpu_insn_exec_cb(
		insn, at_compute, QEMU_NO_REGISTERS,
		(void *)(uintptr_t)(flow.targets | (u32)flow.sources << FLOW_SOURCES));
}

static bool is_between(u64 address, u64 start, u64 end)
{
	return address >= start && address < end;
}

static void translate(struct qemu_tb *tb, void *unused)
{
	size_t n = qemu_plugin_tb_n_insns(tb);
	u64 start = qemu_plugin_insn_vaddr(qemu_plugin_tb_get_insn(tb, 0));
	struct qemu_u64 attention = {plugin.attention, 0}, driver = {plugin.driver, 0};
	const struct guest_kernel *kernel = &plugin.kernel;
	bool unfinished = false;

	(void)unused;
	/* These callbacks run before the block is counted. */
	if (kernel->known && start == kernel->nmi_start)
		qemu_plugin_register_vcpu_tb_exec_cb(tb, at_nmi, QEMU_READ_REGISTERS, NULL);
	if (kernel->known && start == kernel->switch_start)
		qemu_plugin_register_vcpu_tb_exec_cb(tb, at_switch, QEMU_READ_REGISTERS, NULL);
	if (kernel->known && start == kernel->throttle_start)
		qemu_plugin_register_vcpu_tb_exec_cb(tb, at_throttle, QEMU_READ_REGISTERS, NULL);
	if (kernel->known && is_between(start, kernel->overflow_start, kernel->overflow_end))
		qemu_plugin_register_vcpu_tb_exec_cb(tb, at_overflow_handler, QEMU_NO_REGISTERS, NULL);
	if (kernel->known && is_between(start, MODULES_START, MODULES_END))
		qemu_plugin_register_vcpu_tb_exec_cb(tb, at_module_code, QEMU_NO_REGISTERS, NULL);
	if (kernel->known && is_between(start, kernel->driver_start, kernel->driver_end))
		qemu_plugin_register_vcpu_tb_exec_inline_per_vcpu(tb, QEMU_ADD, driver, n);
	if (plugin.branches)
		qemu_plugin_register_vcpu_tb_exec_cond_cb(tb, at_arrival, QEMU_READ_REGISTERS,
							  QEMU_GREATER_OR_EQUAL,
							  (struct qemu_u64){plugin.arriving, 0}, 1, NULL);
	qemu_plugin_register_vcpu_tb_exec_inline_per_vcpu(tb, QEMU_ADD, attention, n);
	qemu_plugin_register_vcpu_tb_exec_cond_cb(tb, attend, QEMU_WRITE_REGISTERS_AND_PC,
						  QEMU_GREATER_OR_EQUAL, attention, ATTENTION, (void *)n);
	for (size_t i = 0; i < n; i++) {
		struct qemu_insn *insn = qemu_plugin_tb_get_insn(tb, i);
		struct decoded decoded = decode(insn);
		u64 address = qemu_plugin_insn_vaddr(insn);

		if (unfinished)
			qemu_plugin_register_vcpu_insn_exec_cb(insn, after_instruction, QEMU_WRITE_REGISTERS,
							       NULL);
		unfinished = translate_own(insn, &decoded, address + qemu_plugin_insn_size(insn));
		/*
		 * IRET: the kernel leaves an NMI by one of several IRETs, and nothing within an NMI uses
		 * another.
		 */
		if (kernel->known && decoded.opcode[0] == 0xcf && address >= KERNEL_START)
			qemu_plugin_register_vcpu_insn_exec_cb(insn, at_nmi_end, QEMU_READ_REGISTERS, NULL);
		if (window_is_translated())
			translate_accesses(insn, &decoded);
		if (window_is_translated() && plugin.exact)
			translate_flow(insn);
		if (plugin.branches)
			translate_branch(insn, &decoded);
	}
}

/* -- start and end -- */

static void find_registers(struct cpu *cpu)
{
	GArray *all = qemu_plugin_get_registers();
	const struct qemu_register_descriptor *descriptors = (const void *)all->data;

	for (unsigned int i = 0; i < all->len; i++) {
		const struct qemu_register_descriptor *of = &descriptors[i];

		if (!of->name)
			continue;
		if (strcmp(of->name, "rip") == 0)
			cpu->rip = of->handle;
		else if (strcmp(of->name, "cs") == 0)
			cpu->cs = of->handle;
		else if (strcmp(of->name, "eflags") == 0)
			cpu->flags = of->handle;
		for (unsigned int j = 0; j < RETIRED_REGISTERS; j++)
			if (strcmp(of->name, general_names[j]) == 0)
				cpu->general[j] = of->handle;
	}
}

static void give_up(const char *what)
{
	fprintf(stderr, "pmu: %s\n", what);
	exit(1);
}

static void at_vcpu(unsigned int index, void *unused)
{
	struct core_callbacks callbacks = {.copy = copy,
					   .registers = registers,
					   .recorded = recorded,
					   .counted = counted,
					   .counter_read = counter_read,
					   .overflowed = overflowed,
					   .sampled = sampled,
					   .went_on = went_on};
	struct cpu *cpu = &plugin.cpus[index];

	(void)unused;
	if (index >= plugin.cpu_count)
		give_up("the guest has more CPUs than cpus= says");
	cpu->index = index;
	cpu->core = &plugin.cores[index];
	cpu->bytes = g_byte_array_new();
	cpu->memory = g_byte_array_new();
	find_registers(cpu);
	callbacks.owner = cpu;
	if (core_open(cpu->core, plugin.machine, index, plugin.caches, &callbacks))
		give_up("there is no such machine");
	if (caches_add_cpu(plugin.caches, index, core_memory_shape(cpu->core)))
		give_up("no memory for the caches");
	cpu->recent = caches_recent(plugin.caches, index);
	cpu->translation_flags = window_flags_of(qemu_get_cpu((int)index));
	if (!cpu->translation_flags)
		give_up("this QEMU keeps the translation flags of its CPUs elsewhere");
	give(cpu);
	schedule(cpu);
}

static const char *value_of(const char *argument, const char *name)
{
	size_t length = strlen(name);

	return strncmp(argument, name, length) == 0 && argument[length] == '=' ? argument + length + 1 : NULL;
}

int qemu_plugin_install(uint64_t id, const void *info, int argc, char **argv)
{
	FILE *log = NULL;

	(void)info;
	plugin.id = id;
	for (int i = 0; i < argc; i++) {
		const char *value;

		if ((value = value_of(argv[i], "machine")))
			plugin.machine = value;
		else if ((value = value_of(argv[i], "cpus")))
			plugin.cpu_count = (unsigned int)strtoul(value, NULL, 10);
		else if ((value = value_of(argv[i], "node-bytes")))
			plugin.node_bytes = strtoull(value, NULL, 10);
		else if ((value = value_of(argv[i], "icount")))
			plugin.icount = (unsigned int)strtoul(value, NULL, 10);
		else if ((value = value_of(argv[i], "log")))
			log = fopen(value, "w");
		else
			give_up("unknown argument");
	}
	as_usual();
	plugin.attention = qemu_plugin_scoreboard_new(sizeof(u64));
	plugin.driver = qemu_plugin_scoreboard_new(sizeof(u64));
	plugin.arriving = qemu_plugin_scoreboard_new(sizeof(u64));
	plugin.caches = caches_open(plugin.cpu_count, plugin.node_bytes);
	plugin.books = books_open(log);
	if (!plugin.caches || !plugin.books)
		give_up("no memory");
	qemu_plugin_register_vcpu_init_cb(id, at_vcpu, NULL);
	qemu_plugin_register_vcpu_tb_trans_cb(id, translate, NULL);
	return 0;
}

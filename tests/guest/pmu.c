// SPDX-License-Identifier: GPL-2.0
/*
 * pmu COMMAND [ARGUMENT]: asks the emulated PMU of this guest (tests/guest/pmu/), and prints what it answers.
 *   books, totals, touched, price, machine   what plugin.c prints for them
 *   reset            the books begin again
 *   pause, resume    nothing counts in between
 *   watch CGROUP_ID  keeps what the cgroup's samples touch
 *   interval N       one load in N is tagged, of those in windows
 *   window N         one millisecond in N is a window; 1: all are
 *   kernel           tells it where this kernel keeps its tasks; once after each boot
 * The door is CPUID with a leaf of the PMU's own, which user space may execute.
 */
#include <bpf/btf.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/utsname.h>

#define USAGE     2
#define DOOR_LEAF 0x50454253U
#define NO_ANSWER (~0UL)
#define PIECE     65536UL
#define SYMBOL    128
#define LAYOUT    4096

static unsigned long door(unsigned long what, unsigned long to, unsigned long from, unsigned long size,
			  unsigned long offset)
{
	register unsigned long r8 __asm__("r8") = offset;
	unsigned long result = DOOR_LEAF;

	/* CPUID sets RBX, RCX and RDX, too. */
	__asm__ volatile("cpuid"
			 : "+a"(result), "+c"(what), "+d"(size)
			 : "D"(to), "S"(from), "r"(r8)
			 : "rbx", "memory");
	return result;
}

/* -- the kernel's layout -- */

struct symbols {
	uint64_t per_cpu_offset, current_task, pcpu_hot, cpu_hw_events, bpf_prog_active;
	uint64_t nmi_start, overflow_start, overflow_end, inlined_start, inlined_end;
};

/* Sets `start` to the address of the symbol that is read, and `end` to the next address above it. */
static void note_range(uint64_t address, const char *name, const char *wanted, uint64_t *start, uint64_t *end)
{
	if (strcmp(name, wanted) == 0)
		*start = address;
	else if (*start && address > *start && (!*end || address < *end))
		*end = address;
}

static void read_symbols(struct symbols *ret)
{
	FILE *file = fopen("/proc/kallsyms", "re");
	char name[SYMBOL + 1], type;
	unsigned long address;
	static const struct {
		const char *name;
		size_t offset;
	} wanted[] = {
		{"__per_cpu_offset", offsetof(struct symbols, per_cpu_offset)},
		{"current_task", offsetof(struct symbols, current_task)},
		{"pcpu_hot", offsetof(struct symbols, pcpu_hot)},
		{"cpu_hw_events", offsetof(struct symbols, cpu_hw_events)},
		{"bpf_prog_active", offsetof(struct symbols, bpf_prog_active)},
		{"asm_exc_nmi", offsetof(struct symbols, nmi_start)},
	};

	*ret = (struct symbols){0};
	if (!file)
		err(1, "/proc/kallsyms");
	while (fscanf(file, "%lx %c %128s%*[^\n]", &address, &type, name) == 3) {
		for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
			if (strcmp(name, wanted[i].name) == 0)
				*(uint64_t *)(void *)((char *)ret + wanted[i].offset) = address;
		note_range(address, name, "bpf_overflow_handler", &ret->overflow_start, &ret->overflow_end);
		note_range(address, name, "__perf_event_overflow", &ret->inlined_start, &ret->inlined_end);
	}
	(void)fclose(file);
}

/* Bytes; the field may lie in a member without a name. NOLINTNEXTLINE(misc-no-recursion): as deep as these */
static long offset_in(const struct btf *btf, const struct btf_type *type, const char *field)
{
	const struct btf_member *members = btf_members(type);

	for (int i = 0; i < btf_vlen(type); i++) {
		long offset = (long)btf_member_bit_offset(type, (unsigned int)i) / 8, inner;
		const char *name = btf__name_by_offset(btf, members[i].name_off);
		const struct btf_type *member = btf__type_by_id(btf, members[i].type);

		if (strcmp(name, field) == 0)
			return offset;
		if (*name || !btf_is_composite(member))
			continue;
		inner = offset_in(btf, member, field);
		if (inner >= 0)
			return offset + inner;
	}
	return -1;
}

static uint64_t offset_of(const struct btf *btf, const char *structure, const char *field)
{
	int id = btf__find_by_name_kind(btf, structure, BTF_KIND_STRUCT);
	long offset = id < 0 ? -1 : offset_in(btf, btf__type_by_id(btf, (unsigned int)id), field);

	if (offset < 0)
		errx(1, "this kernel's BTF has no %s.%s", structure, field);
	return (uint64_t)offset;
}

/* Whether the running kernel is at least of that version. */
static bool since(unsigned int major, unsigned int minor)
{
	struct utsname name;
	unsigned int found[2] = {0};

	if (uname(&name) || sscanf(name.release, "%u.%u", &found[0], &found[1]) != 2)
		errx(1, "the kernel does not tell its version");
	return found[0] > major || (found[0] == major && found[1] >= minor);
}

static void put(char *text, const char *name, uint64_t value, bool required)
{
	size_t length = strlen(text);

	if (required && !value)
		errx(1, "this kernel has no %s", name);
	(void)snprintf(text + length, LAYOUT - length, "%s%s=%lx", length ? " " : "", name, value);
}

static void describe_kernel(char *text)
{
	struct btf *btf = btf__load_vmlinux_btf();
	struct symbols symbols;
	uint64_t current;

	if (!btf)
		errx(1, "this kernel's BTF cannot be read");
	read_symbols(&symbols);
	/* From 6.2 to 6.14 it is a field of another variable. */
	current = symbols.current_task;
	if (symbols.pcpu_hot && btf__find_by_name_kind(btf, "pcpu_hot", BTF_KIND_STRUCT) >= 0)
		current = symbols.pcpu_hot + offset_of(btf, "pcpu_hot", "current_task");
	*text = '\0';
	put(text, "per_cpu_offset", symbols.per_cpu_offset, true);
	put(text, "current_task", current, true);
	put(text, "cpu_hw_events", symbols.cpu_hw_events, true);
	put(text, "bpf_prog_active", symbols.bpf_prog_active, true);
	put(text, "task_pid", offset_of(btf, "task_struct", "pid"), true);
	put(text, "task_comm", offset_of(btf, "task_struct", "comm"), true);
	put(text, "task_cgroups", offset_of(btf, "task_struct", "cgroups"), true);
	put(text, "css_set_cgroup", offset_of(btf, "css_set", "dfl_cgrp"), true);
	put(text, "cgroup_kn", offset_of(btf, "cgroup", "kn"), true);
	put(text, "kernfs_node_id", offset_of(btf, "kernfs_node", "id"), true);
	put(text, "events", offset_of(btf, "cpu_hw_events", "events"), false);
	put(text, "event_cgroup", offset_of(btf, "perf_event", "cgrp"), true);
	put(text, "event_period",
	    offset_of(btf, "perf_event", "hw") + offset_of(btf, "hw_perf_event", "last_period"), true);
	put(text, "event_sample_type",
	    offset_of(btf, "perf_event", "attr") + offset_of(btf, "perf_event_attr", "sample_type"), true);
	put(text, "event_program", offset_of(btf, "perf_event", "prog"), true);
	put(text, "nmi_start", symbols.nmi_start, true);
	put(text, "overflow_start", symbols.overflow_start ? symbols.overflow_start : symbols.inlined_start,
	    true);
	put(text, "overflow_end", symbols.overflow_start ? symbols.overflow_end : symbols.inlined_end, true);
	/* setup_pebs_adaptive_sample_data() in arch/x86/events/intel/ds.c cuts the latency in 6.12, and not
	 * in 7.3. */
	put(text, "latency_is_cut", !since(6, 13), false);
	put(text, "ibs_names_levels", since(6, 2), false);
	btf__free(btf);
}

/* -- the door -- */

static void ask(const char *command)
{
	/* In memory, and it stays there: the PMU reads and writes it as a debugger would. */
	char *text =
		mmap(NULL, PIECE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	unsigned long size;

	if (text == MAP_FAILED || mlock(text, PIECE))
		err(1, "memory for the answer");
	(void)snprintf(text, PIECE, "%s", command);
	size = door(0, 0, (unsigned long)text, strlen(text), 0);
	if (size == NO_ANSWER)
		errx(1, "the PMU does not know \"%s\"", command);
	for (unsigned long offset = 0; offset < size;) {
		unsigned long piece = size - offset < PIECE ? size - offset : PIECE;

		if (door(1, (unsigned long)text, 0, piece, offset) != piece)
			errx(1, "the PMU's answer cannot be read");
		if (fwrite(text, 1, piece, stdout) != piece)
			err(1, "standard output");
		offset += piece;
	}
	if (fflush(stdout))
		err(1, "standard output");
}

int main(int argc, char **argv)
{
	char command[LAYOUT + 16], layout[LAYOUT];
	int lock;

	if (argc < 2 || argc > 3)
		errx(USAGE, "usage: pmu COMMAND [ARGUMENT]");
	/* There is one answer at a time. */
	lock = open("/run/pmu.lock", O_CREAT | O_RDWR | O_CLOEXEC, 0600);
	if (lock < 0 || flock(lock, LOCK_EX))
		err(1, "/run/pmu.lock");
	if (strcmp(argv[1], "kernel") == 0) {
		describe_kernel(layout);
		(void)snprintf(command, sizeof(command), "kernel %s", layout);
	} else {
		(void)snprintf(command, sizeof(command), "%s%s%s", argv[1], argc > 2 ? " " : "",
			       argc > 2 ? argv[2] : "");
	}
	ask(command);
	return 0;
}

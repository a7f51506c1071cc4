// SPDX-License-Identifier: GPL-2.0
/*
 * pmu COMMAND [ARGUMENT]: sends a command to the emulated PMU of this guest (tests/guest/pmu/), and prints
 * the answer.
 *   books, records, totals, touched, counted, spent, price, machine   print these data of the PMU (plugin.c)
 *   reset            clears the books
 *   pause, resume    nothing is counted in between; `pause` waits until no sample is due without a record
 *   watch CGROUP_ID  records what the cgroup's samples access
 *   interval N       tags one load in N, of the loads in windows
 *   window N         makes one millisecond in N a window; 1: all
 *   exact            every access is seen at all times, and misses overlap as far as the instructions allow
 *   usual            resets interval, window and exact to their values at the start
 *   kernel FILE      tells the PMU where this kernel keeps its tasks, once after a boot; FILE: output of `layout`
 *   layout           prints these places for this kernel, which takes a guest seconds
 *
 * The commands go through a CPUID leaf of the PMU's own, which user space may execute.
 */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/btf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#define USAGE        2
#define COMMAND_LEAF 0x50454253U
#define NO_ANSWER    (~0UL)
#define PIECE        65536UL
#define LAYOUT       4096

/*
 * Maximum number of attempts to pause, and the time between two of them. A counter waits longer for its next
 * event only if its CPU is idle.
 */
#define PAUSES        50
#define PAUSE_NEXT_NS 20000000L

static unsigned long call_pmu(unsigned long what, unsigned long to, unsigned long from, unsigned long size,
			      unsigned long offset)
{
	register unsigned long r8 __asm__("r8") = offset;
	unsigned long result = COMMAND_LEAF;

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
	uint64_t nmi_start, switch_start, throttle_start, overflow_start, overflow_end, inlined_start,
		inlined_end;
	uint64_t driver_start, driver_end;
	uint64_t run_start,
		run_end; /* run of driver functions that was read last; run_end is 0 before its end */
};

/* Reads the whole file, whose size is not known before, and appends a NUL. The caller frees the result. */
static char *read_all(const char *path, size_t *ret_size)
{
	size_t size = 0, room = 1U << 24;
	char *text = malloc(room);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0 || !text)
		err(1, "%s", path);
	while ((n = read(fd, text + size, room - size - 1)) > 0) {
		size += (size_t)n;
		if (room - size > PIECE)
			continue;
		room *= 2;
		text = realloc(text, room);
		if (!text)
			err(1, "%s", path);
	}
	if (n < 0)
		err(1, "%s", path);
	close(fd);
	text[size] = '\0';
	*ret_size = size;
	return text;
}

/* Sets `start` to the address of the wanted symbol, and `end` to the next higher address. */
static void note_range(uint64_t address, bool is_wanted, uint64_t *start, uint64_t *end)
{
	if (is_wanted)
		*start = address;
	else if (*start && address > *start && (!*end || address < *end))
		*end = address;
}

/*
 * Finds the driver's functions. The functions of one directory's objects are adjacent in memory. Names
 * alone are not enough: compilers move parts elsewhere ("NAME.cold"), and other directories have functions
 * with such names. So the longest run of such names is taken. Other functions between them do not end a run
 * if they take less than DRIVER_GAP bytes.
 */
#define DRIVER_GAP 0x8000U

static void note_driver(uint64_t address, const char *name, struct symbols *symbols)
{
	static const char *const prefixes[] = {"x86_pmu_", "x86_perf_event_", "intel_pmu_"};
	bool is_wanted = false;

	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
		is_wanted |= strncmp(name, prefixes[i], strlen(prefixes[i])) == 0;
	is_wanted &= !strchr(name, '.');
	if (is_wanted &&
	    (!symbols->run_start || (symbols->run_end && address - symbols->run_end >= DRIVER_GAP)))
		symbols->run_start = address;
	if (is_wanted)
		symbols->run_end = 0;
	else if (symbols->run_start && !symbols->run_end)
		symbols->run_end = address;
	if (symbols->run_end &&
	    symbols->run_end - symbols->run_start > symbols->driver_end - symbols->driver_start) {
		symbols->driver_start = symbols->run_start;
		symbols->driver_end = symbols->run_end;
	}
}

static uint64_t hexadecimal(const char *digits)
{
	uint64_t value = 0;

	for (; *digits != ' '; digits++)
		value = value << 4 | (unsigned int)((*digits & 15) + (*digits > '9' ? 9 : 0));
	return value;
}

static void read_symbols(struct symbols *ret)
{
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
		{"__switch_to", offsetof(struct symbols, switch_start)},
		{"perf_log_throttle", offsetof(struct symbols, throttle_start)},
	};
	size_t size;
	char *text = read_all("/proc/kallsyms", &size), *next;
	bool in_text = true;

	*ret = (struct symbols){0};
	/* "ADDRESS TYPE NAME", followed by the module for a module's symbol. */
	for (char *line = text; (next = memchr(line, '\n', (size_t)(text + size - line))); line = next + 1) {
		uint64_t address = hexadecimal(line);
		const char *name = strchr(line, ' ') + 3;

		*next = '\0';
		for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
			if (strcmp(name, wanted[i].name) == 0)
				*(uint64_t *)(void *)((char *)ret + wanted[i].offset) = address;
		note_range(address, strcmp(name, "bpf_overflow_handler") == 0, &ret->overflow_start,
			   &ret->overflow_end);
		in_text &= strcmp(name, "_etext") != 0;
		if (in_text)
			note_driver(address, name, ret);
		note_range(address, strcmp(name, "__perf_event_overflow") == 0, &ret->inlined_start,
			   &ret->inlined_end);
	}
	free(text);
}

/* The kernel's types from /sys/kernel/btf/vmlinux (Documentation/bpf/btf.rst). */
struct types {
	char *data;
	const char *names;
	uint32_t names_size;
	const struct btf_type **list; /* indexed by id; 0 is void */
	uint32_t count;
};

/* Returns the number of bytes after a type's header, which depends on its kind. */
static size_t tail_of(const struct btf_type *type)
{
	switch (BTF_INFO_KIND(type->info)) {
	case BTF_KIND_INT:
	case BTF_KIND_VAR:
	case BTF_KIND_DECL_TAG:
		return sizeof(uint32_t);
	case BTF_KIND_ARRAY:
		return sizeof(struct btf_array);
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
		return BTF_INFO_VLEN(type->info) * sizeof(struct btf_member);
	case BTF_KIND_ENUM:
		return BTF_INFO_VLEN(type->info) * sizeof(struct btf_enum);
	case BTF_KIND_FUNC_PROTO:
		return BTF_INFO_VLEN(type->info) * sizeof(struct btf_param);
	case BTF_KIND_DATASEC:
		return BTF_INFO_VLEN(type->info) * sizeof(struct btf_var_secinfo);
	case BTF_KIND_ENUM64:
		return BTF_INFO_VLEN(type->info) * 3 * sizeof(uint32_t);
	default:
		return 0;
	}
}

static void read_types(struct types *ret)
{
	const struct btf_header *head;
	const char *at, *end;
	size_t size;

	*ret = (struct types){.data = read_all("/sys/kernel/btf/vmlinux", &size)};
	head = (const void *)ret->data;
	if (size < sizeof(*head) || head->magic != BTF_MAGIC)
		errx(1, "this kernel's BTF cannot be read");
	at = ret->data + head->hdr_len + head->type_off;
	end = at + head->type_len;
	ret->names = ret->data + head->hdr_len + head->str_off;
	ret->names_size = head->str_len;
	ret->list = malloc(((size_t)head->type_len / sizeof(struct btf_type) + 2) * sizeof(*ret->list));
	if (!ret->list)
		err(1, "the kernel's types");
	ret->list[ret->count++] = NULL;
	for (; at < end; at += sizeof(struct btf_type) + tail_of(ret->list[ret->count++]))
		ret->list[ret->count] = (const void *)at;
}

/* Returns NULL if there is no structure of this name. */
static const struct btf_type *find_structure(const struct types *types, const char *name)
{
	for (uint32_t i = 1; i < types->count; i++)
		if (BTF_INFO_KIND(types->list[i]->info) == BTF_KIND_STRUCT &&
		    strcmp(types->names + types->list[i]->name_off, name) == 0)
			return types->list[i];
	return NULL;
}

/* Returns the offset in bytes, or -1 if there is no such field. The field may be in a member without a name. */
/* NOLINTNEXTLINE(misc-no-recursion): the depth is that of the nested structures */
static long offset_in(const struct types *types, const struct btf_type *type, const char *field)
{
	const struct btf_member *members = (const void *)(type + 1);

	for (uint32_t i = 0; i < BTF_INFO_VLEN(type->info); i++) {
		/* The upper bits are the size, if the member is a bit field. */
		uint32_t bits = BTF_INFO_KFLAG(type->info) ? BTF_MEMBER_BIT_OFFSET(members[i].offset)
							   : members[i].offset;
		const struct btf_type *member = types->list[members[i].type];
		const char *name = types->names + members[i].name_off;
		uint32_t kind = BTF_INFO_KIND(member->info);
		long inner;

		if (strcmp(name, field) == 0)
			return bits / 8;
		if (*name || (kind != BTF_KIND_STRUCT && kind != BTF_KIND_UNION))
			continue;
		inner = offset_in(types, member, field);
		if (inner >= 0)
			return bits / 8 + inner;
	}
	return -1;
}

static uint64_t offset_of(const struct types *types, const char *structure, const char *field)
{
	const struct btf_type *type = find_structure(types, structure);
	long offset = type ? offset_in(types, type, field) : -1;

	if (offset < 0)
		errx(1, "this kernel's BTF has no %s.%s", structure, field);
	return (uint64_t)offset;
}

/* Returns whether the running kernel has at least this version. */
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
	struct types types;
	struct symbols symbols;
	uint64_t current;

	read_types(&types);
	read_symbols(&symbols);
	/* From 6.2 to 6.14, `current_task` is a field of pcpu_hot. */
	current = symbols.current_task;
	if (symbols.pcpu_hot && find_structure(&types, "pcpu_hot"))
		current = symbols.pcpu_hot + offset_of(&types, "pcpu_hot", "current_task");
	*text = '\0';
	put(text, "per_cpu_offset", symbols.per_cpu_offset, true);
	put(text, "current_task", current, true);
	put(text, "cpu_hw_events", symbols.cpu_hw_events, true);
	put(text, "bpf_prog_active", symbols.bpf_prog_active, true);
	put(text, "task_pid", offset_of(&types, "task_struct", "pid"), true);
	put(text, "task_comm", offset_of(&types, "task_struct", "comm"), true);
	put(text, "task_cgroups", offset_of(&types, "task_struct", "cgroups"), true);
	put(text, "css_set_cgroup", offset_of(&types, "css_set", "dfl_cgrp"), true);
	put(text, "cgroup_kn", offset_of(&types, "cgroup", "kn"), true);
	put(text, "kernfs_node_id", offset_of(&types, "kernfs_node", "id"), true);
	put(text, "events", offset_of(&types, "cpu_hw_events", "events"), false);
	put(text, "event_cgroup", offset_of(&types, "perf_event", "cgrp"), true);
	put(text, "event_period",
	    offset_of(&types, "perf_event", "hw") + offset_of(&types, "hw_perf_event", "last_period"), true);
	put(text, "event_sample_type",
	    offset_of(&types, "perf_event", "attr") + offset_of(&types, "perf_event_attr", "sample_type"),
	    true);
	put(text, "event_program", offset_of(&types, "perf_event", "prog"), true);
	put(text, "nmi_start", symbols.nmi_start, true);
	put(text, "switch_start", symbols.switch_start, true);
	put(text, "throttle_start", symbols.throttle_start, true);
	put(text, "overflow_start", symbols.overflow_start ? symbols.overflow_start : symbols.inlined_start,
	    true);
	put(text, "overflow_end", symbols.overflow_start ? symbols.overflow_end : symbols.inlined_end, true);
	put(text, "driver_start", symbols.driver_start, true);
	put(text, "driver_end", symbols.driver_end, true);
	/*
	 * setup_pebs_adaptive_sample_data() in arch/x86/events/intel/ds.c truncates the latency in 6.12, but
	 * not in 7.3.
	 */
	put(text, "latency_is_cut", !since(6, 13), false);
	put(text, "ibs_names_levels", since(6, 2), false);
	free(types.list);
	free(types.data);
}

/* -- commands of the PMU -- */

/* Populated and locked in memory, because the PMU reads and writes it as a debugger would. */
static char *make_buffer(void)
{
	char *text =
		mmap(NULL, PIECE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

	if (text == MAP_FAILED || mlock(text, PIECE))
		err(1, "memory for the answer");
	return text;
}

/* Returns the size of the answer. */
static unsigned long run(char *buffer, const char *command)
{
	unsigned long size;

	(void)snprintf(buffer, PIECE, "%s", command);
	size = call_pmu(0, 0, (unsigned long)buffer, strlen(buffer), 0);
	if (size == NO_ANSWER)
		errx(1, "the PMU does not know \"%s\"", command);
	return size;
}

static void ask(char *buffer, const char *command)
{
	unsigned long size = run(buffer, command);

	for (unsigned long offset = 0; offset < size;) {
		unsigned long piece = size - offset < PIECE ? size - offset : PIECE;

		if (call_pmu(1, (unsigned long)buffer, 0, piece, offset) != piece)
			errx(1, "the PMU's answer cannot be read");
		if (fwrite(buffer, 1, piece, stdout) != piece)
			err(1, "standard output");
		offset += piece;
	}
	if (fflush(stdout))
		err(1, "standard output");
}

/*
 * Pauses when no counter has overflowed and waits for the event that makes its record. With a period of N
 * events, a counter waits at one moment in N. Its sample is due, but pebsd learns that only when it next reads
 * the count, up to two seconds later. pebsd then reports the sample as lost, even if the record comes after
 * `resume`. So a test that compares too early, or again later, would fail by chance.
 */
static void pause_counting(char *buffer)
{
	const struct timespec next = {.tv_nsec = PAUSE_NEXT_NS};

	/* The answer has a line for each CPU on which a counter waits. */
	for (int i = 1; run(buffer, "pause") > 0 && i < PAUSES; i++) {
		(void)run(buffer, "resume");
		(void)nanosleep(&next, NULL);
	}
}

/* Reads the output of `layout`. */
static void read_layout(const char *path, char *ret)
{
	FILE *file = fopen(path, "re");

	if (!file || !fgets(ret, LAYOUT, file))
		err(1, "%s", path);
	ret[strcspn(ret, "\n")] = '\0';
	(void)fclose(file);
}

int main(int argc, char **argv)
{
	char command[LAYOUT + 16], layout[LAYOUT];
	int lock;

	if (argc < 2 || argc > 3)
		errx(USAGE, "usage: pmu COMMAND [ARGUMENT]");
	if (strcmp(argv[1], "layout") == 0) {
		describe_kernel(layout);
		return puts(layout) < 0 || fflush(stdout);
	}
	/* The PMU holds only one answer at a time. */
	lock = open("/run/pmu.lock", O_CREAT | O_RDWR | O_CLOEXEC, 0600);
	if (lock < 0 || flock(lock, LOCK_EX))
		err(1, "/run/pmu.lock");
	if (strcmp(argv[1], "kernel") == 0) {
		if (argc < 3)
			errx(USAGE, "usage: pmu kernel FILE");
		read_layout(argv[2], layout);
		(void)snprintf(command, sizeof(command), "kernel %s", layout);
	} else {
		(void)snprintf(command, sizeof(command), "%s%s%s", argv[1], argc > 2 ? " " : "",
			       argc > 2 ? argv[2] : "");
	}
	if (strcmp(argv[1], "pause") == 0)
		pause_counting(make_buffer());
	else
		ask(make_buffer(), command);
	return 0;
}

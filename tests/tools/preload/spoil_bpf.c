// SPDX-License-Identifier: GPL-2.0
/*
 * Loaded into a program before the C library (LD_PRELOAD). Imitates a kernel that refuses to make a map or a
 * program by bpf(2), chosen by name. SPOIL_BPF is one of these:
 *   map NAME ERRNO       creating the map fails with ERRNO
 *   program NAME ERRNO   loading the program fails with ERRNO
 *   program NAME         the program is loaded with a first instruction that every verifier refuses
 */
#include <dlfcn.h>
#include <errno.h>
#include <linux/bpf.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define INSTRUCTIONS_MAX 65536

static bool names(const char *wanted, const char *name)
{
	size_t length = strcspn(wanted, " ");

	return strlen(name) == length && strncmp(wanted, name, length) == 0;
}

/* Reads through a register that was never written. */
static const struct bpf_insn spoiled = {.code = BPF_LDX | BPF_DW | BPF_MEM, .dst_reg = 0, .src_reg = 9};

/*
 * Returns whether the command is refused, with errno set. If not, it may replace the instructions in `attr`, a
 * copy of the caller's.
 */
static bool spoil(long command, union bpf_attr *attr)
{
	static struct bpf_insn instructions[INSTRUCTIONS_MAX];
	const char *request = getenv("SPOIL_BPF");
	const char *kind, *error;

	if (!request || !attr)
		return false;
	kind = request;
	request = strchr(request, ' ');
	if (!request)
		return false;
	request++;
	if (!(command == BPF_MAP_CREATE && strncmp(kind, "map ", 4) == 0 && names(request, attr->map_name)) &&
	    !(command == BPF_PROG_LOAD && strncmp(kind, "program ", 8) == 0 &&
	      names(request, attr->prog_name)))
		return false;
	error = strchr(request, ' ');
	if (error) {
		errno = atoi(error + 1);
		return true;
	}
	if (attr->insn_cnt <= INSTRUCTIONS_MAX) {
		memcpy(instructions, (const void *)attr->insns, attr->insn_cnt * sizeof(*instructions));
		instructions[0] = spoiled;
		attr->insns = (__u64)instructions;
	}
	return false;
}

__attribute__((visibility("default"))) long syscall(long number, ...)
{
	static long (*next)(long number, ...);
	long arguments[6];
	va_list list;

	va_start(list, number);
	for (int i = 0; i < 6; i++)
		arguments[i] = va_arg(list, long);
	va_end(list);
	if (!next)
		next = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
	if (number == SYS_bpf) {
		union bpf_attr attr = {0};
		size_t size = (size_t)arguments[2];

		if (size <= sizeof(attr)) {
			memcpy(&attr, (const void *)arguments[1], size);
			if (spoil(arguments[0], &attr))
				return -1;
			arguments[1] = (long)&attr;
			return next(number, arguments[0], arguments[1], arguments[2]);
		}
	}
	return next(number, arguments[0], arguments[1], arguments[2], arguments[3], arguments[4],
		    arguments[5]);
}

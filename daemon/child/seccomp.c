// SPDX-License-Identifier: GPL-2.0
#include "child/seccomp.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "pebsd/types.h"

#if defined(__x86_64__)
#define ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#endif

#ifdef ARCHITECTURE
static const struct seccomp_permission of_any[] = {
	/* For the socket to pebsd. The child has no other socket, unless pebsd passed one. */
	{.call = SYS_recvfrom},
	{.call = SYS_sendto},
	{.call = SYS_read},
	{.call = SYS_lseek},
	{.call = SYS_fstat},
	{SYS_fcntl, {{1, SECCOMP_EQUAL, F_GETFL}}},
	{SYS_write, {{0, SECCOMP_EQUAL, STDERR_FILENO}}},
	{SYS_writev, {{0, SECCOMP_EQUAL, STDERR_FILENO}}},
	{.call = SYS_brk},
	/*
	 * No PROT_EXEC: the child generates no code. No MAP_SHARED: it would allow writing to a file without
	 * write().
	 */
	{SYS_mmap, {{2, SECCOMP_WITHOUT, PROT_EXEC}, {3, SECCOMP_WITHOUT, MAP_SHARED}}},
	{SYS_mprotect, {{2, SECCOMP_WITHOUT, PROT_EXEC}}},
	{.call = SYS_munmap},
	{.call = SYS_mremap},
	{.call = SYS_madvise},
	{.call = SYS_futex},
	{.call = SYS_restart_syscall},
	{.call = SYS_rt_sigaction},
	{.call = SYS_rt_sigprocmask},
	{.call = SYS_rt_sigreturn},
	{.call = SYS_clock_gettime},
	{.call = SYS_getrandom},
	{.call = SYS_getpid},
	{.call = SYS_gettid},
	{.call = SYS_exit},
	{.call = SYS_exit_group},
/* Calls made by the sanitizers. */
#ifdef __SANITIZE_ADDRESS__
	{.call = SYS_write},
	{.call = SYS_mmap},
	{.call = SYS_mprotect},
	{.call = SYS_prctl},
	{.call = SYS_tgkill},
	{.call = SYS_sigaltstack},
	{.call = SYS_sched_yield},
#ifdef SYS_readlink
	{.call = SYS_readlink},
#endif
#endif
};

/* Maximum statements of one permission, and of the rest of the program. */
#define STATEMENTS_EACH   (3 + 2 * SECCOMP_CHECKS_MAX)
#define STATEMENTS_AROUND 16

struct program {
	struct sock_filter *list;
	unsigned short n;
};

static void statement(struct program *program, u16 code, u32 value)
{
	program->list[program->n++] = (struct sock_filter){.code = code, .k = value};
}

/* `yes` and `no` are the numbers of statements to skip. */
static void branch(struct program *program, u16 comparison, u32 value, u8 yes, u8 no)
{
	program->list[program->n++] = (struct sock_filter){
		.code = (u16)(BPF_JMP | comparison | BPF_K), .jt = yes, .jf = no, .k = value};
}

static void load(struct program *program, size_t offset)
{
	statement(program, BPF_LD | BPF_W | BPF_ABS, (u32)offset);
}

static void check(struct program *program, const struct seccomp_check *check, u8 to_refusal)
{
	/* Both architectures are little-endian: the lower half is at the lower address. */
	load(program, offsetof(struct seccomp_data, args) + check->argument * sizeof(u64));
	switch ((enum seccomp_condition)check->condition) {
	case SECCOMP_NOTHING:
	case SECCOMP_EQUAL:
		branch(program, BPF_JEQ, check->value, 0, to_refusal);
		break;
	case SECCOMP_ABOVE:
		branch(program, BPF_JGT, check->value, 0, to_refusal);
		break;
	case SECCOMP_WITHOUT:
		branch(program, BPF_JSET, check->value, to_refusal, 0);
		break;
	}
}

/* Before and after these statements, the accumulator holds the number of the call. */
static void permit(struct program *program, const struct seccomp_permission *permission)
{
	u8 n = 0;

	while (n < SECCOMP_CHECKS_MAX && permission->checks[n].condition != SECCOMP_NOTHING)
		n++;
	branch(program, BPF_JEQ, permission->call, 0, (u8)(n ? 2 * n + 2 : 1));
	for (u8 i = 0; i < n; i++)
		check(program, &permission->checks[i], (u8)(2 * (n - 1 - i) + 1));
	statement(program, BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	if (n)
		load(program, offsetof(struct seccomp_data, nr));
}

static void permit_all(struct program *program, const struct seccomp_permission *permissions, size_t n)
{
	for (size_t i = 0; i < n; i++)
		permit(program, &permissions[i]);
}

static void refuse(struct program *program, int error)
{
	statement(program, BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (u32)error);
}

int seccomp_allow(const struct seccomp_list *lists, size_t n)
{
	_cleanup_free_ struct sock_filter *statements = NULL;
	size_t room = STATEMENTS_AROUND + STATEMENTS_EACH * ARRAY_SIZE(of_any);
	struct program program = {0};
	struct sock_fprog all;

	for (size_t i = 0; i < n; i++)
		room += STATEMENTS_EACH * lists[i].n;
	if (room > BPF_MAXINSNS)
		return -E2BIG;
	statements = calloc(room, sizeof(*statements));
	if (!statements)
		return -ENOMEM;
	program.list = statements;
	load(&program, offsetof(struct seccomp_data, arch));
	branch(&program, BPF_JEQ, ARCHITECTURE, 1, 0);
	refuse(&program, EPERM);
	load(&program, offsetof(struct seccomp_data, nr));
	for (size_t i = 0; i < n; i++)
		permit_all(&program, lists[i].permissions, lists[i].n);
	permit_all(&program, of_any, ARRAY_SIZE(of_any));
	/* With ENOSYS, the C library falls back to another call. */
	branch(&program, BPF_JEQ, SYS_clone3, 0, 1);
	refuse(&program, ENOSYS);
	refuse(&program, EPERM);
	all = (struct sock_fprog){.len = program.n, .filter = program.list};
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &all, 0, 0) < 0 ? -errno : 0;
}
#else
int seccomp_allow(const struct seccomp_list *lists, size_t n)
{
	(void)lists;
	(void)n;
	return -EOPNOTSUPP;
}
#endif

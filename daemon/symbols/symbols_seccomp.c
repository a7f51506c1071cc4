// SPDX-License-Identifier: GPL-2.0
#include "symbols/symbols_seccomp.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
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

/* What must hold of an argument; of its lower half, as these calls take no more of it. */
enum condition {
	NOTHING,
	EQUAL,   /* argument == value */
	ABOVE,   /* argument > value */
	WITHOUT, /* no bit of value is set */
};

#define CHECKS_MAX 2

struct permission {
	u32 call;
	struct check {
		u8 argument;
		u8 condition;
		u32 value;
	} checks[CHECKS_MAX];
};

/* Several for a call: one of them must hold. */
static const struct permission for_reading[] = {
	{.call = SYS_read},
	{.call = SYS_readv},
	{.call = SYS_pread64},
	{.call = SYS_lseek},
	{SYS_openat, {{2, WITHOUT, O_ACCMODE | O_CREAT | O_TRUNC}}},
	/* Its flags lie in memory, where no filter looks. What root alone may write to is not root's file
	 * system id's to open (symbols_confine.c), and what is open is not written to. */
	{.call = SYS_openat2},
	{SYS_close, {{0, ABOVE, STDERR_FILENO}}},
	{.call = SYS_fstat},
	{.call = SYS_newfstatat},
	{.call = SYS_statx},
	{.call = SYS_statfs},
	{.call = SYS_fstatfs},
	{.call = SYS_faccessat},
	{.call = SYS_faccessat2},
	{.call = SYS_readlinkat},
	{.call = SYS_getdents64},
	{.call = SYS_getcwd},
	{.call = SYS_fadvise64},
	{SYS_fcntl, {{1, EQUAL, F_GETFD}}},
	{SYS_fcntl, {{1, EQUAL, F_SETFD}}},
	{SYS_fcntl, {{1, EQUAL, F_GETFL}}},
	{SYS_fcntl, {{1, EQUAL, F_SETFL}}},
	{SYS_fcntl, {{1, EQUAL, F_DUPFD_CLOEXEC}}},
	{.call = SYS_dup},
#ifdef __x86_64__
	{SYS_open, {{1, WITHOUT, O_ACCMODE | O_CREAT | O_TRUNC}}},
	{.call = SYS_stat},
	{.call = SYS_lstat},
	{.call = SYS_access},
	{.call = SYS_readlink},
	{.call = SYS_poll},
	{.call = SYS_time},
	{.call = SYS_arch_prctl},
#endif
	{.call = SYS_ppoll},
	{.call = SYS_recvfrom},
	{.call = SYS_recvmsg},
	{.call = SYS_sendto},
	{.call = SYS_sendmsg},
	{.call = SYS_getsockopt},
	/* Standard error alone: it is not closed, so that its number never is another file's. */
	{SYS_write, {{0, EQUAL, STDERR_FILENO}}},
	{SYS_writev, {{0, EQUAL, STDERR_FILENO}}},
	{.call = SYS_brk},
	/* A shared mapping would be written to behind write(); code is not made. */
	{SYS_mmap, {{2, WITHOUT, PROT_EXEC}, {3, WITHOUT, MAP_SHARED}}},
	{SYS_mprotect, {{2, WITHOUT, PROT_EXEC}}},
	{.call = SYS_munmap},
	{.call = SYS_mremap},
	{.call = SYS_madvise},
	{.call = SYS_futex},
	{.call = SYS_rseq},
	{.call = SYS_set_robust_list},
	{.call = SYS_restart_syscall},
	{.call = SYS_rt_sigaction},
	{.call = SYS_rt_sigprocmask},
	{.call = SYS_rt_sigreturn},
	{.call = SYS_sigaltstack},
	{.call = SYS_clock_gettime},
	{.call = SYS_clock_nanosleep},
	{.call = SYS_nanosleep},
	{.call = SYS_gettimeofday},
	{.call = SYS_getrandom},
	{.call = SYS_getpid},
	{.call = SYS_gettid},
	{.call = SYS_getppid},
	{.call = SYS_getuid},
	{.call = SYS_geteuid},
	{.call = SYS_getgid},
	{.call = SYS_getegid},
	{.call = SYS_uname},
	{.call = SYS_sysinfo},
	{.call = SYS_sched_yield},
	{.call = SYS_sched_getaffinity},
	{.call = SYS_getrusage},
	/* Asks for limits, sets none. */
	{SYS_prlimit64, {{2, EQUAL, 0}}},
	{.call = SYS_exit},
	{.call = SYS_exit_group},
#ifdef __SANITIZE_ADDRESS__
	{.call = SYS_write},
	{.call = SYS_mmap},
	{.call = SYS_mprotect},
	{.call = SYS_prctl},
	{.call = SYS_tgkill},
#endif
};

/* libcurl has threads, sockets and files. */
static const struct permission for_fetching[] = {
	{.call = SYS_socket},     {.call = SYS_socketpair},  {.call = SYS_connect},
	{.call = SYS_bind},       {.call = SYS_getsockname}, {.call = SYS_getpeername},
	{.call = SYS_setsockopt}, {.call = SYS_shutdown},    {.call = SYS_sendmmsg},
	{.call = SYS_recvmmsg},   {.call = SYS_pselect6},    {.call = SYS_epoll_create1},
	{.call = SYS_epoll_ctl},  {.call = SYS_epoll_pwait}, {.call = SYS_eventfd2},
	{.call = SYS_pipe2},      {.call = SYS_ioctl},       {.call = SYS_clone},
	{.call = SYS_mmap},       {.call = SYS_mprotect},    {.call = SYS_openat},
	{.call = SYS_close},      {.call = SYS_write},       {.call = SYS_writev},
	{.call = SYS_pwrite64},   {.call = SYS_ftruncate},   {.call = SYS_fsync},
	{.call = SYS_fchmod},     {.call = SYS_fchmodat},    {.call = SYS_fcntl},
	{.call = SYS_flock},      {.call = SYS_mkdirat},     {.call = SYS_unlinkat},
	{.call = SYS_renameat},   {.call = SYS_renameat2},   {.call = SYS_utimensat},
	{.call = SYS_umask},
#ifdef __x86_64__
	{.call = SYS_open},       {.call = SYS_mkdir},       {.call = SYS_rmdir},
	{.call = SYS_unlink},     {.call = SYS_rename},      {.call = SYS_chmod},
	{.call = SYS_utime},      {.call = SYS_utimes},      {.call = SYS_futimesat},
	{.call = SYS_select},     {.call = SYS_epoll_wait},  {.call = SYS_pipe},
#endif
};

#ifdef ARCHITECTURE
/* Of a permission at most 3 + 2 * CHECKS_MAX. */
#define STATEMENTS_MAX (16 + (3 + 2 * CHECKS_MAX) * (ARRAY_SIZE(for_reading) + ARRAY_SIZE(for_fetching)))

struct program {
	struct sock_filter list[STATEMENTS_MAX];
	unsigned short n;
};

static void statement(struct program *program, u16 code, u32 value)
{
	program->list[program->n++] = (struct sock_filter){.code = code, .k = value};
}

/* `yes`, `no`: statements to skip. */
static void branch(struct program *program, u16 comparison, u32 value, u8 yes, u8 no)
{
	program->list[program->n++] = (struct sock_filter){
		.code = (u16)(BPF_JMP | comparison | BPF_K), .jt = yes, .jf = no, .k = value};
}

static void load(struct program *program, size_t offset)
{
	statement(program, BPF_LD | BPF_W | BPF_ABS, (u32)offset);
}

static void check(struct program *program, const struct check *check, u8 to_refusal)
{
	/* Both architectures are little-endian: the lower half comes first. */
	load(program, offsetof(struct seccomp_data, args) + check->argument * sizeof(u64));
	switch ((enum condition)check->condition) {
	case NOTHING:
	case EQUAL:
		branch(program, BPF_JEQ, check->value, 0, to_refusal);
		break;
	case ABOVE:
		branch(program, BPF_JGT, check->value, 0, to_refusal);
		break;
	case WITHOUT:
		branch(program, BPF_JSET, check->value, to_refusal, 0);
		break;
	}
}

/* The call's number is what is loaded, before and after. */
static void permit(struct program *program, const struct permission *permission)
{
	u8 n = 0;

	while (n < CHECKS_MAX && permission->checks[n].condition != NOTHING)
		n++;
	branch(program, BPF_JEQ, permission->call, 0, (u8)(n ? 2 * n + 2 : 1));
	for (u8 i = 0; i < n; i++)
		check(program, &permission->checks[i], (u8)(2 * (n - 1 - i) + 1));
	statement(program, BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	if (n)
		load(program, offsetof(struct seccomp_data, nr));
}

static void refuse(struct program *program, int error)
{
	statement(program, BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (u32)error);
}

int symbols_seccomp(bool debuginfod)
{
	struct program program = {.n = 0};
	struct sock_fprog all;

	load(&program, offsetof(struct seccomp_data, arch));
	branch(&program, BPF_JEQ, ARCHITECTURE, 1, 0);
	refuse(&program, EPERM);
	load(&program, offsetof(struct seccomp_data, nr));
	for (size_t i = 0; i < ARRAY_SIZE(for_reading); i++)
		permit(&program, &for_reading[i]);
	for (size_t i = 0; debuginfod && i < ARRAY_SIZE(for_fetching); i++)
		permit(&program, &for_fetching[i]);
	/* The C library takes another call then. */
	branch(&program, BPF_JEQ, SYS_clone3, 0, 1);
	refuse(&program, ENOSYS);
	refuse(&program, EPERM);
	all = (struct sock_fprog){.len = program.n, .filter = program.list};
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &all, 0, 0) < 0 ? -errno : 0;
}
#else
int symbols_seccomp(bool debuginfod)
{
	(void)debuginfod;
	return -EOPNOTSUPP;
}
#endif

// SPDX-License-Identifier: GPL-2.0
#include "symbols/resolver/symbols_confine.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "child/confine.h"
#include "child/seccomp.h"

static const struct seccomp_permission for_reading[] = {
	{.call = SYS_readv},
	{.call = SYS_pread64},
	{SYS_openat, {{2, SECCOMP_WITHOUT, O_ACCMODE | O_CREAT | O_TRUNC}}},
	/*
	 * The flags of openat2(2) are in memory, which a seccomp filter cannot read. Without debuginfod, the
	 * file system user is nobody (symbols_confine()), so files that only root may write cannot be opened
	 * for writing. The filter then does not permit writing to open files either.
	 */
	{.call = SYS_openat2},
	/*
	 * Standard error must stay open: the filter permits writing to its number, which must never become
	 * another file.
	 */
	{SYS_close, {{0, SECCOMP_ABOVE, STDERR_FILENO}}},
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
	{SYS_fcntl, {{1, SECCOMP_EQUAL, F_GETFD}}},
	{SYS_fcntl, {{1, SECCOMP_EQUAL, F_SETFD}}},
	{SYS_fcntl, {{1, SECCOMP_EQUAL, F_SETFL}}},
	{SYS_fcntl, {{1, SECCOMP_EQUAL, F_DUPFD_CLOEXEC}}},
	{.call = SYS_dup},
#ifdef __x86_64__
	{SYS_open, {{1, SECCOMP_WITHOUT, O_ACCMODE | O_CREAT | O_TRUNC}}},
	{.call = SYS_stat},
	{.call = SYS_lstat},
	{.call = SYS_access},
	{.call = SYS_readlink},
	{.call = SYS_poll},
	{.call = SYS_time},
	{.call = SYS_arch_prctl},
#endif
	{.call = SYS_ppoll},
	{.call = SYS_recvmsg},
	{.call = SYS_sendmsg},
	{.call = SYS_getsockopt},
	{.call = SYS_rseq},
	{.call = SYS_set_robust_list},
	{.call = SYS_sigaltstack},
	{.call = SYS_clock_nanosleep},
	{.call = SYS_nanosleep},
	{.call = SYS_gettimeofday},
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
	/* Permit reading limits, not setting them. */
	{SYS_prlimit64, {{2, SECCOMP_EQUAL, 0}}},
};

/* libcurl uses threads, sockets and files. */
static const struct seccomp_permission for_fetching[] = {
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

/*
 * Permits only the system calls that the resolver makes, permanently. The resolver runs as root like pebsd,
 * so dropping capabilities restricts it only a little. It opens files, also those of processes and of kernel
 * settings, and must not write to them. A call that is not permitted fails with EPERM (clone3: ENOSYS).
 * `debuginfod` also permits the calls that fetch and store a file. Returns 0 or -errno. -EOPNOTSUPP: not
 * implemented for this architecture.
 */
static int filter_calls(bool debuginfod)
{
	const struct seccomp_list lists[] = {
		{for_reading, ARRAY_SIZE(for_reading)},
		{for_fetching, ARRAY_SIZE(for_fetching)},
	};

	return seccomp_allow(lists, debuginfod ? 2 : 1);
}

/* CAP_CHECKPOINT_RESTORE is for map_files (since Linux 5.9), CAP_SYSLOG for addresses in kallsyms. */
#define KEPT                                                              \
	(CONFINE_BIT(CAP_SYS_PTRACE) | CONFINE_BIT(CAP_DAC_READ_SEARCH) | \
	 CONFINE_BIT(CAP_CHECKPOINT_RESTORE) | CONFINE_BIT(CAP_SYSLOG))

static void set_limits(bool debuginfod)
{
#ifndef __SANITIZE_ADDRESS__
	confine_limit(RLIMIT_AS, SYMBOLS_CONFINE_SPACE);
	confine_limit(RLIMIT_DATA, SYMBOLS_CONFINE_DATA);
#endif
	confine_limit(RLIMIT_NOFILE, SYMBOLS_CONFINE_FILES);
	confine_limit(RLIMIT_CORE, 0);
	confine_limit(RLIMIT_FSIZE, debuginfod ? SYMBOLS_CONFINE_FETCH : 0);
	confine_limit(RLIMIT_MEMLOCK, 0);
	confine_limit(RLIMIT_MSGQUEUE, 0);
	if (!debuginfod)
		confine_limit(RLIMIT_NPROC, 0);
}

int symbols_confine(bool debuginfod)
{
	int r;

	confine_begin();
	if (!debuginfod)
		(void)unshare(CLONE_NEWNET);
	set_limits(debuginfod);
	/* With debuginfod, the resolver stores fetched files in a directory that belongs to root. */
	if (!debuginfod)
		confine_files_as_nobody();
	r = confine_capabilities(KEPT);
	if (r < 0)
		return r;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0)
		(void)filter_calls(debuginfod);
	return 0;
}

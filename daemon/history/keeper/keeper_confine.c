// SPDX-License-Identifier: GPL-2.0
#include "history/keeper/keeper_confine.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <sqlite3.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "child/confine.h"
#include "child/seccomp.h"

static const struct seccomp_permission allowed[] = {
	/* Messages, and answers in a memfd. */
	{.call = SYS_recvmsg},
	{.call = SYS_sendmsg},
	{.call = SYS_memfd_create},
	{.call = SYS_ppoll},
	/* SQLite's files. Landlock restricts the paths. */
	{.call = SYS_openat},
	/* Standard error must stay open, so that its number never becomes another file. */
	{SYS_close, {{0, SECCOMP_ABOVE, STDERR_FILENO}}},
	{SYS_write, {{0, SECCOMP_ABOVE, STDERR_FILENO}}},
	{.call = SYS_pread64},
	{.call = SYS_pwrite64},
	{.call = SYS_fsync},
	{.call = SYS_fdatasync},
	{.call = SYS_ftruncate},
	{.call = SYS_fallocate},
	{.call = SYS_fchown},
	{.call = SYS_fchmod},
	{.call = SYS_newfstatat},
	{.call = SYS_faccessat},
	{.call = SYS_faccessat2},
	{.call = SYS_readlinkat},
	{.call = SYS_unlinkat},
	{.call = SYS_renameat2},
	{.call = SYS_getdents64},
	{.call = SYS_getcwd},
	{SYS_fcntl, {{1, SECCOMP_EQUAL, F_SETLK}}},
	{SYS_fcntl, {{1, SECCOMP_EQUAL, F_GETLK}}},
	{SYS_fcntl, {{1, SECCOMP_EQUAL, F_GETFD}}},
	{SYS_fcntl, {{1, SECCOMP_EQUAL, F_SETFD}}},
	{SYS_fcntl, {{1, SECCOMP_EQUAL, F_ADD_SEALS}}},
	{SYS_fcntl, {{1, SECCOMP_EQUAL, F_GET_SEALS}}},
	/* The index of the write-ahead log is memory that it shares with other readers of the database. */
	{SYS_mmap, {{2, SECCOMP_WITHOUT, PROT_EXEC}}},
	{.call = SYS_geteuid},
	{.call = SYS_sysinfo}, /* qsort(3) */
	{.call = SYS_clock_nanosleep},
	{.call = SYS_nanosleep},
	{.call = SYS_gettimeofday},
#ifdef __x86_64__
	{.call = SYS_open},
	{.call = SYS_stat},
	{.call = SYS_lstat},
	{.call = SYS_access},
	{.call = SYS_readlink},
	{.call = SYS_unlink},
	{.call = SYS_rename},
	{.call = SYS_poll},
	{.call = SYS_time},
#else
	{.call = SYS_renameat},
#endif
};

#define ACCESS                                                                                        \
	(LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR | \
	 LANDLOCK_ACCESS_FS_REMOVE_FILE | LANDLOCK_ACCESS_FS_MAKE_REG)

/* All rights of the first version of Landlock. */
#define HANDLED                                                                                      \
	(ACCESS | LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_REMOVE_DIR |                       \
	 LANDLOCK_ACCESS_FS_MAKE_CHAR | LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_MAKE_SOCK | \
	 LANDLOCK_ACCESS_FS_MAKE_FIFO | LANDLOCK_ACCESS_FS_MAKE_BLOCK | LANDLOCK_ACCESS_FS_MAKE_SYM)

/* Restricts the process to files below the directory. Kernels without Landlock do not. */
static void restrict_files(const char *directory)
{
	const struct landlock_ruleset_attr handled = {.handled_access_fs = HANDLED};
	struct landlock_path_beneath_attr below = {.allowed_access = ACCESS};
	_cleanup_close_ int rules = (int)syscall(SYS_landlock_create_ruleset, &handled, sizeof(handled), 0);
	_cleanup_close_ int opened = open(directory, O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (rules < 0 || opened < 0)
		return;
	below.parent_fd = opened;
	if (syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &below, 0) == 0)
		(void)syscall(SYS_landlock_restrict_self, rules, 0);
}

static void set_limits(void)
{
#ifndef __SANITIZE_ADDRESS__
	confine_limit(RLIMIT_DATA, KEEPER_CONFINE_DATA);
#endif
	confine_limit(RLIMIT_NOFILE, KEEPER_CONFINE_FILES);
	confine_limit(RLIMIT_CORE, 0);
	confine_limit(RLIMIT_MEMLOCK, 0);
	confine_limit(RLIMIT_MSGQUEUE, 0);
	confine_limit(RLIMIT_NPROC, 0);
}

int keeper_confine(const char *directory)
{
	const struct seccomp_list list = {allowed, ARRAY_SIZE(allowed)};
	unsigned char seed;
	int r;

	/* SQLite seeds its random numbers now, because it reads the seed from a file. */
	if (sqlite3_initialize() != SQLITE_OK)
		return -ENOMEM;
	sqlite3_randomness(1, &seed);
	confine_begin();
	(void)prctl(PR_SET_PDEATHSIG, 0, 0, 0, 0);
	set_limits();
	r = confine_capabilities(0);
	if (r < 0)
		return r;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return -errno;
	restrict_files(directory);
	return seccomp_allow(&list, 1);
}

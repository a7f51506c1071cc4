// SPDX-License-Identifier: GPL-2.0
#include "symbols/symbols_confine.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "base/cleanup.h"
#include "pebsd/types.h"
#include "symbols/symbols_seccomp.h"

#define BIT(capability) (1ULL << (capability))

/* CAP_CHECKPOINT_RESTORE: map_files, since Linux 5.9. CAP_SYSLOG: addresses in kallsyms. */
#define KEPT (BIT(CAP_SYS_PTRACE) | BIT(CAP_DAC_READ_SEARCH) | BIT(CAP_CHECKPOINT_RESTORE) | BIT(CAP_SYSLOG))

/* What the kernel takes first where memory is short; pebsd itself is what is wanted then. */
#define OOM_SCORE "500"

#define NOBODY 65534

static void set_oom_score(void)
{
	_cleanup_close_ int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

	if (fd >= 0)
		(void)!write(fd, OOM_SCORE, strlen(OOM_SCORE));
}

/* A terminal's and the service manager's are for pebsd, with which it ends. */
static void ignore_signals(void)
{
	static const int ignored[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGTSTP, SIGPIPE, SIGXFSZ};

	for (size_t i = 0; i < ARRAY_SIZE(ignored); i++)
		(void)signal(ignored[i], SIG_IGN);
}

static void yield_to_others(void)
{
	const struct sched_param none = {0};

	(void)sched_setscheduler(0, SCHED_BATCH, &none);
	(void)setpriority(PRIO_PROCESS, 0, 10);
	set_oom_score();
}

static void set_limit(int resource, u64 most)
{
	struct rlimit limit;

	if (getrlimit((__rlimit_resource_t)resource, &limit) < 0)
		return;
	if (limit.rlim_max > most)
		limit.rlim_max = most;
	if (limit.rlim_cur > limit.rlim_max)
		limit.rlim_cur = limit.rlim_max;
	/* Descriptors: as many as it may have, whatever the usual number is. */
	if (resource == RLIMIT_NOFILE)
		limit.rlim_cur = limit.rlim_max;
	(void)setrlimit((__rlimit_resource_t)resource, &limit);
}

static void set_limits(bool debuginfod)
{
#ifndef __SANITIZE_ADDRESS__
	set_limit(RLIMIT_AS, SYMBOLS_CONFINE_SPACE);
	set_limit(RLIMIT_DATA, SYMBOLS_CONFINE_DATA);
#endif
	set_limit(RLIMIT_NOFILE, SYMBOLS_CONFINE_FILES);
	set_limit(RLIMIT_CORE, 0);
	set_limit(RLIMIT_FSIZE, debuginfod ? SYMBOLS_CONFINE_FETCH : 0);
	set_limit(RLIMIT_MEMLOCK, 0);
	set_limit(RLIMIT_MSGQUEUE, 0);
	if (!debuginfod)
		set_limit(RLIMIT_NPROC, 0);
}

static int drop_capabilities(void)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {0};

	/* Ends with the first number that is no capability; without CAP_SETPCAP with the first of all. */
	for (unsigned int i = 0; i < 64; i++)
		if (!(KEPT & BIT(i)) && prctl(PR_CAPBSET_DROP, i, 0, 0, 0) < 0)
			break;
	(void)prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	if (syscall(SYS_capget, &header, data) < 0)
		return -errno;
	for (unsigned int i = 0; i < _LINUX_CAPABILITY_U32S_3; i++) {
		data[i].permitted &= (u32)(KEPT >> (32 * i));
		data[i].effective = data[i].permitted;
		data[i].inheritable = 0;
	}
	return syscall(SYS_capset, &header, data) < 0 ? -errno : 0;
}

/* It reads files as nobody with CAP_DAC_READ_SEARCH, so that root's are not open to it for writing. Its other
 * ids stay, by which pebsd may kill it without CAP_KILL. */
static void leave_roots_files(void)
{
	(void)setgroups(0, NULL);
	(void)setfsgid(NOBODY);
	(void)setfsuid(NOBODY);
}

int symbols_confine(bool debuginfod)
{
	int r;

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	ignore_signals();
	(void)umask(077);
	(void)!chdir("/");
	yield_to_others();
	if (!debuginfod)
		(void)unshare(CLONE_NEWNET);
	set_limits(debuginfod);
	/* Nobody but root may look into it, nor does the kernel write what it holds to a file. */
	(void)prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	/* What is fetched is kept in a directory of root's. */
	if (!debuginfod)
		leave_roots_files();
	r = drop_capabilities();
	if (r < 0)
		return r;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0)
		(void)symbols_seccomp(debuginfod);
	return 0;
}

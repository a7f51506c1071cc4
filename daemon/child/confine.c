// SPDX-License-Identifier: GPL-2.0
#include "child/confine.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "base/cleanup.h"

/* If memory is short, the kernel should kill the child before pebsd. */
#define OOM_SCORE "500"

#define NOBODY 65534

static void set_oom_score(void)
{
	_cleanup_close_ int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

	if (fd >= 0)
		(void)!write(fd, OOM_SCORE, strlen(OOM_SCORE));
}

/* Signals of the terminal and the service manager are for pebsd. The child ends with pebsd. */
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

void confine_limit(int resource, u64 most)
{
	struct rlimit limit;

	if (getrlimit((__rlimit_resource_t)resource, &limit) < 0)
		return;
	if (limit.rlim_max > most)
		limit.rlim_max = most;
	if (limit.rlim_cur > limit.rlim_max)
		limit.rlim_cur = limit.rlim_max;
	/* Raise the soft limit of descriptors, whose default is usually lower. */
	if (resource == RLIMIT_NOFILE)
		limit.rlim_cur = limit.rlim_max;
	(void)setrlimit((__rlimit_resource_t)resource, &limit);
}

static void bind_to_parent(void)
{
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	/* Prevents ptrace by other users than root, and core dumps. */
	(void)prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
}

void confine_begin(void)
{
	ignore_signals();
	(void)umask(077);
	(void)!chdir("/");
	yield_to_others();
	bind_to_parent();
}

int confine_capabilities(u64 kept)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {0};

	/*
	 * Stops at the first number that is not a capability. Without CAP_SETPCAP, the first call fails
	 * already.
	 */
	for (unsigned int i = 0; i < 64; i++)
		if (!(kept & CONFINE_BIT(i)) && prctl(PR_CAPBSET_DROP, i, 0, 0, 0) < 0)
			break;
	(void)prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	if (syscall(SYS_capget, &header, data) < 0)
		return -errno;
	/* If nothing changes, do not call capset(2): the system call filter of a unit may not permit it. */
	if (!((data[0].permitted | data[0].inheritable) & ~(u32)kept) &&
	    !((data[1].permitted | data[1].inheritable) & ~(u32)(kept >> 32)) &&
	    data[0].effective == data[0].permitted && data[1].effective == data[1].permitted)
		return 0;
	for (unsigned int i = 0; i < _LINUX_CAPABILITY_U32S_3; i++) {
		data[i].permitted &= (u32)(kept >> (32 * i));
		data[i].effective = data[i].permitted;
		data[i].inheritable = 0;
	}
	return syscall(SYS_capset, &header, data) < 0 ? -errno : 0;
}

void confine_files_as_nobody(void)
{
	(void)setgroups(0, NULL);
	(void)setfsgid(NOBODY);
	(void)setfsuid(NOBODY);
	/* The change of the file system user has reset what this sets (commit_creds(), kernel/cred.c, Linux 6.1). */
	bind_to_parent();
}

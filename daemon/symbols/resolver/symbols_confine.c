// SPDX-License-Identifier: GPL-2.0
#include "symbols/resolver/symbols_confine.h"

#include <linux/capability.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include "child/confine.h"
#include "symbols/resolver/symbols_seccomp.h"

/* CAP_CHECKPOINT_RESTORE: map_files, since Linux 5.9. CAP_SYSLOG: addresses in kallsyms. */
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
	/* What is fetched is kept in a directory of root's. */
	if (!debuginfod)
		confine_files_as_nobody();
	r = confine_capabilities(KEPT);
	if (r < 0)
		return r;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0)
		(void)symbols_seccomp(debuginfod);
	return 0;
}

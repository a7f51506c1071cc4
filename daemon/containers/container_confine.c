// SPDX-License-Identifier: GPL-2.0
#include "containers/container_confine.h"

#include <errno.h>
#include <fcntl.h>
#include <json-c/json.h>
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "child/confine.h"
#include "child/seccomp.h"

static const struct seccomp_permission allowed[] = {
	{SYS_openat, {{2, SECCOMP_WITHOUT, O_ACCMODE | O_CREAT | O_TRUNC}}},
	/*
	 * The flags of openat2(2) are in memory, which a seccomp filter cannot read. The file system user is
	 * nobody (container_confine()), so files that only root may write cannot be opened for writing. write(2)
	 * is allowed only to standard error.
	 */
	{.call = SYS_openat2},
	/* Standard error cannot be closed, so its number never belongs to a file that write(2) could change. */
	{SYS_close, {{0, SECCOMP_ABOVE, STDERR_FILENO}}},
	{.call = SYS_newfstatat},
	{.call = SYS_getdents64},
	/* used by fdopendir(3) */
	{SYS_fcntl, {{1, SECCOMP_EQUAL, F_SETFD}}},
};

static void set_limits(void)
{
#ifndef __SANITIZE_ADDRESS__
	confine_limit(RLIMIT_AS, CONTAINER_CONFINE_SPACE);
	confine_limit(RLIMIT_DATA, CONTAINER_CONFINE_DATA);
#endif
	confine_limit(RLIMIT_NOFILE, CONTAINER_CONFINE_FILES);
	confine_limit(RLIMIT_CORE, 0);
	confine_limit(RLIMIT_FSIZE, 0);
	confine_limit(RLIMIT_MEMLOCK, 0);
	confine_limit(RLIMIT_MSGQUEUE, 0);
	confine_limit(RLIMIT_NPROC, 0);
}

int container_confine(void)
{
	const struct seccomp_list list = {allowed, ARRAY_SIZE(allowed)};
	int r;

	/* Makes json-c choose its hash seed now, because json-c may read the seed from a file. */
	json_object_put(json_object_new_object());
	confine_begin();
	set_limits();
	confine_files_as_nobody();
	r = confine_capabilities(CONFINE_BIT(CAP_DAC_READ_SEARCH));
	if (r < 0)
		return r;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return -errno;
	return seccomp_allow(&list, 1);
}

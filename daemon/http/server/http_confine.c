// SPDX-License-Identifier: GPL-2.0
#include "http/server/http_confine.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>

#include "base/cleanup.h"
#include "child/confine.h"
#include "child/seccomp.h"

static const struct seccomp_permission always[] = {
	{.call = SYS_accept4},      {.call = SYS_recvmsg},
	{.call = SYS_sendfile},     {.call = SYS_getsockname},
	{.call = SYS_getsockopt},   {.call = SYS_pread64},
	{.call = SYS_close},        {SYS_fcntl, {{1, SECCOMP_EQUAL, F_GETFD}}},
	{.call = SYS_epoll_ctl},    {.call = SYS_epoll_pwait},
#ifdef __x86_64__
	{.call = SYS_epoll_wait},   {.call = SYS_poll},
	{.call = SYS_time},
#endif
	{.call = SYS_ppoll},        {.call = SYS_timerfd_settime},
	{.call = SYS_gettimeofday},
};

/*
 * Permits the call only for descriptors after the last listener: connections, and those that the process
 * made.
 */
#define OF_ITS_OWN(call, last)                           \
	{                                                \
		(call),                                  \
		{                                        \
			{                                \
				0, SECCOMP_ABOVE, (last) \
			}                                \
		}                                        \
	}

static int allow(u32 last_listener, bool any_local)
{
	const struct seccomp_permission of_its_own[] = {
		OF_ITS_OWN(SYS_shutdown, last_listener),
		OF_ITS_OWN(SYS_setsockopt, last_listener),
		OF_ITS_OWN(SYS_write, last_listener),
		OF_ITS_OWN(SYS_writev, last_listener),
		{SYS_fcntl, {{0, SECCOMP_ABOVE, last_listener}, {1, SECCOMP_EQUAL, F_SETFL}}},
		{SYS_fcntl, {{0, SECCOMP_ABOVE, last_listener}, {1, SECCOMP_EQUAL, F_DUPFD_CLOEXEC}}},
	};
	/*
	 * TCP cannot pass on descriptors, so sendmsg() is harmless there. Without it, the library could not
	 * answer malformed requests, and would only close their connections.
	 */
	static const struct seccomp_permission to_other_machines[] = {{.call = SYS_sendmsg}};
	const struct seccomp_list lists[] = {
		{always, ARRAY_SIZE(always)},
		{of_its_own, ARRAY_SIZE(of_its_own)},
		{to_other_machines, ARRAY_SIZE(to_other_machines)},
	};

	return seccomp_allow(lists, any_local ? 2 : 3);
}

static void set_limits(void)
{
#ifndef __SANITIZE_ADDRESS__
	confine_limit(RLIMIT_AS, HTTP_CONFINE_SPACE);
	confine_limit(RLIMIT_DATA, HTTP_CONFINE_DATA);
#endif
	confine_limit(RLIMIT_NOFILE, HTTP_CONFINE_FILES);
	confine_limit(RLIMIT_CORE, 0);
	confine_limit(RLIMIT_FSIZE, 0);
	confine_limit(RLIMIT_MEMLOCK, 0);
	confine_limit(RLIMIT_MSGQUEUE, 0);
	confine_limit(RLIMIT_NPROC, 0);
}

int http_confine(int last_listener, bool any_local)
{
	int r;

	/* Make the C library read its files now, while it still can. */
	tzset();
	(void)strerror(EPERM);
	confine_begin();
	set_limits();
	confine_files_as_nobody();
	r = confine_capabilities(0);
	if (r < 0)
		return r;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return -errno;
	return allow((u32)last_listener, any_local);
}

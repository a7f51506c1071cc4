// SPDX-License-Identifier: GPL-2.0
#include "origin/perf/perf_backend.h"

#include <errno.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "origin/opener/opener_client.h"
#include "origin/opener/opener_socket.h"

/* All threads share this, because all of them open events in the same way. */
static bool by_opener;

static int open_directly(const struct perf_event_attr *attr, int of, int cpu, int group_fd,
			 unsigned long flags)
{
	long fd = syscall(SYS_perf_event_open, attr, of, cpu, group_fd, flags | PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : (int)fd;
}

/* An event of the calling thread may need fewer rights than others, so that it says nothing about them. */
static void note_backend(const struct opener_request *request, bool opener)
{
	if (request->target != OPENER_THREAD)
		__atomic_store_n(&by_opener, opener, __ATOMIC_RELAXED);
}

static int open_event(struct opener_request *request, int of, unsigned long flags, int group_fd)
{
	int fds[OPENER_FDS_MAX];
	size_t n = 0;
	int first = open_directly(&request->attr, of, request->cpu, group_fd, flags);
	int r;

	if (first >= 0)
		note_backend(request, false);
	if (first != -EACCES && first != -EPERM)
		return first;
	request->has_group = group_fd >= 0;
	if (group_fd >= 0)
		fds[n++] = group_fd;
	if (request->target == OPENER_CGROUP)
		fds[n++] = of;
	r = opener_client_open(request, fds);
	if (r >= 0)
		note_backend(request, true);
	return r == -ENOTCONN ? first : r;
}

int perf_backend_cpu(const struct perf_event_attr *attr, int cpu, int group_fd)
{
	struct opener_request request = {.target = OPENER_CPU, .cpu = cpu, .thread = -1, .attr = *attr};

	return open_event(&request, -1, 0, group_fd);
}

int perf_backend_cgroup(const struct perf_event_attr *attr, int cgroup_fd, int cpu, int group_fd)
{
	struct opener_request request = {.target = OPENER_CGROUP, .cpu = cpu, .thread = -1, .attr = *attr};

	return open_event(&request, cgroup_fd, PERF_FLAG_PID_CGROUP, group_fd);
}

int perf_backend_thread(const struct perf_event_attr *attr, int group_fd)
{
	struct opener_request request = {
		.target = OPENER_THREAD, .cpu = -1, .thread = gettid(), .attr = *attr};

	return open_event(&request, 0, 0, group_fd);
}

bool perf_backend_by_opener(void)
{
	return __atomic_load_n(&by_opener, __ATOMIC_RELAXED);
}

bool perf_backend_may_mend(int error)
{
	char reason[OPENER_REASON_MAX];
	enum opener_trouble trouble;

	if (error == -ENOMEM || error == -ENFILE || error == -EBUSY || error == -EAGAIN)
		return true;
	if (error != -EACCES && error != -EPERM)
		return false;
	trouble = opener_client_trouble(reason);
	return trouble == OPENER_GONE || trouble == OPENER_SILENT || trouble == OPENER_GARBLED;
}

static const char *trouble_text(enum opener_trouble trouble)
{
	switch (trouble) {
	case OPENER_NO_SOCKET:
		return "pebsd-opener does not listen on " OPENER_SOCKET "; run systemctl start "
		       "pebsd-opener.socket";
	case OPENER_NOT_OURS:
		return "pebsd-opener serves only root and the user pebsd";
	case OPENER_GONE:
		return "pebsd-opener closed the connection; see journalctl -u pebsd-opener.service";
	case OPENER_SILENT:
		return "pebsd-opener did not answer in time; see systemctl status pebsd-opener.service";
	case OPENER_GARBLED:
		return "pebsd and pebsd-opener have different versions; run systemctl restart pebsd-opener.service pebsd.service";
	case OPENER_REFUSED:
		return "pebsd-opener refuses the event: ";
	case OPENER_WELL:
		break;
	}
	return "";
}

void perf_backend_trouble(char ret[PERF_BACKEND_TROUBLE_MAX])
{
	char reason[OPENER_REASON_MAX];
	const enum opener_trouble trouble = opener_client_trouble(reason);

	(void)snprintf(ret, PERF_BACKEND_TROUBLE_MAX, "%s%s", trouble_text(trouble), reason);
}

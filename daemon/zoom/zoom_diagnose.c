// SPDX-License-Identifier: GPL-2.0
#include "zoom_diagnose.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"

/* ID:CONTROLLER[,CONTROLLER...]:PATH; the default hierarchy's has none. */
static bool line_has_perf_event(char *line)
{
	char *rest = line;
	char *controllers;

	(void)strsep(&rest, ":");
	controllers = strsep(&rest, ":");
	while (controllers) {
		const char *one = strsep(&controllers, ",");

		if (strcmp(one, "perf_event") == 0)
			return true;
	}
	return false;
}

bool zoom_facts_v1(const char *self_cgroup)
{
	_cleanup_free_ char *text = strdup(self_cgroup);
	char *rest = text;
	char *line;

	while ((line = strsep(&rest, "\n")))
		if (line_has_perf_event(line))
			return true;
	return false;
}

bool zoom_facts_gone(int cgroup_fd)
{
	return faccessat(cgroup_fd, "cgroup.procs", F_OK, 0) < 0 && errno == ENOENT;
}

void zoom_facts_gather(int cgroup_fd, struct zoom_facts *ret)
{
	_cleanup_fclose_ FILE *file = fopen("/proc/self/cgroup", "re");
	char text[16384] = "";

	if (file)
		text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
	*ret = (struct zoom_facts){
		.v1 = zoom_facts_v1(text),
		.gone = zoom_facts_gone(cgroup_fd),
	};
	perf_door_trouble(ret->opener);
}

static const char *advice(int error, const struct event *event)
{
	switch (error) {
	case -EBADF:
		return "that is no directory of a cgroup file system";
	case -ENOENT:
		return "this kernel tells cgroups not apart in perf events (CONFIG_CGROUP_PERF, "
		       "cgroup_disable=), or has no such event";
	case -EMFILE:
	case -ENFILE:
		return "a zoom takes one or two file descriptors a CPU: raise LimitNOFILE= of the unit";
	case -EACCES:
	case -EPERM:
		return "that takes root, or CAP_PERFMON; with kernel.perf_event_paranoid above 2, as on "
		       "Debian, CAP_SYS_ADMIN";
	case -EBUSY:
		return "something else holds the counter that the event needs";
	case -EINVAL:
		return strncmp(event->pmu, "ibs_", 4) == 0
			       ? "before 6.2 Linux opens instruction based sampling for no single cgroup"
			       : "this kernel or CPU takes no such event for a single cgroup";
	case -EOPNOTSUPP:
		return "this CPU, or the virtual machine, has no such event";
	default:
		return "another try may do";
	}
}

int zoom_diagnose_open(int error, const struct event *event, int cpu, const struct zoom_facts *facts,
		       char **ret_message)
{
	const char *role = event_role_name(event->role);
	int n;

	if (facts->v1 && (error == -ENOENT || error == -EBADF || error == -EINVAL)) {
		n = asprintf(ret_message,
			     "perf_event is a controller of a cgroup v1 hierarchy here, so the "
			     "kernel opens events for cgroups of that one alone; leave perf_event out of "
			     "the v1 mounts, or boot with systemd.unified_cgroup_hierarchy=1");
		error = -EOPNOTSUPP;
	} else if (facts->gone && error == -ENOENT) {
		n = asprintf(ret_message, "the cgroup is gone");
		error = -ENOENT;
	} else {
		const bool opener = (error == -EACCES || error == -EPERM) && facts->opener[0] != '\0';

		n = asprintf(ret_message, "cannot open %s%s%s on CPU %d for the cgroup: %s; %s%s%s", role,
			     *event->pmu ? " of PMU " : "", event->pmu, cpu, strerror(-error),
			     advice(error, event), opener ? "; " : "", opener ? facts->opener : "");
		/* That is the kernel's, and no cgroup that is not there. */
		if (error == -ENOENT)
			error = -EOPNOTSUPP;
	}
	if (n < 0)
		*ret_message = NULL;
	return error;
}

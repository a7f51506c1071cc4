// SPDX-License-Identifier: GPL-2.0
#include "zoom/zoom_diagnose.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/text_file.h"
#include "cgroup/mount.h"

/* A line is ID:CONTROLLER[,CONTROLLER...]:PATH. The line of the default hierarchy names no controller. */
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

static bool has_word(const char *words, const char *word)
{
	const size_t length = strlen(word);

	for (const char *at = words; (at = strstr(at, word)); at += length)
		if ((at == words || at[-1] == ' ') && (at[length] == ' ' || at[length] == '\0'))
			return true;
	return false;
}

void zoom_facts_enable(const char *mount, const char *controllers, const char *enabled,
		       char ret[static ZOOM_ENABLE_MAX])
{
	/* Prefer pids, the controller that costs tasks least. */
	const char *controller = has_word(controllers, "pids") ? "pids" : controllers;
	int n;

	ret[0] = '\0';
	if (*enabled || !*controller)
		return;
	n = snprintf(ret, ZOOM_ENABLE_MAX, "echo +%.*s > %s/cgroup.subtree_control",
		     (int)strcspn(controller, " "), controller, mount);
	if (n >= ZOOM_ENABLE_MAX)
		ret[0] = '\0';
}

static int read_root(const char *mount, const char *file, char **ret)
{
	_cleanup_free_ char *path = NULL;

	if (asprintf(&path, "%s/%s", mount, file) < 0) {
		path = NULL;
		return -ENOMEM;
	}
	return text_file_read(path, ret);
}

static void gather_controllers(struct zoom_facts *facts)
{
	_cleanup_free_ char *mount = NULL;
	_cleanup_free_ char *controllers = NULL;
	_cleanup_free_ char *enabled = NULL;
	bool subtree;

	if (cgroup_mount_find(&mount, &subtree) == 0 && !subtree &&
	    read_root(mount, "cgroup.controllers", &controllers) == 0 &&
	    read_root(mount, "cgroup.subtree_control", &enabled) == 0)
		zoom_facts_enable(mount, controllers, enabled, facts->enable);
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
	gather_controllers(ret);
	perf_backend_trouble(ret->opener);
}

static const char *advice(int error, const struct event *event)
{
	switch (error) {
	case -EBADF:
		return "the cgroup's path is not a directory of a cgroup file system";
	case -ENOENT:
		return "the controller perf_event is disabled (cgroup_disable= on the kernel command line), "
		       "or this kernel does not have this event";
	case -EMFILE:
		return "a zoom needs one file descriptor per CPU and event, and one more if the event needs a "
		       "leader: raise LimitNOFILE= of the unit";
	case -ENFILE:
		return "the machine is out of file descriptors: raise fs.file-max with sysctl";
	case -EACCES:
	case -EPERM:
		return "pebsd needs root, or CAP_PERFMON; if kernel.perf_event_paranoid is above 2, the "
		       "kernels of Debian and some other distributions require CAP_SYS_ADMIN";
	case -EBUSY:
		return "the counters are reserved by the firmware, the hypervisor, or another profiler; look for "
		       "\"PMU\" in the kernel log, and stop the other user";
	case -EINVAL:
		return strncmp(event->pmu, "ibs_", 4) == 0
			       ? "Linux before 6.2 cannot use instruction based sampling for a single "
				 "cgroup"
			       : "this kernel is built without CONFIG_CGROUP_PERF, or the CPU does not "
				 "support this event for a single cgroup";
	case -EOPNOTSUPP:
		return "this CPU, or the virtual machine, does not have this event";
	default:
		return "try again";
	}
}

int zoom_diagnose_open(int error, const struct event *event, int cpu, const struct zoom_facts *facts,
		       char **ret_message)
{
	const char *role = event_role_name(event->role);
	int n;

	if (facts->v1 && (error == -ENOENT || error == -EBADF || error == -EINVAL)) {
		n = asprintf(ret_message,
			     "the controller perf_event belongs to a cgroup v1 hierarchy here, so the "
			     "kernel opens events only for cgroups of that hierarchy; remove perf_event "
			     "from the v1 mounts, or boot with systemd.unified_cgroup_hierarchy=1");
		error = -EOPNOTSUPP;
	} else if (facts->gone && error == -ENOENT) {
		n = asprintf(ret_message, "the cgroup is gone");
		error = -ENOENT;
	} else if (facts->enable[0] && error == -ENOENT) {
		n = asprintf(ret_message,
			     "the cgroup does not have the perf_event controller: Linux adds it when the "
			     "first controller is enabled below the root of the cgroup2 hierarchy, and "
			     "none is enabled; enable one: %s",
			     facts->enable);
		error = -EOPNOTSUPP;
	} else {
		const bool opener = (error == -EACCES || error == -EPERM) && facts->opener[0] != '\0';

		n = asprintf(ret_message, "cannot open the event %s%s%s, CPU %d, for the cgroup: %s; %s%s%s",
			     role, *event->pmu ? " on PMU " : "", event->pmu, cpu, strerror(-error),
			     advice(error, event), opener ? "; " : "", opener ? facts->opener : "");
		/* Here -ENOENT means that the kernel lacks support. The cgroup itself exists. */
		if (error == -ENOENT)
			error = -EOPNOTSUPP;
	}
	if (n < 0)
		*ret_message = NULL;
	return error;
}

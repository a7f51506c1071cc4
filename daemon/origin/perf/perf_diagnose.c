// SPDX-License-Identifier: GPL-2.0
#include "origin/perf/perf_diagnose.h"

#include <errno.h>
#include <linux/capability.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/descriptor_limit.h"

#define REPLAY "or look at recordings with pebsd --replay FILE"

/* The capability that opening a CPU-wide event requires. */
enum privilege {
	PRIVILEGE_NONE,    /* kernel.perf_event_paranoid is 0 or less: perf_allow_cpu, kernel/events/core.c */
	PRIVILEGE_PERFMON, /* CAP_PERFMON */
	PRIVILEGE_ADMIN,   /* CAP_SYS_ADMIN, if above 2 on a kernel with Debian's patch */
	PRIVILEGE_ADMIN_UBUNTU, /* the same, if 4 or above with Ubuntu's patch (PERF_SECURITY_MAX) */
	PRIVILEGE_ADMIN_MAYBE,  /* the same, if it is not known whether the kernel has a patch */
};

static enum privilege privilege_needed(const struct perf_facts *facts)
{
	if (facts->paranoid_known && facts->paranoid <= 0)
		return PRIVILEGE_NONE;
	if (!facts->paranoid_known || facts->paranoid <= 2)
		return PRIVILEGE_PERFMON;
	if (facts->ubuntu_kernel && facts->paranoid >= 4)
		return PRIVILEGE_ADMIN_UBUNTU;
	return facts->debian_kernel ? PRIVILEGE_ADMIN : PRIVILEGE_ADMIN_MAYBE;
}

static bool has_privilege(const struct perf_facts *facts, enum privilege needed)
{
	if (needed == PRIVILEGE_NONE)
		return true;
	if (!facts->capabilities_known)
		return false;
	if (perf_facts_capable(facts, CAP_SYS_ADMIN))
		return true;
	return needed == PRIVILEGE_PERFMON && perf_facts_capable(facts, CAP_PERFMON);
}

/* Formats a string, so that every reason is allocated, even one without arguments. */
static char *text(const char *format, ...) __attribute__((format(printf, 1, 2)));
static char *text(const char *format, ...)
{
	va_list arguments;
	char *made;

	va_start(arguments, format);
	if (vasprintf(&made, format, arguments) < 0)
		made = NULL;
	va_end(arguments);
	return made;
}

static char *reason_of_rights(int error, const struct perf_facts *facts)
{
	enum privilege needed = privilege_needed(facts);

	if (needed != PRIVILEGE_NONE && facts->user_namespace)
		return text("this process runs in a user namespace (a rootless container?), whose "
			    "capabilities do "
			    "not count for CPU-wide events. Run pebsd outside of it, " REPLAY);
	if (!has_privilege(facts, needed)) {
		if (needed == PRIVILEGE_ADMIN)
			return text("kernel.perf_event_paranoid is %d, and above 2 Debian's kernel demands "
				    "CAP_SYS_ADMIN; "
				    "CAP_PERFMON is not enough. Run pebsd as root, or set "
				    "kernel.perf_event_paranoid=2 with sysctl and give it CAP_PERFMON and "
				    "CAP_BPF",
				    facts->paranoid);
		if (needed == PRIVILEGE_ADMIN_UBUNTU)
			return text("kernel.perf_event_paranoid is %d, and from 4 on Ubuntu's kernel demands "
				    "CAP_SYS_ADMIN; CAP_PERFMON may not be enough. Run pebsd as root, or set "
				    "kernel.perf_event_paranoid=2 with sysctl and give it CAP_PERFMON and "
				    "CAP_BPF",
				    facts->paranoid);
		if (needed == PRIVILEGE_ADMIN_MAYBE)
			return text("kernel.perf_event_paranoid is %d, and this process has not "
				    "CAP_SYS_ADMIN, which "
				    "some distributions' kernels then demand. Run pebsd as root, or set "
				    "kernel.perf_event_paranoid=2 with sysctl and give it CAP_PERFMON and "
				    "CAP_BPF",
				    facts->paranoid);
		if (facts->paranoid_known)
			return text("kernel.perf_event_paranoid is %d, and this process has neither "
				    "CAP_PERFMON nor "
				    "CAP_SYS_ADMIN. Run pebsd as root, or give it CAP_PERFMON and CAP_BPF",
				    facts->paranoid);
		return text("this process has neither CAP_PERFMON nor CAP_SYS_ADMIN. Run pebsd as root, or "
			    "give it "
			    "CAP_PERFMON and CAP_BPF");
	}
	if (facts->seccomp_filter && error == -EPERM)
		return text(
			"the privileges suffice, but a seccomp filter is on this process and may refuse "
			"perf_event_open. Allow it: in a container with --security-opt seccomp=PROFILE, in a "
			"systemd unit with SystemCallFilter=perf_event_open bpf");
	return text(
		"the privileges suffice, so a security module (SELinux, AppArmor) or a container's rules "
		"refuse "
		"it. Look for the denial in the kernel's and the audit log, and allow perf_event to pebsd");
}

/* Adds the reason why pebsd-opener failed, which was tried too. */
static char *reason_of_permission(int error, const struct perf_facts *facts)
{
	_cleanup_free_ char *rights = reason_of_rights(error, facts);

	if (!rights || facts->opener[0] == '\0' || facts->user_namespace)
		return TAKE_PTR(rights);
	return text("%s. Otherwise: %s", rights, facts->opener);
}

static char *reason_of_precision(const struct perf_facts *facts)
{
	if (facts->hypervisor)
		return text("this is a virtual machine%s. Give the guest a virtual PMU with PEBS (KVM on Ice "
			    "Lake "
			    "servers and later: -cpu host,pmu=on), run pebsd on the host, " REPLAY,
			    facts->max_precise_known && facts->max_precise == 0
				    ? " whose virtual PMU has no PEBS (caps/max_precise is 0)"
				    : ", and its virtual PMU does not have the PEBS that this event needs");
	if (facts->microcode && facts->microcode < facts->microcode_wanted)
		return text("this Sandy Bridge has microcode %#x, and below %#x the kernel switches PEBS off "
			    "for the CPU's errata. Update the microcode (Debian: intel-microcode, Fedora and "
			    "Red Hat: microcode_ctl); the kernel needs no restart where it loads it late",
			    facts->microcode, facts->microcode_wanted);
	if (facts->max_precise_known && facts->max_precise == 0)
		return text(
			"the kernel has no PEBS in use (caps/max_precise is 0): this CPU lacks it, or its "
			"microcode is too old and the kernel switched it off. Update the microcode and look "
			"at the "
			"kernel's log for \"PEBS\"");
	return text(
		"the PMU does not offer this precision, or a virtual machine with a PMU of its own keeps the "
		"counters. Look at the kernel's log, and at caps/max_precise of the PMU");
}

#define SECCOMP_REMEDY                                                                \
	"in a container with --security-opt seccomp=PROFILE, in a systemd unit with " \
	"SystemCallFilter=perf_event_open bpf"

/* The reason for -ENOSYS. */
static char *reason_of_no_call(const struct perf_facts *facts)
{
	if (facts->seccomp_filter)
		return text("a seccomp filter is on this process and hides perf_event_open. Allow "
			    "it: " SECCOMP_REMEDY);
	return text("this kernel is built without CONFIG_PERF_EVENTS. Run one that has it, " REPLAY);
}

static char *reason_of_open(int error, const struct pmu_opening *opening, const struct perf_facts *facts)
{
	switch (error) {
	case -EACCES:
	case -EPERM:
		return reason_of_permission(error, facts);
	case -ENOSYS:
		return reason_of_no_call(facts);
	case -ENOENT:
		if (facts->has_core_pmu)
			return text("the kernel has no such PMU or event on this CPU. On a hybrid CPU a PMU "
				    "has only "
				    "the CPUs in its file `cpus`");
		return facts->hypervisor ? text("this is a virtual machine without a virtual PMU. Give the "
						"guest one with PEBS "
						"(KVM on Ice Lake servers and later: -cpu host,pmu=on), run "
						"pebsd on the host, " REPLAY)
					 : text("the kernel has no core PMU (there is no "
						"/sys/bus/event_source/devices/cpu): it does "
						"not know this CPU. A newer kernel may; look in its log for "
						"\"Performance Events\"");
	case -EOPNOTSUPP:
		return reason_of_precision(facts);
	case -EMFILE:
	case -ENFILE:
		return text("too few file descriptors: one is needed for each event and CPU%s. Raise %s",
			    opening->has_leader ? ", and one for its leader" : "",
			    error == -EMFILE ? "LimitNOFILE= of the unit (ulimit -n)"
					     : "fs.file-max with sysctl");
	case -ENODEV:
		return text("the CPU went offline. It is sampled again once it is back");
	case -EBUSY:
		return text(
			"somebody else holds the counters for itself: firmware, the hypervisor, or another "
			"profiler. Look in the kernel's log for \"PMU\", and stop the other one");
	case -ENODATA:
		return text("the CPU's load latency event wants an auxiliary event as leader of its group, "
			    "and the "
			    "kernel did not take the one offered. Please report this with the output of "
			    "pebsd --probe");
	case -EINVAL:
		return text("the kernel refuses these attributes: an ldlat (%u) that this CPU does not take, "
			    "or a "
			    "combination that no counter can run. Please report this with the output of "
			    "pebsd --probe",
			    opening->event.ldlat);
	case -ENOMEM:
		return text("out of kernel memory");
	default:
		return text("not a cause that pebsd knows. Look in the kernel's log");
	}
}

static char *message(const char *what, int error, const struct pmu_opening *opening, int cpu, char *reason)
{
	_cleanup_free_ char *owned = reason;

	if (!owned)
		return NULL;
	return text("cannot %s %s on PMU %s, CPU %d (type %u, config %#llx, config1 %#llx, precise_ip %u): "
		    "%s: %s",
		    what, event_role_name(opening->event.role), opening->event.pmu, cpu, opening->type,
		    (unsigned long long)opening->config, (unsigned long long)opening->config1,
		    opening->precise_ip, strerror(-error), owned);
}

char *perf_diagnose_open(int error, const struct pmu_opening *opening, int cpu,
			 const struct perf_facts *facts)
{
	return message("open", error, opening, cpu, reason_of_open(error, opening, facts));
}

static char *reason_of_attach(int error, const struct perf_facts *facts)
{
	switch (error) {
	case -EEXIST:
		return text("another BPF program is already attached to this event");
	case -EACCES:
	case -EPERM:
		return reason_of_permission(error, facts);
	case -EPROTO:
		return text("the program wants stacks, and the event records none. Please report this");
	case -EINVAL:
		return text("the kernel refuses the program for this event: built without CONFIG_BPF_EVENTS, "
			    "or for "
			    "another kind of event");
	default:
		return text("not a cause that pebsd knows. Look in the kernel's log");
	}
}

char *perf_diagnose_attach(int error, const struct pmu_opening *opening, int cpu,
			   const struct perf_facts *facts)
{
	return message("attach the BPF program to", error, opening, cpu, reason_of_attach(error, facts));
}

static bool may_load_bpf(const struct perf_facts *facts)
{
	if (perf_facts_capable(facts, CAP_SYS_ADMIN))
		return true;
	return perf_facts_capable(facts, CAP_BPF) && perf_facts_capable(facts, CAP_PERFMON);
}

int perf_diagnose_bpf(const struct perf_facts *facts, char **ret)
{
	*ret = NULL;
	if (!facts->has_btf)
		*ret = text("cannot load the BPF programs: /sys/kernel/btf/vmlinux cannot be read, so the "
			    "kernel's types "
			    "are not known. Run a kernel built with CONFIG_DEBUG_INFO_BTF (every current "
			    "distribution's "
			    "is), and in a container mount /sys");
	else if (facts->user_namespace)
		*ret = text("cannot load the BPF programs: this process runs in a user namespace (a rootless "
			    "container?), whose capabilities do not count for them. Run pebsd outside of "
			    "it, " REPLAY);
	else if (facts->capabilities_known && !may_load_bpf(facts))
		*ret = text("cannot load the BPF programs: this process has not CAP_BPF and CAP_PERFMON (nor "
			    "CAP_SYS_ADMIN). Run pebsd as root, or give it both");
	else
		return 0;
	return *ret ? 0 : -ENOMEM;
}

int perf_diagnose_remark(const struct perf_facts *facts, char **ret)
{
	*ret = NULL;
	if (!facts->lockdown_confidential)
		return 0;
	*ret = text("the kernel is locked down (confidentiality): reading samples needs "
		    "bpf_cast_to_kern_ctx, which "
		    "Linux 6.2 and later have; on an older one the programs are refused. Use "
		    "lockdown=integrity there");
	return *ret ? 0 : -ENOMEM;
}

int perf_diagnose_permission(int error, const struct perf_facts *facts, char **ret)
{
	_cleanup_free_ char *reason = NULL;

	*ret = NULL;
	switch (error) {
	case -EACCES:
	case -EPERM:
		reason = reason_of_permission(error, facts);
		break;
	case -ENOSYS:
		reason = reason_of_no_call(facts);
		break;
	default:
		return 0;
	}
	if (reason)
		*ret = text("this process may open no event on a whole CPU: perf_event_open: %s: %s",
			    strerror(-error), reason);
	return *ret ? 0 : -ENOMEM;
}

int perf_diagnose_descriptors(const struct perf_facts *facts, const struct perf_wanted *wanted, char **ret)
{
	u64 all = wanted->before + wanted->descriptors + wanted->blocks + DESCRIPTORS_SPARE;

	*ret = NULL;
	if (facts->descriptors_max && facts->descriptors_used + all > facts->descriptors_max) {
		*ret = text(
			"too few file descriptors: %u CPUs take up to %llu here (one each, and one for a "
			"leader where the kernel demands it), beside %llu of other events, %llu for all else "
			"and %llu in use, and the hard limit is %llu. Raise LimitNOFILE= of the unit "
			"(elsewhere ulimit -Hn, or --ulimit nofile= of a container) to %llu, or sample "
			"fewer events",
			wanted->cpus, (unsigned long long)wanted->descriptors,
			(unsigned long long)wanted->before,
			(unsigned long long)(wanted->blocks + DESCRIPTORS_SPARE),
			(unsigned long long)facts->descriptors_used,
			(unsigned long long)facts->descriptors_max,
			(unsigned long long)facts->descriptors_used + all);
		return *ret ? 0 : -ENOMEM;
	}
	if (facts->files_max && facts->files_used + all > facts->files_max &&
	    !(facts->capabilities_known && perf_facts_capable(facts, CAP_SYS_ADMIN))) {
		*ret = text(
			"too few open files on this system: %u CPUs take up to %llu here, beside %llu of "
			"other events and %llu for all else, and of fs.file-max (%llu) %llu are in use. Raise "
			"it: sysctl fs.file-max=%llu",
			wanted->cpus, (unsigned long long)wanted->descriptors,
			(unsigned long long)wanted->before,
			(unsigned long long)(wanted->blocks + DESCRIPTORS_SPARE),
			(unsigned long long)facts->files_max, (unsigned long long)facts->files_used,
			2ULL * (facts->files_used + all));
		return *ret ? 0 : -ENOMEM;
	}
	return 0;
}

int perf_diagnose_cgroups(const struct perf_facts *facts, char **ret)
{
	*ret = NULL;
	if (facts->cgroups == PERF_CGROUPS_NO_MOUNT)
		*ret = text(
			"cannot tell cgroups apart: no cgroup2 file system is mounted, and v1 hierarchies "
			"number their cgroups each on their own. Mount it: mount -t cgroup2 none "
			"/sys/fs/cgroup/unified, or boot with systemd.unified_cgroup_hierarchy=1");
	else if (facts->cgroups == PERF_CGROUPS_V1_ONLY)
		*ret = text("cannot tell cgroups apart: no cgroup is below the root of the cgroup2 file "
			    "system, and v1 hierarchies are in use, so every sample would be the root's. "
			    "Boot with systemd.unified_cgroup_hierarchy=1");
	else
		return 0;
	return *ret ? 0 : -ENOMEM;
}

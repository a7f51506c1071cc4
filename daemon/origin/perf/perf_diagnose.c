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
	PRIVILEGE_ADMIN,   /* CAP_SYS_ADMIN: the setting is above 2, with Debian's patch */
	PRIVILEGE_ADMIN_UBUNTU, /* CAP_SYS_ADMIN: 4 or above, with Ubuntu's patch (PERF_SECURITY_MAX) */
	PRIVILEGE_ADMIN_MAYBE,  /* CAP_SYS_ADMIN: above 2, not known whether the kernel has a patch */
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
		return text(
			"this process runs in a user namespace (a rootless container?), whose "
			"capabilities do not count for CPU-wide events; run pebsd outside of it, " REPLAY);
	if (!has_privilege(facts, needed)) {
		if (needed == PRIVILEGE_ADMIN)
			return text(
				"kernel.perf_event_paranoid is %d, and above 2, Debian's kernel requires CAP_SYS_ADMIN (CAP_PERFMON is not enough); run pebsd as root, or set kernel.perf_event_paranoid=2 with sysctl and give pebsd CAP_PERFMON and CAP_BPF",
				facts->paranoid);
		if (needed == PRIVILEGE_ADMIN_UBUNTU)
			return text(
				"kernel.perf_event_paranoid is %d, and from 4 on, Ubuntu's kernel requires CAP_SYS_ADMIN (CAP_PERFMON may not be enough); run pebsd as root, or set kernel.perf_event_paranoid=2 with sysctl and give pebsd CAP_PERFMON and CAP_BPF",
				facts->paranoid);
		if (needed == PRIVILEGE_ADMIN_MAYBE)
			return text("kernel.perf_event_paranoid is %d, and this process lacks "
				    "CAP_SYS_ADMIN, which some distributions' kernels then require; run "
				    "pebsd as root, or set kernel.perf_event_paranoid=2 with sysctl and "
				    "give pebsd CAP_PERFMON and CAP_BPF",
				    facts->paranoid);
		if (!facts->capabilities_known)
			return text("the capabilities of this process are not known, because "
				    "/proc/self/status cannot be read; run pebsd as root, or give it "
				    "CAP_PERFMON and CAP_BPF, and mount /proc");
		if (facts->paranoid_known)
			return text("kernel.perf_event_paranoid is %d, and this process has neither "
				    "CAP_PERFMON nor CAP_SYS_ADMIN; run pebsd as root, or give it "
				    "CAP_PERFMON and CAP_BPF",
				    facts->paranoid);
		return text("this process has neither CAP_PERFMON nor CAP_SYS_ADMIN; run pebsd as root, "
			    "or give it CAP_PERFMON and CAP_BPF");
	}
	if (facts->seccomp_filter && error == -EPERM)
		return text("the privileges suffice, but this process has a seccomp filter, which may refuse "
			    "perf_event_open; allow it: in a container with --security-opt seccomp=PROFILE, "
			    "in a systemd unit with SystemCallFilter=perf_event_open bpf");
	return text("the privileges suffice, so a security module (SELinux, AppArmor) or the rules of a "
		    "container refuse it; look for the denial in the kernel log and the audit log, and allow "
		    "perf_event for pebsd");
}

/* Adds the reason why pebsd-opener failed, because pebsd also tried to open the event through pebsd-opener. */
static char *reason_of_permission(int error, const struct perf_facts *facts)
{
	_cleanup_free_ char *rights = reason_of_rights(error, facts);

	if (!rights || facts->opener[0] == '\0' || facts->user_namespace)
		return TAKE_PTR(rights);
	return text("%s. Opening it through pebsd-opener failed too: %s", rights, facts->opener);
}

static char *reason_of_precision(const struct perf_facts *facts)
{
	if (facts->hypervisor)
		return text("this is a virtual machine%s; give the guest a virtual PMU with PEBS (KVM on "
			    "Ice Lake servers and later: -cpu host,pmu=on), run pebsd on the host, " REPLAY,
			    facts->max_precise_known && facts->max_precise == 0
				    ? " whose virtual PMU has no PEBS (caps/max_precise is 0)"
				    : ", and its virtual PMU does not have the PEBS that this event needs");
	if (facts->microcode && facts->microcode < facts->microcode_wanted)
		return text("this Sandy Bridge has microcode %#x, and below %#x the kernel switches PEBS "
			    "off because of CPU errata; update the microcode (Debian: intel-microcode, "
			    "Fedora and Red Hat: microcode_ctl; no reboot is needed if the kernel loads "
			    "it late)",
			    facts->microcode, facts->microcode_wanted);
	if (facts->max_precise_known && facts->max_precise == 0)
		return text("the kernel does not use PEBS (caps/max_precise is 0): this CPU lacks it, or the "
			    "kernel switched it off because the microcode is too old; update the microcode "
			    "and look for \"PEBS\" in the kernel log");
	return text("the PMU does not offer this precision, or a virtual machine with a PMU of its own holds "
		    "the counters; look at the kernel log, and at caps/max_precise of the PMU");
}

#define SECCOMP_REMEDY                                                                \
	"in a container with --security-opt seccomp=PROFILE, in a systemd unit with " \
	"SystemCallFilter=perf_event_open bpf"

/* The reason for -ENOSYS. */
static char *reason_of_no_call(const struct perf_facts *facts)
{
	if (facts->seccomp_filter)
		return text("this process has a seccomp filter, which hides perf_event_open; allow "
			    "it: " SECCOMP_REMEDY);
	return text("this kernel is built without CONFIG_PERF_EVENTS; run a kernel that has it, " REPLAY);
}

static char *reason_of_open(int error, const struct event_spec *spec, const struct perf_facts *facts)
{
	switch (error) {
	case -EACCES:
	case -EPERM:
		return reason_of_permission(error, facts);
	case -ENOSYS:
		return reason_of_no_call(facts);
	case -ENOENT:
		if (facts->has_core_pmu)
			return text("the kernel does not have this PMU or event on this CPU (on a hybrid "
				    "CPU a PMU has only the CPUs in its file `cpus`); please report this "
				    "with the output of pebsd --probe");
		return facts->hypervisor ? text("this is a virtual machine without a virtual PMU; give "
						"the guest one with PEBS (KVM on Ice Lake servers and "
						"later: -cpu host,pmu=on), run pebsd on the host, " REPLAY)
					 : text("the kernel does not know this CPU: it has no core PMU "
						"(/sys/bus/event_source/devices/cpu is missing); try a "
						"newer kernel, and look for \"Performance Events\" in the "
						"kernel log");
	case -EOPNOTSUPP:
		if (spec->precise_ip == 0)
			return text("the PMU cannot count this event, or a virtual machine with a PMU of its "
				    "own holds the counters; look in the kernel log");
		return reason_of_precision(facts);
	case -ENXIO:
		return text("the kernel cannot access a register that this event needs, usually because "
			    "this is a virtual machine whose virtual PMU lacks it; run pebsd on the host, or "
			    "leave the event out of `events` in [sampling]");
	case -EMFILE:
	case -ENFILE:
		return text("too few file descriptors: each event needs one per CPU%s; raise %s",
			    spec->has_leader ? ", and one more for its leader" : "",
			    error == -EMFILE ? "LimitNOFILE= of the unit (ulimit -n)"
					     : "fs.file-max with sysctl");
	case -ENODEV:
		return text("the CPU went offline; pebsd samples it again when it is back online");
	case -EBUSY:
		return text("the counters are reserved by the firmware, the hypervisor, or another profiler; "
			    "look for \"PMU\" in the kernel log, and stop the other user");
	case -ENODATA:
		return text("the load latency event of this CPU needs an auxiliary event as leader of its "
			    "group, and the kernel refused the one from pebsd; please report this with "
			    "the output of pebsd --probe");
	case -EINVAL:
		if (spec->event.ldlat == 0)
			return text("the kernel refuses these attributes: no counter can run this "
				    "combination; please report this with the output of pebsd --probe");
		return text("the kernel refuses these attributes: this CPU does not support ldlat = "
			    "%u, or no counter can run this combination; set another ldlat in "
			    "[sampling], or report this with the output of pebsd --probe",
			    spec->event.ldlat);
	case -ENOMEM:
		return text("the kernel lacks memory for the event; free memory, or give pebsd more "
			    "(MemoryMax= of the unit)");
	default:
		return text("pebsd does not know what causes this error; look in the kernel log");
	}
}

static char *message(const char *what, int error, const struct event_spec *spec, int cpu, char *reason)
{
	_cleanup_free_ char *owned = reason;

	if (!owned)
		return NULL;
	return text("cannot %s %s on PMU %s, CPU %d (type %u, config %#llx, config1 %#llx, precise_ip %u): "
		    "%s: %s",
		    what, event_role_name(spec->event.role), spec->event.pmu, cpu, spec->type,
		    (unsigned long long)spec->config, (unsigned long long)spec->config1, spec->precise_ip,
		    strerror(-error), owned);
}

char *perf_diagnose_open(int error, const struct event_spec *spec, int cpu, const struct perf_facts *facts)
{
	return message("open", error, spec, cpu, reason_of_open(error, spec, facts));
}

static char *reason_of_attach(int error, const struct perf_facts *facts)
{
	switch (error) {
	case -EEXIST:
		return text("another BPF program is already attached to this event; please report this");
	case -EACCES:
	case -EPERM:
		return reason_of_permission(error, facts);
	case -EPROTO:
		return text("the program needs stacks, but the event does not record them; please report "
			    "this");
	case -EINVAL:
		return text("the kernel refuses BPF programs for this kind of event; please report this with "
			    "the output of pebsd --probe");
	default:
		return text("pebsd does not know what causes this error; look in the kernel log");
	}
}

char *perf_diagnose_attach(int error, const struct event_spec *spec, int cpu, const struct perf_facts *facts)
{
	return message("attach the BPF program to", error, spec, cpu, reason_of_attach(error, facts));
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
		*ret = text("cannot load the BPF programs: the types of the kernel are unknown because "
			    "/sys/kernel/btf/vmlinux cannot be read; run a kernel built with "
			    "CONFIG_DEBUG_INFO_BTF (all current distributions have it), and in a "
			    "container mount /sys");
	else if (facts->user_namespace)
		*ret = text("cannot load the BPF programs: this process runs in a user namespace (a "
			    "rootless container?), whose capabilities do not count for them; run pebsd "
			    "outside of it, " REPLAY);
	else if (facts->capabilities_known && !may_load_bpf(facts))
		*ret = text("cannot load the BPF programs: this process lacks CAP_BPF or CAP_PERFMON (and "
			    "has no CAP_SYS_ADMIN); run pebsd as root, or give it both");
	else
		return 0;
	return *ret ? 0 : -ENOMEM;
}

int perf_diagnose_remark(const struct perf_facts *facts, char **ret)
{
	*ret = NULL;
	if (!facts->lockdown_confidential)
		return 0;
	*ret = text(
		"the kernel is locked down (confidentiality): BPF programs can then read samples only through bpf_cast_to_kern_ctx, which Linux has from 6.2 on; if this kernel is older, boot it with lockdown=integrity");
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
		*ret = text("this process cannot open events on a whole CPU: perf_event_open: %s: %s",
			    strerror(-error), reason);
	return *ret ? 0 : -ENOMEM;
}

int perf_diagnose_descriptors(const struct perf_facts *facts, const struct perf_wanted *wanted, char **ret)
{
	const unsigned long long other = wanted->blocks + DESCRIPTORS_SPARE;
	const u64 all = wanted->before + wanted->descriptors + other;
	const unsigned long long descriptors = facts->descriptors_used + all, files = facts->files_used + all;

	*ret = NULL;
	if (facts->descriptors_max && descriptors > facts->descriptors_max) {
		*ret = text(
			"too few file descriptors: events on %u CPU%s need up to %llu (for each event one "
			"per CPU, and one more for a leader if the kernel requires it), events opened earlier need "
			"%llu, everything else needs %llu, and %llu are in use, but the hard limit is "
			"%llu; raise LimitNOFILE= of the unit (elsewhere ulimit -Hn, or --ulimit nofile= "
			"of a container) to %llu, or sample fewer events",
			wanted->cpus, wanted->cpus == 1 ? "" : "s", (unsigned long long)wanted->descriptors,
			(unsigned long long)wanted->before, other,
			(unsigned long long)facts->descriptors_used,
			(unsigned long long)facts->descriptors_max, descriptors);
		return *ret ? 0 : -ENOMEM;
	}
	if (facts->files_max && files > facts->files_max &&
	    !(facts->capabilities_known && perf_facts_capable(facts, CAP_SYS_ADMIN))) {
		*ret = text(
			"too few file descriptors on this system: events on %u CPU%s need up to %llu, events opened earlier need %llu, everything else needs %llu, but fs.file-max is %llu, and %llu are in use; raise it: sysctl fs.file-max=%llu",
			wanted->cpus, wanted->cpus == 1 ? "" : "s", (unsigned long long)wanted->descriptors,
			(unsigned long long)wanted->before, other, (unsigned long long)facts->files_max,
			(unsigned long long)facts->files_used, 2 * files);
		return *ret ? 0 : -ENOMEM;
	}
	return 0;
}

int perf_diagnose_cgroups(const struct perf_facts *facts, char **ret)
{
	*ret = NULL;
	if (facts->cgroups == PERF_CGROUPS_NO_MOUNT)
		*ret = text("cannot tell cgroups apart: no cgroup2 file system is mounted, and each v1 "
			    "hierarchy numbers its cgroups separately; boot with "
			    "systemd.unified_cgroup_hierarchy=1, or if no v1 hierarchy is mounted "
			    "either, run `mount -t cgroup2 none /sys/fs/cgroup`");
	else if (facts->cgroups == PERF_CGROUPS_V1_ONLY)
		*ret = text("cannot tell cgroups apart: the cgroup2 file system has no cgroup below its "
			    "root, and v1 hierarchies are in use, so every sample would count for the "
			    "root; boot with systemd.unified_cgroup_hierarchy=1");
	else
		return 0;
	return *ret ? 0 : -ENOMEM;
}

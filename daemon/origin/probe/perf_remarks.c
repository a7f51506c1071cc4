// SPDX-License-Identifier: GPL-2.0
#include "origin/probe/perf_remarks.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"

/* DEFAULT_MAX_SAMPLE_RATE and DEFAULT_CPU_TIME_MAX_PERCENT, kernel/events/core.c, Linux 6.1 to 7.3. */
#define SAMPLE_RATE_DEFAULT  100000
#define CPU_TIME_MAX_DEFAULT 25

/* The pseudo-encoding of CPU_CLK_UNHALTED.REF in arch/x86/events/intel/core.c, Linux 6.12. */
#define REF_CYCLES 0x300

static int remark_watchdog(const struct counter_users *users, struct pmu_plan *plan)
{
	switch (users->watchdog) {
	case COUNTER_WATCHDOG_OFF:
		return 0;
	case COUNTER_WATCHDOG_MAYBE:
		return pmu_plan_note(
			plan,
			"the NMI watchdog is on: if it uses the PMU, it holds one counter on each CPU (on Intel the fixed counter of cycles if that is free, otherwise a general counter, which an event here may need); sysctl kernel.nmi_watchdog=0 frees it");
	case COUNTER_WATCHDOG_CYCLES:
		return pmu_plan_note(
			plan,
			"the NMI watchdog holds one counter on each CPU with a pinned event of CPU cycles: on Intel the fixed counter of cycles, so that an event of cycles here needs a general counter, and on AMD a general counter; sysctl kernel.nmi_watchdog=0 frees it");
	case COUNTER_WATCHDOG_RAW:
		break;
	}
	return pmu_plan_note(
		plan,
		"the NMI watchdog holds one counter on each CPU with a pinned event, which nmi_watchdog= on the kernel's command line chose: raw event %#llx%s; sysctl kernel.nmi_watchdog=0 frees it",
		(unsigned long long)users->watchdog_config,
		users->watchdog_config == REF_CYCLES ? " (on Intel the fixed counter of reference cycles)"
						     : "");
}

static void print_user(const struct counter_user *user, const char *separator, FILE *out)
{
	_cleanup_free_ char *name = text_visible(user->name);

	(void)fprintf(out, "%s%s (pid %u) %llu", separator, name ? name : "?", user->pid,
		      (unsigned long long)user->events);
}

/* Returns "perf (pid 4711) 12, systemd (pid 1) 8, and 3 more processes 9". NULL: no memory. */
static char *list_users(const struct counter_users *users)
{
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	if (!out)
		return NULL;
	for (size_t i = 0; i < users->n; i++)
		print_user(&users->users[i], i ? ", " : "", out);
	if (users->more)
		(void)fprintf(out, ", and %llu more process%s %llu", (unsigned long long)users->more,
			      users->more == 1 ? "" : "es", (unsigned long long)users->more_events);
	if (fclose(out) == 0)
		return text;
	free(text);
	return NULL;
}

static int remark_users(const struct counter_users *users, struct pmu_plan *plan)
{
	_cleanup_free_ char *list = NULL;

	if (users->n == 0)
		return 0;
	list = list_users(users);
	if (!list)
		return -ENOMEM;
	return pmu_plan_note(
		plan,
		"other processes have perf events open, which take turns with pebsd's count events or displace them if they need the same counter: %s. Which of them use a counter is not known: software events, tracepoints and buffers of BPF programs use none. A running pebsd is among these processes, and so is systemd (pid 1), which keeps pebsd's events for a restart",
		list);
}

/* Says what is not known about other users. */
static int remark_unseen(const struct counter_users *users, struct pmu_plan *plan)
{
	int r = 0;

	if (users->hidden)
		r = pmu_plan_note(
			plan,
			"which other processes have perf events open is not known: /proc does not show all processes here (hidepid, ProtectProc= of a unit, or a container); run pebsd --probe as root on the host");
	else if (users->unread)
		r = pmu_plan_note(
			plan,
			"number of processes whose perf events are not known, because this process may not read their descriptors: %llu; run pebsd --probe as root",
			(unsigned long long)users->unread);
	if (r >= 0 && users->cut)
		r = pmu_plan_note(
			plan,
			"the search for other processes' perf events ended at %d processes and descriptors, so there may be more",
			COUNTER_USERS_LOOK_PROBE);
	return r;
}

/*
 * The events that KVM opens for a guest are pinned to a thread (pmc_reprogram_counter(), arch/x86/kvm/pmu.c,
 * Linux 6.12). Pinned events of the CPU come before them, and events that are not pinned come after them
 * (ctx_sched_in(), kernel/events/core.c).
 */
static int remark_guest_pmu(const struct counter_users *users, struct pmu_plan *plan)
{
	char running[64] = "";

	if (!users->kvm_pmu)
		return 0;
	if (users->machines)
		(void)snprintf(running, sizeof(running), " (running: %llu)",
			       (unsigned long long)users->machines);
	return pmu_plan_note(
		plan,
		"virtual machines of KVM%s can have a virtual PMU (kvm.enable_pmu), and KVM backs each counter that a guest uses with a pinned event of the host: count events of pebsd yield to it, and loads and stores keep their counters, which the guest then lacks",
		running);
}

static int remark_isolated(const struct perf_facts *facts, struct pmu_plan *plan)
{
	struct cpu_list sampled = {0}, isolated = facts->isolated;
	_cleanup_free_ char *names = NULL;
	bool one;

	for (size_t i = 0; i < plan->n_specs; i++)
		cpu_list_add_all(&sampled, &plan->specs[i].cpus);
	cpu_list_add_all(&isolated, &facts->nohz_full);
	cpu_list_keep(&isolated, &sampled);
	if (cpu_list_count(&isolated) == 0)
		return 0;
	names = cpu_list_format(&isolated);
	if (!names)
		return -ENOMEM;
	one = cpu_list_count(&isolated) == 1;
	return pmu_plan_note(
		plan,
		"CPU%s %s %s isolated (isolcpus= or nohz_full=), but sampled, and each sample interrupts its CPU; set `isolated = no` in [sampling] to leave isolated CPUs out",
		one ? "" : "s", names, one ? "is" : "are");
}

static int remark_limits(const struct perf_facts *facts, struct pmu_plan *plan)
{
	int r = 0;

	if (facts->max_sample_rate && facts->max_sample_rate < SAMPLE_RATE_DEFAULT)
		r = pmu_plan_note(
			plan,
			"kernel.perf_event_max_sample_rate is %llu, below the kernel's default of %d: an administrator set it, or the kernel lowered it because sampling interrupts took too long (see the kernel log). The kernel stops an event until the next tick once its samples in a tick reach that tick's part of it; set it back: sysctl kernel.perf_event_max_sample_rate=%d",
			(unsigned long long)facts->max_sample_rate, SAMPLE_RATE_DEFAULT, SAMPLE_RATE_DEFAULT);
	if (r < 0 || !facts->cpu_time_max_known)
		return r;
	if (facts->cpu_time_max_percent > 0 && facts->cpu_time_max_percent < CPU_TIME_MAX_DEFAULT)
		return pmu_plan_note(
			plan,
			"kernel.perf_cpu_time_max_percent is %llu, below the default of %d: the kernel lowers kernel.perf_event_max_sample_rate earlier than usual; set it back: sysctl kernel.perf_cpu_time_max_percent=%d",
			(unsigned long long)facts->cpu_time_max_percent, CPU_TIME_MAX_DEFAULT,
			CPU_TIME_MAX_DEFAULT);
	return 0;
}

/*
 * KVM switches the registers that the note names: intel_guest_get_msrs() in arch/x86/events/intel/core.c,
 * atomic_switch_perf_msrs() and add_atomic_switch_msr() in arch/x86/kvm/vmx/vmx.c, Linux 6.1. It does not
 * switch those of IBS, whose events cannot exclude guests. This function therefore adds no note for events of
 * IBS.
 */
static int remark_kvm(struct pmu_plan *plan)
{
	bool precise = false;

	for (size_t i = 0; i < plan->n_specs; i++)
		precise = precise || (plan->specs[i].precise_ip > 0 &&
				      plan->specs[i].event.latency_kind != LATENCY_DC_MISS &&
				      !plan->specs[i].event.settings.operations);
	if (!precise)
		return 0;
	return pmu_plan_note(
		plan,
		"guest not sampled: this host can run virtual machines (KVM), and pebsd never samples "
		"guest code: the cgroup of a virtual machine shows only its host side. While a CPU is "
		"sampled, each entry into a guest and each exit also switches IA32_PERF_GLOBAL_CTRL (and "
		"IA32_PEBS_ENABLE on CPUs that do not isolate PEBS), and guests that use PEBS themselves "
		"get no records. This cost was not measured");
}

int perf_remarks(const struct perf_facts *facts, struct pmu_plan *plan)
{
	int r;

	if (plan->n_specs == 0)
		return 0;
	r = remark_watchdog(&facts->users, plan);
	if (r >= 0)
		r = remark_users(&facts->users, plan);
	if (r >= 0)
		r = remark_unseen(&facts->users, plan);
	if (r >= 0 && facts->cgroups == PERF_CGROUPS_NONE_YET)
		r = pmu_plan_note(plan,
				  "the cgroup2 file system has no cgroup below its root yet: all samples "
				  "count for the root until one is created there");
	if (r >= 0)
		r = remark_isolated(facts, plan);
	if (r >= 0)
		r = remark_limits(facts, plan);
	if (r >= 0 && facts->kvm_host)
		r = remark_kvm(plan);
	if (r >= 0)
		r = remark_guest_pmu(&facts->users, plan);
	return r;
}

/* Notes that an event found no counter on these CPUs. `why` says who holds it. */
static int remark_no_counter(const struct event *event, const struct cpu_list *cpus, const char *why,
			     struct pmu_plan *plan)
{
	_cleanup_free_ char *names = NULL;

	if (cpu_list_count(cpus) == 0)
		return 0;
	names = cpu_list_format(cpus);
	if (!names)
		return -ENOMEM;
	return pmu_plan_note(plan, "%s on PMU %s found no free counter on CPU%s %s: %s",
			     event_role_name(event->role), event->pmu, cpu_list_count(cpus) == 1 ? "" : "s",
			     names, why);
}

int perf_remark_taken(const struct event *event, const struct cpu_list *cpus,
		      const struct perf_running *running, bool nmi_watchdog, struct pmu_plan *plan)
{
	struct cpu_list own = {0}, others = *cpus;
	int r;

	for (size_t i = 0; i < running->n; i++)
		if (strcmp(running->in_use[i].pmu, event->pmu) == 0)
			cpu_list_add_all(&own, &running->in_use[i].cpus);
	cpu_list_keep(&own, cpus);
	cpu_list_drop(&others, &own);
	r = remark_no_counter(
		event, &own,
		"the running pebsd uses the counter and keeps it; to probe without that pebsd, run "
		"`pebsctl pause` before and `pebsctl resume` after",
		plan);
	if (r < 0)
		return r;
	return remark_no_counter(
		event, &others,
		nmi_watchdog ? "a pinned event of another user holds the counter, perhaps the NMI "
			       "watchdog's (sysctl kernel.nmi_watchdog=0 frees it); nothing is counted "
			       "there until that event ends"
			     : "a pinned event of another user, such as another profiler, holds the "
			       "counter; nothing is counted there until that event ends",
		plan);
}

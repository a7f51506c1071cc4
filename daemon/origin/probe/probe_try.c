// SPDX-License-Identifier: GPL-2.0
/*
 * Finds the facts that only the running system can show: whether it accepts the events, which obstacles
 * exist, and how long opening takes.
 */
#include <errno.h>
#include <string.h>

#include <bpf/libbpf.h>

#include "base/cleanup.h"
#include "base/monotonic.h"
#include "kernel/kernel.h"
#include "origin/perf/counter_number.h"
#include "origin/perf/perf.h"
#include "origin/perf/perf_diagnose.h"
#include "origin/probe/perf_remarks.h"
#include "origin/probe/perf_trial.h"
#include "origin/probe/probe.h"
#include "origin/probe/probe_words.h"

/*
 * Opens the event on a CPU where it would run, and notes how the kernel changed the attributes. Returns 1 if
 * the kernel accepted it, 0 if the kernel refused it and a refusal was added, or -errno.
 */
static int try_spec(struct pmu_plan *plan, struct event_spec *spec)
{
	const struct event_spec planned = *spec;
	const char *pmu = planned.event.pmu;
	int cpu = spec->cpus_known ? cpu_list_next(&spec->cpus, -1) : 0;
	_cleanup_free_ char *message = NULL;
	int r;

	if (cpu < 0)
		return pmu_plan_refuse(plan, pmu, planned.event.role, PROBE_NO_CPU);
	r = perf_try(spec, cpu, &message);
	if (r < 0)
		return pmu_plan_refuse(plan, pmu, planned.event.role, "%s", message ? message : strerror(-r));
	r = 0;
	if (spec->precise_ip == 0 && planned.precise_ip > 0)
		r = pmu_plan_note(
			plan,
			"%s: the kernel refuses a precise event of %s, because it has no PEBS here; pebsd opens an event that only counts",
			pmu, event_role_name(planned.event.role));
	else if (spec->precise_ip != planned.precise_ip)
		r = pmu_plan_note(
			plan,
			"%s: the kernel refuses precise_ip %u here; opened with %u, so code addresses may be less exact",
			pmu, planned.precise_ip, spec->precise_ip);
	if (r >= 0 && spec->has_leader != planned.has_leader)
		r = pmu_plan_note(
			plan,
			"%s: the kernel requires a leader for this event (ENODATA), although sysfs has no mem-loads-aux; opened with one",
			pmu);
	if (r >= 0 && spec->event.settings.weight_struct != planned.event.settings.weight_struct)
		r = pmu_plan_note(
			plan,
			"%s: the kernel (before 5.12) does not know PERF_SAMPLE_WEIGHT_STRUCT; opened with PERF_SAMPLE_WEIGHT, which has no instruction latency",
			pmu);
	return r < 0 ? r : 1;
}

static int try_specs(struct pmu_plan *plan)
{
	for (size_t i = 0; i < plan->n_specs;) {
		int r = try_spec(plan, &plan->specs[i]);

		if (r < 0)
			return r;
		if (r > 0)
			i++;
		else
			pmu_plan_drop(plan, i);
	}
	return 0;
}

/* The kernel refuses a counter for the same reasons as an event with the counter's attributes. */
static int try_counter(struct pmu_plan *plan, const struct pmu_counter *counter,
		       const struct perf_facts *facts)
{
	struct event_spec spec = {
		.event = {.role = EVENT_OFFCORE},
		.type = counter->type,
		.config = counter->config,
		.config1 = counter->config1,
	};
	int cpu = counter->cpus_known ? cpu_list_next(&counter->cpus, -1) : 0;
	_cleanup_free_ char *message = NULL;
	int r;

	if (cpu < 0)
		return pmu_plan_refuse(plan, counter->pmu, EVENT_OFFCORE, PROBE_NO_CPU);
	r = perf_trial_counter(counter, cpu);
	if (r >= 0)
		return 1;
	memcpy(spec.event.pmu, counter->pmu, sizeof(spec.event.pmu));
	message = perf_diagnose_open(r, &spec, cpu, facts);
	return pmu_plan_refuse(plan, counter->pmu, EVENT_OFFCORE, "%s", message ? message : strerror(-r));
}

static int try_counters(struct pmu_plan *plan, const struct perf_facts *facts)
{
	for (size_t i = 0; i < plan->n_counters;) {
		int r = try_counter(plan, &plan->counters[i], facts);

		if (r < 0)
			return r;
		if (r > 0)
			i++;
		else
			pmu_plan_drop_counter(plan, i);
	}
	return 0;
}

/* Refuses all specs and counters with a role in `roles`. If there are none, notes the reason anyway. */
static int refuse(struct pmu_plan *plan, unsigned roles, const char *reason)
{
	bool found = false;
	int r = 0;

	for (size_t i = 0; r >= 0 && i < plan->n_specs;) {
		const struct event *event = &plan->specs[i].event;

		if (!(roles & 1U << event->role)) {
			i++;
			continue;
		}
		r = pmu_plan_refuse(plan, event->pmu, event->role, "%s", reason);
		pmu_plan_drop(plan, i);
		found = true;
	}
	while (r >= 0 && (roles & 1U << EVENT_OFFCORE) && plan->n_counters > 0) {
		r = pmu_plan_refuse(plan, plan->counters[0].pmu, EVENT_OFFCORE, "%s", reason);
		pmu_plan_drop_counter(plan, 0);
		found = true;
	}
	return r >= 0 && !found ? pmu_plan_note(plan, "%s", reason) : r;
}

#define ALL_ROLES ((1U << EVENT_ROLES) - 1)

static bool plans_a_role(const struct pmu_plan *plan, unsigned roles)
{
	for (size_t i = 0; i < plan->n_specs; i++)
		if (roles & 1U << plan->specs[i].event.role)
			return true;
	return (roles & 1U << EVENT_OFFCORE) && plan->n_counters > 0;
}

/*
 * Returns the number of descriptors that are already open when a role is opened: those of the requested
 * roles, and of earlier events of this role.
 */
static u64 opened_before(const struct probe_report *report, const u64 opened[EVENT_ROLES],
			 enum event_role role)
{
	u64 sum = 0;

	for (unsigned i = 0; i < EVENT_ROLES; i++)
		if (i == role || (report->asked & 1U << i))
			sum += opened[i];
	return sum;
}

/*
 * Returns the number of descriptors of the slot table's blocks: 0 if the number of slots was given, because
 * the table then has only one block.
 */
static u64 descriptors_of_blocks(const struct probe_report *report)
{
	return report->slots_by_cgroups ? perf_cost_block_descriptors(report->measured.slots) : 0;
}

static int check_spec(struct pmu_plan *plan, const struct event_spec *spec, u64 before, u64 blocks,
		      const struct perf_facts *facts)
{
	_cleanup_free_ char *message = NULL;
	struct perf_wanted wanted = {
		.cpus = (u32)cpu_list_count(&spec->cpus),
		.descriptors = perf_cost_reserved(spec),
		.before = before,
		.blocks = blocks,
	};
	int r = perf_diagnose_descriptors(facts, &wanted, &message);

	if (r < 0 || !message)
		return r < 0 ? r : 1;
	return pmu_plan_refuse(plan, spec->event.pmu, spec->event.role, "%s", message);
}

static int check_counters(struct pmu_plan *plan, u64 before, u64 blocks, const struct perf_facts *facts)
{
	_cleanup_free_ char *message = NULL;
	struct perf_wanted wanted = {.before = before, .blocks = blocks};
	int r;

	for (size_t i = 0; i < plan->n_counters; i++) {
		u32 cpus = (u32)cpu_list_count(&plan->counters[i].cpus);

		wanted.descriptors += cpus;
		if (cpus > wanted.cpus)
			wanted.cpus = cpus;
	}
	if (wanted.descriptors == 0)
		return 0;
	r = perf_diagnose_descriptors(facts, &wanted, &message);
	return r >= 0 && message ? refuse(plan, 1U << EVENT_OFFCORE, message) : r;
}

/* Checks events in the order in which they are opened, and refuses those that no longer fit. */
static int check_descriptors(struct probe_report *report, const struct perf_facts *facts)
{
	const u64 blocks = descriptors_of_blocks(report);
	struct pmu_plan *plan = &report->plan;
	u64 opened[EVENT_ROLES] = {0};

	for (size_t i = 0; i < plan->n_specs;) {
		const struct event_spec *spec = &plan->specs[i];
		enum event_role role = spec->event.role;
		int r = check_spec(plan, spec, opened_before(report, opened, role), blocks, facts);

		if (r < 0)
			return r;
		if (r == 0) {
			pmu_plan_drop(plan, i);
			continue;
		}
		opened[role] += cpu_list_count(&spec->cpus) * (spec->has_leader ? 2 : 1);
		i++;
	}
	return check_counters(plan, opened_before(report, opened, EVENT_OFFCORE), blocks, facts);
}

/* Looks for an obstacle that affects every event, and then refuses all of them. */
static int find_obstacle(const struct perf_facts *facts, struct pmu_plan *plan)
{
	static int (*const questions[])(const struct perf_facts *, char **) = {
		perf_diagnose_bpf,
		perf_diagnose_cgroups,
	};

	for (size_t i = 0; i < ARRAY_SIZE(questions); i++) {
		_cleanup_free_ char *obstacle = NULL;
		int r = questions[i](facts, &obstacle);

		if (r >= 0 && obstacle)
			r = refuse(plan, ALL_ROLES, obstacle);
		if (r < 0)
			return r;
	}
	return 0;
}

static int note_taken(struct probe_report *report, struct kernel *kernel, const struct perf_facts *facts)
{
	struct pmu_plan *plan = &report->plan;
	u64 ns = 0;

	for (size_t i = 0; i < plan->n_specs; i++) {
		struct perf_trial trial = {0};
		/*
		 * Each requested event has its own program, but all programs cost the same to attach, so
		 * program 0 will do.
		 */
		int fd = kernel_program_fd(kernel, 0);
		int r = fd < 0 ? fd : perf_trial(&plan->specs[i], fd, &trial);

		if (r < 0)
			r = pmu_plan_note(
				plan,
				"%s on PMU %s: opening the event on one CPU succeeded, but opening it with a BPF program on up to %d CPUs failed: %s; pebsd does this on all CPUs, and would probably fail in the same way",
				event_role_name(plan->specs[i].event.role), plan->specs[i].event.pmu,
				PERF_TRIAL_CPUS, strerror(-r));
		else
			r = perf_remark_taken(&plan->specs[i].event, &trial.in_error, &report->running,
					      facts->users.watchdog != COUNTER_WATCHDOG_OFF, plan);
		if (r < 0)
			return r;
		ns += trial.ns;
		report->timed += trial.opened;
	}
	if (report->timed)
		report->measured.event_ns = ns / report->timed;
	return 0;
}

/* Loads the programs and opens the events as the daemon would, on a few CPUs. */
static int rehearse(struct probe_report *report, const struct perf_facts *facts)
{
	_cleanup_(stripes_done) struct stripes stripes = {0};
	struct pmu_plan *plan = &report->plan;
	struct kernel_settings settings = {
		.slots = report->measured.slots,
		.hot_max = report->measured.hot_max,
		.stripes = &stripes,
		.births = true,
		.hardware = true,
	};
	_cleanup_(kernel_freep) struct kernel *kernel = NULL;
	_cleanup_free_ char *message = NULL;
	/* Off-core counters have no program, so they do not count here. */
	bool any = plans_a_role(plan, report->asked & ~(1U << EVENT_OFFCORE));
	u64 start_ns;
	int r;

	for (size_t i = 0; i < plan->n_specs; i++)
		if (!any || (report->asked & 1U << plan->specs[i].event.role))
			settings.events[settings.n_events++] = plan->specs[i].event.settings;
	start_ns = monotonic_ns();
	r = stripes_of_machine(NULL, 0, &stripes);
	if (r == -ENOMEM)
		return r;
	if (r < 0) {
		if (asprintf(
			    &message,
			    "cannot read the CPUs of this machine from /sys/devices/system/cpu: %s; mount /sys",
			    strerror(-r)) < 0)
			message = NULL;
		return message ? refuse(plan, ALL_ROLES, message) : -ENOMEM;
	}
	report->stripes = stripes.n;
	r = kernel_open(&settings, &kernel, &message);
	if (r < 0)
		return refuse(plan, ALL_ROLES, message ? message : strerror(-r));
	report->measured.load_ns = monotonic_ns() - start_ns;
	return note_taken(report, kernel, facts);
}

static int note_permission(struct pmu_plan *plan, const struct perf_facts *facts)
{
	_cleanup_free_ char *message = NULL;
	int r = perf_trial_permission();

	if (r < 0)
		r = perf_diagnose_permission(r, facts, &message);
	return r >= 0 && message ? pmu_plan_note(plan, "%s", message) : r;
}

static void note_system(struct probe_report *report, const struct perf_facts *facts)
{
	int cpus = libbpf_num_possible_cpus();

	report->cpus = cpus > 0 ? (u32)cpus : 0;
	if (report->measured.slots)
		return;
	report->measured.slots = perf_cost_slots(facts->cgroup_count);
	report->slots_by_cgroups = facts->cgroup_count > 0;
}

/*
 * Applies `leave-counters` to the requested events as pebsd does at its start. Without the number of counters
 * pebsd refuses to start.
 */
static int leave_counters(struct probe_report *report, enum counter_watchdog watchdog)
{
	struct pmu_plan *plan = &report->plan;
	struct pmu_general pmus[EVENTS_MAX];
	char reason[COUNTER_NUMBER_REASON_MAX];
	_cleanup_free_ char *message = NULL;
	int n, r = 0;

	if (report->leave_counters == 0)
		return 0;
	n = counter_number_find(plan, report->asked, watchdog, pmus, reason);
	if (n < 0) {
		if (asprintf(&message, "leave-counters = %u in [sampling] cannot be kept: %s; set it to 0",
			     report->leave_counters, reason) < 0) {
			message = NULL;
			return -ENOMEM;
		}
		return refuse(plan, report->asked, message);
	}
	for (int i = 0; r >= 0 && i < n; i++)
		r = pmu_plan_note(
			plan,
			"leave-counters = %u in [sampling]: on PMU %s, pebsd uses at most %u of the %u general-purpose counters of each CPU; events that are not in `events` may not fit any more",
			report->leave_counters, pmus[i].pmu,
			pmus[i].counters > report->leave_counters ? pmus[i].counters - report->leave_counters
								  : 0,
			pmus[i].counters);
	return r < 0 ? r : pmu_leave_counters(plan, report->asked, report->leave_counters, pmus, (size_t)n);
}

static int try_what_is_planned(struct probe_report *report, const struct perf_facts *facts)
{
	int r;

	r = leave_counters(report, facts->users.watchdog);
	if (r >= 0)
		r = check_descriptors(report, facts);
	if (r >= 0)
		r = try_specs(&report->plan);
	if (r >= 0)
		r = try_counters(&report->plan, facts);
	return r;
}

int probe_try(struct probe_report *report)
{
	struct pmu_plan *plan = &report->plan;
	_cleanup_free_ char *remark = NULL;
	struct perf_facts facts;
	int r;

	perf_facts_gather(&facts);
	perf_facts_gather_surroundings(&facts);
	report->live = true;
	note_system(report, &facts);
	if (plans_a_role(plan, ALL_ROLES))
		r = try_what_is_planned(report, &facts);
	else
		r = note_permission(plan, &facts);
	if (r >= 0)
		r = find_obstacle(&facts, plan);
	if (r >= 0 && plan->n_specs > 0)
		r = rehearse(report, &facts);
	if (plan->n_specs > 0)
		report->measured.event_bytes = perf_trial_event_bytes();
	if (r >= 0)
		r = perf_diagnose_remark(&facts, &remark);
	if (r >= 0 && remark)
		r = pmu_plan_note(plan, "%s", remark);
	if (r >= 0)
		r = perf_remarks(&facts, plan);
	if (r >= 0 && facts.hypervisor)
		r = pmu_plan_note(plan, "this is a virtual machine (according to CPUID): the host decides "
					"which PMU it has, and whether the PMU has PEBS");
	return r;
}

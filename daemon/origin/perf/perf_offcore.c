// SPDX-License-Identifier: GPL-2.0
#include "origin/perf/perf_offcore.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/descriptor_limit.h"
#include "origin/perf/perf_backend.h"
#include "origin/perf/perf_diagnose.h"
#include "origin/perf/perf_offcore_internal.h"
#include "origin/pmu/perf_attr.h"
#include "origin/pmu/perf_selection.h"

struct offcore_set *offcore_free(struct offcore_set *set)
{
	if (!set)
		return NULL;
	for (size_t i = 0; i < set->n; i++) {
		if (set->kernel && !set->saved)
			kernel_offcore_remove(set->kernel, (u32)set->places[i].cpu);
		offcore_close_place(&set->places[i]);
	}
	offcore_save_end(set);
	free(set->places);
	free(set->online_path);
	free(set);
	return NULL;
}

static int add_pmu(struct offcore_set *set, const struct pmu_counter *counter)
{
	size_t i = 0;

	while (i < set->n_pmus && strcmp(set->pmus[i].name, counter->pmu) != 0)
		i++;
	if (i == OFFCORE_PMUS_MAX)
		return -E2BIG;
	if (i == set->n_pmus)
		(void)snprintf(set->pmus[set->n_pmus++].name, EVENT_PMU_MAX, "%s", counter->pmu);
	set->pmus[i].kinds |= 1U << counter->kind;
	return 0;
}

/* If there is only one PMU, its counters belong on every CPU, including those that come online later. */
static bool counts_on(const struct offcore_set *set, const struct pmu_counter *counter, int cpu)
{
	if (counter->has_members)
		return cpu_list_has(&counter->members, cpu);
	return set->n_pmus == 1 || !counter->cpus_known || cpu_list_has(&counter->cpus, cpu);
}

/* Finds the PMU whose counters belong on the CPU. Returns false if there is none. */
static bool pmu_of(const struct offcore_set *set, int cpu, u32 *ret)
{
	for (size_t i = 0; i < set->n_counters; i++) {
		if (!counts_on(set, &set->counters[i], cpu))
			continue;
		for (u32 pmu = 0; pmu < set->n_pmus; pmu++)
			if (strcmp(set->pmus[pmu].name, set->counters[i].pmu) == 0) {
				*ret = pmu;
				return true;
			}
	}
	return false;
}

static int counter_open(const struct pmu_counter *counter, int cpu)
{
	struct perf_event_attr attr;

	perf_attr_counter(counter, &attr);
	return perf_backend_cpu(&attr, cpu, -1);
}

/* Sets `ret_message`, unless it is NULL: a diagnosis reads many files. */
static void diagnose(int error, const struct pmu_counter *counter, int cpu, char **ret_message)
{
	_cleanup_free_ char *reason = NULL;
	struct perf_facts facts;
	struct event_spec spec = {
		.event = {.role = EVENT_OFFCORE},
		.type = counter->type,
		.config = counter->config,
		.config1 = counter->config1,
	};

	if (!ret_message)
		return;
	if (error == -EINVAL) {
		if (asprintf(ret_message,
			     "cannot count off-core responses (%s) on PMU %s, CPU %d (config %#llx, "
			     "config1 %#llx): %s: the off-core response register of this CPU refuses this "
			     "value; leave `offcore` out of `events`, and please report this with the "
			     "output of pebsd --probe",
			     offcore_kind_name(counter->kind), counter->pmu, cpu,
			     (unsigned long long)counter->config, (unsigned long long)counter->config1,
			     strerror(-error)) < 0)
			*ret_message = NULL;
		return;
	}
	(void)snprintf(spec.event.pmu, sizeof(spec.event.pmu), "%s", counter->pmu);
	perf_facts_gather(&facts);
	reason = perf_diagnose_open(error, &spec, cpu, &facts);
	if (!reason || asprintf(ret_message, "cannot count off-core responses (%s): %s",
				offcore_kind_name(counter->kind), reason) < 0)
		*ret_message = NULL;
}

static int open_place(const struct offcore_set *set, int cpu, u32 pmu, struct offcore_place *ret,
		      char **ret_message)
{
	struct offcore_place place = {.cpu = cpu, .pmu = pmu};

	for (size_t kind = 0; kind < OFFCORE_KINDS; kind++)
		place.fds[kind] = -1;
	for (size_t i = 0; i < set->n_counters; i++) {
		const struct pmu_counter *counter = &set->counters[i];
		int fd;

		if (strcmp(counter->pmu, set->pmus[pmu].name) != 0 || !counts_on(set, counter, cpu) ||
		    place.fds[counter->kind] >= 0)
			continue;
		fd = counter_open(counter, cpu);
		if (fd < 0) {
			offcore_close_place(&place);
			diagnose(fd, counter, cpu, ret_message);
			return fd;
		}
		place.fds[counter->kind] = fd;
	}
	*ret = place;
	return 0;
}

static int start_place(struct offcore_set *set, const struct offcore_place *place, char **ret_message)
{
	int r = kernel_offcore_place(set->kernel, (u32)place->cpu, place->pmu, place->fds);

	if (r < 0) {
		if (ret_message &&
		    asprintf(ret_message,
			     "cannot pass the off-core counters of PMU %s on CPU %d to the BPF programs: "
			     "%s",
			     set->pmus[place->pmu].name, place->cpu, strerror(-r)) < 0)
			*ret_message = NULL;
		return r;
	}
	offcore_save_put(set, place);
	if (!set->paused)
		offcore_control_place(place, PERF_EVENT_IOC_ENABLE);
	return 0;
}

/* After a change also updates the members of the counters: a PMU lists a CPU before it is online. */
static int online_cpus(struct offcore_set *set, struct cpu_list *ret, char **ret_message)
{
	int r = cpu_list_read(set->online_path, ret);

	if (r < 0) {
		if (asprintf(ret_message, "cannot read the list of online CPUs from %s: %s%s",
			     set->online_path, strerror(-r), r == -ENOENT ? "; mount sysfs on /sys" : "") < 0)
			*ret_message = NULL;
		return r;
	}
	for (size_t i = 0; i < set->n_counters && !cpu_list_equal(ret, &set->members_as_of); i++)
		if (set->counters[i].has_members)
			perf_selection_update_members(&set->counters[i].members_source,
						      &set->counters[i].members);
	set->members_as_of = *ret;
	return 0;
}

/*
 * Returns the number of counters that are missing: those that belong on online CPUs without counters. `ret` has
 * these CPUs.
 */
static size_t find_missing(const struct offcore_set *set, const struct cpu_list *online, struct cpu_list *ret)
{
	struct cpu_list others = {0};
	size_t n = 0;
	u32 pmu;

	for (size_t i = 0; i < set->n; i++)
		cpu_list_add(&others, set->places[i].cpu);
	*ret = *online;
	cpu_list_drop(ret, &others);
	for (int cpu = cpu_list_next(ret, -1); cpu >= 0; cpu = cpu_list_next(ret, cpu))
		if (pmu_of(set, cpu, &pmu))
			n += (size_t)__builtin_popcount(set->pmus[pmu].kinds);
		else
			cpu_list_add(&others, cpu);
	cpu_list_drop(ret, &others);
	return n;
}

static int reserve(size_t counters, const struct cpu_list *cpus, char **ret_message)
{
	_cleanup_free_ char *names = NULL;
	int r = descriptor_limit_reserve(counters);

	if (r == 0)
		return 0;
	names = cpu_list_format(cpus);
	if (!names ||
	    asprintf(
		    ret_message,
		    "cannot count off-core responses on CPU%s %s: %s; raise LimitNOFILE= of the unit (ulimit -n)",
		    cpu_list_count(cpus) == 1 ? "" : "s", names, strerror(-r)) < 0)
		*ret_message = NULL;
	return r;
}

/* Opens the counters of a CPU, and starts them if the set is started. `ret_message` may be NULL. */
static int open_cpu(struct offcore_set *set, int cpu, char **ret_message)
{
	struct offcore_place place;
	u32 pmu = 0;
	int r;

	(void)pmu_of(set, cpu, &pmu);
	r = open_place(set, cpu, pmu, &place, ret_message);
	if (r == 0 && set->kernel) {
		r = start_place(set, &place, ret_message);
		if (r < 0)
			offcore_close_place(&place);
	}
	if (r == 0)
		set->places[set->n++] = place;
	return r;
}

/*
 * Opens the counters on CPUs that have none, and starts them if the set is started. Returns the number of
 * these CPUs, or -errno of the first failure.
 */
static int open_new(struct offcore_set *set, const struct cpu_list *online, char **ret_message)
{
	struct offcore_place *longer;
	struct cpu_list missing;
	int opened = 0, error = 0;
	size_t counters = find_missing(set, online, &missing);

	if (counters == 0)
		return 0;
	longer = reallocarray(set->places, set->n + cpu_list_count(&missing), sizeof(*longer));
	if (!longer)
		return -ENOMEM;
	set->places = longer;
	error = reserve(counters, &missing, ret_message);
	if (error < 0)
		return error;
	for (int cpu = cpu_list_next(&missing, -1); cpu >= 0; cpu = cpu_list_next(&missing, cpu)) {
		int r = open_cpu(set, cpu, error == 0 ? ret_message : NULL);

		opened += r == 0;
		if (error == 0)
			error = r;
		/*
		 * At the start (`kernel` is not set yet), stop at the first failure. Later, skip this CPU:
		 * the others keep counting.
		 */
		if (error < 0 && !set->kernel)
			break;
	}
	return error < 0 ? error : opened;
}

int offcore_open(const struct pmu_counter *counters, size_t n, const char *online_path,
		 struct offcore_set **ret, char **ret_message)
{
	_cleanup_(offcore_freep) struct offcore_set *set = calloc(1, sizeof(*set));
	struct cpu_list online, possible;
	int r;

	*ret_message = NULL;
	if (!set)
		return -ENOMEM;
	if (n > PMU_COUNTERS_MAX)
		return -E2BIG;
	set->n_counters = n;
	memcpy(set->counters, counters, n * sizeof(*counters));
	for (size_t i = 0; i < n; i++) {
		r = add_pmu(set, &counters[i]);
		if (r < 0)
			return r;
	}
	set->online_path = strdup(online_path);
	if (!set->online_path)
		return -ENOMEM;
	r = online_cpus(set, &online, ret_message);
	if (r < 0)
		return r;
	/*
	 * CPUs that are offline now may come online, so the records of all possible CPUs are created at the
	 * start.
	 */
	if (cpu_list_read("/sys/devices/system/cpu/possible", &possible) < 0)
		possible = online;
	set->cpus = cpu_list_end(&possible);
	r = open_new(set, &online, ret_message);
	if (r < 0)
		return r;
	if (set->n == 0) {
		if (asprintf(
			    ret_message,
			    "cannot count off-core responses: no online CPU that can count them is among those that `cpus` and `isolated` in [sampling] select (online CPUs: see %s); bring one online or select others, then restart pebsd",
			    online_path) < 0)
			*ret_message = NULL;
		return -ENODEV;
	}
	*ret = TAKE_PTR(set);
	return 0;
}

u32 offcore_cpus(const struct offcore_set *set)
{
	return set->cpus;
}

const struct offcore_pmu *offcore_pmus(const struct offcore_set *set, size_t *ret_n)
{
	*ret_n = set->n_pmus;
	return set->pmus;
}

int offcore_start(struct offcore_set *set, struct kernel_offcore *kernel,
		  const struct offcore_save_settings *save, char **ret_message)
{
	int r;

	*ret_message = NULL;
	set->kernel = kernel;
	r = save ? offcore_save_begin(set, save) : 0;
	if (r < 0)
		return r;
	for (size_t i = 0; i < set->n; i++) {
		if (offcore_save_take(set, &set->places[i]))
			continue;
		r = start_place(set, &set->places[i], ret_message);

		if (r < 0)
			return r;
	}
	offcore_save_begun(set);
	return 0;
}

void offcore_collect(const struct offcore_set *set)
{
	/*
	 * Ignore failures: a CPU that went offline in the meantime runs no task, so it has no counts to
	 * collect.
	 */
	for (size_t i = 0; i < set->n; i++)
		(void)kernel_offcore_collect(set->kernel, (u32)set->places[i].cpu);
}

/*
 * Returns true if the kernel detached the events from their CPU. The kernel does not attach them again when
 * the CPU comes back (__perf_event_exit_context() in kernel/events/core.c). Their enabled time then no longer
 * increases.
 */
static bool detached(const struct offcore_set *set, struct offcore_place *place)
{
	const struct offcore_cpu *state = kernel_offcore_cpu(set->kernel, (u32)place->cpu);
	u64 settles = __atomic_load_n(&state->settles, __ATOMIC_RELAXED);
	u64 enabled_ns = 0;
	bool still;

	for (size_t kind = 0; kind < OFFCORE_KINDS; kind++)
		if (place->fds[kind] >= 0)
			enabled_ns += __atomic_load_n(&state->last[kind].enabled_ns, __ATOMIC_RELAXED);
	still = !set->paused && settles > place->settles && place->settles > 0 &&
		enabled_ns == place->enabled_ns;
	place->settles = settles;
	place->enabled_ns = enabled_ns;
	return still;
}

static int close_gone(struct offcore_set *set, const struct cpu_list *online)
{
	size_t kept = 0;
	int closed = 0;

	for (size_t i = 0; i < set->n; i++) {
		struct offcore_place *place = &set->places[i];

		if (cpu_list_has(online, place->cpu) && !detached(set, place)) {
			set->places[kept++] = *place;
			continue;
		}
		kernel_offcore_remove(set->kernel, (u32)place->cpu);
		offcore_save_drop(set, place->cpu);
		offcore_close_place(place);
		closed++;
	}
	set->n = kept;
	return closed;
}

int offcore_hotplug(struct offcore_set *set, char **ret_message)
{
	struct cpu_list online;
	int closed, r;

	*ret_message = NULL;
	r = online_cpus(set, &online, ret_message);
	if (r < 0)
		return r;
	closed = close_gone(set, &online);
	r = open_new(set, &online, ret_message);
	return r < 0 ? r : closed + r;
}

void offcore_pause(struct offcore_set *set)
{
	set->paused = true;
	for (size_t i = 0; i < set->n; i++)
		offcore_control_place(&set->places[i], PERF_EVENT_IOC_DISABLE);
}

void offcore_resume(struct offcore_set *set)
{
	set->paused = false;
	for (size_t i = 0; i < set->n; i++) {
		set->places[i].settles = 0;
		offcore_control_place(&set->places[i], PERF_EVENT_IOC_ENABLE);
	}
}

// SPDX-License-Identifier: GPL-2.0
#include "origin/perf/perf_cpu.h"

#include <errno.h>
#include <sys/ioctl.h>

#include "base/cleanup.h"
#include "base/monotonic.h"
#include "origin/perf/perf_backend.h"
#include "origin/pmu/perf_attr.h"

void perf_cpu_close(struct perf_cpu *event)
{
	perf_mmap_close(&event->map);
	perf_mmap_close(&event->leader_map);
	cleanup_close(&event->fd);
	cleanup_close(&event->leader_fd);
}

void perf_cpu_map(const struct event_spec *spec, struct perf_cpu *event)
{
	const bool count = event_is_count(&spec->event);

	perf_mmap_open(event->fd, count ? PERF_MMAP_COUNT_PAGES_MAX : PERF_MMAP_DATA_PAGES_MAX, &event->map);
	if (event->leader_fd >= 0)
		perf_mmap_open(event->leader_fd, PERF_MMAP_DATA_PAGES_MAX, &event->leader_map);
}

int perf_cpu_open(const struct event_spec *spec, int cpu, struct perf_cpu *ret)
{
	_cleanup_close_ int leader_fd = -1;
	struct perf_event_attr attr;
	int fd;

	if (spec->has_leader) {
		perf_attr_leader(spec, &attr);
		leader_fd = perf_backend_cpu(&attr, cpu, -1);
		if (leader_fd < 0)
			return leader_fd;
	}
	perf_attr(spec, spec->event.period, &attr);
	fd = perf_backend_cpu(&attr, cpu, leader_fd);
	if (fd < 0)
		return fd;
	*ret = (struct perf_cpu){
		.cpu = cpu,
		.leader_fd = TAKE_FD(leader_fd),
		.fd = fd,
		.period = spec->event.period,
		.page_moves = spec->type != PERF_TYPE_SOFTWARE,
		.stall.likely = spec->collides,
	};
	/* If mapping fails, reading the count takes a read(2), and throttling is not known. */
	perf_cpu_map(spec, ret);
	return 0;
}

/*
 * Tries weaker attributes until the kernel accepts some. Returns the first error, because later ones say
 * less.
 */
int perf_cpu_open_relaxed(struct event_spec *spec, int cpu, struct perf_cpu *ret)
{
	struct event_spec attempt = *spec;
	int first = 0;
	int r;

	for (;;) {
		r = perf_cpu_open(&attempt, cpu, ret);
		if (r >= 0) {
			*spec = attempt;
			return 0;
		}
		/* -ENODATA demands a leader. Then the result of the attempt with a leader counts. */
		if (first == 0 || first == -ENODATA)
			first = r;
		if (!perf_attr_relax(spec, r, &attempt))
			return first;
	}
}

static int cpu_control(const struct perf_cpu *event, unsigned long request)
{
	int first_fd = event->leader_fd >= 0 ? event->leader_fd : event->fd;

	return ioctl(first_fd, request, PERF_IOC_FLAG_GROUP) < 0 ? -errno : 0;
}

int perf_cpu_attach(const struct perf_cpu *event, int program_fd)
{
	return ioctl(event->fd, PERF_EVENT_IOC_SET_BPF, program_fd) < 0 ? -errno : 0;
}

int perf_cpu_enable(struct perf_cpu *event)
{
	perf_outage_start(&event->outage, monotonic_ns());
	return cpu_control(event, PERF_EVENT_IOC_ENABLE);
}

int perf_cpu_start(struct perf_cpu *event, int program_fd)
{
	int r = perf_cpu_attach(event, program_fd);

	return r < 0 ? r : perf_cpu_enable(event);
}

void perf_cpu_stop(struct perf_cpu *event)
{
	event->stopped = true;
	(void)cpu_control(event, PERF_EVENT_IOC_DISABLE);
}

void perf_cpu_revive(const struct perf_cpu *event)
{
	if (event->outage.in_error)
		(void)cpu_control(event, PERF_EVENT_IOC_ENABLE);
}

/* Takes a later reading. A count that excludes a part of a period never replaces a higher exact one. */
static void cpu_take(struct perf_cpu *event, const struct perf_reading *reading)
{
	struct perf_reading *last = &event->last;

	if (reading->count > last->count)
		last->count = reading->count;
	if (reading->enabled_ns > last->enabled_ns)
		last->enabled_ns = reading->enabled_ns;
	if (reading->running_ns > last->running_ns)
		last->running_ns = reading->running_ns;
}

void perf_cpu_read(struct perf_cpu *event, bool started)
{
	struct {
		u64 count;
		u64 enabled_ns;
		u64 running_ns;
	} values;
	ssize_t n;

	/* A pinned event without a counter reads as 0 bytes. In a group, only the leader does. */
	n = event->leader_fd >= 0 ? read(event->leader_fd, &values, sizeof(values)) : (ssize_t)sizeof(values);
	if (n == (ssize_t)sizeof(values))
		n = read(event->fd, &values, sizeof(values));
	perf_outage_note(&event->outage, n == 0, monotonic_ns());
	if (n != (ssize_t)sizeof(values))
		return;
	/*
	 * `enabled_ns` of an enabled event grows even without a counter. If it did not grow, the event is
	 * detached.
	 */
	event->detached = started && values.enabled_ns == event->read_enabled_ns;
	event->read_enabled_ns = values.enabled_ns;
	cpu_take(event, &(struct perf_reading){
				.count = values.count,
				.enabled_ns = values.enabled_ns,
				.running_ns = values.running_ns,
			});
}

void perf_cpu_update(struct perf_cpu *event, bool started)
{
	struct perf_reading reading;

	if (event->map.page && perf_page_read(event->map.page, event->period, &reading) == 0) {
		bool moved = event->page_moves && reading.count > event->last.count;

		/*
		 * The page of an event that is not on a counter holds its last count, which read(2) does not
		 * return for an event in error.
		 */
		cpu_take(event, &reading);
		if (reading.running || moved) {
			event->read_enabled_ns = 0;
			perf_outage_note(&event->outage, false, monotonic_ns());
			return;
		}
	}
	perf_cpu_read(event, started);
}

/* Returns the whole periods in the count. Each change of the period starts a new period. */
static u64 expected_of(const struct perf_cpu *event)
{
	return event->expected_before + (event->last.count - event->counted_before) / event->period;
}

int perf_cpu_set_period(struct perf_cpu *event, u64 period, bool started)
{
	const bool detached = event->detached;
	u64 value = period;
	int r = 0;

	if (started)
		(void)cpu_control(event, PERF_EVENT_IOC_DISABLE);
	/* For an event in error, read(2) returns nothing, but the page has the whole count. */
	perf_cpu_update(event, false);
	perf_cpu_read(event, false);
	event->detached = detached;
	if (ioctl(event->fd, PERF_EVENT_IOC_PERIOD, &value) < 0) {
		r = -errno;
	} else {
		event->expected_before = expected_of(event);
		event->counted_before = event->last.count;
		event->period = period;
	}
	if (started)
		(void)cpu_control(event, PERF_EVENT_IOC_ENABLE);
	return r;
}

/*
 * Reads the page again after the count. A CPU that was idle until the first reading of the page may have
 * taken samples before the count was read, and the count must be compared with a page that includes them. If
 * the page has no counter number, perf_cpu_update() reads the count regularly, and the last one is good
 * enough.
 */
bool perf_cpu_find_stall(struct perf_cpu *event, u64 now_ns, bool last)
{
	const struct perf_event_mmap_page *page = event->map.page;
	struct perf_reading before, after;

	event->stalled = false;
	if (!page || !event->page_moves || perf_page_read(page, event->period, &before) < 0)
		return false;
	if (!perf_stall_watch(&event->stall, &before, now_ns) && !last)
		return false;
	if (before.running)
		perf_cpu_read(event, true);
	if (perf_page_read(page, event->period, &after) < 0)
		return false;
	(void)perf_stall_watch(&event->stall, &after, now_ns);
	event->stalled = perf_stall_judge(&event->stall, event->period, event->last.count);
	return event->stalled;
}

void perf_cpu_rearm(struct perf_cpu *event)
{
	if (!event->stalled)
		return;
	event->stalled = false;
	(void)perf_cpu_set_period(event, event->period, true);
	event->stall.rearmed++;
	event->stall.missed += (event->last.count - event->stall.page.count) / event->period;
	event->stall.page.count = event->last.count;
}

void perf_cpu_read_throttling(struct perf_cpu *event)
{
	perf_mmap_read(&event->map, event->fd);
	perf_mmap_read(&event->leader_map, event->leader_fd);
}

struct cpu_counts perf_cpu_counts(const struct perf_cpu *event)
{
	const struct perf_throttle *own = &event->map.throttle;
	const struct perf_throttle *leader = &event->leader_map.throttle;

	return (struct cpu_counts){
		.cpu = event->cpu,
		.open = true,
		.in_error = event->outage.in_error,
		.count = event->last.count,
		.expected = expected_of(event),
		.enabled_ns = event->last.enabled_ns + event->outage.ns,
		.running_ns = event->last.running_ns,
		.throttle_known = event->map.data_pages > 0 &&
				  (event->leader_fd < 0 || event->leader_map.data_pages > 0),
		.throttled_ns = own->throttled_ns + leader->throttled_ns,
		.throttles = own->throttles + leader->throttles,
		.rearmed = event->stall.rearmed,
		.missed = event->stall.missed,
	};
}

// SPDX-License-Identifier: GPL-2.0
#include "zoom/zoom_events.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

#include "base/descriptor_limit.h"
#include "base/monotonic.h"
#include "origin/perf/perf.h"
#include "origin/perf/perf_backend.h"
#include "zoom/zoom_attr.h"
#include "zoom/zoom_diagnose.h"
#include "zoom/zoom_limit.h"
#include "zoom/zoom_parse.h"
#include "zoom/zoom_ring.h"
#include "zoom/zoom_source.h"

/*
 * At the default rate, a CPU cannot fill this between two drains, even with the deepest stacks. At the
 * highest rate it can: the kernel then counts lost records.
 */
#define RING_BYTES_MAX (512U << 10)

/* Reading the count of a running event interrupts its CPU. Counts are therefore read at most this often. */
#define COUNTS_NS NSEC_PER_SEC

/* One event on one CPU. */
struct member {
	u32 event; /* index in `events` */
	int fd;
	int leader_fd; /* -1: no leader */
	u64 id;
	u64 leader_id;
};

struct zoom_cpu {
	int cpu;
	struct zoom_ring ring; /* mapped by the first member; the others write there too */
	size_t n;
	struct member members[ZOOM_EVENTS_MAX];
};

struct opened {
	struct event_spec spec;
	struct zoom_ways ways; /* the features that the kernel accepted, once opened on any CPU */
	bool settled;
	struct perf_event_attr attr;
};

struct zoom_events {
	struct zoom_source source; /* must be first */
	int cgroup_fd;
	u64 cgroup_id;
	struct zoom_limit *limit;
	size_t n_events;
	struct opened events[ZOOM_EVENTS_MAX];
	size_t n_cpus;
	struct zoom_cpu *cpus;
	bool stopped;
	u64 counted_ns; /* time at which `counts` was last read from the events; 0: never */
	struct zoom_counts counts;
	u64 lost_logged; /* sum of the LOST records */
	struct zoom_stacks stacks;
	u8 copy[ZOOM_RECORD_BYTES_MAX]; /* of a record that wraps around; shared by the rings */
};

static int event_open(const struct zoom_events *events, const struct perf_event_attr *attr, int cpu,
		      int group_fd)
{
	return perf_backend_cgroup(attr, events->cgroup_fd, cpu, group_fd);
}

static int read_id(int fd, u64 *ret)
{
	return ioctl(fd, PERF_EVENT_IOC_ID, ret) < 0 ? -errno : 0;
}

static void member_close(struct member *member)
{
	cleanup_close(&member->fd);
	cleanup_close(&member->leader_fd);
}

/* Opens the event with exactly the features in `ways`. */
static int open_as(const struct zoom_events *events, const struct event_spec *spec,
		   const struct zoom_ways *ways, const struct zoom_cpu *cpu, struct member *ret)
{
	_cleanup_close_ int leader_fd = -1;
	struct perf_event_attr attr;
	int fd;

	if (spec->has_leader) {
		zoom_attr_leader(spec, &attr);
		leader_fd = event_open(events, &attr, cpu->cpu, -1);
		if (leader_fd < 0)
			return leader_fd;
	}
	/* Only one event of a CPU logs tasks: the others would log the same. */
	zoom_attr(spec, ways, cpu->n == 0, &attr);
	fd = event_open(events, &attr, cpu->cpu, leader_fd);
	if (fd < 0)
		return fd;
	*ret = (struct member){.fd = fd, .leader_fd = TAKE_FD(leader_fd)};
	return 0;
}

/* If every attempt fails, returns the error of the first one: giving up features did not help. */
static int open_weaker(const struct zoom_events *events, struct opened *opened, const struct zoom_cpu *cpu,
		       struct member *ret)
{
	struct zoom_ways ways = opened->ways;
	int first = 0;

	for (;;) {
		int r = open_as(events, &opened->spec, &ways, cpu, ret);

		if (r == 0) {
			opened->ways = ways;
			opened->settled = true;
			return 0;
		}
		if (first == 0)
			first = r;
		if (opened->settled || !zoom_attr_weaken(r, &ways))
			return first;
	}
}

static int set_output(int fd, int ring_fd)
{
	return ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, ring_fd) < 0 ? -errno : 0;
}

/* Directs the output of the event and its leader to the ring of the CPU's first event. */
static int join_ring(struct zoom_events *events, struct zoom_cpu *cpu, struct member *member,
		     size_t ring_bytes)
{
	int r;

	if (cpu->n == 0)
		r = zoom_ring_open(member->fd, ring_bytes, events->copy, &cpu->ring);
	else
		r = set_output(member->fd, cpu->members[0].fd);
	if (r == 0 && member->leader_fd >= 0)
		r = set_output(member->leader_fd, cpu->n == 0 ? member->fd : cpu->members[0].fd);
	if (r == 0)
		r = read_id(member->fd, &member->id);
	if (r == 0 && member->leader_fd >= 0)
		r = read_id(member->leader_fd, &member->leader_id);
	return r;
}

static int fail(int error, const char *what, int cpu, const char *remedy, char **ret_message)
{
	if (asprintf(ret_message, "cannot %s on CPU %d: %s%s", what, cpu, strerror(-error), remedy) < 0)
		*ret_message = NULL;
	return error;
}

static int open_member(struct zoom_events *events, u32 index, struct zoom_cpu *cpu, size_t ring_bytes,
		       char **ret_message)
{
	struct opened *opened = &events->events[index];
	struct member member;
	struct zoom_facts facts;
	int r;

	r = open_weaker(events, opened, cpu, &member);
	if (r == -ENODEV) /* went offline after the list was read: leave it out */
		return 0;
	if (r < 0) {
		zoom_facts_gather(events->cgroup_fd, &facts);
		return zoom_diagnose_open(r, &opened->spec.event, cpu->cpu, &facts, ret_message);
	}
	member.event = index;
	r = join_ring(events, cpu, &member, ring_bytes);
	if (r < 0) {
		member_close(&member);
		return fail(r, "set up the ring buffer of an event", cpu->cpu,
			    r == -ENOMEM  ? "; free memory"
			    : r == -EPERM ? "; raise LimitMEMLOCK= of the unit (ulimit -l)"
					  : "",
			    ret_message);
	}
	if (ioctl(member.fd, PERF_EVENT_IOC_SET_BPF, zoom_limit_fd(events->limit)) < 0) {
		r = -errno;
		member_close(&member);
		return fail(r, "attach the zoom's rate-limiting BPF program to an event", cpu->cpu, "",
			    ret_message);
	}
	cpu->members[cpu->n++] = member;
	return 0;
}

static bool is_on(const struct opened *opened, int cpu)
{
	return !opened->spec.has_members || cpu_list_has(&opened->spec.members, cpu);
}

/* The online CPUs on which at least one event is to be opened. */
static int list_cpus(const struct zoom_events *events, struct cpu_list *ret, char **ret_message)
{
	struct cpu_list online;
	int r = cpu_list_read(PERF_ONLINE_PATH, &online);

	*ret = (struct cpu_list){0};
	if (r < 0) {
		if (asprintf(ret_message, "cannot read the list of online CPUs from %s: %s%s",
			     PERF_ONLINE_PATH, strerror(-r), r == -ENOENT ? "; mount sysfs on /sys" : "") < 0)
			*ret_message = NULL;
		return r;
	}
	for (int cpu = cpu_list_next(&online, -1); cpu >= 0; cpu = cpu_list_next(&online, cpu))
		for (size_t i = 0; i < events->n_events; i++)
			if (is_on(&events->events[i], cpu))
				cpu_list_add(ret, cpu);
	return 0;
}

static int open_cpu(struct zoom_events *events, int number, size_t ring_bytes, char **ret_message)
{
	struct zoom_cpu *cpu = &events->cpus[events->n_cpus++];

	*cpu = (struct zoom_cpu){.cpu = number};
	for (u32 i = 0; i < events->n_events; i++) {
		int r = is_on(&events->events[i], number)
				? open_member(events, i, cpu, ring_bytes, ret_message)
				: 0;

		if (r < 0)
			return r;
	}
	return 0;
}

static int open_all(struct zoom_events *events, char **ret_message)
{
	struct cpu_list cpus;
	size_t members = 0;
	size_t n, ring_bytes;
	int r;

	r = list_cpus(events, &cpus, ret_message);
	if (r < 0)
		return r;
	n = cpu_list_count(&cpus);
	events->cpus = calloc(n ? n : 1, sizeof(*events->cpus));
	if (!events->cpus)
		return -ENOMEM;
	r = descriptor_limit_reserve(n * events->n_events * 2);
	if (r < 0) {
		if (asprintf(ret_message,
			     "cannot reserve two file descriptors for each event and CPU: %s; raise "
			     "LimitNOFILE= of the unit",
			     strerror(-r)) < 0)
			*ret_message = NULL;
		return r;
	}
	ring_bytes = zoom_ring_size(n ? n : 1, ZOOM_RINGS_BYTES, ZOOM_RING_BYTES_MIN, RING_BYTES_MAX);
	for (int cpu = cpu_list_next(&cpus, -1); cpu >= 0 && r == 0; cpu = cpu_list_next(&cpus, cpu))
		r = open_cpu(events, cpu, ring_bytes, ret_message);
	if (r < 0)
		return r;
	for (size_t i = 0; i < events->n_cpus; i++)
		members += events->cpus[i].n;
	if (members > 0)
		return 0;
	*ret_message = strdup("none of the CPUs that can run the zoom's events is online");
	return -ENODEV;
}

static void control(struct zoom_events *events, unsigned long request)
{
	for (size_t i = 0; i < events->n_cpus; i++)
		for (size_t j = 0; j < events->cpus[i].n; j++) {
			const struct member *member = &events->cpus[i].members[j];

			/* The call fails if the CPU went offline. No samples come from that CPU either. */
			(void)ioctl(member->leader_fd >= 0 ? member->leader_fd : member->fd, request,
				    PERF_IOC_FLAG_GROUP);
		}
}

static int take_settings(struct zoom_events *events, const struct zoom_events_settings *settings,
			 char **ret_message)
{
	struct zoom_limit_settings limit = {.rate = settings->rate};
	struct stat directory;

	if (settings->n_specs == 0 || settings->n_specs > ZOOM_EVENTS_MAX || settings->rate == 0)
		return -EINVAL;
	events->cgroup_fd = fcntl(settings->cgroup_fd, F_DUPFD_CLOEXEC, 0);
	/* The inode number of a cgroup's directory is the cgroup's id (kernfs_id_ino(), Linux 6.1). */
	if (events->cgroup_fd < 0 || fstat(events->cgroup_fd, &directory) < 0)
		return -errno;
	events->cgroup_id = directory.st_ino;
	events->n_events = settings->n_specs;
	for (size_t i = 0; i < settings->n_specs; i++) {
		const struct event_spec *spec = &settings->specs[i];

		events->events[i] = (struct opened){
			.spec = *spec,
			.ways = {.lbr = settings->lbr,
				 .physical = settings->physical && spec->event.settings.has_address,
				 .build_ids = true},
		};
		/*
		 * Only IBS events select operations, and a machine with IBS has no other events. So all
		 * events of a zoom select the same operations.
		 */
		if (i > 0 && limit.operations != spec->event.settings.operations)
			return -EINVAL;
		limit.operations = spec->event.settings.operations;
	}
	return zoom_limit_open(&limit, &events->limit, ret_message);
}

static const struct member *writer_of(const struct zoom_cpu *cpu, const u8 *record, size_t size)
{
	u64 id;

	if (zoom_parse_id(record, size, &id) < 0)
		return NULL;
	for (size_t i = 0; i < cpu->n; i++)
		if (cpu->members[i].id == id ||
		    (cpu->members[i].leader_fd >= 0 && cpu->members[i].leader_id == id))
			return &cpu->members[i];
	return NULL;
}

static int drain_record(struct zoom_events *events, const struct zoom_cpu *cpu, const u8 *bytes, size_t size,
			int (*callback)(void *userdata, const struct zoom_record *record), void *userdata)
{
	const struct member *member = writer_of(cpu, bytes, size);
	const struct opened *opened;
	struct zoom_record record;

	if (!member) {
		events->counts.malformed++;
		return 0;
	}
	opened = &events->events[member->event];
	if (zoom_parse(&opened->attr, &opened->spec.event, bytes, size, &events->stacks, &record) < 0) {
		events->counts.malformed++;
		return 0;
	}
	if (record.kind == ZOOM_RECORD_SAMPLE) {
		record.sample.event = member->event;
		record.sample.of.event = (u16)member->event;
	}
	events->lost_logged += record.kind == ZOOM_RECORD_LOST ? record.lost : 0;
	events->counts.throttles += record.kind == ZOOM_RECORD_THROTTLED;
	return callback(userdata, &record);
}

static int drain_cpu(struct zoom_events *events, struct zoom_cpu *cpu,
		     int (*callback)(void *userdata, const struct zoom_record *record), void *userdata)
{
	u64 head = zoom_ring_head(&cpu->ring);
	const u8 *record;
	size_t size;
	int found;
	int r = 0;

	while (r == 0 && (found = zoom_ring_next(&cpu->ring, head, &record, &size)) != 0) {
		if (found < 0)
			events->counts.malformed++;
		else
			r = drain_record(events, cpu, record, size, callback, userdata);
		zoom_ring_free_up(&cpu->ring);
	}
	return r;
}

static struct zoom_events *events_of(struct zoom_source *source)
{
	return (struct zoom_events *)source;
}

static const struct zoom_events *const_events_of(const struct zoom_source *source)
{
	return (const struct zoom_events *)source;
}

static int drain(struct zoom_source *source,
		 int (*callback)(void *userdata, const struct zoom_record *record), void *userdata)
{
	struct zoom_events *events = events_of(source);
	int r = 0;

	for (size_t i = 0; i < events->n_cpus && r == 0; i++)
		if (events->cpus[i].ring.page)
			r = drain_cpu(events, &events->cpus[i], callback, userdata);
	return r;
}

static void stop(struct zoom_source *source)
{
	struct zoom_events *events = events_of(source);

	if (events->stopped)
		return;
	control(events, PERF_EVENT_IOC_DISABLE);
	events->stopped = true;
	events->counted_ns = 0;
}

static void read_counts(struct zoom_events *events)
{
	struct {
		u64 count, enabled_ns, running_ns, lost;
	} values, sum = {0};

	for (size_t i = 0; i < events->n_cpus; i++)
		for (size_t j = 0; j < events->cpus[i].n; j++) {
			if (read(events->cpus[i].members[j].fd, &values, sizeof(values)) !=
			    (ssize_t)sizeof(values))
				continue;
			sum.count += values.count;
			sum.enabled_ns += values.enabled_ns;
			sum.running_ns += values.running_ns;
			sum.lost += values.lost;
		}
	events->counts.count = sum.count;
	events->counts.enabled_ns = sum.enabled_ns;
	events->counts.running_ns = sum.running_ns;
	events->counts.lost = sum.lost;
}

static void get_counts(struct zoom_source *source, struct zoom_counts *ret)
{
	struct zoom_events *events = events_of(source);
	u64 now = monotonic_ns();

	if (events->counted_ns == 0 || (!events->stopped && now - events->counted_ns >= COUNTS_NS)) {
		read_counts(events);
		events->counted_ns = now;
	}
	zoom_limit_counts(events->limit, &events->counts.seen, &events->counts.limited);
	/* The kernel logs lost records only with the next record that has room. Use the larger count. */
	if (events->lost_logged > events->counts.lost)
		events->counts.lost = events->lost_logged;
	*ret = events->counts;
}

static void describe(const struct zoom_source *source, struct zoom_about *ret)
{
	const struct zoom_events *events = const_events_of(source);

	ret->cgroup_id = events->cgroup_id;
	ret->n_events = events->n_events;
	ret->lbr = ret->physical = false;
	for (size_t i = 0; i < events->n_events; i++) {
		const struct opened *opened = &events->events[i];

		ret->events[i] = opened->spec.event;
		ret->attrs[i] = opened->attr;
		ret->lbr = ret->lbr || opened->ways.lbr;
		ret->physical = ret->physical || opened->ways.physical;
	}
}

static bool is_gone(const struct zoom_source *source)
{
	return zoom_facts_gone(const_events_of(source)->cgroup_fd);
}

static u64 memory_bytes(const struct zoom_source *source)
{
	const struct zoom_events *events = const_events_of(source);
	u64 sum = sizeof(*events) + zoom_limit_bytes(events->limit);

	for (size_t i = 0; i < events->n_cpus; i++)
		if (events->cpus[i].ring.page)
			sum += events->cpus[i].ring.size + (u64)sysconf(_SC_PAGESIZE);
	return sum;
}

static const struct zoom_source_methods methods = {
	.drain = drain,
	.stop = stop,
	.counts = get_counts,
	.describe = describe,
	.gone = is_gone,
	.bytes = memory_bytes,
};

static struct zoom_events *events_free(struct zoom_events *events)
{
	if (!events)
		return NULL;
	for (size_t i = 0; i < events->n_cpus; i++) {
		zoom_ring_close(&events->cpus[i].ring);
		for (size_t j = 0; j < events->cpus[i].n; j++)
			member_close(&events->cpus[i].members[j]);
	}
	zoom_limit_free(events->limit);
	cleanup_close(&events->cgroup_fd);
	free(events->cpus);
	free(events);
	return NULL;
}
DEFINE_CLEANUP(struct zoom_events *, events_free)

int zoom_events_open(const struct zoom_events_settings *settings, struct zoom_source **ret,
		     char **ret_message)
{
	_cleanup_(events_freep) struct zoom_events *events = calloc(1, sizeof(*events));
	int r;

	*ret_message = NULL;
	if (!events)
		return -ENOMEM;
	events->source.methods = &methods;
	events->cgroup_fd = -1;
	r = take_settings(events, settings, ret_message);
	if (r == 0)
		r = open_all(events, ret_message);
	if (r < 0)
		return r;
	for (size_t i = 0; i < events->n_events; i++)
		zoom_attr(&events->events[i].spec, &events->events[i].ways, true, &events->events[i].attr);
	control(events, PERF_EVENT_IOC_ENABLE);
	*ret = &TAKE_PTR(events)->source;
	return 0;
}

struct zoom_source *zoom_events_free(struct zoom_source *source)
{
	events_free(events_of(source));
	return NULL;
}

// SPDX-License-Identifier: GPL-2.0
/*
 * open_event [OPTION...]: opens an event with exactly the given attributes and runs it for a while on one CPU. The
 * event is of the PMU `cpu`, unless --type is given. Prints the result as JSON on one line. If the kernel refuses
 * the event, the result is {"error":"EINVAL"} or another error. Otherwise the result contains the count and times,
 * and what was in the ring buffer. Count and times are absent if read(2) returns nothing, as for a pinned event in
 * error state. If the sample type includes the instruction's address, the lowest and the highest address are
 * included.
 *   --cpu N  --type N  --config N  --config1 N  --config2 N  --period N  --freq N  --precise N
 *   --sample-type N  --wakeup N  --pinned N  --exclude-guest N  --exclude-kernel N  --for SECONDS (1)
 *   --leader CONFIG: a counting event that leads the group
 *   --cgroup DIRECTORY: only tasks below this cgroup (PERF_FLAG_PID_CGROUP)
 *   --from ADDRESS --to ADDRESS: `through` counts samples whose callchain has an address in this range
 *   --stops N: disables and enables the event N times after each ONCE_NS
 *   --enough N: ends as soon as there are N samples
 * SIGTERM ends it early, with the result.
 *
 * If the sample type includes physical addresses, `physical` counts samples whose physical address is not 0.
 *
 * Linked statically, so it runs in any root.
 */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define USAGE      2
#define RING_PAGES 64
#define ONCE_NS    20000000L

enum option_key {
	CPU,
	TYPE,
	CONFIG,
	CONFIG1,
	CONFIG2,
	PERIOD,
	FREQ,
	PRECISE,
	SAMPLE_TYPE,
	WAKEUP,
	PINNED,
	LEADER,
	EXCLUDE_GUEST,
	EXCLUDE_KERNEL,
	FOR,
	ENOUGH,
	STOPS,
	FROM,
	TO,
	CGROUP,
	OPTIONS
};

static const char *const names[OPTIONS] = {
	"cpu",     "type",        "config", "config1", "config2", "period",        "freq",
	"precise", "sample-type", "wakeup", "pinned",  "leader",  "exclude-guest", "exclude-kernel",
	"for",     "enough",      "stops",  "from",    "to",      "cgroup"};

struct request {
	uint64_t values[OPTIONS];
	bool given[OPTIONS];
	const char *cgroup;
};

struct found {
	bool has_ip; /* the address is the first field of each sample */
	uint64_t sample_type, from, to;
	uint64_t samples, lost, throttles;
	uint64_t through, physical;
	uint64_t least_ip, greatest_ip;
};

static volatile sig_atomic_t is_told_to_end;

static void end(int signal)
{
	(void)signal;
	is_told_to_end = 1;
}

static uint64_t number(const char *option, const char *text)
{
	char *end;
	unsigned long long value = strtoull(text, &end, 0);

	if (end == text || *end)
		errx(USAGE, "--%s: \"%s\" is not a number", option, text);
	return value;
}

static struct request read_options(int argc, char **argv)
{
	struct request request = {.values = {[TYPE] = PERF_TYPE_RAW, [PERIOD] = 10007, [FOR] = 1}};
	struct option options[OPTIONS + 1] = {0};
	int option;

	for (int i = 0; i < OPTIONS; i++)
		options[i] = (struct option){names[i], required_argument, NULL, i + 1};
	while ((option = getopt_long(argc, argv, "", options, NULL)) > 0) {
		if (option > OPTIONS)
			exit(USAGE);
		if (option - 1 == CGROUP)
			request.cgroup = optarg;
		else
			request.values[option - 1] = number(names[option - 1], optarg);
		request.given[option - 1] = true;
	}
	if (optind != argc)
		errx(USAGE, "\"%s\" is not an option", argv[optind]);
	return request;
}

static int event_open(struct perf_event_attr *attr, const struct request *request, int group)
{
	unsigned long flags = PERF_FLAG_FD_CLOEXEC;
	int of = -1;
	int fd;

	if (request->cgroup) {
		of = open(request->cgroup, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (of < 0)
			err(1, "%s", request->cgroup);
		flags |= PERF_FLAG_PID_CGROUP;
	}
	fd = (int)syscall(SYS_perf_event_open, attr, of, (int)request->values[CPU], group, flags);

	if (fd >= 0)
		return fd;
	printf("{\"error\":\"%s\"}\n", strerrorname_np(errno));
	exit(0);
}

static int open_request(const struct request *request, int *ret_leader)
{
	const uint64_t *values = request->values;
	struct perf_event_attr leader = {
		.type = (uint32_t)values[TYPE],
		.size = sizeof(leader),
		.config = values[LEADER],
		.disabled = 1,
		.pinned = values[PINNED] != 0,
	};
	struct perf_event_attr attr = {
		.type = (uint32_t)values[TYPE],
		.size = sizeof(attr),
		.config = values[CONFIG],
		.config1 = values[CONFIG1],
		.config2 = values[CONFIG2],
		.sample_period = values[PERIOD],
		.sample_type = values[SAMPLE_TYPE],
		.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
		.disabled = 1,
		.pinned = values[PINNED] && !request->given[LEADER],
		.precise_ip = values[PRECISE] & 3,
		.exclude_guest = values[EXCLUDE_GUEST] != 0,
		.exclude_kernel = values[EXCLUDE_KERNEL] != 0,
		.wakeup_events = (uint32_t)values[WAKEUP],
	};

	if (request->given[FREQ]) {
		attr.freq = 1;
		attr.sample_freq = values[FREQ];
	}
	*ret_leader = request->given[LEADER] ? event_open(&leader, request, -1) : -1;
	return event_open(&attr, request, *ret_leader);
}

/* Reads the fields of a sample in their order, up to the physical address. Ignores samples with other fields. */
static void look_into(const struct perf_event_header *header, struct found *found)
{
	const uint64_t *field = (const uint64_t *)(header + 1);
	const uint64_t type = found->sample_type;
	const uint64_t single = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
				PERF_SAMPLE_ADDR | PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU |
				PERF_SAMPLE_PERIOD;
	const uint64_t weights = PERF_SAMPLE_WEIGHT_TYPE | PERF_SAMPLE_DATA_SRC | PERF_SAMPLE_TRANSACTION;

	if (type & ~(single | weights | PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_PHYS_ADDR))
		return;
	field += __builtin_popcountll(type & single);
	if (type & PERF_SAMPLE_CALLCHAIN) {
		bool through = false;

		for (uint64_t i = 1; i <= *field; i++)
			through |= field[i] >= found->from && field[i] < found->to;
		found->through += through;
		field += 1 + *field;
	}
	field += __builtin_popcountll(type & weights);
	found->physical += type & PERF_SAMPLE_PHYS_ADDR && *field != 0;
}

static void count_sample(const struct perf_event_header *header, struct found *found)
{
	const uint64_t ip = *(const uint64_t *)(header + 1);

	if (found->has_ip && (!found->samples || ip < found->least_ip))
		found->least_ip = ip;
	if (found->has_ip && ip > found->greatest_ip)
		found->greatest_ip = ip;
	found->samples++;
	look_into(header, found);
}

static void count_records(struct perf_event_mmap_page *page, struct found *found)
{
	const char *data = (const char *)page + page->data_offset;
	uint64_t head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE);
	uint64_t tail = page->data_tail;

	while (tail < head) {
		/* Headers are never split, because the size of a record is a multiple of the header's size. */
		const struct perf_event_header *header = (const void *)(data + tail % page->data_size);

		if (header->type == PERF_RECORD_SAMPLE)
			count_sample(header, found);
		else if (header->type == PERF_RECORD_LOST || header->type == PERF_RECORD_LOST_SAMPLES)
			found->lost++;
		else if (header->type == PERF_RECORD_THROTTLE)
			found->throttles++;
		tail += header->size;
	}
	__atomic_store_n(&page->data_tail, tail, __ATOMIC_RELEASE);
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000U + (uint64_t)now.tv_nsec;
}

static void print_result(int fd, const struct found *found)
{
	struct {
		uint64_t count, enabled, running;
	} values;

	printf("{");
	if (read(fd, &values, sizeof(values)) == (ssize_t)sizeof(values))
		printf("\"count\":%llu,\"enabled\":%llu,\"running\":%llu,", (unsigned long long)values.count,
		       (unsigned long long)values.enabled, (unsigned long long)values.running);
	if (found->has_ip && found->samples)
		printf("\"least_ip\":%llu,\"greatest_ip\":%llu,", (unsigned long long)found->least_ip,
		       (unsigned long long)found->greatest_ip);
	if (found->sample_type & PERF_SAMPLE_CALLCHAIN)
		printf("\"through\":%llu,", (unsigned long long)found->through);
	if (found->sample_type & PERF_SAMPLE_PHYS_ADDR)
		printf("\"physical\":%llu,", (unsigned long long)found->physical);
	printf("\"ring\":%llu,\"lost\":%llu,\"throttles\":%llu}\n", (unsigned long long)found->samples,
	       (unsigned long long)found->lost, (unsigned long long)found->throttles);
}

static void control(int fd, unsigned long request)
{
	if (ioctl(fd, request, PERF_IOC_FLAG_GROUP) < 0)
		err(1, "cannot enable or disable the event");
}

int main(int argc, char **argv)
{
	struct request request = read_options(argc, argv);
	size_t page_size = (size_t)sysconf(_SC_PAGESIZE);
	const struct timespec once = {.tv_nsec = ONCE_NS};
	struct found found = {.has_ip = request.values[SAMPLE_TYPE] & PERF_SAMPLE_IP,
			      .sample_type = request.values[SAMPLE_TYPE],
			      .from = request.values[FROM],
			      .to = request.values[TO]};
	const struct sigaction action = {.sa_handler = end};
	int leader, first, fd;
	void *page;
	uint64_t until;

	if (sigaction(SIGTERM, &action, NULL))
		err(1, "sigaction");
	fd = open_request(&request, &leader);
	page = mmap(NULL, (RING_PAGES + 1) * page_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (page == MAP_FAILED)
		err(1, "cannot map the event's ring buffer");
	first = leader >= 0 ? leader : fd;
	control(first, PERF_EVENT_IOC_ENABLE);
	until = now_ns() + request.values[FOR] * 1000000000U;
	do {
		(void)nanosleep(&once, NULL);
		for (uint64_t i = 0; i < request.values[STOPS]; i++) {
			control(first, PERF_EVENT_IOC_DISABLE);
			control(first, PERF_EVENT_IOC_ENABLE);
		}
		count_records(page, &found);
	} while (!is_told_to_end && now_ns() < until &&
		 (!request.given[ENOUGH] || found.samples < request.values[ENOUGH]));
	control(first, PERF_EVENT_IOC_DISABLE);
	count_records(page, &found);
	print_result(fd, &found);
	return 0;
}

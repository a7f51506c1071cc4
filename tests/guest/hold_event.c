// SPDX-License-Identifier: GPL-2.0
/*
 * hold_event --cpu N --ldlat CYCLES [--pinned]: has a load latency event of its own on a CPU, with a period that no
 * sample comes of, until it is killed. The hardware has one threshold: who is pinned keeps others from it. Tells
 * systemd when it is so.
 */
#include <err.h>
#include <errno.h>
#include <getopt.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#define USAGE  2
#define EVENTS "/sys/bus/event_source/devices/cpu/events/mem-loads"
#define PERIOD 0x7fffffffU
#define PMU    PERF_TYPE_RAW /* of the core PMU */

static unsigned int parse(const char *option, const char *text, unsigned long most)
{
	char *end;
	unsigned long number = strtoul(text, &end, 10);

	if (end == text || *end || number > most)
		errx(USAGE, "--%s: \"%s\" is no number up to %lu", option, text, most);
	return (unsigned int)number;
}

static unsigned int event_code(void)
{
	unsigned int event, mask;
	FILE *file = fopen(EVENTS, "re");

	if (!file)
		err(1, "cannot open %s", EVENTS);
	if (fscanf(file, "event=%x,umask=%x", &event, &mask) != 2) /* NOLINT(cert-err34-c): a test's own file */
		errx(1, "%s has no event and umask", EVENTS);
	(void)fclose(file);
	return event | mask << 8;
}

static void tell_systemd(void)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	const char *path = getenv("NOTIFY_SOCKET");
	int fd;

	if (!path)
		return;
	(void)snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || sendto(fd, "READY=1", strlen("READY=1"), 0, (const struct sockaddr *)&address,
			     sizeof(address)) < 0)
		err(1, "cannot tell %s", path);
	(void)close(fd);
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{"cpu", required_argument, NULL, 'c'},
		{"ldlat", required_argument, NULL, 'l'},
		{"pinned", no_argument, NULL, 'p'},
		{NULL, 0, NULL, 0},
	};
	struct perf_event_attr attr = {
		.type = PMU,
		.size = sizeof(attr),
		.sample_period = PERIOD,
		.sample_type = PERF_SAMPLE_WEIGHT,
		.precise_ip = 2,
		.exclude_guest = 1,
		.wakeup_events = 1,
	};
	unsigned int cpu = 0;
	int option;

	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (option == 'c')
			cpu = parse("cpu", optarg, 1U << 16);
		else if (option == 'l')
			attr.config1 = parse("ldlat", optarg, 0xffff);
		else if (option == 'p')
			attr.pinned = 1;
		else
			exit(USAGE);
	}
	attr.config = event_code();
	if (syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC) < 0)
		err(1, "cannot open the event on CPU %u", cpu);
	tell_systemd();
	for (;;)
		(void)pause();
}

// SPDX-License-Identifier: GPL-2.0
/*
 * chase --bytes N --cpu C [--node N]: follows pointers through N bytes of memory, one cache line after the
 * other in a random order that closes into a cycle. It runs on CPU C, with the memory on NUMA node N. Each
 * load waits for the previous one, so its duration is the latency of the cache or memory that holds N bytes.
 * Prints "ready" once all memory is prepared. At SIGTERM it prints one line of JSON: N, C, the node of the
 * page that it would load from next, the number of loads, and the time per load.
 */
#include <err.h>
#include <errno.h>
#include <getopt.h>
#include <linux/mempolicy.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define USAGE     2
#define LINE      64
#define LEAST     (2UL * LINE)
#define MOST      (1UL << 40)
#define MOST_CPU  65535
#define MOST_NODE 1023
/* Loads between two checks for SIGTERM. */
#define BATCH 65536
/* The size and alignment of transparent huge pages on x86. By default, there are no larger ones. */
#define HUGE_PAGE (2UL << 20)

static volatile sig_atomic_t ended;

static void end(int signal_number)
{
	(void)signal_number;
	ended = 1;
}

static unsigned long parse(const char *option, const char *text, unsigned long least, unsigned long most)
{
	char *rest;
	unsigned long number;

	errno = 0;
	number = strtoul(text, &rest, 10);
	if (rest == text || *rest || *text == '-' || errno || number < least || number > most)
		errx(USAGE, "--%s: \"%s\" is not a number from %lu to %lu", option, text, least, most);
	return number;
}

/* xorshift64*: any order that a prefetcher cannot guess will do. */
static uint64_t random_below(uint64_t *state, uint64_t end_of_range)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return (*state * 0x2545f4914f6cdd1dULL >> 16) % end_of_range;
}

static void stay_on(unsigned long cpu)
{
	size_t size = CPU_ALLOC_SIZE(MOST_CPU + 1);
	cpu_set_t *set = CPU_ALLOC(MOST_CPU + 1);

	if (!set)
		err(1, "no memory");
	CPU_ZERO_S(size, set);
	CPU_SET_S(cpu, size, set);
	if (sched_setaffinity(0, size, set) < 0)
		err(1, "cannot run on CPU %lu", cpu);
	CPU_FREE(set);
}

static char *memory_on(unsigned long bytes, long node)
{
	unsigned long nodes[(MOST_NODE + 1) / (8 * sizeof(unsigned long))] = {0};
	size_t room = (bytes + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE + HUGE_PAGE;
	char *memory = mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		err(1, "no room for %lu bytes", bytes);
	if (node >= 0) {
		size_t bits = 8 * sizeof(nodes[0]);

		nodes[(size_t)node / bits] |= 1UL << ((size_t)node % bits);
		if (syscall(SYS_mbind, memory, room, MPOL_BIND, nodes, (unsigned long)MOST_NODE + 1, 0) < 0)
			err(1, "cannot have memory on NUMA node %ld", node);
	}
	memory += HUGE_PAGE - (uintptr_t)memory % HUGE_PAGE;
	/* Page walks should not be part of the latency. Without huge pages the program works all the same. */
	(void)madvise(memory, room - HUGE_PAGE, MADV_HUGEPAGE);
	return memory;
}

/* One cycle through all lines (Sattolo's algorithm): each holds the address of the next. */
static void link_lines(char *memory, size_t lines)
{
	uint64_t state = 0x9e3779b97f4a7c15ULL;
	size_t *order = malloc(lines * sizeof(*order));

	if (!order)
		err(1, "no memory");
	for (size_t i = 0; i < lines; i++)
		order[i] = i;
	for (size_t i = lines - 1; i > 0; i--) {
		size_t other = random_below(&state, i);
		size_t kept = order[i];

		order[i] = order[other];
		order[other] = kept;
	}
	for (size_t i = 0; i < lines; i++)
		*(void **)(memory + order[i] * LINE) = memory + order[(i + 1) % lines] * LINE;
	free(order);
}

/* Returns the NUMA node of the page at `memory`, or -errno if it cannot be found. */
static long node_of(char *memory)
{
	void *page = memory;
	int node = -ENOENT;

	if (syscall(SYS_move_pages, 0, 1UL, &page, NULL, &node, 0) < 0)
		return -errno;
	return node;
}

static double seconds(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {{"bytes", required_argument, NULL, 'b'},
						{"cpu", required_argument, NULL, 'c'},
						{"node", required_argument, NULL, 'n'},
						{NULL, 0, NULL, 0}};
	unsigned long bytes = 0, cpu = MOST_CPU + 1, loads = 0;
	const struct sigaction action = {.sa_handler = end};
	long node = -1;
	double since;
	void **at;
	int choice;

	while ((choice = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (choice == 'b')
			bytes = parse("bytes", optarg, LEAST, MOST);
		else if (choice == 'c')
			cpu = parse("cpu", optarg, 0, MOST_CPU);
		else if (choice == 'n')
			node = (long)parse("node", optarg, 0, MOST_NODE);
		else
			return USAGE;
	}
	if (!bytes || cpu > MOST_CPU || optind != argc)
		errx(USAGE, "usage: chase --bytes N --cpu C [--node N]");
	if (sigaction(SIGTERM, &action, NULL) < 0 || prctl(PR_SET_NAME, "pointer-chase") < 0)
		err(1, "cannot set up");
	stay_on(cpu);
	at = (void **)memory_on(bytes, node);
	link_lines((char *)at, bytes / LINE);
	(void)puts("ready");
	(void)fflush(stdout);

	since = seconds();
	while (!ended) {
		for (int i = 0; i < BATCH; i++)
			at = *(void *volatile *)at;
		loads += BATCH;
	}
	(void)printf("{\"bytes\":%lu,\"cpu\":%lu,\"node\":%ld,\"loads\":%lu,\"ns_a_load\":%.2f}\n", bytes,
		     cpu, node_of((char *)at), loads, (seconds() - since) * 1e9 / (double)loads);
	return 0;
}

// SPDX-License-Identifier: GPL-2.0
/*
 * sharing [FILE]: two threads, each on its own CPU, that slow each other down by one cache line that they
 * need not share, until SIGTERM. The results that a profiler should find are known:
 *
 *   main > service > hot_first       on CPU 0 adds to counters.first, at offset 0 of a line
 *   second_thread > service > hot_second
 *                                    on CPU 1 adds to counters.second, at offset 40 of the same line
 *   count_both                       on both adds to one word, which is true sharing
 *   read_table                       on both reads 512 lines in a cycle, more than a hot table holds
 *   read_remote                      on CPU 0 reads an array on the other node, larger than the caches
 *   think                            computes, and accesses nothing but its stack
 *
 * hot_first and hot_second have most of the samples, and of the latency even if the second thread has half of its
 * CPU's time. hot_first has more samples if the program has the same time on both CPUs. FILE gets JSON with the process
 * id, the addresses of the data, the address range of service(), and for each function except think() the start
 * address, and the address and line of its access. tests/build.mk links this program dynamically, with frame pointers.
 */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/mempolicy.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define LINE         64
#define TABLE_LINES  512
#define REMOTE_NODE  1
#define REMOTE_LINES (1L << 18)

struct counters {
	long first;
	long apart[4];
	long second;
	long unused[2]; /* keeps other data out of the line */
};

struct counters counters __attribute__((aligned(LINE)));
long both __attribute__((aligned(LINE)));
char table[TABLE_LINES * LINE] __attribute__((aligned(LINE)));

struct remote {
	char *array;
	long next;
} remote __attribute__((aligned(LINE)));

/* Describes an access. The assembler fills it in, because the compiler does not know the address. */
struct access {
	uintptr_t ip;
	long line;
	long function;
};

enum { HOT_FIRST, HOT_SECOND, COUNT_BOTH, READ_TABLE, READ_REMOTE, FUNCTIONS };

extern const struct access __start_accesses[], __stop_accesses[];

/*
 * One instruction, on a source line of its own, that adds to or reads the word at `address`. Using the
 * frame's address forces the function to have a frame, which compilers omit in functions without calls.
 */
#define ACCESS(instruction, address, function)                                                         \
	__asm__ volatile("1: " instruction "\n"                                                        \
			 ".pushsection accesses,\"aw\"\n.quad 1b, %c1, %c2\n.popsection"               \
			 :                                                                             \
			 : "r"(address), "i"(__LINE__), "i"(function), "X"(__builtin_frame_address(0)) \
			 : "memory", "rax")
#define ADD(address, function)  ACCESS("incq (%0)", address, function)
#define READ(address, function) ACCESS("movq (%0), %%rax", address, function)

#define FUNCTION(name) static __attribute__((noipa)) void name(long rounds)

FUNCTION(hot_first)
{
	for (long i = 0; i < rounds; i++)
		ADD(&counters.first, HOT_FIRST);
}

FUNCTION(hot_second)
{
	for (long i = 0; i < rounds; i++)
		ADD(&counters.second, HOT_SECOND);
}

FUNCTION(count_both)
{
	for (long i = 0; i < rounds; i++)
		ADD(&both, COUNT_BOTH);
}

FUNCTION(read_table)
{
	for (long i = 0; i < rounds; i++)
		READ(&table[i % TABLE_LINES * LINE], READ_TABLE);
}

FUNCTION(read_remote)
{
	for (long i = 0; i < rounds; i++)
		READ(&remote.array[remote.next++ % REMOTE_LINES * LINE], READ_REMOTE);
}

FUNCTION(think)
{
	for (volatile long i = 0; i < rounds; i++) {
	}
}

static const struct {
	const char *name;
	void (*start)(long rounds);
} functions[FUNCTIONS] = {
	[HOT_FIRST] = {"hot_first", hot_first},       [HOT_SECOND] = {"hot_second", hot_second},
	[COUNT_BOTH] = {"count_both", count_both},    [READ_TABLE] = {"read_table", read_table},
	[READ_REMOTE] = {"read_remote", read_remote},
};

/* The work of a thread in one round, in iterations. */
struct share {
	size_t cpu;
	void (*hot)(long rounds);
	long hot_rounds, table_rounds, both_rounds, remote_rounds, think_rounds;
};

static const struct share shares[] = {
	{0, hot_first, 70000, 12000, 10000, 300, 2000},
	{1, hot_second, 55000, 20000, 10000, 0, 4000},
};

static volatile sig_atomic_t going = 1;

static void end(int signal)
{
	(void)signal;
	going = 0;
}

static void service(const struct share *share);
static void *second_thread(void *argument);
int main(int argc, char **argv);

/*
 * Returns the start of the next function in memory after `function`, or UINTPTR_MAX. The compiler may place
 * functions in any order.
 */
static uintptr_t end_of(uintptr_t function)
{
	const uintptr_t others[] = {(uintptr_t)hot_first,  (uintptr_t)hot_second,  (uintptr_t)count_both,
				    (uintptr_t)read_table, (uintptr_t)read_remote, (uintptr_t)think,
				    (uintptr_t)end,        (uintptr_t)main,        (uintptr_t)second_thread,
				    (uintptr_t)end_of,     (uintptr_t)service};
	uintptr_t next = UINTPTR_MAX;

	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (others[i] > function && others[i] < next)
			next = others[i];
	return next;
}

static void pin(size_t cpu)
{
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(cpu, &cpus);
	errno = pthread_setaffinity_np(pthread_self(), sizeof(cpus), &cpus);
	if (errno)
		err(1, "cannot run on CPU %zu", cpu);
}

static __attribute__((noipa)) void service(const struct share *share)
{
	pin(share->cpu);
	while (going) {
		share->hot(share->hot_rounds);
		read_table(share->table_rounds);
		count_both(share->both_rounds);
		read_remote(share->remote_rounds);
		think(share->think_rounds);
	}
}

static void *second_thread(void *argument)
{
	service(argument);
	return NULL;
}

static void place_remote(void)
{
	const unsigned long nodes = 1UL << REMOTE_NODE;
	size_t size = REMOTE_LINES * LINE;

	remote.array = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (remote.array == MAP_FAILED)
		err(1, "memory for the remote array");
	if (syscall(SYS_mbind, remote.array, size, MPOL_BIND, &nodes, 8 * sizeof(nodes), 0))
		err(1, "no memory of node %d", REMOTE_NODE);
	memset(remote.array, 1, size);
}

static void describe(const char *path)
{
	FILE *file = fopen(path, "we");

	if (!file)
		err(1, "%s", path);
	fprintf(file, "{\"pid\":%d,\"counters\":\"%p\",\"both\":\"%p\",\"table\":\"%p\",\"functions\":{",
		getpid(), (void *)&counters, (void *)&both, (void *)table);
	for (const struct access *access = __start_accesses; access < __stop_accesses; access++)
		fprintf(file, "%s\"%s\":{\"start\":\"0x%lx\",\"ip\":\"0x%lx\",\"line\":%ld}",
			access == __start_accesses ? "" : ",", functions[access->function].name,
			(uintptr_t)functions[access->function].start, access->ip, access->line);
	fprintf(file, "},\"service\":{\"start\":\"0x%lx\",\"end\":\"0x%lx\"}}\n", (uintptr_t)service,
		end_of((uintptr_t)service));
	if (fclose(file))
		err(1, "%s", path);
}

int main(int argc, char **argv)
{
	const struct sigaction action = {.sa_handler = end};
	pthread_t thread;

	if (argc > 2)
		errx(2, "usage: sharing [FILE]");
	if (sigaction(SIGTERM, &action, NULL) || sigaction(SIGINT, &action, NULL))
		err(1, "sigaction");
	/* Write to the table, so that it has pages of its own instead of the shared zero page. */
	memset(table, 1, sizeof(table));
	place_remote();
	if (argc == 2)
		describe(argv[1]);
	errno = pthread_create(&thread, NULL, second_thread, (void *)&shares[1]);
	if (errno)
		err(1, "pthread_create");
	service(&shares[0]);
	pthread_join(thread, NULL);
	return 0;
}

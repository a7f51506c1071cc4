// SPDX-License-Identifier: GPL-2.0
/*
 * workload NAME [--threads N] [--for SECONDS] [--rest MILLISECONDS] [--touch MIB]: reads and writes memory on N
 * threads, all with the name NAME, until SIGTERM or for SECONDS. With --rest, each thread sleeps that long after
 * every millisecond of work, so that a hundred threads leave time to others.
 *
 * Without --touch, it uses little memory. With --touch, it uses that much memory, with the access pattern of the
 * model's workload NAME (daemon/model/workload.h). Linked statically, so it runs in any root.
 */
#include <err.h>
#include <errno.h>
#include <getopt.h>
#include <linux/mempolicy.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define USAGE        2
#define MOST_THREADS 256
#define MOST_SECONDS 86400
#define MOST_REST    10000
#define MOST_TOUCH   256
#define LINE         64UL
#define PAGE         4096UL
#define NAME_SIZE    16 /* TASK_COMM_LEN, including the NUL */
#define WORDS        4096
#define STRIDE       9 /* in words; never the same cache line twice in a row */

static long parse(const char *option, const char *text, long most)
{
	char *end;
	long number = strtol(text, &end, 10);

	if (end == text || *end || number < 1 || number > most)
		errx(USAGE, "--%s: \"%s\" is not a number from 1 to %ld", option, text, most);
	return number;
}

static long worked_ns(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return now.tv_sec * 1000000000L + now.tv_nsec;
}

/* Data that the threads share. */
struct work {
	void (*once)(struct work *work, unsigned long thread); /* makes some thousand accesses */
	struct timespec rest;
	unsigned char *memory;
	unsigned long bytes;
	unsigned long threads; /* number of threads that have started */
};

static unsigned long sink;

static void little(struct work *work, unsigned long thread)
{
	static __thread volatile unsigned long words[WORDS];
	unsigned long sum = thread;

	(void)work;
	for (size_t n = 0, i = 0; n < WORDS; n++, i = (i + STRIDE) % WORDS) {
		sum += words[i];
		words[i] = sum + i;
	}
}

/* Each line contains the offset of the next line: see prepare(). */
static void follow_pointers(struct work *work, unsigned long thread)
{
	static __thread unsigned long at;

	if (!at)
		at = thread * PAGE;
	for (int i = 0; i < WORDS; i++)
		at = *(volatile unsigned long *)(void *)(work->memory + at);
}

static void read_in_order(struct work *work, unsigned long thread)
{
	static __thread unsigned long at;
	unsigned long sum = thread;

	for (int i = 0; i < WORDS; i++, at = (at + sizeof(long)) % work->bytes)
		sum += *(volatile unsigned long *)(void *)(work->memory + at);
	__atomic_store_n(&sink, sum, __ATOMIC_RELAXED);
}

/* Each thread has its own word in the shared lines. */
static void share_lines(struct work *work, unsigned long thread)
{
	for (unsigned long i = 0; i < WORDS; i++) {
		volatile unsigned long *word = (void *)(work->memory + i % 16 * LINE +
							thread % (LINE / sizeof(long)) * sizeof(long));

		*word += 1;
	}
}

/*
 * Follow one chain of pointers, or four of them in turns, with work in registers after each step. The loads of a chain
 * wait for each other, those of different chains do not.
 */
#define STEP(at)                                                             \
	({                                                                   \
		(at) = *(volatile unsigned long *)(void *)(memory + (at));   \
		__asm__ volatile(".rept 16\n\tinc %0\n\t.endr" : "+r"(sum)); \
	})

static void follow_one_chain(struct work *work, unsigned long thread)
{
	static __thread unsigned long first;
	unsigned char *memory = work->memory;
	unsigned long at = first, sum = thread;

	for (int i = 0; i < WORDS / 16; i++) {
		STEP(at);
		STEP(at);
		STEP(at);
		STEP(at);
	}
	first = at;
	__atomic_store_n(&sink, sum, __ATOMIC_RELAXED);
}

static void follow_four_chains(struct work *work, unsigned long thread)
{
	static __thread unsigned long first, second, third, fourth;
	unsigned char *memory = work->memory;
	unsigned long at = first, sum = thread;
	unsigned long others[] = {second, third, fourth};

	/* The chains are a quarter of the memory apart, so they do not meet. */
	if (!others[0] && !others[1])
		for (unsigned long i = 0; i < 3; i++)
			others[i] = work->bytes / 4 * (i + 1);
	for (int i = 0; i < WORDS / 16; i++) {
		STEP(at);
		STEP(others[0]);
		STEP(others[1]);
		STEP(others[2]);
	}
	first = at;
	second = others[0];
	third = others[1];
	fourth = others[2];
	__atomic_store_n(&sink, sum, __ATOMIC_RELAXED);
}

/* Uses registers only. */
static void count_in_register(struct work *work, unsigned long thread)
{
	unsigned long sum = thread;

	(void)work;
	for (int i = 0; i < WORDS; i++)
		__asm__ volatile("inc %0" : "+r"(sum));
	__atomic_store_n(&sink, sum, __ATOMIC_RELAXED);
}

static void touch_pages(struct work *work, unsigned long thread)
{
	static __thread unsigned long page;
	unsigned long pages = work->bytes / PAGE, sum = thread;

	for (int i = 0; i < WORDS; i++, page = (page + 1) % pages)
		sum += *(volatile unsigned long *)(void *)(work->memory + page * PAGE + page % 64 * LINE);
	__atomic_store_n(&sink, sum, __ATOMIC_RELAXED);
}

static void count_locked(struct work *work, unsigned long thread)
{
	for (unsigned long i = 0; i < WORDS; i++)
		/* The first word of a line is the offset of the next line: do not overwrite it. */
		(void)__atomic_fetch_add(
			(unsigned long *)(void *)(work->memory + (i * 7 + thread) % 32 * LINE + LINE / 2), 1,
			__ATOMIC_SEQ_CST);
}

static void mix(struct work *work, unsigned long thread)
{
	little(work, thread);
	follow_pointers(work, thread);
	count_locked(work, thread);
}

static const struct {
	const char *name;
	void (*once)(struct work *work, unsigned long thread);
} kinds[] = {
	{"pointer-chase", follow_pointers},
	{"remote-numa", follow_pointers},
	{"streaming", read_in_order},
	{"false-sharing", share_lines},
	{"tlb-thrash", touch_pages},
	{"locked-counters", count_locked},
	{"mix", mix},
	{"one-chain", follow_one_chain},
	{"four-chains", follow_four_chains},
	{"register-loop", count_in_register},
};

/* Binds the memory to the second node, if there are two. It is remote for threads on the first. */
static void move_away(void *memory, unsigned long bytes)
{
	unsigned long second = 1UL << 1;

	(void)syscall(SYS_mbind, memory, bytes, MPOL_BIND, &second, sizeof(second) * 8, 0);
}

/*
 * Links the lines in an irregular order, by a linear congruential generator. They form one cycle if their number
 * is a power of two.
 */
static void prepare(struct work *work, const char *name, unsigned long bytes)
{
	unsigned long lines = bytes / LINE;

	work->bytes = bytes;
	work->memory =
		mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (work->memory == MAP_FAILED)
		err(1, "%lu bytes of memory", bytes);
	if (strcmp(name, "remote-numa") == 0)
		move_away(work->memory, bytes);
	for (unsigned long i = 0; i < lines; i++)
		*(unsigned long *)(void *)(work->memory + i * LINE) = (i * 40013 + 12289) % lines * LINE;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (strcmp(kinds[i].name, name) == 0)
			work->once = kinds[i].once;
}

static void *spin(void *argument)
{
	struct work *work = argument;
	unsigned long thread = __atomic_fetch_add(&work->threads, 1, __ATOMIC_RELAXED);
	long rested_at = 0;

	for (;;) {
		work->once(work, thread);
		if (work->rest.tv_sec + work->rest.tv_nsec > 0 && worked_ns() - rested_at > 1000000) {
			(void)nanosleep(&work->rest, NULL);
			rested_at = worked_ns();
		}
	}
	return NULL;
}

static void end(int signal)
{
	(void)signal;
	_exit(0);
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{"threads", required_argument, NULL, 't'},
		{"for", required_argument, NULL, 'f'},
		{"rest", required_argument, NULL, 'r'},
		{"touch", required_argument, NULL, 'm'},
		{NULL, 0, NULL, 0},
	};
	struct sigaction action = {.sa_handler = end};
	struct work work = {.once = little};
	long threads = 1, seconds = 0, touch = 0;
	int option;

	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (option == 't') {
			threads = parse("threads", optarg, MOST_THREADS);
		} else if (option == 'f') {
			seconds = parse("for", optarg, MOST_SECONDS);
		} else if (option == 'r') {
			long milliseconds = parse("rest", optarg, MOST_REST);

			work.rest.tv_sec = milliseconds / 1000;
			work.rest.tv_nsec = milliseconds % 1000 * 1000000;
		} else if (option == 'm') {
			touch = parse("touch", optarg, MOST_TOUCH);
		} else {
			exit(USAGE);
		}
	}
	if (optind + 1 != argc || strlen(argv[optind]) >= NAME_SIZE)
		errx(USAGE,
		     "usage: workload NAME [--threads N] [--for SECONDS] [--rest MILLISECONDS] [--touch "
		     "MIB], NAME of at most %d bytes",
		     NAME_SIZE - 1);
	if (sigaction(SIGTERM, &action, NULL) || sigaction(SIGINT, &action, NULL) ||
	    sigaction(SIGALRM, &action, NULL))
		err(1, "sigaction");
	if (prctl(PR_SET_NAME, argv[optind]))
		err(1, "prctl(PR_SET_NAME, \"%s\")", argv[optind]);
	if (touch)
		prepare(&work, argv[optind], (unsigned long)touch << 20);
	alarm((unsigned int)seconds);
	for (long i = 1; i < threads; i++) {
		pthread_t thread;

		errno = pthread_create(&thread, NULL, spin, &work);
		if (errno)
			err(1, "pthread_create, thread %ld of %ld", i + 1, threads);
	}
	spin(&work);
	return 0;
}

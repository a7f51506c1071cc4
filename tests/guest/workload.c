// SPDX-License-Identifier: GPL-2.0
/*
 * workload NAME [--threads N] [--for SECONDS] [--rest MILLISECONDS]: reads and writes a little memory on N
 * threads, all of which have NAME as their name, until SIGTERM or for so long; with --rest, each sleeps so
 * long after every millisecond of it, so that a hundred of them leave time to others. The guest's PMU goes by
 * the name of a task to tell what loads it plays. Linked statically: it runs in whatever root.
 */
#include <err.h>
#include <errno.h>
#include <getopt.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#define USAGE        2
#define MOST_THREADS 256
#define MOST_SECONDS 86400
#define MOST_REST    10000
#define NAME_SIZE    16 /* TASK_COMM_LEN, with the 0 at its end */
#define WORDS        4096
#define STRIDE       9 /* words: never twice the same cache line in a row */

static long parse(const char *option, const char *text, long most)
{
	char *end;
	long number = strtol(text, &end, 10);

	if (end == text || *end || number < 1 || number > most)
		errx(USAGE, "--%s: \"%s\" is no number from 1 to %ld", option, text, most);
	return number;
}

static long worked_ns(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return now.tv_sec * 1000000000L + now.tv_nsec;
}

static void *spin(void *argument)
{
	const struct timespec *rest = argument;
	volatile unsigned long words[WORDS] = {0};
	unsigned long sum = 0;
	long rested_at = 0;

	for (size_t i = 0;; i = (i + STRIDE) % WORDS) {
		sum += words[i];
		words[i] = sum + i;
		if (i == 0 && rest->tv_sec + rest->tv_nsec > 0 && worked_ns() - rested_at > 1000000) {
			(void)nanosleep(rest, NULL);
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
		{NULL, 0, NULL, 0},
	};
	struct sigaction action = {.sa_handler = end};
	struct timespec rest = {0};
	long threads = 1;
	long seconds = 0;
	int option;

	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (option == 't') {
			threads = parse("threads", optarg, MOST_THREADS);
		} else if (option == 'f') {
			seconds = parse("for", optarg, MOST_SECONDS);
		} else if (option == 'r') {
			long milliseconds = parse("rest", optarg, MOST_REST);

			rest.tv_sec = milliseconds / 1000;
			rest.tv_nsec = milliseconds % 1000 * 1000000;
		} else {
			exit(USAGE);
		}
	}
	if (optind + 1 != argc || strlen(argv[optind]) >= NAME_SIZE)
		errx(USAGE,
		     "usage: workload NAME [--threads N] [--for SECONDS] [--rest MILLISECONDS], NAME of at "
		     "most %d bytes",
		     NAME_SIZE - 1);
	if (sigaction(SIGTERM, &action, NULL) || sigaction(SIGINT, &action, NULL) ||
	    sigaction(SIGALRM, &action, NULL))
		err(1, "sigaction");
	if (prctl(PR_SET_NAME, argv[optind]))
		err(1, "prctl(PR_SET_NAME, \"%s\")", argv[optind]);
	alarm((unsigned int)seconds);
	for (long i = 1; i < threads; i++) {
		pthread_t thread;

		errno = pthread_create(&thread, NULL, spin, &rest);
		if (errno)
			err(1, "pthread_create, thread %ld of %ld", i + 1, threads);
	}
	spin(&rest);
	return 0;
}

// SPDX-License-Identifier: GPL-2.0
/*
 * Requests to symbolizers that work, die, hang, answer wrongly or do not start.
 * The symbolizer is this program, and the address in a request tells it how to behave.
 */
#include <criterion/criterion.h>
#include <dirent.h>
#include <errno.h>
#include <malloc.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/log.h"
#include "fake_clock.h"
#include "symbols/symbols.h"
#include "symbols/symbols_backoff.h"
#include "symbols/symbols_queue.h"

#define PID 4711U

/* The lowest bits of an address select the behaviour. Any other address gets a name. */
enum {
	DIES = 0xfff,
	HANGS = 0xffe,
	LIES = 0xffd,    /* answers another question */
	BABBLES = 0xffc, /* answers with an invalid message */
	LEAVES = 0xffb,  /* closes its socket and continues */
	UNKNOWN = 0xffa,
	GENERATED =
		0xff1, /* code that the process lists later, in its second request; later still, nobody knows it */
	LARGEST = 0xff9,
	TELLS = 0xff8,     /* reports its environment and descriptors */
	CHATTERS = 0xff7,  /* answers twice */
	HUGE = 0xff6,      /* answers with more than a packet may hold */
	BEQUEATHS = 0xff5, /* dies, and leaves its socket to another process */
	SPINS = 0xff4,
	STARVES = 0xff3, /* spins on a busy CPU until another request comes */
	READS = 0xff2,   /* spins until another request comes */
};

#define KERNEL 0xffffffff80000000ULL

static u64 address(u64 n, u64 what)
{
	return (n << 12) | what;
}

static void answer_with(u64 number, const struct symbol *symbol)
{
	static u8 buffer[SYMBOLS_WIRE_MAX];
	size_t size = symbols_wire_write_answer(number, 1000, symbol, buffer);

	if (send(STDIN_FILENO, buffer, size, MSG_NOSIGNAL) < 0)
		_exit(7);
}

static size_t open_descriptors(void)
{
	DIR *directory = opendir("/proc/self/fd");
	size_t n = 0;

	while (directory && readdir(directory))
		n++;
	if (directory)
		(void)closedir(directory);
	/* Do not count ., .. and the descriptor of the directory itself. */
	return n - 3;
}

static void answer_name(u64 number, const char *name, const char *module)
{
	struct symbol_frame frame = {.name = (char *)name};

	answer_with(number, &(struct symbol){.region = SYMBOL_FILE,
					     .module = (char *)module,
					     .n_frames = 1,
					     .frames = &frame});
}

static void answer_generated(u64 number)
{
	static unsigned requests;
	struct symbol_frame frame = {.name = (char *)"jitted"};

	if (requests == 0)
		answer_with(number, &(struct symbol){.region = SYMBOL_ANONYMOUS});
	else if (requests == 1)
		answer_with(number, &(struct symbol){.region = SYMBOL_JIT, .n_frames = 1, .frames = &frame});
	else
		answer_with(number, &(struct symbol){0});
	requests++;
}

static void answer_largest(u64 number)
{
	static char path[SYMBOLS_WIRE_PATH_MAX];
	struct symbol_frame frames[SYMBOL_FRAMES_MAX];

	memset(path, 'p', sizeof(path) - 1);
	for (size_t i = 0; i < SYMBOL_FRAMES_MAX; i++)
		frames[i] = (struct symbol_frame){.name = path, .file = path};
	answer_with(number, &(struct symbol){.region = SYMBOL_FILE,
					     .module = path,
					     .n_frames = SYMBOL_FRAMES_MAX,
					     .frames = frames});
}

/* The heir ends when pebsd closes its end of the socket. */
static void bequeath(void)
{
	char byte;

	if (fork() == 0) {
		while (recv(STDIN_FILENO, &byte, 1, 0) > 0)
			;
		_exit(0);
	}
	(void)raise(SIGKILL);
}

static void spin(void)
{
	for (;;)
		;
}

/* Signals the test, and never sleeps from then on. */
static void spin_until_asked(void)
{
	char byte;

	(void)kill(getppid(), SIGUSR1);
	while (recv(STDIN_FILENO, &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0)
		;
}

static void starve(void)
{
	cpu_set_t one;
	pid_t glutton;

	(void)sched_getaffinity(0, sizeof(one), &one);
	for (size_t cpu = 0, n = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, &one) && n++)
			CPU_CLR(cpu, &one);
	(void)sched_setaffinity(0, sizeof(one), &one);
	glutton = fork();
	if (glutton == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		spin();
	}
	(void)setpriority(PRIO_PROCESS, 0, 10);
	spin_until_asked();
	(void)kill(glutton, SIGKILL);
	(void)waitpid(glutton, NULL, 0);
}

static void fake_find(const struct symbols_wire_request *request)
{
	static char much[2 * SYMBOLS_WIRE_MAX];
	char name[256];

	switch (request->query.address & 0xfff) {
	case DIES:
		(void)raise(SIGKILL);
		break;
	case HANGS:
		for (;;)
			(void)pause();
	case LIES:
		answer_with(request->number + 1, &(struct symbol){0});
		break;
	case BABBLES:
		(void)send(STDIN_FILENO, "babble", 6, MSG_NOSIGNAL);
		break;
	case HUGE:
		(void)send(STDIN_FILENO, much, sizeof(much), MSG_NOSIGNAL);
		break;
	case LEAVES:
		(void)close(STDIN_FILENO);
		for (;;)
			(void)pause();
	case BEQUEATHS:
		bequeath();
		break;
	case SPINS:
		spin();
		break;
	case STARVES:
		starve();
		answer_name(request->number, "late", "/x");
		break;
	case READS:
		spin_until_asked();
		answer_name(request->number, "read", "/x");
		break;
	case UNKNOWN:
		answer_with(request->number, &(struct symbol){0});
		break;
	case GENERATED:
		answer_generated(request->number);
		break;
	case LARGEST:
		answer_largest(request->number);
		break;
	case CHATTERS:
		answer_with(request->number, &(struct symbol){0});
		answer_with(request->number, &(struct symbol){0});
		break;
	case TELLS:
		(void)snprintf(name, sizeof(name), "%zu descriptors, %s, %s, %s", open_descriptors(),
			       getenv("PEBSD_SECRET") ? "secret" : "no secret", getenv("DEBUGINFOD_URLS"),
			       getenv("DEBUGINFOD_CACHE_PATH"));
		answer_name(request->number, name, "/x");
		break;
	default:
		(void)snprintf(name, sizeof(name), "f%llx", (unsigned long long)request->query.address >> 12);
		answer_name(request->number, name, "/x");
	}
}

static void fake_packet(const u8 *packet, size_t size)
{
	struct symbols_wire_request request;

	while (size > 0) {
		ssize_t n = symbols_wire_read_request(packet, size, &request);

		if (n < 0)
			_exit(9);
		packet += n;
		size -= (size_t)n;
		if (request.type == SYMBOLS_WIRE_FIND)
			fake_find(&request);
		else if (request.type == SYMBOLS_WIRE_PROCESS && (request.pid & 0xfff) == DIES)
			(void)raise(SIGKILL);
		else
			answer_with(request.number, NULL);
	}
}

__attribute__((constructor)) static void fake(int argc, char *argv[])
{
	static u8 packet[SYMBOLS_WIRE_PACKET];
	ssize_t n;

	if (argc != 2 || strcmp(argv[1], "--symbolizer") != 0)
		return;
	answer_with(SYMBOLS_WIRE_READY, NULL);
	while ((n = recv(STDIN_FILENO, packet, sizeof(packet), 0)) > 0)
		fake_packet(packet, (size_t)n);
	_exit(0);
}

static sd_event *event;
static struct symbols *symbols;

static void open_with(struct symbols_settings settings)
{
	cr_assert_geq(sd_event_new(&event), 0);
	settings.event = event;
	if (!settings.program)
		settings.program = "/proc/self/exe";
	cr_assert_eq(symbols_new(&settings, &symbols), 0);
}

static void begin(void)
{
	fake_clock_stop();
	log_set_level(LOG_EMERG);
	open_with((struct symbols_settings){0});
}

static void end(void)
{
	symbols = symbols_free(symbols);
	event = sd_event_unref(event);
	/* In every case, no child is left. */
	cr_expect_eq(waitpid(-1, NULL, WNOHANG), -1, "a symbolizer is left");
	cr_expect_eq(errno, ECHILD);
}

TestSuite(symbols, .init = begin, .fini = end);

static const struct symbol *find_of(u32 pid, u64 where)
{
	return symbols_find(symbols,
			    &(struct symbol_query){.address = where, .pid = pid, .kind = SYMBOL_CODE});
}

/* Waits for the symbolizer. After each event, lets the time pass for which answers gather. */
static void turn(void)
{
	int r = sd_event_run(event, 20000);

	cr_assert_geq(r, 0);
	if (r > 0)
		fake_clock_advance(2 * NSEC_PER_MSEC);
}

static void settle(void)
{
	while (symbols_pending(symbols))
		turn();
}

static const struct symbol *answer_of(u32 pid, u64 where)
{
	const struct symbol *symbol = find_of(pid, where);

	if (!symbol) {
		settle();
		symbol = find_of(pid, where);
	}
	cr_assert(symbol, "%llx of %u", (unsigned long long)where, pid);
	return symbol;
}

static const char *name_of(u32 pid, u64 where)
{
	const struct symbol *symbol = answer_of(pid, where);

	return symbol->n_frames ? symbol->frames[0].name : "?";
}

Test(symbols, a_name_is_requested_only_once)
{
	struct symbols_counts counts = symbols_counts(symbols);

	cr_expect_eq(counts.starts, 0);
	cr_expect_not(counts.running);
	cr_expect_null(find_of(PID, address(1, 0)));
	cr_expect_null(find_of(PID, address(1, 0)));
	cr_expect_null(find_of(PID, address(2, 0)));
	cr_expect_eq(symbols_pending(symbols), 2);
	settle();
	cr_expect_str_eq(name_of(PID, address(1, 0)), "f1");
	cr_expect_str_eq(name_of(PID, address(2, 0)), "f2");
	counts = symbols_counts(symbols);
	cr_expect_eq(counts.asked, 2);
	cr_expect_eq(counts.answered, 2);
	cr_expect_eq(counts.unknown, 0);
	cr_expect_eq(counts.lost, 0);
	cr_expect_eq(counts.starts, 1);
	cr_expect(counts.running);
	cr_expect_gt(counts.bytes, 1000);
	cr_expect_gt(counts.own_bytes, 1000);
	cr_expect_lt(counts.own_bytes, counts.bytes, "the symbolizer holds something too");
}

Test(symbols, a_kernel_address_is_requested_once_for_all_processes)
{
	cr_expect_null(find_of(PID, 0xffffffff81000000));
	settle();
	cr_expect(find_of(PID + 1, 0xffffffff81000000));
	cr_expect_eq(symbols_counts(symbols).asked, 1);
}

Test(symbols, the_largest_answer_is_received)
{
	const struct symbol *symbol = answer_of(PID, address(1, LARGEST));

	cr_expect_eq(symbol->n_frames, SYMBOL_FRAMES_MAX);
	cr_expect_eq(strlen(symbol->frames[SYMBOL_FRAMES_MAX - 1].file), SYMBOLS_WIRE_PATH_MAX - 1);
}

Test(symbols, the_symbolizer_inherits_no_other_descriptor_and_no_environment)
{
	end();
	cr_assert_eq(setenv("PEBSD_SECRET", "x", 1), 0);
	cr_assert_eq(setenv("CACHE_DIRECTORY", "/cache", 1), 0);
	cr_assert_geq(dup(STDERR_FILENO), 0); /* without close-on-exec */
	open_with((struct symbols_settings){.debuginfod = "https://a https://b"});
	cr_expect_str_eq(name_of(PID, address(1, TELLS)),
			 "3 descriptors, no secret, https://a https://b, /cache/debuginfod");
	end();
	open_with((struct symbols_settings){0});
	cr_expect_str_eq(name_of(PID, address(1, TELLS)), "3 descriptors, no secret, (null), (null)");
}

/* Lets `pass_ns` pass again and again, from when address 50 is the next until it is given up. */
static void expect_survives(u64 what, u64 pass_ns)
{
	struct symbols_counts counts;

	for (u64 i = 0; i < 100; i++)
		(void)find_of(PID, address(i, i == 50 ? what : 0));
	while (symbols_counts(symbols).answered < 50)
		turn();
	for (turn(); symbols_counts(symbols).lost == 0; turn())
		fake_clock_advance(pass_ns);
	settle();
	for (u64 i = 0; i < 100; i++)
		cr_expect_eq(answer_of(PID, address(i, i == 50 ? what : 0))->region,
			     i == 50 ? SYMBOL_UNKNOWN : SYMBOL_FILE, "%llu", (unsigned long long)i);
	counts = symbols_counts(symbols);
	cr_expect_eq(counts.starts, 2);
	cr_expect_eq(counts.lost, 1);
	cr_expect_eq(counts.answered, 99);
	cr_expect_eq(counts.asked, 100);
}

Test(symbols, a_fatal_address_is_unknown_and_others_go_to_the_next_symbolizer)
{
	expect_survives(DIES, 0);
}

Test(symbols, a_hanging_symbolizer_is_killed)
{
	expect_survives(HANGS, SYMBOLS_QUERY_S * NSEC_PER_SEC);
}

Test(symbols, a_spinning_symbolizer_is_killed)
{
	expect_survives(SPINS, SYMBOLS_QUERY_S * NSEC_PER_SEC);
}

static volatile sig_atomic_t spins; /* the process that spins */

static void on_spinning(int signal_number, siginfo_t *info, void *context)
{
	(void)signal_number;
	(void)context;
	spins = info->si_pid;
}

static u64 cpu_time_ns(pid_t pid)
{
	struct timespec taken;
	clockid_t clock;

	cr_assert_eq(clock_getcpuclockid(pid, &clock), 0);
	cr_assert_eq(clock_gettime(clock, &taken), 0);
	return (u64)taken.tv_sec * NSEC_PER_SEC + (u64)taken.tv_nsec;
}

/*
 * The symbolizer is busy with this address until it gets the next one. Meanwhile the time limit passes three times, each
 * time after the symbolizer has used `takes_ns` of CPU time.
 */
static void expect_patience(u32 pid, u64 where, u64 query_ns, u64 takes_ns)
{
	const struct sigaction action = {.sa_sigaction = on_spinning, .sa_flags = SA_SIGINFO};

	end();
	open_with((struct symbols_settings){.query_ns = query_ns});
	cr_assert_eq(sigaction(SIGUSR1, &action, NULL), 0);
	cr_expect_str_eq(name_of(pid, address(1, 0)), "f1");
	cr_expect_null(find_of(pid, where));
	while (!spins)
		turn();
	for (unsigned int i = 0; i < 3; i++) {
		for (u64 begun = cpu_time_ns(spins); cpu_time_ns(spins) - begun < takes_ns;)
			;
		fake_clock_advance(query_ns + NSEC_PER_MSEC);
		while (sd_event_run(event, 0) > 0)
			;
	}
	cr_expect_eq(symbols_counts(symbols).late, 1);
	cr_expect_null(find_of(pid, address(2, 0)));
	settle();
	cr_expect_eq(symbols_counts(symbols).starts, 1);
	cr_expect_eq(symbols_counts(symbols).lost, 0);
}

Test(symbols, a_symbolizer_that_waits_for_a_cpu_is_not_killed)
{
	expect_patience(PID, address(1, STARVES), SYMBOLS_QUERY_S * NSEC_PER_SEC, 0);
	cr_expect_str_eq(name_of(PID, address(1, STARVES)), "late");
}

/*
 * Reading the kernel's symbols takes long on a slow machine. An attacker cannot have made it slow, so it may use CPU time
 * for which the symbolizer would be killed at another address.
 */
Test(symbols, slow_reading_of_kernel_symbols_is_not_counted_as_a_fault)
{
	expect_patience(0, KERNEL | address(1, READS), NSEC_PER_SEC / 10, NSEC_PER_SEC / 20);
	cr_expect_str_eq(name_of(0, KERNEL | address(1, READS)), "read");
}

/* The same takes too long at an address of a program. */
Test(symbols, a_symbolizer_that_uses_much_cpu_time_is_killed)
{
	const struct sigaction action = {.sa_sigaction = on_spinning, .sa_flags = SA_SIGINFO};
	const u64 query_ns = NSEC_PER_SEC / 10;

	end();
	open_with((struct symbols_settings){.query_ns = query_ns});
	cr_assert_eq(sigaction(SIGUSR1, &action, NULL), 0);
	cr_expect_null(find_of(PID, address(1, READS)));
	while (!spins)
		turn();
	for (unsigned int i = 0; i < 2; i++) {
		cr_expect_eq(symbols_counts(symbols).lost, 0);
		for (u64 begun = cpu_time_ns(spins); cpu_time_ns(spins) - begun < query_ns / 2;)
			;
		fake_clock_advance(query_ns + NSEC_PER_MSEC);
		while (sd_event_run(event, 0) > 0)
			;
	}
	cr_expect_eq(symbols_counts(symbols).lost, 1);
}

static void pass(u64 ns)
{
	fake_clock_advance(ns);
	cr_assert_geq(sd_event_run(event, 0), 0);
}

/* An address of the kernel cannot have caused the failure. */
Test(symbols, a_kernel_address_is_requested_again_after_a_failure)
{
	cr_expect_eq(answer_of(0, KERNEL | address(1, DIES))->region, SYMBOL_UNKNOWN);
	cr_expect_eq(symbols_counts(symbols).lost, 1);
	pass(11 * NSEC_PER_SEC / 10);
	cr_expect_null(find_of(0, KERNEL | address(1, DIES)));
	settle();
	cr_expect_eq(symbols_counts(symbols).asked, 2);
}

Test(symbols, a_symbolizer_that_answers_another_request_is_killed)
{
	expect_survives(LIES, 0);
}

Test(symbols, a_symbolizer_that_sends_garbage_is_killed)
{
	expect_survives(BABBLES, 0);
}

Test(symbols, a_symbolizer_that_sends_too_large_packets_is_killed)
{
	expect_survives(HUGE, 0);
}

Test(symbols, a_symbolizer_that_closes_its_socket_is_killed)
{
	expect_survives(LEAVES, SYMBOLS_QUERY_S * NSEC_PER_SEC);
}

Test(symbols, a_dead_symbolizer_is_noticed_even_if_its_socket_stays_open)
{
	expect_survives(BEQUEATHS, 0);
}

Test(symbols, a_symbolizer_that_answers_without_a_request_is_killed)
{
	cr_expect_eq(answer_of(PID, address(1, CHATTERS))->region, SYMBOL_UNKNOWN);
	/*
	 * The unexpected answer may come while this request is in flight, which then costs the name of this
	 * address. So the test asks about another process afterwards.
	 */
	(void)answer_of(PID, address(2, 0));
	cr_expect_str_eq(name_of(PID + 1, address(3, 0)), "f3");
}

Test(symbols, a_fatal_address_is_not_requested_again)
{
	cr_expect_eq(answer_of(PID, address(1, DIES))->region, SYMBOL_UNKNOWN);
	/* Unlike an unknown address, this one is not asked for again after a second. See the next test. */
	pass(11 * NSEC_PER_SEC / 10);
	cr_expect(find_of(PID, address(1, DIES)));
	cr_expect_eq(symbols_counts(symbols).asked, 1);
}

Test(symbols, an_unknown_address_is_requested_again_after_a_second)
{
	cr_expect_eq(answer_of(PID, address(1, UNKNOWN))->region, SYMBOL_UNKNOWN);
	cr_expect_eq(answer_of(PID, address(1, UNKNOWN))->region, SYMBOL_UNKNOWN);
	cr_expect_eq(symbols_counts(symbols).asked, 1);
	cr_expect_eq(symbols_counts(symbols).unknown, 1);
	pass(11 * NSEC_PER_SEC / 10);
	cr_expect_null(find_of(PID, address(1, UNKNOWN)));
	settle();
	cr_expect(find_of(PID, address(1, UNKNOWN)));
	cr_expect_eq(symbols_counts(symbols).asked, 2);
}

Test(symbols, generated_code_gets_a_name_when_the_process_lists_it_and_keeps_it)
{
	const u64 generated = address(1, GENERATED);

	cr_expect_eq(answer_of(PID, generated)->region, SYMBOL_ANONYMOUS);
	cr_expect_eq(answer_of(PID, generated)->n_frames, 0);
	cr_expect_eq(symbols_counts(symbols).asked, 1);
	pass(11 * NSEC_PER_SEC / 10);
	cr_expect_str_eq(name_of(PID, generated), "jitted");
	cr_expect_eq(symbols_counts(symbols).asked, 2);
	pass(15 * NSEC_PER_SEC / 10);
	cr_expect_str_eq(name_of(PID, generated), "jitted", "not asked again: twice the delay");
	cr_expect_eq(symbols_counts(symbols).asked, 2);
	pass(NSEC_PER_SEC);
	cr_expect_str_eq(name_of(PID, generated), "jitted");
	cr_expect_eq(symbols_counts(symbols).asked, 3);
}

/* A caller may hold the answer until control returns to the event loop. */
Test(symbols, the_name_of_generated_code_stays_while_its_process_is_not_asked_about)
{
	const u64 generated = address(1, GENERATED);
	const struct symbol *held;

	(void)answer_of(PID, generated);
	pass(11 * NSEC_PER_SEC / 10);
	cr_expect_str_eq(name_of(PID, generated), "jitted");
	for (u64 i = 0; i < SYMBOLS_BACKOFF_FAILURES; i++)
		cr_expect_eq(answer_of(PID, address(i, DIES))->region, SYMBOL_UNKNOWN);
	pass(3 * NSEC_PER_SEC);
	held = find_of(PID, generated);
	cr_assert_not_null(held);
	cr_assert_eq(held->region, SYMBOL_JIT);
	cr_expect_eq(find_of(PID, generated), held);
	cr_expect_str_eq(held->frames[0].name, "jitted");
}

Test(symbols, a_process_that_repeatedly_kills_it_loses_only_its_own_names)
{
	for (u64 i = 0; i < 20; i++)
		cr_expect_eq(answer_of(PID, address(i, DIES))->region, SYMBOL_UNKNOWN);
	cr_expect_eq(symbols_counts(symbols).starts, SYMBOLS_BACKOFF_FAILURES);
	cr_expect_eq(answer_of(PID, address(1, 0))->region, SYMBOL_UNKNOWN, "not asked any more");
	cr_expect_str_eq(name_of(PID + 1, address(1, 0)), "f1");
}

Test(symbols, restarts_are_limited)
{
	u64 lost;

	for (u32 i = 0; i < 100; i++)
		cr_expect_eq(answer_of(PID + i, address(1, DIES))->region, SYMBOL_UNKNOWN);
	cr_expect_eq(symbols_counts(symbols).starts, SYMBOLS_BACKOFF_STARTS);
	lost = symbols_counts(symbols).lost;
	cr_expect_eq(lost, 100);
	cr_expect(find_of(1, address(2, 0)), "said at once, not some time");
	cr_expect_eq(symbols_pending(symbols), 0);
	cr_expect_eq(symbols_process(symbols, 1), 0);
	cr_expect_not(symbols_counts(symbols).running);
}

Test(symbols, a_notification_can_be_the_cause_of_a_crash)
{
	const u32 pid = 0x1000 | DIES;

	cr_assert_eq(symbols_process(symbols, pid), 0);
	cr_expect_str_eq(name_of(PID, address(1, 0)), "f1");
	cr_expect_eq(symbols_counts(symbols).lost, 0, "no question was the cause");
	cr_expect_eq(symbols_counts(symbols).starts, 2);
	cr_assert_eq(symbols_process(symbols, pid), 0);
	cr_expect_str_eq(name_of(PID, address(2, 0)), "f2");
	cr_expect_eq(answer_of(pid, address(1, 0))->region, SYMBOL_UNKNOWN);
}

Test(symbols, a_symbolizer_that_does_not_start_loses_only_names)
{
	static const char *const programs[] = {"/nonexistent", "/bin/false", "/bin/true"};

	for (size_t i = 0; i < ARRAY_SIZE(programs); i++) {
		end();
		open_with((struct symbols_settings){.program = programs[i]});
		cr_expect_eq(answer_of(PID, address(1, 0))->region, SYMBOL_UNKNOWN, "%s", programs[i]);
		cr_expect_eq(symbols_counts(symbols).lost, 1);
		for (u64 n = 2; n < 100; n++)
			cr_expect_eq(answer_of(PID, address(n, 0))->region, SYMBOL_UNKNOWN);
		cr_expect_leq(symbols_counts(symbols).starts, SYMBOLS_BACKOFF_STARTS);
	}
}

Test(symbols, an_idle_symbolizer_ends_and_is_started_again)
{
	end();
	open_with((struct symbols_settings){.idle_ns = 100 * NSEC_PER_MSEC});
	cr_expect_str_eq(name_of(PID, address(1, 0)), "f1");
	fake_clock_advance(90 * NSEC_PER_MSEC);
	while (sd_event_run(event, 0) > 0)
		;
	cr_expect(symbols_counts(symbols).running);
	while (symbols_counts(symbols).running) {
		fake_clock_advance(NSEC_PER_MSEC);
		turn();
	}
	cr_expect_str_eq(name_of(PID, address(1, 0)), "f1");
	cr_expect_eq(symbols_counts(symbols).starts, 1, "what is known is known");
	cr_expect_str_eq(name_of(PID, address(2, 0)), "f2");
	cr_expect_eq(symbols_counts(symbols).starts, 2);
	cr_expect_eq(symbols_counts(symbols).lost, 0);
}

Test(symbols, after_an_exec_names_are_requested_again)
{
	const struct symbol_mapping mapping = {
		.pid = PID, .start = address(1, 0), .size = 0x1000, .path = "/y"};

	(void)answer_of(PID, address(1, 0));
	(void)answer_of(PID, address(2, 0));
	cr_expect_eq(symbols_mapped(symbols, &mapping), 0);
	cr_expect_null(find_of(PID, address(1, 0)));
	cr_expect(find_of(PID, address(2, 0)));
	cr_expect_eq(symbols_executed(symbols, PID), 0);
	cr_expect_null(find_of(PID, address(2, 0)));
	/* The answer was for the previous program, so the new one does not get it. */
	cr_expect_eq(symbols_executed(symbols, PID), 0);
	settle();
	cr_expect_null(find_of(PID, address(2, 0)));
	settle();
	cr_expect(find_of(PID, address(2, 0)));
	cr_expect_eq(symbols_forked(symbols, PID, PID), 0);
	cr_expect(find_of(PID, address(2, 0)), "a thread is not another process");
	cr_expect_eq(symbols_forked(symbols, PID, 1), 0);
	cr_expect_null(find_of(PID, address(2, 0)));
	settle();
}

Test(symbols, exec_and_fork_do_not_start_the_symbolizer)
{
	cr_expect_eq(symbols_executed(symbols, PID), 0);
	cr_expect_eq(symbols_forked(symbols, PID, 1), 0);
	cr_assert_geq(sd_event_run(event, 0), 0);
	cr_expect_eq(symbols_counts(symbols).starts, 0);
	cr_expect_eq(symbols_process(symbols, PID), 0);
	cr_assert_geq(sd_event_run(event, 0), 0);
	cr_expect_eq(symbols_counts(symbols).starts, 1);
}

Test(symbols, returned_symbols_are_valid_until_the_event_loop)
{
	const struct symbol *symbol = answer_of(PID, address(1, 0));

	cr_expect_eq(symbols_executed(symbols, PID), 0);
	for (u64 i = 10; i < 1000; i++)
		(void)find_of(PID, address(i, 0));
	cr_expect_str_eq(symbol->frames[0].name, "f1");
	settle();
}

/* The bounds in MEMORY of pebsd(8). */
static void expect_bounds(void)
{
	struct symbols_counts counts = symbols_counts(symbols);

	cr_expect_leq(counts.own_bytes - counts.queue_bytes, SYMBOLS_KEPT_BYTES_MAX);
	cr_expect_leq(counts.queue_bytes, SYMBOLS_QUEUE_BYTES_MAX);
}

/* Asks for more at once than may be pending. */
Test(symbols, a_flood_of_requests_is_bounded_and_answered)
{
	const u64 n = SYMBOLS_QUEUE_MAX + 5000;
	struct symbols_counts counts;

	for (u64 i = 0; i < n; i++)
		cr_assert_null(find_of(PID, address(i, 0)));
	cr_expect_eq(symbols_pending(symbols), SYMBOLS_QUEUE_MAX);
	cr_expect_eq(symbols_counts(symbols).lost, 5000);
	cr_expect_eq(symbols_process(symbols, PID), -ENOBUFS);
	settle();
	for (u64 i = 0; i < n; i++)
		(void)find_of(PID, address(i, 0));
	settle();
	for (u64 i = 0; i < n; i++)
		cr_assert(find_of(PID, address(i, 0)));
	counts = symbols_counts(symbols);
	cr_expect_eq(counts.answered, n);
	cr_expect_eq(counts.starts, 1);
	expect_bounds();
}

/* With names of the greatest size, the number of bytes is the bound. */
Test(symbols, large_names_are_bounded)
{
	for (u64 i = 0; i < 2000; i++)
		(void)find_of(PID, address(i, LARGEST));
	settle();
	cr_expect_eq(symbols_counts(symbols).answered, 2000);
	expect_bounds();
	cr_expect_geq(symbols_counts(symbols).own_bytes, SYMBOLS_KEPT_BYTES_MAX / 2);
	cr_expect_null(find_of(PID, address(0, LARGEST)), "the first had to go");
	settle();
}

static size_t allocated(void)
{
	struct mallinfo2 info = mallinfo2();

	return info.uordblks + info.hblkhd;
}

/*
 * Removed answers stay in memory until control returns to the event loop, as do queries whose process executed
 * another program until their answer comes. Measured is what malloc() handed out.
 */
Test(symbols, memory_of_names_is_bounded)
{
	size_t before;
	u64 lost;

	end();
	before = allocated();
	open_with((struct symbols_settings){0});
	for (u64 i = 0; i < 2000; i++)
		(void)find_of(PID, address(i, LARGEST));
	settle();
	for (u32 i = 0; i < SYMBOLS_QUEUE_MAX; i++) {
		(void)find_of(PID + 1 + i, address(i, 0));
		if (i % 3 == 0)
			cr_assert_eq(symbols_executed(symbols, PID + 1 + i), 0);
	}
	cr_expect_leq(allocated() - before, SYMBOLS_KEPT_BYTES_MAX + SYMBOLS_QUEUE_BYTES_MAX);
	expect_bounds();
	lost = symbols_counts(symbols).lost;
	cr_expect_gt(lost, 0, "the memory suffices for all");
	settle();
	expect_bounds();
	cr_expect_null(find_of(PID + SYMBOLS_QUEUE_MAX, address(SYMBOLS_QUEUE_MAX - 1, 0)),
		       "what was refused can be asked again");
	cr_expect_eq(symbols_counts(symbols).lost, lost);
	settle();
	cr_expect(find_of(PID + SYMBOLS_QUEUE_MAX, address(SYMBOLS_QUEUE_MAX - 1, 0)));
}

Test(symbols, descriptors_are_always_closed)
{
	size_t before;

	(void)answer_of(PID, address(1, 0));
	end();
	before = open_descriptors();
	for (u32 i = 0; i < 5; i++) {
		open_with((struct symbols_settings){0});
		(void)answer_of(PID, address(1, DIES));
		(void)answer_of(PID, address(2, LIES));
		(void)answer_of(PID + 1, address(3, 0));
		(void)find_of(PID + 1, address(4, HANGS));
		cr_assert_geq(sd_event_run(event, 0), 0);
		end();
	}
	cr_expect_eq(open_descriptors(), before);
}

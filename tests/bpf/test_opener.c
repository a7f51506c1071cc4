// SPDX-License-Identifier: GPL-2.0
/*
 * pebsd-opener as a program, next to a process that may open no event on a CPU. That process gets the events
 * that pebsd opens, and they count. It gets no others. It finds out soon if something is wrong with the
 * opener. The tree of PMUs names page faults instead of loads.
 */
#include <criterion/criterion.h>

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "cgroup_fixture.h"
#include "machine_tree.h"
#include "origin/opener/opener_client.h"
#include "origin/opener/opener_socket.h"
#include "origin/perf/perf_backend.h"
#include "origin/pmu/perf_attr.h"
#include "tree.h"
#include "zoom/zoom_attr.h"

#define NOBODY 65534
#define PAGES  64

static char *root;
static char *path;
static int listening = -1;
static pid_t opener;
static struct pmu_plan plan;

static enum opener_trouble last_trouble(void)
{
	char reason[OPENER_REASON_MAX];

	return opener_client_trouble(reason);
}

static pid_t start_opener(const char *idle)
{
	const char *pebsd = getenv("PEBSD");
	_cleanup_free_ char *program = NULL;
	char pid_text[32];
	pid_t pid;

	cr_assert_geq(asprintf(&program, "%s-opener", pebsd ? pebsd : "build/pebsd"), 0);
	pid = fork();
	cr_assert_geq(pid, 0);
	if (pid > 0)
		return pid;
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	(void)snprintf(pid_text, sizeof(pid_text), "%d", getpid());
	(void)setenv("LISTEN_PID", pid_text, 1);
	(void)setenv("LISTEN_FDS", "1", 1);
	if (listening == 3)
		(void)fcntl(3, F_SETFD, 0);
	else
		(void)dup2(listening, 3);
	(void)execl(program, program, "--sysfs-root", root, "--idle", idle, NULL);
	_exit(127);
}

static void stop_opener(void)
{
	if (opener <= 0)
		return;
	(void)kill(opener, SIGKILL);
	cr_expect_eq(waitpid(opener, NULL, 0), opener);
	opener = 0;
}

static void listen_for(uid_t owner)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};

	cr_assert_geq(asprintf(&path, "%s/opener.sock", root), 0);
	(void)snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	listening = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	cr_assert_geq(listening, 0);
	cr_assert_eq(bind(listening, (const struct sockaddr *)&address, sizeof(address)), 0);
	cr_assert_eq(listen(listening, 16), 0);
	cr_assert_eq(chown(path, owner, (gid_t)-1), 0);
	cr_assert_eq(chmod(path, 0666), 0);
	opener_client_reset(path);
}

static void setup(void)
{
	const struct machine_core core = {
		.name = "skylake", .loads = "event=0x2,ldlat=3", .type = "1", .no_offcore = true};

	if (geteuid() != 0)
		cr_skip_test("needs root: it opens events on CPUs");
	root = tree_new();
	cr_assert_eq(chmod(root, 0755), 0);
	machine_tree(root, &core);
	machine_plan(root, ROLE(LOADS), &plan);
	cr_assert_eq(plan.n_specs, 1);
	listen_for(NOBODY);
	opener = start_opener("60");
}

static void teardown(void)
{
	stop_opener();
	opener_client_reset(NULL);
	cleanup_close(&listening);
	pmu_plan_done(&plan);
	free(path);
	tree_remove(root);
}

TestSuite(opener, .init = setup, .fini = teardown);

/* Runs `work` as a user without privileges. `work` must return 0, and writes errors to standard error. */
static void as(uid_t user, int (*work)(void *userdata), void *userdata)
{
	pid_t pid = fork();
	int status;

	cr_assert_geq(pid, 0);
	if (pid == 0) {
		if (setgroups(0, NULL) < 0 || setresgid(user, user, user) < 0 ||
		    setresuid(user, user, user) < 0)
			_exit(126);
		_exit(work(userdata));
	}
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	cr_expect(WIFEXITED(status) && WEXITSTATUS(status) == 0, "exit status %#x", (unsigned)status);
}

#define DEMAND(condition)                                                                               \
	do {                                                                                            \
		if (!(condition)) {                                                                     \
			(void)fprintf(stderr, "%s:%d: %s (errno %d, trouble %d)\n", __FILE__, __LINE__, \
				      #condition, errno, (int)last_trouble());                          \
			return 1;                                                                       \
		}                                                                                       \
	} while (0)

/* Counts this process's faults. `fd` may be the event of a whole CPU: the process is bound to that CPU. */
static int count_faults(int fd, unsigned long long *ret)
{
	const size_t bytes = PAGES * 4096UL;
	unsigned long long values[3];
	char *memory;

	DEMAND(ioctl(fd, PERF_EVENT_IOC_ENABLE, 0) == 0);
	memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	DEMAND(memory != MAP_FAILED);
	DEMAND(madvise(memory, bytes, MADV_NOHUGEPAGE) == 0);
	for (size_t i = 0; i < bytes; i += 4096)
		((volatile char *)memory)[i] = 1;
	DEMAND(read(fd, values, sizeof(values)) == (ssize_t)sizeof(values));
	*ret = values[0];
	return 0;
}

static int open_here(int cpu, int group_fd)
{
	struct perf_event_attr attr;

	perf_attr(&plan.specs[0], 100003, &attr);
	return perf_backend_cpu(&attr, cpu, group_fd);
}

/*
 * Other tests may take the CPUs so long that the opener does not answer in time. Then no request is sent for
 * a while, and this function waits.
 */
static int open_patiently(int cpu, int group_fd)
{
	int fd;

	for (int i = 0; i < 600; i++) {
		fd = open_here(cpu, group_fd);
		if (fd >= 0 || last_trouble() != OPENER_SILENT)
			return fd;
		(void)usleep(100000);
	}
	return fd;
}

static int direct(const struct perf_event_attr *attr, int of, int cpu)
{
	return syscall(SYS_perf_event_open, attr, of, cpu, -1, PERF_FLAG_FD_CLOEXEC) < 0 ? -errno : 0;
}

static int get_events(void *userdata)
{
	struct perf_event_attr attr;
	cpu_set_t cpus;
	char trouble[PERF_BACKEND_TROUBLE_MAX];
	unsigned long long faults;
	int first, second, thread;

	(void)userdata;
	CPU_ZERO(&cpus);
	CPU_SET(0, &cpus);
	DEMAND(sched_setaffinity(0, sizeof(cpus), &cpus) == 0);
	perf_attr(&plan.specs[0], 100003, &attr);
	DEMAND(direct(&attr, -1, 0) == -EACCES);
	first = open_patiently(0, -1);
	DEMAND(first >= 0);
	DEMAND(perf_backend_by_opener());
	DEMAND(fcntl(first, F_GETFD) == FD_CLOEXEC);
	DEMAND(count_faults(first, &faults) == 0);
	DEMAND(faults >= PAGES);
	/* A second event over the same connection. */
	second = open_patiently(1, -1);
	DEMAND(second >= 0 && second != first);
	DEMAND(direct(&attr, 0, -1) == -EACCES);
	attr.pinned = 0;
	thread = perf_backend_thread(&attr, -1);
	DEMAND(thread >= 0);
	DEMAND(count_faults(thread, &faults) == 0);
	DEMAND(faults >= PAGES && faults < 4ULL * PAGES);
	/*
	 * What a process may do with its own thread says nothing about the events of whole CPUs. At
	 * kernel.perf_event_paranoid = 1 the kernel lets it watch the thread as pebsd does; at 2 only without the
	 * kernel, as here; at 3 not at all, and this checks nothing.
	 */
	attr.exclude_kernel = 1;
	if (direct(&attr, 0, -1) == 0) {
		DEMAND(perf_backend_thread(&attr, -1) >= 0);
		DEMAND(perf_backend_by_opener());
	}
	perf_backend_trouble(trouble);
	DEMAND(trouble[0] == '\0');
	/* The kernel's own refusals arrive: there is no such CPU. */
	DEMAND(open_here(100000, -1) == -EINVAL || open_here(100000, -1) == -ENODEV);
	return 0;
}

Test(opener, an_unprivileged_pebsd_gets_its_events)
{
	as(NOBODY, get_events, NULL);
}

static int get_zoom(void *userdata)
{
	const int *directory = userdata;
	struct perf_event_attr attr;
	int fd;

	zoom_attr(&plan.specs[0], &(struct zoom_ways){.build_ids = true}, true, &attr);
	attr.sample_period = plan.specs[0].event.period;
	fd = perf_backend_cgroup(&attr, *directory, 0, -1);
	DEMAND(fd >= 0);
	DEMAND(perf_backend_by_opener());
	/* The kernel refuses a directory that is not a cgroup's. */
	DEMAND(perf_backend_cgroup(&attr, open("/tmp", O_RDONLY | O_CLOEXEC), 0, -1) == -EBADF);
	return 0;
}

Test(opener, the_events_of_a_zoom_are_opened)
{
	_cleanup_free_ char *directory = NULL;
	_cleanup_close_ int fd = -1;

	cgroup_fixture_setup();
	cr_assert_geq(asprintf(&directory, "%s%s", cgroup_fixture.mount, cgroup_fixture.path), 0);
	fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	cr_assert_geq(fd, 0);
	as(NOBODY, get_zoom, &fd);
	cgroup_fixture_teardown();
}

static int ask_for_others(void *userdata)
{
	char trouble[PERF_BACKEND_TROUBLE_MAX];
	struct perf_event_attr attr;

	(void)userdata;
	perf_attr(&plan.specs[0], 100003, &attr);
	attr.config = PERF_COUNT_SW_CONTEXT_SWITCHES;
	DEMAND(perf_backend_cpu(&attr, 0, -1) == -EACCES);
	perf_backend_trouble(trouble);
	DEMAND(strcmp(trouble,
		      "pebsd-opener refuses the event: type 1, config 0x3 is not an event that pebsd opens on this machine: the closest one differs in config") ==
	       0);
	perf_attr(&plan.specs[0], 100003, &attr);
	attr.inherit = 1;
	DEMAND(perf_backend_cpu(&attr, 0, -1) == -EACCES);
	/* A thread of another user: init's. */
	perf_attr(&plan.specs[0], 100003, &attr);
	{
		struct opener_request request = {
			.target = OPENER_THREAD, .cpu = -1, .thread = 1, .attr = attr};

		DEMAND(opener_client_open(&request, NULL) == -ENOTCONN);
		DEMAND(last_trouble() == OPENER_REFUSED);
	}
	/* After all that, a valid request still succeeds. */
	DEMAND(open_patiently(0, -1) >= 0);
	return 0;
}

Test(opener, other_events_are_refused)
{
	as(NOBODY, ask_for_others, NULL);
}

static int be_a_stranger(void *userdata)
{
	char trouble[PERF_BACKEND_TROUBLE_MAX];

	(void)userdata;
	DEMAND(open_here(0, -1) == -EACCES);
	perf_backend_trouble(trouble);
	DEMAND(strstr(trouble, "closed the connection"));
	return 0;
}

/* The mode of the socket file keeps others away. If it were wrong, the opener itself would refuse them. */
Test(opener, other_users_are_refused)
{
	as(1, be_a_stranger, NULL);
	as(NOBODY, get_events, NULL);
}

static int be_garbled(void *userdata)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fds[] = {STDIN_FILENO, STDIN_FILENO};
	char packet[8192] = "no request";

	(void)userdata;
	(void)snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	for (size_t bytes = 1; bytes <= sizeof(packet); bytes *= 2)
		for (size_t n = 0; n <= 2; n++) {
			int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

			DEMAND(connect(fd, (const struct sockaddr *)&address, sizeof(address)) == 0);
			DEMAND(opener_socket_send(fd, packet, bytes, fds, n) == 0);
			/* The opener hangs up without an answer. */
			DEMAND(read(fd, packet, 1) <= 0);
			(void)close(fd);
		}
	/* Many connections at once that stay open: the oldest are dropped for new ones. */
	for (int i = 0; i < 40; i++) {
		int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

		while (connect(fd, (const struct sockaddr *)&address, sizeof(address)) < 0)
			DEMAND(errno == EAGAIN && usleep(1000) == 0);
	}
	/* The connections above are still in the queue of the opener's socket and may fill it. */
	while (open_here(0, -1) < 0)
		DEMAND(last_trouble() == OPENER_SILENT && usleep(1000) == 0);
	return 0;
}

Test(opener, a_garbled_request_ends_only_its_connection)
{
	as(NOBODY, be_garbled, NULL);
	cr_expect_eq(kill(opener, 0), 0);
	as(NOBODY, get_events, NULL);
}

static bool await_stopped(void)
{
	char name[32], state = 0;

	(void)snprintf(name, sizeof(name), "/proc/%d/stat", opener);
	for (int i = 0; i < 6000 && state != 'T'; i++) {
		_cleanup_fclose_ FILE *file = fopen(name, "re");

		if (!file || fscanf(file, "%*d (%*[^)]) %c", &state) != 1)
			return false;
		(void)usleep(10000);
	}
	return state == 'T';
}

static int be_kept_waiting(void *userdata)
{
	char trouble[PERF_BACKEND_TROUBLE_MAX];
	const int *orders = userdata;

	DEMAND(open_patiently(0, -1) >= 0);
	DEMAND(write(*orders, "s", 1) == 1);
	DEMAND(await_stopped());
	DEMAND(open_here(0, -1) == -EACCES);
	perf_backend_trouble(trouble);
	DEMAND(strstr(trouble, "did not answer in time; see systemctl status pebsd-opener.service"));
	/* The next requests are not even sent: 40 CPUs do not wait 80 seconds. */
	for (int i = 0; i < 40; i++)
		DEMAND(open_here(0, -1) == -EACCES);
	DEMAND(last_trouble() == OPENER_SILENT);
	DEMAND(write(*orders, "c", 1) == 1);
	DEMAND(open_patiently(0, -1) >= 0);
	return 0;
}

/*
 * Starts a process with root's rights that stops ('s') and continues ('c') the opener, as written to
 * `orders`.
 */
static pid_t start_helper(int orders[2])
{
	pid_t pid;
	char order;

	cr_assert_eq(pipe2(orders, O_CLOEXEC), 0);
	pid = fork();
	cr_assert_geq(pid, 0);
	if (pid > 0)
		return pid;
	(void)close(orders[1]);
	while (read(orders[0], &order, 1) == 1)
		(void)kill(opener, order == 's' ? SIGSTOP : SIGCONT);
	_exit(0);
}

Test(opener, a_silent_client_delays_others_only_briefly)
{
	int orders[2];
	pid_t helper = start_helper(orders);

	as(NOBODY, be_kept_waiting, &orders[1]);
	(void)close(orders[1]);
	cr_expect_eq(waitpid(helper, NULL, 0), helper);
	(void)close(orders[0]);
}

static int ask_twice(void *userdata)
{
	const int *ends = userdata;
	char byte;

	DEMAND(open_patiently(0, -1) >= 0);
	/* Blocks until the test closes the other end: then there is another opener. */
	DEMAND(read(ends[0], &byte, 1) == 0);
	DEMAND(open_patiently(0, -1) >= 0);
	DEMAND(open_patiently(0, -1) >= 0);
	return 0;
}

/* An idle opener ends by itself although pebsd is connected. The next request starts another. */
Test(opener, an_idle_opener_ends_and_is_started_again)
{
	int ends[2], status;
	pid_t pid;

	stop_opener();
	opener = start_opener("1");
	cr_assert_eq(pipe2(ends, O_CLOEXEC), 0);
	pid = fork();
	cr_assert_geq(pid, 0);
	if (pid == 0) {
		(void)close(ends[1]);
		if (setgroups(0, NULL) < 0 || setresuid(NOBODY, NOBODY, NOBODY) < 0)
			_exit(126);
		_exit(ask_twice(ends));
	}
	cr_assert_eq(waitpid(opener, &status, 0), opener);
	cr_expect(WIFEXITED(status) && WEXITSTATUS(status) == 0, "%#x", (unsigned)status);
	opener = start_opener("60");
	(void)close(ends[1]);
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	cr_expect(WIFEXITED(status) && WEXITSTATUS(status) == 0, "exit status %#x", (unsigned)status);
	(void)close(ends[0]);
}

static int find_none(void *userdata)
{
	char trouble[PERF_BACKEND_TROUBLE_MAX];

	(void)userdata;
	opener_client_reset("/nonexistent/opener.sock");
	DEMAND(open_here(0, -1) == -EACCES);
	perf_backend_trouble(trouble);
	DEMAND(strstr(trouble, "systemctl start pebsd-opener.socket"));
	return 0;
}

Test(opener, without_an_opener_the_message_says_what_to_do)
{
	as(NOBODY, find_none, NULL);
}

/* Root needs no opener. */
Test(opener, a_privileged_pebsd_opens_events_itself)
{
	stop_opener();
	_cleanup_close_ int fd = open_here(0, -1);

	cr_expect_geq(fd, 0);
	cr_expect_not(perf_backend_by_opener());
}
